#include "articula/task_space/coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/spatial/finite.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

TaskCoordinates::Matrix TaskCoordinates::map_rate(const Vector& y, const Vector& rate) const {
  constexpr double h = 1e-3;
  const auto at = [&](double t) {
    Vector moved = y;
    for (int i = 0; i < 6; ++i) moved[i] += t * rate[i];
    return map(moved);
  };
  const Matrix near = at(h), back = at(-h), far = at(2 * h), behind = at(-2 * h);
  Matrix out;
  for (int i = 0; i < 36; ++i) out[i] = (8 * (near[i] - back[i]) - (far[i] - behind[i])) / (12 * h);
  return out;
}

TaskCoordinates::Vector TaskCoordinates::difference(const Vector& y, const Vector& wanted) const {
  Vector out;
  for (int i = 0; i < 6; ++i) out[i] = wanted[i] - y[i];
  return out;
}

/// By elimination with the largest pivots: nothing is allocated.
TaskCoordinates::Vector TaskCoordinates::rate(const Vector& y, const Spatial<double>& velocity) const {
  Matrix A = map(y);
  Vector x;
  std::copy_n(numbers_of(velocity), 6, x.begin());
  double largest = 0;
  for (const double a : A) largest = std::max(largest, std::abs(a));
  for (int c = 0; c < 6; ++c) {
    int pivot = c;
    for (int r = c + 1; r < 6; ++r)
      if (std::abs(A[6 * r + c]) > std::abs(A[6 * pivot + c])) pivot = r;
    if (!(std::abs(A[6 * pivot + c]) > 1e-9 * largest)) {
      const std::string at = fmt::format("({})", fmt::join(y, ", "));
      if (!are_finite(y)) throw ArgumentError(fmt::format("task coordinates: {} are not finite numbers", at));
      throw SingularError(
          fmt::format("task coordinates: at {} they have no rates; beta = Pi y' cannot be solved", at));
    }
    for (int k = 0; k < 6; ++k) std::swap(A[6 * c + k], A[6 * pivot + k]);
    std::swap(x[c], x[pivot]);
    for (int r = c + 1; r < 6; ++r) {
      const double factor = A[6 * r + c] / A[7 * c];
      for (int k = c; k < 6; ++k) A[6 * r + k] -= factor * A[6 * c + k];
      x[r] -= factor * x[c];
    }
  }
  for (int c = 5; c >= 0; --c) {
    for (int k = c + 1; k < 6; ++k) x[c] -= A[6 * c + k] * x[k];
    x[c] /= A[7 * c];
  }
  return x;
}

Spatial<double> TaskCoordinates::acceleration(const Vector& y, const Vector& rate,
                                              const Vector& second) const {
  const Matrix Pi = map(y), Pi_dot = map_rate(y, rate);
  Spatial<double> u{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) numbers_of(u)[i] += Pi[6 * i + j] * second[j] + Pi_dot[6 * i + j] * rate[j];
  return u;
}

// --- Euler angles ------------------------------------------------------------------------------------
namespace {

Vec3<double> unit(int axis) { return {double(axis == 0), double(axis == 1), double(axis == 2)}; }
Mat3<double> turn(int axis, double angle) { return rotation(exp_quaternion(unit(axis) * angle)); }
double entry(const Mat3<double>& R, int i, int j) { return numbers_of(R)[3 * i + j]; }
/// +1 if a, b, c follow each other as x, y, z do.
double parity(int a, int b) { return (b - a + 3) % 3 == 1 ? 1 : -1; }

}  // namespace

EulerAngles::EulerAngles(std::string_view sequence) : axis_{} {
  bool sound = sequence.size() == 3;
  for (std::size_t i = 0; sound && i < 3; ++i) {
    axis_[i] = sequence[i] - 'x';
    sound = axis_[i] >= 0 && axis_[i] < 3 && (i == 0 || axis_[i] != axis_[i - 1]);
  }
  if (!sound)
    throw ArgumentError(fmt::format(
        "EulerAngles: '{}' is no sequence of axes; expected three of x, y, z, neighbours different",
        sequence));
}

Mat3<double> EulerAngles::rotation(const Vector& y) const {
  return turn(axis_[0], y[0]) * turn(axis_[1], y[1]) * turn(axis_[2], y[2]);
}

TaskCoordinates::Vector EulerAngles::of(const FramePose<double>& pose) const {
  const Mat3<double>& R = pose.rotation;
  const auto [a, b, c] = axis_;
  const double e = parity(a, b);
  Vector y;
  if (a != c) {
    y[1] = std::atan2(e * entry(R, a, c), std::hypot(entry(R, a, a), entry(R, a, b)));
    y[0] = std::atan2(-e * entry(R, b, c), entry(R, c, c));
    y[2] = std::atan2(-e * entry(R, a, b), entry(R, a, a));
  } else {
    const int k = 3 - a - b;
    y[1] = std::atan2(std::hypot(entry(R, a, b), entry(R, a, k)), entry(R, a, a));
    y[0] = std::atan2(entry(R, b, a), -e * entry(R, k, a));
    y[2] = std::atan2(entry(R, a, b), e * entry(R, a, k));
  }
  y[3] = pose.position.x, y[4] = pose.position.y, y[5] = pose.position.z;
  return y;
}

std::array<Vec3<double>, 3> EulerAngles::axes(const Vector& y) const {
  const Mat3<double> first = turn(axis_[0], y[0]), second = first * turn(axis_[1], y[1]);
  return {unit(axis_[0]), first * unit(axis_[1]), second * unit(axis_[2])};
}

TaskCoordinates::Matrix EulerAngles::map(const Vector& y) const {
  Matrix out{};
  const auto columns = axes(y);
  for (int c = 0; c < 3; ++c) {
    out[c] = columns[c].x, out[6 + c] = columns[c].y, out[12 + c] = columns[c].z;
    out[7 * (c + 3)] = 1;
  }
  return out;
}

/// An axis turns with those before it.
TaskCoordinates::Matrix EulerAngles::map_rate(const Vector& y, const Vector& rate) const {
  Matrix out{};
  const auto columns = axes(y);
  Vec3<double> w{0, 0, 0};
  for (int c = 0; c < 3; ++c) {
    const Vec3<double> moved = cross(w, columns[c]);
    out[c] = moved.x, out[6 + c] = moved.y, out[12 + c] = moved.z;
    w += columns[c] * rate[c];
  }
  return out;
}

TaskCoordinates::Vector EulerAngles::difference(const Vector& y, const Vector& wanted) const {
  Vector out = TaskCoordinates::difference(y, wanted);
  for (int i = 0; i < 3; ++i) out[i] = std::remainder(out[i], 2 * std::numbers::pi);
  return out;
}

Spatial<double> motion_command(const FramePose<double>& pose, const Spatial<double>& velocity,
                               const TaskCoordinates& coordinates, const CoordinateTarget& target,
                               const MotionGains& gains) {
  const auto y = coordinates.of(pose), rate = coordinates.rate(y, velocity),
             error = coordinates.difference(y, target.y);
  TaskCoordinates::Vector second;
  for (int i = 0; i < 6; ++i) {
    const bool turns = i < 3;
    second[i] = target.second[i] +
                (turns ? gains.turning_damping : gains.damping) * (target.rate[i] - rate[i]) +
                (turns ? gains.turning_stiffness : gains.stiffness) * error[i];
  }
  return coordinates.acceleration(y, rate, second);
}

}  // namespace articula
