// A square of registers, turned about its diagonal.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/spatial/pack.hpp"
#include "articula/spatial/slots.hpp"

namespace articula::ARTICULA_ISA {

/// row i, lane j <-> row j, lane i.
template <class T>
ARTICULA_INLINE void transpose(Pack<T, 2> (&r)[2]) {
  const auto a = r[0].x, b = r[1].x;
  r[0].x = __builtin_shufflevector(a, b, 0, 2);
  r[1].x = __builtin_shufflevector(a, b, 1, 3);
}
template <class T>
ARTICULA_INLINE void transpose(Pack<T, 4> (&r)[4]) {
  for (int i = 0; i < 4; i += 2) {
    const auto a = r[i].x, b = r[i + 1].x;
    r[i].x = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    r[i + 1].x = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    const auto a = r[i].x, b = r[i + 2].x;
    r[i].x = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    r[i + 2].x = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  }
}
/// After the pairs, two steps that each take every other quarter of two registers: one instruction each,
/// where exchanging quarters in place takes three times as long.
template <class T>
requires(sizeof(T) == 8) ARTICULA_INLINE void transpose(Pack<T, 8> (&r)[8]) {
  Pack<T, 8> t[8], u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i].x = __builtin_shufflevector(r[i].x, r[i + 1].x, 0, 8, 2, 10, 4, 12, 6, 14);
    t[i + 1].x = __builtin_shufflevector(r[i].x, r[i + 1].x, 1, 9, 3, 11, 5, 13, 7, 15);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    if (i & 2) continue;
    u[i].x = __builtin_shufflevector(t[i].x, t[i + 2].x, 0, 1, 4, 5, 8, 9, 12, 13);
    u[i + 2].x = __builtin_shufflevector(t[i].x, t[i + 2].x, 2, 3, 6, 7, 10, 11, 14, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i].x = __builtin_shufflevector(u[i].x, u[i + 4].x, 0, 1, 4, 5, 8, 9, 12, 13);
    r[i + 4].x = __builtin_shufflevector(u[i].x, u[i + 4].x, 2, 3, 6, 7, 10, 11, 14, 15);
  }
}

/// Rows `step` apart, for all steps: the lower halves of every 2 step lanes of both to the first, the upper
/// halves to the second. Floats by fours: within 16 bytes these are one instruction each.
template <int step, class T, int N, class Lower, class Upper>
ARTICULA_INLINE void exchange(Pack<T, N> (&r)[N], const Lower& lower, const Upper& upper) {
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) {
    if (i & step) continue;
    const auto a = r[i].x, b = r[i + step].x;
    r[i].x = lower(a, b);
    r[i + step].x = upper(a, b);
  }
}
template <class T>
requires(sizeof(T) == 4) ARTICULA_INLINE void transpose(Pack<T, 8> (&r)[8]) {
  exchange<1>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
      });
  exchange<2>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
      });
  exchange<4>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
      });
}
template <class T>
requires(sizeof(T) == 4) ARTICULA_INLINE void transpose(Pack<T, 16> (&r)[16]) {
  exchange<1>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
      });
  exchange<2>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
      });
  exchange<4>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
      });
  exchange<8>(
      r, [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      },
      [](const auto& a, const auto& b) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
      });
}

/// Fills the lower triangle from the upper one, in blocks of 4 x 4.
template <class S>
ARTICULA_INLINE void mirror(int nv, S* M) {
  for (int i = 0; i < nv; i += 4) {
    S* const lower = M + long(i) * nv;
    const int rows = nv - i < 4 ? nv - i : 4;
    int j = 0;
    if constexpr (wide_bodies<S> != 1) {
      for (; j < i; j += 4) {
        // Columns beyond nv, in the last block, are read from the rows that follow and not stored.
        const S* const upper = M + long(j) * nv + i;
        using W = Pack<S, 4>;
        W r[4] = {W::load(upper), W::load(upper + nv), W::load(upper + 2 * nv), W::load(upper + 3 * nv)};
        transpose(r);
        r[0].store(lower + j);
        if (rows > 1) r[1].store(lower + nv + j);
        if (rows > 2) r[2].store(lower + 2 * nv + j);
        if (rows > 3) r[3].store(lower + 3 * nv + j);
      }
    }
    for (int r = 0; r < rows; ++r)
      for (int c = j; c < i + r; ++c) lower[long(r) * nv + c] = M[long(c) * nv + i + r];
  }
}

}  // namespace articula::ARTICULA_ISA
