// A scene in motion, as `articula simulate SCENE` shows it.
#pragma once

#include <optional>

#include "articula/loops/scene.hpp"
#include "articula/report/report.hpp"
#include "articula/simulation/constrained_recorder.hpp"
#include "cli/motion.hpp"

namespace articula::cli {

class SceneMotion : public Motion {
 public:
  /// torque: joint forces over time instead of the scene's. ArgumentError for integrators that are not for scenes.
  SceneMotion(Scene& scene, Integrator integrator, const Tolerances& tolerances, std::optional<Table> torque);
  const std::vector<Column>& columns() const override { return recorder_.columns(); }
  void advance(double time) override { simulator_.advance(time); }
  void row(std::span<double> out) override;
  void restore(std::span<const double> first, std::span<const double> row) override {
    recorder_.restore(first, row);
  }
  Watch& watch() override { return simulator_.watch; }
  std::vector<std::pair<std::string, std::string>> about() const override;

 private:
  Scene& scene_;
  ConstrainedSimulator simulator_;
  ConstrainedRecorder recorder_;
  std::optional<TabulatedForces> torque_;
  bool warned_ = false;
};

/// The hands' forces on what they hold, as arrows at the tips.
void add_grasp_forces(Report& report, const Recording& recording, Scene& scene);

}  // namespace articula::cli
