// C = H phi [M phi* H*' + Mr phi* H*], with H*' the rate of the columns H* and Mr the "ring" inertia (LIN 3;
// docs/math.md 7, 10). Everything is referred to one point per tree, the origin of its first body, so that
// phi = Id:
//
//   (1) H*'(k) = V(k) x H*(k)                                       columns move with body k
//   (2) Mr     = 1/2 (M' - Q[M V]) = [[A, 0], [-F~, 0]]
//       A      = -w~ (tr(J)/2 Id - J) - h~ v~,  F = m v + w x h
//   (3) Mr + Mr* = M'                                               Q is skew, so C + C* = dM/dt
//   (4) C(j,k) = H(j) [Rr(k) H*(k) + R(k) H*'(k)]                   j inboard of k, or k itself
//   (5) C(k,j) = H*'(j) . R(k) H*(k)  +  H*(j) . Rr*(k) H*(k)       j inboard of k
//
// R(k), Rr(k): sums of M and Mr over everything outboard of joint k.
#pragma once

#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
struct CoriolisRing {
  Mat3<S> A;
  Vec3<S> F;
};

/// Full coordinates, row by row.
template <class S>
void coriolis_matrix(const Tree<Real<S>>& tree, const S* q, const S* v, const KernelMemory<S>& m,
                     const CoriolisMemory<S>& n, S* C) {
  constexpr int s = stride<S>;
  const long nv = tree.nv;
  const S O(0);
  move_bodies_and_inertias<Upto::velocities, false>(tree, q, v, m.x);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    Vec3<S> o{O, O, O};
    Spatial<S> V{o, o};
    if (b.inboard != 0) {
      o = gather<1, Vec3<S>>(n.o + 3 * b.inboard) + read<Vec3>(xk + s * body::l);
      V = gather<1, Spatial<S>>(n.V + 6 * b.inboard);
    }
    const auto axes = read<Mat3>(xk + s * body::R);
    const PhiStar<S> to_reference{-o};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{axes, tree.pitch[k]};
          for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
            const Spatial<S> h = to_reference * spatial(H.template row<i.value>());
            scatter<1>(h, n.Hs + 6 * (b.v + i.value));
            V += h * v[b.v + i.value];
          });
          for (int i = b.v; i < b.v + J::nv; ++i)
            scatter<1>(cross_motion(V, gather<1, Spatial<S>>(n.Hs + 6 * i)), n.dHs + 6 * i);
        });
    const Inertia<S> M =
        shifted(Phi<S>{o}, Inertia<S>{S(tree.constants_of(k)[block * constant::m]),
                                      read<Vec3>(xk + s * body::mp), read<Sym3>(xk + s * body::J)});
    const S half_trace = (M.J.xx + M.J.yy + M.J.zz) * Real<S>(0.5);
    const Sym3<S> half_trace_less_J =
        plus_diagonal(Sym3<S>{-M.J.xx, -M.J.yy, -M.J.zz, -M.J.xy, -M.J.xz, -M.J.yz}, half_trace);
    const CoriolisRing<S> Mr{cross(-V.w, full(half_trace_less_J)) - cross(M.mp, tilde(V.v)),
                             V.v * M.m + cross(V.w, M.mp)};
    scatter<1>(o, n.o + 3 * k);
    scatter<1>(V, n.V + 6 * k);
    scatter<1>(M, n.R + 10 * k);
    scatter<1>(Mr.A, n.Rr + 12 * k);
    scatter<1>(Mr.F, n.Rr + 12 * k + 9);
  }
  for (long i = 0; i < nv * nv; ++i) C[i] = O;
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const auto R = gather<1, Inertia<S>>(n.R + 10 * k);
    const CoriolisRing<S> Rr{gather<1, Mat3<S>>(n.Rr + 12 * k), gather<1, Vec3<S>>(n.Rr + 12 * k + 9)};
    const int end = k < tree.bodies ? tree.index[k + 1].v : tree.nv;
    for (int i = b.v; i < end; ++i) {
      const auto h = gather<1, Spatial<S>>(n.Hs + 6 * i);
      const Spatial<S> X = R * h;
      const Spatial<S> X_C =
          Spatial<S>{Rr.A * h.w, -cross(Rr.F, h.w)} + R * gather<1, Spatial<S>>(n.dHs + 6 * i);
      // The rotational part of Rr* h; the other is zero.
      const Vec3<S> Xr = star_times(Rr.A, h.w) + cross(Rr.F, h.v);
      for (int j = b.v; j < end; ++j) C[j * nv + i] = dot(gather<1, Spatial<S>>(n.Hs + 6 * j), X_C);
      for (int p = b.inboard; p != 0; p = tree.index[p].inboard) {
        const int last = tree.index[p + 1].v;  // p < k: there is a next body
        for (int j = tree.index[p].v; j < last; ++j) {
          const auto hj = gather<1, Spatial<S>>(n.Hs + 6 * j);
          C[j * nv + i] = dot(hj, X_C);
          C[i * nv + j] = dot(gather<1, Spatial<S>>(n.dHs + 6 * j), X) + dot(hj.w, Xr);
        }
      }
    }
    if (b.inboard == 0) continue;
    scatter<1>(gather<1, Inertia<S>>(n.R + 10 * b.inboard) + R, n.R + 10 * b.inboard);
    S* const ring = n.Rr + 12 * b.inboard;
    scatter<1>(gather<1, Mat3<S>>(ring) + Rr.A, ring);
    scatter<1>(gather<1, Vec3<S>>(ring + 9) + Rr.F, ring + 9);
  }
}

}  // namespace articula::ARTICULA_ISA
