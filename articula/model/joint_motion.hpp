// Where the coordinates of a joint put its child, straight from a specification.
#pragma once

#include <span>

#include "articula/model/hinges.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// Of a single hinge J about or along the unit vector `axis`, in joint axes.
template <class J>
Pose hinge_pose(const Vec3<double>& axis, double pitch, const double* q) {
  const Mat3<double> Z = J::quaternion ? Mat3<double>::identity() : rotation_from_z(axis);
  Mat3<double> turn = Mat3<double>::identity();
  if constexpr (J::quaternion) turn = rotation(Quaternion<double>{q[0], q[1], q[2], q[3]});
  if constexpr (J::angle >= 0) turn = rotation(exp_quaternion(Vec3<double>{0, 0, q[J::angle]}));
  return {Z * turn * star(Z), Z * J::slide(q, pitch)};
}

/// The child link in joint axes: the identity at zero. Of as many coordinates as the kind has.
Pose pose_of(const JointSpec& joint, std::span<const double> q);

/// Does freedom i slide (metres), or turn (radians)?
bool slides(JointKind kind, int freedom);

}  // namespace articula
