// Arrays of lanes as the kernels of one instruction set take them: packs of its width. Only for
// *_kernels.cpp.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/kernels/memory.hpp"

namespace articula::ARTICULA_ISA {

/// States that are computed at once: as many as a register has numbers.
template <class T>
inline constexpr int lanes_of = native_bytes / int(sizeof(T));

template <class T>
using Lanes = Pack<T, lanes_of<T>>;

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
