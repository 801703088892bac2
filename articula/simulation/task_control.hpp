// Operational-space control as a force element: a frame drawn to a pose, the rest of the freedom to a
// posture.
#pragma once

#include "articula/simulation/forces.hpp"
#include "articula/task_space/control.hpp"

namespace articula {

struct OperationalSpaceOptions {
  MotionGains gains{};
  double posture_stiffness = 0, posture_damping = 2;  // in what freedom the frame leaves
};

/// articula/task_space's TaskController with one frame. Not for a free base, which it cannot drive:
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
  OperationalSpaceOptions options_;
  std::vector<double> posture_, tau_;
  std::vector<bool> motor_;
};

}  // namespace articula
