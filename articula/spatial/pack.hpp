// Pack<T, N>: N numbers in the lanes of SIMD registers, with the arithmetic of one number.
//
// The compiler's vector types do the work, so the same text serves SSE, AVX2 and AVX-512. Lanes hold bodies
// (steps that need no neighbour), columns (matrices) or states (batches).
#pragma once

#include "articula/spatial/scalar.hpp"

namespace articula {

template <class T, int N>
struct LanesOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

/// What a model's constants are to a pack: one number for all lanes, or, where each lane is a state with
/// masses of its own (articula/batch), packs themselves.
enum class Constants : bool { shared, varied };

template <class T, int N, Constants constants = Constants::shared>
struct Pack {
  using Number = T;
  using Lanes = typename LanesOf<T, N>::type;
  using Mask = decltype(Lanes{} < Lanes{});
  Lanes x;

  Pack() = default;
  ARTICULA_INLINE explicit Pack(Lanes lanes) : x(lanes) {}
  ARTICULA_INLINE Pack(T all) : x(all - Lanes{}) {}
  ARTICULA_INLINE T operator[](int i) const { return x[i]; }
  ARTICULA_INLINE static Pack load(const T* p) {
    Pack r;
    __builtin_memcpy(&r.x, p, sizeof(Lanes));
    return r;
  }
  ARTICULA_INLINE void store(T* p) const { __builtin_memcpy(p, &x, sizeof(Lanes)); }
};

/// {f(0), f(1), ...}, written so that compilers build the register by pairs instead of lane after lane.
template <class T, int N, class F>
ARTICULA_INLINE Pack<T, N> lanes_from(F&& f) {
  using Lanes = typename Pack<T, N>::Lanes;
  if constexpr (N == 2)
    return Pack<T, N>(Lanes{f(0), f(1)});
  else if constexpr (N == 4)
    return Pack<T, N>(Lanes{f(0), f(1), f(2), f(3)});
  else
    return Pack<T, N>(Lanes{f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)});
}

/// The first `count` lanes of a; zero in the others.
template <class T, int N>
ARTICULA_INLINE Pack<T, N> first_lanes(const Pack<T, N>& a, int count) {
  using Mask = typename Pack<T, N>::Mask;
  Mask lane;
  for (int i = 0; i < N; ++i) lane[i] = i;
  const Mask keep = lane < (Mask{} + count);
  Pack<T, N> r;
  r.x = keep ? a.x : typename Pack<T, N>::Lanes{};
  return r;
}

/// True if every lane of a comparison is.
template <int N, class Mask>
ARTICULA_INLINE bool all(const Mask& mask) {
  if constexpr (N == 2) {
    return (mask[0] & mask[1]) != 0;
  } else {
    typename LanesOf<long long, N / 2>::type half[2];
    static_assert(sizeof(half) == sizeof(Mask));
    __builtin_memcpy(half, &mask, sizeof(half));
    return all<N / 2>(half[0] & half[1]);
  }
}

template <class T, int N>
struct RealOf<Pack<T, N, Constants::shared>> {
  using type = T;
};

#define ARTICULA_PACK_OPERATOR(op)                                                            \
  template <class T, int N, Constants C>                                                      \
  ARTICULA_INLINE Pack<T, N, C> operator op(const Pack<T, N, C>& a, const Pack<T, N, C>& b) { \
    return Pack<T, N, C>(a.x op b.x);                                                         \
  }                                                                                           \
  template <class T, int N, Constants C>                                                      \
  ARTICULA_INLINE Pack<T, N, C> operator op(const Pack<T, N, C>& a,                           \
                                            const typename Pack<T, N, C>::Number& b) {        \
    return Pack<T, N, C>(a.x op b);                                                           \
  }                                                                                           \
  template <class T, int N, Constants C>                                                      \
  ARTICULA_INLINE Pack<T, N, C> operator op(const typename Pack<T, N, C>::Number& a,          \
                                            const Pack<T, N, C>& b) {                         \
    return Pack<T, N, C>(a op b.x);                                                           \
  }                                                                                           \
  template <class T, int N, Constants C, class B>                                             \
  ARTICULA_INLINE Pack<T, N, C>& operator op##=(Pack<T, N, C>& a, const B& b) {               \
    return a = a op b;                                                                        \
  }
ARTICULA_PACK_OPERATOR(+)
ARTICULA_PACK_OPERATOR(-)
ARTICULA_PACK_OPERATOR(*)
ARTICULA_PACK_OPERATOR(/)
#undef ARTICULA_PACK_OPERATOR

template <class T, int N, Constants C>
ARTICULA_INLINE Pack<T, N, C> operator-(const Pack<T, N, C>& a) {
  return Pack<T, N, C>(-a.x);
}
template <class T, int N, Constants C>
ARTICULA_INLINE Pack<T, N, C> reciprocal(const Pack<T, N, C>& a) {
  return Pack<T, N, C>(T(1) / a.x);
}
template <class T, int N, Constants C>
ARTICULA_INLINE Pack<T, N, C> smaller(const Pack<T, N, C>& a, const Pack<T, N, C>& b) {
  return Pack<T, N, C>(a.x < b.x ? a.x : b.x);
}
template <class T, int N, Constants C>
ARTICULA_INLINE Pack<T, N, C> square_root(const Pack<T, N, C>& a) {
  Pack<T, N, C> r;
  for (int i = 0; i < N; ++i) r.x[i] = square_root(a.x[i]);  // one vector instruction after unrolling
  return r;
}

}  // namespace articula
