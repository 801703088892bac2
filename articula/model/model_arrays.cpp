// The arrays that the kernels read of a model (tree.hpp).
#include <algorithm>
#include <limits>

#include "articula/model/inertial_parameters.hpp"
#include "articula/model/model_data.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

/// Where nothing resists, D is held below zero by this many roundings of what it is made of, so that whoever
/// divides by it sees it: rounding alone could make it positive. Where D is zero exactly it is held there by
/// next to nothing: 0/0 would spread NaN to the bodies inboard, whose comparisons forget it.
constexpr double roundings = 100, next_to_nothing = 1e-30;

template <class R>
void put_constants(TreeData<R>& out, int slot, const Hinge& hinge, const Body& body) {
  const auto put = [&](int component, const auto& from) {
    R* const c = out.constants.data() + static_cast<std::size_t>(slot / block) * block * constant::count +
                 slot % block;
    int i = component;
    for (const double x : from) c[block * i++] = static_cast<R>(x);
  };
  const auto list = [](const Vec3<double>& a) { return std::array{a.x, a.y, a.z}; };
  const MassProperties& mass = body.mass;
  const Vec3<double> c = body.link_axes * mass.center_of_mass, mp = c * mass.mass;
  const InertialConstants J = inertial_constants(
      mass.mass, mp, turned(body.link_axes, mass.inertia) + minus_tilde_tilde(c, mp * 0.5));
  const Mat3<double>& E = hinge.E;
  put(constant::E, std::array{E.xx, E.xy, E.xz, E.yx, E.yy, E.yz, E.zx, E.zy, E.zz});
  put(constant::l, list(hinge.l));
  put(constant::mp, list(J.mp));
  put(constant::u, list(J.u));
  put(constant::w, list(J.w));
  put(constant::m, std::array{J.m});
  put(constant::lambda, std::array{J.lambda});
  put(constant::sigma, std::array{J.sigma});
  put(constant::J, std::array{J.J.xx, J.J.yy, J.J.zz, J.J.xy, J.J.xz, J.J.yz});
}

/// Armatures of a hinge's freedoms; less than nothing where nothing resists, see `roundings`.
template <class R>
void put_armatures(TreeData<R>& out, const Hinge& hinge, int freedoms) {
  constexpr double rounding = std::numeric_limits<R>::epsilon() / 2;
  for (int i = 0; i < freedoms; ++i) {
    double armature = hinge.armature[i];
    if (hinge.rounding[i] >= 0)
      armature -= std::max(roundings * rounding * hinge.rounding[i], next_to_nothing);
    out.armature.push_back(static_cast<R>(armature));
    if (armature != 0) out.tree.has_armature = true;
  }
}

/// Handovers of one body (see Handover); last_child: by slot, the last child so far that cannot be carried.
template <class R>
void put_handover(TreeData<R>& out, int slot, std::vector<int>& last_child) {
  BodyIndex& b = out.index[slot];
  b.handover = b.inboard == 0 ? Handover::none : b.inboard == slot - 1 ? Handover::carry : Handover::first;
  if (b.handover == Handover::carry) out.index[b.inboard].has_carry = true;
  if (b.handover == Handover::first) {
    // Sweeps run from the last body: an earlier sibling finds the sum begun by the later one.
    out.index[b.inboard].has_sides = true;
    if (last_child[b.inboard] >= 0) out.index[last_child[b.inboard]].handover = Handover::add;
    last_child[b.inboard] = slot;
  }
}

/// Tree::first_column and Tree::alone.
template <class R>
void put_columns(TreeData<R>& out, int slots) {
  out.first_column.assign((slots + block - 1) / block, scattered);
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
}

/// BodyIndex::v_end and Tree::v_end.
template <class R>
void put_subtree_ends(TreeData<R>& out, int slots, int nv) {
  for (int slot = slots - 1; slot >= 1; --slot) {
    BodyIndex& b = out.index[slot];
    b.v_end = std::max(b.v_end, slot + 1 < slots ? out.index[slot + 1].v : nv);
    out.index[b.inboard].v_end = std::max(out.index[b.inboard].v_end, b.v_end);
  }
  out.v_end.clear();
  for (int slot = 1; slot < slots; ++slot)
    out.v_end.resize(slot + 1 < slots ? out.index[slot + 1].v : nv, out.index[slot].v_end);
}

/// Tree::link_axes, by slot; the world's are its own.
template <class R>
void put_link_axes(TreeData<R>& out, const std::vector<Body>& bodies) {
  out.link_axes.clear();
  const auto put = [&](const Mat3<double>& A) {
    for (const double x : {A.xx, A.xy, A.xz, A.yx, A.yy, A.yz, A.zx, A.zy, A.zz})
      out.link_axes.push_back(static_cast<R>(x));
  };
  put(Mat3<double>::identity());
  for (const Body& body : bodies) put(body.link_axes);
}

/// Tree::suits_body_axes and steps_inboard. What a revolute joint's P costs to turn and to shift, in the time of one
/// component of l: a turn that is not a quarter takes five; world axes take six more than body axes without these, and
/// two more where there is one state, for whose outward sweeps they have 3-vectors in registers.
template <class R>
void choose_sweeps(TreeData<R>& out, int slots) {
  std::vector<long> steps(slots, 0);
  long cost = 0, most = 0;
  for (int slot = 1; slot < slots; ++slot) {
    const BodyIndex& b = out.index[slot];
    if (b.inboard == 0) continue;
    out.tree.steps_inboard += steps[slot] = steps[b.inboard] + 1;
    most += 6;
    if (b.kind != HingeKind::revolute || b.twist == Alignment::any) {
      cost += 12;
      continue;
    }
    cost += (b.has_l & 1) + (b.has_l >> 1 & 1) + (b.has_l >> 2 & 1);
    if (b.twist == Alignment::twist) cost += 5;
    if (b.alignment == Alignment::any) cost += 5;
  }
  // Where a body has no mass, joints may have nothing to move in some positions; world axes leave D exactly zero there
  // more often, which is how that is seen.
  bool massive = true;
  for (int slot = 1; slot < slots; ++slot)
    massive =
        massive &&
        out.constants.data()[slot / block * block * constant::count + slot % block + block * constant::m] > 0;
  out.tree.suits_body_axes = massive && cost <= most;
  out.tree.turns_little = massive && 3 * cost <= most;
}

}  // namespace

template <class R>
void Model::Data::fill(TreeData<R>& out) const {
  const int slots = static_cast<int>(bodies.size()) + 1, padded = (slots + block - 1) / block * block;
  out.index.assign(slots, {});
  out.constants = AlignedArray<R>(static_cast<std::size_t>(padded) * constant::count);
  out.pitch.assign(padded, 0);
  out.offset = AlignedArray<R>(padded);
  out.angle.assign(padded, -1);
  out.armature.clear();
  std::vector<int> last_child(slots, -1);
  int q = 0, v = 0;
  for (int slot = 1; slot < slots; ++slot) {
    const Hinge& hinge = hinges[slot - 1];
    BodyIndex& b = out.index[slot];
    b.inboard = bodies[slot - 1].inboard + 1;
    b.kind = hinge.kind;
    b.q = q;
    b.v = v;
    b.alignment = hinge.alignment;
    b.twist = hinge.twist;
    b.has_l = static_cast<unsigned char>((hinge.l.x != 0 ? 1 : 0) | (hinge.l.y != 0 ? 2 : 0) |
                                         (hinge.l.z != 0 ? 4 : 0));
    put_handover(out, slot, last_child);
    out.pitch[slot] = static_cast<R>(hinge.pitch);
    out.offset.data()[slot] = static_cast<R>(hinge.offset);
    visit(hinge.kind, [&](auto j) {
      if (j.angle >= 0) out.angle[slot] = q + j.angle;
      put_armatures(out, hinge, j.nv);
      q += j.nq;
      v += j.nv;
    });
    put_constants(out, slot, hinge, bodies[slot - 1]);
  }
  out.tree.nq = q;
  out.tree.nv = v;
  out.tree.own_nv = nv;
  out.source.clear(), out.multiplier.clear();
  for (const FullVelocity& f : full_velocities)
    if (static_cast<int>(full_velocities.size()) != nv) {
      out.source.push_back(f.source);
      out.multiplier.push_back(static_cast<R>(f.multiplier));
    }
  put_link_axes(out, bodies);
  put_columns(out, slots);
  put_subtree_ends(out, slots, v);
  out.tree.steps_inboard = 0;
  choose_sweeps(out, slots);
}

template void Model::Data::fill(TreeData<double>& out) const;
template void Model::Data::fill(TreeData<float>& out) const;

}  // namespace articula
