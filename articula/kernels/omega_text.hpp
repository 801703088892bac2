// Omega(k) (OSC 58; LIN calls it Upsilon), the blocks behind J M^-1 J*: base to tip,
//
//   (1) Omega(k) = psi*(k+1,k) Omega(k+1) psi(k+1,k) + H* D^-1 H
//
// It is computed as a change of Y by twice as many dyads as the joint has freedoms, h_i being the rows of H
// (docs/math.md 5):
//
//   (2) Y        = phi* Omega(k+1) phi
//   (3) L        = D^-1 + G* Y G
//   (4) w_i      = Y G_i - 1/2 sum over j of L(i,j) h_j
//   (5) Omega(k) = Y - sum over i of (h_i w_i* + w_i h_i*)
//
// G = P H* D^-1 follows from K = phi G for bodies with an inboard one.
#pragma once

#include "articula/kernels/mass_factor_text.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula::ARTICULA_ISA {

/// B - u w*
template <class S>
ARTICULA_INLINE void subtract_outer(Mat3<S>& B, const Vec3<S>& u, const Vec3<S>& w) {
  B = {B.xx - u.x * w.x, B.xy - u.x * w.y, B.xz - u.x * w.z, B.yx - u.y * w.x, B.yy - u.y * w.y,
       B.yz - u.y * w.z, B.zx - u.z * w.x, B.zy - u.z * w.y, B.zz - u.z * w.z};
}

/// phi* Y phi: the counterpart of shifted(phi, P), with rotation and translation in each other's places and
/// -l.
template <class S>
ARTICULA_INLINE ArticulatedInertia<S> shifted_outward(const Phi<S>& phi, const ArticulatedInertia<S>& Y) {
  const ArticulatedInertia<S> x = shifted(Phi<S>{-phi.l}, ArticulatedInertia<S>{Y.C, star(Y.B), Y.J});
  return {x.C, star(x.B), x.J};
}

/// G(k), 6 per velocity.
template <class S>
void gains(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* P, S* G) {
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const auto R = read<Mat3>(slot(m.x, k, int(body::count)) + stride<S> * body::R);
    const auto Pk = gather<1, ArticulatedInertia<S>>(P + 21 * k);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          Spatial<S> U[J::nv];
          for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
            U[i.value] = Pk * H.template row<i.value>();
          });
          for (int c = 0; c < 6; ++c) {
            S row[J::nv];
            for (int i = 0; i < J::nv; ++i) row[i] = numbers_of(U[i])[c];
            solve_D<J>(m.inv_D + 6 * b.v, row);
            for (int i = 0; i < J::nv; ++i) G[6 * (b.v + i) + c] = row[i];
          }
        });
  }
}

/// X = M^-1 T for several right-hand sides, nv x columns, row by row: a register of columns at a time.
template <class S>
void solve_columns(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* T, int columns, S* X) {
  constexpr int wide = wide_bodies<S>;
  Wide<S>* const nu = reinterpret_cast<Wide<S>*>(m.nu);
  Wide<S>* const p = reinterpret_cast<Wide<S>*>(m.lambda);
  for (int c0 = 0; c0 < columns; c0 += wide) {
    const int n = columns - c0 < wide ? columns - c0 : wide;
    solve<false, S, Wide<S>>(
        tree, m, 1, tree.bodies, nu, p,
        [&](int i) __attribute__((always_inline)) {
          const S* row = T + long(i) * columns + c0;
          if (n == wide) return Wide<S>::load(row);
          S some[wide] = {};
          for (int c = 0; c < n; ++c) some[c] = row[c];
          return Wide<S>::load(some);
        },
        [&](int i, const Wide<S>& x) __attribute__((always_inline)) {
          S* const row = X + long(i) * columns + c0;
          if (n == wide) return x.store(row);
          S some[wide];
          x.store(some);
          for (int c = 0; c < n; ++c) row[c] = some[c];
        });
  }
}

/// (3) to (5) for a joint of kind J: from Y to Omega(k); G(k) is zero for a body on the world.
template <class J, class S>
ARTICULA_INLINE void add_joint(const HingeMap<J, S>& H, const S* inv_D, const Spatial<S> (&G)[J::nv],
                               ArticulatedInertia<S>& Y) {
  constexpr int N = J::nv;
  Spatial<S> h[N], w[N];
  for_each_index<N>([&](auto i) __attribute__((always_inline)) {
    h[i.value] = spatial(H.template row<i.value>());
    w[i.value] = Y * G[i.value];
  });
  S L[N][N];
  for (int i = 0; i < N; ++i) {
    for (int c = 0; c < N; ++c) L[i][c] = S(i == c ? 1 : 0);
    solve_D<J>(inv_D, L[i]);
    for (int c = 0; c < N; ++c) L[i][c] = L[i][c] + dot(G[c], w[i]);
  }
  for (int i = 0; i < N; ++i)
    for (int c = 0; c < N; ++c) w[i] -= h[c] * (L[i][c] * Real<S>(0.5));
  for (int i = 0; i < N; ++i) {
    Y.J = Y.J - symmetric_product(h[i].w, w[i].w);
    Y.C = Y.C - symmetric_product(h[i].v, w[i].v);
    subtract_outer(Y.B, h[i].w, w[i].v);
    subtract_outer(Y.B, w[i].w, h[i].v);
  }
}

/// All Omega(k), 21 per slot.
template <class S>
void omegas(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* Omega) {
  const S O(0);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto R = read<Mat3>(xk + stride<S> * body::R);
    const Phi<S> phi{read<Vec3>(xk + stride<S> * body::l)};
    const bool inboard = b.inboard != 0;
    ArticulatedInertia<S> Y{{O, O, O, O, O, O}, {O, O, O, O, O, O, O, O, O}, {O, O, O, O, O, O}};
    if (inboard) Y = shifted_outward(phi, gather<1, ArticulatedInertia<S>>(Omega + 21 * b.inboard));
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          Spatial<S> G[J::nv];
          for (int i = 0; i < J::nv; ++i) {
            G[i] = Spatial<S>{{O, O, O}, {O, O, O}};
            if (inboard) G[i] = Phi<S>{-phi.l} * gather<1, Spatial<S>>(m.K + 6 * (b.v + i));
          }
          add_joint<J>(HingeMap<J, S>{R, tree.pitch[k]}, m.inv_D + 6 * b.v, G, Y);
        });
    scatter<1>(Y, Omega + 21 * k);
  }
}

/// Composite inertias R(k) at O_k, 10 per slot: everything outboard of joint k moving as one.
template <class S>
void composites(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* R) {
  for (int k = 1; k < tree.slots(); ++k) {
    const S* xk = slot(m.x, k, int(body::count));
    scatter<1>(Inertia<S>{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + stride<S> * body::mp),
                          read<Sym3>(xk + stride<S> * body::J)},
               R + 10 * k);
  }
  for (int k = tree.bodies; k >= 1; --k) {
    const int p = tree.index[k].inboard;
    if (p == 0) continue;
    const Phi<S> phi{read<Vec3>(slot(m.x, k, int(body::count)) + stride<S> * body::l)};
    scatter<1>(gather<1, Inertia<S>>(R + 10 * p) + shifted(phi, gather<1, Inertia<S>>(R + 10 * k)),
               R + 10 * p);
  }
}

}  // namespace articula::ARTICULA_ISA
