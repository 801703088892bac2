// Forward dynamics: the accelerations that given joint forces cause.
#pragma once

#include <optional>

#include "articula/dynamics/mass_factor.hpp"

namespace articula {

/// Memory for forward_dynamics of one model; one per thread.
template <class S = double>
class ForwardDynamics : public Workspace<S> {
 public:
  explicit ForwardDynamics(const Model& model);
  void compute(In<S> q, In<S> v, In<S> tau, Out<S> a, Wrenches<S> wrenches);
  void solve(In<S> q, In<S> tau, Out<S> x);

 private:
  [[noreturn]] void refuse(const char* function, In<S> q) const;
  std::optional<MassFactor<S>> mimic_factor_;  // only with mimic joints
  std::vector<S> mimic_bias_;
};

/// a = M^-1 (tau + external forces - C v - g): three sweeps, O(n), no allocation. Throws SingularError,
/// naming the joint, where some joint has no inertia to move.
template <class S>
void forward_dynamics(ForwardDynamics<S>& work, In<S> q, In<S> v, In<S> tau, Out<S> a,
                      Wrenches<S> wrenches = {}) {
  work.compute(q, v, tau, a, wrenches);
}
/// x = M^-1(q) tau: the same at rest, without gravity. For one tau; of several, MassFactor keeps what depends on q.
template <class S>
void solve_mass_matrix(ForwardDynamics<S>& work, In<S> q, In<S> tau, Out<S> x) {
  work.solve(q, tau, x);
}
/// This makes its workspace in the call: for use outside loops.
std::vector<double> forward_dynamics(const Model& model, In<double> q, In<double> v, In<double> tau);

extern template class ForwardDynamics<double>;
extern template class ForwardDynamics<float>;

}  // namespace articula
