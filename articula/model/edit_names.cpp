// Names of a specification's parts, and two specifications as one.
#include <fmt/format.h>

#include <algorithm>

#include "articula/error.hpp"
#include "articula/model/edit.hpp"
#include "articula/model/edit_parts.hpp"

namespace articula {

using namespace edit;

namespace {

/// Calls f with every mention of a link, of a joint, and with the other names.
template <class Link, class Joint, class Other>
void each_name(ModelSpec& spec, const Link& link, const Joint& joint, const Other& other) {
  for (LinkSpec& l : spec.links) link(l.name);
  for (JointSpec& j : spec.joints) {
    joint(j.name), link(j.parent), link(j.child);
    if (j.mimic) joint(j.mimic->joint);
  }
  for (FrameSpec& f : spec.frames) other(f.name), link(f.link);
  for (ActuatorSpec& a : spec.actuators) other(a.name), joint(a.joint);
  for (LoopSpec& l : spec.loops) other(l.name), link(l.first), link(l.second);
  for (CouplingSpec& c : spec.couplings) {
    other(c.name), joint(c.joint), joint(c.source);
    for (CouplingSpec::Term& term : c.further) joint(term.joint);
  }
}

void require_new(const ModelSpec& spec, SpecPart part, std::string_view name) {
  const std::string wanted(name);
  const std::string free =
      part == SpecPart::joint ? new_joint_name(spec, wanted) : new_link_name(spec, wanted);
  if (name.empty() || free != wanted)
    throw ArgumentError(fmt::format("'{}' cannot be a new name: {}; choose another", name,
                                    name.empty() ? "it is empty"
                                    : part == SpecPart::joint
                                        ? "a joint has it"
                                        : "a link or frame has it, or it is the world's"));
}

}  // namespace

void rename(ModelSpec& spec, SpecPart part, std::string_view from, std::string_view to) {
  const auto swap = [&](std::string& name) {
    if (name == from) name = to;
  };
  const auto leave = [](std::string&) {};
  if (part == SpecPart::frame) {
    const auto frame = std::find_if(spec.frames.begin(), spec.frames.end(),
                                    [&](const FrameSpec& f) { return f.name == from; });
    if (frame == spec.frames.end()) throw ArgumentError(fmt::format("there is no frame '{}'", from));
    require_new(spec, part, to);
    frame->name = to;
    return;
  }
  part == SpecPart::link ? void(find_link(spec, from)) : void(find_joint(spec, from));
  require_new(spec, part, to);
  const std::string old(from);  // `from` may be one of the names
  from = old;
  if (part == SpecPart::link)
    each_name(spec, swap, leave, leave);
  else
    each_name(spec, leave, swap, leave);
}

void add_prefix(ModelSpec& spec, std::string_view prefix) {
  const bool has_world = has_link(spec, world);
  const auto put = [&](std::string& name) { name.insert(0, prefix); };
  each_name(
      spec,
      [&](std::string& name) {
        if (has_world || name != world) put(name);
      },
      put, put);
}

namespace {

/// What may not be said twice.
void require_apart(const ModelSpec& spec, const ModelSpec& other) {
  const auto refuse = [](std::string_view what, const std::string& name) {
    throw ArgumentError(
        fmt::format("both models have a {} '{}', or it stands for the world; attach the other with a prefix",
                    what, name));
  };
  for (const LinkSpec& l : other.links)
    if (new_link_name(spec, l.name) != l.name) refuse("link or frame", l.name);
  for (const FrameSpec& f : other.frames)
    if (new_link_name(spec, f.name) != f.name) refuse("link or frame", f.name);
  for (const JointSpec& j : other.joints)
    if (new_joint_name(spec, j.name) != j.name) refuse("joint", j.name);
}

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void attach(ModelSpec& spec, const ModelSpec& other, std::string_view frame, std::string_view prefix,
            const Pose& placement) {
  const Place place = find_place(spec, frame);
  const Pose at = place.pose * placement;
  ModelSpec added = other;
  add_prefix(added, prefix);
  require_apart(spec, added);
  if (!has_link(added, world)) {
    const auto move = [&](std::string& link, Pose& pose) {
      if (link == world) link = place.link, pose = at * pose;
    };
    for (JointSpec& j : added.joints) move(j.parent, j.placement);
    for (FrameSpec& f : added.frames) move(f.link, f.placement);
    for (LoopSpec& l : added.loops) move(l.first, l.first_placement), move(l.second, l.second_placement);
  }
  std::vector<JointSpec> welds;
  for (const LinkSpec& l : added.links) {
    if (std::any_of(added.joints.begin(), added.joints.end(), [&](auto& j) { return j.child == l.name; }))
      continue;
    JointSpec weld;
    weld.name = new_joint_name(added, l.name + "_mount");
    weld.kind = JointKind::fixed;
    weld.parent = place.link;
    weld.child = l.name;
    weld.placement = at;
    welds.push_back(std::move(weld));
  }
  for (JointSpec& weld : welds) weld.name = new_joint_name(spec, weld.name), spec.add_joint(weld);
  append(spec.links, added.links);
  append(spec.joints, added.joints);
  append(spec.frames, added.frames);
  append(spec.actuators, added.actuators);
  append(spec.loops, added.loops);
  append(spec.couplings, added.couplings);
}

}  // namespace articula
