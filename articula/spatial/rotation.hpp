// Rotations as unit quaternions (x, y, z, w), their exponential and logarithm, accurate near 0 and near pi.
#pragma once

#include "articula/spatial/sincos.hpp"
#include "articula/spatial/vec3.hpp"

namespace articula {

template <class S>
struct Quaternion {
  S x, y, z, w;
};

template <class S>
ARTICULA_INLINE Mat3<S> rotation(const Quaternion<S>& q) {
  const S x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const S xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
  const S xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  const S wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  const S one(1);
  return {one - (yy + zz), xy - wz, xz + wy, xy + wz,        one - (xx + zz),
          yz - wx,         xz - wy, yz + wx, one - (xx + yy)};
}

template <class S>
ARTICULA_INLINE Quaternion<S> operator*(const Quaternion<S>& a, const Quaternion<S>& b) {
  return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
          a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
template <class S>
ARTICULA_INLINE Quaternion<S> conjugate(const Quaternion<S>& q) {
  return {-q.x, -q.y, -q.z, q.w};
}
template <class S>
ARTICULA_INLINE Quaternion<S> normalized(const Quaternion<S>& q) {
  const S s = reciprocal(square_root(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w));
  return {q.x * s, q.y * s, q.z * s, q.w * s};
}

/// Nearest unit quaternion of a rotation matrix (Shepperd: the largest of the four numbers is the divisor).
Quaternion<double> quaternion(const Mat3<double>& R);

/// The rotation by |a| about a.
Quaternion<double> exp_quaternion(const Vec3<double>& a);
/// The rotation vector of q, |a| <= pi; exact for small angles and at pi.
Vec3<double> log_quaternion(const Quaternion<double>& q);
/// A rotation that takes z to the unit vector `axis`, by the shortest turn (about x by pi for -z).
Mat3<double> rotation_from_z(const Vec3<double>& axis);
/// Fixed axes roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll), as in URDF; and back.
Mat3<double> rotation_from_rpy(double roll, double pitch, double yaw);
Vec3<double> rpy_of(const Mat3<double>& R);

/// Right Jacobian of the exponential: exp((a + da)~) = exp(a~) exp((Jr da)~), and its inverse.
Mat3<double> right_jacobian(const Vec3<double>& a);
Mat3<double> right_jacobian_inverse(const Vec3<double>& a);

/// A rigid motion: x -> R x + p.
struct Pose {
  Mat3<double> R = Mat3<double>::identity();
  Vec3<double> p{0, 0, 0};
};
inline Pose operator*(const Pose& a, const Pose& b) { return {a.R * b.R, a.p + a.R * b.p}; }
inline Pose inverse(const Pose& a) { return {star(a.R), -star_times(a.R, a.p)}; }

}  // namespace articula
