// Joints of several freedoms as joints of one, for formats that know no others.
#include <algorithm>

#include "articula/model/edit.hpp"
#include "articula/model/edit_parts.hpp"

namespace articula {

using namespace edit;

namespace {

/// What freedom i has of its own, for a joint with that freedom alone.
void take_freedom(JointSpec& joint, int i) {
  for (PerFreedom* x :
       {&joint.damping, &joint.friction, &joint.armature, &joint.stiffness, &joint.spring_reference,
        &joint.limits.lower, &joint.limits.upper, &joint.limits.velocity, &joint.limits.effort})
    *x = PerFreedom((*x)[i]);
}

/// The two joints of a universal, cylindrical or helical one; `between` is the link that joins them.
std::pair<JointSpec, JointSpec> halves(const JointSpec& joint, const std::string& between,
                                       const std::string& name) {
  JointSpec first = joint, second = joint;
  first.child = second.parent = between;
  second.name = name;
  second.placement = {};
  first.kind = JointKind::revolute;
  second.kind = joint.kind == JointKind::universal ? JointKind::revolute : JointKind::prismatic;
  if (joint.kind == JointKind::universal) second.axis = joint.second_axis;
  take_freedom(first, 0);
  take_freedom(second, 1);
  if (joint.kind == JointKind::helical) {  // the slide follows the turn
    second = {.name = name,
              .kind = JointKind::prismatic,
              .parent = between,
              .child = joint.child,
              .axis = joint.axis};
    second.mimic = Mimic{joint.name, joint.pitch, 0};
    second.where = joint.where;
  }
  return {std::move(first), std::move(second)};
}

bool is_split(const JointSpec& joint, std::span<const JointKind> kinds) {
  const bool can = joint.kind == JointKind::universal || joint.kind == JointKind::cylindrical ||
                   joint.kind == JointKind::helical;
  return can && std::find(kinds.begin(), kinds.end(), joint.kind) != kinds.end();
}

}  // namespace

void split_joints(ModelSpec& spec, std::span<const JointKind> kinds) {
  std::vector<JointSpec> joints;
  for (const JointSpec& joint : spec.joints) {
    if (!is_split(joint, kinds)) {
      joints.push_back(joint);
      continue;
    }
    const std::string between = new_link_name(spec, joint.name + "_cross");
    auto [first, second] = halves(joint, between, new_joint_name(spec, joint.name + "_2"));
    spec.add_link({between, {}, joint.where});
    joints.push_back(std::move(first));
    joints.push_back(std::move(second));
  }
  spec.joints = std::move(joints);
}

}  // namespace articula
