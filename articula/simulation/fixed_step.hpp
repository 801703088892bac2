// Explicit integrators with a fixed step, on the manifold: explicit Euler, symplectic Euler, Runge-Kutta of
// the fourth order (Munthe-Kaas). Each is one `step`, which allocates nothing; if the system throws, the
// state is as before.
//
// With dual numbers the same text gives the exact derivative of the step (linearized_step.hpp).
#pragma once

#include <vector>

#include "articula/simulation/system.hpp"

namespace articula {

/// The textbook's (MR9 9.5): q (+) h v, v + h a, both with what was before the step. First order.
template <class S = double>
class ExplicitEuler {
 public:
  explicit ExplicitEuler(const Manifold& manifold) : memory_(2 * manifold.nv()) {}
  void step(const System<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  std::vector<S> memory_;
};

/// First the velocities, then the configuration with the new ones. First order; of all explicit methods of
/// one evaluation the one whose energy stays near. (For q'' = f(q) it is symplectic; a mechanism's mass
/// matrix depends on q, so here the name is the customary one only.)
template <class S = double>
class SymplecticEuler {
 public:
  explicit SymplecticEuler(const Manifold& manifold) : memory_(3 * manifold.nv()) {}
  void step(const System<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  std::vector<S> memory_;
};

/// The classical Runge-Kutta method in the chart q (+) u, u' by Munthe-Kaas: fourth order on every joint.
template <class S = double>
class RungeKutta4 {
 public:
  explicit RungeKutta4(const Manifold& manifold) : memory_(manifold.nq() + 6 * manifold.nv()) {}
  void step(const System<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  std::vector<S> memory_;
};

}  // namespace articula
