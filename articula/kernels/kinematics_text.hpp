// Positions, velocities and accelerations of all bodies, and the energies and momentum that follow from them.
#pragma once

#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// The world, in m.p and m.V.
template <class S>
ARTICULA_INLINE void begin_at_world(const KernelMemory<S>& m) {
  const S O(0);
  scatter<1>(Vec3<S>{O, O, O}, m.p);
  scatter<1>(Spatial<S>{{O, O, O}, {O, O, O}}, m.V);
}

/// Along an outward sweep: origins in the world, m.p, and (w, v) of each, m.V (where moving).
template <bool moving, class S>
struct OriginsAndVelocities {
  const Tree<Real<S>>& tree;
  const S* v;
  const KernelMemory<S>& m;
  OneVector<S> p = one_vector(S(0), S(0), S(0));  // of the body before, like w and v
  OneVector<S> w = p, V_v = p;

  ARTICULA_INLINE void operator()(int k, const Columns<S>& R, const OneVector<S>& l) {
    const BodyIndex& b = tree.index[k];
    if (b.inboard != k - 1) {
      p = load_vector<S>(m.p + 3 * b.inboard);
      if constexpr (moving)
        w = load_vector<S>(m.V + 6 * b.inboard), V_v = load_vector<S>(m.V + 6 * b.inboard + 3);
    }
    p = p + l;
    scatter<1>(vec3(p), m.p + 3 * k);
    if constexpr (moving) {
      V_v = V_v + cross(w, l);
      if (b.kind == HingeKind::revolute) {
        w = w + R.z * v[b.v];
      } else {
        const Mat3<S> axes = matrix(R);
        visit(
            b.kind, [&](auto j) __attribute__((always_inline)) {
              const Spatial<S> dV = star_times(HingeMap<decltype(j), S>{axes, tree.pitch[k]}, v + b.v);
              w = w + one_vector(dV.w.x, dV.w.y, dV.w.z);
              V_v = V_v + one_vector(dV.v.x, dV.v.y, dV.v.z);
            });
      }
      scatter<1>(vec3(w), m.V + 6 * k);
      scatter<1>(vec3(V_v), m.V + 6 * k + 3);
    }
  }
};

/// After any outward sweep (v null: only origins are wanted).
template <class S>
ARTICULA_INLINE void origins_and_velocities(const Tree<Real<S>>& tree, const S* v, const KernelMemory<S>& m) {
  const auto all = [&](auto more) __attribute__((always_inline)) {
    constexpr int s = stride<S>;
    begin_at_world(m);
    for (int k = 1; k < tree.slots(); ++k) {
      const S* const xk = slot(m.x, k, int(body::count));
      const auto l = read<Vec3>(xk + s * body::l);
      more(k, columns(read<Mat3>(xk + s * body::R)), one_vector(l.x, l.y, l.z));
    }
  };
  if (v)
    all(OriginsAndVelocities<true, S>{tree, v, m});
  else
    all(OriginsAndVelocities<false, S>{tree, v, m});
}

/// Axes, origins and velocities (v null: no velocities).
template <class S>
void velocities(const Tree<Real<S>>& tree, const S* q, const S* v, const KernelMemory<S>& m) {
  constexpr const S* none = nullptr;
  begin_at_world(m);
  if (v)
    move_bodies<Upto::velocities>(tree, q, v, none, m.x, OriginsAndVelocities<true, S>{tree, v, m});
  else
    move_bodies<Upto::positions>(tree, q, v, none, m.x, OriginsAndVelocities<false, S>{tree, v, m});
}

/// And accelerations, left in the bodies' slots. v null: positions only; a null: joint accelerations zero (alpha is then
/// d/dt J v).
template <class S>
void kinematics(const Tree<Real<S>>& model_tree, const S* q, const S* v, const S* a,
                const KernelMemory<S>& m) {
  if (!v) return velocities(model_tree, q, v, m);
  Tree<Real<S>> tree = model_tree;
  tree.gravity = {0, 0, 0};
  if constexpr (wide_bodies<S> == 1) {
    move_bodies<Upto::accelerations>(tree, q, v, a, m.x);
    origins_and_velocities(tree, v, m);  // afterwards: the sweep needs all registers for itself
  } else {
    begin_at_world(m);
    move_bodies<Upto::accelerations>(tree, q, v, a, m.x, OriginsAndVelocities<true, S>{tree, v, m});
  }
}

/// All lanes of a register of bodies together.
template <class S>
ARTICULA_INLINE S over_lanes(const Wide<S>& x) {
  if constexpr (wide_bodies<S> == 1) {
    return x;
  } else {
    S sum = x[0];
#pragma GCC unroll 8
    for (int i = 1; i < wide_bodies<S>; ++i) sum = sum + x[i];
    return sum;
  }
}
template <class S>
ARTICULA_INLINE Vec3<S> over_lanes(const Vec3<Wide<S>>& a) {
  return {over_lanes<S>(a.x), over_lanes<S>(a.y), over_lanes<S>(a.z)};
}

/// After kinematics. Sums are taken about the first body's origin, so that a far-away mechanism loses
/// nothing.
template <class S>
Totals<S> totals(const Tree<Real<S>>& tree, const KernelMemory<S>& m, bool moving) {
  constexpr int s = stride<S>, wide = wide_bodies<S>;
  using W = Wide<S>;
  const S O(0);
  if (tree.bodies == 0) return {O, O, O, {O, O, O}, {{O, O, O}, {O, O, O}}};
  const auto origin = gather<1, Vec3<S>>(m.p + 3);
  // r = O_k from the first origin, link by link, and v, for a register of bodies (in the place of f, which kinematics
  // does not use)
  for (int k = 1; k < tree.slots(); ++k) {
    S* const xk = slot(m.x, k, int(body::count));
    const int inboard = tree.index[k].inboard;
    const Vec3<S> r = inboard == 0 ? gather<1, Vec3<S>>(m.p + 3 * k) - origin
                                   : read<Vec3>(slot(m.x, inboard, int(body::count)) + s * body::f) +
                                         read<Vec3>(xk + s * body::l);
    write(xk + s * body::f, r);
    if (moving) write(xk + s * (body::f + 3), gather<1, Vec3<S>>(m.V + 6 * k + 3));
  }
  const W none(Real<S>(0));
  W mass = none, kinetic = none;
  Vec3<W> center{none, none, none};
  Spatial<W> momentum{center, center};
  for (int k = wide == 1; k < tree.slots(); k += wide) {  // lanes that are no bodies have no mass
    const S* const xk = slot(m.x, k, int(body::count));
    const auto* const c = tree.constants_of(k);
    const auto axes = read_wide<Mat3>(xk + s * body::R);
    const auto r = read_wide<Vec3>(xk + s * body::f);
    const W body_mass(constants_wide<S, One>(c + block * constant::m));
    const Vec3<W> mp = axes * constants_wide<S, Vec3>(c + block * constant::mp);
    mass = mass + body_mass;
    center += r * body_mass + mp;
    if (!moving) continue;
    const Inertia<W> M{
        body_mass, mp,
        plus_diagonal(turned_moments<S>(axes, c), constants_wide<S, One>(c + block * constant::lambda))};
    const Spatial<W> V{read_wide<Vec3>(xk + s * body::w), read_wide<Vec3>(xk + s * (body::f + 3))};
    const Spatial<W> MV = M * V;
    kinetic = kinetic + dot(V, MV) * Real<S>(0.5);
    momentum += Phi<W>{r} * MV;
  }
  Totals<S> t{over_lanes<S>(kinetic),
              O,
              over_lanes<S>(mass),
              over_lanes<S>(center),
              {over_lanes<S>(momentum.w), over_lanes<S>(momentum.v)}};
  // Not finite for a model without mass: callers see to that.
  const Vec3<S> c = t.center_of_mass * reciprocal(t.mass);
  t.momentum = Phi<S>{-c} * t.momentum;
  t.center_of_mass = c + origin;
  t.potential = -dot(t.center_of_mass, tree.gravity) * t.mass;
  return t;
}

}  // namespace articula::ARTICULA_ISA
