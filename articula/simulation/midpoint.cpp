#include "articula/simulation/midpoint.hpp"

#include <fmt/format.h>

#include "articula/simulation/check_state.hpp"
#include "articula/simulation/fixed_point.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula {

template <class S>
MidpointEquations<S>::MidpointEquations(const Manifold& manifold)
    : x_(manifold.nv()),
      next_(manifold.nv()),
      u_(manifold.nv()),
      a_(manifold.nv()),
      middle_(manifold.nq()),
      end_(manifold.nq()) {}

template <class S>
void MidpointEquations<S>::begin(const System<S>&, In<S> q, In<S>) {
  std::copy(q.begin(), q.end(), middle_.begin());
}

/// Where the mean velocity leads. Rates that are not the velocities themselves are those at the middle.
template <class S>
void MidpointEquations<S>::place(const System<S>& system, double t, double h, In<S> q) {
  system.velocities(t + h / 2, middle_, x_, u_);
  for (S& u : u_) u = u * h;
  system.manifold.cayley(q.data(), u_.data(), middle_.data(), end_.data());
}

template <class S>
void MidpointEquations<S>::evaluate(const System<S>& system, double t, double h, In<S> q, In<S> v) {
  place(system, t, h, q);
  system.acceleration(t + h / 2, middle_, x_, a_);
  for (std::size_t i = 0; i < v.size(); ++i) next_[i] = v[i] + h / 2 * a_[i];
}

template <class S>
void MidpointEquations<S>::finish(const System<S>& system, double t, double h, Out<S> q, Out<S> v) {
  place(system, t, h, q);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = v[i] + h * a_[i];
  std::copy(end_.begin(), end_.end(), q.begin());
}

template class MidpointEquations<double>;
template class MidpointEquations<StepDual>;

void ImplicitMidpoint::step(const System<double>& system, double t, double h, Out<double> q, Out<double> v) {
  const Out<double> x = equations_.unknown();
  check_state("ImplicitMidpoint::step", system.manifold, x.size(), q.size(), v.size());
  equations_.begin(system, q, v);
  system.acceleration(t, q, v, x);
  for (std::size_t i = 0; i < v.size(); ++i) x[i] = v[i] + h / 2 * x[i];
  const FixedPoint iteration = find_fixed_point(equations_, system, t, h, q, v);
  iterations_ = iteration.count();
  if (iteration.failed())
    throw IntegrationError(
        fmt::format("ImplicitMidpoint::step: no convergence at t = {}; take a shorter step than {} s, or "
                    "cvode for stiff systems",
                    t, h));
  equations_.finish(system, t, h, q, v);
  if (system.project) system.project(t + h, q, v);
}

}  // namespace articula
