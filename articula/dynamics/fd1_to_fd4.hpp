// The four forward dynamics algorithms of JPL88 (sections 4 and 5), each as printed and under its own name.
// They give the same accelerations as forward_dynamics, which is FD3 tuned; FD2 also gives the accelerations
// of all bodies and of any frame. For all joint kinds and trees: see docs/papers/JPL88.md for what that
// changes.
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

/// Memory for forward_dynamics_fd1 .. fd4 of one model; one per thread.
class NamedForwardDynamics : public Workspace<double> {
 public:
  explicit NamedForwardDynamics(const Model& model);

  enum class Algorithm { fd1, fd2, fd3, fd4 };
  void compute(Algorithm algorithm, In<double> q, In<double> v, In<double> tau, Out<double> a,
               Wrenches<double> wrenches);
  /// After FD2: the accelerations d/dt (w, v) of every O_k, world axes, and of a frame's origin (JPL88 5.7).
  /// Gravity is not in them: a body in free fall has -9.81.
  std::span<const Spatial<double>> link_accelerations() const;
  Spatial<double> tip_acceleration(int frame) const;

 private:
  MimicCorrection<double> mimics_;
  NamedMemory<double> n_;
  AlignedArray<double> extra_;
  std::vector<Spatial<double>> alpha_;
  std::vector<double> unit_;
  bool has_alpha_ = false;
};

/// a = M^-1 (tau + external forces - C v - g). No allocation. SingularError names a joint that nothing
/// resists.
inline void forward_dynamics_fd1(NamedForwardDynamics& work, In<double> q, In<double> v, In<double> tau,
                                 Out<double> a, Wrenches<double> wrenches = {}) {
  work.compute(NamedForwardDynamics::Algorithm::fd1, q, v, tau, a, wrenches);
}
inline void forward_dynamics_fd2(NamedForwardDynamics& work, In<double> q, In<double> v, In<double> tau,
                                 Out<double> a, Wrenches<double> wrenches = {}) {
  work.compute(NamedForwardDynamics::Algorithm::fd2, q, v, tau, a, wrenches);
}
inline void forward_dynamics_fd3(NamedForwardDynamics& work, In<double> q, In<double> v, In<double> tau,
                                 Out<double> a, Wrenches<double> wrenches = {}) {
  work.compute(NamedForwardDynamics::Algorithm::fd3, q, v, tau, a, wrenches);
}
inline void forward_dynamics_fd4(NamedForwardDynamics& work, In<double> q, In<double> v, In<double> tau,
                                 Out<double> a, Wrenches<double> wrenches = {}) {
  work.compute(NamedForwardDynamics::Algorithm::fd4, q, v, tau, a, wrenches);
}
/// These make their workspace in the call: for use outside loops.
std::vector<double> forward_dynamics_fd1(const Model& model, In<double> q, In<double> v, In<double> tau);
std::vector<double> forward_dynamics_fd2(const Model& model, In<double> q, In<double> v, In<double> tau);
std::vector<double> forward_dynamics_fd3(const Model& model, In<double> q, In<double> v, In<double> tau);
std::vector<double> forward_dynamics_fd4(const Model& model, In<double> q, In<double> v, In<double> tau);

}  // namespace articula
