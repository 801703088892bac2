// Velocities in which a mechanism can be moved: the joint rates v, or nu or xi of the diagonalized equations
// (articula/diagonal).
#pragma once

#include <optional>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/forward_dynamics.hpp"

namespace articula {

enum class MotionForm { rates, nu, xi };

class VelocityForm {
 public:
  /// ArgumentError for models with mimic joints in the forms nu and xi.
  VelocityForm(const Model& model, MotionForm form);
  MotionForm form() const { return form_; }

  // x: v, nu or xi. None allocates.
  void from_rates(In<double> q, In<double> v, Out<double> x);
  void to_rates(In<double> q, In<double> x, Out<double> v);
  /// x' under joint forces tau.
  void slope(In<double> q, In<double> x, In<double> tau, Out<double> x_dot, Wrenches<double> wrenches = {});

 private:
  MotionForm form_;
  std::optional<DiagonalizedDynamics> diagonal_;
  std::optional<ForwardDynamics<>> forward_;
};

}  // namespace articula
