// A mechanism, open or closed, under gravity, torques, force elements and controllers, as `articula simulate` reads them.
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
struct MotionSetup {
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
/// zero.
void read_initial(const std::string& path, const Model& model, std::span<const NamedState> known,
                  MotionSetup& setup);
/// Whether the start is within the joints' limits, unless `limits` is "ignore": a warning, or an InputError where limits
/// are to act or `from` (how --initial was given; empty: it was not) asks for it.
void check_start(const std::string& from, const Model& model, const MotionSetup& setup);

class MechanismMotion : public Motion {
 public:
  /// `constraints`: of closed chains, which the start fits. Throws InputError where the setup does not fit the model.
  MechanismMotion(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints);
  const std::vector<Column>& columns() const override { return recorder_->columns(); }
  void advance(double time) override { simulator_.advance(time); }
  void row(std::span<double> out) override;
  void restore(std::span<const double> first, std::span<const double> row) override {
    recorder_->restore(first, row);
  }
  Watch& watch() override { return simulator_.watch; }
  std::vector<std::pair<std::string, std::string>> about() const override;
  Simulator& simulator() { return simulator_; }
  Recorder& recorder() { return *recorder_; }

 private:
  void add_forces(const MotionSetup& setup);
  void add_controllers(const MotionSetup& setup);
  template <class E, class... A>
  E& own(A&&... a) {
    auto made = std::make_unique<E>(std::forward<A>(a)...);
    E& out = *made;
    elements_.push_back(std::move(made));
    return out;
  }

  std::unique_ptr<ConstrainedDynamics> closed_;
  Simulator simulator_;
  std::vector<std::unique_ptr<ForceElement>> elements_;
  std::vector<std::unique_ptr<WrenchElement>> wrenches_;
  std::optional<Recorder> recorder_;
  bool warned_ = false;
};

}  // namespace articula::cli
