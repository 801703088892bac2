// Task coordinates in general (OSC 1): y of a frame's pose with (w, v) = Pi(y) y', where (w, v) is the velocity of the
// frame's origin in world axes. Lambda, c and g stay those of (w, v); a wanted y'' is u = Pi y'' + Pi' y' of them, so
// that y'' comes out decoupled and linear (OSC 2).
#pragma once

#include <array>
#include <string_view>

#include "articula/task_space/control.hpp"

namespace articula {

/// A function of yours: six numbers of a pose.
class TaskCoordinates {
 public:
  using Vector = std::array<double, 6>;
  using Matrix = std::array<double, 36>;  // row by row
  virtual ~TaskCoordinates() = default;
  virtual Vector of(const FramePose<double>& pose) const = 0;
  /// Pi, 6 x 6.
  virtual Matrix map(const Vector& y) const = 0;
  /// d/dt Pi at y' = rate; as it is here: by differences of map(), exact to about 1e-9.
  virtual Matrix map_rate(const Vector& y, const Vector& rate) const;
  /// wanted - y; angles may go the shorter way.
  virtual Vector difference(const Vector& y, const Vector& wanted) const;

  /// y' from (w, v). SingularError where Pi has no inverse.
  Vector rate(const Vector& y, const Spatial<double>& velocity) const;
  /// u = Pi y'' + Pi' y'.
  Spatial<double> acceleration(const Vector& y, const Vector& rate, const Vector& second) const;
};

/// Three angles about moving axes, R = R_a(y0) R_b(y1) R_c(y2), and the position: "zyx" (yaw, pitch, roll), "zyz", ..,
/// any of the twelve. Pi is singular where the second angle is a quarter turn ("zyx") or zero ("zyz").
class EulerAngles : public TaskCoordinates {
 public:
  /// Throws ArgumentError for what is no sequence.
  explicit EulerAngles(std::string_view sequence = "zyx");
  Vector of(const FramePose<double>& pose) const override;
  Matrix map(const Vector& y) const override;
  Matrix map_rate(const Vector& y, const Vector& rate) const override;
  Vector difference(const Vector& y, const Vector& wanted) const override;
  Mat3<double> rotation(const Vector& y) const;

 private:
  /// The three axes in world axes.
  std::array<Vec3<double>, 3> axes(const Vector& y) const;
  std::array<int, 3> axis_;
};

/// Where coordinates should be, how fast, and with what acceleration.
struct CoordinateTarget {
  TaskCoordinates::Vector y{}, rate{}, second{};
};
/// u for y'' = the target's + damping (its rate - y') + stiffness (its y - y): of each coordinate alone; angles with the
/// turning gains. Give it to TaskController::accelerate of a pose_task.
Spatial<double> motion_command(const FramePose<double>& pose, const Spatial<double>& velocity,
                               const TaskCoordinates& coordinates, const CoordinateTarget& target,
                               const MotionGains& gains = {});

}  // namespace articula
