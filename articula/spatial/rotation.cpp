#include "articula/spatial/rotation.hpp"
#include "articula/spatial/numbers.hpp"

#include <cmath>

namespace articula {

Quaternion<double> quaternion(const Mat3<double>& R) {
  Quaternion<double> q;
  const double trace = R.xx + R.yy + R.zz;
  if (trace >= R.xx && trace >= R.yy && trace >= R.zz)
    q = {R.zy - R.yz, R.xz - R.zx, R.yx - R.xy, 1 + trace};
  else if (R.xx >= R.yy && R.xx >= R.zz)
    q = {1 + R.xx - R.yy - R.zz, R.xy + R.yx, R.xz + R.zx, R.zy - R.yz};
  else if (R.yy >= R.zz)
    q = {R.xy + R.yx, 1 - R.xx + R.yy - R.zz, R.yz + R.zy, R.xz - R.zx};
  else
    q = {R.xz + R.zx, R.yz + R.zy, 1 - R.xx - R.yy + R.zz, R.yx - R.xy};
  q = normalized(q);
  return q.w < 0 ? Quaternion<double>{-q.x, -q.y, -q.z, -q.w} : q;
}

namespace {
/// sin(x / 2) / x
double half_sinc(double x) { return std::abs(x) < 1e-4 ? 0.5 - x * x / 48 : std::sin(x / 2) / x; }
/// The coefficients of Jr = Id - b a~ + c a~ a~: b = (1 - cos x) / x^2, c = (x - sin x) / x^3.
struct JacobianCoefficients {
  double b, c;
};
JacobianCoefficients right_jacobian_coefficients(double x) {
  const double s = half_sinc(x), x2 = x * x;
  // The series ends where its next term, x^8 / 11!, is below the rounding of 1/6.
  const double c = x < 0.5
                       ? (1 - x2 / 20 * (1 - x2 / 42 * (1 - x2 / 72 * (1 - x2 / 110 * (1 - x2 / 156))))) / 6
                       : (x - std::sin(x)) / (x2 * x);
  return {2 * s * s, c};
}
}  // namespace

Quaternion<double> exp_quaternion(const Vec3<double>& a) {
  const double x = std::hypot(a.x, a.y, a.z), s = half_sinc(x);
  return {a.x * s, a.y * s, a.z * s, std::cos(x / 2)};
}

Vec3<double> log_quaternion(const Quaternion<double>& q) {
  const double sine = std::hypot(q.x, q.y, q.z), sign = q.w < 0 ? -1 : 1;
  // atan2 keeps every digit of a small angle (where w is 1) and of one near pi (where w is 0).
  const double scale = sine < 1e-150 ? 2.0 : 2 * std::atan2(sine, sign * q.w) / sine;
  return Vec3<double>{q.x, q.y, q.z} * (sign * scale);
}

Mat3<double> rotation_from_z(const Vec3<double>& axis) {
  // Rodrigues about z x axis, written without the angle: Id - (x, y)(x, y)* / (1 + z) in the plane. Below it,
  // 1 / (1 + z) = (1 - z) / (x^2 + y^2) keeps the digits that 1 + z loses.
  const double sine = std::hypot(axis.x, axis.y);
  double x = axis.x, y = axis.y, k = 1 / (1 + axis.z);
  if (axis.z < 0) {
    x = sine > 0 ? axis.x / sine : 0;
    y = sine > 0 ? axis.y / sine : 1;
    k = 1 - axis.z;
  }
  return {1 - x * x * k, -x * y * k,    axis.x,  //
          -x * y * k,    1 - y * y * k, axis.y,  //
          -axis.x,       -axis.y,       axis.z};
}

Mat3<double> rotation_from_rpy(double roll, double pitch, double yaw) {
  const double cr = std::cos(roll), sr = std::sin(roll), cp = std::cos(pitch), sp = std::sin(pitch),
               cy = std::cos(yaw), sy = std::sin(yaw);
  return {cy * cp,
          cy * sp * sr - sy * cr,
          cy * sp * cr + sy * sr,  //
          sy * cp,
          sy * sp * sr + cy * cr,
          sy * sp * cr - cy * sr,  //
          -sp,
          cp * sr,
          cp * cr};
}

Vec3<double> rpy_of(const Mat3<double>& R) {
  const double cos_pitch = std::hypot(R.xx, R.yx);
  // At gimbal lock only one of roll and yaw is determined. Roll is read after yaw is undone, Rz(-yaw) R = Ry
  // Rx: near the lock, whatever yaw was taken for is made up for.
  const double yaw = cos_pitch > 1e-15 ? std::atan2(R.yx, R.xx) : 0, s = std::sin(yaw), c = std::cos(yaw);
  return {std::atan2(s * R.xz - c * R.yz, c * R.yy - s * R.xy), std::atan2(-R.zx, cos_pitch), yaw};
}

Mat3<double> right_jacobian(const Vec3<double>& a) {
  const auto k = right_jacobian_coefficients(std::hypot(a.x, a.y, a.z));
  const Mat3<double> t = tilde(a), tt = t * t;
  Mat3<double> J = Mat3<double>::identity();
  double* j = numbers_of(J);
  const double *t1 = numbers_of(t), *t2 = numbers_of(tt);
  for (int i = 0; i < 9; ++i) j[i] += -k.b * t1[i] + k.c * t2[i];
  return J;
}

Mat3<double> right_jacobian_inverse(const Vec3<double>& a) {
  const double x = std::hypot(a.x, a.y, a.z), x2 = x * x;
  // Id + a~/2 + e a~ a~, e = (1 - (x/2) cot(x/2)) / x^2
  const double e =
      x < 0.3
          ? (1 + x2 / 60 * (1 + x2 / 42 * (1 + x2 / 40 * (1 + x2 * 5 / 198 * (1 + x2 * 691 / 27300))))) / 12
          : (1 - (x / 2) / std::tan(x / 2)) / x2;
  const Mat3<double> t = tilde(a), tt = t * t;
  Mat3<double> J = Mat3<double>::identity();
  double* j = numbers_of(J);
  const double *t1 = numbers_of(t), *t2 = numbers_of(tt);
  for (int i = 0; i < 9; ++i) j[i] += 0.5 * t1[i] + e * t2[i];
  return J;
}

}  // namespace articula
