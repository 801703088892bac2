// Triple<S>: a 3-vector in one register, for a recursion that has nothing else to fill its lanes with. Read
// and written as four numbers; the fourth means nothing.
#pragma once

#include <type_traits>

#include "articula/spatial/slots.hpp"
#include "articula/spatial/vec3.hpp"

namespace articula {

template <class S>
struct Triple {
  Pack<S, 4> lanes;
};

template <class S>
ARTICULA_INLINE Triple<S> operator+(const Triple<S>& a, const Triple<S>& b) {
  return {a.lanes + b.lanes};
}
template <class S>
ARTICULA_INLINE Triple<S> operator-(const Triple<S>& a, const Triple<S>& b) {
  return {a.lanes - b.lanes};
}
template <class S>
ARTICULA_INLINE Triple<S> operator-(const Triple<S>& a) {
  return {-a.lanes};
}
template <class S>
ARTICULA_INLINE Triple<S> operator*(const Triple<S>& a, const S& s) {
  return {a.lanes * s};
}
/// (y, z, x)
template <class S>
ARTICULA_INLINE Triple<S> rotated(const Triple<S>& a) {
  return {Pack<S, 4>(__builtin_shufflevector(a.lanes.x, a.lanes.x, 1, 2, 0, 3))};
}
template <class S>
ARTICULA_INLINE Triple<S> cross(const Triple<S>& a, const Triple<S>& b) {
  return rotated(Triple<S>{a.lanes * rotated(b).lanes - rotated(a).lanes * b.lanes});
}

/// What holds a 3-vector of S: one register where there are such, or, for packs too, one for each number.
template <class S>
inline constexpr bool fits_one_register = std::is_floating_point_v<S>&& native_bytes >= int(4 * sizeof(S));
template <class S>
using OneVector = std::conditional_t<fits_one_register<S>, Triple<S>, Vec3<S>>;

template <class S>
ARTICULA_INLINE void store(const Triple<S>& a, S* four) {
  a.lanes.store(four);
}
template <class S>
ARTICULA_INLINE void store(const Vec3<S>& a, S* four) {
  four[0] = a.x, four[1] = a.y, four[2] = a.z;
}
template <class S>
ARTICULA_INLINE OneVector<S> load_vector(const S* four) {
  if constexpr (fits_one_register<S>)
    return {Pack<S, 4>::load(four)};
  else
    return {four[0], four[1], four[2]};
}
template <class S>
ARTICULA_INLINE OneVector<S> one_vector(const S& x, const S& y, const S& z) {
  if constexpr (fits_one_register<S>)
    return {Pack<S, 4>(typename Pack<S, 4>::Lanes{x, y, z, S(0)})};
  else
    return {x, y, z};
}
template <class S>
ARTICULA_INLINE Vec3<S> vec3(const Triple<S>& a) {
  return {a.lanes[0], a.lanes[1], a.lanes[2]};
}
template <class S>
ARTICULA_INLINE const Vec3<S>& vec3(const Vec3<S>& a) {
  return a;
}

}  // namespace articula
