// What the kernels' texts take for granted of a C++ compiler, for one that makes code for GPUs (NVRTC), which has no
// standard library. First in every device program. With ARTICULA_STAND_IN any C++ compiler can compile the program: the
// stand-in driver of the tests runs it so.
#pragma once

#define ARTICULA_ISA device

#ifdef __CUDACC_RTC__
#define ARTICULA_KERNEL extern "C" __global__
#define ARTICULA_TABLE_MEMORY __constant__
#define ARTICULA_SHARED __shared__
#define ARTICULA_ALWAYS_INLINE __forceinline__
#define __builtin_sqrt ::sqrt
#define __builtin_sqrtf ::sqrtf
#define ARTICULA_SINE_COSINE(x, s, c) ::sincos(x, s, c)
#define __builtin_sin ::sin
#define __builtin_sinf ::sinf
#define __builtin_cos ::cos
#define __builtin_cosf ::cosf
#define __builtin_memcpy ::memcpy
#define __builtin_nan ::nan
#define __builtin_fmaf ::fmaf
#define __builtin_fma ::fma
#define __builtin_rintf ::rintf
#define __builtin_prefetch(...)
#else
#define ARTICULA_SINE_COSINE(x, s, c) (*(s) = __builtin_sin(x), *(c) = __builtin_cos(x))
#define ARTICULA_KERNEL extern "C"
#define ARTICULA_TABLE_MEMORY static constexpr
#define ARTICULA_SHARED thread_local
#define ARTICULA_ALWAYS_INLINE __attribute__((always_inline)) inline
#define __launch_bounds__(...)
struct Dimensions {
  unsigned x;
};
inline thread_local Dimensions blockIdx, blockDim, threadIdx;
inline unsigned long long atomicMin(unsigned long long* at, unsigned long long x) {
  const unsigned long long before = *at;
  if (x < before) *at = x;
  return before;
}
#endif

// Specialised programs know the model when they are compiled: its tables are folded into the instructions, which needs
// every loop over bodies unrolled and every function inlined.
#ifdef ARTICULA_SPECIALISED
#define ARTICULA_TABLE static constexpr
#else
#define ARTICULA_TABLE ARTICULA_TABLE_MEMORY
#endif
// Calls would keep a thread's numbers in memory.
#ifdef ARTICULA_SPECIALISED
#define noinline always_inline
#elif defined(__CUDACC_RTC__)
#define noinline
#endif

namespace std {

using size_t = decltype(sizeof(0));
using uintptr_t = decltype(sizeof(0));

template <class T, T x>
struct integral_constant {
  static constexpr T value = x;
};
template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
struct remove_const {
  using type = T;
};
template <class T>
struct remove_const<const T> {
  using type = T;
};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_cvref_t = remove_const_t<typename remove_reference<T>::type>;
template <bool, class T, class>
struct conditional {
  using type = T;
};
template <class T, class U>
struct conditional<false, T, U> {
  using type = U;
};
template <bool b, class T, class U>
using conditional_t = typename conditional<b, T, U>::type;
template <class To, class From>
ARTICULA_ALWAYS_INLINE To bit_cast(const From& x) {
  return __builtin_bit_cast(To, x);
}
double atan2(double y, double x);

// Only named in declarations that device programs do not use.
class string;
class string_view;
template <class T>
struct span {
  const T* data_;
  size_t size_;
};
template <class T>
struct vector {
  const T* data() const { return nullptr; }
  size_t size() const { return 0; }
  const T* begin() const { return nullptr; }
  const T* end() const { return nullptr; }
};

}  // namespace std

namespace articula {

class Model;
template <class T>
class AlignedArray;
/// Steps over registers of bodies are for machines with such registers: see slots.hpp.
template <class T>
struct NotOnDevices;

}  // namespace articula

#include "articula/cuda/device_sincos.hpp"
