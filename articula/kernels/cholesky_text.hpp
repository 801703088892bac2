// Small dense systems with a symmetric positive definite matrix: mechanisms with mimic joints, many states at a time.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/spatial/scalar.hpp"

namespace articula::ARTICULA_ISA {

/// The Cholesky factor of n x n, row by row, in place of the lower triangle; the reciprocals of its diagonal on
/// the diagonal. Returns the smallest pivot.
template <class S>
ARTICULA_INLINE S cholesky_factor(long n, S* L) {
  S least(Real<S>(1e30));
  for (long j = 0; j < n; ++j) {
    for (long i = j; i < n; ++i) {
      S sum = L[i * n + j];
      for (long c = 0; c < j; ++c) sum = sum - L[i * n + c] * L[j * n + c];
      if (i == j) {
        least = smaller(least, sum);
        L[i * n + j] = reciprocal(square_root(sum));
      } else {
        L[i * n + j] = sum * L[j * n + j];
      }
    }
  }
  return least;
}
/// Of `columns` right-hand sides, row by row: x = matrix^-1 x.
template <class S>
ARTICULA_INLINE void cholesky_solve(long n, const S* L, long columns, S* x) {
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < columns; ++k) {
      S sum = x[i * columns + k];
      for (long c = 0; c < i; ++c) sum = sum - L[i * n + c] * x[c * columns + k];
      x[i * columns + k] = sum * L[i * n + i];
    }
  for (long i = n - 1; i >= 0; --i)
    for (long k = 0; k < columns; ++k) {
      S sum = x[i * columns + k];
      for (long c = i + 1; c < n; ++c) sum = sum - L[c * n + i] * x[c * columns + k];
      x[i * columns + k] = sum * L[i * n + i];
    }
}
/// matrix^-1, both triangles, in place of its factor L: first T = L^-1, then T* T.
template <class S>
ARTICULA_INLINE void cholesky_inverse(long n, S* L) {
  for (long j = 0; j < n; ++j)
    for (long i = j + 1; i < n; ++i) {
      S sum = L[i * n + j] * L[j * n + j];
      for (long c = j + 1; c < i; ++c) sum = sum + L[i * n + c] * L[c * n + j];
      L[i * n + j] = -(sum * L[i * n + i]);
    }
  for (long i = 0; i < n; ++i)
    for (long j = 0; j <= i; ++j) {
      S sum = L[i * n + i] * L[i * n + j];
      for (long c = i + 1; c < n; ++c) sum = sum + L[c * n + i] * L[c * n + j];
      L[i * n + j] = sum, L[j * n + i] = sum;
    }
}

}  // namespace articula::ARTICULA_ISA
