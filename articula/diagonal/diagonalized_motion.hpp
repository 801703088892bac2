// Motion in (q, nu) or (q, xi), beside the usual (q, v): small fixed steps on the configuration manifold.
#pragma once

#include <optional>
#include <vector>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/forward_dynamics.hpp"

namespace articula {

enum class MotionForm { rates, nu, xi };
enum class MotionStep {
  symplectic_euler,  // first the velocities, then the configuration with the new ones
  rk4,  // fourth order; the configuration by the commutator-free scheme of Celledoni, Marthinsen, Owren
};

class DiagonalizedMotion {
 public:
  /// From q at joint rates v. ArgumentError for models with mimic joints in the forms nu and xi.
  DiagonalizedMotion(const Model& model, MotionForm form, In<double> q, In<double> v);

  /// One step of h seconds under constant joint forces.
  void step(double h, MotionStep how, In<double> tau);

  const std::vector<double>& q() const { return q_; }
  std::vector<double> rates();
  /// Kinetic energy: |nu|^2 / 2 in the form nu, without any other number.
  double kinetic_energy();

 private:
  /// Joint rates at (q, x), and x'.
  void rates_of(const std::vector<double>& q, const std::vector<double>& x, std::vector<double>& v);
  void slope(const std::vector<double>& q, const std::vector<double>& x, In<double> tau,
             std::vector<double>& v, std::vector<double>& x_dot);

  Model model_;
  MotionForm form_;
  std::optional<DiagonalizedDynamics> diagonal_;
  ForwardDynamics<> forward_;
  std::vector<double> q_, x_;  // x: v, nu or xi
};

}  // namespace articula
