// What an integrator moves: a configuration q on a manifold and velocities x, with their rates given by
// borrowed functions.
#pragma once

#include "articula/dynamics/workspace.hpp"
#include "articula/model/manifold.hpp"
#include "articula/simulation/function_ref.hpp"

namespace articula {

/// A step could not be made: an iteration did not converge, a step size vanished, a number is not finite.
struct IntegrationError : Error {
  using Error::Error;
};

/// q' = rates(q, x), x' = acceleration(t, q, x). Everything is borrowed: a system is made where a step is.
/// A mechanism, open or with closed chains, gives its acceleration alone; x are then the joint velocities.
/// Forms whose velocities are others (nu, xi: articula/diagonal) give the rates too.
template <class S = double>
struct System {
  const Manifold& manifold;
  FunctionRef<void(double t, In<S> q, In<S> x, Out<S> x_dot)> acceleration;
  /// The joint velocities of x; empty: x itself.
  FunctionRef<void(double t, In<S> q, In<S> x, Out<S> v)> rates{};
  /// Called after each step to bring the state back where it belongs (constraints); may be empty.
  FunctionRef<void(double t, Out<S> q, Out<S> x)> project{};
  /// Joint forces of everything but gravity, for the integrator that moves momenta (variational) and not by
  /// accelerations; others may leave it empty.
  FunctionRef<void(double t, In<S> q, In<S> x, Out<S> tau)> forces{};

  void velocities(double t, In<S> q, In<S> x, Out<S> v) const {
    if (rates)
      rates(t, q, x, v);
    else
      for (std::size_t i = 0; i < x.size(); ++i) v[i] = x[i];
  }
};

}  // namespace articula
