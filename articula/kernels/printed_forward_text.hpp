// LIN Algorithms 4 and 6 as the paper prints them, beside the forms that are used (linearized_forward_text.hpp): 4 with
// a numerical inverse of the mass matrix, 6 with L, U, J, E_A, E_B and Q. For study and for the comparison of routes.
//
// All at one inertial point, where phi = Id, so that the text reads like (4.16) and (4.26). Beyond the paper: several
// freedoms (Sd, Pd and Pdd for 2 H*', H*' and H*'', docs/math.md 7), rotor inertia, external forces, and trees. There
// (4.20) has blocks psi*(c,i) Y(c) psi(c,j) between branches, c the closest common ancestor of i and j: row k of
// U psi goes on along them as X(c) = -W(c) Y(c), W(c) being row k of K* psi*.
#pragma once

#include "articula/kernels/cholesky_text.hpp"
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/spatial/small_factor.hpp"

namespace articula {

/// One per velocity. The ring quantities (LIN's, with a ring) have an angular part only.
template <class S>
struct PrintedColumn {
  Spatial<S> H, G, U, YA, YB, EA, EB;
  Vec3<S> Gr, Q, Gw, Qw;  // w: of external forces held in world axes
  Vec3<S> two_Pd;
  S inv_D[6], L[6], own[6];  // rows of the joint's block
};
/// One per body.
template <class S, class Half>
struct PrintedBody {
  ArticulatedInertia<S> P, Y;
  Half Pr, Pw, J, Jw;
  Spatial<S> f, X;
  int path = -1;  // the last row whose joint it carries
};

}  // namespace articula

namespace articula::ARTICULA_ISA {

template <class S>
struct PrintedMemory {
  PrintedColumn<S>* columns;
  PrintedBody<S, HalfMatrix<S>>* bodies;  // by slot
};

/// Step 2, tip to base: f, P, D, G, Pr, Gr (4.12), (4.16) and Y_A, Y_B (4.14).
template <class S>
void printed_inward(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                    const LinearizationMemory<S>& m, const PrintedMemory<S>& p) {
  constexpr int s = stride<S>;
  const bool turning = external.turning();
  for (int k = 1; k < tree.slots(); ++k) {
    const S* const yk = y_of(m, k);
    auto& at = p.bodies[k];
    at.P = articulated(Inertia<S>{S(tree.constants_of(k)[block * constant::m]),
                                  read<Vec3>(yk + s * motion::h), read<Sym3>(yk + s * motion::J)});
    at.Pr = half_matrix(Ring<S>{read<Mat3>(yk + s * motion::N), read<Vec3>(yk + s * motion::F)});
    at.f = read<Spatial>(yk + s * motion::f);
    if (turning) at.Pw = half_matrix(held_in_world(external, k, read<Vec3>(yk + s * motion::o)));
  }
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    auto& at = p.bodies[k];
    visit(b.kind, [&](auto j) {
      constexpr int N = decltype(j)::nv;
      PrintedColumn<S>* const c = p.columns + b.v;
      Spatial<S> U[N], G[N];
      S D[N][N], e[N];
      for (int i = 0; i < N; ++i) {
        const S* const from = column_of(m, b.v + i);
        const auto Sd = read<Spatial>(from + s * column::Sd), Pdd = read<Spatial>(from + s * column::Pdd);
        c[i].H = read<Spatial>(from + s * column::Hs);
        c[i].two_Pd = twice(read<Vec3>(from + s * column::Pd));
        c[i].EA = Sd, c[i].EB = Pdd;  // what the others are added to, outward
        c[i].YA = at.P * Sd + at.Pr * twice(c[i].H.w);
        c[i].YB = at.P * Pdd + at.Pr * c[i].two_Pd;
        if (turning) c[i].YB += at.Pw * c[i].H.w;
        const Spatial<S> Hf = cross_force(c[i].H, at.f);
        if (b.inboard != 0) c[i].YB += Hf;  // only what is inboard feels how f turns
        U[i] = at.P * c[i].H;
        for (int r = 0; r <= i; ++r) D[i][r] = dot(c[i].H, U[r]);
        D[i][i] = D[i][i] + tree.armature[b.v + i];
      }
      for (int i = 0; N > 1 && i < N; ++i)
        for (int r = 0; r < N; ++r) c[r].own[i] = dot(c[r].H, cross_force(c[i].H, at.f));
      SmallFactor<S, N> factor;
      factor.factor(D);
      solve_columns(factor, U, G);
      for (int i = 0; i < N; ++i) {
        for (int r = 0; r < N; ++r) e[r] = S(r == i);
        factor.solve(e);
        for (int r = 0; r < N; ++r) c[i].inv_D[r] = e[r];
        c[i].G = G[i];
      }
      const auto pass = [&](HalfMatrix<S>& ring, Vec3<S> PrintedColumn<S>::*gain) {
        Vec3<S> u[N];
        for (int i = 0; i < N; ++i) u[i] = row_times(c[i].H, ring);
        for (int i = 0; i < N; ++i) {
          c[i].*gain = u[0] * c[i].inv_D[0];
          for (int r = 1; r < N; ++r) c[i].*gain += u[r] * c[i].inv_D[r];
          if (b.inboard != 0) subtract_outer(ring, G[i], u[i]);
        }
      };
      pass(at.Pr, &PrintedColumn<S>::Gr);
      if (turning) pass(at.Pw, &PrintedColumn<S>::Gw);
      if (b.inboard == 0) return;
      auto& in = p.bodies[b.inboard];
      for (int i = 0; i < N; ++i) subtract_rank_one(at.P, G[i], U[i]);
      in.P += at.P, in.f += at.f, in.Pr = in.Pr + at.Pr;
      if (turning) in.Pw = in.Pw + at.Pw;
    });
  }
}

/// Step 3's first lines at body k (4.19), (4.22): Y, L, U, J, E_A, E_B, Q.
template <class S>
void printed_operators(const Tree<Real<S>>& tree, bool turning, int k, int N, const PrintedMemory<S>& p) {
  const BodyIndex& b = tree.index[k];
  auto& at = p.bodies[k];
  PrintedColumn<S>* const c = p.columns + b.v;
  Spatial<S> Z[max_freedoms];
  if (b.inboard == 0) {
    at.Y = {}, at.J = {}, at.Jw = {};
  } else {
    const auto& in = p.bodies[b.inboard];
    at.Y = in.Y, at.J = in.J, at.Jw = in.Jw;
  }
  const bool on_world = b.inboard == 0;
  for (int i = 0; i < N; ++i) {
    for (int r = 0; r < N; ++r) c[i].L[r] = c[i].inv_D[r];
    if (on_world) continue;
    Z[i] = at.Y * c[i].G;
    for (int r = 0; r < N; ++r) c[i].L[r] = c[i].L[r] + dot(c[r].G, Z[i]);
  }
  for (int i = 0; i < N; ++i) {
    c[i].U = c[0].H * c[i].L[0];
    for (int r = 1; r < N; ++r) c[i].U += c[r].H * c[i].L[r];
    if (!on_world) c[i].U -= Z[i];
  }
  const auto turned = [&](HalfMatrix<S>& J, Vec3<S> PrintedColumn<S>::*gain, Vec3<S> PrintedColumn<S>::*Q) {
    for (int i = 0; i < N; ++i)  // Q / 2 = Gr - C, C = G* J(k+1)
      c[i].*Q = on_world ? c[i].*gain : c[i].*gain - row_times(c[i].G, J);
    for (int i = 0; i < N; ++i) subtract_outer(J, c[i].H, -(c[i].*Q));
  };
  turned(at.J, &PrintedColumn<S>::Gr, &PrintedColumn<S>::Q);
  if (turning) turned(at.Jw, &PrintedColumn<S>::Gw, &PrintedColumn<S>::Qw);
  for (int i = 0; i < N;
       ++i) {  // dyads that are symmetric in their sum alone: their upper triangles are added
    subtract_rank_one(at.Y, -c[i].H, c[i].U);
    if (!on_world) subtract_rank_one(at.Y, Z[i], c[i].H);
  }
  for (int i = 0; i < N; ++i) {
    c[i].EA += at.J * twice(c[i].H.w) - at.Y * c[i].YA;
    c[i].EB += at.J * c[i].two_Pd - at.Y * c[i].YB;
    if (turning) c[i].EB += at.Jw * c[i].H.w;
  }
}

/// Row `row` of M^-1, A_C and B_C (4.23)-(4.26), body k's; rows of bodies before it are there already.
template <class S>
void printed_row(const Tree<Real<S>>& tree, bool turning, const LinearizationMemory<S>& m, int k, int row,
                 const PrintedMemory<S>& p, S* dq, S* dv, S* dtau) {
  const long n = tree.nv;
  S *const M_inv = dtau + row * n, *const B = dq + row * n, *const A = dv + row * n;
  const PrintedColumn<S>& own = p.columns[row];
  const auto freedoms = [&](int body) { return m.index[body].end - tree.index[body].v; };
  p.bodies[k].X = own.U, p.bodies[k].path = row;
  for (int i = 0; i < freedoms(k); ++i) {
    const int c = tree.index[k].v + i;
    M_inv[c] = own.L[i];
    A[c] = dot(own.U, p.columns[c].YA), B[c] = dot(own.U, p.columns[c].YB);
  }
  // Inboard: W = G* psi*; X where other branches begin.
  Spatial<S> W = own.G;
  for (int body = tree.index[k].inboard; body != 0; body = tree.index[body].inboard) {
    p.bodies[body].path = row;
    const int first = tree.index[body].v, N = freedoms(body);
    if (tree.index[body].has_sides) p.bodies[body].X = -(p.bodies[body].Y * W);
    S along[max_freedoms];
    for (int i = 0; i < N; ++i) {
      const PrintedColumn<S>& c = p.columns[first + i];
      M_inv[first + i] = dtau[(first + i) * n + row];
      A[first + i] = dot(W, c.EA) + dot(own.Q, twice(c.H.w));
      B[first + i] = dot(W, c.EB) + dot(own.Q, c.two_Pd);
      if (turning) B[first + i] = B[first + i] + dot(own.Qw, c.H.w);
      along[i] = dot(c.H, W);
    }
    if (tree.index[body].inboard != 0)
      for (int i = 0; i < N; ++i) W -= p.columns[first + i].G * along[i];
  }
  // Outboard, and the other branches of the same tree: X = U psi.
  for (int body = 1; body < tree.slots(); ++body) {
    if (p.bodies[body].path == row) continue;
    const BodyIndex& b = tree.index[body];
    const int N = freedoms(body);
    p.bodies[body].X = b.inboard == 0 ? Spatial<S>{} : p.bodies[b.inboard].X;
    const Spatial<S> X_in = p.bodies[body].X;
    Spatial<S>& X = p.bodies[body].X;
    for (int i = 0; i < N; ++i) {
      const PrintedColumn<S>& c = p.columns[b.v + i];
      M_inv[b.v + i] = -dot(X_in, c.G);
      X += c.H * M_inv[b.v + i];
    }
    for (int i = 0; i < N; ++i) {
      const PrintedColumn<S>& c = p.columns[b.v + i];
      A[b.v + i] = dot(X, c.YA), B[b.v + i] = dot(X, c.YB);
    }
  }
}

/// Algorithm 6 as printed, at the accelerations a; what factored_forward has left is not used but for the placed bodies.
template <class S>
void printed_direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a,
                            const ExternalForces<S>& external, const LinearizationMemory<S>& m,
                            const PrintedMemory<S>& p, S* dq, S* dv, S* dtau) {
  const long n = tree.nv;
  const bool turning = external.turning();
  NoTouch touch;
  motion_at_reference(tree, v, a, m, touch);  // Step 1 (3.4)
  wrenches_at_reference(tree, external, m);
  printed_inward(tree, external, m, p);
  for (int k = 1; k < tree.slots(); ++k) {
    const int first = tree.index[k].v, end = m.index[k].end;
    printed_operators(tree, turning, k, end - first, p);
    for (int row = first; row < end; ++row) printed_row(tree, turning, m, k, row, p, dq, dv, dtau);
  }
  for (long i = 0; i < n * n; ++i) dq[i] = -dq[i], dv[i] = -dv[i];
  for (int k = 1; k < tree.slots(); ++k) {  // a joint's own force does not turn with it
    const int first = tree.index[k].v, N = m.index[k].end - first;
    if (N == 1 || tree.index[k].inboard == 0) continue;
    for (long row = 0; row < n; ++row)
      for (int i = 0; i < N; ++i)
        for (int r = 0; r < N; ++r)
          dq[row * n + first + i] =
              dq[row * n + first + i] + dtau[row * n + first + r] * p.columns[first + r].own[i];
  }
  if (m.damping)
    for (long i = 0; i < n * n; ++i) dv[i] = dv[i] - dtau[i] * m.damping[i % n];
}

/// Algorithm 4 with a numerical inverse of M. by_q and by_v are scratch of n^2.
template <class S>
void numerical_forward(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                       const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* by_q, S* by_v,
                       S* dq, S* dv, S* dtau) {
  const long n = tree.nv;
  linearized_inverse(tree, q, v, a, external, m, dtau, by_q, by_v);
  cholesky_factor(n, dtau);
  cholesky_inverse(n, dtau);
  for (long i = 0; i < n; ++i)
    for (long c = 0; c < n; ++c) {
      S sum_q = dtau[i * n] * by_q[c], sum_v = dtau[i * n] * by_v[c];
      for (long k = 1; k < n; ++k) {
        sum_q = sum_q + dtau[i * n + k] * by_q[k * n + c];
        sum_v = sum_v + dtau[i * n + k] * by_v[k * n + c];
      }
      dq[i * n + c] = -sum_q, dv[i * n + c] = -sum_v;
    }
}

}  // namespace articula::ARTICULA_ISA
