// Linearized forward dynamics: how joint accelerations change with q, v and tau (LIN Algorithms 3 to 6).
//
// Derivatives by q are along the tangent space, as in linearized_inverse.hpp.
#pragma once

#include <memory>

#include "articula/linearization/workspace.hpp"

namespace articula {

/// Memory for one model; one per thread.
template <class S = double>
class LinearizedForward : public LinearizationWorkspace<S> {
 public:
  explicit LinearizedForward(const Model& model);
  ~LinearizedForward();
  LinearizedForward(LinearizedForward&&) noexcept;
  LinearizedForward& operator=(LinearizedForward&&) noexcept;

  void matrices(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau,
                const LinearizationOptions<S>& options);
  void perturb(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da,
               const LinearizationOptions<S>& options);
  void gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_tau,
                const LinearizationOptions<S>& options);
  /// The accelerations at which the last call linearized.
  void acceleration(Out<S> a) const;

 private:
  /// Forward dynamics at the state, leaving the factor in this workspace and full accelerations in a_full_.
  ExternalForces<S> start(const char* function, In<S> q, In<S> v, In<S> tau,
                          const LinearizationOptions<S>& options);
  void start_tied(In<S> q, In<S> v, In<S> tau, const LinearizationOptions<S>& options);
  void perturb_conventionally(In<S> dtau, Out<S> da);
  /// out = the model's own rows and columns of a full matrix of responses, by tau or else by q or v.
  void reduce_responses(S* full, bool by_tau, std::span<S> out);

  MimicCorrection<S> mimics_;
  // Only where a mimic joint has nothing of its own to move (MassFactor::needs_ties): Algorithms 3 and 4 in
  // the model's own coordinates, whatever method is asked for.
  struct Tied;
  std::unique_ptr<Tied> tied_;
  struct Printed;  // LIN's own Algorithms 4 and 6
  std::unique_ptr<Printed> printed_;
  AlignedArray<S> a_full_, tau_full_, right_, scratch_, full_;
  const S* q_at_ = nullptr;
  const S* v_at_ = nullptr;
};

/// da/dq, da/dv and da/dtau (the inverse mass matrix), nv x nv, row by row; no allocation.
template <class S>
void linearized_forward(LinearizedForward<S>& work, In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv,
                        Out<S> dtau, const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.matrices(q, v, tau, dq, dv, dtau, options);
}
/// da = (da/dq) dq + (da/dv) dv + (da/dtau) dtau in O(n) (Algorithm 5); Method::conventional and numerical: by
/// Algorithm 3.
template <class S>
void perturbed_forward(LinearizedForward<S>& work, In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv,
                       In<S> dtau, Out<S> da,
                       const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.perturb(q, v, tau, dq, dv, dtau, da, options);
}
/// The adjoint in O(n): the gradients of weights . a by q, v and tau.
template <class S>
void forward_gradient(LinearizedForward<S>& work, In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q,
                      Out<S> by_v, Out<S> by_tau,
                      const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.gradient(q, v, tau, weights, by_q, by_v, by_tau, options);
}

extern template class LinearizedForward<double>;
extern template class LinearizedForward<float>;

}  // namespace articula
