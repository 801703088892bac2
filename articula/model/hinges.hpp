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
  template <int i, class S, class R>
  ARTICULA_INLINE static Turn<S> row(const Mat3<S>& axes, const R&) {
    return {column_z(axes)};
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
  template <int i, class S, class R>
  ARTICULA_INLINE static Slide<S> row(const Mat3<S>& axes, const R&) {
    return {column_z(axes)};
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
  template <int i, class S, class R>
  ARTICULA_INLINE static Screw<S> row(const Mat3<S>& axes, const R& pitch) {
    return {column_z(axes), column_z(axes) * pitch};
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
  template <int i, class S, class R>
  ARTICULA_INLINE static auto row(const Mat3<S>& axes, const R&) {
    if constexpr (i == 0)
      return Turn<S>{column_z(axes)};
    else
      return Slide<S>{column_z(axes)};
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
  template <int i, class S, class R>
  ARTICULA_INLINE static auto row(const Mat3<S>& axes, const R&) {
    if constexpr (i == 0)
      return Turn<S>{column_z(axes)};
    else if constexpr (i == 1)
      return Slide<S>{column_x(axes)};
    else
      return Slide<S>{column_y(axes)};
  }
};

template <int i, class S>
ARTICULA_INLINE Vec3<S> axis_of(const Mat3<S>& axes) {
  if constexpr (i == 0)
    return column_x(axes);
  else if constexpr (i == 1)
    return column_y(axes);
  else
    return column_z(axes);
}

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
  template <int i, class S, class R>
  ARTICULA_INLINE static Turn<S> row(const Mat3<S>& axes, const R&) {
    return {axis_of<i>(axes)};
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
  template <int i, class S, class R>
  ARTICULA_INLINE static auto row(const Mat3<S>& axes, const R&) {
    if constexpr (i < 3)
      return Turn<S>{axis_of<i>(axes)};
    else
      return Slide<S>{axis_of<i - 3>(axes)};
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

/// H of joint kind J at body axes R: rows by shape.
template <class J, class S>
struct HingeMap {
  const Mat3<S>& axes;
  Real<S> pitch;
  template <int i>
  ARTICULA_INLINE auto row() const {
    return J::template row<i>(axes, pitch);
  }
};
/// H* v
template <class X, class J, class S>
ARTICULA_INLINE Spatial<X> star_times(const HingeMap<J, S>& H, const X* v) {
  const X O(0);
  Spatial<X> x{{O, O, O}, {O, O, O}};
  if constexpr (J::nv == 1) {
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
template <class X, class J, class S, class Y>
ARTICULA_INLINE void times(const HingeMap<J, S>& H, const Spatial<Y>& f, X* out) {
  for_each_index<J::nv>([&](auto i) { out[i.value] = dot(H.template row<i.value>(), f); });
}

}  // namespace articula
