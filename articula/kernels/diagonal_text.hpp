// The diagonalized equations of motion (DIAG; docs/math.md 8):
//
//   xi = [Id + H phi K]* th'      kappa = [Id - H psi K] tau      D xi' + C(th, xi) = kappa
//   nu = D^1/2* xi                eps = D^-1/2 kappa              nu' + C(th, nu) = eps
//
// The kinetic energy is |nu|^2 / 2.
// D^1/2 is the lower Cholesky factor of D, so that D = D^1/2 D^1/2*. DIAG's recursions hold for joints of one
// freedom and no rotor inertia. The ones below hold for every hinge kind, trees and rotor inertia. Rates are
// taken in the axes of body k (a dot, DIAG's "local" derivative), Od = S[H* th'] is the spatial cross
// operator of the joint's motion, and P+ = taubar P:
//
//   (1) P'(k) = sum over outboard bodies of phi [taubar P' taubar* + Od P+ + P+ Od*] phi*   DIAG (13)
//   (2) y(k)  = b + P' H* xi + sum over outboard bodies of phi [taubar y - Od P+ V+]        after DIAG (45)
//   (3) C_xi  = H y
//   (4) C_nu  = D^-1/2 C_xi - (d D^1/2/dt)* xi,   D' = H P' H*                              DIAG (46)
//
// with b = S[V] M V - M (0, g) - external forces and V+ = phi* V(k+1).
//
// (1) follows from d/dt phi = phi Od (DIAG 14) and d/dt P+ = taubar P' taubar*. (2): the rate of xi = th' +
// G* V+ is th'' + G* (phi* V'(k+1) + Od* V+) + G'* V+ with G' = taubar P' H* D^-1. Its first two terms are
// what the articulated-body recursion finds, D^-1 (tau - H p); so D xi' = tau - H p + H P' taubar* V+, in
// which th'' does not occur, and taking [Id - H psi K] tau out of p leaves y. docs/diagonalized.md has it
// line by line.
#pragma once

#include "articula/kernels/diagonal_memory.hpp"
#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/rates_text.hpp"

namespace articula::ARTICULA_ISA {

/// Velocities of body k's joint.
template <class R>
ARTICULA_INLINE int freedoms_of(const Tree<R>& tree, int k) {
  return (k < tree.bodies ? tree.index[k + 1].v : tree.nv) - tree.index[k].v;
}

/// D^1/2 of each joint from the kept factor D = L d L*.
template <class S>
ARTICULA_INLINE void factor_roots(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m) {
  for (int k = 1; k < tree.slots(); ++k) {
    const int v = tree.index[k].v, N = freedoms_of(tree, k);
    const S *D = m.k.D + 6 * v, *LD = m.k.inv_D + 6 * v;
    S* const root = m.root + 6 * v;
    for (int j = 0; j < N; ++j) {
      const S r = square_root(LD[6 * j + j]);
      m.inv_root[v + j] = r;
      root[6 * j + j] = N == 1 ? D[0] * r : reciprocal(r);
      for (int i = j + 1; i < N; ++i) root[6 * i + j] = LD[6 * i + j] * root[6 * j + j];
    }
  }
}

/// Inward: P, D and its factor, G, K, and P+ = taubar P. Like articulate() of forward dynamics, which carries
/// P inward before it takes K D K* away; the rates below need P+ at O_k. Returns the smallest pivot of D.
template <class S>
ARTICULA_INLINE S articulate_locally(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m) {
  constexpr int s = stride<S>;
  S smallest(Real<S>(1e30));
  ArticulatedInertia<S> carried{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    const Inertia<S> M{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + s * body::mp),
                       read<Sym3>(xk + s * body::J)};
    ArticulatedInertia<S> P;
    if (b.has_carry) {
      P = carried;
      P += M;
    } else {
      P = articulated(M);
    }
    if (b.has_sides) P += gather<1, ArticulatedInertia<S>>(m.k.side + side_count * k);
    const auto R = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          constexpr int N = J::nv;
          const HingeMap<J, S> H{R, tree.pitch[k]};
          Spatial<S> U[N], G[N];  // P H* = G D
          S D[N][N];
          for_each_index<N>([&](auto i) __attribute__((always_inline)) {
            U[i.value] = P * H.template row<i.value>();
          });
          for_each_index<N>([&](auto i) __attribute__((always_inline)) {
            const auto h = H.template row<i.value>();
            for (int c = 0; c <= i.value; ++c) D[i.value][c] = dot(h, U[c]);
            D[i.value][i.value] = D[i.value][i.value] + tree.armature[b.v + i.value];
          });
          if constexpr (N == 1) {
            smallest = smaller(smallest, D[0][0]);
            const S inv_D = reciprocal(D[0][0]);
            m.k.D[6 * b.v] = D[0][0];
            m.k.inv_D[6 * b.v] = inv_D;
            if (b.handover == Handover::none) return;
            G[0] = U[0] * inv_D;
          } else {
            SmallFactor<S, N> factor;
            smallest = smaller(smallest, factor.factor(D));
            for (int i = 0; i < N; ++i) {
              for (int c = 0; c < N; ++c) m.k.D[6 * (b.v + i) + c] = c <= i ? D[i][c] : D[c][i];
              for (int c = 0; c < i; ++c) m.k.inv_D[6 * (b.v + i) + c] = factor.L[i][c];
              m.k.inv_D[6 * (b.v + i) + i] = factor.inv_d[i];
            }
            if (b.handover == Handover::none) return;
            solve_columns(factor, U, G);
          }
          for (int i = 0; i < N; ++i) {
            scatter<1>(G[i], m.G + 6 * (b.v + i));
            scatter<1>(phi * G[i], m.k.K + 6 * (b.v + i));
            subtract_rank_one(P, G[i], U[i]);
          }
          scatter<1>(P, m.P_plus + 21 * k);
          carried = shifted(phi, P);
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.k.side + side_count * b.inboard;
    if (b.handover == Handover::add) carried += gather<1, ArticulatedInertia<S>>(sum);
    scatter<1>(carried, sum);
  }
  return smallest;
}

/// Everything of one configuration: poses, inertias, P+, G, K and D. Returns the smallest pivot of D.
template <class S>
S diagonal_factor(const Tree<Real<S>>& tree, const S* q, const DiagonalMemory<S>& m) {
  const S* const none = nullptr;
  move_bodies_and_inertias<Upto::positions, false>(tree, q, none, m.k.x);
  return articulate_locally(tree, m);
}

// --- x -> D^1/2 x, D^1/2* x, D^-1/2 x, D^-1/2* x, in place, joint by joint ---------------------------
template <class S>
void times_root(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, S* x) {
  for (int k = 1; k < tree.slots(); ++k) {
    const int v = tree.index[k].v;
    for (int i = freedoms_of(tree, k) - 1; i >= 0; --i) {
      const S* row = m.root + 6 * (v + i);
      x[v + i] = x[v + i] * row[i];
      for (int j = 0; j < i; ++j) x[v + i] = x[v + i] + row[j] * x[v + j];
    }
  }
}
template <class S>
void times_root_star(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, S* x) {
  for (int k = 1; k < tree.slots(); ++k) {
    const int v = tree.index[k].v, N = freedoms_of(tree, k);
    for (int i = 0; i < N; ++i) {
      x[v + i] = x[v + i] * m.root[6 * (v + i) + i];
      for (int j = i + 1; j < N; ++j) x[v + i] = x[v + i] + m.root[6 * (v + j) + i] * x[v + j];
    }
  }
}
template <class S>
void solve_root(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, S* x) {
  for (int k = 1; k < tree.slots(); ++k) {
    const int v = tree.index[k].v, N = freedoms_of(tree, k);
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < i; ++j) x[v + i] = x[v + i] - m.root[6 * (v + i) + j] * x[v + j];
      x[v + i] = x[v + i] * m.inv_root[v + i];
    }
  }
}
template <class S>
void solve_root_star(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, S* x) {
  for (int k = 1; k < tree.slots(); ++k) {
    const int v = tree.index[k].v, N = freedoms_of(tree, k);
    for (int i = N - 1; i >= 0; --i) {
      for (int j = i + 1; j < N; ++j) x[v + i] = x[v + i] - m.root[6 * (v + j) + i] * x[v + j];
      x[v + i] = x[v + i] * m.inv_root[v + i];
    }
  }
}

/// Outward: V(k) = phi* V(k+1) + H* th', with xi = th' + K* V(k+1) (DIAG 28, 34). to_xi: from th'; else from
/// xi.
template <bool to_xi, class S>
void rates_and_xi(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, const S* from, S* to) {
  constexpr int s = stride<S>;
  const S O(0);
  const Spatial<S> zero{{O, O, O}, {O, O, O}};
  scatter<1>(zero, m.V);
  Spatial<S> V = zero;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    if (b.inboard != k - 1) V = gather<1, Spatial<S>>(m.V + 6 * b.inboard);
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          for (int i = 0; i < J::nv; ++i) {
            to[b.v + i] = from[b.v + i];
            if (b.inboard == 0) continue;
            const S KV = dot(gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i)), V);
            to[b.v + i] = to_xi ? to[b.v + i] + KV : to[b.v + i] - KV;
          }
          const S* const rates = (to_xi ? from : to) + b.v;
          if (b.inboard == 0) {
            V = star_times(H, rates);
          } else {
            V = star(Phi<S>{read<Vec3>(xk + s * body::l)}) * V;
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              add(V, H.template row<i.value>(), rates[i.value]);
            });
          }
        });
    scatter<1>(V, m.V + 6 * k);
  }
}

/// Inward: z(k) = sum over outboard bodies of phi z + K kappa, with kappa = tau - H z (DIAG 44). to_kappa:
/// from tau; else from kappa. `from` and `to` may be one array.
template <bool to_kappa, class S>
void forces_and_kappa(const Tree<Real<S>>& tree, const DiagonalMemory<S>& m, const S* from, S* to) {
  constexpr int s = stride<S>;
  Spatial<S> carried{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    const bool tip = !b.has_carry && !b.has_sides;
    Spatial<S> z{};
    if (b.has_carry) z = carried;
    if (b.has_sides) {
      const auto sum = gather<1, Spatial<S>>(m.k.side + side_count * k);
      z = b.has_carry ? z + sum : sum;
    }
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          S kappa[J::nv];
          for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
            const S given = from[b.v + i.value];
            S found = given;
            if (!tip) {
              const S Hz = dot(H.template row<i.value>(), z);
              found = to_kappa ? given - Hz : given + Hz;
            }
            kappa[i.value] = to_kappa ? found : given;
            to[b.v + i.value] = found;
          });
          if (b.handover == Handover::none) return;
          for (int i = 0; i < J::nv; ++i) {
            const Spatial<S> K = gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i)) * kappa[i];
            if (i > 0)
              carried += K;
            else
              carried = tip ? K : Phi<S>{read<Vec3>(xk + s * body::l)} * z + K;
          }
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.k.side + side_count * b.inboard;
    if (b.handover == Handover::add) carried += gather<1, Spatial<S>>(sum);
    scatter<1>(carried, sum);
  }
}

/// (1) to (3): C(th, xi) and D', with V as rates_and_xi left it. y and P' of further children use side.
template <class S>
void coriolis_of_xi(const Tree<Real<S>>& tree, const S* theta_dot, const S* xi, const S* wrenches,
                    const DiagonalMemory<S>& m, S* C) {
  constexpr int s = stride<S>;
  ArticulatedInertia<S> carried_P{};
  Spatial<S> carried_y{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    const auto V = gather<1, Spatial<S>>(m.V + 6 * k);
    const auto mp = read<Vec3>(xk + s * body::mp);
    // S[V] M V - M (0, g), with w x (mp x v) + v x (w x mp) written as mp x (w x v).
    const Vec3<S> c = cross(V.w, V.v) - tree.gravity;
    Spatial<S> y{cross(V.w, read<Sym3>(xk + s * body::J) * V.w) + cross(mp, c),
                 c * tree.constants_of(k)[block * constant::m] + cross(V.w, cross(V.w, mp))};
    if (wrenches) y -= gather<1, Spatial<S>>(wrenches + 6 * (k - 1));
    const bool tip = !b.has_carry && !b.has_sides;
    ArticulatedInertia<S> P_dot{};
    if (b.has_carry) {
      P_dot = carried_P;
      y += carried_y;
    }
    if (b.has_sides) {
      const auto sum = gather<1, ArticulatedInertia<S>>(m.k.side + side_count * k);
      if (b.has_carry)
        P_dot += sum;
      else
        P_dot = sum;
      y += gather<1, Spatial<S>>(m.k.side + side_count * k + 21);
    }
    const auto R = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          constexpr int N = J::nv;
          const HingeMap<J, S> H{R, tree.pitch[k]};
          Spatial<S> W[N]{};  // P' H*
          S D_dot[N][N];
          for_each_index<N>([&](auto i) __attribute__((always_inline)) {
            if (tip) return;
            W[i.value] = P_dot * H.template row<i.value>();
            y += W[i.value] * xi[b.v + i.value];  // (2)
          });
          for_each_index<N>([&](auto i) __attribute__((always_inline)) {
            const auto h = H.template row<i.value>();
            C[b.v + i.value] = dot(h, y);  // (3)
            for (int c = 0; c <= i.value; ++c) {
              D_dot[i.value][c] = tip ? S(0) : dot(h, W[c]);
              m.D_dot[6 * (b.v + i.value) + c] = D_dot[i.value][c];
            }
          });
          if (b.handover == Handover::none) return;

          Spatial<S> G[N];
          for (int i = 0; i < N; ++i) G[i] = gather<1, Spatial<S>>(m.G + 6 * (b.v + i));
          const auto P_plus = gather<1, ArticulatedInertia<S>>(m.P_plus + 21 * k);
          const Spatial<S> X = star_times(H, theta_dot + b.v);
          ArticulatedInertia<S> rate = joint_rate<J>(X, P_plus);  // (1)
          if (!tip) {
            rate += P_dot;
            for (int i = 0; i < N; ++i) {  // taubar P' taubar* = P' - W G* - G W* + G D' G*
              for (int c = 0; c < N; ++c) W[i] -= G[c] * ((c < i ? D_dot[i][c] : D_dot[c][i]) * Real<S>(0.5));
              subtract_both(rate, W[i], G[i]);
            }
          }
          constexpr bool turns = J::angle >= 0 || J::quaternion;
          Spatial<S> V_plus = V;
          if constexpr (turns) V_plus.w -= X.w;
          if constexpr (J::slides) V_plus.v -= X.v;
          const Spatial<S> f = P_plus * V_plus;
          for (int i = 0; i < N; ++i) y -= G[i] * C[b.v + i];
          if constexpr (turns) y -= Spatial<S>{cross(X.w, f.w), cross(X.w, f.v)};
          if constexpr (J::slides) y.w -= cross(X.v, f.v);
          carried_P = shifted(phi, rate);
          carried_y = phi * y;
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.k.side + side_count * b.inboard;
    if (b.handover == Handover::add) {
      carried_P += gather<1, ArticulatedInertia<S>>(sum);
      carried_y += gather<1, Spatial<S>>(sum + 21);
    }
    scatter<1>(carried_P, sum);
    scatter<1>(carried_y, sum + 21);
  }
}

/// (4), from C(th, xi) and D': C <- D^-1/2 C - (d D^1/2/dt)* xi. With D = r r*: r' = r low(A), A = r^-1 D'
/// r^-*, where low() takes the lower triangle and half the diagonal.
template <class S>
void coriolis_of_nu(const Tree<Real<S>>& tree, const S* xi, const DiagonalMemory<S>& m, S* C) {
  const auto half = Real<S>(0.5);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const bool tip = !b.has_carry && !b.has_sides;  // D' = 0
    const int v = b.v, N = freedoms_of(tree, k);
    const S* const D_dot = m.D_dot + 6 * v;
    if (N == 1) {
      C[v] = (tip ? C[v] : C[v] - D_dot[0] * half * xi[v]) * m.inv_root[v];
      continue;
    }
    const S* const r = m.root + 6 * v;
    for (int i = 0; i < N; ++i) {  // D^-1/2 C
      for (int c = 0; c < i; ++c) C[v + i] = C[v + i] - r[6 * i + c] * C[v + c];
      C[v + i] = C[v + i] * m.inv_root[v + i];
    }
    if (tip) continue;
    S A[6][6]{}, nu[6]{};
    for (int c = 0; c < N; ++c)  // r^-1 D', column by column
      for (int i = 0; i < N; ++i) {
        A[i][c] = c < i ? D_dot[6 * i + c] : D_dot[6 * c + i];
        for (int t = 0; t < i; ++t) A[i][c] = A[i][c] - r[6 * i + t] * A[t][c];
        A[i][c] = A[i][c] * m.inv_root[v + i];
      }
    for (int i = 0; i < N; ++i)  // (r^-1 D') r^-*, row by row
      for (int c = 0; c < N; ++c) {
        for (int t = 0; t < c; ++t) A[i][c] = A[i][c] - A[i][t] * r[6 * c + t];
        A[i][c] = A[i][c] * m.inv_root[v + c];
      }
    for (int i = 0; i < N; ++i) {  // nu = r* xi; then C -= low(A)* nu
      nu[i] = r[6 * i + i] * xi[v + i];
      for (int c = i + 1; c < N; ++c) nu[i] = nu[i] + r[6 * c + i] * xi[v + c];
    }
    for (int i = 0; i < N; ++i) {
      C[v + i] = C[v + i] - A[i][i] * half * nu[i];
      for (int c = i + 1; c < N; ++c) C[v + i] = C[v + i] - A[c][i] * nu[c];
    }
  }
}

/// nu' of DIAG (40), or xi' of (44), from nu or xi: th'' is never formed. `rate` may not be `nu` or `tau`.
template <bool normalized, class S>
S diagonal_motion(const Tree<Real<S>>& tree, const S* q, const S* nu, const S* tau, const S* wrenches,
                  const DiagonalMemory<S>& m, S* rate) {
  const S smallest = diagonal_factor(tree, q, m);
  const S* xi = nu;
  if constexpr (normalized) {
    factor_roots(tree, m);
    for (int i = 0; i < tree.nv; ++i) m.xi[i] = nu[i];
    solve_root_star(tree, m, m.xi);
    xi = m.xi;
  }
  rates_and_xi<false>(tree, m, xi, m.theta_dot);
  coriolis_of_xi(tree, m.theta_dot, xi, wrenches, m, rate);
  forces_and_kappa<true>(tree, m, tau, m.force);
  if constexpr (normalized) {
    coriolis_of_nu(tree, xi, m, rate);
    solve_root(tree, m, m.force);
    for (int i = 0; i < tree.nv; ++i) rate[i] = m.force[i] - rate[i];
  } else {
    for (int k = 1; k < tree.slots(); ++k)
      visit(
          tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
            const int v = tree.index[k].v;
            for (int i = 0; i < j.nv; ++i) rate[v + i] = m.force[v + i] - rate[v + i];
            solve_D<decltype(j)>(m.k.inv_D + 6 * v, rate + v);
          });
  }
  return smallest;
}

}  // namespace articula::ARTICULA_ISA
