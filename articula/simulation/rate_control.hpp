// Control in the velocities nu of the diagonalized equations (articula/diagonal), as a force element.
#pragma once

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/simulation/forces.hpp"

namespace articula {

/// decoupled_rate_control: each nu_i a first-order loop of its own, nu_i' = gain_i (desired_i - nu_i). Not for models
/// with a free joint, be it a base or an object that is held, which it cannot drive, nor for mimic joints: ArgumentError.
class DecoupledRateControl : public ForceElement {
 public:
  /// gains, desired_nu: one for each velocity.
  DecoupledRateControl(const Model& model, std::vector<double> gains, std::vector<double> desired_nu,
                       RateCompensation compensation = RateCompensation::all);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;

 private:
  DiagonalizedDynamics work_;
  std::vector<double> gains_, desired_, tau_;
  RateCompensation compensation_;
};

}  // namespace articula
