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

}  // namespace articula::ARTICULA_ISA
