// Spatial (6-dimensional) vectors, rotation before translation, and phi, which carries them between points.
//
// Everything is in world axes. phi(a, b) = [[Id, l~], [0, Id]] with l from a to b carries a force at b to a;
// its adjoint carries a velocity at a to b (JPL88 2.3). Only l is stored.
#pragma once

#include "articula/spatial/vec3.hpp"

namespace articula {

/// (w, v) of a motion or (moment, force) of a force: rotation first.
template <class S>
struct Spatial {
  Vec3<S> w, v;
};

template <class A, class B>
ARTICULA_INLINE auto operator+(const Spatial<A>& a, const Spatial<B>& b) -> Spatial<decltype(a.w.x + b.w.x)> {
  return {a.w + b.w, a.v + b.v};
}
template <class A, class B>
ARTICULA_INLINE auto operator-(const Spatial<A>& a, const Spatial<B>& b) -> Spatial<decltype(a.w.x - b.w.x)> {
  return {a.w - b.w, a.v - b.v};
}
template <class S>
ARTICULA_INLINE Spatial<S> operator-(const Spatial<S>& a) {
  return {-a.w, -a.v};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Spatial<A>& a, const B& s) -> Spatial<decltype(a.w.x * s)> {
  return {a.w * s, a.v * s};
}
template <class A, class B>
ARTICULA_INLINE Spatial<A>& operator+=(Spatial<A>& a, const Spatial<B>& b) {
  return a = a + b;
}
template <class A, class B>
ARTICULA_INLINE Spatial<A>& operator-=(Spatial<A>& a, const Spatial<B>& b) {
  return a = a - b;
}
/// Two chains of three, so that the sum is not one long chain of additions.
template <class A, class B>
ARTICULA_INLINE auto dot(const Spatial<A>& a, const Spatial<B>& b) {
  return dot(a.w, b.w) + dot(a.v, b.v);
}

/// X x Y on motions: [[w~, 0], [v~, w~]].
template <class A, class B>
ARTICULA_INLINE auto cross_motion(const Spatial<A>& X, const Spatial<B>& Y)
    -> Spatial<decltype(X.w.x * Y.w.x)> {
  return {cross(X.w, Y.w), cross(X.v, Y.w) + cross(X.w, Y.v)};
}
/// X x* f on forces, LIN's S[X] f: [[w~, v~], [0, w~]].
template <class A, class B>
ARTICULA_INLINE auto cross_force(const Spatial<A>& X, const Spatial<B>& f)
    -> Spatial<decltype(X.w.x * f.w.x)> {
  return {cross(X.w, f.w) + cross(X.v, f.v), cross(X.w, f.v)};
}

/// phi(a, b), holding only l, the vector from a to b.
template <class S>
struct Phi {
  Vec3<S> l;
};
template <class S>
struct PhiStar {
  Vec3<S> l;
};
template <class S>
ARTICULA_INLINE PhiStar<S> star(const Phi<S>& phi) {
  return {phi.l};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Phi<A>& phi, const Spatial<B>& f) -> Spatial<decltype(phi.l.x * f.w.x)> {
  return {f.w + cross(phi.l, f.v), f.v};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const PhiStar<A>& phi, const Spatial<B>& x)
    -> Spatial<decltype(phi.l.x * x.w.x)> {
  return {x.w, x.v + cross(x.w, phi.l)};
}

}  // namespace articula
