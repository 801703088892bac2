#include "articula/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "articula/model/inertial_parameters.hpp"
#include "articula/spatial/aligned.hpp"

namespace articula {

namespace {

/// The kernels' arrays for one number type.
template <class R>
struct TreeData {
  std::vector<BodyIndex> index;
  AlignedArray<R> constants;
  std::vector<R> pitch, armature;
  AlignedArray<R> offset;
  std::vector<unsigned char> twists;
  std::vector<int> v_end, angle, special, first_column, alone;
  Tree<R> tree;

  void connect() {
    tree.bodies = static_cast<int>(index.size()) - 1;
    tree.index = index.data();
    tree.constants = constants.data();
    tree.pitch = pitch.data();
    tree.armature = armature.data();
    tree.v_end = v_end.data();
    tree.angle = angle.data();
    tree.offset = offset.data();
    tree.twists = twists.data();
    tree.special = special.data();
    tree.specials = static_cast<int>(special.size());
    tree.first_column = first_column.data();
    tree.alone = alone.data();
    tree.alone_count = static_cast<int>(alone.size());
  }
};

/// A hinge with the body that it moves, before numbering of coordinates.
struct Hinge {
  HingeKind kind;
  Mat3<double> E;  // joint axes at zero in the inboard body's internal axes
  Vec3<double> l;
  double pitch, armature;
  double offset = 0;  // see Tree
  Alignment alignment = Alignment::any;
};

HingeKind hinge_of(JointKind kind) {
  switch (kind) {
    case JointKind::prismatic:
      return HingeKind::prismatic;
    case JointKind::helical:
      return HingeKind::helical;
    case JointKind::cylindrical:
      return HingeKind::cylindrical;
    case JointKind::planar:
      return HingeKind::planar;
    case JointKind::spherical:
      return HingeKind::spherical;
    case JointKind::free:
      return HingeKind::free;
    default:
      return HingeKind::revolute;  // revolute, continuous, and each half of a universal joint
  }
}

bool has_axis(HingeKind kind) { return kind != HingeKind::spherical && kind != HingeKind::free; }

/// Joints whose outboard body's axes may be turned about the joint's axis: nothing of theirs is told along x
/// or y.
bool has_free_x(HingeKind kind) { return has_axis(kind) && kind != HingeKind::planar; }

Vec3<double> unit(const Vec3<double>& a) { return a * (1 / std::hypot(a.x, a.y, a.z)); }

Sym3<double> turned(const Mat3<double>& R, const Sym3<double>& J) { return symmetric(R * full(J) * star(R)); }

/// Adds a welded piece, given by its mass properties in a frame at `pose`.
void weld(MassProperties& body, const MassProperties& piece, const Pose& pose) {
  if (piece.mass == 0) {  // pure rotational inertia, as some files give rotors
    body.inertia += turned(pose.R, piece.inertia);
    return;
  }
  const Vec3<double> c = pose.p + pose.R * piece.center_of_mass;
  const double mass = body.mass + piece.mass;
  const Vec3<double> center = (body.center_of_mass * body.mass + c * piece.mass) * (1 / mass);
  const auto about = [&](double m, const Vec3<double>& from) {  // m (|r|^2 Id - r r*), r from the new centre
    const Vec3<double> r = from - center;
    return minus_tilde_tilde(r, r * (0.5 * m));
  };
  body.inertia = body.inertia + about(body.mass, body.center_of_mass) + turned(pose.R, piece.inertia) +
                 about(piece.mass, c);
  body.mass = mass;
  body.center_of_mass = center;
}

template <class T>
int lookup(const std::unordered_map<std::string_view, int>& names, const std::vector<T>& all,
           std::string_view name, const char* what, const std::string& model) {
  if (const auto it = names.find(name); it != names.end()) return it->second;
  std::string known;
  for (std::size_t i = 0; i < all.size() && i < 12; ++i) known += (i ? ", " : "") + all[i].name;
  if (all.size() > 12) known += fmt::format(", ... ({} in all)", all.size());
  throw ArgumentError(fmt::format("model '{}' has no {} '{}'; it has: {}", model, what, name, known));
}

}  // namespace

struct Model::Data {
  ModelSpec spec;
  BuildOptions options;
  std::vector<Finding> warnings;
  std::vector<Joint> joints;
  std::vector<Body> bodies;
  std::vector<Frame> frames;
  std::unordered_map<std::string_view, int> frame_names, joint_names;
  std::vector<FullVelocity> full_velocities, full_coordinates;
  int nq = 0, nv = 0;
  double mass = 0;
  std::vector<Hinge> hinges;
  TreeData<double> in_double;
  TreeData<float> in_float;

  void build();
  void walk();
  int add_body(const JointSpec* joint, int joint_index, const std::string& name, int inboard,
               const Pose& placement, HingeKind kind, const Vec3<double>& axis);
  void choose_axes();
  void number_coordinates();
  void name_things();
  template <class R>
  void fill(TreeData<R>& out) const;
  void connect();
};

/// One hinge and its body. The body's internal axes put the joint's axis on z.
int Model::Data::add_body(const JointSpec* joint, int joint_index, const std::string& name, int inboard,
                          const Pose& placement, HingeKind kind, const Vec3<double>& axis) {
  const Mat3<double> Z = has_axis(kind) ? rotation_from_z(unit(axis)) : Mat3<double>::identity();
  const Mat3<double> inboard_axes = inboard < 0 ? Mat3<double>::identity() : bodies[inboard].link_axes;
  hinges.push_back({kind, inboard_axes * placement.R * Z, inboard_axes * placement.p,
                    joint ? joint->pitch : 0, joint ? joint->armature : 0});
  bodies.push_back({name, inboard, joint_index, {}, star(Z)});
  return static_cast<int>(bodies.size()) - 1;
}

/// Depth first from the world, in the order of the specification, with a stack of our own.
void Model::Data::walk() {
  std::unordered_map<std::string_view, int> link_index;
  for (std::size_t i = 0; i < spec.links.size(); ++i)
    link_index.emplace(spec.links[i].name, static_cast<int>(i));
  std::vector<std::vector<int>> joints_of(spec.links.size());
  std::vector<bool> has_parent(spec.links.size());
  std::vector<int> from_world;
  for (std::size_t j = 0; j < spec.joints.size(); ++j) {
    const auto parent = link_index.find(spec.joints[j].parent);
    (parent == link_index.end() ? from_world : joints_of[parent->second]).push_back(static_cast<int>(j));
    has_parent[link_index.at(spec.joints[j].child)] = true;
  }

  const auto put_link = [&](int link, int body, const Pose& pose) {
    frames.push_back({spec.links[link].name, body, pose});
    if (body >= 0) weld(bodies[body].mass, spec.links[link].mass, pose);
  };
  struct Pending {
    int joint;
    int body;   // that its parent link belongs to, -1: the world
    Pose pose;  // of the parent link in that body's link axes
  };
  std::vector<Pending> stack;
  const auto push = [&](const std::vector<int>& children, int body, const Pose& pose) {
    for (auto j = children.rbegin(); j != children.rend(); ++j) stack.push_back({*j, body, pose});
  };

  push(from_world, -1, {});
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    if (has_parent[i]) continue;
    int body = -1;
    if (options.base == Base::free) {
      std::string name = "root_joint";
      while (
          std::any_of(spec.joints.begin(), spec.joints.end(), [&](const auto& j) { return j.name == name; }))
        name += '_';
      joints.push_back({name, JointKind::free, 0, 7, 0, 6, 0, -1, 1, 0, {0, 0, 1}, 0, {}, 0, 0, 0});
      body = add_body(nullptr, 0, spec.links[i].name, -1, {}, HingeKind::free, {0, 0, 1});
    }
    put_link(static_cast<int>(i), body, {});
    push(joints_of[i], body, {});
  }

  while (!stack.empty()) {
    const Pending next = stack.back();
    stack.pop_back();
    const JointSpec& joint = spec.joints[next.joint];
    const int link = link_index.at(joint.child);
    const Pose placement = next.pose * joint.placement;
    if (joint.kind == JointKind::fixed) {
      put_link(link, next.body, placement);
      push(joints_of[link], next.body, placement);
      continue;
    }
    const int index = static_cast<int>(joints.size());
    joints.push_back({joint.name, joint.kind, 0, nq_of(joint.kind), 0, nv_of(joint.kind), 0, -1, 1, 0,
                      unit(joint.axis), joint.pitch, joint.limits, joint.damping, joint.friction,
                      joint.armature});
    int body;
    if (joint.kind == JointKind::universal) {
      const int cross_piece = add_body(&joint, index, joint.name + ".cross", next.body, placement,
                                       HingeKind::revolute, joint.axis);
      body = add_body(&joint, index, joint.child, cross_piece, {}, HingeKind::revolute, joint.second_axis);
    } else {
      body = add_body(&joint, index, joint.child, next.body, placement, hinge_of(joint.kind), joint.axis);
    }
    joints[index].body = body;
    put_link(link, body, {});
    push(joints_of[link], body, {});
  }
  std::vector<int> frame_of(spec.links.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    frame_of[link_index.at(frames[i].name)] = static_cast<int>(i);
  for (const auto& f : spec.frames) {
    const auto link = link_index.find(f.link);
    const Frame on = link == link_index.end() ? Frame{"", -1, {}} : frames[frame_of[link->second]];
    frames.push_back({f.name, on.body, on.placement * f.placement});
  }
}

/// Turns the axes of bodies about their joints' axes, so that as many E as can be are turns about x (the
/// twist of Denavit and Hartenberg); angles are then counted from an offset. Origins stay where they are.
void Model::Data::choose_axes() {
  const auto turn_about_z = [](double sine, double cosine) {
    return Mat3<double>{cosine, -sine, 0, sine, cosine, 0, 0, 0, 1};
  };
  constexpr double rounding = 1e-15;  // of E's numbers, made of products of rotations
  std::vector<int> first_child(bodies.size(), -1);
  for (std::size_t k = bodies.size(); k-- > 0;)
    if (bodies[k].inboard >= 0) first_child[bodies[k].inboard] = static_cast<int>(k);
  std::vector<Mat3<double>> turned_by(bodies.size(), Mat3<double>::identity());  // old axes in the new ones
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    Hinge& h = hinges[k];
    if (bodies[k].inboard >= 0) {
      h.E = turned_by[bodies[k].inboard] * h.E;
      h.l = turned_by[bodies[k].inboard] * h.l;
    }
    if (!has_free_x(h.kind)) continue;
    // E = Rz(a) Rx(t) Rz(b): b goes to the offset. sin(t) is taken positive.
    const double sine = std::hypot(h.E.zx, h.E.zy);
    if (sine > rounding) {
      const Mat3<double> b = turn_about_z(h.E.zx / sine, h.E.zy / sine);
      h.offset = std::atan2(h.E.zx, h.E.zy);
      h.E = h.E * star(b);
      h.E.zx = 0;
      h.E.zy = sine;
    } else if (h.E.zz > 0) {
      h.offset = std::atan2(h.E.yx, h.E.xx);
      h.E = Mat3<double>::identity();
    } else {
      h.offset = std::atan2(-h.E.xy, h.E.xx);
      h.E = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    }
    if (std::abs(h.E.xy) < rounding && std::abs(h.E.xz) < rounding && h.E.xx > 0) {  // a = 0
      h.alignment = Alignment::twist;
      if (std::abs(h.E.zz) < rounding) {
        h.E = {1, 0, 0, 0, 0, -1, 0, 1, 0};
        h.alignment = Alignment::perpendicular;
      } else if (sine <= rounding && h.E.zz > 0) {
        h.alignment = Alignment::parallel;
      } else {
        h.E.xx = 1;
        h.E.xy = h.E.xz = h.E.yx = h.E.zx = 0;
      }
    }
    // Our own axes: x along the common normal of this joint's axis and the next one's.
    if (first_child[k] < 0) continue;
    const Hinge& next = hinges[first_child[k]];
    const Vec3<double> z = column_z(next.E);
    double x = -z.y, y = z.x, length = std::hypot(x, y);
    if (!has_axis(next.kind)) continue;
    if (length <= rounding) {  // parallel: from this axis to the next
      x = next.l.x, y = next.l.y, length = std::hypot(x, y);
      if (length <= rounding) continue;
    }
    const Mat3<double> c = turn_about_z(y / length, x / length);
    turned_by[k] = star(c);
    bodies[k].link_axes = star(c) * bodies[k].link_axes;
    h.offset += std::atan2(y, x);
  }
  for (Hinge& h : hinges) {
    if (h.kind != HingeKind::prismatic) continue;  // it has no angle to count from there
    h.E = h.E * turn_about_z(std::sin(h.offset), std::cos(h.offset));
    h.offset = 0;
    h.alignment = Alignment::any;
  }
}

void Model::Data::name_things() {
  for (std::size_t i = 0; i < frames.size(); ++i) frame_names.emplace(frames[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < joints.size(); ++i) joint_names.emplace(joints[i].name, static_cast<int>(i));
}

/// Coordinates in body order; a mimic joint borrows those of the joint at the end of its chain.
void Model::Data::number_coordinates() {
  std::unordered_map<std::string_view, const JointSpec*> specs;
  for (const auto& j : spec.joints) specs.emplace(j.name, &j);
  const auto mimic_of = [&](const Joint& joint) -> const Mimic* {
    const auto it = specs.find(joint.name);
    return it != specs.end() && it->second->mimic ? &*it->second->mimic : nullptr;
  };
  // Each joint is resolved once, from the end of its chain of mimics back: q = m (m' q' + o') + o.
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
  for (auto& joint : joints) {
    if (joint.mimics < 0) continue;
    joint.q_index = joints[joint.mimics].q_index;
    joint.v_index = joints[joint.mimics].v_index;
  }
  // Full coordinates, body by body. The second body of a universal joint has the joint's second coordinate.
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const Joint& joint = joints[bodies[k].joint];
    const int second = joint.kind == JointKind::universal && joint.body == static_cast<int>(k) ? 1 : 0;
    visit(hinges[k].kind, [&](auto j) {
      for (int i = 0; i < j.nq; ++i)
        full_coordinates.push_back({joint.q_index + second + i, joint.multiplier, joint.offset});
      for (int i = 0; i < j.nv; ++i)
        full_velocities.push_back({joint.v_index + second + i, joint.multiplier, 0});
    });
  }
}

template <class R>
void Model::Data::fill(TreeData<R>& out) const {
  const int slots = static_cast<int>(bodies.size()) + 1, padded = (slots + block - 1) / block * block;
  out.index.assign(slots, {});
  out.constants = AlignedArray<R>(static_cast<std::size_t>(padded) * constant::count);
  out.pitch.assign(padded, 0);
  out.offset = AlignedArray<R>(padded);
  out.twists.assign(padded / block, true);
  out.angle.assign(padded, -1);
  out.special.clear();
  out.armature.clear();
  std::vector<int> last_child(slots, -1);
  int q = 0, v = 0;
  const auto put = [&](int slot, int component, const double* from, int n) {
    R* const c = out.constants.data() + static_cast<std::size_t>(slot / block) * block * constant::count +
                 slot % block;
    for (int i = 0; i < n; ++i) c[block * (component + i)] = static_cast<R>(from[i]);
  };
  for (int slot = 1; slot < slots; ++slot) {
    const Hinge& hinge = hinges[slot - 1];
    const Body& body = bodies[slot - 1];
    BodyIndex& b = out.index[slot];
    b.inboard = body.inboard + 1;
    b.kind = hinge.kind;
    b.q = q;
    b.v = v;
    b.handover = b.inboard == 0 ? Handover::none : b.inboard == slot - 1 ? Handover::carry : Handover::first;
    if (b.handover == Handover::carry) out.index[b.inboard].has_carry = true;
    if (b.handover == Handover::first) {
      // Sweeps run from the last body: an earlier sibling finds the sum begun by the later one.
      out.index[b.inboard].has_sides = true;
      if (last_child[b.inboard] >= 0) out.index[last_child[b.inboard]].handover = Handover::add;
      last_child[b.inboard] = slot;
    }
    out.pitch[slot] = static_cast<R>(hinge.pitch);
    out.offset.data()[slot] = static_cast<R>(hinge.offset);
    b.alignment = hinge.alignment;
    if (has_axis(hinge.kind) && hinge.alignment == Alignment::any) out.twists[slot / block] = false;
    if (hinge.armature != 0) out.tree.has_armature = true;
    visit(hinge.kind, [&](auto j) {
      if (j.angle >= 0) out.angle[slot] = q + j.angle;
      if (j.quaternion || j.slides) out.special.push_back(slot);
      for (int i = 0; i < j.nv; ++i) out.armature.push_back(static_cast<R>(hinge.armature));
      q += j.nq;
      v += j.nv;
    });
    const MassProperties& mass = body.mass;
    const Vec3<double> c = body.link_axes * mass.center_of_mass, mp = c * mass.mass;
    const InertialConstants J = inertial_constants(
        mass.mass, mp, turned(body.link_axes, mass.inertia) + minus_tilde_tilde(c, mp * 0.5));
    put(slot, constant::E, &hinge.E.xx, 9);
    put(slot, constant::l, &hinge.l.x, 3);
    put(slot, constant::mp, &J.mp.x, 3);
    put(slot, constant::u, &J.u.x, 3);
    put(slot, constant::w, &J.w.x, 3);
    put(slot, constant::m, &J.m, 1);
    put(slot, constant::lambda, &J.lambda, 1);
    put(slot, constant::sigma, &J.sigma, 1);
  }
  out.tree.nq = q;
  out.tree.nv = v;
  out.first_column.assign(padded / block, scattered);
  out.alone.clear();
  for (int first = 0; first < slots; first += block) {
    int& column = out.first_column[first / block];
    bool together = true;
    for (int slot = std::max(first, 1); slot < std::min(first + block, slots); ++slot) {
      if (out.index[slot].kind != HingeKind::revolute) continue;
      const int here = out.index[slot].v - (slot - first);
      together = together && (column == scattered || column == here);
      column = here;
    }
    if (!together) column = scattered;
    for (int slot = std::max(first, 1); slot < std::min(first + block, slots); ++slot)
      if (column == scattered || out.index[slot].kind != HingeKind::revolute) out.alone.push_back(slot);
  }
  for (int slot = slots - 1; slot >= 1; --slot) {
    BodyIndex& b = out.index[slot];
    b.v_end = std::max(b.v_end, slot + 1 < slots ? out.index[slot + 1].v : v);
    out.index[b.inboard].v_end = std::max(out.index[b.inboard].v_end, b.v_end);
  }
  out.v_end.clear();
  for (int slot = 1; slot < slots; ++slot)
    out.v_end.resize(slot + 1 < slots ? out.index[slot + 1].v : v, out.index[slot].v_end);
}

void Model::Data::connect() {
  in_double.connect();
  in_float.connect();
  const Vec3<double>& g = options.gravity;
  in_double.tree.gravity = g;
  in_float.tree.gravity = {static_cast<float>(g.x), static_cast<float>(g.y), static_cast<float>(g.z)};
}

void Model::Data::build() {
  walk();
  if (options.turn_axes) choose_axes();
  name_things();
  number_coordinates();
  fill(in_double);
  fill(in_float);
  connect();
  for (const auto& body : bodies) mass += body.mass.mass;
}

Model::Model(const ModelSpec& spec, const BuildOptions& options) {
  auto data = std::make_shared<Data>();
  int errors = 0;
  std::string first;
  for (auto& finding : find_problems(spec, options.base)) {
    if (finding.severity != Finding::Severity::error)
      data->warnings.push_back(std::move(finding));
    else if (errors++ == 0)
      first = describe(finding);
  }
  if (errors > 1) first += fmt::format(" (and {} more: see `articula check`)", errors - 1);
  if (errors > 0) throw ModelError(first);
  const Vec3<double>& g = options.gravity;
  if (!std::isfinite(g.x + g.y + g.z))
    throw ArgumentError(fmt::format("gravity ({}, {}, {}) is not finite", g.x, g.y, g.z));
  data->spec = spec;
  data->options = options;
  data->build();
  data_ = std::move(data);
}

Model Model::with_gravity(const Vec3<double>& gravity) const {
  if (!std::isfinite(gravity.x + gravity.y + gravity.z))
    throw ArgumentError(fmt::format("gravity ({}, {}, {}) is not finite", gravity.x, gravity.y, gravity.z));
  auto data = std::make_shared<Data>(*data_);
  data->options.gravity = gravity;
  data->frame_names.clear();  // they point into the strings of the copied-from model
  data->joint_names.clear();
  data->name_things();
  data->connect();
  return Model(std::shared_ptr<const Data>(std::move(data)));
}

const std::string& Model::name() const { return data_->spec.name; }
int Model::nq() const { return data_->nq; }
int Model::nv() const { return data_->nv; }
int Model::body_count() const { return static_cast<int>(data_->bodies.size()); }
double Model::mass() const { return data_->mass; }
Vec3<double> Model::gravity() const { return data_->options.gravity; }
Base Model::base() const { return data_->options.base; }
const std::vector<Joint>& Model::joints() const { return data_->joints; }
const std::vector<Body>& Model::bodies() const { return data_->bodies; }
const std::vector<Frame>& Model::frames() const { return data_->frames; }
const ModelSpec& Model::spec() const { return data_->spec; }
const std::vector<Finding>& Model::warnings() const { return data_->warnings; }
int Model::frame(std::string_view name) const {
  return lookup(data_->frame_names, data_->frames, name, "frame", data_->spec.name);
}
int Model::joint(std::string_view name) const {
  return lookup(data_->joint_names, data_->joints, name, "joint", data_->spec.name);
}
bool Model::has_mimics() const { return static_cast<int>(data_->full_velocities.size()) != data_->nv; }
std::span<const Model::FullVelocity> Model::full_velocities() const { return data_->full_velocities; }
std::span<const Model::FullVelocity> Model::full_coordinates() const { return data_->full_coordinates; }
int Model::full_velocity_of(const Joint& joint) const {
  const int first_body = joint.kind == JointKind::universal ? joint.body - 1 : joint.body;
  return data_->in_double.index[first_body + 1].v;
}
template <>
const Tree<double>& Model::tree<double>() const {
  return data_->in_double.tree;
}
template <>
const Tree<float>& Model::tree<float>() const {
  return data_->in_float.tree;
}

}  // namespace articula
