#include "articula/loops/constraint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/kinematics.hpp"

namespace articula {

int Constraint::rows() const {
  switch (kind) {
    case Kind::frames:
      return static_cast<int>(std::count(fixed.begin(), fixed.end(), true));
    case Kind::distance:
    case Kind::coupler:
      return 1;
    case Kind::rolling_ball:
    case Kind::rolling_disc:
      return 3;
  }
  return 0;
}

bool Constraint::is_of_position() const {
  if (kind == Kind::frames) return std::count(fixed.begin(), fixed.begin() + 3, true) != 1;
  return kind == Kind::distance || kind == Kind::coupler;
}

namespace {
Constraint between(std::string name, const Attachment& a, const Attachment& b, std::array<bool, 6> fixed) {
  Constraint c;
  c.name = std::move(name);
  c.a = a;
  c.b = b;
  c.fixed = fixed;
  return c;
}
Constraint measured(std::string name, Constraint::Kind kind, const Attachment& a, const Attachment& b,
                    double length) {
  Constraint c = between(std::move(name), a, b, {});
  c.kind = kind;
  c.length = length;
  return c;
}
}  // namespace

Constraint weld(std::string name, const Attachment& a, const Attachment& b) {
  return between(std::move(name), a, b, {true, true, true, true, true, true});
}
Constraint hinge(std::string name, const Attachment& a, const Attachment& b) {
  return between(std::move(name), a, b, {true, true, false, true, true, true});
}
Constraint cylinder(std::string name, const Attachment& a, const Attachment& b) {
  return between(std::move(name), a, b, {true, true, false, true, true, false});
}
Constraint slider(std::string name, const Attachment& a, const Attachment& b) {
  return between(std::move(name), a, b, {true, true, true, true, true, false});
}
Constraint ball(std::string name, const Attachment& a, const Attachment& b) {
  return between(std::move(name), a, b, {false, false, false, true, true, true});
}
Constraint rod(std::string name, const Attachment& a, const Attachment& b, double length) {
  return measured(std::move(name), Constraint::Kind::distance, a, b, length);
}
Constraint coupler(std::string name, std::vector<Constraint::Term> terms, double offset) {
  Constraint c = measured(std::move(name), Constraint::Kind::coupler, {}, {}, offset);
  c.terms = std::move(terms);
  return c;
}
Constraint rolling_ball(std::string name, const Attachment& plane, const Attachment& center, double radius) {
  return measured(std::move(name), Constraint::Kind::rolling_ball, plane, center, radius);
}
Constraint rolling_disc(std::string name, const Attachment& plane, const Attachment& center, double radius) {
  return measured(std::move(name), Constraint::Kind::rolling_disc, plane, center, radius);
}

Constraint grasp(std::string name, Grasp kind, int tip_frame, int object_frame, const Vec3<double>& axis) {
  const double length = std::sqrt(dot(axis, axis));
  if (!(length > 0) || !std::isfinite(length))
    throw ArgumentError(
        fmt::format("grasp '{}': the axis ({}, {}, {}) has no direction", name, axis.x, axis.y, axis.z));
  Attachment tip{tip_frame, {}};
  if (kind == Grasp::hinge || kind == Grasp::soft_finger)
    tip.placement.R = rotation_from_z(axis * (1 / length));
  const Attachment object{object_frame, {}};
  switch (kind) {
    case Grasp::rigid:
      return weld(std::move(name), tip, object);
    case Grasp::hinge:
      return hinge(std::move(name), tip, object);
    case Grasp::soft_finger:
      return between(std::move(name), tip, object, {false, false, true, true, true, true});
    case Grasp::point:
      break;
  }
  return ball(std::move(name), tip, object);
}

void attach(const Model& model, Constraint& constraint, std::span<const double> q) {
  Kinematics<> at(model);
  at.update(q);
  const auto pose_of = [&](int frame) {
    if (frame < 0) return Pose{};
    const auto pose = at.pose(frame);
    return Pose{pose.rotation, pose.position};
  };
  const Pose a = pose_of(constraint.a.frame) * constraint.a.placement;
  constraint.b.placement = inverse(pose_of(constraint.b.frame)) * a;
}

std::string name_of_row(const Constraint& constraint, int row) {
  static constexpr const char* freedoms[] = {"rotation about x",    "rotation about y",
                                             "rotation about z",    "translation along x",
                                             "translation along y", "translation along z"};
  switch (constraint.kind) {
    case Constraint::Kind::distance:
      return "distance";
    case Constraint::Kind::coupler:
      return "coupling";
    case Constraint::Kind::rolling_ball:
    case Constraint::Kind::rolling_disc:
      return row == 2 ? "height above the plane" : row == 1 ? "rolling along y" : "rolling along x";
    case Constraint::Kind::frames:
      break;
  }
  for (int i = 0; i < 6; ++i)
    if (constraint.fixed[i] && row-- == 0) return freedoms[i];
  return "row";
}

}  // namespace articula
