#include "articula/task_space/task.hpp"

#include <fmt/format.h>

#include <cmath>

namespace articula {

namespace {
Task make(const Model& model, std::string_view frame, std::string_view axes) {
  Task task;
  task.frame = model.frame(frame);
  if (!axes.empty()) task.axes = model.frame(axes);
  return task;
}
Vec3<double> unit(const Vec3<double>& x, const char* function, const char* what) {
  const double length = std::sqrt(dot(x, x));
  if (!(length > 0) || !std::isfinite(length))
    throw ArgumentError(
        fmt::format("{}: the {} is ({}, {}, {}), which has no direction", function, what, x.x, x.y, x.z));
  return x * (1 / length);
}
std::array<double, 6> translation(const Vec3<double>& d) { return {0, 0, 0, d.x, d.y, d.z}; }
}  // namespace

Task selected_task(const Model& model, std::string_view frame, const std::array<bool, 6>& rows,
                   std::string_view axes) {
  Task task = make(model, frame, axes);
  for (int i = 0; i < 6; ++i) {
    if (!rows[i]) continue;
    task.rows.push_back({});
    task.rows.back()[i] = 1;
  }
  check_task(model, task, 0);
  return task;
}
Task pose_task(const Model& model, std::string_view frame, std::string_view axes) {
  return selected_task(model, frame, {true, true, true, true, true, true}, axes);
}
Task position_task(const Model& model, std::string_view frame, std::string_view axes) {
  return selected_task(model, frame, {false, false, false, true, true, true}, axes);
}
Task orientation_task(const Model& model, std::string_view frame, std::string_view axes) {
  return selected_task(model, frame, {true, true, true, false, false, false}, axes);
}
Task line_task(const Model& model, std::string_view frame, const Vec3<double>& direction,
               std::string_view axes) {
  Task task = make(model, frame, axes);
  task.rows = {translation(unit(direction, "line_task", "direction"))};
  return task;
}
Task plane_task(const Model& model, std::string_view frame, const Vec3<double>& normal,
                std::string_view axes) {
  Task task = make(model, frame, axes);
  const Mat3<double> R = rotation_from_z(unit(normal, "plane_task", "normal"));
  task.rows = {translation(column_x(R)), translation(column_y(R))};
  return task;
}
Task rows_task(const Model& model, std::string_view frame, std::vector<std::array<double, 6>> rows,
               std::string_view axes) {
  Task task = make(model, frame, axes);
  task.rows = std::move(rows);
  check_task(model, task, 0);
  return task;
}

void check_task(const Model& model, const Task& task, int number) {
  const int frames = static_cast<int>(model.frames().size());
  if (task.frame < 0 || task.frame >= frames)
    throw ArgumentError(fmt::format("task {}: frame {} does not exist, model '{}' has {}", number, task.frame,
                                    model.name(), frames));
  if (task.axes != Task::world_axes && (task.axes < 0 || task.axes >= frames))
    throw ArgumentError(fmt::format("task {}: axes of frame {}, which does not exist, model '{}' has {}",
                                    number, task.axes, model.name(), frames));
  if (task.rows.empty() || task.rows.size() > 6)
    throw ArgumentError(fmt::format("task {} of frame '{}' has {} rows, it needs 1 to 6", number,
                                    model.frames()[task.frame].name, task.rows.size()));
  for (std::size_t i = 0; i < task.rows.size(); ++i) {
    double size = 0;
    for (const double x : task.rows[i]) size += std::abs(x);
    if (!(size > 0) || !std::isfinite(size))
      throw ArgumentError(fmt::format("task {} of frame '{}': row {} is zero or not finite", number,
                                      model.frames()[task.frame].name, i));
  }
}

}  // namespace articula
