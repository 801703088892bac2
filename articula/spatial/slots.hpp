// Slots: where the kernels keep their numbers, one slot a body, components side by side in blocks of lanes.
//
// For one state (S = double, float) the same component of eight neighbouring bodies lies together, so that a step
// that needs no neighbour runs on a whole register of bodies at once (Wide<S>), and a sweep still walks body by body.
// For packs of states the lanes are taken already, and slots are plain records.
#pragma once

#include <type_traits>

#include "articula/spatial/pack.hpp"

namespace articula {

#if defined(__AVX512F__)
inline constexpr int native_bytes = 64;
#elif defined(__AVX__)
inline constexpr int native_bytes = 32;
#else
inline constexpr int native_bytes = 16;
#endif

/// Slots per block: the distance between components.
inline constexpr int block = 8;

template <class S>
struct WideOf {
  using type = S;
  static constexpr int bodies = 1;  // bodies a wide step works on
};
template <>
struct WideOf<double> {
  static constexpr int bodies = native_bytes / 8;
  using type = Pack<double, bodies>;
};
template <>
struct WideOf<float> {
  static constexpr int bodies = native_bytes / 4 < block ? native_bytes / 4 : block;
  using type = Pack<float, bodies>;
};
template <class S>
using Wide = typename WideOf<S>::type;
template <class S>
inline constexpr int wide_bodies = WideOf<S>::bodies;
/// The distance between components of one slot.
template <class S>
inline constexpr int stride = wide_bodies<S> == 1 ? 1 : block;

/// How many scalars `slots` slots of `components` take.
template <class S>
constexpr long slots_size(int slots, int components) {
  return stride<S> == 1 ? long(slots) * components : long((slots + block - 1) / block) * block * components;
}
/// The address of a slot's first component.
template <class S>
ARTICULA_INLINE S* slot(S* data, int index, int components) {
  if constexpr (stride<std::remove_const_t<S>> == 1)
    return data + long(index) * components;
  else
    return data + long(unsigned(index) / block) * (block * components) + unsigned(index) % block;
}

/// A struct T of scalars (all of one type) gathered from components `step` apart.
template <int step, class T, class S>
ARTICULA_INLINE T gather(const S* p) {
  constexpr int n = sizeof(T) / sizeof(S);
  S numbers[n];
#pragma GCC unroll 32
  for (int i = 0; i < n; ++i) numbers[i] = p[i * step];
  T t;
  __builtin_memcpy(&t, numbers, sizeof(T));
  return t;
}
template <int step, class T, class S>
ARTICULA_INLINE void scatter(const T& t, S* p) {
  constexpr int n = sizeof(T) / sizeof(S);
  S numbers[n];
  __builtin_memcpy(numbers, &t, sizeof(T));
#pragma GCC unroll 32
  for (int i = 0; i < n; ++i) p[i * step] = numbers[i];
}
/// The same for a T of packs: lanes are neighbouring slots.
template <int step, class T, class W, class S>
ARTICULA_INLINE T gather_wide(const S* p) {
  constexpr int n = sizeof(T) / sizeof(W);
  W numbers[n];
#pragma GCC unroll 32
  for (int i = 0; i < n; ++i) numbers[i] = W::load(p + i * step);
  T t;
  __builtin_memcpy(&t, numbers, sizeof(T));
  return t;
}
template <int step, class W, class T, class S>
ARTICULA_INLINE void scatter_wide(const T& t, S* p) {
  constexpr int n = sizeof(T) / sizeof(W);
  W numbers[n];
  __builtin_memcpy(numbers, &t, sizeof(T));
#pragma GCC unroll 32
  for (int i = 0; i < n; ++i) numbers[i].store(p + i * step);
}

}  // namespace articula
