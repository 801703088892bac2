// The terms quadratic in velocity, body by body, once all angular velocities are known (docs/math.md 3):
//
//   a(k) = (w(k+1) x H*v|w,  w(k+1) x (w(k+1) x l) + (w(k+1) + w(k)) x H*v|v)     JPL88 (2.19), (2.32)
//   b(k) = (w x J w,  m w x (w x p))                                              JPL88 (2.23)
//
// a(k) of a sliding joint has 2 w x h th'; JPL88 (2.32) prints it without the 2.
#pragma once

#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// a and b, six per body, first body first. Gravity is not in a.
template <class S>
ARTICULA_INLINE void bias_terms(const Tree<Real<S>>& tree, const S* v, const S* x, S* a, S* b) {
  constexpr int s = stride<S>;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& index = tree.index[k];
    const S* xk = slot(x, k, int(body::count));
    const auto w = read<Vec3>(xk + s * body::w);
    const auto w_inboard = read<Vec3>(slot(x, index.inboard, int(body::count)) + s * body::w);
    const auto R = read<Mat3>(xk + s * body::R);
    const auto l = read<Vec3>(xk + s * body::l);
    visit(
        index.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const Spatial<S> dV = star_times(HingeMap<J, S>{R, tree.pitch[k]}, v + index.v);
          scatter<1>(Spatial<S>{cross(w_inboard, dV.w),
                                cross(w_inboard, cross(w_inboard, l)) + cross(w_inboard + w, dV.v)},
                     a + 6 * (k - 1));
        });
    const auto mp = read<Vec3>(xk + s * body::mp);
    scatter<1>(Spatial<S>{cross(w, read<Sym3>(xk + s * body::J) * w), cross(w, cross(w, mp))},
               b + 6 * (k - 1));
  }
}

}  // namespace articula::ARTICULA_ISA
