// How uncertain accelerations are: from independent deviations of joint forces, of forces on bodies and of masses to
// the covariance of every joint's and every body's acceleration, in O(n). Exact for what is linear (masses: to first
// order). No matrix of all joints is formed; the derivation is in docs/filtering.md.
#pragma once

#include <array>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/operators/operator_state.hpp"

namespace articula::operators {

/// Standard deviations, all independent; empty: none.
struct Deviations {
  In<double> tau{};       // joint forces, one per velocity
  In<double> wrenches{};  // (moment, force) on each body, six per body, world axes, at its joint origin
  In<double> masses{};    // of each body, as a share of its mass (inertia and all)
};

/// A symmetric 6 x 6 matrix, row by row.
using Covariance6 = std::array<double, 36>;

/// One per thread. Models with mimic joints are refused (ArgumentError).
class AccelerationCovariance {
 public:
  explicit AccelerationCovariance(const Model& model);

  const Model& model() const { return state_.model(); }

  /// At a state; v and tau matter only where masses deviate, and may be empty where none do. No allocation.
  void compute(In<double> q, In<double> v, In<double> tau, const Deviations& deviations);

  // --- of the last compute()
  /// Standard deviation of every joint acceleration.
  void joints(Out<double> deviation) const;
  /// Of (w', v') of a body, world axes, at its joint origin.
  const Covariance6& body(int body) const { return body_[body + 1]; }
  /// Of a frame's, at the frame.
  Covariance6 frame(int frame) const;

 private:
  struct Joint;
  void read(int k, Joint& joint) const;
  void add_mass_forces(In<double> q, In<double> v, In<double> tau, In<double> masses);

  OperatorState state_;
  ForwardDynamics<double> forward_;
  std::vector<double> alpha_, acceleration_, variance_;
  std::vector<Covariance6> inward_, own_, outward_,
      body_;  // by slot: of z, of what joint k adds to it, of r, of alpha
};

}  // namespace articula::operators
