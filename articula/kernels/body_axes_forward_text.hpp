// Forward dynamics in body axes (body_axes_text.hpp): JPL88's FD3, three sweeps (docs/math.md 4).
//
//   outward, with joint accelerations zero:
//   (1) z = phi* a,  f = M z + b
//   inward, with P(k) and p(k) at O_k of what is outboard, and the body's own M and f:
//   (2) D = H P H*
//   (3) G = P H* D^-1
//   (4) P(k+1) += phi [P - G D G*] phi*
//   (5) e = T - H p,  p(k+1) += phi [p + G e]
//   outward:
//   (6) th''(k) = D^-1 e - G* phi* lam(k+1),  lam(k) = phi* lam(k+1) + H* th''
//
// Rotor inertia of a joint adds to D alone; where there is none, P - G D G* has no z row in J and B.
#pragma once

#include "articula/kernels/body_axes_text.hpp"
#include "articula/kernels/forward_dynamics_text.hpp"

namespace articula::ARTICULA_ISA {

// --- turns of P --------------------------------------------------------------------------------------

template <class S, class R>
ARTICULA_INLINE void turn_about_x(const SinCos<R>& t, ArticulatedInertia<S>& P) {
  Sym3<S>&J = P.J, &C = P.C;
  Mat3<S>& B = P.B;
  turn_symmetric(t, J.yy, J.zz, J.yz), turn_pair(t, J.xy, J.xz);
  settle<S>(P);
  turn_block(t, B.yy, B.yz, B.zy, B.zz), turn_pair(t, B.xy, B.xz), turn_pair(t, B.yx, B.zx);
  settle<S>(P);
  turn_symmetric(t, C.yy, C.zz, C.yz), turn_pair(t, C.xy, C.xz);
  settle<S>(P);
}
template <class S, class R>
ARTICULA_INLINE void turn_about_z(const SinCos<R>& t, ArticulatedInertia<S>& P) {
  Sym3<S>&J = P.J, &C = P.C;
  Mat3<S>& B = P.B;
  turn_symmetric(t, J.xx, J.yy, J.xy), turn_pair(t, J.xz, J.yz);
  settle<S>(P);
  turn_block(t, B.xx, B.xy, B.yx, B.yy), turn_pair(t, B.xz, B.yz), turn_pair(t, B.zx, B.zy);
  settle<S>(P);
  turn_symmetric(t, C.xx, C.yy, C.xy), turn_pair(t, C.xz, C.yz);
  settle<S>(P);
}
template <class S>
ARTICULA_INLINE ArticulatedInertia<S> turned(const Mat3<S>& X, const ArticulatedInertia<S>& P) {
  return {symmetric(X * full(P.J) * star(X)), X * P.B * star(X), symmetric(X * full(P.C) * star(X))};
}
template <bool quarter, class S>
ARTICULA_INLINE Mat3<S> perhaps_turned(const Mat3<S>& a) {
  if constexpr (quarter)
    return {a.xx, -a.xz, a.xy, -a.zx, a.zz, -a.zy, a.yx, -a.yz, a.yy};
  else
    return a;
}

/// phi P phi* for l along x; other axes by other names.
template <class S, class C>
ARTICULA_INLINE void shift_along_x(const C& l, S& Jxy, S& Jxz, S& Jyy, S& Jzz, S& Jyz, const S& Bxy,
                                   const S& Bxz, S& Byx, S& Byy, S& Byz, S& Bzx, S& Bzy, S& Bzz, const S& Cxy,
                                   const S& Cxz, const S& Cyy, const S& Cyz, const S& Czz) {
  Jxy = Jxy - Bxz * l;
  Jxz = Jxz + Bxy * l;
  const S yz = Byz - Czz * l, zy = Bzy + Cyy * l, yy = Byy - Cyz * l;
  Jyy = Jyy - (Byz + yz) * l;
  Jzz = Jzz + (Bzy + zy) * l;
  Jyz = Jyz + (yy - Bzz) * l;
  Byx = Byx - Cxz * l;
  Bzx = Bzx + Cxy * l;
  Bzz = Bzz + Cyz * l;
  Byz = yz, Bzy = zy, Byy = yy;
}
template <class S, class C>
ARTICULA_INLINE void shift(const BodyIndex& b, const C* l, ArticulatedInertia<S>& P) {
  Sym3<S>&J = P.J, &C_ = P.C;
  Mat3<S>& B = P.B;
  if (b.has_l & 1) {
    shift_along_x(l[0], J.xy, J.xz, J.yy, J.zz, J.yz, B.xy, B.xz, B.yx, B.yy, B.yz, B.zx, B.zy, B.zz, C_.xy,
                  C_.xz, C_.yy, C_.yz, C_.zz);
    settle<S>(P);
  }
  if (b.has_l & 2) {
    shift_along_x(l[block], J.yz, J.xy, J.zz, J.xx, J.xz, B.yz, B.yx, B.zy, B.zz, B.zx, B.xy, B.xz, B.xx,
                  C_.yz, C_.xy, C_.zz, C_.xz, C_.xx);
    settle<S>(P);
  }
  if (b.has_l & 4) {
    shift_along_x(l[2 * block], J.xz, J.yz, J.xx, J.yy, J.xy, B.zx, B.zy, B.xz, B.xx, B.xy, B.yz, B.yx, B.yy,
                  C_.xz, C_.yz, C_.xx, C_.xy, C_.yy);
    settle<S>(P);
  }
}

// --- forward dynamics --------------------------------------------------------------------------------

/// (3) to (5) for a revolute joint, up to the shift by l. M is added to P as its numbers are read; each part of P is
/// read, changed and written once.
template <bool rotors, Alignment twist, bool beside, class S, class C>
ARTICULA_INLINE void pass_revolute(const C* c, const S* xk, const S& e, const S& inv_D, S* G,
                                   Articulated<S>& at) {
  constexpr bool quarter = twist == Alignment::perpendicular;
  const Inertia<C> M = own_inertia(c);
  const SinCos<S> t = turn_of(xk);
  const S O(0);
  ArticulatedInertia<S>& P = at.P;
  Spatial<S> U{{P.J.xz + M.J.xz, P.J.yz + M.J.yz, P.J.zz + M.J.zz},
               {P.B.zx - M.mp.y, P.B.zy + M.mp.x, P.B.zz}};
  {
    const Spatial<S> g = U * inv_D;
    G[0] = g.w.x, G[1] = g.w.y, G[3] = g.v.x, G[4] = g.v.y, G[5] = g.v.z;
    if constexpr (rotors) G[2] = g.w.z;
    const Spatial<S> p = at.p + read<Spatial>(xk + stride<S> * own::f);
    const S moved = rotors ? g.w.z * e : e;
    at.p = {
        from_joint<twist, beside>(c, turned(t, Vec3<S>{p.w.x + g.w.x * e, p.w.y + g.w.y * e, p.w.z + moved})),
        from_joint<twist, beside>(c, turned(t, p.v + g.v * e))};
  }
  settle<S>(U), settle<S>(at);
  {
    Sym3<S> J{(P.J.xx + M.J.xx) - G[0] * U.w.x,
              (P.J.yy + M.J.yy) - G[1] * U.w.y,
              O,
              (P.J.xy + M.J.xy) - G[0] * U.w.y,
              O,
              O};
    if constexpr (rotors) {
      J.xz = U.w.x - G[2] * U.w.x, J.yz = U.w.y - G[2] * U.w.y, J.zz = U.w.z - G[2] * U.w.z;
      turn_pair(t, J.xz, J.yz);
    }
    turn_symmetric(t, J.xx, J.yy, J.xy);
    P.J = perhaps_turned<quarter>(J);
  }
  settle<S>(U), settle<S>(at);
  {
    Mat3<S> B{P.B.xx - G[0] * U.v.x,
              (P.B.xy - M.mp.z) - G[0] * U.v.y,
              (P.B.xz + M.mp.y) - G[0] * U.v.z,
              (P.B.yx + M.mp.z) - G[1] * U.v.x,
              P.B.yy - G[1] * U.v.y,
              (P.B.yz - M.mp.x) - G[1] * U.v.z,
              O,
              O,
              O};
    if constexpr (rotors) {
      B.zx = U.v.x - G[2] * U.v.x, B.zy = U.v.y - G[2] * U.v.y, B.zz = U.v.z - G[2] * U.v.z;
      turn_pair(t, B.zx, B.zy);
    }
    turn_block(t, B.xx, B.xy, B.yx, B.yy);
    turn_pair(t, B.xz, B.yz);
    P.B = perhaps_turned<quarter>(B);
  }
  settle<S>(U), settle<S>(at);
  {
    Sym3<S> C_{(P.C.xx + M.m) - G[3] * U.v.x, (P.C.yy + M.m) - G[4] * U.v.y, (P.C.zz + M.m) - G[5] * U.v.z,
               P.C.xy - G[3] * U.v.y,         P.C.xz - G[3] * U.v.z,         P.C.yz - G[4] * U.v.z};
    turn_symmetric(t, C_.xx, C_.yy, C_.xy);
    turn_pair(t, C_.xz, C_.yz);
    P.C = perhaps_turned<quarter>(C_);
  }
  settle<S>(at);
  if constexpr (twist == Alignment::twist) turn_about_x(twist_of(c), P);
  if constexpr (beside) turn_about_z(turn_beside(c), P);
}

/// (2) to (5) for every other kind. Returns the smallest pivot of D.
template <class J, class S>
ARTICULA_INLINE S pass_own_joint(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* tau, int k,
                                 Articulated<S>& at) {
  constexpr int s = stride<S>, N = J::nv;
  const BodyIndex& b = tree.index[k];
  const S* const xk = slot(m.x, k, int(own::count));
  const auto H = own_hinge<J, S>(tree.pitch[k]);
  at.P += own_inertia(tree.constants_of(k));
  at.p += read<Spatial>(xk + s * own::f);
  Spatial<S> U[N], G[N];
  S e[N], D[N][N], n[N];
  for_each_index<N>([&](auto i) __attribute__((always_inline)) {
    const auto h = H.template row<i.value>();
    U[i.value] = at.P * h;
    n[i.value] = e[i.value] = tau[b.v + i.value] - dot(h, at.p);
#pragma GCC unroll 6
    for (int c = 0; c <= i.value; ++c) D[i.value][c] = dot(h, U[c]);
    D[i.value][i.value] = D[i.value][i.value] + tree.armature[b.v + i.value];
  });
  SmallFactor<S, N> factor;
  const S smallest = factor.factor(D);
  factor.solve(n);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) m.nu[b.v + i] = n[i];
  if (b.handover == Handover::none) return smallest;
  solve_columns(factor, U, G);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) {
    scatter<1>(G[i], m.K + 6 * (b.v + i));
    subtract_rank_one(at.P, G[i], U[i]);
    at.p += G[i] * e[i];
  }
  const auto X = read<Mat3>(xk + s * own::X);
  const Phi<S> phi{read<Vec3>(xk + s * own::l)};
  at.P = shifted(phi, turned(X, at.P));
  at.p = phi * Spatial<S>{X * at.p.w, X * at.p.v};
  return smallest;
}
template <class S>
__attribute__((noinline)) S pass_own_other(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* tau,
                                           int k, Articulated<S>& at) {
  S smallest;
  visit(
      tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
        smallest = pass_own_joint<decltype(j)>(tree, m, tau, k, at);
      });
  return smallest;
}

/// The inward sweep; rotors: some joint has rotor inertia. Leaves D^-1 e in nu, and G. Returns the smallest pivot of
/// all D.
template <bool rotors, class S>
__attribute__((noinline)) S articulate_own(const Tree<Real<S>>& tree, const KernelMemory<S>& m,
                                           const S* tau) {
  const S O(0);
  const Articulated<S> nothing{{{O, O, O, O, O, O}, {O, O, O, O, O, O, O, O, O}, {O, O, O, O, O, O}},
                               {{O, O, O}, {O, O, O}}};
  S smallest(Real<S>(1e30));
  Articulated<S> at;  // of what is outboard of the body
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.x, k, int(own::count));
    const auto* const c = tree.constants_of(k);
    if (!b.has_carry) at = nothing;
    if (b.has_sides) {
      at.P += gather<1, ArticulatedInertia<S>>(m.side + side_count * k);
      at.p += gather<1, Spatial<S>>(m.side + side_count * k + 21);
    }
    settle<S>(at);
    if (goes_by_turns(b)) {
      S D = at.P.J.zz + c[block * (constant::J + 2)];
      if constexpr (rotors) D = D + tree.armature[b.v];
      smallest = smaller(smallest, D);
      const S inv_D = reciprocal(D);
      const S e = tau[b.v] - (at.p.w.z + xk[stride<S> * (own::f + 2)]);
      m.nu[b.v] = e * inv_D;
      if (b.handover == Handover::none) continue;
      with_joint_axes(
          b, [&](auto E) __attribute__((always_inline)) {
            pass_revolute<rotors, E.twist, E.beside>(c, xk, e, inv_D, m.K + 6 * b.v, at);
          });
      shift(b, c + block * constant::l, at.P);
      shift_force(b, c + block * constant::l, at.p);
    } else {
      smallest = smaller(smallest, pass_own_other(tree, m, tau, k, at));
    }
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.side + side_count * b.inboard;
    if (b.handover == Handover::add) {
      at.P += gather<1, ArticulatedInertia<S>>(sum);
      at.p += gather<1, Spatial<S>>(sum + 21);
    }
    scatter<1>(at.P, sum);
    scatter<1>(at.p, sum + 21);
  }
  return smallest;
}

/// (6) for all joints but revolute ones, with phi* lam(k+1) done.
template <class S>
__attribute__((noinline)) void smooth_own_other(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k,
                                                Spatial<S>& lam, S* a) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  const S* const xk = slot(m.x, k, int(own::count));
  if (b.inboard != 0) {
    const auto X = read<Mat3>(xk + s * own::X);
    lam = star(Phi<S>{read<Vec3>(xk + s * own::l)}) * lam;
    lam = {star_times(X, lam.w), star_times(X, lam.v)};
  }
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        using J = decltype(j);
#pragma GCC unroll 6
        for (int i = b.v; i < b.v + J::nv; ++i)
          a[i] = b.inboard == 0 ? m.nu[i] : m.nu[i] - dot(gather<1, Spatial<S>>(m.K + 6 * i), lam);
        lam += star_times(own_hinge<J, S>(tree.pitch[k]), a + b.v);
      });
}
/// (6) for all bodies.
template <bool rotors, class S>
__attribute__((noinline)) void smooth_own(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* a) {
  const S O(0);
  Spatial<S> lam{{O, O, O}, {O, O, O}};
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    if (b.inboard == 0)
      lam = {{O, O, O}, {O, O, O}};
    else if (b.inboard != k - 1)
      lam = gather<1, Spatial<S>>(m.lambda + 6 * b.inboard);
    if (!goes_by_turns(b)) {
      Spatial<S> apart = lam;
      smooth_own_other(tree, m, k, apart, a);
      lam = {apart.w, apart.v};
    } else if (b.inboard == 0) {
      lam.w.z = a[b.v] = m.nu[b.v];
    } else {
      const auto* const c = tree.constants_of(k);
      const SinCos<S> t = turn_of<S>(slot(m.x, k, int(own::count)));
      const S* const G = m.K + 6 * b.v;
      shift_motion(b, c + block * constant::l, lam);
      with_joint_axes(
          b, [&](auto E) __attribute__((always_inline)) {
            lam = {turned_back(t, to_joint<E.twist, E.beside>(c, lam.w)),
                   turned_back(t, to_joint<E.twist, E.beside>(c, lam.v))};
          });
      // In pairs, so that the sum is no long chain: the next body waits for it.
      const S moved = rotors ? G[2] * lam.w.z : lam.w.z;
      a[b.v] = ((m.nu[b.v] - moved) - G[5] * lam.v.z) -
               ((G[0] * lam.w.x + G[1] * lam.w.y) + (G[3] * lam.v.x + G[4] * lam.v.y));
      lam.w.z = lam.w.z + a[b.v];
    }
    if (b.has_sides) scatter<1>(lam, m.lambda + 6 * k);
  }
}

/// (2) to (6), for f in the bodies' slots. Returns the smallest pivot of D: not positive where some joint has no inertia
/// to move.
template <class S>
ARTICULA_INLINE S articulate_and_smooth(const Tree<Real<S>>& tree, const S* tau, const KernelMemory<S>& m,
                                        S* a) {
  if (tree.has_armature) {
    const S smallest = articulate_own<true>(tree, m, tau);
    smooth_own<true>(tree, m, a);
    return smallest;
  }
  const S smallest = articulate_own<false>(tree, m, tau);
  smooth_own<false>(tree, m, a);
  return smallest;
}

/// Returns the smallest pivot of D.
template <class S>
ARTICULA_INLINE S forward_dynamics(const Tree<Real<S>>& tree, const S* q, const S* v, const S* tau,
                                   const S* wrenches, const KernelMemory<S>& m, S* a) {
  if (!in_body_axes<S>(tree)) return forward_dynamics_in_world_axes(tree, q, v, tau, wrenches, m, a);
  load_own_bodies<true>(tree, q, v, static_cast<const S*>(nullptr), wrenches, m.x);
  return articulate_and_smooth(tree, tau, m, a);
}

}  // namespace articula::ARTICULA_ISA
