// Forward dynamics in world axes: JPL88's FD3, three sweeps (docs/math.md 4), with the Riccati recursion inside
// the inward one. docs/kernels.md goes through that sweep line by line. For algorithms that need P, K and
// accelerations in world axes, and for models that these suit better than body_axes_forward_text.hpp.
//
//   outward, with joint accelerations zero (outward_text.hpp):
//   (1) z = phi* a,  f = M z + b
//   inward:
//   (2) D = H P H*
//   (3) K(k+1,k) = phi P H* D^-1
//   (4) P(k+1) += phi P phi* - K D K*         equal to psi P psi*, but does not wait for the division
//   (5) e = T - H p,  p(k+1) += phi p + K e
//   outward:
//   (6) th''(k) = D^-1 e - K* lam(k+1),  lam(k) = phi* lam(k+1) + H* th''
//
// Rotor inertia of a joint adds to D alone.
#pragma once

#include "articula/kernels/outward_text.hpp"
#include "articula/spatial/small_factor.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
struct Articulated {
  ArticulatedInertia<S> P;
  Spatial<S> p;
};

/// What articulate() does with each P(k) unless it is told otherwise: it keeps none.
struct DropP {
  template <class S>
  ARTICULA_INLINE void operator()(int, const ArticulatedInertia<S>&) const {}
};

/// What P and p of the inboard body get beside: nothing here.
struct NothingJoins {
  template <class S>
  ARTICULA_INLINE S plus(int, const S& y) const {
    return y;
  }
  template <class S>
  ARTICULA_INLINE S minus(int, const S& y) const {
    return y;
  }
  template <class S>
  ARTICULA_INLINE S mass(const S& y) const {
    return y;
  }
};
/// Its own M and f, which its slot has: numbers of it are read where they are added.
template <class S>
struct SlotJoins {
  const S* x;
  Real<S> m;
  ARTICULA_INLINE S plus(int component, const S& y) const { return y + x[stride<S> * component]; }
  ARTICULA_INLINE S minus(int component, const S& y) const { return y - x[stride<S> * component]; }
  ARTICULA_INLINE S mass(const S& y) const { return y + m; }
};

/// P := phi P phi* - K b* + M, with b = D K, in place and row by row: few numbers are at work at a time.
/// (B+ = B + l~ C, J+ = J + l~ B* - B+ l~.)
template <class S, class Joins>
ARTICULA_INLINE void hand_over(const Phi<S>& phi, const Spatial<S>& K, const Spatial<S>& b, const Joins& M,
                               ArticulatedInertia<S>& P) {
  const Vec3<S>& l = phi.l;
  Sym3<S>&J = P.J, &C = P.C;
  Mat3<S>& B = P.B;
  {
    const S x = B.xx + l.y * C.xz - l.z * C.xy, y = B.xy + l.y * C.yz - l.z * C.yy,
            z = B.xz + l.y * C.zz - l.z * C.yz;
    J.xx = M.plus(body::J, J.xx) + l.y * (B.xz + z) - l.z * (B.xy + y) - K.w.x * b.w.x;
    J.xy = M.plus(body::J + 3, J.xy) + (l.y * B.yz - l.z * B.yy) + (l.z * x - l.x * z) - K.w.x * b.w.y;
    J.xz = M.plus(body::J + 4, J.xz) + (l.y * B.zz - l.z * B.zy) + (l.x * y - l.y * x) - K.w.x * b.w.z;
    B.xx = x - K.w.x * b.v.x;
    B.xy = M.minus(body::mp + 2, y) - K.w.x * b.v.y;
    B.xz = M.plus(body::mp + 1, z) - K.w.x * b.v.z;
  }
  settle<S>(P);
  {
    const S x = B.yx + l.z * C.xx - l.x * C.xz, y = B.yy + l.z * C.xy - l.x * C.yz,
            z = B.yz + l.z * C.xz - l.x * C.zz;
    J.yy = M.plus(body::J + 1, J.yy) + l.z * (B.yx + x) - l.x * (B.yz + z) - K.w.y * b.w.y;
    J.yz = M.plus(body::J + 5, J.yz) + (l.z * B.zx - l.x * B.zz) + (l.x * y - l.y * x) - K.w.y * b.w.z;
    B.yx = M.plus(body::mp + 2, x) - K.w.y * b.v.x;
    B.yy = y - K.w.y * b.v.y;
    B.yz = M.minus(body::mp, z) - K.w.y * b.v.z;
  }
  settle<S>(P);
  {
    const S x = B.zx + l.x * C.xy - l.y * C.xx, y = B.zy + l.x * C.yy - l.y * C.xy,
            z = B.zz + l.x * C.yz - l.y * C.xz;
    J.zz = M.plus(body::J + 2, J.zz) + l.x * (B.zy + y) - l.y * (B.zx + x) - K.w.z * b.w.z;
    B.zx = M.minus(body::mp + 1, x) - K.w.z * b.v.x;
    B.zy = M.plus(body::mp, y) - K.w.z * b.v.y;
    B.zz = z - K.w.z * b.v.z;
  }
  settle<S>(P);
  C = {M.mass(C.xx) - K.v.x * b.v.x, M.mass(C.yy) - K.v.y * b.v.y, M.mass(C.zz) - K.v.z * b.v.z,
       C.xy - K.v.x * b.v.y,         C.xz - K.v.x * b.v.z,         C.yz - K.v.y * b.v.z};
}

/// (2) to (5) for one body with a joint of kind J: from P(k) and p(k) to what its inboard body gets, with what
/// joins there (only for joints of one freedom). Returns the smallest pivot of D.
template <class J, bool with_forces, bool keep_D, class S, class Joins = NothingJoins>
ARTICULA_INLINE S pass_joint(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* tau, int k,
                             Articulated<S>& at, const Joins& joins = {}) {
  constexpr int s = stride<S>, N = J::nv;
  const BodyIndex& b = tree.index[k];
  const S* const xk = slot(m.x, k, int(body::count));
  const HingeMap<J, S> H{read<Mat3>(xk + s * body::R), tree.pitch[k]};
  const Phi<S> phi{read<Vec3>(xk + s * body::l)};
  Spatial<S> U[N];  // P H*, then phi P H*
  S e[N];
  for_each_index<N>([&](auto i) __attribute__((always_inline)) {
    const auto h = H.template row<i.value>();
    U[i.value] = at.P * h;
    if constexpr (with_forces) e[i.value] = tau[b.v + i.value] - dot(h, at.p);
  });
  if constexpr (N == 1) {
    const S D = dot(H.template row<0>(), U[0]) + tree.armature[b.v];
    const S inv_D = reciprocal(D);
    if constexpr (with_forces) m.nu[b.v] = e[0] * inv_D;
    if constexpr (keep_D) {
      m.D[6 * b.v] = D;
      m.inv_D[6 * b.v] = inv_D;
    }
    if (b.handover == Handover::none) return D;
    const Spatial<S> DK = phi * U[0];
    const Spatial<S> Kk = DK * inv_D;
    scatter<1>(Kk, m.K + 6 * b.v);
    settle<S>(at);
    if constexpr (with_forces) {
      const Spatial<S> p = phi * at.p + Kk * e[0];
      at.p = {
          {joins.plus(body::f, p.w.x), joins.plus(body::f + 1, p.w.y), joins.plus(body::f + 2, p.w.z)},
          {joins.plus(body::f + 3, p.v.x), joins.plus(body::f + 4, p.v.y), joins.plus(body::f + 5, p.v.z)}};
    }
    hand_over(phi, Kk, DK, joins, at.P);
    return D;
  } else {
    S D[N][N];
    for_each_index<N>([&](auto i) __attribute__((always_inline)) {
      const auto h = H.template row<i.value>();
#pragma GCC unroll 6
      for (int c = 0; c <= i.value; ++c) D[i.value][c] = dot(h, U[c]);
      D[i.value][i.value] = D[i.value][i.value] + tree.armature[b.v + i.value];
    });
    SmallFactor<S, N> factor;
    const S smallest = factor.factor(D);
    if constexpr (with_forces) {
      S n[N];
#pragma GCC unroll 6
      for (int i = 0; i < N; ++i) n[i] = e[i];
      factor.solve(n);
#pragma GCC unroll 6
      for (int i = 0; i < N; ++i) m.nu[b.v + i] = n[i];
    }
    if constexpr (keep_D) {
      for (int i = 0; i < N; ++i) {
        for (int c = 0; c < N; ++c) m.D[6 * (b.v + i) + c] = c <= i ? D[i][c] : D[c][i];
        for (int c = 0; c < i; ++c) m.inv_D[6 * (b.v + i) + c] = factor.L[i][c];
        m.inv_D[6 * (b.v + i) + i] = factor.inv_d[i];
      }
    }
    if (b.handover == Handover::none) return smallest;
    Spatial<S> DK[N], Kk[N];
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) DK[i] = phi * U[i];
    solve_columns(factor, DK, Kk);
    at.P = shifted(phi, at.P);
    if constexpr (with_forces) at.p = phi * at.p;
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) {
      scatter<1>(Kk[i], m.K + 6 * (b.v + i));
      subtract_rank_one(at.P, Kk[i], DK[i]);
      if constexpr (with_forces) at.p += Kk[i] * e[i];
    }
    return smallest;
  }
}
/// pass_joint for every kind but revolute. Not inlined: the registers that these kinds need would otherwise
/// be missing in the loop over revolute joints.
template <bool with_forces, bool keep_D, class S>
__attribute__((noinline)) S pass_other_joint(const Tree<Real<S>>& tree, const KernelMemory<S>& m,
                                             const S* tau, int k, Articulated<S>& at) {
  S smallest;
  visit(
      tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
        smallest = pass_joint<decltype(j), with_forces, keep_D>(tree, m, tau, k, at);
      });
  return smallest;
}

/// The inward sweep. with_forces: also (5), with tau, leaving D^-1 e in nu; keep_D: leave D and its factor
/// too; keep(k, P) is told every P(k). Returns the smallest pivot of all D.
template <bool with_forces, bool keep_D, class S, class Keep = DropP>
__attribute__((noinline)) S articulate(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* tau,
                                       const Keep& keep = {}) {
  constexpr int s = stride<S>;
  S smallest(Real<S>(1e30));
  Articulated<S> at{};  // P and p; carried in registers to body k - 1 where that is the inboard one
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto inertia = [&](int i, const S* x) __attribute__((always_inline)) {
      return Inertia<S>{S(tree.constants_of(i)[block * constant::m]), read<Vec3>(x + s * body::mp),
                        read<Sym3>(x + s * body::J)};
    };
    if (!b.has_carry) {
      at.P = articulated(inertia(k, xk));
      if constexpr (with_forces) at.p = read<Spatial>(xk + s * body::f);
    }
    if (b.has_sides) {
      at.P += gather<1, ArticulatedInertia<S>>(m.side + side_count * k);
      if constexpr (with_forces) at.p += gather<1, Spatial<S>>(m.side + side_count * k + 21);
    }
    keep(k, at.P);
    settle<S>(at);
    const S* const next = slot(m.x, k - 1, int(body::count));
    if (b.kind == HingeKind::revolute && b.handover == Handover::carry) {
      const SlotJoins<S> joins{next, tree.constants_of(k - 1)[block * constant::m]};
      smallest = smaller(smallest, pass_joint<Revolute, with_forces, keep_D>(tree, m, tau, k, at, joins));
      continue;
    } else if (b.kind == HingeKind::revolute) {
      smallest = smaller(smallest, pass_joint<Revolute, with_forces, keep_D>(tree, m, tau, k, at));
    } else {
      Articulated<S> apart{at.P, at.p};  // a copy: `at` itself must not leave the registers
      smallest = smaller(smallest, pass_other_joint<with_forces, keep_D>(tree, m, tau, k, apart));
      at.P = {apart.P.J, apart.P.B, apart.P.C};
      if constexpr (with_forces) at.p = {apart.p.w, apart.p.v};
    }
    if (b.handover == Handover::none) continue;
    if (b.handover == Handover::carry) {
      at.P += inertia(k - 1, next);
      if constexpr (with_forces) at.p += read<Spatial>(next + s * body::f);
      continue;
    }
    S* const sum = m.side + side_count * b.inboard;
    if (b.handover == Handover::add) {
      at.P += gather<1, ArticulatedInertia<S>>(sum);
      if constexpr (with_forces) at.p += gather<1, Spatial<S>>(sum + 21);
    }
    scatter<1>(at.P, sum);
    if constexpr (with_forces) scatter<1>(at.p, sum + 21);
  }
  return smallest;
}

/// (6) for one body: from lam(k+1) to its joint's accelerations and lam(k).
template <class J, class S>
ARTICULA_INLINE Spatial<S> smooth_body(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k,
                                       const Spatial<S>& lam, S* a) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  const S* const xk = slot(m.x, k, int(body::count));
  const HingeMap<J, S> H{read<Mat3>(xk + s * body::R), tree.pitch[k]};
  S* const ak = a + b.v;
  if (b.inboard == 0) {
#pragma GCC unroll 6
    for (int i = 0; i < J::nv; ++i) ak[i] = m.nu[b.v + i];
    return star_times(H, ak);
  }
#pragma GCC unroll 6
  for (int i = 0; i < J::nv; ++i)
    ak[i] = m.nu[b.v + i] - dot(gather<1, Spatial<S>>(m.K + 6 * (b.v + i)), lam);
  return star(Phi<S>{read<Vec3>(xk + s * body::l)}) * lam + star_times(H, ak);
}
template <class S>
__attribute__((noinline)) void smooth_other_body(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k,
                                                 Spatial<S>& lam, S* a) {
  visit(
      tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
        lam = smooth_body<decltype(j)>(tree, m, k, lam, a);
      });
}
struct NoNext {
  ARTICULA_INLINE void operator()(int) const {}
};
/// (6) for all bodies. next(k) is called before each.
template <class S, class Next = NoNext>
ARTICULA_INLINE void smooth(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* a,
                            const Next& next = {}) {
  const S O(0);
  Spatial<S> lam{{O, O, O}, {O, O, O}};
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    next(k);
    if (b.inboard != k - 1) lam = gather<1, Spatial<S>>(m.lambda + 6 * b.inboard);
    if (b.kind == HingeKind::revolute) {
      lam = smooth_body<Revolute>(tree, m, k, lam, a);
    } else {
      Spatial<S> at{lam.w, lam.v};
      smooth_other_body(tree, m, k, at, a);
      lam = {at.w, at.v};
    }
    if (b.has_sides) scatter<1>(lam, m.lambda + 6 * k);
  }
}

/// For long chains (more than few_bodies), as `keep` of the inward sweep: fetches what the sweep reads
/// bodies_ahead bodies later.
template <class S>
struct FetchInward {
  const KernelMemory<S>& m;
  template <class P>
  ARTICULA_INLINE void operator()(int k, const P&) const {
    if (k <= bodies_ahead) return;
    fetch_slot(m.x, k - bodies_ahead, body::count);
    __builtin_prefetch(m.K + 6L * (k - bodies_ahead), 0, 3);
  }
};
/// The same for the outward sweep, which reads only z of R, and l: six components of a block, so that each of
/// the block's first six bodies fetches one cache line of a later block.
template <class S>
struct FetchOutward {
  const KernelMemory<S>& m;
  int slots;
  ARTICULA_INLINE void operator()(int k) const {
    const int next = k + bodies_ahead;
    if (next >= slots) return;
    constexpr int lines[block] = {body::R + 2, body::R + 5, body::R + 8, body::l, body::l + 1, body::l + 2};
    if (k % block < 6)
      __builtin_prefetch(slot(m.x, next / block * block, int(body::count)) + block * lines[k % block], 0, 3);
    __builtin_prefetch(m.K + 6L * next, 0, 3);
  }
};

/// The inward sweep and the outward one after it, for f in the bodies' slots. Returns the smallest pivot of D: not
/// positive where some joint has no inertia to move.
template <class S>
ARTICULA_INLINE S articulate_and_smooth_in_world_axes(const Tree<Real<S>>& tree, const S* tau,
                                                      const KernelMemory<S>& m, S* a) {
  if constexpr (wide_bodies < S >> 1) {
    if (tree.bodies > few_bodies) {
      const S smallest = articulate<true, false>(tree, m, tau, FetchInward<S>{m});
      smooth(tree, m, a, FetchOutward<S>{m, tree.slots()});
      return smallest;
    }
  }
  const S smallest = articulate<true, false>(tree, m, tau);
  smooth(tree, m, a);
  return smallest;
}

/// Returns the smallest pivot of D.
template <class S>
ARTICULA_INLINE S forward_dynamics_in_world_axes(const Tree<Real<S>>& tree, const S* q, const S* v,
                                                 const S* tau, const S* wrenches, const KernelMemory<S>& m,
                                                 S* a) {
  move_and_load_bodies<true, false>(tree, q, v, static_cast<const S*>(nullptr), m.x);
  subtract_wrenches(tree, wrenches, m.x);
  return articulate_and_smooth_in_world_axes(tree, tau, m, a);
}

}  // namespace articula::ARTICULA_ISA
