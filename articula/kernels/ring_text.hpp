// LIN's ring inertia Mr, and what every linearization computes of one body: docs/math.md 7.
#pragma once

#include "articula/kernels/linearization_memory.hpp"
#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// Mr = [[N, 0], [-F~, 0]]: 12 numbers that add up like inertias. For a body it is Mr = (Ms' - Q[Ms V]) / 2
/// (LIN 2.8); external forces that are held in world axes give one of the same shape.
template <class S>
struct Ring {
  Mat3<S> N;
  Vec3<S> F;
};
template <class S>
ARTICULA_INLINE Ring<S> operator+(const Ring<S>& a, const Ring<S>& b) {
  return {a.N + b.N, a.F + b.F};
}
/// Mr x, which depends on the angular part of x alone.
template <class A, class B>
ARTICULA_INLINE auto times_angular(const Ring<A>& r, const Vec3<B>& w) -> Spatial<decltype(r.F.x * w.x)> {
  return {r.N * w, cross(w, r.F)};
}
/// The angular part of Mr* x; the other is zero.
template <class A, class B>
ARTICULA_INLINE auto star_times(const Ring<A>& r, const Spatial<B>& x) -> Vec3<decltype(r.F.x * x.w.x)> {
  return star_times(r.N, x.w) + cross(r.F, x.v);
}

/// With Sigma = tr(J) Id / 2 - J, the second moment of mass, N is -(w~ Sigma + v h* - (h.v) Id) and F = m v +
/// w x h: the twist (w~, v) times the body's 4 x 4 pseudo-inertia (Sigma, h; h*, m). half_trace: tr(J) / 2.
template <class S>
ARTICULA_INLINE Ring<S> ring(const Inertia<S>& M, const S& half_trace, const Spatial<S>& V) {
  const Vec3<S>&w = V.w, &v = V.v, &h = M.mp;
  const Sym3<S> Z = plus_diagonal(M.J, -half_trace);  // -Sigma
  const S xx = v.x * h.x, yy = v.y * h.y, zz = v.z * h.z;
  return {{w.y * Z.xz - w.z * Z.xy + (yy + zz), w.y * Z.yz - w.z * Z.yy - v.x * h.y,
           w.y * Z.zz - w.z * Z.yz - v.x * h.z, w.z * Z.xx - w.x * Z.xz - v.y * h.x,
           w.z * Z.xy - w.x * Z.yz + (xx + zz), w.z * Z.xz - w.x * Z.zz - v.y * h.z,
           w.x * Z.xy - w.y * Z.xx - v.z * h.x, w.x * Z.yy - w.y * Z.xy - v.z * h.y,
           w.x * Z.yz - w.y * Z.xz + (xx + yy)},
          v * M.m + cross(w, h)};
}
/// M alpha + Mr V (LIN 2.9).
template <class S>
ARTICULA_INLINE Spatial<S> body_force(const Inertia<S>& M, const Ring<S>& r, const Spatial<S>& V,
                                      const Spatial<S>& alpha) {
  return M * alpha + times_angular(r, V.w);
}
template <class S>
ARTICULA_INLINE Vec3<S> twice(const Vec3<S>& a) {
  return a + a;
}

template <class S>
ARTICULA_INLINE Spatial<S> wrench_of(const ExternalForces<S>& external, int k) {
  return gather<1, Spatial<S>>(external.wrenches + 6 * (k - 1));
}
/// With those that are carried.
template <class S>
ARTICULA_INLINE Spatial<S> all_wrenches_of(const ExternalForces<S>& external, int k) {
  const S O(0);
  Spatial<S> sum{{O, O, O}, {O, O, O}};
  if (external.wrenches) sum = wrench_of(external, k);
  if (external.carried) sum += gather<1, Spatial<S>>(external.carried + 6 * (k - 1));
  return sum;
}
/// Of a force F at r from O_k: r x (dw x F) - dw x (r x F) = ((r.F) Id - r F*) dw, summed over the body's
/// forces.
template <class S>
ARTICULA_INLINE Mat3<S> lever_of(const ExternalForces<S>& external, int k) {
  const S O(0);
  if (!external.levers) return {O, O, O, O, O, O, O, O, O};
  const auto L = gather<1, Mat3<S>>(external.levers + 9 * (k - 1));
  return {L.yy + L.zz, -L.xy, -L.xz, -L.yx, L.xx + L.zz, -L.yz, -L.zx, -L.zy, L.xx + L.yy};
}
/// How a force on body k, O_k at o, that keeps its components in world axes differs from one that turns with
/// the body, for a turn dw: phi (dw x moment + lever dw, dw x force).
template <class S>
ARTICULA_INLINE Ring<S> held_in_world(const ExternalForces<S>& external, int k, const Vec3<S>& o) {
  // dw x N + o x (dw x F) = -N~ dw - o~ F~ dw,  o~ F~ = F o* - (o.F) Id
  const Spatial<S> wrench = wrench_of(external, k);
  const Vec3<S>&F = wrench.v, N = wrench.w;
  const S xx = F.x * o.x, yy = F.y * o.y, zz = F.z * o.z;
  return {lever_of(external, k) + Mat3<S>{yy + zz, N.z - F.x * o.y, -N.y - F.x * o.z,  //
                                          -N.z - F.y * o.x, xx + zz, N.x - F.y * o.z,  //
                                          N.y - F.z * o.x, -N.x - F.z * o.y, xx + yy},
          F};
}

template <class S>
ARTICULA_INLINE S* y_of(const LinearizationMemory<S>& m, int k) {
  return slot(m.y, k, int(motion::count));
}
// Motions of a joint, H* x, by the shape of H: products skip the zeros.
template <class J>
inline constexpr bool turns_only = J::kind == HingeKind::revolute || J::kind == HingeKind::spherical;
template <class J>
inline constexpr bool slides_only = J::kind == HingeKind::prismatic;

template <class S>
ARTICULA_INLINE Slide<S> operator+(const Slide<S>& a, const Slide<S>& b) {
  return {a.h + b.h};
}
template <class S>
ARTICULA_INLINE Turn<S> operator*(const Turn<S>& a, const S& x) {
  return {a.h * x};
}
template <class S>
ARTICULA_INLINE Slide<S> operator*(const Slide<S>& a, const S& x) {
  return {a.h * x};
}
/// The one row of a joint with one freedom.
template <class J, class S>
ARTICULA_INLINE auto unit_motion(const HingeMap<J, S>& H) {
  const auto row = H.template row<0>();
  if constexpr (turns_only<J> || slides_only<J>)
    return row;
  else
    return spatial(row);
}
template <class J, class S>
ARTICULA_INLINE auto joint_motion(const HingeMap<J, S>& H, const S* x) {
  const Spatial<S> m = star_times(H, x);
  if constexpr (turns_only<J>)
    return Turn<S>{m.w};
  else if constexpr (slides_only<J>)
    return Slide<S>{m.v};
  else
    return m;
}
template <class S>
ARTICULA_INLINE Spatial<S> operator+(const Spatial<S>& a, const Turn<S>& b) {
  return {a.w + b.h, a.v};
}
template <class S>
ARTICULA_INLINE Spatial<S> operator+(const Spatial<S>& a, const Slide<S>& b) {
  return {a.w, a.v + b.h};
}
/// X x (h, 0), X x (0, h).
template <class S>
ARTICULA_INLINE Spatial<S> cross_motion(const Spatial<S>& X, const Turn<S>& b) {
  return {cross(X.w, b.h), cross(X.v, b.h)};
}
template <class S>
ARTICULA_INLINE Slide<S> cross_motion(const Spatial<S>& X, const Slide<S>& b) {
  return {cross(X.w, b.h)};
}
/// (h, 0) x* f, (0, h) x* f.
template <class S>
ARTICULA_INLINE Spatial<S> cross_force(const Turn<S>& b, const Spatial<S>& f) {
  return {cross(b.h, f.w), cross(b.h, f.v)};
}
template <class S>
ARTICULA_INLINE Spatial<S> cross_force(const Slide<S>& b, const Spatial<S>& f) {
  return {cross(b.h, f.v), {S(0), S(0), S(0)}};
}
template <class S>
ARTICULA_INLINE Vec3<S> angular(const Turn<S>& b) {
  return b.h;
}
template <class S>
ARTICULA_INLINE Vec3<S> angular(const Slide<S>&) {
  return {S(0), S(0), S(0)};
}
template <class S>
ARTICULA_INLINE Vec3<S> angular(const Spatial<S>& b) {
  return b.w;
}

}  // namespace articula::ARTICULA_ISA
