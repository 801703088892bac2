// From an SDF file's elements to a specification: links, frames, and the tree that joints make of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/error.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/sdf_assembly.hpp"
#include "articula/files/settle_mimics.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace sdf {

namespace {

using V3 = Vec3<double>;

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

bool has_errors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Finding::Severity::error; });
}

bool hangs_from_world(const Model& model) {
  return model.is_static || std::any_of(model.joints.begin(), model.joints.end(), [&](const Joint& j) {
           return is_world(model, j.parent) || is_world(model, j.child);
         });
}

}  // namespace

LoadedModel Assembly::build() {
  const Model& top = document_.world;
  out_.gravity = document_.gravity;
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
      if (is_identity(pose.R) && pose.p.x == 0 && pose.p.y == 0 && pose.p.z == 0) continue;
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
