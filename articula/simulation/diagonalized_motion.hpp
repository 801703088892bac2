// Motion in (q, nu) or (q, xi), beside the usual (q, v), by the same integrators.
#pragma once

#include <vector>

#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/velocity_form.hpp"

namespace articula {

class DiagonalizedMotion {
 public:
  /// From q at joint rates v. ArgumentError for models with mimic joints in the forms nu and xi.
  DiagonalizedMotion(const Model& model, MotionForm form, In<double> q, In<double> v);

  /// One step of h seconds, of an explicit integrator, under constant joint forces. Allocates nothing.
  void step(double h, Integrator how, In<double> tau);

  const std::vector<double>& q() const { return q_; }
  std::vector<double> rates();
  /// Kinetic energy: |nu|^2 / 2 in the form nu, without any other number.
  double kinetic_energy();

 private:
  Model model_;
  VelocityForm form_;
  Manifold manifold_;
  FixedStep<> steps_;
  std::vector<double> q_, x_;  // x: v, nu or xi
};

}  // namespace articula
