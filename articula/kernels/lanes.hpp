// Arrays of lanes as the kernels of one instruction set take them: packs of its width. Only for
// *_kernels.cpp.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/kernels/memory.hpp"

namespace articula::ARTICULA_ISA {

/// As many lanes as a register has doubles. Packs of floats have as many: half the memory, and as many
/// instructions.
inline constexpr int lanes = native_bytes / 8;

template <class T>
using Lanes = Pack<T, lanes>;

template <class T>
ARTICULA_INLINE const Lanes<T>* packs(const T* x) {
  return reinterpret_cast<const Lanes<T>*>(x);
}
template <class T>
ARTICULA_INLINE Lanes<T>* packs(T* x) {
  return reinterpret_cast<Lanes<T>*>(x);
}
/// A memory struct's arrays likewise.
template <template <class> class Memory, class T>
ARTICULA_INLINE Memory<Lanes<T>> packs(const Memory<T>& m) {
  return retyped<Lanes<T>>(m);
}

}  // namespace articula::ARTICULA_ISA
