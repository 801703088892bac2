// Operational-space control as a force element: a frame drawn to a pose, the rest of the freedom to a
// posture.
#pragma once

#include <memory>
#include <optional>

#include "articula/simulation/forces.hpp"
#include "articula/task_space/coordinates.hpp"
#include "articula/task_space/swept_control.hpp"

namespace articula {

struct OperationalSpaceOptions {
  MotionGains gains{};
  double posture_stiffness = 0, posture_damping = 2;  // in what freedom the frame leaves
  /// 2, 3: SweptControl with terms of the call before; for a sampled element, whose calls are ticks. 4: all of now.
  int sweeps = 4;
};

/// articula/task_space's TaskController with one frame, or SweptControl. Not for a free base, which it cannot drive:
/// ArgumentError.
class OperationalSpaceControl : public ForceElement {
 public:
  OperationalSpaceControl(const Model& model, std::string_view frame, const MotionTarget& target,
                          std::vector<double> posture, const OperationalSpaceOptions& options = {});
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  /// Changed between steps, it is followed.
  MotionTarget target;

 private:
  TaskController control_;
  std::optional<SweptControl> swept_;
  double last_tick_ = 0;
  OperationalSpaceOptions options_;
  std::vector<double> posture_, tau_;
  std::vector<bool> motor_;
};

/// One of several tasks: a frame's rows drawn to a pose, or its coordinates to values, and rows that push instead.
struct ControlledTask {
  Task task;
  MotionTarget target{};
  std::shared_ptr<const TaskCoordinates>
      coordinates{};  // then all six rows, and `wanted` in the place of target
  CoordinateTarget wanted{};
  MotionGains gains{};
  struct Push {
    int row;
    double force, damping = 0;
  };
  std::vector<Push> pushes{};  // TaskController::press; on the first level
};

/// TaskController with tasks in levels, a lower one acting only in what the ones before it leave free, and a posture in
/// what is left of all. Not for a free base: ArgumentError.
class TaskListControl : public ForceElement {
 public:
  TaskListControl(const Model& model, std::vector<std::vector<ControlledTask>> levels,
                  std::vector<double> posture, double posture_stiffness = 0, double posture_damping = 2);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  /// Changed between steps, they are followed.
  std::vector<std::vector<ControlledTask>> levels;

 private:
  TaskController control_;
  std::vector<double> posture_, tau_;
  std::vector<bool> motor_;
  double stiffness_, damping_;
};

}  // namespace articula
