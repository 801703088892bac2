// The explicit steps of any number type: double, Dual, Pack. Always inlined, as scalar.hpp says.
//
// A Motion has acceleration(t, q, x, a), velocities(t, q, x, v), integrate(q, u, out) and chart_rate(u, w,
// out), on plain arrays. Each step works in `memory` and leaves the new state in place of the old; nothing of
// it changes before the last acceleration is known.
#pragma once

#include "articula/kernels/integrator.hpp"
#include "articula/spatial/scalar.hpp"

namespace articula::fixed_step_text {

/// memory: 2 n.
template <class S, class Motion>
ARTICULA_INLINE void explicit_euler(const Motion& motion, double t, double h, long n, S* q, S* v, S* memory) {
  S *a = memory, *u = a + n;
  motion.acceleration(t, q, v, a);
  motion.velocities(t, q, v, u);
  for (long i = 0; i < n; ++i) u[i] = u[i] * h, v[i] = v[i] + a[i] * h;
  motion.integrate(q, u, q);
}

/// memory: 3 n.
template <class S, class Motion>
ARTICULA_INLINE void symplectic_euler(const Motion& motion, double t, double h, long n, S* q, S* v,
                                      S* memory) {
  S *x = memory, *u = x + n, *a = u + n;
  motion.acceleration(t, q, v, a);
  for (long i = 0; i < n; ++i) x[i] = v[i] + a[i] * h;
  motion.velocities(t, q, x, u);
  for (long i = 0; i < n; ++i) u[i] = u[i] * h, v[i] = x[i];
  motion.integrate(q, u, q);
}

/// memory: 6 n, and a configuration.
template <class S, class Motion>
ARTICULA_INLINE void runge_kutta_4(const Motion& motion, double t, double h, long n, S* q, S* v, S* memory) {
  S *x = memory, *u = x + n, *k = u + n, *a = k + n, *u_sum = a + n, *x_sum = u_sum + n, *at = x_sum + n;
  // Stage i: the point at weight c h along the slope before it, and that slope's share b of the whole.
  constexpr double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1 / 6., 1 / 3., 1 / 3., 1 / 6.};
  for (long i = 0; i < n; ++i) u_sum[i] = S(0), x_sum[i] = S(0);
  for (int stage = 0; stage < 4; ++stage) {
    const double time = t + c[stage] * h;
    if (stage == 0) {
      motion.acceleration(time, q, v, a);
      motion.velocities(time, q, v, k);
    } else {
      for (long i = 0; i < n; ++i) u[i] = k[i] * (c[stage] * h), x[i] = v[i] + a[i] * (c[stage] * h);
      motion.integrate(q, u, at);
      motion.acceleration(time, at, x, a);
      motion.velocities(time, at, x, k);
      motion.chart_rate(u, k, k);
    }
    for (long i = 0; i < n; ++i)
      u_sum[i] = u_sum[i] + k[i] * (b[stage] * h), x_sum[i] = x_sum[i] + a[i] * (b[stage] * h);
  }
  motion.integrate(q, u_sum, q);
  for (long i = 0; i < n; ++i) v[i] = v[i] + x_sum[i];
}

/// What the largest of them needs.
constexpr std::size_t memory_of(std::size_t nq, std::size_t nv) { return nq + 6 * nv; }
/// How often a step asks for accelerations.
constexpr int evaluations_of(Integrator integrator) { return integrator == Integrator::rk4 ? 4 : 1; }

/// The step of an explicit integrator.
template <class S, class Motion>
ARTICULA_INLINE void step(Integrator integrator, const Motion& motion, double t, double h, long n, S* q, S* v,
                          S* memory) {
  switch (integrator) {
    case Integrator::euler:
      return explicit_euler(motion, t, h, n, q, v, memory);
    case Integrator::symplectic_euler:
      return symplectic_euler(motion, t, h, n, q, v, memory);
    case Integrator::rk4:
      return runge_kutta_4(motion, t, h, n, q, v, memory);
    default:  // not explicit: refused where the integrator is chosen
      return;
  }
}

}  // namespace articula::fixed_step_text
