// Joints of several freedoms as joints of one, for formats that know no others.
#include <fmt/format.h>

#include <algorithm>

#include "articula/model/edit.hpp"
#include "articula/model/edit_parts.hpp"
#include "articula/model/joint_kinds.hpp"

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

/// Is it made of freedoms about or along axes alone?
bool can_split(JointKind kind) {
  const auto hinges = hinges_of(kind);
  return hinges.size() > 1 ||
         (hinges.size() == 1 && (hinges[0] == HingeKind::cylindrical || hinges[0] == HingeKind::helical));
}

/// A joint for each freedom of one that can be split, with links of their own between them.
std::vector<JointSpec> parts_of(ModelSpec& spec, const JointSpec& joint) {
  const std::size_t count = std::max<std::size_t>(2, hinges_of(joint.kind).size());
  std::vector<JointSpec> parts(count, joint);
  for (std::size_t i = 0; i < count; ++i) {
    JointSpec& part = parts[i];
    const auto hinges = hinges_of(joint.kind);
    const bool one = hinges.size() == 1, slides = one ? i == 1 : hinges[i] == HingeKind::prismatic;
    part.kind = slides ? JointKind::prismatic : JointKind::revolute;
    part.axis = one ? joint.axis : axis_of(joint, i);
    take_freedom(part, static_cast<int>(i));
    if (i + 1 < count) {
      part.child = new_link_name(spec, joint.name + "_cross");
      spec.add_link({part.child, {}, joint.where});
    }
    if (i == 0) continue;
    part.parent = parts[i - 1].child;
    part.name = new_joint_name(spec, fmt::format("{}_{}", joint.name, i + 1));
    part.placement = {};
  }
  if (joint.kind == JointKind::helical) {  // the slide follows the turn
    JointSpec& second = parts[1];
    second = {.name = second.name,
              .kind = JointKind::prismatic,
              .parent = second.parent,
              .child = joint.child,
              .axis = joint.axis};
    second.mimic = Mimic{joint.name, joint.pitch, 0};
    second.where = joint.where;
  }
  return parts;
}

}  // namespace

std::vector<JointKind> kinds_to_split(std::span<const JointKind> known) {
  std::vector<JointKind> out;
  for (int i = 0; i < joint_kinds; ++i)
    if (const JointKind kind{static_cast<unsigned char>(i)};
        can_split(kind) && std::find(known.begin(), known.end(), kind) == known.end())
      out.push_back(kind);
  return out;
}

void split_joints(ModelSpec& spec, std::span<const JointKind> kinds) {
  std::vector<JointSpec> joints;
  for (const JointSpec& joint : std::vector(spec.joints)) {
    if (!can_split(joint.kind) || std::find(kinds.begin(), kinds.end(), joint.kind) == kinds.end())
      joints.push_back(joint);
    else
      for (JointSpec& part : parts_of(spec, joint)) joints.push_back(std::move(part));
  }
  spec.joints = std::move(joints);
}

}  // namespace articula
