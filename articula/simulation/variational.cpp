#include "articula/simulation/variational.hpp"

#include <fmt/format.h>

#include "articula/simulation/check_state.hpp"
#include "articula/simulation/fixed_point.hpp"

namespace articula {

Variational::Variational(const Model& model)
    : manifold_(model),
      factor_(model),
      coriolis_(model),
      inverse_(model),
      memory_(7 * model.nv() + 2 * model.nq()),
      C_(static_cast<std::size_t>(model.nv()) * model.nv()) {}

void Variational::step(Forces forces, double t, double h, Out<double> q, Out<double> v) {
  const std::size_t n = v.size(), nq = q.size();
  check_state("Variational::step", manifold_, manifold_.nv(), nq, n);
  double *p0 = memory_.data(), *p = p0 + n, *w = p + n, *next = w + n, *u = next + n, *g = u + n,
         *tau = g + n, *middle = tau + n, *end = middle + nq;
  factor_.factor(q);
  factor_.multiply(v, {p0, n});
  // Half a step ahead by the forces here, to begin with.
  bias_forces(inverse_, q, v, {g, n});
  std::fill_n(tau, n, 0.0);
  if (forces) forces(t, q, v, {tau, n});
  for (std::size_t i = 0; i < n; ++i) tau[i] -= g[i];
  factor_.solve({tau, n}, {w, n});
  for (std::size_t i = 0; i < n; ++i) w[i] = v[i] + h / 2 * w[i];
  FixedPoint iteration;
  for (bool go_on = true; go_on;) {
    for (std::size_t i = 0; i < n; ++i) u[i] = h * w[i];
    manifold_.cayley(q.data(), u, middle, end);
    coriolis_matrix(coriolis_, {middle, nq}, {w, n}, C_);
    gravity_forces(inverse_, {middle, nq}, {g, n});
    std::fill_n(tau, n, 0.0);
    if (forces) forces(t + h / 2, {middle, nq}, {w, n}, {tau, n});
    for (std::size_t i = 0; i < n; ++i) tau[i] -= g[i];
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) tau[i] += C_[j * n + i] * w[j];
    for (std::size_t i = 0; i < n; ++i) p[i] = p0[i] + h / 2 * tau[i];
    factor_.factor({middle, nq});
    factor_.solve({p, n}, {next, n});
    go_on = iteration.go_on(w, next, n);
  }
  iterations_ = iteration.count();
  if (iteration.failed())
    throw IntegrationError(
        fmt::format("Variational::step: no convergence at t = {}; take a shorter step than {} s, or cvode "
                    "for stiff forces",
                    t, h));
  for (std::size_t i = 0; i < n; ++i) u[i] = h * w[i], p[i] = p0[i] + h * tau[i];
  manifold_.cayley(q.data(), u, middle, end);
  factor_.factor({end, nq});
  factor_.solve({p, n}, {w, n});
  // One refinement: the roundings of a million steps must not add up in one direction.
  factor_.multiply({w, n}, {g, n});
  for (std::size_t i = 0; i < n; ++i) g[i] = p[i] - g[i];
  factor_.solve({g, n}, {tau, n});
  for (std::size_t i = 0; i < n; ++i) v[i] = w[i] + tau[i];
  std::copy_n(end, nq, q.data());
}

}  // namespace articula
