// The numbers of a Vec3, Mat3, Spatial .. one after the other.
#pragma once

#include "articula/spatial/scalar.hpp"

namespace articula {

/// Not (&a.x)[i]: clang takes that for a.x whatever i is.
template <template <class> class T, class S>
ARTICULA_INLINE S* numbers_of(T<S>& a) {
  return reinterpret_cast<S*>(&a);
}
template <template <class> class T, class S>
ARTICULA_INLINE const S* numbers_of(const T<S>& a) {
  return reinterpret_cast<const S*>(&a);
}

}  // namespace articula
