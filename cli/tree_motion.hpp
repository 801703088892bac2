// A mechanism under gravity, torques, force elements and controllers, as `articula simulate` reads them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "articula/files/read_model.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/simulator.hpp"
#include "cli/motion.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// Everything about a run that is read from the command line and its files; shared by many runs.
struct TreeSetup {
  Integrator integrator = Integrator::rk4;
  Tolerances tolerances;
  MotionForm form = MotionForm::rates;
  std::vector<double> q, v, tau;       // where it begins; constant joint forces
  std::optional<Table> torque;         // over time, a column for each velocity
  nlohmann::json forces, controllers;  // null: none
  std::string forces_file, controllers_file;
  bool model_damping = false, model_friction = false;
  std::string limits = "check";  // check, ignore, stiff, events
};

/// Joint forces over time from a CSV file: "time", and "tau:JOINT" or "JOINT" for every joint but a free
/// base's.
Table read_torques(const std::string& path, const Model& model);
/// q, v and tau of a JSON file, or of the state of that name among those `known`; what is missing is neutral, at rest,
/// zero. Checked against the joints' limits, unless `limits` is "ignore".
void read_initial(const std::string& path, const Model& model, std::span<const NamedState> known,
                  TreeSetup& setup);

class TreeMotion : public Motion {
 public:
  /// Throws InputError where the setup does not fit the model.
  TreeMotion(const Model& model, const TreeSetup& setup);
  const std::vector<Column>& columns() const override { return recorder_->columns(); }
  void advance(double time) override { simulator_.advance(time); }
  void row(std::span<double> out) override { recorder_->row(out); }
  void restore(std::span<const double> first, std::span<const double> row) override {
    recorder_->restore(first, row);
  }
  Watch& watch() override { return simulator_.watch; }
  std::vector<std::pair<std::string, std::string>> about() const override;
  Simulator& simulator() { return simulator_; }
  Recorder& recorder() { return *recorder_; }

 private:
  void add_forces(const TreeSetup& setup);
  void add_controllers(const TreeSetup& setup);
  template <class E, class... A>
  E& own(A&&... a) {
    auto made = std::make_unique<E>(std::forward<A>(a)...);
    E& out = *made;
    elements_.push_back(std::move(made));
    return out;
  }

  Simulator simulator_;
  std::vector<std::unique_ptr<ForceElement>> elements_;
  std::vector<std::unique_ptr<WrenchElement>> wrenches_;
  std::optional<Recorder> recorder_;
};

}  // namespace articula::cli
