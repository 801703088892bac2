#include "articula/simulation/fixed_step.hpp"

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
void ExplicitEuler<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  check_state("ExplicitEuler::step", system.manifold, memory_.size() / 2, q.size(), v.size());
  fixed_step_text::explicit_euler(Motion<S>{system, q.size(), v.size()}, t, h, static_cast<long>(v.size()),
                                  q.data(), v.data(), memory_.data());
  if (system.project) system.project(t + h, q, v);
}

template <class S>
void SymplecticEuler<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  check_state("SymplecticEuler::step", system.manifold, memory_.size() / 3, q.size(), v.size());
  fixed_step_text::symplectic_euler(Motion<S>{system, q.size(), v.size()}, t, h, static_cast<long>(v.size()),
                                    q.data(), v.data(), memory_.data());
  if (system.project) system.project(t + h, q, v);
}

template <class S>
void RungeKutta4<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  const Manifold& space = system.manifold;
  check_state("RungeKutta4::step", space, (memory_.size() - space.nq()) / 6, q.size(), v.size());
  fixed_step_text::runge_kutta_4(Motion<S>{system, q.size(), v.size()}, t, h, static_cast<long>(v.size()),
                                 q.data(), v.data(), memory_.data());
  if (system.project) system.project(t + h, q, v);
}

template class ExplicitEuler<double>;
template class ExplicitEuler<StepDual>;
template class SymplecticEuler<double>;
template class SymplecticEuler<StepDual>;
template class RungeKutta4<double>;
template class RungeKutta4<StepDual>;

}  // namespace articula
