// Motion in (q, nu) or (q, xi), beside the usual (q, v), by the same integrators.
#pragma once

#include <optional>
#include <vector>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/simulation/fixed_step.hpp"

namespace articula {

enum class MotionForm { rates, nu, xi };

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
  void rates_of(In<double> q, In<double> x, Out<double> v);

  Model model_;
  MotionForm form_;
  Manifold manifold_;
  std::optional<DiagonalizedDynamics> diagonal_;
  ForwardDynamics<> forward_;
  FixedStep<> steps_;
  std::vector<double> q_, x_;  // x: v, nu or xi
};

}  // namespace articula
