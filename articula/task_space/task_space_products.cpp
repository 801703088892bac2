// TaskSpace at the last update: its matrices, their products with vectors, and what concerns the whole model.
#include <algorithm>

#include "articula/kernels/tables.hpp"
#include "articula/task_space/dense_route.hpp"
#include "articula/task_space/task_space.hpp"

namespace articula {

// --- matrices and vectors
RankSolve& TaskSpace::solved() {
  if (!solved_) solve_.solve(Omega_.data(), options_);
  solved_ = true;
  return solve_;
}
void TaskSpace::omega(Out<double> matrix) const {
  check_sizes("omega", 0, 0, matrix.size(), Omega_.size());
  std::copy(Omega_.begin(), Omega_.end(), matrix.begin());
}
void TaskSpace::lambda(Out<double> matrix) {
  check_sizes("lambda", 0, 0, matrix.size(), Omega_.size());
  const auto Lambda = solved().inverse();
  std::copy(Lambda.begin(), Lambda.end(), matrix.begin());
}
void TaskSpace::coriolis(Out<double> c) {
  check_sizes("coriolis", 0, 0, c.size(), rows_);
  solved().times(coriolis_.data(), c.data());
}
void TaskSpace::gravity(Out<double> g) {
  check_sizes("gravity", 0, 0, g.size(), rows_);
  solved().times(gravity_.data(), g.data());
}
void TaskSpace::velocity(Out<double> y) const {
  check_sizes("velocity", 0, 0, y.size(), rows_);
  std::copy(velocity_.begin(), velocity_.end(), y.begin());
}
void TaskSpace::bias_acceleration(Out<double> jdot_v) const {
  check_sizes("bias_acceleration", 0, 0, jdot_v.size(), rows_);
  std::copy(bias_.begin(), bias_.end(), jdot_v.begin());
}
void TaskSpace::free_acceleration(Out<double> y) const {
  check_sizes("free_acceleration", 0, 0, y.size(), rows_);
  for (int i = 0; i < rows_; ++i) y[i] = -coriolis_[i] - gravity_[i];
}
int TaskSpace::rank() {
  require_update("rank");
  return solved().rank();
}
bool TaskSpace::exact() {
  require_update("exact");
  return solved().exact();
}
std::span<const double> TaskSpace::world_rows(int task) const {
  const Placed& placed = tasks_[check_index(task)];
  return {row_in_world_.data() + 6 * placed.first_row, 6 * placed.task.rows.size()};
}

void TaskSpace::times_omega(In<double> F, Out<double> y) const {
  check_sizes("times_omega", F.size(), rows_, y.size(), rows_);
  for (int i = 0; i < rows_; ++i) {
    y[i] = 0;
    for (int c = 0; c < rows_; ++c) y[i] += Omega_[static_cast<std::size_t>(i) * rows_ + c] * F[c];
  }
}
void TaskSpace::times_lambda(In<double> y, Out<double> F) {
  check_sizes("times_lambda", y.size(), rows_, F.size(), rows_);
  solved().times(y.data(), F.data());
}
void TaskSpace::times_jacobian(In<double> v, Out<double> y) {
  check_sizes("times_jacobian", v.size(), model_.nv(), y.size(), rows_);
  frames_of_velocity(v.data(), frame_vector_.data());
  to_rows(frame_vector_.data(), y.data());
}
void TaskSpace::times_jacobian_star(In<double> F, Out<double> tau) {
  check_sizes("times_jacobian_star", F.size(), rows_, tau.size(), model_.nv());
  from_rows(F.data(), frame_vector_.data());
  forces_of_frames(frame_vector_.data(), tau.data());
}
void TaskSpace::times_jacobian_bar(In<double> y, Out<double> v) {
  check_sizes("times_jacobian_bar", y.size(), rows_, v.size(), model_.nv());
  solved().times(y.data(), row_vector_.data());
  from_rows(row_vector_.data(), frame_vector_.data());
  rates_of_frames(frame_vector_.data(), v.data());
}
void TaskSpace::acceleration_of(In<double> tau, Out<double> y) {
  check_sizes("acceleration_of", tau.size(), model_.nv(), y.size(), rows_);
  frames_of_forces(tau.data(), frame_vector_.data());
  to_rows(frame_vector_.data(), y.data());
}
void TaskSpace::times_jacobian_bar_star(In<double> tau, Out<double> F) {
  check_sizes("times_jacobian_bar_star", tau.size(), model_.nv(), F.size(), rows_);
  acceleration_of(tau, {row_vector_.data(), static_cast<std::size_t>(rows_)});
  solved().times(row_vector_.data(), F.data());
}
void TaskSpace::project_forces(In<double> tau, Out<double> out) {
  check_sizes("project_forces", tau.size(), model_.nv(), out.size(), model_.nv());
  const std::span<double> F(row_vector_.data() + rows_, rows_);
  times_jacobian_bar_star(tau, F);
  times_jacobian_star(F, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = tau[i] - out[i];
}
void TaskSpace::project_velocities(In<double> v, Out<double> out) {
  check_sizes("project_velocities", v.size(), model_.nv(), out.size(), model_.nv());
  const std::span<double> y(row_vector_.data() + rows_, rows_);
  times_jacobian(v, y);
  times_jacobian_bar(y, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = v[i] - out[i];
}
void TaskSpace::motion_force(In<double> u, Out<double> F) {
  check_sizes("motion_force", u.size(), rows_, F.size(), rows_);
  for (int i = 0; i < rows_; ++i) row_vector_[i] = u[i] + coriolis_[i] + gravity_[i];
  solved().times(row_vector_.data(), F.data());
}

void TaskSpace::jacobian(Out<double> J) {
  const std::size_t nv = model_.nv();
  check_sizes("jacobian", 0, 0, J.size(), rows_ * nv);
  const std::span<double> F(row_vector_.data() + rows_, rows_);
  std::fill(F.begin(), F.end(), 0.0);
  for (int i = 0; i < rows_; ++i) {
    F[i] = 1;
    times_jacobian_star(F, J.subspan(i * nv, nv));
    F[i] = 0;
  }
}
void TaskSpace::jacobian_bar(Out<double> Jbar) {
  const std::size_t nv = model_.nv();
  check_sizes("jacobian_bar", 0, 0, Jbar.size(), rows_ * nv);
  const std::span<double> y(row_vector_.data() + rows_, rows_), x(joint_vector_.data(), nv);
  std::fill(y.begin(), y.end(), 0.0);
  for (int i = 0; i < rows_; ++i) {
    y[i] = 1;
    times_jacobian_bar(y, x);
    y[i] = 0;
    for (std::size_t k = 0; k < nv; ++k) Jbar[k * rows_ + i] = x[k];
  }
}
void TaskSpace::null_space(Out<double> N) {
  const std::size_t nv = model_.nv();
  check_sizes("null_space", 0, 0, N.size(), nv * nv);
  const std::span<double> unit(joint_vector_.data(), nv), x(joint_vector_.data() + nv, nv);
  std::fill(unit.begin(), unit.end(), 0.0);
  for (std::size_t i = 0; i < nv; ++i) {
    unit[i] = 1;
    project_forces(unit, x);
    unit[i] = 0;
    for (std::size_t k = 0; k < nv; ++k) N[k * nv + i] = x[k];
  }
}

// --- the whole model
void TaskSpace::gravity_forces(Out<double> tau) {
  check_sizes("gravity_forces", 0, 0, tau.size(), model_.nv());
  if (dense_) return dense_->gravity_forces(tau);
  const Vec3<double> up = -tree().gravity;
  for (int k = 0; k < tree().bodies; ++k)
    scatter<1>(Spatial<double>{{0, 0, 0}, up}, body_vector_.data() + 6 * k);
  Sweep<double> in;  // H phi M phi* E* a_g (OSC 44)
  in.rigid_times = body_vector_.data();
  in.tap = tau.data();
  kernel_set().in<double>().sweeps->sweep(tree(), m_, in);
}
void TaskSpace::bias_forces(Out<double> tau) {
  gravity_forces(tau);
  if (!moving_) return;
  const std::span<double> C(joint_vector_.data(), tau.size());
  dense_ ? dense_->coriolis_forces(C) : kernel_set().tasks->coriolis_forces(tree(), m_, C.data());
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += C[i];
}
void TaskSpace::times_mass(In<double> a, Out<double> tau) {
  check_sizes("times_mass", a.size(), model_.nv(), tau.size(), model_.nv());
  if (dense_) return dense_->times_mass(a, tau);
  Sweep<double> out;
  out.outward = true;
  out.H_times = a.data();
  out.z = body_vector_.data();
  kernel_set().in<double>().sweeps->sweep(tree(), m_, out);
  Sweep<double> in;
  in.rigid_times = body_vector_.data();
  in.tap = tau.data();
  kernel_set().in<double>().sweeps->sweep(tree(), m_, in);
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += tree().armature[i] * a[i];
}

// --- frames
FramePose<double> TaskSpace::pose(int task) const {
  require_update("pose");
  const Placed& placed = tasks_[check_index(task)];
  if (dense_) return dense_->pose(placed.task.frame);
  const FrameOnBody<double>& frame = frames_[placed.frame];
  const Mat3<double> R = body_axes(frame.slot);
  Vec3<double> p = R * frame.p;
  for (int k = frame.slot; k > 0; k = tree().index[k].inboard)
    p += gather<block, Vec3<double>>(articula::slot(m_.x, k, int(body::count)) + block * body::l);
  return {R * frame.R, p};
}
Spatial<double> TaskSpace::frame_velocity(int task) const {
  require_update("frame_velocity");
  return gather<1, Spatial<double>>(frame_velocity_.data() + 6 * tasks_[check_index(task)].frame);
}

}  // namespace articula
