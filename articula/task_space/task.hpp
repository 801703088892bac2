// Tasks: what of a frame's motion is to be controlled, as 1 to 6 rows in any axes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

/// y = rows (w, v): (w, v) is the velocity of the frame's origin, in the axes of the world or of a frame. The
/// axes may move: the task's acceleration y' is the true rate of change of y.
struct Task {
  static constexpr int world_axes = -1;
  int frame = -1;                           // index: Model::frame(name)
  std::vector<std::array<double, 6>> rows;  // rotation first
  int axes = world_axes;                    // or the frame in whose axes the rows are
};

/// Frames and axes by name; `axes` empty: the world's. All six rows, the three translations, the three
/// rotations.
Task pose_task(const Model& model, std::string_view frame, std::string_view axes = "");
Task position_task(const Model& model, std::string_view frame, std::string_view axes = "");
Task orientation_task(const Model& model, std::string_view frame, std::string_view axes = "");
/// Translation along a line (one row), or within a plane (two rows). Directions need not have unit length.
Task line_task(const Model& model, std::string_view frame, const Vec3<double>& direction,
               std::string_view axes = "");
Task plane_task(const Model& model, std::string_view frame, const Vec3<double>& normal,
                std::string_view axes = "");
/// The rows of (rotation x y z, translation x y z) that are set.
Task selected_task(const Model& model, std::string_view frame, const std::array<bool, 6>& rows,
                   std::string_view axes = "");
Task rows_task(const Model& model, std::string_view frame, std::vector<std::array<double, 6>> rows,
               std::string_view axes = "");

/// Throws ArgumentError: a frame that is not there, no rows or more than six, a row of zeros or not finite.
void check_task(const Model& model, const Task& task, int number);

}  // namespace articula
