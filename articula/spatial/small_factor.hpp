// L d L* of a small symmetric positive definite matrix, unrolled: the D(k) of joints with several freedoms.
#pragma once

#include "articula/spatial/spatial.hpp"

namespace articula {

template <class S, int N>
struct SmallFactor {
  S L[N][N];   // below the diagonal
  S inv_d[N];  // 1 / d

  /// Factors the lower triangle of D in place of L; returns the smallest d (not positive: singular).
  ARTICULA_INLINE S factor(const S (&D)[N][N]) {
    S smallest = D[0][0], Ld[N][N];
#pragma GCC unroll 6
    for (int j = 0; j < N; ++j) {
      S d = D[j][j];
#pragma GCC unroll 6
      for (int k = 0; k < j; ++k) d = d - L[j][k] * Ld[j][k];
      inv_d[j] = reciprocal(d);
      smallest = smaller(smallest, d);
#pragma GCC unroll 6
      for (int i = j + 1; i < N; ++i) {
        S r = D[i][j];
#pragma GCC unroll 6
        for (int k = 0; k < j; ++k) r = r - L[i][k] * Ld[j][k];
        Ld[i][j] = r;
        L[i][j] = r * inv_d[j];
      }
    }
    return smallest;
  }
  /// x = D^-1 x
  template <class X>
  ARTICULA_INLINE void solve(X (&x)[N]) const {
#pragma GCC unroll 6
    for (int i = 1; i < N; ++i)
#pragma GCC unroll 6
      for (int k = 0; k < i; ++k) x[i] = x[i] - L[i][k] * x[k];
#pragma GCC unroll 6
    for (int i = N - 1; i >= 0; --i) {
      x[i] = x[i] * inv_d[i];
#pragma GCC unroll 6
      for (int k = i + 1; k < N; ++k) x[i] = x[i] - L[k][i] * x[k];
    }
  }
};

/// out = U D^-1, for N spatial columns.
template <class S, int N>
ARTICULA_INLINE void solve_columns(const SmallFactor<S, N>& factor, const Spatial<S> (&U)[N],
                                   Spatial<S> (&out)[N]) {
  S rows[6][N], numbers[6];
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) {
    __builtin_memcpy(numbers, &U[i], sizeof(numbers));
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c) rows[c][i] = numbers[c];
  }
#pragma GCC unroll 6
  for (int c = 0; c < 6; ++c) factor.solve(rows[c]);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) {
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c) numbers[c] = rows[c][i];
    __builtin_memcpy(&out[i], numbers, sizeof(numbers));
  }
}

}  // namespace articula
