#include "articula/files/denavit_hartenberg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace articula {

namespace {

Pose turn_x(double angle) { return {rotation_from_rpy(angle, 0, 0), {0, 0, 0}}; }
Pose turn_z(double angle) { return {rotation_from_rpy(0, 0, angle), {0, 0, 0}}; }
Pose shift(double x, double z) { return {Mat3<double>::identity(), {x, 0, z}}; }

void check(const DhRow& row, std::size_t number) {
  for (const double x : {row.a, row.alpha, row.d, row.theta})
    if (!std::isfinite(x))
      throw ModelError(
          fmt::format("row {} of the DH table holds {}; expected finite a, alpha, d and theta", number, x));
  const bool known = row.kind == JointKind::revolute || row.kind == JointKind::continuous ||
                     row.kind == JointKind::prismatic;
  if (!known)
    throw ModelError(
        fmt::format("row {} of the DH table is a {} joint; expected revolute, continuous or prismatic",
                    number, name_of(row.kind)));
}

/// What the row's transform is at zero, with its joint's own motion taken out: that motion is about or along
/// z, and commutes with every other part that is about or along z. Standard: motion * this; modified: this *
/// motion.
Pose at_zero(const DhRow& row, DhConvention convention) {
  if (convention == DhConvention::standard)
    return turn_z(row.theta) * shift(row.a, row.d) * turn_x(row.alpha);
  return turn_x(row.alpha) * shift(row.a, row.d) * turn_z(row.theta);
}

MassProperties moved(const MassProperties& mass, const Pose& pose) {
  return {mass.mass, pose.p + pose.R * mass.center_of_mass,
          symmetric(pose.R * (mass.inertia * star(pose.R)))};
}

JointSpec joint_of(const DhRow& row, std::size_t number) {
  JointSpec joint;
  joint.name = row.joint_name.empty() ? fmt::format("joint{}", number) : row.joint_name;
  joint.kind = row.kind;
  joint.axis = {0, 0, 1};
  joint.limits = row.limits;
  joint.armature = row.armature;
  joint.damping = row.damping;
  joint.friction = row.friction;
  return joint;
}

}  // namespace

ModelSpec spec_of(const DhTable& table) {
  if (table.rows.empty()) throw ModelError("the DH table has no rows; expected one for each joint");
  ModelSpec spec;
  spec.name = table.name;
  spec.add_link({"base"});
  spec.add_frame({"dh0", "base", table.base});
  std::string parent = "base";
  Pose dh_in_parent = table.base;  // the last DH frame in its link's frame
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const DhRow& row = table.rows[i];
    const std::size_t number = i + 1;
    check(row, number);
    const Pose zero = at_zero(row, table.convention);
    const bool standard = table.convention == DhConvention::standard;
    const Pose dh_in_link = standard ? zero : Pose{};
    JointSpec joint = joint_of(row, number);
    joint.parent = parent;
    joint.child = row.link_name.empty() ? fmt::format("link{}", number) : row.link_name;
    joint.placement = standard ? dh_in_parent : dh_in_parent * zero;
    spec.add_link({joint.child, moved(row.mass, dh_in_link)});
    spec.add_frame({fmt::format("dh{}", number), joint.child, dh_in_link});
    parent = joint.child;
    dh_in_parent = dh_in_link;
    spec.add_joint(std::move(joint));
  }
  spec.add_frame({"tool", parent, dh_in_parent * table.tool});
  return spec;
}

}  // namespace articula
