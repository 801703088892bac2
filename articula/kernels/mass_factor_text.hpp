// The mass matrix factored in O(n), M = [Id + H phi K] D [Id + H phi K]*, and solves with the factor:
// M^-1 = [Id - H psi K]* D^-1 [Id - H psi K] (JPL88 4.12, 4.16; docs/math.md 2). Also the inverse mass
// matrix: solves with unit columns, a register of columns at a time.
#pragma once

#include "articula/kernels/forward_dynamics_text.hpp"
#include "articula/kernels/transpose_text.hpp"

namespace articula::ARTICULA_ISA {

/// Poses, inertias, and the factor; x, K and D stay valid for solve(). Returns the smallest pivot of D.
template <class S>
S factor_mass_matrix(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m) {
  move_bodies_and_inertias<Upto::positions, false>(tree, q, static_cast<const S*>(nullptr), m.x);
  return articulate<false, true>(tree, m, static_cast<const S*>(nullptr));
}

/// nu = D^-1 e for joint kind J, from the kept factor rows.
template <class J, class S, class X>
ARTICULA_INLINE void solve_D(const S* inv_D, X* e) {
  constexpr int N = J::nv;
  if constexpr (N == 1) {
    e[0] = e[0] * inv_D[0];
  } else {
    for (int i = 1; i < N; ++i)
      for (int k = 0; k < i; ++k) e[i] = e[i] - e[k] * inv_D[6 * i + k];
    for (int i = N - 1; i >= 0; --i) {
      e[i] = e[i] * inv_D[6 * i + i];
      for (int k = i + 1; k < N; ++k) e[i] = e[i] - e[k] * inv_D[6 * k + i];
    }
  }
}

/// z = [Id - H psi K] T, then D^-1 z, then [Id - H psi K]*: three steps in two sweeps over bodies 1 .. last,
/// where T is zero but for the velocities of bodies first .. last. X may hold several right-hand sides in its
/// lanes. right(i): T of velocity i; put(i, x): takes row i of the result. `nu` (nv) and `p` (6 per slot) are
/// scratch of X; with keep, psi* H* nu of each body is left in p.
template <bool keep, class S, class X, class Right, class Put>
ARTICULA_INLINE void solve(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int first, int last, X* nu,
                           X* p, Right&& right, Put&& put) {
  constexpr int s = stride<S>;
  const X O(0);
  const Spatial<X> zero{{O, O, O}, {O, O, O}};
  if (last < first) return;  // nothing moves
  const auto clear = [&](int k) __attribute__((always_inline)) {
    if (tree.index[k].has_sides) scatter<1>(zero, p + 6 * k);
  };
  for (int k = first; k <= last; ++k) clear(k);
  for (int k = tree.index[first].inboard; k != 0; k = tree.index[k].inboard) clear(k);
  // Inward: these bodies, then the ones that support the first; no other supports any of them.
  Spatial<X> pk = zero;
  for (int k = last, next = 0; k != 0; k = next) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    next = k > first ? k - 1 : b.inboard;
    if (b.has_sides) pk += gather<1, Spatial<X>>(p + 6 * k);
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          X e[J::nv];
          for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
            e[i.value] = right(b.v + i.value) - dot(H.template row<i.value>(), pk);
          });
          if (b.handover != Handover::none) {
            pk = Phi<S>{read<Vec3>(xk + s * body::l)} * pk;
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              pk += gather<1, Spatial<S>>(m.K + 6 * (b.v + i.value)) * e[i.value];
            });
          }
          solve_D<J>(m.inv_D + 6 * b.v, e);
          for (int i = 0; i < J::nv; ++i) nu[b.v + i] = e[i];
        });
    if (next == b.inboard) continue;
    if (b.inboard != 0) scatter<1>(gather<1, Spatial<X>>(p + 6 * b.inboard) + pk, p + 6 * b.inboard);
    pk = zero;
  }
  Spatial<X> lam = zero;
  for (int k = 1; k <= last; ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const bool passed = tree.index[first].v < b.v_end;
    const auto R = read<Mat3>(xk + s * body::R);
    if (b.inboard == 0)
      lam = zero;
    else if (b.inboard != k - 1)
      lam = gather<1, Spatial<X>>(p + 6 * b.inboard);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          X ak[J::nv];
          for (int i = 0; i < J::nv; ++i) ak[i] = passed ? nu[b.v + i] : O;
          if (b.inboard != 0) {
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              ak[i.value] = ak[i.value] - dot(gather<1, Spatial<S>>(m.K + 6 * (b.v + i.value)), lam);
            });
            lam = star(Phi<S>{read<Vec3>(xk + s * body::l)}) * lam;
          }
          lam += star_times(HingeMap<J, S>{R, tree.pitch[k]}, ak);
          for (int i = 0; i < J::nv; ++i) put(b.v + i, ak[i]);
        });
    if (keep || b.has_sides) scatter<1>(lam, p + 6 * k);
  }
}

/// Solves for one vector: x = M^-1 T.
template <class S>
void solve_mass_matrix(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const S* T, S* out) {
  solve<true, S, S>(
      tree, m, 1, tree.bodies, m.nu, m.lambda, [&](int i) __attribute__((always_inline)) { return T[i]; },
      [&](int i, const S& a) __attribute__((always_inline)) { out[i] = a; });
}

/// A one at index wide_bodies<S>, zeros around it: a register loaded from here is a unit vector.
template <class S>
struct UnitWindow {
  alignas(64) S at[2 * block + 1] = {};
  constexpr UnitWindow() { at[wide_bodies<S>] = 1; }
};
template <class S>
constexpr UnitWindow<S> unit_window;

/// One in the right-hand side of that index, among those at hand, zero in the others.
template <class S, class W = Solves<S>>
ARTICULA_INLINE W unit_solves(int index) {
  constexpr int count = solves_at_once<S>;
  if constexpr (std::is_same_v<W, S>)
    return S(Real<S>(index == 0 ? 1 : 0));
  else if constexpr (wide_bodies<S> == 1)
    return Solves<S>::each([&](int i)
                               __attribute__((always_inline)) { return S(Real<S>(i == index ? 1 : 0)); });
  else
    return Solves<S>::load(unit_window<S>.at + (index < 0 || index >= count ? 0 : count - index));
}

/// M^-1, row-major, full coordinates. A block of columns needs only bodies up to the last of them: the rest
/// of each column follows by symmetry.
template <class S>
void invert_mass_matrix(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* inverse) {
  using W = Solves<S>;
  W* const nu = reinterpret_cast<W*>(m.nu);
  W* const p = reinterpret_cast<W*>(m.lambda);
  constexpr int wide = solves_at_once<S>;
  const long nv = tree.nv;
  const bool in_rows = wide_bodies<S> > 1 && nv > wide;  // a register of columns at a time
  int first = 1, last = 1;
  for (long next = 0; next < nv; next += wide) {
    const long c0 = in_rows && next + wide > nv ? nv - wide : next;  // the last overlap those before
    const long c1 = c0 + wide < nv ? c0 + wide : nv;
    while (first < tree.bodies && tree.index[first + 1].v <= c0) ++first;
    while (last < tree.bodies && tree.index[last + 1].v < c1) ++last;
    solve<false, S, W>(
        tree, m, first, last, nu,
        p, [&](int i) __attribute__((always_inline)) { return unit_solves<S>(int(i - c0)); },
        [&](int i, const W& a) __attribute__((always_inline)) {
          if (i >= c1) return;
          S* const row = inverse + i * nv + c0;
          S some[wide];
          if constexpr (wide == 1) {
            some[0] = a;
          } else if constexpr (wide_bodies<S> == 1) {
            for (int c = 0; c < wide; ++c) some[c] = a.at[c];
          } else {
            if (in_rows) return a.store(row);
            a.store(some);
          }
          for (long c = i < c0 ? 0 : i - c0; c < c1 - c0; ++c)
            row[c] = some[c], inverse[(c0 + c) * nv + i] = some[c];
        });
  }
  if (in_rows) mirror(int(nv), inverse);
}

}  // namespace articula::ARTICULA_ISA
