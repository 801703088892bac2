// Dual<T>: a number and its derivative along one direction. The kernels' text, run with it, gives exact
// directional derivatives of what the kernels compute; Dual<Dual<T>> gives second ones, and
// Dual<T, Several<T, N>> those along N directions at once.
#pragma once

#include "articula/spatial/sincos.hpp"

namespace articula {

/// Derivatives along N directions, for Dual.
template <class T, int N>
struct Several {
  T at[N];

  Several() = default;
  ARTICULA_INLINE constexpr explicit Several(T all) {
    for (T& x : at) x = all;
  }
  template <class F>
  ARTICULA_INLINE static Several each(F&& f) {
    Several r;
    for (int i = 0; i < N; ++i) r.at[i] = f(i);
    return r;
  }
  ARTICULA_INLINE friend Several operator+(const Several& a, const Several& b) {
    return each([&](int i) { return a.at[i] + b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator-(const Several& a, const Several& b) {
    return each([&](int i) { return a.at[i] - b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator-(const Several& a) {
    return each([&](int i) { return -a.at[i]; });
  }
  ARTICULA_INLINE friend Several operator*(const Several& a, const T& b) {
    return each([&](int i) { return a.at[i] * b; });
  }
  ARTICULA_INLINE friend Several operator*(const T& a, const Several& b) {
    return each([&](int i) { return a * b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator/(const Several& a, const T& b) {
    return each([&](int i) { return a.at[i] / b; });
  }
};

template <class T, class D = T>
struct Dual {
  using R = Real<T>;
  T x;  // value
  D d;  // derivative

  Dual() = default;
  ARTICULA_INLINE constexpr Dual(T value) : x(value), d(R(0)) {}
  ARTICULA_INLINE constexpr Dual(T value, D derivative) : x(value), d(derivative) {}

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

template <class T, class D>
struct RealOf<Dual<T, D>> {
  using type = Real<T>;
};

template <class T, class D>
ARTICULA_INLINE Dual<T, D> reciprocal(const Dual<T, D>& a) {
  const T r = reciprocal(a.x);
  return {r, -(a.d * r * r)};
}
template <class T, class D>
ARTICULA_INLINE Dual<T, D> square_root(const Dual<T, D>& a) {
  const T r = square_root(a.x);
  return {r, a.d * reciprocal(r + r)};
}
template <class T, class D>
ARTICULA_INLINE Dual<T, D> smaller(const Dual<T, D>& a, const Dual<T, D>& b) {
  return b < a ? b : a;
}
template <class T, class D>
ARTICULA_INLINE SinCos<Dual<T, D>> sincos(const Dual<T, D>& angle) {
  const SinCos<T> t = sincos(angle.x);
  return {{t.sin, t.cos * angle.d}, {t.cos, -(t.sin * angle.d)}};
}

}  // namespace articula
