#include "articula/report/sliders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {

namespace {

constexpr double pi = std::numbers::pi;

/// Roll, pitch and yaw of a quaternion, and the other coordinates as they are; limits are those of a joint that has one.
void add_sliders(std::vector<Slider>& out, int index, const Joint& joint) {
  const auto add = [&](const std::string& label, const char* unit, double lower, double upper) {
    out.push_back({index, label, unit, lower, upper, std::clamp(0.0, lower, upper)});
  };
  const bool turns = has_quaternion(joint.kind);
  if (turns) {
    add("roll", "rad", -pi, pi);
    add("pitch", "rad", -pi / 2, pi / 2);
    add("yaw", "rad", -pi, pi);
  }
  for (int i = turns ? 4 : 0; i < joint.nq; ++i) {
    const bool angle = coordinate_unit(joint.kind, i) == "rad";
    const char *const unit = angle ? "rad" : "m", *const kind = angle ? "angle" : "shift";
    const std::string label = coordinate_label(joint.kind, i);
    const double range = angle ? pi : chart_of(joint.kind) == Chart::adds ? 1 : 2;
    if (joint.nq == 1) {
      const double lower = joint.limits.lower[0], upper = joint.limits.upper[0];
      const bool l = std::isfinite(lower), u = std::isfinite(upper);
      add(kind, unit,
          l   ? lower
          : u ? std::min(-range, upper - range)
              : -range,
          u   ? upper
          : l ? std::max(range, lower + range)
              : range);
    } else {
      add(hinges_of(joint.kind).size() > 1 ? label + " " + kind : label, unit, -range, range);
    }
  }
}

}  // namespace

std::vector<Slider> sliders_of(const Model& model) {
  std::vector<Slider> out;
  for (std::size_t j = 0; j < model.joints().size(); ++j)
    if (model.joints()[j].nq > 0) add_sliders(out, static_cast<int>(j), model.joints()[j]);
  return out;
}

std::vector<double> configuration_of(const Model& model, std::span<const double> values) {
  std::size_t expected = 0;
  for (const Joint& joint : model.joints()) expected += joint.nq > 0 ? nv_of(joint.kind) : 0;
  if (values.size() != expected)
    throw ArgumentError(
        fmt::format("configuration_of: {} values; expected {}, one a slider", values.size(), expected));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw ArgumentError(fmt::format("configuration_of: values[{}] is not finite", i));
  std::vector<double> q(model.nq());
  const double* value = values.data();
  for (const Joint& joint : model.joints()) {
    if (joint.nq == 0) continue;
    double* at = q.data() + joint.q_index;
    if (has_quaternion(joint.kind)) {
      const auto turn = quaternion(rotation_from_rpy(value[0], value[1], value[2]));
      at[0] = turn.x, at[1] = turn.y, at[2] = turn.z, at[3] = turn.w;
      std::copy_n(value + 3, joint.nq - 4, at + 4);
    } else {
      std::copy_n(value, joint.nq, at);
    }
    value += nv_of(joint.kind);
  }
  return q;
}

std::vector<double> slider_values(const Model& model, std::span<const double> q) {
  std::vector<double> out;
  for (const Joint& joint : model.joints()) {
    const double* at = q.data() + joint.q_index;
    const double* const end = at + joint.nq;
    if (joint.nq > 0 && has_quaternion(joint.kind)) {
      const Vec3<double> angles = rpy_of(rotation(Quaternion<double>{at[0], at[1], at[2], at[3]}));
      out.insert(out.end(), numbers_of(angles), numbers_of(angles) + 3);
      at += 4;
    }
    out.insert(out.end(), at, end);
  }
  return out;
}

}  // namespace articula
