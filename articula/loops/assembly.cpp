#include "articula/loops/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace articula {

void Assembly::take_name(const std::string& name) {
  if (name.empty()) throw ArgumentError("assembly: a part needs a name");
  if (name == world) throw ArgumentError("assembly: a part cannot be called 'world'");
  if (std::find(names_.begin(), names_.end(), name) != names_.end())
    throw ArgumentError(fmt::format("assembly: two parts are called '{}'", name));
  names_.push_back(name);
}

void Assembly::add(const std::string& name, const ModelSpec& spec, const Pose& base, Base kind) {
  take_name(name);
  const auto in_part = [&](const std::string& n) { return name_of(name, n); };
  const bool world_is_link =
      std::any_of(spec.links.begin(), spec.links.end(), [](const LinkSpec& l) { return l.name == world; });
  for (const LinkSpec& link : spec.links) {
    LinkSpec copy = link;
    copy.name = in_part(link.name);
    spec_.links.push_back(copy);
    const bool root = std::none_of(spec.joints.begin(), spec.joints.end(),
                                   [&](const JointSpec& j) { return j.child == link.name; });
    if (!root) continue;
    spec_.joints.push_back({.name = in_part("base"),
                            .kind = kind == Base::free ? JointKind::free : JointKind::fixed,
                            .parent = std::string(world),
                            .child = copy.name,
                            .placement = base});
  }
  for (const JointSpec& joint : spec.joints) {
    JointSpec copy = joint;
    copy.name = in_part(joint.name);
    copy.child = in_part(joint.child);
    if (copy.mimic) copy.mimic->joint = in_part(copy.mimic->joint);
    if (joint.parent == world && !world_is_link) {
      copy.placement = base * joint.placement;
    } else {
      copy.parent = in_part(joint.parent);
    }
    spec_.joints.push_back(copy);
  }
  for (const FrameSpec& frame : spec.frames) {
    FrameSpec copy = frame;
    copy.name = in_part(frame.name);
    if (frame.link == world && !world_is_link)
      copy.placement = base * frame.placement;
    else
      copy.link = in_part(frame.link);
    spec_.frames.push_back(copy);
  }
}

void Assembly::add_object(const std::string& name, const MassProperties& mass) {
  if (!(mass.mass > 0) || !std::isfinite(mass.mass))
    throw ArgumentError(fmt::format(
        "object '{}': its mass is {}, expected a positive number: a loose body without mass has no dynamics",
        name, mass.mass));
  take_name(name);
  spec_.links.push_back({.name = name_of(name, "body"), .mass = mass});
  spec_.joints.push_back({.name = name_of(name, "free"),
                          .kind = JointKind::free,
                          .parent = std::string(world),
                          .child = name_of(name, "body")});
}

Model Assembly::model(const Vec3<double>& gravity) const {
  ModelSpec spec = spec_;
  spec.name = "assembly";
  return Model(spec, {.base = Base::fixed, .gravity = gravity});
}

Assembly::Range Assembly::range(const Model& model, std::string_view part) {
  Range r;
  bool first = true;
  const std::string prefix = std::string(part) + "/";
  for (const Joint& joint : model.joints()) {
    if (!joint.name.starts_with(prefix) || joint.mimics >= 0) continue;
    if (first) r.q = joint.q_index, r.v = joint.v_index;
    first = false;
    r.nq = joint.q_index + joint.nq - r.q;
    r.nv = joint.v_index + joint.nv - r.v;
  }
  return r;
}

}  // namespace articula
