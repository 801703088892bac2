// The exact derivative of one step of an integrator: the discrete state space, for model predictive control,
// trajectory optimisation and filters.
//
// It is that integrator's own text that is differentiated, with dual numbers; an implicit step by the
// implicit function theorem at its solution, so that the derivative is exact too and not where an iteration
// stopped.
#pragma once

#include <memory>

#include "articula/kernels/integrator.hpp"
#include "articula/linearization/workspace.hpp"

namespace articula {

/// Memory for one model; one per thread.
class LinearizedStep {
 public:
  /// euler, symplectic_euler, rk4, midpoint or variational. ArgumentError for rk45 and cvode: error control
  /// decides what steps they make, so that there is no map from h to differentiate.
  LinearizedStep(const Model& model, Integrator integrator);
  ~LinearizedStep();
  LinearizedStep(LinearizedStep&&) noexcept;

  /// (dq, dv) after a step of h with tau held = A (dq, dv) + B dtau: A is 2 nv x 2 nv and B is 2 nv x nv, row
  /// by row, dq along the tangent spaces at q and q_next. q_next and v_next take the step's result. The step
  /// is the Simulator's: from (q, v) to (q, v) for `variational` too, which begins with p = M(q) v and ends
  /// with v = M(q)^-1 p. External forces and damping act during the step as the options say, and forces held
  /// in body axes turn with their bodies; `wrenches` are those at q. Nothing is allocated.
  ///
  /// ArgumentError: sizes, numbers that are not finite, h not positive. IntegrationError where the step
  /// itself cannot be made, SingularError where a joint has nothing to move. All results are then as before.
  void compute(In<double> q, In<double> v, In<double> tau, double h, Out<double> A, Out<double> B,
               Out<double> q_next, Out<double> v_next, const LinearizationOptions<double>& options = {});

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace articula
