#include "articula/simulation/midpoint.hpp"

#include <fmt/format.h>

#include "articula/simulation/check_state.hpp"
#include "articula/simulation/fixed_point.hpp"

namespace articula {

void ImplicitMidpoint::step(const System<double>& system, double t, double h, Out<double> q, Out<double> v) {
  const Manifold& space = system.manifold;
  const std::size_t n = v.size(), nq = q.size();
  check_state("ImplicitMidpoint::step", space, nv_, nq, n);
  // The unknown is the mean velocity: x1 = 2 x - x0.
  double *x = memory_.data(), *next = x + n, *u = next + n, *a = u + n, *middle = a + n, *end = middle + nq;
  system.acceleration(t, q, v, {a, n});
  for (std::size_t i = 0; i < n; ++i) x[i] = v[i] + h / 2 * a[i];
  system.velocities(t, q, {x, n}, {u, n});
  for (std::size_t i = 0; i < n; ++i) u[i] *= h;
  space.cayley(q.data(), u, middle, end);
  FixedPoint iteration;
  for (bool go_on = true; go_on;) {
    system.acceleration(t + h / 2, {middle, nq}, {x, n}, {a, n});
    for (std::size_t i = 0; i < n; ++i) next[i] = v[i] + h / 2 * a[i];
    go_on = iteration.go_on(x, next, n);
    system.velocities(t + h / 2, {middle, nq}, {x, n}, {u, n});
    for (std::size_t i = 0; i < n; ++i) u[i] *= h;
    space.cayley(q.data(), u, middle, end);
  }
  iterations_ = iteration.count();
  if (iteration.failed())
    throw IntegrationError(
        fmt::format("ImplicitMidpoint::step: no convergence at t = {}; take a shorter step than {} s, or "
                    "cvode for stiff systems",
                    t, h));
  for (std::size_t i = 0; i < n; ++i) v[i] += h * a[i];
  std::copy_n(end, nq, q.data());
  if (system.project) system.project(t + h, q, v);
}

}  // namespace articula
