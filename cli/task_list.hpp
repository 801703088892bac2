// Controllers in operational space, from JSON.
#pragma once

#include <memory>

#include "articula/simulation/task_control.hpp"
#include "cli/json_section.hpp"

namespace articula::cli {

/// "position" and "quaternion"; what is missing is where the frame is at q.
MotionTarget motion_target(const Section& s, const Model& model, const std::vector<double>& q,
                           const std::string& frame);
/// "stiffness", "damping", "turning_stiffness", "turning_damping"
MotionGains motion_gains(const Section& s);
/// {"type": "tasks", "levels": [[{"frame": .., "rows": .., ..}, ..], ..], "posture": ..}
std::unique_ptr<ForceElement> make_task_list(const Model& model, const Section& s,
                                             const std::vector<double>& q);

}  // namespace articula::cli
