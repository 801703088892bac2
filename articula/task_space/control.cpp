#include "articula/task_space/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

Vec3<double> orientation_error(const Mat3<double>& R, const Mat3<double>& wanted) {
  return log_quaternion(quaternion(wanted * star(R)));
}

Spatial<double> motion_command(const FramePose<double>& pose, const Spatial<double>& velocity,
                               const MotionTarget& target, const MotionGains& gains) {
  return {target.acceleration.w + (target.velocity.w - velocity.w) * gains.turning_damping +
              orientation_error(pose.rotation, target.rotation) * gains.turning_stiffness,
          target.acceleration.v + (target.velocity.v - velocity.v) * gains.damping +
              (target.position - pose.position) * gains.stiffness};
}

namespace {
/// A command that is not a number would reach the motors.
void check_finite(const char* function, std::span<const double> x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw ArgumentError(fmt::format("TaskController: {}: number {} is {}", function, i, x[i]));
}
std::vector<Task> all_tasks(const std::vector<std::vector<Task>>& levels) {
  std::vector<Task> all;
  for (const auto& level : levels) all.insert(all.end(), level.begin(), level.end());
  return all;
}
}  // namespace

TaskController::TaskController(const Model& model, const std::vector<std::vector<Task>>& levels,
                               const SingularityOptions& options)
    : space_(model, all_tasks(levels), options) {
  const std::size_t rows = space_.rows(), nv = model.nv();
  int row = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    int count = 0;
    for (const Task& task : levels[l]) count += static_cast<int>(task.rows.size());
    if (count == 0) throw ArgumentError(fmt::format("TaskController: level {} has no task", l));
    Level level{row, count, RankSolve(count), {}, {}, {}, {}};
    level.Z.resize(rows * count);
    level.omega_Z.resize(rows * count);
    level.S.resize(static_cast<std::size_t>(count) * count);
    level.F.resize(2 * count);
    levels_.push_back(std::move(level));
    row += count;
  }
  Omega_.resize(rows * rows);
  for (auto* x : {&u_, &bias_, &force_, &sum_, &coefficients_, &rows_, &more_rows_}) x->resize(rows);
  for (auto* x : {&posture_vector_, &null_force_, &torque_, &v_}) x->resize(nv);
  limits_.reserve(nv);
  q_.resize(model.nq());
}

void TaskController::update(In<double> q, In<double> v) {
  ready_ = false;
  space_.update(q, v);
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(v.begin(), v.end(), v_.begin());
  space_.bias_acceleration(bias_);
  for (auto* x : {&u_, &force_}) std::fill(x->begin(), x->end(), 0.0);
  posture_ = Posture::none;
  ready_ = true;
}
void TaskController::check_ready(const char* function) const {
  if (!ready_) throw ArgumentError(fmt::format("TaskController: {}: call update(q, v) first", function));
}

// --- commands ----------------------------------------------------------------------------------------
void TaskController::accelerate(int task, In<double> rows) {
  check_ready("accelerate");
  const int first = space_.first_row(task);
  if (rows.size() != space_.task(task).rows.size())
    throw ArgumentError(fmt::format("TaskController: accelerate: task {} has {} rows, {} given", task,
                                    space_.task(task).rows.size(), rows.size()));
  check_finite("accelerate", rows);
  std::copy(rows.begin(), rows.end(), u_.begin() + first);
}
void TaskController::accelerate(int task, const Spatial<double>& a) {
  check_ready("accelerate");
  check_finite("accelerate", std::span(numbers_of(a), 6));
  space_.rows_of_acceleration(task, a, {u_.data() + space_.first_row(task), space_.task(task).rows.size()});
}
void TaskController::follow(int task, const MotionTarget& target, const MotionGains& gains) {
  check_ready("follow");
  accelerate(task, motion_command(space_.pose(task), space_.frame_velocity(task), target, gains));
}
void TaskController::press(int task, int row, double force, double damping) {
  check_ready("press");
  const int rows = static_cast<int>(space_.task(task).rows.size());
  if (row < 0 || row >= rows)
    throw ArgumentError(
        fmt::format("TaskController: press: row {} of task {}, which has {}", row, task, rows));
  if (!std::isfinite(force) || !std::isfinite(damping))
    throw ArgumentError(fmt::format("TaskController: press: force {} and damping {}", force, damping));
  const int at = space_.first_row(task) + row;
  space_.velocity(rows_);
  u_[at] = -damping * rows_[at];
  force_[at] = force;
}
void TaskController::press(int task, int row, double force, double measured, double gain, double damping) {
  press(task, row, force + gain * (force - measured), damping);
}
void TaskController::hold_posture(In<double> wanted, double stiffness, double damping) {
  check_ready("hold_posture");
  posture_ = Posture::none;
  difference(space_.model(), q_, wanted, posture_vector_);
  for (std::size_t i = 0; i < v_.size(); ++i)
    posture_vector_[i] = stiffness * posture_vector_[i] - damping * v_[i];
  check_finite("hold_posture", posture_vector_);
  posture_ = Posture::acceleration;
}
void TaskController::null_space_forces(In<double> tau) {
  check_ready("null_space_forces");
  if (tau.size() != posture_vector_.size())
    throw ArgumentError(fmt::format("TaskController: null_space_forces: {} numbers, model '{}' needs {}",
                                    tau.size(), space_.model().name(), posture_vector_.size()));
  check_finite("null_space_forces", tau);
  std::copy(tau.begin(), tau.end(), posture_vector_.begin());
  posture_ = Posture::force;
}
void TaskController::limit_torques(In<double> limits) {
  if (!limits.empty() && limits.size() != v_.size())
    throw ArgumentError(fmt::format("TaskController: limit_torques: {} numbers, model '{}' needs {}",
                                    limits.size(), space_.model().name(), v_.size()));
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (!(limits[i] >= 0))
      throw ArgumentError(
          fmt::format("TaskController: limit_torques: the limit of velocity {} is {}", i, limits[i]));
  limits_.assign(limits.begin(), limits.end());
}

// --- levels ------------------------------------------------------------------------------------------
/// Z of a level: its unit columns, less what the levels before it take, the first level last:
/// J_l|..* = N* J_l* with N* = (Id - J_1* Lambda_1 J_1 M^-1) (Id - J_2|1* ..) ..; all in terms of rows.
void TaskController::project_level(int l) {
  Level& level = levels_[l];
  const int all = space_.rows(), n = level.rows;
  std::fill(level.Z.begin(), level.Z.end(), 0.0);
  if (l == 0) {
    for (int c = 0; c < n; ++c) level.Z[static_cast<std::size_t>(c) * n + c] = 1;
    for (int r = 0; r < all; ++r)
      for (int c = 0; c < n; ++c)
        level.omega_Z[static_cast<std::size_t>(r) * n + c] = Omega_[static_cast<std::size_t>(r) * all + c];
    level.solve.solve(level.omega_Z.data(), space_.options());  // its first n rows
    return;
  }
  for (int c = 0; c < n; ++c) {
    double* const z = rows_.data();
    std::fill(rows_.begin(), rows_.end(), 0.0);
    z[level.row + c] = 1;
    for (int p = l - 1; p >= 0; --p) {
      Level& before = levels_[p];
      double* const y = before.F.data() + before.rows;
      for (int i = 0; i < before.rows; ++i) {
        y[i] = 0;
        for (int r = 0; r < all; ++r)
          y[i] += before.omega_Z[static_cast<std::size_t>(r) * before.rows + i] * z[r];
      }
      const auto Lambda = before.solve.inverse();
      for (int i = 0; i < before.rows; ++i) {
        double F = 0;
        for (int k = 0; k < before.rows; ++k)
          F += Lambda[static_cast<std::size_t>(i) * before.rows + k] * y[k];
        for (int r = 0; r < all; ++r) z[r] -= before.Z[static_cast<std::size_t>(r) * before.rows + i] * F;
      }
    }
    for (int r = 0; r < all; ++r) level.Z[static_cast<std::size_t>(r) * n + c] = z[r];
  }
  for (int r = 0; r < all; ++r)
    for (int c = 0; c < n; ++c) {
      double sum = 0;
      for (int k = 0; k < all; ++k)
        sum += Omega_[static_cast<std::size_t>(r) * all + k] * level.Z[static_cast<std::size_t>(k) * n + c];
      level.omega_Z[static_cast<std::size_t>(r) * n + c] = sum;
    }
  for (int i = 0; i < n; ++i)
    for (int c = i; c < n; ++c) {
      double sum = 0;
      for (int r = 0; r < all; ++r)
        sum +=
            level.Z[static_cast<std::size_t>(r) * n + i] * level.omega_Z[static_cast<std::size_t>(r) * n + c];
      level.S[static_cast<std::size_t>(i) * n + c] = level.S[static_cast<std::size_t>(c) * n + i] = sum;
    }
  level.solve.solve(level.S.data(), space_.options());
}
void TaskController::add_level(const Level& level, double share, std::span<double> sum) const {
  for (std::size_t r = 0; r < sum.size(); ++r)
    for (int c = 0; c < level.rows; ++c) sum[r] += share * level.Z[r * level.rows + c] * level.F[c];
}

/// tau += share * more with the largest share up to 1 that the limits allow.
double TaskController::add_scaled(std::span<double> tau, std::span<const double> more,
                                  TorqueReport& report) const {
  double share = 1;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const double room = more[i] > 0 ? limits_[i] - tau[i] : limits_[i] + tau[i];
    if (std::abs(more[i]) * share <= room || more[i] == 0) continue;
    share = std::max(0.0, room / std::abs(more[i]));
    report.joint = static_cast<int>(i);
  }
  report.scale = std::min(report.scale, share);
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += share * more[i];
  return share;
}

/// c with N* T = T - J* c, from y = J M^-1 T in `coefficients`, which become c.
void TaskController::posture_in_null_space(std::span<double> coefficients) {
  const int all = space_.rows();
  double* const y = more_rows_.data();
  std::copy(coefficients.begin(), coefficients.end(), more_rows_.begin());
  std::fill(coefficients.begin(), coefficients.end(), 0.0);
  for (int p = level_count() - 1; p >= 0; --p) {
    Level& level = levels_[p];
    double* const x = level.F.data() + level.rows;
    for (int i = 0; i < level.rows; ++i) {
      x[i] = 0;
      for (int r = 0; r < all; ++r) x[i] += level.Z[static_cast<std::size_t>(r) * level.rows + i] * y[r];
    }
    const auto Lambda = level.solve.inverse();
    for (int i = 0; i < level.rows; ++i) {
      double F = 0;
      for (int k = 0; k < level.rows; ++k) F += Lambda[static_cast<std::size_t>(i) * level.rows + k] * x[k];
      for (int r = 0; r < all; ++r) {
        coefficients[r] += level.Z[static_cast<std::size_t>(r) * level.rows + i] * F;
        y[r] -= level.omega_Z[static_cast<std::size_t>(r) * level.rows + i] * F;
      }
    }
  }
}

int TaskController::rank(int level) const {
  if (level < 0 || level >= level_count())
    throw ArgumentError(fmt::format("TaskController: level {} of {}", level, level_count()));
  return levels_[level].solve.rank();
}

/// torque_ = J* sum_ + what the posture wants in the null space of all levels.
void TaskController::posture_torques() {
  if (posture_ != Posture::none) {
    // J M^-1 (M a) = J a: a wanted acceleration needs no sweep through M^-1.
    if (posture_ == Posture::acceleration)
      space_.times_jacobian(posture_vector_, coefficients_);
    else
      space_.acceleration_of(posture_vector_, coefficients_);
    posture_in_null_space(coefficients_);
    for (std::size_t r = 0; r < sum_.size(); ++r) sum_[r] -= coefficients_[r];
  }
  space_.times_jacobian_star(sum_, torque_);
  if (posture_ == Posture::none) return;
  if (posture_ == Posture::acceleration)
    space_.times_mass(posture_vector_, null_force_);
  else
    std::copy(posture_vector_.begin(), posture_vector_.end(), null_force_.begin());
  for (std::size_t i = 0; i < torque_.size(); ++i) torque_[i] += null_force_[i];
}

TorqueReport TaskController::torques(Out<double> tau) {
  check_ready("torques");
  if (tau.size() != v_.size())
    throw ArgumentError(fmt::format("TaskController: torques: tau has {} numbers, model '{}' needs {}",
                                    tau.size(), space_.model().name(), v_.size()));
  TorqueReport report;
  const bool limited = !limits_.empty();
  const int all = space_.rows();
  space_.omega(Omega_);
  space_.bias_forces(tau);
  std::copy(force_.begin(), force_.end(), sum_.begin());
  if (limited) {
    space_.times_jacobian_star(force_, torque_);
    for (std::size_t i = 0; i < tau.size(); ++i) {
      tau[i] += torque_[i];
      if (std::abs(tau[i]) <= limits_[i]) continue;
      report.within_limits = false;
      report.joint = static_cast<int>(i);
      tau[i] = std::clamp(tau[i], -limits_[i], limits_[i]);
    }
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }
  // `rows_` is scratch of project_level; the accelerations that the levels so far cause are in more_rows_.
  std::fill(more_rows_.begin(), more_rows_.end(), 0.0);
  for (int l = 0; l < level_count(); ++l) {
    project_level(l);
    Level& level = levels_[l];
    double* const rest = level.F.data() + level.rows;
    for (int i = 0; i < level.rows; ++i)
      rest[i] = u_[level.row + i] - bias_[level.row + i] - more_rows_[level.row + i];
    level.solve.times(rest, level.F.data());
    double share = 1;
    if (limited) {
      std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
      add_level(level, 1, coefficients_);
      space_.times_jacobian_star(coefficients_, torque_);
      share = add_scaled(tau, torque_, report);
    } else {
      add_level(level, 1, sum_);
    }
    for (int r = 0; r < all; ++r)
      for (int c = 0; c < level.rows; ++c)
        more_rows_[r] += share * level.omega_Z[static_cast<std::size_t>(r) * level.rows + c] * level.F[c];
  }
  if (posture_ == Posture::none && limited) return report;
  posture_torques();  // with sum_, into torque_
  if (limited)
    add_scaled(tau, torque_, report);
  else
    for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += torque_[i];
  return report;
}

}  // namespace articula
