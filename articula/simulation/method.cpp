#include "articula/simulation/method.hpp"

namespace articula {

IntegrationMethod::Any IntegrationMethod::make(Integrator integrator, const Model& model,
                                               const Tolerances& tolerances) {
  const Manifold manifold(model);
  switch (integrator) {
    case Integrator::rk45:
      return DormandPrince(manifold, tolerances);
    case Integrator::variational:
      return Variational(model);
    case Integrator::midpoint:
      return ImplicitMidpoint(manifold);
    case Integrator::cvode:
      return Cvode(manifold, tolerances);
    default:
      return FixedStep<>(integrator, manifold);
  }
}

IntegrationMethod::IntegrationMethod(Integrator integrator, const Model& model, const Tolerances& tolerances)
    : integrator_(integrator), method_(make(integrator, model, tolerances)) {}

void IntegrationMethod::advance(const System<double>& system, double t, double end, Out<double> q,
                                Out<double> v) {
  std::visit(
      [&](auto& method) {
        if constexpr (requires { method.advance(system, t, end, q, v); })
          method.advance(system, t, end, q, v);
        else if constexpr (requires { method.step(system.forces, t, end - t, q, v); })
          method.step(system.forces, t, end - t, q, v);
        else
          method.step(system, t, end - t, q, v);
      },
      method_);
}

}  // namespace articula
