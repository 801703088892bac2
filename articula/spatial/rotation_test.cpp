#include "articula/spatial/rotation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

using std::numbers::pi;
using Long4 = Eigen::Quaternion<Long>;

Eigen::Matrix3d dense(const Mat3<double>& m) {
  Eigen::Matrix3d x;
  x << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return x;
}
double distance(const Mat3<double>& a, const Mat3<double>& b) {
  return (dense(a) - dense(b)).cwiseAbs().maxCoeff();
}
double not_orthogonal(const Mat3<double>& m) {
  return (dense(m) * dense(m).transpose() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() +
         std::abs(dense(m).determinant() - 1);
}
/// Lengths from far below rounding to just under pi, and pi itself.
std::vector<double> lengths() {
  return {0,     1e-300, 1e-160, 1e-20, 1e-10, 1e-8, 1e-5,      0.99e-4,   1.01e-4,   1e-3,       0.1, 0.299,
          0.301, 0.499,  0.501,  1,     2,     3,    pi - 1e-3, pi - 1e-6, pi - 1e-9, pi - 1e-12, pi};
}

TEST(Rotation, MatrixOfQuaternion) {
  Rng rng(1);
  for (int n = 0; n < 1000; ++n) {
    const Quaternion<double> q = rng.quaternion(), p = rng.quaternion();
    EXPECT_LT((dense(rotation(q)) - Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix())
                  .cwiseAbs()
                  .maxCoeff(),
              1e-15);
    EXPECT_LT(distance(rotation(q * p), rotation(q) * rotation(p)), 2e-15);
    EXPECT_LT(distance(rotation(conjugate(q)), star(rotation(q))), 1e-15);
    EXPECT_LT(distance(rotation(quaternion(rotation(q))), rotation(q)), 2e-15);
    EXPECT_GE(quaternion(rotation(q)).w, 0);
  }
  // half turns, where w is zero
  for (const Quaternion<double> q :
       {Quaternion<double>{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0.6, 0.8, 0, 0}})
    EXPECT_LT(distance(rotation(quaternion(rotation(q))), rotation(q)), 1e-15);
}

TEST(Rotation, ExponentialAgainstLongDouble) {
  Rng rng(2);
  Worst worst("exponential of a rotation vector");
  for (int n = 0; n < 300; ++n) {
    for (const double length : lengths()) {
      const Vec3<double> a = rng.direction() * length;
      const Long3 al(a.x, a.y, a.z);
      const Long x = al.norm();
      const Long s = x == 0 ? Long(0.5) : std::sin(x / 2) / x;
      const Quaternion<double> q = exp_quaternion(a);
      const double error = static_cast<double>(
          std::max({std::abs(q.x - s * al.x()), std::abs(q.y - s * al.y()), std::abs(q.z - s * al.z())}));
      // relative: small vectors keep all their digits
      EXPECT_LT(worst(error / std::max(1e-290, std::min(1.0, length))), 5e-16) << length;
      EXPECT_LT(worst(static_cast<double>(std::abs(q.w - std::cos(x / 2)))), 5e-16);
    }
  }
}

TEST(Rotation, LogarithmUndoesExponential) {
  Rng rng(3);
  Worst worst("logarithm after exponential");
  for (int n = 0; n < 300; ++n) {
    for (const double length : lengths()) {
      const Vec3<double> a = rng.direction() * length;
      const Quaternion<double> q = exp_quaternion(a);
      for (const double sign : {1.0, -1.0}) {  // q and -q are one rotation
        const Vec3<double> b = log_quaternion({sign * q.x, sign * q.y, sign * q.z, sign * q.w});
        // at pi both a and -a are right
        const double error =
            length > pi - 1e-14
                ? std::min(relative_error(b, a), relative_error(-b, a))
                : (length == 0 ? std::abs(b.x) + std::abs(b.y) + std::abs(b.z) : relative_error(b, a));
        EXPECT_LT(worst(error), 2e-15) << length;
      }
    }
  }
}

TEST(Rotation, RightJacobian) {
  Rng rng(4);
  Worst worst("right Jacobian by differences"), worst_inverse("right Jacobian times its inverse");
  for (int n = 0; n < 100; ++n) {
    for (const double length : lengths()) {
      const Vec3<double> a = rng.direction() * length, d = rng.direction();
      // exp(-a) exp(a + h d) = exp(h Jr d): fourth order in h
      const auto step = [&](double h) {
        return log_quaternion(conjugate(exp_quaternion(a)) * exp_quaternion(a + d * h));
      };
      const double h = 1e-3;
      const Vec3<double> difference =
          ((step(h) - step(-h)) * 8.0 - (step(2 * h) - step(-2 * h))) * (1 / (12 * h));
      EXPECT_LT(worst(relative_error(right_jacobian(a) * d, difference)), 1e-11) << length;
      EXPECT_LT(
          worst_inverse(distance(right_jacobian(a) * right_jacobian_inverse(a), Mat3<double>::identity())),
          1e-14)
          << length;
    }
  }
}

/// Also for axes so near to -z that 1 + z has few digits, or none.
TEST(Rotation, FromZ) {
  Rng rng(5);
  Worst worst("rotation from z, not orthogonal"), worst_axis("rotation from z, axis");
  const auto check = [&](Vec3<double> axis) {
    axis = axis * (1 / std::sqrt(dot(axis, axis)));
    const Mat3<double> R = rotation_from_z(axis);
    EXPECT_LT(worst(not_orthogonal(R)), 1e-14) << axis.x << ' ' << axis.y << ' ' << axis.z;
    EXPECT_LT(worst_axis(relative_error(column_z(R), axis)), 1e-15);
  };
  for (int n = 0; n < 1000; ++n) check(rng.direction());
  for (int exponent = 0; exponent <= 170; ++exponent) {
    for (const double z : {1.0, -1.0}) {
      for (int n = 0; n < 10; ++n) {
        const double turn = rng.uniform(-pi, pi), r = std::pow(10, -exponent);
        check({r * std::cos(turn), r * std::sin(turn), z});
      }
      check({std::pow(10, -exponent), 0, z});
      check({0, std::pow(10, -exponent), z});
    }
  }
  check({0, 0, 1});
  check({0, 0, -1});
  // the shortest way: the turn is about an axis in the xy plane
  const Mat3<double> R = rotation_from_z({0.6, 0, 0.8});
  EXPECT_NEAR(R.yy, 1, 1e-15);
}

TEST(Rotation, RollPitchYaw) {
  Rng rng(6);
  for (int n = 0; n < 1000; ++n) {
    const double roll = rng.uniform(-3, 3), pitch = rng.uniform(-1.5, 1.5), yaw = rng.uniform(-3, 3);
    const Mat3<double> R = rotation_from_rpy(roll, pitch, yaw);
    using Eigen::AngleAxisd;
    using Eigen::Vector3d;
    const Eigen::Matrix3d expected =
        (AngleAxisd(yaw, Vector3d::UnitZ()) * AngleAxisd(pitch, Vector3d::UnitY()) *
         AngleAxisd(roll, Vector3d::UnitX()))
            .toRotationMatrix();
    EXPECT_LT((dense(R) - expected).cwiseAbs().maxCoeff(), 1e-15);
    const Vec3<double> back = rpy_of(R);
    EXPECT_LT(relative_error(back, Vec3<double>{roll, pitch, yaw}), 1e-13);
  }
  // at gimbal lock the rotation is still reproduced
  for (const double pitch : {pi / 2, -pi / 2}) {
    const Mat3<double> R = rotation_from_rpy(0.3, pitch, 0.5);
    const Vec3<double> back = rpy_of(R);
    EXPECT_LT(distance(rotation_from_rpy(back.x, back.y, back.z), R), 4e-15);
  }
  // and near it
  for (const double off : {1e-3, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12, 1e-14, 1e-15, 1e-16}) {
    const Mat3<double> R = rotation_from_rpy(0.3, pi / 2 - off, 0.5);
    const Vec3<double> back = rpy_of(R);
    EXPECT_LT(distance(rotation_from_rpy(back.x, back.y, back.z), R), 4e-15) << off;
  }
}

TEST(Rotation, Poses) {
  Rng rng(7);
  for (int n = 0; n < 100; ++n) {
    const Pose a{rotation(rng.quaternion()), rng.vector()}, b{rotation(rng.quaternion()), rng.vector()};
    const Vec3<double> x = rng.vector();
    const Pose ab = a * b, none = a * inverse(a);
    EXPECT_LT(relative_error(ab.R * x + ab.p, a.R * (b.R * x + b.p) + a.p), 1e-14);
    EXPECT_LT(distance(none.R, Mat3<double>::identity()), 4e-15);
    EXPECT_LT(std::abs(none.p.x) + std::abs(none.p.y) + std::abs(none.p.z), 1e-14);
  }
}

}  // namespace
}  // namespace articula::testing
