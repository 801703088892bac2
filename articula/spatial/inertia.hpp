// Inertia of a rigid body and of an articulated one, at a point O, world axes.
#pragma once

#include "articula/spatial/spatial.hpp"

namespace articula {

/// M = [[J, m p~], [-m p~, m Id]] at O: p from O to the mass centre, mp = m p, J about O.
template <class S>
struct Inertia {
  S m;
  Vec3<S> mp;
  Sym3<S> J;
};

template <class A, class B>
ARTICULA_INLINE auto operator+(const Inertia<A>& a, const Inertia<B>& b) -> Inertia<decltype(a.m + b.m)> {
  return {a.m + b.m, a.mp + b.mp, a.J + b.J};
}
template <class A, class B>
ARTICULA_INLINE Inertia<A>& operator+=(Inertia<A>& a, const Inertia<B>& b) {
  return a = a + b;
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Inertia<A>& M, const Spatial<B>& x) -> Spatial<decltype(M.m * x.w.x)> {
  return {M.J * x.w + cross(M.mp, x.v), x.v * M.m - cross(M.mp, x.w)};
}
/// Inertia of a point mass m at l, as it enters J: -m l~ l~ = m (|l|^2 Id - l l*).
template <class A, class B>
ARTICULA_INLINE auto minus_tilde_tilde(const Vec3<A>& a, const Vec3<B>& b) -> Sym3<decltype(a.x * b.x)> {
  // -(a~ b~ + b~ a~) / 2 = (a.b) Id - (a b* + b a*) / 2, here without the half: twice that.
  const auto xx = a.x * b.x, yy = a.y * b.y, zz = a.z * b.z;
  return {(yy + zz) + (yy + zz),    (xx + zz) + (xx + zz),    (xx + yy) + (xx + yy),
          -(a.x * b.y + a.y * b.x), -(a.x * b.z + a.z * b.x), -(a.y * b.z + a.z * b.y)};
}
/// phi M phi*: the same body seen from the point at -l.
template <class A, class B>
ARTICULA_INLINE auto shifted(const Phi<A>& phi, const Inertia<B>& M) -> Inertia<decltype(phi.l.x * M.m)> {
  const auto half_ml = phi.l * (M.m * Real<B>(0.5));
  return {M.m, M.mp + half_ml + half_ml, M.J + minus_tilde_tilde(phi.l, M.mp + half_ml)};
}

/// P = [[J, B], [B*, C]] with J and C symmetric: 21 numbers, symmetric by construction.
template <class S>
struct ArticulatedInertia {
  Sym3<S> J;
  Mat3<S> B;
  Sym3<S> C;
};

template <class S>
ARTICULA_INLINE ArticulatedInertia<S> articulated(const Inertia<S>& M) {
  const S O(0);
  return {M.J, tilde(M.mp), {M.m, M.m, M.m, O, O, O}};
}
template <class A, class B>
ARTICULA_INLINE ArticulatedInertia<A>& operator+=(ArticulatedInertia<A>& P, const Inertia<B>& M) {
  P.J += M.J;
  P.B = {P.B.xx,          P.B.xy - M.mp.z, P.B.xz + M.mp.y, P.B.yx + M.mp.z, P.B.yy,
         P.B.yz - M.mp.x, P.B.zx - M.mp.y, P.B.zy + M.mp.x, P.B.zz};
  P.C = plus_diagonal(P.C, M.m);
  return P;
}
template <class A, class B>
ARTICULA_INLINE ArticulatedInertia<A>& operator+=(ArticulatedInertia<A>& P, const ArticulatedInertia<B>& Q) {
  P.J += Q.J;
  P.B += Q.B;
  P.C += Q.C;
  return P;
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const ArticulatedInertia<A>& P, const Spatial<B>& x)
    -> Spatial<decltype(P.J.xx * x.w.x)> {
  return {P.J * x.w + P.B * x.v, star_times(P.B, x.w) + P.C * x.v};
}
/// phi P phi*.
template <class S>
ARTICULA_INLINE ArticulatedInertia<S> shifted(const Phi<S>& phi, const ArticulatedInertia<S>& P) {
  const Vec3<S>& l = phi.l;
  const Mat3<S>& B = P.B;
  const Sym3<S>& C = P.C;
  // B+ = B + l~ C
  const Mat3<S> Bp{
      B.xx + l.y * C.xz - l.z * C.xy, B.xy + l.y * C.yz - l.z * C.yy, B.xz + l.y * C.zz - l.z * C.yz,
      B.yx + l.z * C.xx - l.x * C.xz, B.yy + l.z * C.xy - l.x * C.yz, B.yz + l.z * C.xz - l.x * C.zz,
      B.zx + l.x * C.xy - l.y * C.xx, B.zy + l.x * C.yy - l.y * C.xy, B.zz + l.x * C.yz - l.y * C.xz};
  // J+ = J + l~ B* - B+ l~
  return {{P.J.xx + l.y * (B.xz + Bp.xz) - l.z * (B.xy + Bp.xy),
           P.J.yy + l.z * (B.yx + Bp.yx) - l.x * (B.yz + Bp.yz),
           P.J.zz + l.x * (B.zy + Bp.zy) - l.y * (B.zx + Bp.zx),
           P.J.xy + (l.y * B.yz - l.z * B.yy) + (l.z * Bp.xx - l.x * Bp.xz),
           P.J.xz + (l.y * B.zz - l.z * B.zy) + (l.x * Bp.xy - l.y * Bp.xx),
           P.J.yz + (l.z * B.zx - l.x * B.zz) + (l.x * Bp.yy - l.y * Bp.yx)},
          Bp,
          C};
}
/// P - a b*, where a b* is known to be symmetric (a = K, b = D K*: one rank of K D K*).
template <class S>
ARTICULA_INLINE void subtract_rank_one(ArticulatedInertia<S>& P, const Spatial<S>& a, const Spatial<S>& b) {
  P.J = {P.J.xx - a.w.x * b.w.x, P.J.yy - a.w.y * b.w.y, P.J.zz - a.w.z * b.w.z,
         P.J.xy - a.w.x * b.w.y, P.J.xz - a.w.x * b.w.z, P.J.yz - a.w.y * b.w.z};
  P.B = {P.B.xx - a.w.x * b.v.x, P.B.xy - a.w.x * b.v.y, P.B.xz - a.w.x * b.v.z,
         P.B.yx - a.w.y * b.v.x, P.B.yy - a.w.y * b.v.y, P.B.yz - a.w.y * b.v.z,
         P.B.zx - a.w.z * b.v.x, P.B.zy - a.w.z * b.v.y, P.B.zz - a.w.z * b.v.z};
  P.C = {P.C.xx - a.v.x * b.v.x, P.C.yy - a.v.y * b.v.y, P.C.zz - a.v.z * b.v.z,
         P.C.xy - a.v.x * b.v.y, P.C.xz - a.v.x * b.v.z, P.C.yz - a.v.y * b.v.z};
}

}  // namespace articula
