// Bodies, frames and coordinates of a model from its specification.
#include <algorithm>
#include <cmath>

#include "articula/model/inertial_parameters.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/model/model_data.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

/// Names resolved, and who hangs from whom.
struct Model::Data::Links {
  std::unordered_map<std::string_view, int> index;
  std::vector<std::vector<int>> joints_of;  // by link: of which it is the parent
  std::vector<bool> has_parent;
  std::vector<int> from_world;  // joints

  explicit Links(const ModelSpec& spec) : joints_of(spec.links.size()), has_parent(spec.links.size()) {
    for (std::size_t i = 0; i < spec.links.size(); ++i)
      index.emplace(spec.links[i].name, static_cast<int>(i));
    for (std::size_t j = 0; j < spec.joints.size(); ++j) {
      const auto parent = index.find(spec.joints[j].parent);
      (parent == index.end() ? from_world : joints_of[parent->second]).push_back(static_cast<int>(j));
      has_parent[index.at(spec.joints[j].child)] = true;
    }
  }
};

void Model::Data::put_link(int link, int body, const Pose& pose) {
  frames.push_back({spec.links[link].name, body, pose});
  if (body >= 0) weld(bodies[body].mass, spec.links[link].mass, pose);
}

/// One hinge and its body. The body's internal axes put the joint's axis on z.
int Model::Data::add_body(std::string name, int joint, int inboard, const Pose& placement,
                          const Vec3<double>& axis, HingeKind kind) {
  const bool turns = visit(kind, [](auto j) { return !j.quaternion; });
  const Mat3<double> Z = turns ? rotation_from_z(unit(axis)) : Mat3<double>::identity();
  const Mat3<double> inboard_axes = inboard < 0 ? Mat3<double>::identity() : bodies[inboard].link_axes;
  hinges.push_back({.kind = kind, .E = inboard_axes * placement.R * Z, .l = inboard_axes * placement.p});
  bodies.push_back({std::move(name), inboard, joint, {}, star(Z)});
  return static_cast<int>(bodies.size()) - 1;
}

/// The free joint between the world and a free base.
int Model::Data::add_root(int link) {
  std::string name = "root_joint";
  const auto is_taken = [&](const JointSpec& j) { return j.name == name; };
  while (std::any_of(spec.joints.begin(), spec.joints.end(), is_taken)) name += '_';
  joints.push_back({.name = name,
                    .kind = JointKind::free,
                    .q_index = 0,
                    .nq = nq_of(JointKind::free),
                    .v_index = 0,
                    .nv = nv_of(JointKind::free),
                    .body = 0,
                    .mimics = -1,
                    .axis = {0, 0, 1},
                    .pitch = 0});
  return add_body(spec.links[link].name, 0, -1, {}, {0, 0, 1}, HingeKind::free);
}

/// A joint and the bodies of its hinges; returns the last.
int Model::Data::add_joint(const JointSpec& joint, int inboard, const Pose& placement) {
  const int index = static_cast<int>(joints.size());
  const bool turns = has_axis(joint.kind);
  joints.push_back({.name = joint.name,
                    .kind = joint.kind,
                    .q_index = 0,
                    .nq = nq_of(joint.kind),
                    .v_index = 0,
                    .nv = nv_of(joint.kind),
                    .body = 0,
                    .mimics = -1,
                    .axis = turns ? unit(joint.axis) : Vec3<double>{0, 0, 1},
                    .pitch = joint.pitch,
                    .limits = joint.limits,
                    .damping = joint.damping,
                    .friction = joint.friction,
                    .armature = joint.armature,
                    .stiffness = joint.stiffness,
                    .spring_reference = joint.spring_reference});
  const auto parts = hinges_of(joint.kind);
  int body = inboard, freedom = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const std::string cross = joint.name + (i == 0 ? ".cross" : ".cross2");
    body = add_body(last ? joint.child : cross, index, body, i == 0 ? placement : Pose{}, axis_of(joint, i),
                    parts[i]);
    hinges.back().pitch = joint.pitch;
    const int count = visit(parts[i], [](auto j) { return j.nv; });
    if (joint.armature.is_one_number(PerFreedom::most))
      hinges.back().armature = joint.armature;
    else
      for (int k = 0; k < count; ++k) hinges.back().armature[k] = joint.armature[freedom + k];
    freedom += count;
  }
  joints[index].body = body;
  return body;
}

/// Depth first from the world, in the order of the specification, with a stack of our own.
void Model::Data::walk() {
  const Links links(spec);
  struct Pending {
    int joint;
    int body;   // that its parent link belongs to, -1: the world
    Pose pose;  // of the parent link in that body's link axes
  };
  std::vector<Pending> stack;
  const auto push = [&](const std::vector<int>& children, int body, const Pose& pose) {
    for (auto j = children.rbegin(); j != children.rend(); ++j) stack.push_back({*j, body, pose});
  };

  push(links.from_world, -1, {});
  for (int i = 0; i < static_cast<int>(spec.links.size()); ++i) {
    if (links.has_parent[i]) continue;
    const int body = options.base == Base::free ? add_root(i) : -1;
    put_link(i, body, {});
    push(links.joints_of[i], body, {});
  }
  while (!stack.empty()) {
    const Pending next = stack.back();
    stack.pop_back();
    const JointSpec& joint = spec.joints[next.joint];
    const int link = links.index.at(joint.child);
    const Pose placement = next.pose * joint.placement;
    const bool moves = nv_of(joint.kind) > 0;
    const int body = moves ? add_joint(joint, next.body, placement) : next.body;
    put_link(link, body, moves ? Pose{} : placement);
    push(links.joints_of[link], body, moves ? Pose{} : placement);
  }
  add_frames(links);
}

void Model::Data::add_frames(const Links& links) {
  std::vector<int> frame_of(spec.links.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    frame_of[links.index.at(frames[i].name)] = static_cast<int>(i);
  for (const auto& f : spec.frames) {
    const auto link = links.index.find(f.link);
    const Frame on = link == links.index.end() ? Frame{"", -1, {}} : frames[frame_of[link->second]];
    frames.push_back({f.name, on.body, on.placement * f.placement});
  }
}

/// Each joint is resolved once, from the end of its chain of mimics back: q = m (m' q' + o') + o.
void Model::Data::resolve_mimics() {
  std::unordered_map<std::string_view, const JointSpec*> specs;
  for (const auto& j : spec.joints) specs.emplace(j.name, &j);
  const auto mimic_of = [&](const Joint& joint) -> const Mimic* {
    const auto it = specs.find(joint.name);
    return it != specs.end() && it->second->mimic ? &*it->second->mimic : nullptr;
  };
  std::vector<int> chain;
  for (std::size_t first = 0; first < joints.size(); ++first) {
    for (int j = static_cast<int>(first); joints[j].mimics < 0 && mimic_of(joints[j]);) {
      chain.push_back(j);
      j = joint_names.at(mimic_of(joints[j])->joint);
    }
    for (; !chain.empty(); chain.pop_back()) {
      Joint& joint = joints[chain.back()];
      const Mimic& m = *mimic_of(joint);
      const int next = joint_names.at(m.joint);
      const Joint& source = joints[next];
      joint.mimics = source.mimics < 0 ? next : source.mimics;
      joint.multiplier = m.multiplier * source.multiplier;
      joint.offset = m.multiplier * source.offset + m.offset;
    }
  }
}

int Model::Data::first_body(const Joint& joint) const {
  return joint.body + 1 - static_cast<int>(hinges_of(joint.kind).size());
}

/// Coordinates in body order; a mimic joint borrows those of the joint at the end of its chain.
void Model::Data::number_coordinates() {
  resolve_mimics();
  for (auto& joint : joints) {
    if (joint.mimics >= 0) {
      joint.nq = joint.nv = 0;
      continue;
    }
    joint.q_index = nq;
    joint.v_index = nv;
    nq += joint.nq;
    nv += joint.nv;
  }
  // Full coordinates, body by body: the bodies of a joint's hinges follow each other.
  for (auto& joint : joints) {
    if (joint.mimics >= 0) {
      joint.q_index = joints[joint.mimics].q_index;
      joint.v_index = joints[joint.mimics].v_index;
    }
    int q = joint.q_index, v = joint.v_index;
    for (int k = first_body(joint); k <= joint.body; ++k)
      visit(hinges[k].kind, [&](auto j) {
        for (int i = 0; i < j.nq; ++i) full_coordinates.push_back({q++, joint.multiplier, joint.offset});
        for (int i = 0; i < j.nv; ++i) full_velocities.push_back({v++, joint.multiplier, 0});
      });
  }
}

/// Tells the hinges what rounding can leave of D where it should be zero.
void Model::Data::note_massless() {
  for (const MasslessFreedom& f : massless) {
    const Joint& joint = joints[f.joint < 0 ? 0 : joint_names.at(spec.joints[f.joint].name)];
    int freedom = f.freedom, body = first_body(joint);
    for (;; ++body) {
      const int count = visit(hinges[body].kind, [](auto j) { return j.nv; });
      if (freedom < count) break;
      freedom -= count;
    }
    hinges[body].rounding[freedom] = f.scale;
    massless_velocities.push_back(joint.v_index + f.freedom);
  }
}

}  // namespace articula
