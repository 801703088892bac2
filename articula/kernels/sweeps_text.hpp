// The recursions behind phi, psi and their adjoints, with what surrounds them in a product folded in.
//
//   (1) inward,  z = phi x:      z(k) = x(k) + sum over outboard bodies c of phi(k,c) z(c)       JPL88 (3.9)
//   (2) outward, z = phi* x:     z(k) = x(k) + phi*(k+1,k) z(k+1)
//   (3) with psi for phi:        psi(k+1,k) z = phi z - K (H z)                                  JPL88 (4.10)
//
// By (3) psi needs only phi, K and H. The argument x is a sum of what a Sweep names: vectors as they are,
// M y, P y, K T, H* T. Beside z itself a sweep can give H z (inward) or K* z (outward), added to a joint
// vector and solved with D. Each of these additions costs one well predicted test per body.
#pragma once

#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/sweep.hpp"

namespace articula::ARTICULA_ISA {

/// M(k) as x holds it.
template <class S>
ARTICULA_INLINE Inertia<S> body_inertia(const Tree<Real<S>>& tree, const S* x, int k) {
  const S* xk = slot(x, k, int(body::count));
  return {S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + stride<S> * body::mp),
          read<Sym3>(xk + stride<S> * body::J)};
}

/// The terms of x(k) that need no neighbour.
template <class S>
ARTICULA_INLINE Spatial<S> sweep_terms(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const Sweep<S>& s,
                                       int k) {
  const int at = 6 * (k - 1);
  const S O(0);
  Spatial<S> z{{O, O, O}, {O, O, O}};
  if (s.plain) z = gather<1, Spatial<S>>(s.plain + at) * s.plain_factor;
  if (s.more) z += gather<1, Spatial<S>>(s.more + at) * s.more_factor;
  if (s.rigid_times) {
    const auto y = gather<1, Spatial<S>>(s.rigid_times + at);
    z +=
        (s.rigid ? gather<1, Inertia<S>>(s.rigid + 10 * k) : body_inertia(tree, m.x, k)) * y * s.rigid_factor;
  }
  if (s.symmetric_times)
    z += gather<1, ArticulatedInertia<S>>(s.symmetric + 21 * k) *
         gather<1, Spatial<S>>(s.symmetric_times + at) * s.symmetric_factor;
  return z;
}

/// What a joint output becomes: factor * (H z or K* z) + add_factor * add, then D^-1 of it.
template <class J, class S>
ARTICULA_INLINE void put_tap(const KernelMemory<S>& m, const Sweep<S>& s, int v, const S* value) {
  S e[J::nv];
#pragma GCC unroll 6
  for (int i = 0; i < J::nv; ++i) e[i] = value[i] * s.tap_factor;
  if (s.tap_add) {
#pragma GCC unroll 6
    for (int i = 0; i < J::nv; ++i) e[i] = e[i] + s.tap_add[v + i] * s.tap_add_factor;
  }
  if (s.tap_solve) solve_D<J>(m.inv_D + 6 * v, e);
#pragma GCC unroll 6
  for (int i = 0; i < J::nv; ++i) s.tap[v + i] = e[i];
}

template <class S>
void sweep_inward(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const Sweep<S>& s) {
  const bool needs_H = s.psi || s.tap, needs_K = s.psi || s.K_times;
  const S O(0);
  Spatial<S> carried{{O, O, O}, {O, O, O}};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    Spatial<S> z = sweep_terms(tree, m, s, k);
    const auto R = read<Mat3>(xk + stride<S> * body::R);
    const Phi<S> phi{read<Vec3>(xk + stride<S> * body::l)};
    if (b.has_carry) z += carried;
    if (b.has_sides) z += gather<1, Spatial<S>>(m.side + 6 * k);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          if (s.H_times) {
            S T[J::nv];
#pragma GCC unroll 6
            for (int i = 0; i < J::nv; ++i) T[i] = s.H_times[b.v + i] * s.H_factor;
            z += star_times(H, T);
          }
          S e[J::nv] = {};
          if (needs_H) times(H, z, e);
          if (s.tap) put_tap<J>(m, s, b.v, e);
          if (b.handover == Handover::none) return;
          carried = phi * z;
          if (needs_K) {
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              S T = s.psi ? -e[i.value] : O;
              if (s.K_times) T = T + s.K_times[b.v + i.value] * s.K_factor;
              carried += gather<1, Spatial<S>>(m.K + 6 * (b.v + i.value)) * T;
            });
          }
        });
    if (s.z) scatter<1>(z, s.z + 6 * (k - 1));
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.side + 6 * b.inboard;
    if (b.handover == Handover::add) carried += gather<1, Spatial<S>>(sum);
    scatter<1>(carried, sum);
  }
}

template <class S>
void sweep_outward(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const Sweep<S>& s) {
  const bool needs_K = s.psi || s.tap, needs_H = s.psi || s.H_times;
  const S O(0);
  const Spatial<S> zero{{O, O, O}, {O, O, O}};
  S* const kept = s.z ? s.z : m.lambda;
  Spatial<S> z = zero;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto R = read<Mat3>(xk + stride<S> * body::R);
    if (b.inboard == 0)
      z = zero;
    else if (b.inboard != k - 1)
      z = gather<1, Spatial<S>>(kept + 6 * (b.inboard - 1));
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          S e[J::nv] = {};
          if (needs_K) {
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              e[i.value] = b.inboard == 0 ? O : dot(gather<1, Spatial<S>>(m.K + 6 * (b.v + i.value)), z);
            });
          }
          if (s.tap) put_tap<J>(m, s, b.v, e);
          z = star(Phi<S>{read<Vec3>(xk + stride<S> * body::l)}) * z;
          if (needs_H) {
            S T[J::nv];
#pragma GCC unroll 6
            for (int i = 0; i < J::nv; ++i) {
              T[i] = s.psi ? -e[i] : O;
              if (s.H_times) T[i] = T[i] + s.H_times[b.v + i] * s.H_factor;
            }
            z += star_times(HingeMap<J, S>{R, tree.pitch[k]}, T);
          }
        });
    z += sweep_terms(tree, m, s, k);
    scatter<1>(z, kept + 6 * (k - 1));
  }
}

}  // namespace articula::ARTICULA_ISA
