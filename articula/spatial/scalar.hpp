// What every scalar S of the kernels must offer, and what is read of a model for it.
//
// The kernels are one text for all of: double, float, Pack<T, N> (SIMD lanes), Dual (derivatives) and Counted
// (operation counts). Small functions are always inlined: no out-of-line copy of them exists that a linker
// could take from a file compiled for another instruction set.
#pragma once

#include <cmath>

#define ARTICULA_INLINE [[gnu::always_inline]] inline

namespace articula {

/// The plain number type behind S: model constants are kept in it.
template <class S>
struct RealOf {
  using type = S;
};
template <class S>
using Real = typename RealOf<S>::type;

ARTICULA_INLINE double reciprocal(double x) { return 1.0 / x; }
ARTICULA_INLINE float reciprocal(float x) { return 1.0f / x; }
ARTICULA_INLINE double square_root(double x) { return __builtin_sqrt(x); }
ARTICULA_INLINE float square_root(float x) { return __builtin_sqrtf(x); }

/// The smaller one, and b if either is not a number: a sweep that ends on NaN reports it.
ARTICULA_INLINE double smaller(double a, double b) { return a < b ? a : b; }
ARTICULA_INLINE float smaller(float a, float b) { return a < b ? a : b; }

template <class S>
struct SinCos {
  S sin, cos;
};

}  // namespace articula
