// The numbers of links, joints and frames.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/model/audit.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;

// Errors.
constexpr double rotation_tolerance = 1e-6;  // |R R* - Id|: matrices rounded to single precision pass
constexpr double perpendicular = 1e-6;       // cosine between the axes of a universal joint
constexpr double negative_mass = 1e-9;       // kg: less than that below zero is an exporter's rounding
// Suspicions.
constexpr double unit_length = 1e-6;                 // deviation of an axis' length from one
constexpr double triangle_slack = 1e-3;              // of the largest moment: files round to three digits
constexpr double many_turns = 4 * std::numbers::pi;  // rad: limits beyond it are usually degrees

bool finite(const V3& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }
std::string say(const V3& a) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", a.x, a.y, a.z); }

}  // namespace

bool Examination::usable_pose(const std::string& where, const Pose& pose, const std::string& owner) {
  const double numbers[] = {pose.p.x,  pose.p.y,  pose.p.z,  pose.R.xx, pose.R.xy, pose.R.xz,
                            pose.R.yx, pose.R.yy, pose.R.yz, pose.R.zx, pose.R.zy, pose.R.zz};
  for (const double x : numbers)
    if (!usable(where, x, "a number of the placement of {}", owner)) return false;
  const Mat3<double> off = pose.R * star(pose.R) - Mat3<double>::identity();
  double worst = 0;
  for (const double x : {off.xx, off.xy, off.xz, off.yy, off.yz, off.zz})
    worst = std::max(worst, std::abs(x));
  const double handed = dot(cross(column_x(pose.R), column_y(pose.R)), column_z(pose.R));
  if (worst <= rotation_tolerance && handed > 0) return true;
  error(
      where,
      "the placement of {} is not a rotation: R R* differs from the identity by {:.3g}, det R = {:.6g}; give "
      "an orthonormal right-handed matrix",
      owner, worst, handed);
  return false;
}

void Examination::check_link(const LinkSpec& link) {
  largest_moment_.push_back(0);
  const MassProperties& m = link.mass;
  if (!usable(link.where, m.mass, "the mass of link '{}'", link.name)) return;
  for (const double x : {m.center_of_mass.x, m.center_of_mass.y, m.center_of_mass.z})
    if (!usable(link.where, x, "the mass centre of link '{}'", link.name)) return;
  for (const double x : {m.inertia.xx, m.inertia.yy, m.inertia.zz, m.inertia.xy, m.inertia.xz, m.inertia.yz})
    if (!usable(link.where, x, "the inertia of link '{}'", link.name)) return;
  if (m.mass < -negative_mass)
    error(link.where, "link '{}' has the negative mass {:.6g} kg; give a mass of zero or more", link.name,
          m.mass);
  else if (m.mass < 0)
    warning(link.where, "link '{}' has the mass {:.6g} kg, a little below zero; give zero", link.name,
            m.mass);
  check_moments(link);
}

/// What the body that a link is welded into has, for a link whose own inertia is impossible.
std::string Examination::merged_moments(const LinkSpec& link) const {
  if (tree_.order.size() < spec_.links.size()) return "";  // no tree to merge along
  const auto is_welded = [&](int k) {
    const int joint = tree_.parent_joint[std::size_t(k)];
    return joint < 0 ? base_ == Base::fixed : spec_.joints[std::size_t(joint)].kind == JointKind::fixed;
  };
  int root = int(&link - spec_.links.data());
  while (root >= 0 && is_welded(root)) root = tree_.parent_link[std::size_t(root)];
  if (root < 0) return " (it is welded to the world, and does not matter)";
  MassProperties body;
  std::vector<std::pair<int, Pose>> reached{{root, {}}};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [k, pose] = reached[i];
    weld(body, spec_.links[std::size_t(k)].mass, pose);
    for (int c = first_child_[std::size_t(k)]; c < first_child_[std::size_t(k) + 1]; ++c) {
      const int child = children_[std::size_t(c)];
      if (is_welded(child))
        reached.push_back(
            {child, pose * spec_.joints[std::size_t(tree_.parent_joint[std::size_t(child)])].placement});
    }
  }
  if (reached.size() == 1) return "";
  const auto moments = principal_moments(body.inertia);
  return fmt::format(" (with the links welded to it: {:.6g}, {:.6g}, {:.6g}, {})", moments[0], moments[1],
                     moments[2], moments[0] >= 0 ? "which is sound" : "which is not positive either");
}

void Examination::check_moments(const LinkSpec& link) {
  const auto moments = principal_moments(link.mass.inertia);
  const double largest = std::max(std::abs(moments[0]), std::abs(moments[2]));
  if (largest <= negligible_inertia(link.mass.mass)) return;  // a point, whatever the signs of its rounding
  if (moments[0] < -negative_moment * largest) {
    warning(link.where,
            "the inertia of link '{}' is not positive: its principal moments are {:.6g}, {:.6g}, {:.6g} kg "
            "m^2{}; check the signs of the products and that it is about the mass centre",
            link.name, moments[0], moments[1], moments[2], merged_moments(link));
    return;
  }
  largest_moment_.back() = largest;
  if (largest > 0 && link.mass.mass == 0)
    warning(
        link.where,
        "link '{}' has no mass but an inertia (up to {:.6g} kg m^2); give it a mass or remove the inertia",
        link.name, largest);
  check_triangle(link, moments);
}

/// Moments of any real body obey a + b >= c. Then also each product is at most half the opposite moment.
void Examination::check_triangle(const LinkSpec& link, const std::array<double, 3>& m) {
  if (m[0] + m[1] >= m[2] * (1 - triangle_slack)) return;
  const Sym3<double>& J = link.mass.inertia;
  struct {
    std::string_view product, moment;
    double p, d;
  } const pairs[] = {{"iyz", "ixx", J.yz, J.xx}, {"ixz", "iyy", J.xz, J.yy}, {"ixy", "izz", J.xy, J.zz}};
  std::string cause;
  for (const auto& pair : pairs)
    if (2 * std::abs(pair.p) > pair.d * (1 + triangle_slack) && cause.empty())
      cause = fmt::format(" (the product {} = {:.6g} is more than half of {} = {:.6g})", pair.product, pair.p,
                          pair.moment, pair.d);
  warning(link.where,
          "the inertia of link '{}' breaks the triangle rule{}: its principal moments {:.6g} + {:.6g} < "
          "{:.6g} kg m^2 "
          "belong to no real body; check its numbers, and that it is about the mass centre",
          link.name, cause, m[0], m[1], m[2]);
}

void Examination::check_joint(const JointSpec& joint) {
  usable_pose(joint.where, joint.placement, fmt::format("joint '{}'", joint.name));
  if (has_axis(joint.kind)) check_axis(joint, joint.axis, "axis");
  if (hinges_of(joint.kind).size() > 1) check_axes(joint);
  if (joint.kind == JointKind::helical &&
      usable(joint.where, joint.pitch, "the pitch of joint '{}'", joint.name) && joint.pitch == 0)
    warning(joint.where,
            "helical joint '{}' has the pitch 0; give a pitch in metres per radian, or make it revolute",
            joint.name);
  check_freedoms(joint);
  if (joint.kind == JointKind::revolute) check_degrees(joint);
}

/// What each freedom has of its own; told once where all have the same.
void Examination::check_freedoms(const JointSpec& joint) {
  const PerFreedom* const all[] = {&joint.damping,      &joint.friction,         &joint.armature,
                                   &joint.stiffness,    &joint.spring_reference, &joint.limits.lower,
                                   &joint.limits.upper, &joint.limits.velocity,  &joint.limits.effort};
  const int freedoms = nv_of(joint.kind);
  const bool alike =
      std::all_of(std::begin(all), std::end(all), [&](auto* x) { return x->is_one_number(freedoms); });
  for (int i = 0; i < (alike ? 1 : freedoms); ++i) {
    check_coefficient(joint, joint.damping[i], "damping", "N m s/rad or N s/m");
    check_coefficient(joint, joint.friction[i], "friction", "N m or N");
    check_coefficient(joint, joint.stiffness[i], "stiffness", "N m/rad or N/m");
    usable(joint.where, joint.spring_reference[i], "the spring reference of joint '{}'", joint.name);
    if (usable(joint.where, joint.armature[i], "the armature of joint '{}'", joint.name) &&
        joint.armature[i] < 0)
      error(joint.where, "joint '{}' has the negative armature {:.6g} (kg m^2 or kg); give zero or more",
            joint.name, joint.armature[i]);
    check_limits(joint, i);
  }
}

void Examination::check_axis(const JointSpec& joint, const V3& axis, std::string_view which) {
  for (const double x : {axis.x, axis.y, axis.z})
    if (!usable(joint.where, x, "the {} of joint '{}'", which, joint.name)) return;
  const double length = norm(axis);
  if (length < 1e-30)
    error(joint.where, "the {} of joint '{}' is {}; expected a direction of unit length, such as (0, 0, 1)",
          which, joint.name, say(axis));
  else if (std::abs(length - 1) > unit_length)
    warning(joint.where,
            "the {} of joint '{}' is {} with length {:.9g}; it is used with unit length, give {}", which,
            joint.name, say(axis), length, say(axis * (1 / length)));
}

void Examination::check_axes(const JointSpec& joint) {
  check_axis(joint, joint.second_axis, "second axis");
  const double lengths = norm(joint.axis) * norm(joint.second_axis);
  if (!(lengths > 1e-60) || !finite(joint.axis) || !finite(joint.second_axis)) return;
  const double cosine = dot(joint.axis, joint.second_axis) / lengths;
  if (std::abs(cosine) <= perpendicular) return;
  const double degrees = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
  const double from_parallel = std::min(degrees, 180 - degrees);
  error(joint.where,
        "the axes {} and {} of {} joint '{}' are {}; expected perpendicular ones: correct them, or use "
        "joints of one axis each",
        say(joint.axis), say(joint.second_axis), name_of(joint.kind), joint.name,
        from_parallel < 1e-4 ? "parallel" : fmt::format("{:.6g} degrees apart", degrees));
}

void Examination::check_limits(const JointSpec& joint, int freedom) {
  const struct {
    double lower, upper, velocity, effort;
  } l{joint.limits.lower[freedom], joint.limits.upper[freedom], joint.limits.velocity[freedom],
      joint.limits.effort[freedom]};
  if (std::isnan(l.lower) || std::isnan(l.upper) || std::isnan(l.velocity) || std::isnan(l.effort)) {
    error(joint.where, "a limit of joint '{}' is NaN; give a number, or infinity for none", joint.name);
    return;
  }
  if (l.lower > l.upper)
    error(joint.where,
          "joint '{}' has the lower limit {:.6g} above the upper limit {:.6g}; swap or correct them",
          joint.name, l.lower, l.upper);
  else if (std::isinf(l.lower) && l.lower == l.upper)
    error(joint.where, "both limits of joint '{}' are {}; give a lower limit below the upper one", joint.name,
          l.lower);
  else if (l.lower == l.upper && nv_of(joint.kind) > 0)
    warning(joint.where,
            "the limits of joint '{}' leave no range: both are {:.6g}; widen them, or make it fixed",
            joint.name, l.lower);
  if (l.velocity < 0 || l.effort < 0)
    warning(joint.where, "joint '{}' has a negative limit (velocity {:.6g}, effort {:.6g}); give magnitudes",
            joint.name, l.velocity, l.effort);
}

void Examination::check_degrees(const JointSpec& joint) {
  const double lower = joint.limits.lower[0], upper = joint.limits.upper[0];
  double largest = 0;
  for (const double x : {lower, upper})
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  if (largest > many_turns)
    warning(joint.where,
            "joint '{}' has the limits {:.6g} and {:.6g} rad, over two turns; are they degrees? Give radians "
            "({:.6g} degrees are {:.6g} rad)",
            joint.name, lower, upper, largest, largest * std::numbers::pi / 180);
}

void Examination::check_coefficient(const JointSpec& joint, double value, std::string_view name,
                                    std::string_view unit) {
  if (usable(joint.where, value, "the {} of joint '{}'", name, joint.name) && value < 0)
    warning(joint.where, "joint '{}' has the negative {} {:.6g} ({}); give zero or more", joint.name, name,
            value, unit);
}

void Examination::check_frame(const FrameSpec& frame) {
  usable_pose(frame.where, frame.placement, fmt::format("frame '{}'", frame.name));
}

}  // namespace articula
