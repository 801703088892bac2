// From an SDF file's elements to a specification: names, a tree over the links, and loops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "articula/error.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/sdf_frames.hpp"
#include "articula/files/settle_mimics.hpp"
#include "articula/files/spanning_tree.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/edit.hpp"

namespace articula {

namespace sdf {

namespace {

using V3 = Vec3<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double perpendicular = 1e-9;  // cosine of a universal joint's axes

struct Type {
  std::string_view name;
  JointKind kind;
};
constexpr Type types[] = {
    {"revolute", JointKind::revolute},   {"continuous", JointKind::continuous},
    {"prismatic", JointKind::prismatic}, {"screw", JointKind::helical},
    {"universal", JointKind::universal}, {"revolute2", JointKind::universal},
    {"ball", JointKind::spherical},      {"fixed", JointKind::fixed},
    {"drake:planar", JointKind::planar},
};

/// A link of the assembly.
struct Placed {
  const Link* link;
  std::string name;
  Pose pose;  // in the world
  bool is_static;
};
/// A joint, with the links that it joins by index; -1 is the world.
struct Joining {
  const Joint* joint;
  std::string name;
  int parent, child;
  Pose pose;  // in the world, at zero
  JointKind kind;
  V3 axes[2]{};  // joint axes
  Pose in_parent{}, in_child{};
};

using Names = std::unordered_set<std::string>;
std::string new_name(std::string name, const Names& taken) {
  while (taken.contains(name)) name += '_';
  return name;
}

class Assembly {
 public:
  explicit Assembly(const Document& document) : document_(document), frames_(out_.findings) {
    out_.findings = document.findings;
  }
  LoadedModel build();

 private:
  void place(const Model& model, const std::string& prefix, const Pose& pose, bool is_static);
  void join(const Model& model, const std::string& prefix, const Pose& pose);
  void add_frames(const Model& model, const std::string& prefix, const Pose& pose);
  void couple();
  void add_links();
  void hang_roots();
  void hang(int link, JointKind kind);
  void add_joint(const Joining& joining, bool turned);
  void add_part(JointSpec joint, const Pose& in_parent, const Pose& in_child, bool turned);
  void add_loop(const Joining& joining);
  JointSpec spec_of(const Joining& joining);
  Pose in_link(const Pose& pose, int link) const {
    return link < 0 ? pose : inverse(links_[std::size_t(link)].pose) * pose;
  }
  /// Of joint i in a link that the model calls `name`: as the file has it, where that leads from one to the other.
  Pose relative(const Model& model, std::size_t i, const std::string& name, const Pose& pose, int link) {
    const auto named = model.names.find(name);
    if (named != model.names.end() && named->second.kind == Named::link)
      if (const auto told = frames_.told(model, {Named::joint, i}, named->second)) return *told;
    return in_link(pose, link);
  }
  std::string link_name(int link) const {
    return link < 0 ? std::string(world) : links_[std::size_t(link)].name;
  }
  /// Of a model in the world: a single one needs none.
  std::string prefix_of(const Model& model) const {
    return document_.world.models.size() > 1 ? model.name + "::" : "";
  }
  int index_of(const Frames::Body& body) const { return body.link ? index_.at(body.link) : -1; }
  /// Inside a static model, and between two of them, nothing moves.
  bool stands(int link) const { return link < 0 || links_[std::size_t(link)].is_static; }
  void warn(const std::string& where, std::string message) {
    out_.findings.push_back({Finding::Severity::warning, where, std::move(message)});
  }
  void fail(const std::string& where, std::string message) {
    out_.findings.push_back({Finding::Severity::error, where, std::move(message)});
  }

  const Document& document_;
  LoadedModel out_;
  Frames frames_;
  std::vector<Placed> links_;
  std::unordered_map<const Link*, int> index_;
  std::vector<Joining> joints_;
  std::vector<std::pair<const Model*, const Joint*>> gearboxes_;
  SpanningTree tree_;
  Names link_names_{std::string(world)}, joint_names_;  // taken: those of links and frames, and of joints
};

bool has_errors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Finding::Severity::error; });
}

/// Can a joint of this kind be a LoopSpec?
bool closes_loops(JointKind kind) {
  return kind != JointKind::universal && kind != JointKind::helical && kind != JointKind::planar;
}

bool hangs_from_world(const Model& model) {
  return model.is_static || std::any_of(model.joints.begin(), model.joints.end(), [&](const Joint& j) {
           return is_world(model, j.parent) || is_world(model, j.child);
         });
}

LoadedModel Assembly::build() {
  const Model& top = document_.world;
  const bool is_single = top.models.size() == 1;
  out_.spec.name = is_single ? top.models[0].name : top.name.empty() ? "world" : top.name;
  for (std::size_t i = 0; i < top.models.size(); ++i) {
    const Model& model = top.models[i];
    // Where a model that stands alone is put is a matter of its state, unless it stands on the world.
    const bool stands = document_.is_assembly || hangs_from_world(model);
    place(model, prefix_of(model), stands ? frames_.pose(top, {Named::model, i}) : Pose{}, model.is_static);
  }
  join(top, "", {});
  for (std::size_t i = 0; i < top.models.size(); ++i) {
    const bool stands = document_.is_assembly || hangs_from_world(top.models[i]);
    join(top.models[i], prefix_of(top.models[i]), stands ? frames_.pose(top, {Named::model, i}) : Pose{});
  }
  if (links_.empty() && !has_errors(out_.findings)) fail(top.models[0].where, "there is no <link>; add one");
  if (has_errors(out_.findings)) {  // nothing can be built of it
    add_links();
    if (!out_.spec.links.empty()) out_.spec.links[0].mass.mass = nan;
    return std::move(out_);
  }
  add_links();
  const bool has_first = !canonical_link(top.models[0]).empty();
  const auto first =
      has_first ? frames_.body(top, top.models[0].name, top.models[0].where) : std::optional<Frames::Body>();
  std::vector<TreeEdge> edges;
  for (const Joining& j : joints_) edges.push_back({j.parent, j.child, !closes_loops(j.kind)});
  tree_ = spanning_tree(int(links_.size()), edges, first ? index_of(*first) : 0);
  hang_roots();
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (tree_.roles[j] == EdgeRole::loop)
      add_loop(joints_[j]);
    else
      add_joint(joints_[j], tree_.roles[j] == EdgeRole::turned);
  }
  couple();
  add_frames(top, "", {});
  settle_mimics(out_.spec, {}, out_.findings);
  if (has_errors(out_.findings)) out_.spec.links[0].mass.mass = nan;
  return std::move(out_);
}

void Assembly::place(const Model& model, const std::string& prefix, const Pose& pose, bool is_static) {
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const Link& link = model.links[i];
    index_.emplace(&link, int(links_.size()));
    links_.push_back({&link, prefix + link.name, pose * frames_.pose(model, {Named::link, i}), is_static});
  }
  for (std::size_t i = 0; i < model.models.size(); ++i)
    place(model.models[i],
          prefix + model.models[i].name + "::", pose * frames_.pose(model, {Named::model, i}), is_static);
}

/// The joints of a model, and of those in it (but for the world's: build() goes over these).
void Assembly::join(const Model& model, const std::string& prefix, const Pose& pose) {
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    if (joint.type == "gearbox") {
      gearboxes_.emplace_back(&model, &joint);
      continue;
    }
    const auto type =
        std::find_if(std::begin(types), std::end(types), [&](const Type& t) { return t.name == joint.type; });
    if (type == std::end(types)) {
      fail(joint.where, fmt::format("joint {} has the type {}; expected revolute, continuous, prismatic, "
                                    "screw, universal, revolute2, ball, gearbox or fixed",
                                    in_quotes(joint.name), in_quotes(joint.type)));
      continue;
    }
    const auto parent = frames_.body(model, joint.parent, joint.where),
               child = frames_.body(model, joint.child, joint.where);
    if (!parent || !child) {
      if (!has_errors(out_.findings))
        fail(joint.where,
             fmt::format("the frames of joint {} are attached to themselves", in_quotes(joint.name)));
      continue;
    }
    if (*parent == *child) {
      fail(joint.where,
           fmt::format("joint {} joins a link to itself; name two links", in_quotes(joint.name)));
      continue;
    }
    Joining out{&joint,
                prefix + joint.name,
                index_of(*parent),
                index_of(*child),
                pose * frames_.pose(model, {Named::joint, i}),
                type->kind};
    for (int a = 0; a < 2; ++a) {
      const Axis& axis = joint.axes[a];
      out.axes[a] = axis.xyz;
      if (!axis.expressed_in.empty())
        out.axes[a] = star_times(out.pose.R,
                                 pose.R * (frames_.pose(model, axis.expressed_in, axis.where).R * axis.xyz));
    }
    out.in_parent = relative(model, i, joint.parent, out.pose, out.parent);
    out.in_child = relative(model, i, joint.child, out.pose, out.child);
    joints_.push_back(std::move(out));
  }
  if (model.is_world) return;
  for (std::size_t i = 0; i < model.models.size(); ++i)
    join(model.models[i],
         prefix + model.models[i].name + "::", pose * frames_.pose(model, {Named::model, i}));
}

void Assembly::add_links() {
  for (const Placed& placed : links_) {
    if (!placed.link->has_inertial && !placed.is_static)
      warn(placed.link->where,
           fmt::format("link {} has no <inertial>; SDF then says 1 kg, and 1 kg m^2 about "
                       "each axis: add one",
                       in_quotes(placed.name)));
    out_.spec.add_link({placed.name, placed.link->mass, placed.link->where});
    link_names_.insert(placed.name);
  }
  for (const Joining& j : joints_) joint_names_.insert(j.name);
}

/// Links of a static model stand on the world. So does the tree of the first link if the file is one model; the
/// others float.
void Assembly::hang_roots() {
  for (int i = 0; i < int(links_.size()); ++i) {
    const Placed& placed = links_[std::size_t(i)];
    if (!tree_.is_root[std::size_t(i)]) continue;
    if (placed.is_static) {
      hang(i, JointKind::fixed);
    } else if (document_.is_assembly || i != tree_.first_root) {
      hang(i, JointKind::free);
    } else {
      // The model's frame is the root where the link's is another.
      const Pose& pose = placed.pose;
      const Mat3<double> Id = Mat3<double>::identity();
      const bool straight = std::equal(&Id.xx, &Id.zz + 1, &pose.R.xx);
      if (straight && pose.p.x == 0 && pose.p.y == 0 && pose.p.z == 0) continue;
      JointSpec weld;
      weld.name = new_name(placed.name + "_in_model", joint_names_);
      weld.kind = JointKind::fixed;
      const std::string root = new_name(out_.spec.name, link_names_);
      joint_names_.insert(weld.name), link_names_.insert(root);
      weld.parent = root;
      weld.child = placed.name;
      weld.placement = pose;
      weld.where = placed.link->where;
      out_.spec.links.insert(out_.spec.links.begin(), {root, {}, placed.link->where});
      out_.spec.add_joint(std::move(weld));
    }
  }
}

void Assembly::hang(int link, JointKind kind) {
  const Placed& placed = links_[std::size_t(link)];
  JointSpec joint;
  joint.name = new_name(placed.name + (kind == JointKind::free ? "_free" : "_stand"), joint_names_);
  joint_names_.insert(joint.name);
  joint.kind = kind;
  joint.parent = world;
  joint.child = placed.name;
  joint.placement = placed.pose;
  joint.where = placed.link->where;
  out_.spec.add_joint(std::move(joint));
}

// --- joints -----------------------------------------------------------------------------------------
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

void Assembly::add_joint(const Joining& joining, bool turned) {
  JointSpec joint = spec_of(joining);
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
  if (!closes_loops(joining.kind)) {
    fail(joint.where,
         fmt::format("joint {} closes a loop, and is {}; expected a revolute, prismatic, ball or "
                     "fixed joint in the loop",
                     in_quotes(joining.name), joint.type));
    return;
  }
  out_.spec.loops.push_back({.name = joining.name,
                             .kind = joining.kind,
                             .first = link_name(joining.parent),
                             .second = link_name(joining.child),
                             .first_placement = joining.in_parent,
                             .second_placement = joining.in_child,
                             .axis = joining.axes[0],
                             .where = joint.where});
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

// --- frames -----------------------------------------------------------------------------------------
/// Named frames, and those of models in others, which their names stand for.
void Assembly::add_frames(const Model& model, const std::string& prefix, const Pose& pose) {
  const auto add = [&](const std::string& name, const Pose& at, const std::string& where) {
    const auto body = frames_.body(model, name, where);
    const std::string full = prefix + name;
    if (!body || name.starts_with("_merged__") || !link_names_.insert(full).second) return;
    const int link = index_of(*body);
    out_.spec.add_frame({full, link_name(link), in_link(pose * at, link), where});
  };
  for (std::size_t i = 0; i < model.frames.size(); ++i)
    add(model.frames[i].name, frames_.pose(model, {Named::frame, i}), model.frames[i].placement.where);
  for (std::size_t i = 0; i < model.models.size(); ++i) {
    const Model& nested = model.models[i];
    Pose at = frames_.pose(model, {Named::model, i});
    if (model.is_world && !document_.is_assembly && !hangs_from_world(nested)) at = {};
    const bool is_single = model.is_world && model.models.size() == 1;
    if (!is_single && !canonical_link(nested).empty()) add(nested.name, at, nested.where);
    add_frames(nested, is_single ? "" : prefix + nested.name + "::", pose * at);
  }
}

}  // namespace
}  // namespace sdf

LoadedModel parse_sdf(const ModelText& text) {
  const sdf::Document document = sdf::parse(text);
  try {
    return sdf::Assembly(document).build();
  } catch (const ArgumentError& error) {  // of turned_around
    throw ModelError(fmt::format("{}: {}", text.name, error.what()));
  }
}

}  // namespace articula
