#include "articula/task_space/task_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/finite.hpp"
#include "articula/task_space/dense_route.hpp"

namespace articula {

TaskSpace::TaskSpace(const Model& model, const Task& task, const SingularityOptions& options)
    : TaskSpace(model, std::span(&task, 1), options) {}

TaskSpace::TaskSpace(const Model& model, std::span<const Task> tasks, const SingularityOptions& options)
    : Workspace<double>(model, {.side = true, .factor = true, .keep_D = true, .solve = true}),
      options_(options) {
  if (!(options.rank_tolerance >= 0 && options.rank_tolerance < 1) || !(options.activation >= 0) ||
      !std::isfinite(options.activation))
    throw ArgumentError(
        fmt::format("TaskSpace: rank_tolerance {} and activation {}: the first must be in [0, 1), the other "
                    "finite and not negative",
                    options.rank_tolerance, options.activation));
  if (options_.activation == 0) options_.activation = model.mass() > 0 ? 0.05 / model.mass() : 0.05;
  place_tasks(tasks);
  make_memory();
  if (model.has_mimics()) {
    dense_ = std::make_unique<DenseRoute>(model_, *this);
  } else {
    layout_ = std::make_unique<TaskLayout>(lay_tasks(tree(), frames_));
    extra_ = task_arrays(tree(), *layout_, frames_, t_);
    t_.k = m_;
  }
}
TaskSpace::~TaskSpace() = default;
TaskSpace::TaskSpace(TaskSpace&&) noexcept = default;
TaskSpace& TaskSpace::operator=(TaskSpace&&) noexcept = default;

void TaskSpace::place_tasks(std::span<const Task> tasks) {
  std::vector<int> distinct;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    check_task(model_, tasks[i], static_cast<int>(i));
    Placed placed{tasks[i], rows_, 0};
    placed.whole = tasks[i].axes == Task::world_axes && tasks[i].rows.size() == 6;
    for (std::size_t r = 0; r < tasks[i].rows.size(); ++r)
      for (std::size_t c = 0; c < 6; ++c) placed.whole &= tasks[i].rows[r][c] == (r == c ? 1 : 0);
    const auto known = std::find(distinct.begin(), distinct.end(), tasks[i].frame);
    placed.frame = static_cast<int>(known - distinct.begin());
    if (known == distinct.end()) {
      distinct.push_back(tasks[i].frame);
      frames_.push_back(frame_on_body(model_, tasks[i].frame));
    }
    if (tasks[i].axes != Task::world_axes) {
      const FrameOnBody<double> axes = frame_on_body(model_, tasks[i].axes);
      placed.axes_slot = axes.slot;
      placed.axes = axes.R;
    }
    rows_ += static_cast<int>(tasks[i].rows.size());
    tasks_.push_back(std::move(placed));
  }
}

void TaskSpace::make_memory() {
  const std::size_t rows = rows_, frames = frames_.size(), nv = model_.nv();
  solve_ = RankSolve(rows_);
  row_in_world_.resize(6 * rows);
  Omega_.resize(rows * rows);
  for (auto* x : {&coriolis_, &gravity_, &bias_, &velocity_}) x->resize(rows);
  frame_velocity_.resize(6 * frames);
  frame_vector_.resize(6 * frames);
  row_vector_.resize(2 * rows);
  joint_vector_.resize(2 * nv);
  body_vector_.resize(6 * static_cast<std::size_t>(tree().slots()));
  for (const Placed& task : tasks_)
    for (std::size_t r = 0; r < task.task.rows.size(); ++r)
      std::copy(task.task.rows[r].begin(), task.task.rows[r].end(),
                row_in_world_.begin() + 6 * (task.first_row + r));
}

// --- state
void TaskSpace::update(In<double> q) { state("TaskSpace: update", q, nullptr); }
void TaskSpace::update(In<double> q, In<double> v) {
  check("TaskSpace: update", "v", v.size(), model_.nv());
  state("TaskSpace: update", q, v.data());
}
void TaskSpace::state(const char* function, std::span<const double> q, const double* v) {
  check(function, "q", q.size(), model_.nq());
  updated_ = solved_ = false;
  const bool moved = moving_;
  moving_ = v != nullptr;
  if (dense_) {
    dense_->update(q, v);
  } else if (!(kernel_set().tasks->update(tree(), q.data(), v, t_) > 0)) {
    throw_singular(model_, "operational space", m_.inv_D);
  }
  if (v && !dense_)
    kernel_set().tasks->velocities(tree(), t_, v, frame_velocity_.data());
  else if (v)
    dense_->velocities(v, frame_velocity_.data());
  else if (moved)
    for (auto* x : {&frame_velocity_, &coriolis_, &bias_, &velocity_}) std::fill(x->begin(), x->end(), 0.0);
  finish(moving_);
  // A speed or configuration that is not finite shows in one of these.
  double sum = 0;
  for (int i = 0; i < rows_; ++i)
    sum += coriolis_[i] + gravity_[i] + Omega_[static_cast<std::size_t>(i) * rows_ + i];
  if (!std::isfinite(sum)) {
    if (!are_finite(q) || (v && !are_finite(std::span(v, static_cast<std::size_t>(model_.nv())))))
      throw ArgumentError(fmt::format("{}: q or v has numbers that are not finite", function));
    throw SingularError(fmt::format("{}: the results are not finite; q or v is too large", function));
  }
  updated_ = true;
}

Mat3<double> TaskSpace::body_axes(int slot) const {
  if (dense_) return dense_->body_axes(slot);
  return gather<block, Mat3<double>>(articula::slot(m_.x, slot, int(body::count)) + block * body::R);
}

void TaskSpace::turn_rows() {
  for (const Placed& task : tasks_) {
    if (task.task.axes == Task::world_axes) continue;
    const Mat3<double> R = body_axes(task.axes_slot) * task.axes;
    for (std::size_t r = 0; r < task.task.rows.size(); ++r) {
      const auto& row = task.task.rows[r];
      const Vec3<double> w = R * Vec3<double>{row[0], row[1], row[2]},
                         v = R * Vec3<double>{row[3], row[4], row[5]};
      double* const out = row_in_world_.data() + 6 * (task.first_row + r);
      out[0] = w.x, out[1] = w.y, out[2] = w.z, out[3] = v.x, out[4] = v.y, out[5] = v.z;
    }
  }
}

/// Omega of the rows from the blocks of the frames.
void TaskSpace::reduce_omega() {
  const double* const blocks = dense_ ? dense_->blocks() : t_.blocks;
  const std::size_t frames = frames_.size();
  if (tasks_.size() == 1 && tasks_[0].whole) {
    double* const out = Omega_.data();
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < i; ++j) out[6 * i + j] = blocks[task_lanes * j + i];
      for (int j = i; j < 6; ++j) out[6 * i + j] = blocks[task_lanes * i + j];
    }
    return;
  }
  for (const Placed& a : tasks_)
    for (const Placed& b : tasks_) {
      if (b.first_row < a.first_row) continue;
      const double* const B = blocks + task_block * (a.frame * frames + b.frame);
      const int rows_a = static_cast<int>(a.task.rows.size()), rows_b = static_cast<int>(b.task.rows.size());
      for (int i = 0; i < rows_a; ++i) {
        const double* const x = row_in_world_.data() + 6 * (a.first_row + i);
        double xB[task_lanes] = {};
        for (int c = 0; c < 6; ++c) {
          if (x[c] == 0) continue;
          for (int l = 0; l < task_lanes; ++l) xB[l] += x[c] * B[task_lanes * c + l];
        }
        for (int j = &a == &b ? i : 0; j < rows_b; ++j) {
          const double* const y = row_in_world_.data() + 6 * (b.first_row + j);
          const double value =
              (xB[0] * y[0] + xB[1] * y[1] + xB[2] * y[2]) + (xB[3] * y[3] + xB[4] * y[4] + xB[5] * y[5]);
          const std::size_t r = a.first_row + i, s = b.first_row + j;
          Omega_[r * rows_ + s] = Omega_[s * rows_ + r] = value;
        }
      }
    }
}

void TaskSpace::finish(bool moving) {
  turn_rows();
  reduce_omega();
  const std::size_t frames = frames_.size();
  const Vec3<double> up = -tree().gravity;
  double* const F = frame_vector_.data();
  // Omega g = a_g - psi* W* a_g
  for (std::size_t i = 0; i < frames; ++i) {
    if (!dense_) {
      scatter<1>(frame_gravity(t_, static_cast<int>(i), up), F + 6 * i);
      continue;
    }
    const double* const g = dense_->fall(i);
    for (int c = 0; c < 6; ++c) F[6 * i + c] = -g[c];
    F[6 * i + 3] += up.x, F[6 * i + 4] += up.y, F[6 * i + 5] += up.z;
  }
  to_rows(F, gravity_.data());
  if (!moving) return;  // those of velocity are zero
  to_rows(frame_velocity_.data(), velocity_.data());
  // J' v of the frames, then the acceleration that C v causes beside it
  for (std::size_t i = 0; i < frames; ++i) {
    if (dense_) {
      dense_->bias(i, F + 6 * i);
      continue;
    }
    scatter<1>(frame_bias(t_, static_cast<int>(i)), F + 6 * i);
  }
  for (int i = 0; i < task_count(); ++i)
    rows_of_acceleration(i, gather<1, Spatial<double>>(F + 6 * tasks_[i].frame),
                         {bias_.data() + tasks_[i].first_row, tasks_[i].task.rows.size()});
  for (std::size_t i = 0; i < frames; ++i) {
    const double* const a = dense_ ? dense_->coriolis(i) : t_.a + task_lanes * i;
    for (int c = 0; c < 6; ++c) F[6 * i + c] = a[c];
  }
  to_rows(F, coriolis_.data());
  for (int i = 0; i < rows_; ++i) coriolis_[i] = -coriolis_[i] - bias_[i];
}

/// d/dt of R_A* x is R_A* (x' - w_A x x).
void TaskSpace::rows_of_acceleration(int task, const Spatial<double>& a, Out<double> y) const {
  const Placed& placed = tasks_[check_index(task)];
  check("rows_of_acceleration", "y", y.size(), placed.task.rows.size());
  Spatial<double> x = a;
  if (placed.task.axes != Task::world_axes && moving_) {
    const Vec3<double> w =
        dense_ ? dense_->angular_velocity(placed.axes_slot)
               : gather<block, Vec3<double>>(articula::slot(m_.x, placed.axes_slot, int(body::count)) +
                                             block * body::w);
    const auto V = gather<1, Spatial<double>>(frame_velocity_.data() + 6 * placed.frame);
    x = {a.w - cross(w, V.w), a.v - cross(w, V.v)};
  }
  for (std::size_t r = 0; r < y.size(); ++r)
    y[r] = dot(gather<1, Spatial<double>>(row_in_world_.data() + 6 * (placed.first_row + r)), x);
}

// --- between rows, frames and joints
void TaskSpace::to_rows(const double* frames, double* rows) const {
  for (const Placed& task : tasks_) {
    if (task.whole) {
      std::copy_n(frames + 6 * task.frame, 6, rows + task.first_row);
      continue;
    }
    const auto x = gather<1, Spatial<double>>(frames + 6 * task.frame);
    for (std::size_t r = 0; r < task.task.rows.size(); ++r)
      rows[task.first_row + r] =
          dot(gather<1, Spatial<double>>(row_in_world_.data() + 6 * (task.first_row + r)), x);
  }
}
void TaskSpace::from_rows(const double* rows, double* frames) const {
  std::fill(frames, frames + 6 * frames_.size(), 0.0);
  for (const Placed& task : tasks_)
    for (std::size_t r = 0; r < task.task.rows.size(); ++r)
      for (int c = 0; c < 6; ++c)
        frames[6 * task.frame + c] += row_in_world_[6 * (task.first_row + r) + c] * rows[task.first_row + r];
}
void TaskSpace::frames_of_velocity(const double* v, double* frames) const {
  dense_ ? dense_->velocities(v, frames) : kernel_set().tasks->velocities(tree(), t_, v, frames);
}
void TaskSpace::forces_of_frames(const double* F, double* tau) {
  dense_ ? dense_->forces(F, tau) : kernel_set().tasks->forces(tree(), t_, F, tau);
}
void TaskSpace::frames_of_forces(const double* tau, double* frames) {
  if (dense_) return dense_->accelerations(tau, frames);
  Sweep<double> in;  // nu = D^-1 [Id - H psi K] tau
  in.psi = in.tap_solve = true;
  in.K_times = in.tap_add = tau;
  in.tap = m_.nu;
  in.tap_factor = -1;
  kernel_set().in<double>().sweeps->sweep(tree(), m_, in);
  kernel_set().tasks->gather(tree(), t_, m_.nu, frames);
}
void TaskSpace::rates_of_frames(const double* F, double* v) {
  if (dense_) return dense_->rates(F, v);
  kernel_set().tasks->spread(tree(), t_, F, m_.nu);
  Sweep<double> out;  // [Id - H psi K]* nu
  out.outward = out.psi = true;
  out.H_times = out.tap_add = m_.nu;
  out.tap = v;
  out.tap_factor = -1;
  kernel_set().in<double>().sweeps->sweep(tree(), m_, out);
}

// --- checks
int TaskSpace::check_index(int task) const {
  if (task < 0 || task >= task_count())
    throw ArgumentError(fmt::format("TaskSpace: task {} of {}", task, task_count()));
  return task;
}
void TaskSpace::require_update(const char* function) const {
  if (!updated_)
    throw ArgumentError(fmt::format("TaskSpace: {}: no state yet; call update(q, v) first", function));
}
void TaskSpace::check_sizes(const char* function, std::size_t x, std::size_t x_size, std::size_t y,
                            std::size_t y_size) const {
  require_update(function);
  check(function, "the argument", x, x_size);
  check(function, "the result", y, y_size);
}

}  // namespace articula
