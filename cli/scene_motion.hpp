// A scene in motion, as `articula simulate SCENE` shows it: every step is projected back onto the
// constraints.
#pragma once

#include <optional>
#include <variant>

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/scene.hpp"
#include "articula/simulation/dormand_prince.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/simulator.hpp"
#include "articula/simulation/table.hpp"
#include "cli/motion.hpp"

namespace articula::cli {

class SceneMotion : public Motion {
 public:
  /// euler, symplectic_euler, rk4 or rk45; others: InputError. torque: joint forces over time instead of the
  /// scene's.
  SceneMotion(Scene& scene, Integrator integrator, const Tolerances& tolerances, std::optional<Table> torque);
  const std::vector<Column>& columns() const override { return columns_; }
  void advance(double time) override;
  void row(std::span<double> out) override;
  void restore(std::span<const double> first, std::span<const double> row) override;
  Watch& watch() override { return watch_; }
  std::vector<std::pair<std::string, std::string>> about() const override;

 private:
  void forces_at(double t);
  Scene& scene_;
  Integrator integrator_;
  Manifold manifold_;
  std::variant<ExplicitEuler<>, SymplecticEuler<>, RungeKutta4<>, DormandPrince> method_;
  std::optional<Table> torque_;
  Watch watch_;
  Kinematics<> kinematics_;
  std::vector<Column> columns_;
  std::vector<double> tau_, a_;
  double time_ = 0, first_energy_ = 0, corrected_ = 0;
  bool started_ = false, warned_ = false;
};

}  // namespace articula::cli
