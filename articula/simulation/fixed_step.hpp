// The explicit integrators with a fixed step, on the manifold:
//
//   euler             the textbook's (MR9 9.5): q (+) h v, v + h a, both with what was before the step. First order.
//   symplectic_euler  first the velocities, then the configuration with the new ones. First order; of all explicit
//                     methods of one evaluation the one whose energy stays near. (For q'' = f(q) it is symplectic; a
//                     mechanism's mass matrix depends on q, so here the name is the customary one only.)
//   rk4               the classical Runge-Kutta method in the chart q (+) u, u' by Munthe-Kaas: fourth order on every
//                     joint.
//
// Their text is kernels/fixed_step_text.hpp; with dual numbers the same text gives the exact derivative of the step
// (linearized_step.hpp).
#pragma once

#include <vector>

#include "articula/kernels/integrator.hpp"
#include "articula/simulation/system.hpp"

namespace articula {

template <class S = double>
class FixedStep {
 public:
  /// ArgumentError for an integrator that does not step explicitly.
  FixedStep(Integrator integrator, const Manifold& manifold);
  /// Another one from here on. Nothing is allocated.
  void use(Integrator integrator);
  /// Accelerations that a step asks for.
  int evaluations() const;
  /// Allocates nothing; if the system throws, the state is as before.
  void step(const System<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  Integrator integrator_;
  std::size_t nv_;
  std::vector<S> memory_;
};

}  // namespace articula
