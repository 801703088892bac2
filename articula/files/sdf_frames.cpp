#include "articula/files/sdf_frames.hpp"

#include <fmt/format.h>

#include "articula/files/xml_text.hpp"
#include "articula/model/name_index.hpp"

namespace articula::sdf {

namespace {

constexpr std::string_view own = "__model__";

bool is_own(const Model& model, std::string_view name) {
  return name.empty() || name == own || (model.is_world && name == "world");
}

/// "a::b::c": what stands before the first "::".
std::string_view head_of(std::string_view name) { return name.substr(0, name.find("::")); }
std::string_view rest_of(std::string_view name) { return name.substr(name.find("::") + 2); }
bool is_scoped(std::string_view name) { return name.find("::") != name.npos; }

/// The frame that one is placed in, by what it says or by default.
std::string_view relative_to(const Model& model, Named named) {
  const auto given = [](const Placement& p, std::string_view missing) {
    return p.relative_to.empty() ? missing : std::string_view(p.relative_to);
  };
  switch (named.kind) {
    case Named::link:
      return given(model.links[named.index].placement, own);
    case Named::joint:
      return given(model.joints[named.index].placement, model.joints[named.index].child);
    case Named::frame:
      return given(model.frames[named.index].placement, model.frames[named.index].attached_to);
    case Named::model:
      return given(model.models[named.index].placement, own);
    default:
      return own;
  }
}

const Placement& placement(const Model& model, Named named) {
  switch (named.kind) {
    case Named::link:
      return model.links[named.index].placement;
    case Named::joint:
      return model.joints[named.index].placement;
    case Named::frame:
      return model.frames[named.index].placement;
    case Named::model:
      return model.models[named.index].placement;
    default:
      return model.placement;
  }
}

}  // namespace

bool is_world(const Model& model, std::string_view name) {
  if (name != world) return false;
  const auto found = model.names.find(name);
  return found == model.names.end() || found->second.kind != Named::link;
}

Pose pose_in(const Model& model, std::string_view name, std::vector<Finding>& findings) {
  return Frames(findings).pose(model, name, model.where);
}

std::string canonical_link(const Model& model) {
  if (!model.canonical_link.empty()) return model.canonical_link;
  if (!model.links.empty()) return model.links[0].name;
  for (const Model& nested : model.models)
    if (const std::string link = canonical_link(nested); !link.empty()) return nested.name + "::" + link;
  return "";
}

void Frames::error(const std::string& where, std::string message) {
  findings_.push_back({Finding::Severity::error, where, std::move(message)});
}

std::optional<Named> Frames::look_up(const Model& model, std::string_view name, const std::string& where) {
  if (is_own(model, name)) return Named{};
  const std::string_view head = head_of(name);
  const auto found = model.names.find(head);
  if (found != model.names.end() && (!is_scoped(name) || found->second.kind == Named::model))
    return found->second;
  NameIndex known;
  for (const auto& [other, named] : model.names) known.add(other, 0);
  error(where,
        fmt::format("there is no {} {} in {}{}; name a link, joint, frame or model of it",
                    is_scoped(name) ? "model" : "frame", in_quotes(head),
                    model.is_world ? "the world" : "model " + in_quotes(model.name), known.suggestion(head)));
  return {};
}

/// The last step to `name`: through a nested model it takes that model's pose and the pose in it.
Frames::Origin Frames::origin(const Model& model, std::string_view name, const std::string& where) {
  const auto named = look_up(model, name, where);
  if (!named) return {{}, {Mat3<double>::identity(), {nan, nan, nan}}};
  if (named->kind == Named::itself) return {};
  if (!is_scoped(name)) return {*named, {}};
  return {*named, pose(model.models[named->index], rest_of(name), where)};
}

/// In the frame that it is relative to. A model's own is where it puts its placement frame.
Pose Frames::own_pose(const Model& model, Named named) {
  const Pose& given = placement(model, named).pose;
  if (named.kind != Named::model) return given;
  const Model& nested = model.models[named.index];
  if (nested.placement_frame.empty()) return given;
  return given * inverse(pose(nested, nested.placement_frame, nested.where));
}

Pose Frames::pose(const Model& model, std::string_view name, const std::string& where) {
  const Origin to = origin(model, name, where);
  return to.from ? pose(model, *to.from) * to.pose : to.pose;
}

/// Follows relative_to until a frame that is known, then comes back; without recursion, chains may be long.
Pose Frames::pose(const Model& model, Named named) {
  if (named.kind == Named::itself) return {};
  struct Step {
    Named frame;
    Pose in_next;
  };
  std::vector<Step> path;
  std::set<Named> on_path;
  Pose at;
  for (std::optional<Named> next = named; next;) {
    if (const auto known = poses_.find({&model, *next}); known != poses_.end()) {
      at = known->second;
      break;
    }
    const std::string& where = placement(model, *next).where;
    if (!on_path.insert(*next).second) {
      error(where, "this frame is in the end relative to itself; give one of them another relative_to");
      at.p.x = nan;
      break;
    }
    const Origin from = origin(model, relative_to(model, *next), where);
    path.push_back({*next, from.pose * own_pose(model, *next)});
    next = from.from;
  }
  for (std::size_t i = path.size(); i-- > 0;) {
    at = at * path[i].in_next;
    poses_[{&model, path[i].frame}] = at;
  }
  return at;
}

std::optional<Pose> Frames::told(const Model& model, Named frame, Named in) {
  constexpr int few = 6;
  const auto same = [](Named a, Named b) { return !(a < b) && !(b < a); };
  Pose out;
  for (int steps = 0; steps < few; ++steps) {
    if (same(frame, in)) return out;
    const Origin from = origin(model, relative_to(model, frame), placement(model, frame).where);
    if (!from.from) return {};
    out = from.pose * own_pose(model, frame) * out;
    frame = *from.from;
  }
  return {};
}

std::optional<Frames::Body> Frames::body(const Model& model, std::string_view name,
                                         const std::string& where) {
  std::vector<Key> path;
  std::optional<Body> out;
  const Model* in = &model;
  std::string at(name);
  while (true) {
    if (is_world(*in, at)) {
      out = Body{};
      break;
    }
    if (is_own(*in, at)) {
      if (in->is_world) {
        out = Body{};
        break;
      }
      at = canonical_link(*in);
      if (at.empty()) {
        error(where, fmt::format("model {} has no link; add one", in_quotes(in->name)));
        break;
      }
    }
    const auto named = look_up(*in, at, where);
    if (!named) break;
    const Key key{in, *named};
    if (const auto known = bodies_.find(key); known != bodies_.end() && !is_scoped(at)) {
      out = known->second;
      break;
    }
    if (named->kind == Named::link) {
      out = Body{&in->links[named->index]};
      break;
    }
    if (named->kind == Named::model) {
      at = is_scoped(at) ? std::string(rest_of(at)) : std::string(own);
      in = &in->models[named->index];
      continue;
    }
    path.push_back(key);
    bodies_[key] = std::nullopt;  // found again: a cycle, or an error that was told
    at = named->kind == Named::joint ? in->joints[named->index].child : in->frames[named->index].attached_to;
  }
  for (const Key& key : path) bodies_[key] = out;
  return out;
}

}  // namespace articula::sdf
