#include "articula/simulation/variational.hpp"

#include <fmt/format.h>

#include "articula/simulation/check_state.hpp"
#include "articula/simulation/fixed_point.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula {

template <class S>
VariationalEquations<S>::VariationalEquations(const Manifold& manifold)
    : p0_(manifold.nv()),
      p_(manifold.nv()),
      w_(manifold.nv()),
      next_(manifold.nv()),
      u_(manifold.nv()),
      rate_(manifold.nv()),
      middle_(manifold.nq()),
      end_(manifold.nq()) {}

template <class S>
void VariationalEquations<S>::begin(const MomentumSystem<S>& system, In<S> q, In<S> v) {
  system.momentum(q, v, p0_);
}

template <class S>
void VariationalEquations<S>::place(const MomentumSystem<S>& system, double h, In<S> q) {
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = h * w_[i];
  system.manifold.cayley(q.data(), u_.data(), middle_.data(), end_.data());
}

template <class S>
void VariationalEquations<S>::evaluate(const MomentumSystem<S>& system, double t, double h, In<S> q, In<S>) {
  place(system, h, q);
  system.force(t + h / 2, middle_, w_, rate_);
  for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = p0_[i] + h / 2 * rate_[i];
  system.velocity(middle_, p_, next_);
}

template <class S>
void VariationalEquations<S>::finish(const MomentumSystem<S>& system, double, double h, Out<S> q, Out<S> v) {
  place(system, h, q);
  for (std::size_t i = 0; i < p_.size(); ++i) p0_[i] = p0_[i] + h * rate_[i];
  system.velocity(end_, p0_, v);
  std::copy(end_.begin(), end_.end(), q.begin());
}

template class VariationalEquations<double>;
template class VariationalEquations<StepDual>;

Variational::Variational(const Model& model)
    : manifold_(model),
      factor_(model),
      coriolis_(model),
      inverse_(model),
      equations_(manifold_),
      g_(2 * static_cast<std::size_t>(model.nv())),
      C_(static_cast<std::size_t>(model.nv()) * model.nv()) {}

void Variational::step(Forces forces, double t, double h, Out<double> q, Out<double> v) {
  const std::size_t n = v.size();
  check_state("Variational::step", manifold_, manifold_.nv(), q.size(), n);
  const Out<double> g(g_.data(), n), other(g_.data() + n, n);
  auto momentum = [&](In<double> at, In<double> rate, Out<double> p) {
    factor_.factor(at);
    factor_.multiply(rate, p);
  };
  auto velocity = [&](In<double> at, In<double> p, Out<double> rate) {
    factor_.factor(at);
    factor_.solve(p, rate);
  };
  auto acting = [&](double time, In<double> at, In<double> rate, Out<double> tau) {
    std::fill(tau.begin(), tau.end(), 0.0);
    if (forces) forces(time, at, rate, tau);
    for (std::size_t i = 0; i < n; ++i) tau[i] -= g[i];
  };
  auto force = [&](double time, In<double> at, In<double> w, Out<double> out) {
    coriolis_matrix(coriolis_, at, w, C_);
    gravity_forces(inverse_, at, g);
    acting(time, at, w, out);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) out[i] += C_[j * n + i] * w[j];
  };
  const MomentumSystem<double> system{manifold_, momentum, velocity, force};
  equations_.begin(system, q, v);
  // Half a step ahead by the forces here, to begin with.
  const Out<double> w = equations_.unknown();
  bias_forces(inverse_, q, v, g);
  acting(t, q, v, other);
  factor_.solve(other, w);
  for (std::size_t i = 0; i < n; ++i) w[i] = v[i] + h / 2 * w[i];
  const FixedPoint iteration = find_fixed_point(equations_, system, t, h, q, v);
  iterations_ = iteration.count();
  if (iteration.failed())
    throw IntegrationError(
        fmt::format("Variational::step: no convergence at t = {}; take a shorter step than {} s, or cvode "
                    "for stiff forces",
                    t, h));
  equations_.finish(system, t, h, q, v);
  // One refinement: the roundings of a million steps must not add up in one direction.
  factor_.multiply(v, g);
  for (std::size_t i = 0; i < n; ++i) g[i] = equations_.momentum()[i] - g[i];
  factor_.solve(g, other);
  for (std::size_t i = 0; i < n; ++i) v[i] += other[i];
}

}  // namespace articula
