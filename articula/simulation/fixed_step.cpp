#include "articula/simulation/fixed_step.hpp"

#include <fmt/format.h>

#include "articula/kernels/fixed_step_text.hpp"
#include "articula/simulation/check_state.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula {

namespace {

/// A system on plain arrays, as the steps' text takes it.
template <class S>
struct Motion {
  const System<S>& system;
  std::size_t nq, n;
  void acceleration(double t, const S* q, const S* x, S* a) const {
    system.acceleration(t, {q, nq}, {x, n}, {a, n});
  }
  void velocities(double t, const S* q, const S* x, S* v) const {
    system.velocities(t, {q, nq}, {x, n}, {v, n});
  }
  void integrate(const S* q, const S* u, S* out) const { system.manifold.integrate(q, u, out); }
  void chart_rate(const S* u, const S* w, S* out) const {
    system.manifold.chart_rate_to_fourth_order(u, w, out);
  }
};

}  // namespace

template <class S>
FixedStep<S>::FixedStep(Integrator integrator, const Manifold& manifold)
    : nv_(manifold.nv()), memory_(fixed_step_text::memory_of(manifold.nq(), manifold.nv())) {
  use(integrator);
}

template <class S>
void FixedStep<S>::use(Integrator integrator) {
  if (stepping_of(integrator) != Stepping::explicit_step)
    throw ArgumentError(fmt::format("FixedStep: {} does not step explicitly; {} do", name_of(integrator),
                                    integrator_names(Stepping::explicit_step)));
  integrator_ = integrator;
}

template <class S>
int FixedStep<S>::evaluations() const {
  return fixed_step_text::evaluations_of(integrator_);
}

template <class S>
void FixedStep<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  check_state("FixedStep::step", system.manifold, nv_, q.size(), v.size());
  fixed_step_text::step(integrator_, Motion<S>{system, q.size(), v.size()}, t, h, static_cast<long>(v.size()),
                        q.data(), v.data(), memory_.data());
  if (system.project) system.project(t + h, q, v);
}

template class FixedStep<double>;
template class FixedStep<StepDual>;

}  // namespace articula
