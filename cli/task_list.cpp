#include "cli/task_list.hpp"

#include "articula/dynamics/kinematics.hpp"

namespace articula::cli {

MotionTarget motion_target(const Section& s, const Model& model, const std::vector<double>& q,
                           const std::string& frame) {
  const FramePose<double> now = pose(model, q, frame);
  MotionTarget target{.rotation = now.rotation, .position = now.position};
  if (s.has("position")) {
    const auto p = s.at("position").numbers(3);
    target.position = {p[0], p[1], p[2]};
  }
  if (s.has("quaternion")) {
    const auto r = s.at("quaternion").numbers(4);
    const double length = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (std::abs(length - 1) > 1e-6) s.at("quaternion").fail("its length is {}, expected 1", length);
    target.rotation = rotation(normalized(Quaternion<double>{r[0], r[1], r[2], r[3]}));
  }
  return target;
}

MotionGains motion_gains(const Section& s) {
  MotionGains gains;
  gains.stiffness = s.number("stiffness", gains.stiffness);
  gains.damping = s.number("damping", gains.damping);
  gains.turning_stiffness = s.number("turning_stiffness", gains.stiffness);
  gains.turning_damping = s.number("turning_damping", gains.damping);
  return gains;
}

namespace {

/// "pose" (as without it), "position", "orientation", or which of rotation x, y, z, translation x, y, z.
std::array<bool, 6> rows_of(const Section& s) {
  if (!s.has("rows")) return {true, true, true, true, true, true};
  const Section rows = s.at("rows");
  if (rows.value().is_string()) {
    const std::string name = rows.text();
    if (name != "pose" && name != "position" && name != "orientation")
      rows.fail("is \"{}\", expected pose, position, orientation or a list", name);
    const bool turns = name != "position", moves = name != "orientation";
    return {turns, turns, turns, moves, moves, moves};
  }
  if (!rows.value().is_array() || rows.value().empty())
    rows.fail("expected pose, position, orientation or a list");
  std::array<bool, 6> out{};
  static constexpr const char* names[] = {"wx", "wy", "wz", "x", "y", "z"};
  for (std::size_t i = 0; i < rows.value().size(); ++i) {
    const std::string name = rows.at(i).text();
    const auto* const found =
        std::find_if(std::begin(names), std::end(names), [&](const char* n) { return name == n; });
    if (found == std::end(names)) rows.at(i).fail("\"{}\" is no row; known: wx, wy, wz, x, y, z", name);
    if (out[found - names]) rows.fail("has \"{}\" twice", name);
    out[found - names] = true;
  }
  return out;
}

ControlledTask task_of(const Section& s, const Model& model, const std::vector<double>& q) {
  s.only({"frame", "axes", "rows", "position", "quaternion", "euler", "angles", "stiffness", "damping",
          "turning_stiffness", "turning_damping", "press"});
  const std::string frame = s.at("frame").text();
  ControlledTask c{.task = selected_task(model, frame, rows_of(s), s.has("axes") ? s.at("axes").text() : "")};
  c.target = motion_target(s, model, q, frame);
  c.gains = motion_gains(s);
  if (s.has("euler")) {
    if (s.has("quaternion")) s.fail("give \"quaternion\", or \"euler\" and \"angles\"");
    const auto angles = std::make_shared<EulerAngles>(s.at("euler").text());
    c.coordinates = angles;
    c.wanted.y = angles->of({c.target.rotation, c.target.position});
    if (s.has("angles")) {
      const auto wanted = s.at("angles").numbers(3);
      std::copy(wanted.begin(), wanted.end(), c.wanted.y.begin());
    }
  } else if (s.has("angles")) {
    s.fail("\"angles\" go with \"euler\", the sequence of their axes");
  }
  if (!s.has("press")) return c;
  const Section list = s.at("press");
  if (!list.value().is_array())
    list.fail("expected a list of {{\"row\": 0, \"force\": newtons, \"damping\": 1/s}}");
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    const Section p = list.at(i);
    p.only({"row", "force", "damping"});
    const double row = p.at("row").number();
    if (row != std::floor(row) || row < 0 || row >= double(c.task.rows.size()))
      p.at("row").fail("is {}, expected one of the task's rows, 0 to {}", row, c.task.rows.size() - 1);
    c.pushes.push_back({int(row), p.at("force").number(), p.number("damping", 0)});
  }
  return c;
}

}  // namespace

std::unique_ptr<ForceElement> make_task_list(const Model& model, const Section& s,
                                             const std::vector<double>& q) {
  s.only({"type", "levels", "posture", "posture_stiffness", "posture_damping", "sample_time"});
  const Section list = s.at("levels");
  if (!list.value().is_array() || list.value().empty())
    list.fail("expected a list of levels, each a list of tasks");
  std::vector<std::vector<ControlledTask>> levels;
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    const Section level = list.at(i);
    if (!level.value().is_array()) level.fail("expected a list of tasks");
    levels.emplace_back();
    for (std::size_t k = 0; k < level.value().size(); ++k)
      levels.back().push_back(task_of(level.at(k), model, q));
  }
  return std::make_unique<TaskListControl>(model, std::move(levels),
                                           s.has("posture") ? s.at("posture").numbers(model.nq()) : q,
                                           s.number("posture_stiffness", 0), s.number("posture_damping", 2));
}

}  // namespace articula::cli
