// The joint kinds as the kernels know them.
//
// Each kind says how its coordinates turn and slide the outboard body (turn, slide: in the joint's own axes,
// fixed in the inboard body), and what its hinge map H is, from the outboard body's axes R in the world. Body
// axes are chosen when a model is built so that a one-axis joint turns about or slides along z; H is then
// constant in body axes for every kind here. Every other joint kind is made of these: continuous is revolute,
// a universal joint is two revolute ones with a massless cross between them, fixed joints are merged.
//
// H is dof x 6, as in the papers. Its rows are kept by their shape, so that products skip the zeros.
#pragma once

#include "articula/spatial/inertia.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {

// --- rows of H ---------------------------------------------------------------------------------------
/// A row (h, 0): turning about h.
template <class S>
struct Turn {
  Vec3<S> h;
};
/// A row (0, h): sliding along h.
template <class S>
struct Slide {
  Vec3<S> h;
};
/// A row (h, pitch h): a screw.
template <class S>
struct Screw {
  Vec3<S> h, ph;
};

/// The same for the unit vector of axis i, of a body whose own axes are those in use: rows without numbers.
template <int i>
struct UnitTurn {};
template <int i>
struct UnitSlide {};
template <int i, class R>
struct UnitScrew {
  R pitch;
};

/// A body's own axes, seen in themselves, and the unit vectors along them.
struct OwnAxes {};
template <int i>
struct Unit {};
ARTICULA_INLINE Unit<0> column_x(const OwnAxes&) { return {}; }
ARTICULA_INLINE Unit<1> column_y(const OwnAxes&) { return {}; }
ARTICULA_INLINE Unit<2> column_z(const OwnAxes&) { return {}; }

template <class S>
ARTICULA_INLINE Turn<S> turn_about(const Vec3<S>& h) {
  return {h};
}
template <int i>
ARTICULA_INLINE UnitTurn<i> turn_about(const Unit<i>&) {
  return {};
}
template <class S>
ARTICULA_INLINE Slide<S> slide_along(const Vec3<S>& h) {
  return {h};
}
template <int i>
ARTICULA_INLINE UnitSlide<i> slide_along(const Unit<i>&) {
  return {};
}
template <class S, class R>
ARTICULA_INLINE Screw<S> screw_along(const Vec3<S>& h, const R& pitch) {
  return {h, h * pitch};
}
template <int i, class R>
ARTICULA_INLINE UnitScrew<i, R> screw_along(const Unit<i>&, const R& pitch) {
  return {pitch};
}

template <class S>
ARTICULA_INLINE Spatial<S> spatial(const Turn<S>& r) {
  return {r.h, {S(0), S(0), S(0)}};
}
template <class S>
ARTICULA_INLINE Spatial<S> spatial(const Slide<S>& r) {
  return {{S(0), S(0), S(0)}, r.h};
}
template <class S>
ARTICULA_INLINE Spatial<S> spatial(const Screw<S>& r) {
  return {r.h, r.ph};
}
template <class S, class X>
ARTICULA_INLINE auto dot(const Turn<S>& r, const Spatial<X>& f) {
  return dot(r.h, f.w);
}
template <class S, class X>
ARTICULA_INLINE auto dot(const Slide<S>& r, const Spatial<X>& f) {
  return dot(r.h, f.v);
}
template <class S, class X>
ARTICULA_INLINE auto dot(const Screw<S>& r, const Spatial<X>& f) {
  return dot(r.h, f.w) + dot(r.ph, f.v);
}
/// x += row* v
template <class S, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const Turn<S>& r, const X& v) {
  x.w += r.h * v;
}
template <class S, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const Slide<S>& r, const X& v) {
  x.v += r.h * v;
}
template <class S, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const Screw<S>& r, const X& v) {
  x.w += r.h * v;
  x.v += r.ph * v;
}
template <class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const Turn<S>& r) {
  return {P.J * r.h, star_times(P.B, r.h)};
}
template <class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const Slide<S>& r) {
  return {P.B * r.h, P.C * r.h};
}
template <class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const Screw<S>& r) {
  return P * spatial(r);
}

template <int i, class V>
ARTICULA_INLINE auto& component(V& a) {
  if constexpr (i == 0)
    return a.x;
  else if constexpr (i == 1)
    return a.y;
  else
    return a.z;
}
template <int i, class M>
ARTICULA_INLINE auto column_at(const M& m) {
  if constexpr (i == 0)
    return column_x(m);
  else if constexpr (i == 1)
    return column_y(m);
  else
    return column_z(m);
}
template <int i, class X>
ARTICULA_INLINE X dot(const UnitTurn<i>&, const Spatial<X>& f) {
  return component<i>(f.w);
}
template <int i, class X>
ARTICULA_INLINE X dot(const UnitSlide<i>&, const Spatial<X>& f) {
  return component<i>(f.v);
}
template <int i, class R, class X>
ARTICULA_INLINE X dot(const UnitScrew<i, R>& r, const Spatial<X>& f) {
  return component<i>(f.w) + component<i>(f.v) * r.pitch;
}
template <int i, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const UnitTurn<i>&, const X& v) {
  component<i>(x.w) = component<i>(x.w) + v;
}
template <int i, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const UnitSlide<i>&, const X& v) {
  component<i>(x.v) = component<i>(x.v) + v;
}
template <int i, class R, class X>
ARTICULA_INLINE void add(Spatial<X>& x, const UnitScrew<i, R>& r, const X& v) {
  component<i>(x.w) = component<i>(x.w) + v;
  component<i>(x.v) = component<i>(x.v) + v * r.pitch;
}
template <int i, class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const UnitTurn<i>&) {
  return {column_at<i>(full(P.J)), column_at<i>(star(P.B))};
}
template <int i, class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const UnitSlide<i>&) {
  return {column_at<i>(P.B), column_at<i>(full(P.C))};
}
template <int i, class R, class S>
ARTICULA_INLINE Spatial<S> operator*(const ArticulatedInertia<S>& P, const UnitScrew<i, R>& r) {
  return P * UnitTurn<i>{} + P * UnitSlide<i>{} * r.pitch;
}

// --- the kinds --------------------------------------------------------------------------------------
/// The one list of the kinds: name and struct. A new kind is a struct below and an entry here.
#define ARTICULA_HINGE_KINDS(entry)                                             \
  entry(revolute, Revolute) entry(prismatic, Prismatic) entry(helical, Helical) \
      entry(cylindrical, Cylindrical) entry(planar, Planar) entry(spherical, Spherical) entry(free, Free)

#define ARTICULA_HINGE_NAME(name, type) name,
#define ARTICULA_HINGE_ONE(name, type) +1
enum class HingeKind : unsigned char { ARTICULA_HINGE_KINDS(ARTICULA_HINGE_NAME) };
inline constexpr int hinge_kinds = ARTICULA_HINGE_KINDS(ARTICULA_HINGE_ONE);
inline constexpr int max_freedoms = 6;

/// How a kind's coordinates move with its velocity: they add, or are a rotation (unit quaternion), a rigid
/// motion (unit quaternion, position) or one of the plane (angle, position). See configuration.cpp.
enum class Chart : unsigned char { adds, rotation, motion, plane };

// Every kind has: nq, nv; `angle`: the index of the coordinate that turns about z (-1: none); `quaternion`;
// `chart`; `axial`: nothing of it is told along x or y, so that body axes may be turned about z; slide(q,
// pitch): the shift of the outboard origin in joint axes; and row<i>(R, pitch), the rows of H.
struct Revolute {
  static constexpr HingeKind kind = HingeKind::revolute;
  static constexpr int nq = 1, nv = 1, angle = 0;
  static constexpr bool quaternion = false, slides = false, axial = true;
  static constexpr Chart chart = Chart::adds;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S*, const R&) {
    return {S(0), S(0), S(0)};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    return turn_about(column_z(axes));
  }
};

struct Prismatic {
  static constexpr HingeKind kind = HingeKind::prismatic;
  static constexpr int nq = 1, nv = 1, angle = -1;
  static constexpr bool quaternion = false, slides = true, axial = true;
  static constexpr Chart chart = Chart::adds;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S* q, const R&) {
    return {S(0), S(0), q[0]};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    return slide_along(column_z(axes));
  }
};

struct Helical {
  static constexpr HingeKind kind = HingeKind::helical;
  static constexpr int nq = 1, nv = 1, angle = 0;
  static constexpr bool quaternion = false, slides = true, axial = true;
  static constexpr Chart chart = Chart::adds;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S* q, const R& pitch) {
    return {S(0), S(0), q[0] * pitch};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R& pitch) {
    return screw_along(column_z(axes), pitch);
  }
};

/// q = (angle, slide), both along z.
struct Cylindrical {
  static constexpr HingeKind kind = HingeKind::cylindrical;
  static constexpr int nq = 2, nv = 2, angle = 0;
  static constexpr bool quaternion = false, slides = true, axial = true;
  static constexpr Chart chart = Chart::adds;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S* q, const R&) {
    return {S(0), S(0), q[1]};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    if constexpr (i == 0)
      return turn_about(column_z(axes));
    else
      return slide_along(column_z(axes));
  }
};

/// q = (angle, x, y), x and y in the joint's inboard axes; v = (w, vx, vy) in the outboard body's axes.
struct Planar {
  static constexpr HingeKind kind = HingeKind::planar;
  static constexpr int nq = 3, nv = 3, angle = 0;
  static constexpr bool quaternion = false, slides = true, axial = false;
  static constexpr Chart chart = Chart::plane;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S* q, const R&) {
    return {q[1], q[2], S(0)};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    if constexpr (i == 0)
      return turn_about(column_z(axes));
    else if constexpr (i == 1)
      return slide_along(column_x(axes));
    else
      return slide_along(column_y(axes));
  }
};

/// q = unit quaternion (x, y, z, w); v = angular velocity in the outboard body's axes.
struct Spherical {
  static constexpr HingeKind kind = HingeKind::spherical;
  static constexpr int nq = 4, nv = 3, angle = -1;
  static constexpr bool quaternion = true, slides = false, axial = false;
  static constexpr Chart chart = Chart::rotation;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S*, const R&) {
    return {S(0), S(0), S(0)};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    return turn_about(column_at<i>(axes));
  }
};

/// q = (quaternion, position in the joint's inboard axes); v = (w, v) in the outboard body's axes.
struct Free {
  static constexpr HingeKind kind = HingeKind::free;
  static constexpr int nq = 7, nv = 6, angle = -1;
  static constexpr bool quaternion = true, slides = true, axial = false;
  static constexpr Chart chart = Chart::motion;
  template <class S, class R>
  ARTICULA_INLINE static Vec3<S> slide(const S* q, const R&) {
    return {q[4], q[5], q[6]};
  }
  template <int i, class Axes, class R>
  ARTICULA_INLINE static auto row(const Axes& axes, const R&) {
    if constexpr (i < 3)
      return turn_about(column_at<i>(axes));
    else
      return slide_along(column_at<i - 3>(axes));
  }
};

/// Calls f with the joint's kind as a type: the one place where a kind becomes code.
template <class F>
ARTICULA_INLINE decltype(auto) visit(HingeKind kind, F&& f) {
#define ARTICULA_HINGE_CASE(name, type) \
  case HingeKind::name:                 \
    return f(type{});
  switch (kind) { ARTICULA_HINGE_KINDS(ARTICULA_HINGE_CASE) }
#undef ARTICULA_HINGE_CASE
  __builtin_unreachable();
}

#undef ARTICULA_HINGE_NAME
#undef ARTICULA_HINGE_ONE

/// f(std::integral_constant-like index) for each freedom of J, unrolled.
template <int i>
struct Index {
  static constexpr int value = i;
};
template <int N, int i = 0, class F>
ARTICULA_INLINE void for_each_index(F&& f) {
  if constexpr (i < N) {
    f(Index<i>{});
    for_each_index<N, i + 1>(f);
  }
}

/// H of joint kind J at body axes R, or OwnAxes: rows by shape.
template <class J, class S, class Axes = Mat3<S>>
struct HingeMap {
  const Axes& axes;
  Real<S> pitch;
  template <int i>
  ARTICULA_INLINE auto row() const {
    return J::template row<i>(axes, pitch);
  }
};
/// H of a body in its own axes.
template <class J, class S>
ARTICULA_INLINE HingeMap<J, S, OwnAxes> own_hinge(const Real<S>& pitch) {
  static constexpr OwnAxes axes;
  return {axes, pitch};
}
/// H* v
template <class X, class J, class S, class Axes>
ARTICULA_INLINE Spatial<X> star_times(const HingeMap<J, S, Axes>& H, const X* v) {
  const X O(0);
  Spatial<X> x{{O, O, O}, {O, O, O}};
  if constexpr (J::nv == 1 && !std::is_same_v<Axes, OwnAxes>) {
    const auto r = H.template row<0>();
    if constexpr (requires { r.ph; })
      return {r.h * v[0], r.ph * v[0]};
    else if constexpr (J::slides)
      return {{O, O, O}, r.h * v[0]};
    else
      return {r.h * v[0], {O, O, O}};
  } else {
    for_each_index<J::nv>([&](auto i) { add(x, H.template row<i.value>(), v[i.value]); });
    return x;
  }
}
/// out = H f
template <class X, class J, class S, class Axes, class Y>
ARTICULA_INLINE void times(const HingeMap<J, S, Axes>& H, const Spatial<Y>& f, X* out) {
  for_each_index<J::nv>([&](auto i) { out[i.value] = dot(H.template row<i.value>(), f); });
}

}  // namespace articula
