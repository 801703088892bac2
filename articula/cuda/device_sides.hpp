// Threads that share a state, each with one of limbs that are alike (folding.hpp): a warp has `sides` times the same states.
#pragma once

#include "articula/cuda/arguments.hpp"
#include "articula/cuda/device_tables.hpp"
#include "articula/kernels/forward_dynamics_text.hpp"

namespace articula::device {

using cuda::warp;
inline constexpr int states_of_warp = warp / sides;

ARTICULA_INLINE long state_of(long thread) {
  return sides == 1 ? thread : thread / warp * states_of_warp + thread % states_of_warp;
}
ARTICULA_INLINE int side_of_thread() {
  return sides == 1 ? 0 : static_cast<int>(threadIdx.x % warp / states_of_warp);
}

#ifdef __CUDACC_RTC__
/// Of the thread so many sides away.
ARTICULA_INLINE Number of_other(Number x, int away) {
  return __shfl_xor_sync(0xffffffffu, x, away * states_of_warp);
}
#else
// The stand-in driver has one thread of the processor for each side.
extern "C" int sched_yield();
inline Number exchanged[2][sides];
inline int arrived = 0, exchanges = 0;
inline thread_local int turn_of_exchange = 0;
inline Number of_other(Number x, int away) {
  exchanged[turn_of_exchange][side_of_thread()] = x;
  const int now = __atomic_load_n(&exchanges, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == sides) {
    arrived = 0;
    __atomic_store_n(&exchanges, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&exchanges, __ATOMIC_ACQUIRE) == now) sched_yield();
  }
  const Number other = exchanged[turn_of_exchange][side_of_thread() ^ away];
  turn_of_exchange ^= 1;
  return other;
}
#endif

/// The sum over all sides.
ARTICULA_INLINE Number over_sides(Number x) {
#pragma unroll
  for (int away = 1; away < sides; away *= 2) x += of_other(x, away);
  return x;
}
ARTICULA_INLINE void sum_over_sides(Articulated<Number>& at) {
  Number x[side_count];
  scatter<1>(at.P, x), scatter<1>(at.p, x + 21);
#pragma unroll
  for (int i = 0; i < side_count; ++i) x[i] = over_sides(x[i]);
  at.P = gather<1, ArticulatedInertia<Number>>(x), at.p = gather<1, Spatial<Number>>(x + 21);
}

/// Entry i of a table that has n for each side, by the thread's side.
template <class T>
ARTICULA_INLINE T of_side(int side, const T* table, int n, int i) {
  T x = table[i];
#pragma unroll
  for (int s = 1; s < sides; ++s) x = side == s ? table[s * n + i] : x;
  return x;
}

}  // namespace articula::device
