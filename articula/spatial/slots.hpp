// Slots: where the kernels keep their numbers, one slot per body, components side by side in blocks of lanes.
//
// For one state (S = double, float) the same component of eight neighbouring bodies lies together, so that a
// step that needs no neighbour runs on a whole register of bodies at once (Wide<S>), and a sweep still walks
// body by body. For packs of states the lanes are taken already, and slots are plain records.
#pragma once

#include <type_traits>

#include "articula/spatial/pack.hpp"
#include "articula/spatial/several.hpp"

namespace articula {

// The width of a register. Only where kernels are compiled: a user's -march must not change what headers say.
#if defined(ARTICULA_KERNELS) && defined(__AVX512F__)
inline constexpr int native_bytes = 64;
#elif defined(ARTICULA_KERNELS) && defined(__AVX__)
inline constexpr int native_bytes = 32;
#else
inline constexpr int native_bytes = 16;
#endif

/// Where vector registers are 16, fewer than what a sweep carries from body to body: see settle().
template <class S>
inline constexpr bool few_registers = false;
#if defined(ARTICULA_KERNELS) && defined(__x86_64__) && !defined(__AVX512F__)
template <>
inline constexpr bool few_registers<double> = true;
template <>
inline constexpr bool few_registers<float> = true;
template <class T, int N, Constants C>
inline constexpr bool few_registers<Pack<T, N, C>> = true;
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
/// Right-hand sides of one matrix that are solved for at once: a register of them for one state. For packs
/// of states two, so that what is read from memory serves twice.
template <class S>
struct SolvesOf {
  using type = Wide<S>;
  static constexpr int count = wide_bodies<S>;
};
template <class T, int N, Constants C>
struct SolvesOf<Pack<T, N, C>> {
  using type = Several<Pack<T, N, C>, 2>;
  static constexpr int count = 2;
};
template <class S>
using Solves = typename SolvesOf<S>::type;
template <class S>
inline constexpr int solves_at_once = SolvesOf<S>::count;
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

/// Calls f(number, index) for the numbers of a Vec3, Mat3, Sym3, Spatial, Inertia, ArticulatedInertia or
/// scalar, in order of declaration. (Copying through an array instead keeps g++ from holding packs in
/// registers.)
template <class T, class F>
ARTICULA_INLINE int each_number(T& t, F&& f, int i = 0) {
  if constexpr (requires { t.zx; }) {
    f(t.xx, i), f(t.xy, i + 1), f(t.xz, i + 2), f(t.yx, i + 3), f(t.yy, i + 4), f(t.yz, i + 5),
        f(t.zx, i + 6);
    f(t.zy, i + 7), f(t.zz, i + 8);
    return i + 9;
  } else if constexpr (requires { t.yz; }) {
    f(t.xx, i), f(t.yy, i + 1), f(t.zz, i + 2), f(t.xy, i + 3), f(t.xz, i + 4), f(t.yz, i + 5);
    return i + 6;
  } else if constexpr (requires { t.y; }) {
    f(t.x, i), f(t.y, i + 1), f(t.z, i + 2);
    return i + 3;
  } else if constexpr (requires { t.w, t.v; }) {
    return each_number(t.v, f, each_number(t.w, f, i));
  } else if constexpr (requires { t.mp; }) {
    f(t.m, i);
    return each_number(t.J, f, each_number(t.mp, f, i + 1));
  } else if constexpr (requires { t.J, t.B, t.C; }) {
    return each_number(t.C, f, each_number(t.B, f, each_number(t.J, f, i)));
  } else {
    f(t, i);
    return i + 1;
  }
}

/// A T of scalars from components `step` apart, and back.
template <int step, class T, class S>
ARTICULA_INLINE T gather(const S* p) {
  T t;
  each_number(
      t, [&](auto& number, int i) __attribute__((always_inline)) { number = p[i * step]; });
  return t;
}
template <int step, class T, class S>
ARTICULA_INLINE void scatter(const T& t, S* p) {
  each_number(
      t, [&](const auto& number, int i) __attribute__((always_inline)) { p[i * step] = number; });
}
/// gather and scatter for a T of packs: lanes are neighbouring slots.
template <int step, class T, class W, class S>
ARTICULA_INLINE T gather_wide(const S* p) {
  T t;
  each_number(
      t, [&](W & number, int i) __attribute__((always_inline)) { number = W::load(p + i * step); });
  return t;
}
template <int step, class W, class T, class S>
ARTICULA_INLINE void scatter_wide(const T& t, S* p) {
  each_number(
      t, [&](const W& number, int i) __attribute__((always_inline)) { number.store(p + i * step); });
}

}  // namespace articula
