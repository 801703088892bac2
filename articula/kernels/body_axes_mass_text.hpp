// The mass matrix in body axes (body_axes_text.hpp), by composite inertias: M(j,k) = H(j) phi(j,k) R(k) H*(k), R(k) the
// inertia of everything outboard of joint k (docs/math.md 2). R(k) H*(k) of a revolute joint is a column of R(k); it is
// carried from joint to joint towards the base, and each takes its numbers from it.
//
// That walk is longer than what world axes need for an entry (mass_matrix_text.hpp), but a body costs a third: for
// trees whose joints have few others inboard.
#pragma once

#include "articula/kernels/body_axes_text.hpp"
#include "articula/kernels/mass_matrix_text.hpp"

namespace articula::ARTICULA_ISA {

/// phi E Rz f: from body k to its inboard body, at whose origin and in whose axes f then is.
template <class S>
ARTICULA_INLINE void carry_force(const Tree<Real<S>>& tree, int k, const S* xk, Spatial<S>& f) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  const auto* const c = tree.constants_of(k);
  if (goes_by_turns(b)) {
    const SinCos<S> t = turn_of(xk);
    with_joint_axes(
        b, [&](auto E) __attribute__((always_inline)) {
          f = {from_joint<E.twist, E.beside>(c, turned(t, f.w)),
               from_joint<E.twist, E.beside>(c, turned(t, f.v))};
        });
    shift_force(b, c + block * constant::l, f);
  } else {
    const auto X = read<Mat3>(xk + s * own::X);
    f = Phi<S>{read<Vec3>(xk + s * own::l)} * Spatial<S>{X * f.w, X * f.v};
  }
}

/// phi M phi* for l along x; other axes by other names.
template <class S, class C>
ARTICULA_INLINE void shift_inertia_along_x(const C& l, const S& m, S& x, const S& y, const S& z, S& yy, S& zz,
                                           S& xy, S& xz) {
  const S ml = m * l, more = (x + x + ml) * l;
  yy = yy + more;
  zz = zz + more;
  xy = xy - y * l;
  xz = xz - z * l;
  x = x + ml;
}
/// The composite inertia of a revolute joint's body, to its inboard body.
template <class S>
ARTICULA_INLINE void carry_inertia(const BodyIndex& b, const Real<S>* c, const SinCos<S>& t, Inertia<S>& R) {
  Sym3<S>& J = R.J;
  turn_symmetric(t, J.xx, J.yy, J.xy), turn_pair(t, J.xz, J.yz), turn_pair(t, R.mp.x, R.mp.y);
  if (b.twist == Alignment::perpendicular) {
    J = perhaps_turned<true>(J);
    R.mp = {R.mp.x, -R.mp.z, R.mp.y};
  } else if (b.twist == Alignment::twist) {
    const auto twist = twist_of(c);
    turn_symmetric(twist, J.yy, J.zz, J.yz), turn_pair(twist, J.xy, J.xz), turn_pair(twist, R.mp.y, R.mp.z);
  }
  if (b.alignment == Alignment::any) {
    const auto beside = turn_beside(c);
    turn_symmetric(beside, J.xx, J.yy, J.xy), turn_pair(beside, J.xz, J.yz),
        turn_pair(beside, R.mp.x, R.mp.y);
  }
  const Real<S>* const l = c + block * constant::l;
  Vec3<S>& p = R.mp;
  if (b.has_l & 1) shift_inertia_along_x(l[0], R.m, p.x, p.y, p.z, J.yy, J.zz, J.xy, J.xz);
  if (b.has_l & 2) shift_inertia_along_x(l[block], R.m, p.y, p.z, p.x, J.zz, J.xx, J.yz, J.xy);
  if (b.has_l & 4) shift_inertia_along_x(l[2 * block], R.m, p.z, p.x, p.y, J.xx, J.yy, J.xz, J.yz);
}

/// M(j,k) of all joints j inboard of body k's velocity `column`, for f = R(k) H*(k).
template <class S>
ARTICULA_INLINE void put_own_column(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k, int column,
                                    Spatial<S> f, S* M) {
  const long nv = tree.nv;
  for (int j = k; tree.index[j].inboard != 0;) {
    carry_force(tree, j, slot(static_cast<const S*>(m.x), j, int(own::count)), f);
    j = tree.index[j].inboard;
    const BodyIndex& b = tree.index[j];
    if (goes_by_turns(b)) {
      M[b.v * nv + column] = f.w.z;
      continue;
    }
    visit(
        b.kind, [&](auto kind) __attribute__((always_inline)) {
          using J = decltype(kind);
          S x[J::nv];
          times(own_hinge<J, S>(tree.pitch[j]), f, x);
#pragma GCC unroll 6
          for (int i = 0; i < J::nv; ++i) M[(b.v + i) * nv + column] = x[i];
        });
  }
}
/// The columns of all freedoms of a joint that is not revolute, its own block included, and R for its inboard body.
template <class S>
__attribute__((noinline)) void put_other_columns(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k,
                                                 Inertia<S>& R, S* M) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  const long nv = tree.nv;
  visit(
      b.kind, [&](auto kind) __attribute__((always_inline)) {
        using J = decltype(kind);
        const auto H = own_hinge<J, S>(tree.pitch[k]);
        for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
          const S O(0), one(1);
          Spatial<S> h{{O, O, O}, {O, O, O}};
          add(h, H.template row<i.value>(), one);
          const Spatial<S> f = R * h;
          S x[J::nv];
          times(H, f, x);
#pragma GCC unroll 6
          for (int c = 0; c <= i.value; ++c) M[(b.v + c) * nv + b.v + i.value] = x[c];
          put_own_column(tree, m, k, b.v + i.value, f, M);
        });
      });
  if (b.handover == Handover::none) return;
  const S* const xk = slot(m.x, k, int(own::count));
  const auto X = read<Mat3>(xk + s * own::X);
  R = shifted(Phi<S>{read<Vec3>(xk + s * own::l)},
              Inertia<S>{R.m, X * R.mp, symmetric(X * full(R.J) * star(X))});
}

/// Turns of all joints, without motion.
template <class S>
ARTICULA_INLINE void place_own_joints(const Tree<Real<S>>& tree, const S* q, S* x) {
  constexpr int s = stride<S>;
  turn_own_joints(tree, q, x);
  for (int k = 1; k < tree.slots(); ++k) {
    if (goes_by_turns(tree.index[k])) continue;
    S* const xk = slot(x, k, int(own::count));
    Mat3<S> X;
    Vec3<S> l;
    place_own_other(tree, k, q, xk, X, l);
    write(xk + s * own::X, X);
    write(xk + s * own::l, l);
  }
}

/// The upper triangle, row by row, zeros included.
template <class S>
__attribute__((noinline)) void own_mass_matrix(const Tree<Real<S>>& tree, const S* q,
                                               const KernelMemory<S>& m, S* M) {
  const long nv = tree.nv;
  place_own_joints(tree, q, m.x);
  for (long i = 0; i < nv; ++i)
    for (long j = tree.v_end[i]; j < nv; ++j) M[i * nv + j] = S(0);
  Inertia<S> R{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const auto* const c = tree.constants_of(k);
    const auto its_own = own_inertia(c);
    if (b.has_carry)
      R += its_own;
    else
      R = {S(its_own.m),
           {S(its_own.mp.x), S(its_own.mp.y), S(its_own.mp.z)},
           {S(its_own.J.xx), S(its_own.J.yy), S(its_own.J.zz), S(its_own.J.xy), S(its_own.J.xz),
            S(its_own.J.yz)}};
    if (b.has_sides) R += gather<1, Inertia<S>>(m.side + 10 * k);
    if (goes_by_turns(b)) {
      M[b.v * nv + b.v] = R.J.zz;
      if (b.handover == Handover::none) continue;
      put_own_column(tree, m, k, b.v, Spatial<S>{{R.J.xz, R.J.yz, R.J.zz}, {-R.mp.y, R.mp.x, S(0)}}, M);
      carry_inertia<S>(b, c, turn_of<S>(slot(m.x, k, int(own::count))), R);
    } else {
      Inertia<S> apart = R;  // a copy: R itself must not leave the registers
      put_other_columns(tree, m, k, apart, M);
      R = {apart.m, apart.mp, apart.J};
    }
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    if (b.handover == Handover::add) R += gather<1, Inertia<S>>(m.side + 10 * b.inboard);
    scatter<1>(R, m.side + 10 * b.inboard);
  }
  for (long i = 0; i < nv; ++i) M[i * nv + i] = M[i * nv + i] + tree.armature[i];
}

/// Joints inboard of a joint, on average, up to which body axes are faster (chains and robots, on one state and on packs
/// of them).
template <class S>
ARTICULA_INLINE bool short_walks(const Tree<Real<S>>& tree) {
#ifdef ARTICULA_SPECIALISED
  if (tree.bodies <= 8)
    return false;  // loops over bodies are unrolled and all in registers; walks would not be
#endif
  return wide_bodies<S> == 1 ? tree.steps_inboard <= 7 * long(tree.bodies)
                             : tree.suits_body_axes && 2 * tree.steps_inboard <= 7 * long(tree.bodies);
}

/// Full symmetric, row-major, full coordinates.
template <class S>
ARTICULA_INLINE void mass_matrix(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m, S* M) {
  if (short_walks<S>(tree))
    own_mass_matrix(tree, q, m, M);
  else
    mass_matrix_in_world_axes(tree, q, m, M);
  mirror(tree.nv, M);
}

}  // namespace articula::ARTICULA_ISA
