// Rigid motions in space and in the plane: exponential, logarithm and right Jacobian, beside those of
// rotations.
//
// A twist (w, v) is held in the moving body's own axes: pose(t) = pose exp(t (w, v)). Nothing loses digits
// for small angles or near pi.
#pragma once

#include <array>

#include "articula/spatial/rotation.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula {

/// A rotation and a shift, as a free joint's coordinates hold them: x -> R(turn) x + shift.
struct RigidMotion {
  Quaternion<double> turn{0, 0, 0, 1};
  Vec3<double> shift{0, 0, 0};
};
RigidMotion exp_motion(const Spatial<double>& twist);
/// The twist with |w| <= pi.
Spatial<double> log_motion(const RigidMotion& motion);

/// A 6x6 matrix of the form [[A, 0], [B, A]], which all of these have (rotation first).
struct TwistMap {
  Mat3<double> A, B;
};
/// Ad(exp(-twist)): what a twist before the motion is after it, in the axes reached.
TwistMap adjoint_of_inverse_exp(const Spatial<double>& twist);
/// exp(X + dX) = exp(X) exp(Jr(X) dX).
TwistMap right_jacobian(const Spatial<double>& twist);

/// The plane: an angle, not wrapped, and a shift; twists are (w, vx, vy) in the moving body's axes.
struct PlanarMotion {
  double angle = 0, x = 0, y = 0;
};
PlanarMotion exp_planar(const PlanarMotion& twist);
/// The twist of the same angle; the shift must not come with whole turns, for no twist has both.
PlanarMotion log_planar(const PlanarMotion& motion);
/// a b
PlanarMotion operator*(const PlanarMotion& a, const PlanarMotion& b);
/// Ad(exp(-twist)) and Jr of the plane, as for space above: 3 x 3, row by row.
std::array<double, 9> adjoint_of_inverse_exp(const PlanarMotion& twist);
std::array<double, 9> right_jacobian(const PlanarMotion& twist);

}  // namespace articula
