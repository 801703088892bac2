// Joints seen from their other side, and another root.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "articula/error.hpp"
#include "articula/model/edit.hpp"
#include "articula/model/edit_parts.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

using namespace edit;

namespace {

using V3 = Vec3<double>;

bool is_small(const V3& a, double than) { return dot(a, a) <= than * than; }

/// Is the joint's motion about a frame at `in_child` one about the child's own, with axes turned?
bool is_about_child(const JointSpec& joint, const Pose& in_child) {
  const V3& p = in_child.p;
  const double rounding = 4e-15 * (1 + std::sqrt(dot(p, p)));
  const Mat3<double> turn = in_child.R - Mat3<double>::identity();
  const bool turned =
      std::any_of(numbers_of(turn), numbers_of(turn) + 9, [](double x) { return std::abs(x) > 4e-15; });
  const auto hinges = hinges_of(joint.kind);
  const bool shifts = std::all_of(hinges.begin(), hinges.end(), [](HingeKind hinge) {
    return visit(hinge, [](auto j) { return j.axial && j.angle < 0; });
  });
  if (shifts) return true;                              // the same everywhere
  if (hinges.size() > 1) return is_small(p, rounding);  // where the axes meet
  return visit(hinges[0], [&](auto hinge) {
    if (hinge.axial)
      return is_small(cross(in_child.R * joint.axis, p), rounding * std::sqrt(dot(joint.axis, joint.axis)));
    return is_small(p, rounding) && !turned;  // coordinates are told in these axes
  });
}

}  // namespace

std::vector<JointSpec> joint_apart(JointSpec joint, const Pose& in_child, const std::string& link_name,
                                   const std::string& weld_name) {
  if (is_about_child(joint, in_child)) {
    joint.placement = joint.placement * inverse(in_child);
    joint.axis = in_child.R * joint.axis;
    joint.second_axis = in_child.R * joint.second_axis;
    return {std::move(joint)};
  }
  JointSpec weld;
  weld.kind = JointKind::fixed;
  weld.parent = link_name;
  weld.child = joint.child;
  weld.placement = inverse(in_child);
  weld.name = weld_name;
  weld.where = joint.where;
  joint.child = link_name;
  return {std::move(joint), std::move(weld)};
}

JointSpec turned_around(const JointSpec& joint) {
  JointSpec out = joint;
  std::swap(out.parent, out.child);
  out.axis = -joint.axis;
  PerFreedom* const all[] = {&out.damping,      &out.friction,         &out.armature,
                             &out.stiffness,    &out.spring_reference, &out.limits.lower,
                             &out.limits.upper, &out.limits.velocity,  &out.limits.effort};
  const std::size_t hinges = hinges_of(joint.kind).size();
  if (hinges > 1) {  // star(Ra Rb) = star(Rb) star(Ra)
    out.axis = -axis_of(joint, hinges - 1);
    out.second_axis = -axis_of(joint, hinges - 2);
    const int last = nv_of(joint.kind) - 1;
    for (PerFreedom* x : all)
      if (!x->is_one_number(last + 1))
        for (int i = 0; 2 * i < last; ++i) std::swap((*x)[i], (*x)[last - i]);
  }
  // Of the others with several freedoms only the turn of a ball looks the same from both sides.
  const Chart chart = chart_of(joint.kind);
  const bool several = chart == Chart::plane || chart == Chart::motion, ball = chart == Chart::rotation;
  if ((several && !(joint.armature == 0)) || (ball && !joint.armature.is_one_number(3)))
    throw ArgumentError(fmt::format(
        "joint '{}' is {}, and its armature is told in the axes of its child: it cannot be turned around",
        joint.name, name_of(joint.kind)));
  if (chart == Chart::plane) {
    // The same x and y axes, and the same normal: the coordinates are those of the inverse motion.
    out.axis = joint.axis;
  }
  return out;
}

void set_root(ModelSpec& spec, std::string_view link) {
  find_link(spec, link);
  std::map<std::string_view, std::size_t> joint_of;  // by child
  for (std::size_t j = 0; j < spec.joints.size(); ++j) joint_of.emplace(spec.joints[j].child, j);
  std::vector<std::size_t> path;
  for (std::string_view at = link; joint_of.contains(at) && path.size() <= spec.joints.size();
       at = spec.joints[path.back()].parent)
    path.push_back(joint_of.at(at));
  if (path.size() > spec.joints.size()) throw ArgumentError("the joints form a cycle; a model is a tree");
  if (!path.empty() && !has_link(spec, spec.joints[path.back()].parent))
    throw ArgumentError(fmt::format(
        "link '{}' hangs from the world, by joint '{}': the world stays the root; remove the joint first",
        link, spec.joints[path.back()].name));
  ModelSpec out = spec;
  std::vector<bool> turns(spec.joints.size());
  for (const std::size_t j : path) turns[j] = true;
  std::vector<JointSpec> joints;
  for (std::size_t j = 0; j < spec.joints.size(); ++j) {
    const JointSpec& joint = spec.joints[j];
    if (!turns[j]) {
      joints.push_back(joint);
      continue;
    }
    JointSpec back = turned_around(joint);
    back.placement = {};
    const std::string carrier = new_link_name(out, joint.name + "_carrier");
    auto parts =
        joint_apart(std::move(back), joint.placement, carrier, new_joint_name(out, joint.name + "_weld"));
    if (parts.size() > 1) out.add_link({carrier, {}, joint.where});
    joints.insert(joints.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  out.joints = std::move(joints);
  spec = std::move(out);
}

}  // namespace articula
