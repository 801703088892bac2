// What code outside the kernels asks of vectors and inertias: numbers of any size are welcome, time does not matter.
#pragma once

#include <cmath>

#include "articula/spatial/vec3.hpp"

namespace articula {

inline double norm(const Vec3<double>& a) { return std::hypot(a.x, a.y, a.z); }
inline Vec3<double> unit(const Vec3<double>& a) { return a * (1 / norm(a)); }

/// J in other axes: R J R*.
inline Sym3<double> turned(const Mat3<double>& R, const Sym3<double>& J) {
  return symmetric(R * full(J) * star(R));
}

}  // namespace articula
