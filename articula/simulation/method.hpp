// Any of the integrators, chosen by name: what simulators move by.
#pragma once

#include <variant>

#include "articula/simulation/cvode.hpp"
#include "articula/simulation/dormand_prince.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/midpoint.hpp"
#include "articula/simulation/variational.hpp"

namespace articula {

class IntegrationMethod {
 public:
  IntegrationMethod(Integrator integrator, const Model& model, const Tolerances& tolerances);
  Integrator integrator() const { return integrator_; }
  /// From t to `end`: by one step, or by as many as error control wants. If something throws, the state is as before the
  /// last step that was made.
  void advance(const System<double>& system, double t, double end, Out<double> q, Out<double> v);
  /// rk45, which locates events and remembers its next step; null: another.
  DormandPrince* adaptive_pair() { return std::get_if<DormandPrince>(&method_); }
  const DormandPrince* adaptive_pair() const { return std::get_if<DormandPrince>(&method_); }

 private:
  using Any = std::variant<FixedStep<>, DormandPrince, Variational, ImplicitMidpoint, Cvode>;
  static Any make(Integrator integrator, const Model& model, const Tolerances& tolerances);
  Integrator integrator_;
  Any method_;
};

}  // namespace articula
