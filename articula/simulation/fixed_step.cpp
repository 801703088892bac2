#include "articula/simulation/fixed_step.hpp"

#include "articula/simulation/check_state.hpp"
#include "articula/simulation/step_dual.hpp"

namespace articula {

template <class S>
void ExplicitEuler<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  check_state("ExplicitEuler::step", system.manifold, memory_.size() / 2, q.size(), v.size());
  const std::size_t n = v.size();
  S *a = memory_.data(), *u = a + n;
  system.acceleration(t, q, v, {a, n});
  system.velocities(t, q, v, {u, n});
  for (std::size_t i = 0; i < n; ++i) u[i] = u[i] * h, v[i] = v[i] + a[i] * h;
  system.manifold.integrate(q.data(), u, q.data());
  if (system.project) system.project(t + h, q, v);
}

template <class S>
void SymplecticEuler<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  check_state("SymplecticEuler::step", system.manifold, memory_.size() / 3, q.size(), v.size());
  const std::size_t n = v.size();
  S *x = memory_.data(), *u = x + n, *a = u + n;
  system.acceleration(t, q, v, {a, n});
  for (std::size_t i = 0; i < n; ++i) x[i] = v[i] + a[i] * h;
  system.velocities(t, q, {x, n}, {u, n});
  for (std::size_t i = 0; i < n; ++i) u[i] = u[i] * h, v[i] = x[i];
  system.manifold.integrate(q.data(), u, q.data());
  if (system.project) system.project(t + h, q, v);
}

template <class S>
void RungeKutta4<S>::step(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  const Manifold& space = system.manifold;
  const std::size_t n = v.size(), nq = q.size();
  check_state("RungeKutta4::step", space, (memory_.size() - space.nq()) / 6, nq, n);
  S *x = memory_.data(), *u = x + n, *k = u + n, *a = k + n, *u_sum = a + n, *x_sum = u_sum + n,
    *at = x_sum + n;
  // Stage i: the point at weight c h along the slope before it, and that slope's share b of the whole.
  constexpr double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1 / 6., 1 / 3., 1 / 3., 1 / 6.};
  for (std::size_t i = 0; i < n; ++i) u_sum[i] = S(0), x_sum[i] = S(0);
  for (int stage = 0; stage < 4; ++stage) {
    const double time = t + c[stage] * h;
    if (stage == 0) {
      system.acceleration(time, q, v, {a, n});
      system.velocities(time, q, v, {k, n});
    } else {
      for (std::size_t i = 0; i < n; ++i) u[i] = k[i] * (c[stage] * h), x[i] = v[i] + a[i] * (c[stage] * h);
      space.integrate(q.data(), u, at);
      system.acceleration(time, {at, nq}, {x, n}, {a, n});
      system.velocities(time, {at, nq}, {x, n}, {k, n});
      space.chart_rate_to_fourth_order(u, k, k);
    }
    for (std::size_t i = 0; i < n; ++i)
      u_sum[i] = u_sum[i] + k[i] * (b[stage] * h), x_sum[i] = x_sum[i] + a[i] * (b[stage] * h);
  }
  space.integrate(q.data(), u_sum, q.data());
  for (std::size_t i = 0; i < n; ++i) v[i] = v[i] + x_sum[i];
  if (system.project) system.project(t + h, q, v);
}

template class ExplicitEuler<double>;
template class ExplicitEuler<StepDual>;
template class SymplecticEuler<double>;
template class SymplecticEuler<StepDual>;
template class RungeKutta4<double>;
template class RungeKutta4<StepDual>;

}  // namespace articula
