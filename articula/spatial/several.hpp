// Several<T, N>: N numbers that are worked on alike: derivatives along several directions (Dual), or several
// right-hand sides of lanes.
#pragma once

#include "articula/spatial/scalar.hpp"

namespace articula {

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
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) r.at[i] = f(i);
    return r;
  }
  ARTICULA_INLINE friend Several operator+(const Several& a, const Several& b) {
    return each([&](int i) __attribute__((always_inline)) { return a.at[i] + b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator-(const Several& a, const Several& b) {
    return each([&](int i) __attribute__((always_inline)) { return a.at[i] - b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator-(const Several& a) {
    return each([&](int i) __attribute__((always_inline)) { return -a.at[i]; });
  }
  ARTICULA_INLINE friend Several operator*(const Several& a, const T& b) {
    return each([&](int i) __attribute__((always_inline)) { return a.at[i] * b; });
  }
  ARTICULA_INLINE friend Several operator*(const T& a, const Several& b) {
    return each([&](int i) __attribute__((always_inline)) { return a * b.at[i]; });
  }
  ARTICULA_INLINE friend Several operator/(const Several& a, const T& b) {
    return each([&](int i) __attribute__((always_inline)) { return a.at[i] / b; });
  }
};

}  // namespace articula
