#include "articula/simulation/task_control.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

namespace {

/// A posture that fits the model, which has a motor for every joint.
std::vector<double> checked_posture(const char* who, const Model& model, std::vector<double> posture) {
  if (model.base() == Base::free)
    throw ArgumentError(fmt::format("{}: a free base has no motor; it is for fixed ones", who));
  if (posture.size() != std::size_t(model.nq()))
    throw ArgumentError(fmt::format("{}: the posture has {} numbers, model '{}' needs nq = {}", who,
                                    posture.size(), model.name(), model.nq()));
  normalise(model, posture);
  return posture;
}
std::vector<std::vector<Task>> tasks_of(const std::vector<std::vector<ControlledTask>>& levels) {
  std::vector<std::vector<Task>> out(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i)
    for (const ControlledTask& c : levels[i]) {
      if (c.coordinates && (c.task.rows.size() != 6 || c.task.axes != Task::world_axes))
        throw ArgumentError("TaskListControl: coordinates need all six rows of a pose, in world axes");
      if (i > 0 && !c.pushes.empty())
        throw ArgumentError("TaskListControl: a row that pushes belongs on the first level");
      out[i].push_back(c.task);
    }
  return out;
}

}  // namespace

OperationalSpaceControl::OperationalSpaceControl(const Model& model, std::string_view frame,
                                                 const MotionTarget& target, std::vector<double> posture,
                                                 const OperationalSpaceOptions& options)
    : target(target),
      control_(model, {{pose_task(model, frame)}}),
      options_(options),
      posture_(checked_posture("OperationalSpaceControl", model, std::move(posture))),
      tau_(model.nv()),
      motor_(motors(model)) {
  if (options.sweeps != 4) swept_.emplace(model, frame, options.sweeps);
}

void OperationalSpaceControl::add_forces(double t, In<double> q, In<double> v, Out<double> tau) {
  if (swept_) {
    if (!(t > last_tick_)) swept_->reset();  // another motion begins
    last_tick_ = t;
    swept_->torques(q, v, target, options_.gains,
                    {posture_, options_.posture_stiffness, options_.posture_damping}, tau_);
  } else {
    control_.update(q, v);
    control_.follow(0, target, options_.gains);
    control_.hold_posture(posture_, options_.posture_stiffness, options_.posture_damping);
    control_.torques(tau_);
  }
  for (std::size_t i = 0; i < tau_.size(); ++i)
    if (motor_[i]) tau[i] += tau_[i];
}

TaskListControl::TaskListControl(const Model& model, std::vector<std::vector<ControlledTask>> given,
                                 std::vector<double> posture, double posture_stiffness,
                                 double posture_damping)
    : levels(std::move(given)),
      control_(model, tasks_of(levels)),
      posture_(checked_posture("TaskListControl", model, std::move(posture))),
      tau_(model.nv()),
      motor_(motors(model)),
      stiffness_(posture_stiffness),
      damping_(posture_damping) {
  for (const auto& level : levels)
    for (const ControlledTask& c : level)
      for (const auto& push : c.pushes)
        if (push.row < 0 || push.row >= static_cast<int>(c.task.rows.size()))
          throw ArgumentError(fmt::format("TaskListControl: a push along row {} of a task with {} rows",
                                          push.row, c.task.rows.size()));
        else if (std::count_if(c.pushes.begin(), c.pushes.end(),
                               [&](const auto& other) { return other.row == push.row; }) > 1)
          throw ArgumentError(fmt::format("TaskListControl: two pushes along row {} of a task", push.row));
}

void TaskListControl::add_forces(double, In<double> q, In<double> v, Out<double> tau) {
  control_.update(q, v);
  int number = 0;
  for (const auto& level : levels)
    for (const ControlledTask& c : level) {
      if (c.coordinates)
        control_.accelerate(
            number, motion_command(control_.space().pose(number), control_.space().frame_velocity(number),
                                   *c.coordinates, c.wanted, c.gains));
      else
        control_.follow(number, c.target, c.gains);
      for (const auto& push : c.pushes) control_.press(number, push.row, push.force, push.damping);
      ++number;
    }
  control_.hold_posture(posture_, stiffness_, damping_);
  control_.torques(tau_);
  for (std::size_t i = 0; i < tau_.size(); ++i)
    if (motor_[i]) tau[i] += tau_[i];
}

}  // namespace articula
