// Linearized inverse dynamics: how joint forces change with q, v and a (LIN Algorithms 1 and 2).
//
// Derivatives by q are along the tangent space: q (+) dq moves every joint by its velocity dq for a unit of
// time (docs/conventions.md), with the components of v and a held; one column per velocity.
#pragma once

#include "articula/linearization/workspace.hpp"

namespace articula {

/// Memory for one model; one per thread.
template <class S = double>
class LinearizedInverse : public LinearizationWorkspace<S> {
 public:
  explicit LinearizedInverse(const Model& model);

  void matrices(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da,
                const LinearizationOptions<S>& options);
  void perturb(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau,
               const LinearizationOptions<S>& options);
  void gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_a,
                const LinearizationOptions<S>& options);

 private:
  void check_state(const char* function, In<S> q, In<S> v, In<S> a) const;
  AlignedArray<S> full_;  // only with mimic joints
};

/// dtau/dq, dtau/dv and dtau/da (the mass matrix), nv x nv, row by row: O(n^2), no allocation (Algorithm 2).
template <class S>
void linearized_inverse(LinearizedInverse<S>& work, In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv,
                        Out<S> da, const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.matrices(q, v, a, dq, dv, da, options);
}
/// dtau = (dtau/dq) dq + (dtau/dv) dv + (dtau/da) da in O(n) (Algorithm 1).
template <class S>
void perturbed_inverse(LinearizedInverse<S>& work, In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da,
                       Out<S> dtau, const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.perturb(q, v, a, dq, dv, da, dtau, options);
}
/// The adjoint in O(n): the gradients of weights . tau by q, v and a.
template <class S>
void inverse_gradient(LinearizedInverse<S>& work, In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q,
                      Out<S> by_v, Out<S> by_a,
                      const LinearizationOptions<std::type_identity_t<S>>& options = {}) {
  work.gradient(q, v, a, weights, by_q, by_v, by_a, options);
}

/// Where dtau/dq, dtau/dv and dtau/da can be other than zero, nv x nv, row by row: joints that lie on one
/// path to the world. Everything else is never computed. Armature and damping are on the diagonal.
std::vector<bool> inverse_pattern(const Model& model);
/// Where da/dq, da/dv and da/dtau can be other than zero: between joints of one tree. Trees that hang from
/// the world apart do not touch each other, unless a mimic joint ties them.
std::vector<bool> forward_pattern(const Model& model);

extern template class LinearizedInverse<double>;
extern template class LinearizedInverse<float>;

}  // namespace articula
