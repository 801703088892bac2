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

/// And accelerations. v null: positions only; a null: joint accelerations zero (alpha is then d/dt J v).
template <class S>
void kinematics(const Tree<Real<S>>& model_tree, const S* q, const S* v, const S* a,
                const KernelMemory<S>& m) {
  if (!v) return velocities(model_tree, q, v, m);
  constexpr int s = stride<S>;
  Tree<Real<S>> tree = model_tree;
  tree.gravity = {0, 0, 0};
  move_bodies<Upto::accelerations>(tree, q, v, a, m.x);
  origins_and_velocities(tree, v, m);  // afterwards: the sweep needs all registers for itself
  const S O(0);
  scatter<1>(Spatial<S>{{O, O, O}, {O, O, O}}, m.alpha);
  for (int k = 1; k < tree.slots(); ++k) {
    const S* const xk = slot(m.x, k, int(body::count));
    scatter<1>(Spatial<S>{read<Vec3>(xk + s * body::alpha_w), read<Vec3>(xk + s * body::alpha_v)},
               m.alpha + 6 * k);
  }
}

/// After kinematics. Sums are taken about the first body's origin, so that a far-away mechanism loses
/// nothing.
template <class S>
Totals<S> totals(const Tree<Real<S>>& tree, const KernelMemory<S>& m, bool moving) {
  constexpr int s = stride<S>;
  const S O(0);
  Totals<S> t{O, O, O, {O, O, O}, {{O, O, O}, {O, O, O}}};
  if (tree.bodies == 0) return t;
  turn_inertias(tree, m.x);
  const auto origin = gather<1, Vec3<S>>(m.p + 3);
  for (int k = 1; k < tree.slots(); ++k) {
    S* const xk = slot(m.x, k, int(body::count));
    const Inertia<S> M{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + s * body::mp),
                       read<Sym3>(xk + s * body::J)};
    // r = O_k from the first origin, link by link (kept in the place of f, which kinematics does not use)
    const int inboard = tree.index[k].inboard;
    const Vec3<S> r = inboard == 0 ? gather<1, Vec3<S>>(m.p + 3 * k) - origin
                                   : read<Vec3>(slot(m.x, inboard, int(body::count)) + s * body::f) +
                                         read<Vec3>(xk + s * body::l);
    write(xk + s * body::f, r);
    t.mass = t.mass + M.m;
    t.center_of_mass += r * M.m + M.mp;
    if (!moving) continue;
    const auto V = gather<1, Spatial<S>>(m.V + 6 * k);
    const Spatial<S> MV = M * V;
    t.kinetic = t.kinetic + dot(V, MV) * Real<S>(0.5);
    t.momentum += Phi<S>{r} * MV;
  }
  // Not finite for a model without mass: callers see to that.
  const Vec3<S> c = t.center_of_mass * reciprocal(t.mass);
  t.momentum = Phi<S>{-c} * t.momentum;
  t.center_of_mass = c + origin;
  t.potential = -dot(t.center_of_mass, tree.gravity) * t.mass;
  return t;
}

}  // namespace articula::ARTICULA_ISA
