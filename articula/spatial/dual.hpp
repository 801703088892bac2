// Dual<T>: a number and its derivative along one direction. The kernels' text, run with it, gives exact
// directional derivatives of what the kernels compute; Dual<Dual<T>> gives second ones.
#pragma once

#include "articula/spatial/sincos.hpp"

namespace articula {

template <class T>
struct Dual {
  using R = Real<T>;
  T x, d;  // value, derivative

  Dual() = default;
  ARTICULA_INLINE constexpr Dual(T value) : x(value), d(R(0)) {}
  ARTICULA_INLINE constexpr Dual(T value, T derivative) : x(value), d(derivative) {}

  ARTICULA_INLINE friend Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  ARTICULA_INLINE friend Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  ARTICULA_INLINE friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.x * b.x, a.x * b.d + a.d * b.x};
  }
  ARTICULA_INLINE friend Dual operator/(const Dual& a, const Dual& b) { return a * reciprocal(b); }
  ARTICULA_INLINE friend Dual operator-(const Dual& a) { return {-a.x, -a.d}; }

  // With a constant: half the work, and no conversion to think about.
  ARTICULA_INLINE friend Dual operator+(const Dual& a, const R& b) { return {a.x + b, a.d}; }
  ARTICULA_INLINE friend Dual operator+(const R& a, const Dual& b) { return {a + b.x, b.d}; }
  ARTICULA_INLINE friend Dual operator-(const Dual& a, const R& b) { return {a.x - b, a.d}; }
  ARTICULA_INLINE friend Dual operator-(const R& a, const Dual& b) { return {a - b.x, -b.d}; }
  ARTICULA_INLINE friend Dual operator*(const Dual& a, const R& b) { return {a.x * b, a.d * b}; }
  ARTICULA_INLINE friend Dual operator*(const R& a, const Dual& b) { return {a * b.x, a * b.d}; }
  ARTICULA_INLINE friend Dual operator/(const Dual& a, const R& b) { return {a.x / b, a.d / b}; }
  ARTICULA_INLINE friend Dual operator/(const R& a, const Dual& b) { return reciprocal(b) * a; }

  template <class B>
  ARTICULA_INLINE Dual& operator+=(const B& b) {
    return *this = *this + b;
  }
  template <class B>
  ARTICULA_INLINE Dual& operator-=(const B& b) {
    return *this = *this - b;
  }
  template <class B>
  ARTICULA_INLINE Dual& operator*=(const B& b) {
    return *this = *this * b;
  }

  // Comparisons go by the value: they choose a branch, and the derivative follows that branch.
  ARTICULA_INLINE friend bool operator<(const Dual& a, const Dual& b) { return a.x < b.x; }
  ARTICULA_INLINE friend bool operator>(const Dual& a, const Dual& b) { return b.x < a.x; }
};

template <class T>
struct RealOf<Dual<T>> {
  using type = Real<T>;
};

template <class T>
ARTICULA_INLINE Dual<T> reciprocal(const Dual<T>& a) {
  const T r = reciprocal(a.x);
  return {r, -(a.d * r * r)};
}
template <class T>
ARTICULA_INLINE Dual<T> square_root(const Dual<T>& a) {
  const T r = square_root(a.x);
  return {r, a.d * reciprocal(r + r)};
}
template <class T>
ARTICULA_INLINE Dual<T> smaller(const Dual<T>& a, const Dual<T>& b) {
  return b < a ? b : a;
}
template <class T>
ARTICULA_INLINE SinCos<Dual<T>> sincos(const Dual<T>& angle) {
  const SinCos<T> t = sincos(angle.x);
  return {{t.sin, t.cos * angle.d}, {t.cos, -(t.sin * angle.d)}};
}

}  // namespace articula
