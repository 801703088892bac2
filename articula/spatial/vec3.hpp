// 3-vectors, 3x3 matrices and symmetric 3x3 matrices: plain structs of scalars, everything inlined.
#pragma once

#include "articula/spatial/scalar.hpp"

namespace articula {

template <class S>
struct Vec3 {
  S x, y, z;
};

/// Rows are (xx xy xz), (yx yy yz), (zx zy zz).
template <class S>
struct Mat3 {
  S xx, xy, xz, yx, yy, yz, zx, zy, zz;
  static constexpr Mat3 identity() { return {S(1), S(0), S(0), S(0), S(1), S(0), S(0), S(0), S(1)}; }
};

/// Symmetric: six numbers.
template <class S>
struct Sym3 {
  S xx, yy, zz, xy, xz, yz;
};

// --- Vec3 --------------------------------------------------------------------------------------------
template <class A, class B>
ARTICULA_INLINE auto operator+(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x + b.x)> {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
ARTICULA_INLINE auto operator-(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x - b.x)> {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class S>
ARTICULA_INLINE Vec3<S> operator-(const Vec3<S>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Vec3<A>& a, const B& s) -> Vec3<decltype(a.x * s)> {
  return {a.x * s, a.y * s, a.z * s};
}
template <class A, class B>
ARTICULA_INLINE Vec3<A>& operator+=(Vec3<A>& a, const Vec3<B>& b) {
  return a = a + b;
}
template <class A, class B>
ARTICULA_INLINE Vec3<A>& operator-=(Vec3<A>& a, const Vec3<B>& b) {
  return a = a - b;
}
template <class A, class B>
ARTICULA_INLINE auto dot(const Vec3<A>& a, const Vec3<B>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// a~ b, the cross product.
template <class A, class B>
ARTICULA_INLINE auto cross(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x * b.x)> {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// --- Mat3 --------------------------------------------------------------------------------------------
template <class S>
ARTICULA_INLINE Vec3<S> column_x(const Mat3<S>& m) {
  return {m.xx, m.yx, m.zx};
}
template <class S>
ARTICULA_INLINE Vec3<S> column_y(const Mat3<S>& m) {
  return {m.xy, m.yy, m.zy};
}
template <class S>
ARTICULA_INLINE Vec3<S> column_z(const Mat3<S>& m) {
  return {m.xz, m.yz, m.zz};
}
template <class S>
ARTICULA_INLINE Mat3<S> from_columns(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c) {
  return {a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z};
}
template <class S>
ARTICULA_INLINE Mat3<S> star(const Mat3<S>& m) {
  return {m.xx, m.yx, m.zx, m.xy, m.yy, m.zy, m.xz, m.yz, m.zz};
}
template <class A, class B>
ARTICULA_INLINE auto operator+(const Mat3<A>& a, const Mat3<B>& b) -> Mat3<decltype(a.xx + b.xx)> {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yx + b.yx, a.yy + b.yy,
          a.yz + b.yz, a.zx + b.zx, a.zy + b.zy, a.zz + b.zz};
}
template <class A, class B>
ARTICULA_INLINE auto operator-(const Mat3<A>& a, const Mat3<B>& b) -> Mat3<decltype(a.xx - b.xx)> {
  return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yx - b.yx, a.yy - b.yy,
          a.yz - b.yz, a.zx - b.zx, a.zy - b.zy, a.zz - b.zz};
}
template <class A, class B>
ARTICULA_INLINE Mat3<A>& operator+=(Mat3<A>& a, const Mat3<B>& b) {
  return a = a + b;
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Mat3<A>& m, const Vec3<B>& v) -> Vec3<decltype(m.xx * v.x)> {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.yx * v.x + m.yy * v.y + m.yz * v.z,
          m.zx * v.x + m.zy * v.y + m.zz * v.z};
}
/// star(m) * v
template <class A, class B>
ARTICULA_INLINE auto star_times(const Mat3<A>& m, const Vec3<B>& v) -> Vec3<decltype(m.xx * v.x)> {
  return {m.xx * v.x + m.yx * v.y + m.zx * v.z, m.xy * v.x + m.yy * v.y + m.zy * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Mat3<A>& a, const Mat3<B>& b) {
  return from_columns(a * column_x(b), a * column_y(b), a * column_z(b));
}
/// a~ as a matrix.
template <class S>
ARTICULA_INLINE Mat3<S> tilde(const Vec3<S>& a) {
  return {S(0), -a.z, a.y, a.z, S(0), -a.x, -a.y, a.x, S(0)};
}
/// a~ m, column by column.
template <class A, class B>
ARTICULA_INLINE auto cross(const Vec3<A>& a, const Mat3<B>& m) {
  return from_columns(cross(a, column_x(m)), cross(a, column_y(m)), cross(a, column_z(m)));
}
/// R Rz: a rotation by an angle about R's own z axis.
template <class A, class B>
ARTICULA_INLINE auto turned_about_z(const Mat3<A>& R, const SinCos<B>& t) {
  const auto x = column_x(R) * t.cos + column_y(R) * t.sin;
  const auto y = column_y(R) * t.cos - column_x(R) * t.sin;
  using S = decltype(x.x + y.x);
  return from_columns(Vec3<S>{x.x, x.y, x.z}, Vec3<S>{y.x, y.y, y.z}, Vec3<S>{S(R.xz), S(R.yz), S(R.zz)});
}

// --- Sym3 --------------------------------------------------------------------------------------------
template <class A, class B>
ARTICULA_INLINE auto operator+(const Sym3<A>& a, const Sym3<B>& b) -> Sym3<decltype(a.xx + b.xx)> {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
template <class A, class B>
ARTICULA_INLINE auto operator-(const Sym3<A>& a, const Sym3<B>& b) -> Sym3<decltype(a.xx - b.xx)> {
  return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
}
template <class A, class B>
ARTICULA_INLINE Sym3<A>& operator+=(Sym3<A>& a, const Sym3<B>& b) {
  return a = a + b;
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Sym3<A>& m, const Vec3<B>& v) -> Vec3<decltype(m.xx * v.x)> {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
template <class A, class B>
ARTICULA_INLINE auto operator*(const Sym3<A>& m, const Mat3<B>& b) {
  return from_columns(m * column_x(b), m * column_y(b), m * column_z(b));
}
/// s times the identity, added on the diagonal.
template <class A, class B>
ARTICULA_INLINE auto plus_diagonal(const Sym3<A>& m, const B& s) -> Sym3<decltype(m.xx + s)> {
  return {m.xx + s, m.yy + s, m.zz + s, m.xy, m.xz, m.yz};
}
template <class S>
ARTICULA_INLINE Mat3<S> full(const Sym3<S>& m) {
  return {m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz};
}
/// The symmetric part of m, which must be symmetric but for rounding.
template <class S>
ARTICULA_INLINE Sym3<S> symmetric(const Mat3<S>& m) {
  const auto half = Real<S>(0.5);
  return {m.xx, m.yy, m.zz, (m.xy + m.yx) * half, (m.xz + m.zx) * half, (m.yz + m.zy) * half};
}
/// u w* + w u* (no factor one half).
template <class A, class B>
ARTICULA_INLINE auto symmetric_product(const Vec3<A>& u, const Vec3<B>& w) -> Sym3<decltype(u.x * w.x)> {
  const auto xx = u.x * w.x, yy = u.y * w.y, zz = u.z * w.z;
  return {xx + xx, yy + yy, zz + zz, u.x * w.y + u.y * w.x, u.x * w.z + u.z * w.x, u.y * w.z + u.z * w.y};
}

}  // namespace articula
