// JPL88's algorithms FD1 to FD4, with the equation of each step. Trees: a sum over outboard bodies stands for
// the paper's k-1. External forces on the bodies stand for -B f(0). L(k) of the paper is K(k+1,k). Gravity is
// the upward acceleration of the base, a -> a + E* a_g (3.21).
#pragma once

#include "articula/kernels/bias_terms_text.hpp"
#include "articula/kernels/inverse_dynamics_text.hpp"
#include "articula/kernels/mass_factor_text.hpp"

namespace articula::ARTICULA_ISA {

/// FD1, four sweeps:
///   T'   = T - H phi [M phi* a + b + B f(0)]                  (4.17)
///   th'' = [Id - H psi K]* D^-1 [Id - H psi K] T'             (4.18)
template <class S>
S forward_dynamics_fd1(const Tree<Real<S>>& tree, const S* q, const S* v, const S* T, const S* wrenches,
                       const KernelMemory<S>& m, const NamedMemory<S>& n, S* th_dd) {
  move_and_load_bodies<true, true>(tree, q, v, static_cast<const S*>(nullptr),
                                   m.x);                     // V, phi* a and M phi* a + b: outward
  subtract_wrenches(tree, wrenches, m.x);                    // + B f(0)
  gather_forces(tree, m, n.T);                               // H phi [...]: inward
  for (int i = 0; i < tree.nv; ++i) n.T[i] = T[i] - n.T[i];  // (4.17)
  // P D K (4.4)-(4.6): inward
  const S smallest = articulate<false, true>(tree, m, static_cast<const S*>(nullptr));
  solve_mass_matrix(tree, m, n.T, th_dd);  // (4.19)-(4.22): inward, outward
  return smallest;
}

/// FD2, FD1 with the accelerations of the bodies:
///   alpha = psi* H* D^-1 [Id - H psi K] T' + phi* a           (5.6), that is lambda (4.22) + xi (4.21b)
template <class S>
S forward_dynamics_fd2(const Tree<Real<S>>& tree, const S* q, const S* v, const S* T, const S* wrenches,
                       const KernelMemory<S>& m, const NamedMemory<S>& n, S* th_dd) {
  const S smallest = forward_dynamics_fd1(tree, q, v, T, wrenches, m, n, th_dd);
  const Vec3<S> g{S(tree.gravity.x), S(tree.gravity.y), S(tree.gravity.z)};
  for (int k = 1; k < tree.slots(); ++k) {
    const S* xk = slot(m.x, k, int(body::count));
    Spatial<S> alpha = gather<1, Spatial<S>>(m.lambda + 6 * k);  // left there by the last sweep of FD1
    alpha.w += read<Vec3>(xk + stride<S> * body::alpha_w);       // xi = phi* (a + E* a_g), from its first
    alpha.v += read<Vec3>(xk + stride<S> * body::alpha_v) + g;   // the base does not really accelerate
    scatter<1>(alpha, n.alpha + 6 * (k - 1));
  }
  return smallest;
}

/// FD3, three sweeps:
///   zeta = phi* a                                             (5.8)
///   e    = T - H psi [K T + M zeta + b + B f(0)]              (5.9)
///   th'' = [Id - H psi K]* D^-1 e                             (5.10)
template <class S>
S forward_dynamics_fd3(const Tree<Real<S>>& tree, const S* q, const S* v, const S* T, const S* wrenches,
                       const KernelMemory<S>& m, const NamedMemory<S>&, S* th_dd) {
  move_and_load_bodies<true, true>(tree, q, v, static_cast<const S*>(nullptr),
                                   m.x);                  // (5.8), M zeta + b: outward
  subtract_wrenches(tree, wrenches, m.x);                 // + B f(0)
  const S smallest = articulate<true, true>(tree, m, T);  // (5.9), D^-1 e: inward
  smooth(tree, m, th_dd);                                 // (5.10): outward
  return smallest;
}

/// FD4, three sweeps, of which the first finds velocities only:
///   V    = phi* H* th'                                                       (5.13)
///   e    = T - H { psi [K T + b + B f(0)] + (psi - Id) P a }                 (5.14), nu = D^-1 e
///   th'' = [Id - H psi K]* nu - K* psi* (Id - G H)* a - G* a                 (5.15)
/// in the recursive form (5.16), (5.17).
template <class S>
S forward_dynamics_fd4(const Tree<Real<S>>& tree, const S* q, const S* v, const S* T, const S* wrenches,
                       const KernelMemory<S>& m, const NamedMemory<S>& n, S* th_dd) {
  constexpr int s = stride<S>;
  const S O(0);
  move_bodies_and_inertias<Upto::velocities, false>(tree, q, v, m.x);  // (5.13): outward
  bias_terms(tree, v, m.x, n.a, n.b);
  const S smallest = articulate<false, true>(
      tree, m, static_cast<const S*>(nullptr),
      [&](int k, const ArticulatedInertia<S>& P)
          __attribute__((always_inline)) { scatter<1>(P, n.P + 21 * k); });

  const Spatial<S> a_g{{O, O, O}, {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
  Spatial<S> carried{{O, O, O}, {O, O, O}};
  for (int k = tree.bodies; k >= 1; --k) {  // (5.16)
    const BodyIndex& index = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    Spatial<S> z = gather<1, Spatial<S>>(n.b + 6 * (k - 1));
    if (wrenches) z -= gather<1, Spatial<S>>(wrenches + 6 * (k - 1));
    if (index.has_carry) z += carried;
    if (index.has_sides) z += gather<1, Spatial<S>>(m.side + 6 * k);
    auto a = gather<1, Spatial<S>>(n.a + 6 * (k - 1));
    if (index.inboard == 0) {
      a += a_g;  // a + E* a_g
      scatter<1>(a, n.a + 6 * (k - 1));
    }
    const Spatial<S> Pa = gather<1, ArticulatedInertia<S>>(n.P + 21 * k) * a;
    const auto R = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    visit(
        index.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          S e[J::nv], nu[J::nv], HPa[J::nv];
          times(H, z, e);
          times(H, Pa, HPa);
          for (int i = 0; i < J::nv; ++i) {
            e[i] = T[index.v + i] - e[i];  // e(k) = T(k) - H(k) z(k)
            nu[i] = e[i];
          }
          solve_D<J>(m.inv_D + 6 * index.v, nu);
          for (int i = 0; i < J::nv; ++i) m.nu[index.v + i] = nu[i];
          if (index.handover == Handover::none) return;
          carried = phi * (z + Pa);  // psi (z + P a) + K T = phi (z + P a) + K (T - H (z + P a))
          for (int i = 0; i < J::nv; ++i)
            carried += gather<1, Spatial<S>>(m.K + 6 * (index.v + i)) * (e[i] - HPa[i]);
        });
    if (index.handover == Handover::none || index.handover == Handover::carry) continue;
    S* const sum = m.side + 6 * index.inboard;
    if (index.handover == Handover::add) carried += gather<1, Spatial<S>>(sum);
    scatter<1>(carried, sum);
  }

  for (int k = 1; k < tree.slots(); ++k) {  // (5.17)
    const BodyIndex& index = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto a = gather<1, Spatial<S>>(n.a + 6 * (k - 1));
    const Spatial<S> Pa = gather<1, ArticulatedInertia<S>>(n.P + 21 * k) * a;
    Spatial<S> lambda{{O, O, O}, {O, O, O}};
    if (index.inboard != 0) lambda = gather<1, Spatial<S>>(m.lambda + 6 * index.inboard);
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        index.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          S Ga[J::nv];  // G* a = D^-1 H P a
          times(H, Pa, Ga);
          solve_D<J>(m.inv_D + 6 * index.v, Ga);
          S* const x = th_dd + index.v;
          for (int i = 0; i < J::nv; ++i) {
            x[i] = m.nu[index.v + i] - Ga[i];
            if (index.inboard != 0) x[i] = x[i] - dot(gather<1, Spatial<S>>(m.K + 6 * (index.v + i)), lambda);
          }
          // lambda(k) = psi* lambda(k+1) + H* nu + (Id - G H)* a, where psi* = phi* - H* K* : what H* meets
          // is th''
          lambda = star(Phi<S>{read<Vec3>(xk + s * body::l)}) * lambda + a + star_times(H, x);
        });
    scatter<1>(lambda, m.lambda + 6 * k);
  }
  return smallest;
}

}  // namespace articula::ARTICULA_ISA
