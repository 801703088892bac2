// The linearized state space of a mechanism, x = (q, v) with q along its tangent space: continuous, and over
// one step of an integrator.
#pragma once

#include "articula/kernels/integrator.hpp"
#include "articula/linearization/linearized_forward.hpp"

namespace articula {

/// Memory for one model; one per thread.
class StateSpace {
 public:
  explicit StateSpace(const Model& model);
  const Model& model() const { return forward_.model(); }
  void continuous(In<double> q, In<double> v, In<double> tau, Out<double> A, Out<double> B,
                  const LinearizationOptions<double>& options);
  void discrete(In<double> q, In<double> v, In<double> tau, double h, Integrator integrator, Out<double> A,
                Out<double> B, Out<double> q_next, Out<double> v_next,
                const LinearizationOptions<double>& options);

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
/// One step of h from (q, v) with tau held, of euler or symplectic_euler (ArgumentError for others; LinearizedStep in
/// articula/simulation has them all): (dq, dv) after it = A (dq, dv) + B dtau, exactly. q_next and v_next take the
/// step's result.
inline void discrete_state_space(StateSpace& work, In<double> q, In<double> v, In<double> tau, double h,
                                 Integrator integrator, Out<double> A, Out<double> B, Out<double> q_next,
                                 Out<double> v_next, const LinearizationOptions<double>& options = {}) {
  work.discrete(q, v, tau, h, integrator, A, B, q_next, v_next, options);
}

}  // namespace articula
