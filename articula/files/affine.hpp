// Where nodes of a mesh file are: what moves, turns and stretches.
#pragma once

#include "articula/spatial/spatial.hpp"

namespace articula {

/// x -> A x + b
struct Affine {
  Mat3<double> A = Mat3<double>::identity();
  Vec3<double> b{0, 0, 0};
};
inline Affine operator*(const Affine& f, const Affine& g) { return {f.A * g.A, f.A * g.b + f.b}; }

}  // namespace articula
