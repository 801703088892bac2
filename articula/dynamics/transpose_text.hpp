// A square of registers, turned about its diagonal.
#pragma once

#include "articula/dynamics/isa.hpp"
#include "articula/spatial/pack.hpp"

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
template <class T>
ARTICULA_INLINE void transpose(Pack<T, 8> (&r)[8]) {
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const auto a = r[i].x, b = r[i + 1].x;
    r[i].x = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    r[i + 1].x = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 8; ++i) {
    if (i & 2) continue;
    const auto a = r[i].x, b = r[i + 2].x;
    r[i].x = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 2].x = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto a = r[i].x, b = r[i + 4].x;
    r[i].x = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4].x = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace articula::ARTICULA_ISA
