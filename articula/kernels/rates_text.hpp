// Small products that rates of change of articulated inertias need (DIAG section 2), each with few
// multiplications.
#pragma once

#include "articula/model/hinges.hpp"

namespace articula {

/// w~ J - J w~: how a symmetric matrix changes when it turns with w; w2 = 2 w. Symmetric and without trace:
/// 12 products.
template <class S>
ARTICULA_INLINE Sym3<S> turning(const Vec3<S>& w, const Vec3<S>& w2, const Sym3<S>& J) {
  const S x = w2.x * J.yz, y = w2.y * J.xz, z = w2.z * J.xy;
  return {y - z,
          z - x,
          x - y,
          (w.y * J.yz - w.x * J.xz) + w.z * (J.xx - J.yy),
          (w.x * J.xy - w.z * J.yz) + w.y * (J.zz - J.xx),
          (w.z * J.xz - w.y * J.xy) + w.x * (J.yy - J.zz)};
}
/// w~ B - B w~ for any B, from its symmetric part and its axial vector: 21 products instead of 36.
template <class S>
ARTICULA_INLINE Mat3<S> turning(const Vec3<S>& w, const Mat3<S>& B) {
  const Vec3<S> half = w * Real<S>(0.5);
  const S xy = B.xy + B.yx, xz = B.xz + B.zx, yz = B.yz + B.zy;
  const Vec3<S> axial = cross(half, Vec3<S>{B.zy - B.yz, B.xz - B.zx, B.yx - B.xy});
  const S x = w.x * yz, y = w.y * xz, z = w.z * xy;
  const S s_xy = (half.y * yz - half.x * xz) + w.z * (B.xx - B.yy);
  const S s_xz = (half.x * xy - half.z * yz) + w.y * (B.zz - B.xx);
  const S s_yz = (half.z * xz - half.y * xy) + w.x * (B.yy - B.zz);
  return {y - z,          s_xy - axial.z, s_xz + axial.y, s_xy + axial.z, z - x,
          s_yz - axial.x, s_xz - axial.y, s_yz + axial.x, x - y};
}
/// A + A*.
template <class S>
ARTICULA_INLINE Sym3<S> with_star(const Mat3<S>& A) {
  return {A.xx + A.xx, A.yy + A.yy, A.zz + A.zz, A.xy + A.yx, A.xz + A.zx, A.yz + A.zy};
}

/// Od P + P Od* with Od = S[X], X = H* th' the motion of a joint of kind J: what DIAG (7) writes as a
/// commutator, for joints that slide too.
template <class J, class S>
ARTICULA_INLINE ArticulatedInertia<S> joint_rate(const Spatial<S>& X, const ArticulatedInertia<S>& P) {
  constexpr bool turns = J::angle >= 0 || J::quaternion;
  const S O(0);
  ArticulatedInertia<S> rate{{O, O, O, O, O, O}, {O, O, O, O, O, O, O, O, O}, {O, O, O, O, O, O}};
  if constexpr (turns) {
    const Vec3<S> w2 = X.w + X.w;
    rate = {turning(X.w, w2, P.J), turning(X.w, P.B), turning(X.w, w2, P.C)};
  }
  if constexpr (J::slides) {
    const Sym3<S> by_slide = with_star(cross(X.v, star(P.B)));
    const Mat3<S> vC = cross(X.v, full(P.C));
    if constexpr (turns) {
      rate.J += by_slide;
      rate.B += vC;
    } else {
      rate.J = by_slide;
      rate.B = vC;
    }
  }
  return rate;
}
/// P - a b* - b a*.
template <class S>
ARTICULA_INLINE void subtract_both(ArticulatedInertia<S>& P, const Spatial<S>& a, const Spatial<S>& b) {
  const auto product = [](const Vec3<S>& u, const Vec3<S>& v) __attribute__((always_inline)) {
    return Mat3<S>{u.x * v.x, u.x * v.y, u.x * v.z, u.y * v.x, u.y * v.y,
                   u.y * v.z, u.z * v.x, u.z * v.y, u.z * v.z};
  };
  P.J = P.J - symmetric_product(a.w, b.w);
  P.B = P.B - (product(a.w, b.v) + product(b.w, a.v));
  P.C = P.C - symmetric_product(a.v, b.v);
}

}  // namespace articula
