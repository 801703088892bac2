// Inverse dynamics: the joint forces of a given motion; bias and gravity forces.
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

/// Memory for inverse_dynamics, bias_forces and gravity_forces of one model; one per thread.
template <class S = double>
class InverseDynamics : public Workspace<S> {
 public:
  explicit InverseDynamics(const Model& model);

  void compute(In<S> q, In<S> v, In<S> a, Out<S> tau, Wrenches<S> wrenches);
  void compute_bias(In<S> q, In<S> v, Out<S> tau, Wrenches<S> wrenches);
  void compute_gravity(In<S> q, Out<S> tau);

 private:
  void run(const char* function, std::span<const S> q, const S* v, const S* a, std::span<S> tau,
           const S* wrenches);
};

/// tau = M a + C v + g - (external forces): two sweeps, O(n), no allocation.
template <class S>
void inverse_dynamics(InverseDynamics<S>& work, In<S> q, In<S> v, In<S> a, Out<S> tau,
                      Wrenches<S> wrenches = {}) {
  work.compute(q, v, a, tau, wrenches);
}
/// C v + g.
template <class S>
void bias_forces(InverseDynamics<S>& work, In<S> q, In<S> v, Out<S> tau, Wrenches<S> wrenches = {}) {
  work.compute_bias(q, v, tau, wrenches);
}
/// g alone: the forces that hold the mechanism still.
template <class S>
void gravity_forces(InverseDynamics<S>& work, In<S> q, Out<S> tau) {
  work.compute_gravity(q, tau);
}

/// These make their workspace in the call: for use outside loops.
std::vector<double> inverse_dynamics(const Model& model, In<double> q, In<double> v, In<double> a);
std::vector<double> bias_forces(const Model& model, In<double> q, In<double> v);
std::vector<double> gravity_forces(const Model& model, In<double> q);

extern template class InverseDynamics<double>;
extern template class InverseDynamics<float>;

}  // namespace articula
