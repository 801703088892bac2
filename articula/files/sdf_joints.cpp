// The joints of an SDF file: those of the tree, those that close loops, and gearboxes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/files/sdf_assembly.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/edit.hpp"

namespace articula::sdf {

namespace {

using V3 = Vec3<double>;
constexpr double perpendicular = 1e-9;  // cosine of a universal joint's axes

void put_axis(JointSpec& joint, int freedom, const Axis& axis) {
  joint.limits.lower[freedom] = axis.lower;
  joint.limits.upper[freedom] = axis.upper;
  joint.limits.effort[freedom] = axis.effort;
  joint.limits.velocity[freedom] = axis.velocity;
  joint.damping[freedom] = axis.damping;
  joint.friction[freedom] = axis.friction;
  joint.stiffness[freedom] = axis.stiffness;
  joint.spring_reference[freedom] = axis.spring_reference;
}
/// Of a joint with one freedom.
void put_only_axis(JointSpec& joint, const Axis& axis) {
  joint.limits = {axis.lower, axis.upper, axis.velocity, axis.effort};
  joint.damping = axis.damping, joint.friction = axis.friction, joint.stiffness = axis.stiffness;
  joint.spring_reference = axis.spring_reference;
}

}  // namespace

std::string new_name(std::string name, const Names& taken) {
  while (taken.contains(name)) name += '_';
  return name;
}

bool closes_loops(JointKind kind) {
  return kind != JointKind::universal && kind != JointKind::helical && kind != JointKind::planar;
}

JointSpec Assembly::spec_of(const Joining& joining) {
  const Joint& from = *joining.joint;
  JointSpec joint;
  joint.name = joining.name;
  joint.kind = joining.kind;
  joint.parent = link_name(joining.parent);
  joint.child = link_name(joining.child);
  joint.axis = joining.axes[0];
  joint.second_axis = joining.axes[1];
  joint.pitch = from.pitch;
  joint.armature = from.armature;
  joint.where = from.where;
  if (nv_of(joint.kind) == 1) {
    put_only_axis(joint, from.axes[0]);
    joint.mimic = from.axes[0].mimic;
    // The joint that it follows is told in its own model.
    if (joint.mimic)
      joint.mimic->joint =
          joining.name.substr(0, joining.name.size() - from.name.size()) + joint.mimic->joint;
  }
  if (joint.kind == JointKind::universal)
    for (int i = 0; i < 2; ++i) put_axis(joint, i, from.axes[i]);
  if (joint.kind == JointKind::planar) joint.axis = {0, 0, 1};
  return joint;
}

void Assembly::add_joint(const Joining& joining, bool turned, const std::string& carried) {
  JointSpec joint = spec_of(joining);
  if (!carried.empty()) (turned ? joint.parent : joint.child) = carried;
  const Pose &in_parent = joining.in_parent, &in_child = joining.in_child;
  if (stands(joining.parent) && stands(joining.child)) {
    JointSpec weld;
    weld.name = joint.name, weld.parent = joint.parent, weld.child = joint.child, weld.where = joint.where;
    weld.kind = JointKind::fixed;
    add_part(std::move(weld), in_parent, in_child, turned);
    return;
  }
  const bool crossed =
      joint.kind != JointKind::universal || std::abs(dot(joining.axes[0], joining.axes[1])) <= perpendicular;
  if (crossed) return add_part(std::move(joint), in_parent, in_child, turned);
  // Two revolute joints in a row, with a link without mass between them.
  JointSpec second = joint;
  joint.kind = second.kind = JointKind::revolute;
  put_only_axis(joint, joining.joint->axes[0]);
  put_only_axis(second, joining.joint->axes[1]);
  joint.armature = joint.armature[0], second.armature = second.armature[1];
  second.name = new_name(second.name + "_2", joint_names_);
  joint_names_.insert(second.name);
  second.axis = joint.second_axis;
  joint.child = second.parent = new_name(joint.name + "_cross", link_names_);
  link_names_.insert(joint.child);
  out_.spec.add_link({joint.child, {}, joint.where});
  if (turned) {
    add_part(std::move(second), {}, in_child, true);
    add_part(std::move(joint), in_parent, {}, true);
  } else {
    add_part(std::move(joint), in_parent, {}, false);
    add_part(std::move(second), {}, in_child, false);
  }
}

void Assembly::add_part(JointSpec joint, const Pose& in_parent, const Pose& in_child, bool turned) {
  if (turned) joint = turned_around(joint);
  joint.placement = turned ? in_child : in_parent;
  const std::string carrier = new_name(joint.name + "_carrier", link_names_),
                    weld = new_name(joint.name + "_weld", joint_names_);
  auto parts = joint_apart(std::move(joint), turned ? in_parent : in_child, carrier, weld);
  if (parts.size() > 1) {
    joint_names_.insert(weld), link_names_.insert(carrier);
    out_.spec.add_link({carrier, {}, parts[0].where});
  }
  for (JointSpec& part : parts) out_.spec.add_joint(std::move(part));
}

void Assembly::add_loop(const Joining& joining) {
  const Joint& joint = *joining.joint;
  if (stands(joining.parent) && stands(joining.child)) return;
  if (!closes_loops(joining.kind)) return add_halved(joining);
  out_.spec.loops.push_back({.name = joining.name,
                             .kind = joining.kind,
                             .first = link_name(joining.parent),
                             .second = link_name(joining.child),
                             .first_placement = joining.in_parent,
                             .second_placement = joining.in_child,
                             .axis = joining.axes[0],
                             .where = joint.where});
}

/// No constraint is such a joint: it carries half of its link, and the halves are welded.
void Assembly::add_halved(const Joining& joining) {
  const bool turned = stands(joining.child);
  const std::string& whole = link_name(turned ? joining.parent : joining.child);
  const auto link = std::find_if(out_.spec.links.begin(), out_.spec.links.end(),
                                 [&](const LinkSpec& l) { return l.name == whole; });
  Sym3<double>& J = link->mass.inertia;
  link->mass.mass /= 2;
  for (double* x : {&J.xx, &J.yy, &J.zz, &J.xy, &J.xz, &J.yz}) *x /= 2;
  LinkSpec half = *link;
  half.name = new_name(joining.name + "_half", link_names_);
  link_names_.insert(half.name);
  LoopSpec weld{.name = joining.name + "_halves", .first = whole, .second = half.name, .where = half.where};
  out_.spec.add_link(half);
  add_joint(joining, turned, half.name);
  out_.spec.loops.push_back(std::move(weld));
}

// --- gearboxes --------------------------------------------------------------------------------------
/// theta_2 = -ratio theta_1: angles of parent and child against the reference body, about the gearbox' axes.
void Assembly::couple() {
  for (const auto& [model, gearbox] : gearboxes_) {
    const auto reference = frames_.body(*model, gearbox->gearbox_reference, gearbox->where);
    double sign[2] = {};
    const Joining* joints[2] = {};
    for (int side = 0; reference && side < 2; ++side) {
      const auto body = frames_.body(*model, side == 0 ? gearbox->parent : gearbox->child, gearbox->where);
      if (!body) continue;
      for (const Joining& j : joints_) {
        const bool forward = j.parent == index_of(*reference) && j.child == index_of(*body);
        const bool backward = j.child == index_of(*reference) && j.parent == index_of(*body);
        const bool turns = j.kind == JointKind::revolute || j.kind == JointKind::continuous;
        if (joints[side] || !turns || (!forward && !backward)) continue;
        joints[side] = &j;
        const V3 wanted = gearbox->axes[side].xyz, is = j.axes[0];
        sign[side] = (dot(wanted, is) < 0) != backward ? -1 : 1;
      }
    }
    if (!joints[0] || !joints[1]) {
      warn(gearbox->where,
           fmt::format("gearbox {} is passed over: expected revolute joints from its reference body to "
                       "its parent and to its child",
                       in_quotes(gearbox->name)));
      continue;
    }
    out_.spec.couplings.push_back({.name = gearbox->name,
                                   .joint = joints[1]->name,
                                   .source = joints[0]->name,
                                   .coefficients = {0, -gearbox->gearbox_ratio * sign[0] * sign[1]},
                                   .where = gearbox->where});
  }
}

}  // namespace articula::sdf
