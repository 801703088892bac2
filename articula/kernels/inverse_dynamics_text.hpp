// T = H phi (M alpha + b): inverse dynamics by one outward and one inward sweep (JPL88 3.5; docs/math.md 3).
#pragma once

#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// f(k) = sum over outboard bodies of phi f, and its own; T = H f. m.side has the sums over all children but
/// body k + 1, 6 numbers per slot.
template <class S>
ARTICULA_INLINE void gather_forces(const Tree<Real<S>>& tree, const KernelMemory<S>& m, S* tau) {
  constexpr int s = stride<S>;
  const S O(0);
  Spatial<S> carried{{O, O, O}, {O, O, O}};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    Spatial<S> f = read<Spatial>(xk + s * body::f);
    if (b.has_carry) f += carried;
    if (b.has_sides) f += gather<1, Spatial<S>>(m.side + 6 * k);
    const auto R = read<Mat3>(xk + s * body::R);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          times(HingeMap<J, S>{R, tree.pitch[k]}, f, tau + b.v);
        });
    if (b.handover == Handover::none) continue;
    carried = Phi<S>{read<Vec3>(xk + s * body::l)} * f;
    if (b.handover == Handover::carry) continue;
    S* const sum = m.side + 6 * b.inboard;
    if (b.handover == Handover::add) carried += gather<1, Spatial<S>>(sum);
    scatter<1>(carried, sum);
  }
}

/// M alpha + b of bodies at rest, which only gravity loads: alpha = (0, -g) for all of them.
struct WeighBodies {
  template <class S>
  ARTICULA_INLINE static void weigh(const Tree<Real<S>>& tree, int k, const Mat3<Wide<S>>& axes, S* xk) {
    using W = Wide<S>;
    const auto* const c = tree.constants_of(k);
    const Vec3<W> up{W(-tree.gravity.x), W(-tree.gravity.y), W(-tree.gravity.z)};
    const auto mp = axes * constants_wide<S, Vec3>(c + block * constant::mp);
    write_wide(xk + stride<S> * body::f,
               Spatial<W>{cross(mp, up), up * constants_wide<S, One>(c + block * constant::m)});
  }
  template <class S>
  ARTICULA_INLINE static void placed(const Tree<Real<S>>& tree, int k, S* xk) {
    weigh(tree, k, read_wide<Mat3>(xk + stride<S> * body::R), xk);
  }
  template <class S>
  ARTICULA_INLINE static void moved(const Tree<Real<S>>& tree, int k, const Moving<S>& at, S* xk) {
    weigh(tree, k, at.R, xk);
  }
};

}  // namespace articula::ARTICULA_ISA
