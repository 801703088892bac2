// Positions, velocities and accelerations of all bodies, and the energies and momentum that follow from them.
#pragma once

#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// After the outward sweep: origins in the world and (w, v) of each, m.p and m.V (zero where v is null), and
/// alpha where it is wanted.
template <bool accelerations, class S>
ARTICULA_INLINE void positions_and_velocities(const Tree<Real<S>>& tree, const S* v,
                                              const KernelMemory<S>& m) {
  constexpr int s = stride<S>;
  const S O(0);
  const Spatial<S> zero{{O, O, O}, {O, O, O}};
  scatter<1>(zero.w, m.p);
  scatter<1>(zero, m.V);
  if constexpr (accelerations) scatter<1>(zero, m.alpha);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto l = read<Vec3>(xk + s * body::l);
    scatter<1>(gather<1, Vec3<S>>(m.p + 3 * b.inboard) + l, m.p + 3 * k);
    if (!v) continue;
    Spatial<S> V = star(Phi<S>{l}) * gather<1, Spatial<S>>(m.V + 6 * b.inboard);
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          V += star_times(HingeMap<decltype(j), S>{R, tree.pitch[k]}, v + b.v);
        });
    scatter<1>(V, m.V + 6 * k);
    if constexpr (accelerations)
      scatter<1>(Spatial<S>{read<Vec3>(xk + s * body::alpha_w), read<Vec3>(xk + s * body::alpha_v)},
                 m.alpha + 6 * k);
  }
}

/// v null: positions only; a null: joint accelerations zero (alpha is then d/dt J v).
template <class S>
void kinematics(const Tree<Real<S>>& model_tree, const S* q, const S* v, const S* a,
                const KernelMemory<S>& m) {
  Tree<Real<S>> tree = model_tree;
  tree.gravity = {0, 0, 0};
  if (v)
    move_bodies<Upto::accelerations>(tree, q, v, a, m.x);
  else
    move_bodies<Upto::positions>(tree, q, v, a, m.x);
  positions_and_velocities<true>(tree, v, m);
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
