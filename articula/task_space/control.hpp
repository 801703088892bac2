// Controllers in operational space (OSC 2, 4; docs/operational_space.md): motion of frames, hybrid force and
// motion, strict priorities, posture in what freedom is left, and torque limits.
//
//   TaskController control(model, {{pose_task(model, "hand")}});      once
//   control.update(q, v);                                             every tick, no allocation
//   control.follow(0, {.rotation = R, .position = p});
//   control.hold_posture(q_rest, 25, 10);
//   control.torques(tau);
#pragma once

#include "articula/task_space/task_space.hpp"

namespace articula {

/// Where a frame should be, how fast (w, v) and with what d/dt (w, v): world axes, at its origin.
struct MotionTarget {
  Mat3<double> rotation = Mat3<double>::identity();
  Vec3<double> position{0, 0, 0};
  Spatial<double> velocity{{0, 0, 0}, {0, 0, 0}}, acceleration{{0, 0, 0}, {0, 0, 0}};
};
/// Stiffness in 1/s^2, damping in 1/s; damping = 2 sqrt(stiffness) is critical.
struct MotionGains {
  double stiffness = 100, damping = 20;
  double turning_stiffness = 100, turning_damping = 20;
};

/// The rotation vector, world axes, that turns R to `wanted` by the shorter way: log(wanted R*), |.| <= pi.
Vec3<double> orientation_error(const Mat3<double>& R, const Mat3<double>& wanted);
/// u: the wanted acceleration plus damping and stiffness times the errors of velocity and pose.
Spatial<double> motion_command(const FramePose<double>& pose, const Spatial<double>& velocity,
                               const MotionTarget& target, const MotionGains& gains = {});

/// What torques() did with the limits.
struct TorqueReport {
  double scale = 1;           // the least share of any level's torques, and of the posture's, that was given
  bool within_limits = true;  // false: gravity, Coriolis and contact forces alone are too much; then cut off
  int joint = -1;             // whose limit mattered
};

/// Tasks in levels: a lower level acts only in what the ones before it leave free. Levels are blocks of one
/// Omega, eliminated in turn, so that one set of sweeps serves all. Task numbers count through all levels.
class TaskController {
 public:
  /// Lost directions are damped unless options say otherwise.
  TaskController(const Model& model, const std::vector<std::vector<Task>>& levels,
                 const SingularityOptions& options = {.damp = true});

  /// Sets the state and clears all commands: tasks without one are asked for no acceleration.
  void update(In<double> q, In<double> v);
  TaskSpace& space() { return space_; }
  int level_count() const { return static_cast<int>(levels_.size()); }

  // --- commands, after update ------------------------------------------------------------------------
  /// y'' of a task's rows, or of its frame (d/dt (w, v), world axes).
  void accelerate(int task, In<double> rows);
  void accelerate(int task, const Spatial<double>& a);
  /// Follows a pose: of it, the task's rows.
  void follow(int task, const MotionTarget& target, const MotionGains& gains = {});
  /// Makes one row of a task a force: the frame pushes with `force` along it on what it touches, and moves
  /// there only as much as `damping` (1/s) lets it. Other rows keep their motion commands: with Lambda of all
  /// rows the force on a rigid surface and the motion along it are both exact. What is touched answers the
  /// force, so that it is not kept from higher levels: it belongs on the first one.
  void press(int task, int row, double force, double damping = 0);
  /// press() with feedback of a measured force: pushes with force + gain (force - measured).
  void press(int task, int row, double force, double measured, double gain, double damping);
  /// Joint accelerations stiffness (wanted - q) - damping v, in the null space of all tasks.
  void hold_posture(In<double> wanted, double stiffness, double damping);
  /// Any joint forces there, instead.
  void null_space_forces(In<double> tau);
  /// Largest |torque| by velocity (infinity: none); empty: no limits. Kept over updates.
  void limit_torques(In<double> limits);

  /// tau = C v + G + what the levels and the posture need. With limits, levels in turn, then the posture, are
  /// scaled down to what the ones before leave: the direction of a task's acceleration is kept.
  TorqueReport torques(Out<double> tau);
  /// Independent directions of a level, given those before it; valid after torques().
  int rank(int level) const;

 private:
  struct Level {
    int row, rows;
    RankSolve solve;
    std::vector<double> Z, omega_Z;  // all rows x rows each: its projected J* in terms of all rows, Omega Z
    std::vector<double> S, F;
  };
  void check_ready(const char* function) const;
  void project_level(int level);
  void add_level(const Level& level, double share, std::span<double> sum) const;
  double add_scaled(std::span<double> tau, std::span<const double> more, TorqueReport& report) const;
  void posture_in_null_space(std::span<double> coefficients);
  void posture_torques();

  TaskSpace space_;
  std::vector<Level> levels_;
  bool ready_ = false;
  enum class Posture { none, acceleration, force } posture_ = Posture::none;
  std::vector<double> q_, v_;
  std::vector<double> Omega_, u_, bias_, force_, sum_, coefficients_, rows_, more_rows_;  // by row
  std::vector<double> posture_vector_, null_force_, torque_, limits_;                     // by velocity
};

}  // namespace articula
