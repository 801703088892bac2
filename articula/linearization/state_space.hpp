// The linearized state space of a mechanism, x = (q, v) with q along its tangent space: continuous, and over
// one step of an integrator.
#pragma once

#include "articula/linearization/linearized_forward.hpp"

namespace articula {

/// One step of length h from (q, v) with tau held: v_next = v + h a(q, v, tau), and q_next = q (+) h v, or h
/// v_next.
enum class Step { euler, symplectic_euler };

/// Memory for one model; one per thread.
class StateSpace {
 public:
  explicit StateSpace(const Model& model);
  const Model& model() const { return forward_.model(); }
  void continuous(In<double> q, In<double> v, In<double> tau, Out<double> A, Out<double> B,
                  const LinearizationOptions<double>& options);
  void discrete(In<double> q, In<double> v, In<double> tau, double h, Step step, Out<double> A, Out<double> B,
                Out<double> q_next, Out<double> v_next, const LinearizationOptions<double>& options);

 private:
  void linearize(const char* function, In<double> q, In<double> v, In<double> tau, std::size_t A,
                 std::size_t B, const LinearizationOptions<double>& options);
  LinearizedForward<double> forward_;
  std::vector<double> dq_, dv_, dtau_, Jq_, Jv_, motion_, a_;
};

/// d/dt (dq, dv) = A (dq, dv) + B dtau: A is 2 nv x 2 nv, B is 2 nv x nv, row by row. Where motions of a
/// joint do not commute and v is not zero, a perturbation dq turns against the joint's own motion: its rate
/// is dv - v x dq.
inline void continuous_state_space(StateSpace& work, In<double> q, In<double> v, In<double> tau,
                                   Out<double> A, Out<double> B,
                                   const LinearizationOptions<double>& options = {}) {
  work.continuous(q, v, tau, A, B, options);
}
/// (dq, dv) after the step = A (dq, dv) + B dtau: the exact derivative of that integrator's step. q_next and
/// v_next take the step's result.
inline void discrete_state_space(StateSpace& work, In<double> q, In<double> v, In<double> tau, double h,
                                 Step step, Out<double> A, Out<double> B, Out<double> q_next,
                                 Out<double> v_next, const LinearizationOptions<double>& options = {}) {
  work.discrete(q, v, tau, h, step, A, B, q_next, v_next, options);
}

}  // namespace articula
