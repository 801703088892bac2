#include "articula/loops/inverse_kinematics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/control.hpp"
#include "articula/task_space/rank.hpp"

namespace articula {

namespace {

/// Without overflow: targets may be anywhere.
double length_of(std::span<const double> x) {
  double sum = 0;
  for (const double y : x) sum = std::hypot(sum, y);
  return sum;
}

void check_finite(const char* what, std::span<const double> x) {
  if (!std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); }))
    throw ArgumentError(fmt::format("inverse_kinematics: {} is not finite", what));
}

void check_configuration(const Model& model, const char* what, std::span<const double> q) {
  if (q.size() != static_cast<std::size_t>(model.nq()))
    throw ArgumentError(
        fmt::format("inverse_kinematics: {} has {} numbers; expected {}", what, q.size(), model.nq()));
  check_finite(what, q);
}

}  // namespace

/// What is wanted beside closed loops: rows whose errors are to vanish, and their Jacobian.
struct InverseKinematics::Goal {
  virtual ~Goal() = default;
  virtual int rows() const = 0;
  virtual void errors(In<double> q, Out<double> e) const = 0;
  virtual void jacobian(In<double> q, Out<double> J) const = 0;
  virtual void tell(InverseKinematicsResult& result, std::span<const double> e) const = 0;
};

struct InverseKinematics::FrameGoal : Goal {
  FrameGoal(Kinematics<>& k, const FrameTarget& t, int velocities, In<double> q)
      : kinematics(k), target(t), nv(velocities), whole(6 * std::size_t(velocities)) {
    if (!target.rotation) return;
    // Radians count as much as the metres by which the joints move the frame while they turn it.
    kinematics.jacobian(target.frame, q, whole);
    const double turning = length_of(std::span(whole).first(3 * nv)),
                 moving = length_of(std::span(whole).last(3 * nv));
    if (turning > 0 && moving > 0) lever = moving / turning;
  }
  int rows() const override { return target.rotation ? 6 : 3; }
  void errors(In<double> q, Out<double> e) const override {
    const FramePose<double> at = kinematics.pose(target.frame, q);
    const Vec3<double> off = target.position - at.position;
    std::copy_n(numbers_of(off), 3, e.begin());
    if (!target.rotation) return;
    const Vec3<double> turn = orientation_error(at.rotation, *target.rotation) * lever;
    std::copy_n(numbers_of(turn), 3, e.begin() + 3);
  }
  void jacobian(In<double> q, Out<double> J) const override {
    kinematics.jacobian(target.frame, q, whole);
    std::copy(whole.begin() + 3 * nv, whole.end(), J.begin());
    if (!target.rotation) return;
    for (int i = 0; i < 3 * nv; ++i) J[3 * nv + i] = lever * whole[i];
  }
  void tell(InverseKinematicsResult& result, std::span<const double> e) const override {
    result.residual = length_of(e.first(3));
    result.turn = length_of(e.subspan(3)) / lever;
  }
  Kinematics<>& kinematics;
  const FrameTarget& target;
  int nv;
  double lever = 1;
  mutable std::vector<double> whole;  // 6 x nv
};

struct InverseKinematics::JointGoal : Goal {
  JointGoal(const Model& m, const Joint& j, In<double> w)
      : model(m), joint(j), wanted(w), way(std::size_t(m.nv())) {}
  int rows() const override { return joint.nv; }
  void errors(In<double> q, Out<double> e) const override {
    difference(model, q, wanted, way);
    std::copy_n(way.begin() + joint.v_index, joint.nv, e.begin());
  }
  void jacobian(In<double>, Out<double> J) const override {
    std::fill(J.begin(), J.end(), 0.0);
    for (int i = 0; i < joint.nv; ++i) J[i * model.nv() + joint.v_index + i] = 1;
  }
  void tell(InverseKinematicsResult& result, std::span<const double> e) const override {
    for (const double x : e) result.residual = std::max(result.residual, std::abs(x));
  }
  const Model& model;
  const Joint& joint;
  In<double> wanted;
  mutable std::vector<double> way;
};

InverseKinematics::InverseKinematics(const Model& model, std::vector<Constraint> constraints,
                                     const InverseKinematicsOptions& options)
    : model_(model), options_(options), kinematics_(model), step_(std::size_t(model.nv())) {
  if (!constraints.empty()) loops_ = std::make_unique<ConstrainedDynamics>(model, std::move(constraints));
  closing_ = loops_ ? loops_->rows() : 0;
  const std::vector<JointRange> narrowed = narrowed_limits(model);
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    for (int i = 0; i < joint.nv; ++i) {
      if (is_angular(joint.kind, i)) turning_.push_back(joint.v_index + i);
      if (chart_of(joint.kind) != Chart::adds) continue;
      Bound bound{joint.q_index + i, joint.v_index + i, joint.limits.lower[i], joint.limits.upper[i]};
      if (i == 0 && !narrowed.empty()) bound.lower = narrowed[j].lower, bound.upper = narrowed[j].upper;
      if (std::isfinite(bound.lower) || std::isfinite(bound.upper)) stated_.push_back(bound);
    }
  }
}

void InverseKinematics::widen_limits(In<double> q) {
  bounds_ = stated_;
  for (Bound& b : bounds_) b.lower = std::min(b.lower, q[b.q]), b.upper = std::max(b.upper, q[b.q]);
}

/// A = (Jc; J) and (-c, e) at q.
void InverseKinematics::linearize(const Goal* goal, In<double> q) {
  const std::size_t nv = std::size_t(model_.nv()), closing = std::size_t(closing_),
                    wanted = goal ? std::size_t(goal->rows()) : 0;
  rows_ = static_cast<int>(closing + wanted);
  A_.resize((closing + wanted) * nv);
  right_.resize(closing + wanted);
  if (loops_) {
    loops_->jacobian(q, std::span(A_).first(closing * nv));
    loops_->position_errors(q, std::span(right_).first(closing));
    for (std::size_t i = 0; i < closing; ++i) right_[i] = -right_[i];
  }
  if (!goal) return;
  goal->jacobian(q, std::span(A_).last(wanted * nv));
  goal->errors(q, std::span(right_).last(wanted));
}

/// step_, with joints that would pass a limit stopped at it. mu: as a part of the largest of J J*'s diagonal.
void InverseKinematics::find_step(In<double> q, double mu) {
  const int nv = model_.nv();
  std::vector<bool> held(std::size_t(nv), false);
  std::fill(step_.begin(), step_.end(), 0.0);
  RankSolve inverse(rows_);
  std::vector<double> y(std::size_t(rows_), 0.0);
  for (bool again = true; again;) {
    dense::Matrix free = dense::view(A_, rows_, nv), left = dense::view(right_);
    for (int i = 0; i < nv; ++i)
      for (int r = 0; held[std::size_t(i)] && r < rows_; ++r)
        left[r] -= free(r, i) * step_[i], free(r, i) = 0;
    dense::Matrix N = free * dense::star(free);
    double largest = 0;
    for (int r = closing_; r < rows_; ++r) largest = std::max(largest, N(r, r));
    for (int r = closing_; r < rows_; ++r) N(r, r) += mu * largest;
    inverse.solve(N.numbers().data(), {.rank_tolerance = 1e-11});
    inverse.times(left.numbers().data(), y.data());
    const dense::Matrix s = dense::star(free) * dense::view(y);
    for (int i = 0; i < nv; ++i)
      if (!held[std::size_t(i)]) step_[i] = s[i];
    again = false;
    for (const Bound& b : bounds_) {
      const double to = std::clamp(q[b.q] + step_[b.v], b.lower, b.upper);
      if (held[std::size_t(b.v)] || to == q[b.q] + step_[b.v]) continue;
      step_[b.v] = to - q[b.q];
      held[std::size_t(b.v)] = again = true;
    }
  }
}

/// Along step_, as far as no joint turns too much.
void InverseKinematics::move(In<double> q, Out<double> out) const {
  double largest = 0;
  for (const int v : turning_) largest = std::max(largest, std::abs(step_[v]));
  std::vector<double> step = step_;
  const double part = largest > options_.largest_turn ? options_.largest_turn / largest : 1;
  for (double& s : step) s *= part;
  integrate(model_, q, step, out);
  for (const Bound& b : bounds_) out[b.q] = std::clamp(out[b.q], b.lower, b.upper);  // to the last bit
}

bool InverseKinematics::close_loops(Out<double> q) {
  if (!loops_) return true;
  const double enough = 1e-10;
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 50; ++i) {
    linearize(nullptr, q);
    const double off = dense::largest(dense::view(right_));
    // Redundant rows contradict each other by the digits of the file that states them.
    if (off <= enough || (off <= 1e4 * enough && off > 0.5 * last)) return true;
    if (!std::isfinite(off)) return false;
    last = off;
    find_step(q, 0);
    move(In<double>(q), q);
  }
  return false;
}

bool InverseKinematics::close(Out<double> q) {
  check_configuration(model_, "q", q);
  widen_limits(q);
  std::vector<double> trial(q.begin(), q.end());
  if (!close_loops(trial)) {  // bars in one line pull along it in vain
    nudge(q, trial);
    if (!close_loops(trial)) return false;
  }
  std::copy(trial.begin(), trial.end(), q.begin());
  return true;
}

std::string InverseKinematics::worst_loop(In<double> q) {
  if (!loops_) return "there are no loops";
  const ConstraintDrift drift = loops_->drift(q, std::vector<double>(std::size_t(model_.nv())));
  return fmt::format("loop '{}' is off by {:.3g}",
                     loops_->constraints()[std::size_t(std::max(0, drift.worst_position))].name,
                     drift.position);
}

/// Steps while they come nearer. What is left of the error.
double InverseKinematics::descend(const Goal& goal, Out<double> q, int& left) {
  std::vector<double> trial(q.size()), e(std::size_t(goal.rows()));
  goal.errors(q, e);
  double off = length_of(e), mu = 1e-3;
  while (off > options_.tolerance && left > 0) {
    bool nearer = false;
    double now = off;
    for (int tries = 0; tries < 12 && !nearer && left > 0; ++tries, --left) {
      linearize(&goal, q);  // closing the trial has used the same memory
      find_step(q, mu);
      move(In<double>(q), trial);
      if (close_loops(trial)) {
        goal.errors(trial, e);
        now = length_of(e);
        nearer = now < off;
      }
      mu = nearer ? std::max(1e-9, mu / 10) : mu * 10;
    }
    if (!nearer) break;
    std::copy(trial.begin(), trial.end(), q.begin());
    const bool settled = off - now <= 1e-9 * off;
    off = now;
    if (settled) break;
  }
  return off;
}

/// A little aside: a straight arm that is asked to shorten does not know which way to bend.
void InverseKinematics::nudge(In<double> q, Out<double> out) const {
  std::vector<double> aside(step_.size());
  for (const int v : turning_) aside[v] = 0.03 * std::cos(2.4 * v + 1);
  integrate(model_, q, aside, out);
  for (const Bound& b : bounds_) out[b.q] = std::clamp(out[b.q], b.lower, b.upper);
}

InverseKinematicsResult InverseKinematics::solve(const Goal& goal, Out<double> q) {
  check_configuration(model_, "q", q);
  widen_limits(q);
  int left = options_.iterations;
  const double off = descend(goal, q, left);
  if (off > options_.tolerance && left > 0) {
    std::vector<double> other(q.size());
    nudge(q, other);
    // The same place again, to some digits, is no reason to move: it would tremble.
    if (close_loops(other) && descend(goal, other, left) < (1 - 1e-4) * off)
      std::copy(other.begin(), other.end(), q.begin());
  }
  std::vector<double> e(std::size_t(goal.rows()));
  goal.errors(q, e);
  InverseKinematicsResult result;
  goal.tell(result, e);
  result.converged = length_of(e) <= options_.tolerance;
  result.iterations = options_.iterations - left;
  return result;
}

InverseKinematicsResult InverseKinematics::reach(const FrameTarget& target, Out<double> q) {
  if (target.frame < 0 || std::size_t(target.frame) >= model_.frames().size())
    throw ArgumentError(
        fmt::format("inverse_kinematics: frame {}; the model has {}", target.frame, model_.frames().size()));
  check_finite("the target's position", {numbers_of(target.position), 3});
  if (target.rotation) check_finite("the target's rotation", {numbers_of(*target.rotation), 9});
  check_configuration(model_, "q", q);
  return solve(FrameGoal(kinematics_, target, model_.nv(), q), q);
}

InverseKinematicsResult InverseKinematics::set_joint(int joint, In<double> wanted, Out<double> q) {
  if (joint < 0 || std::size_t(joint) >= model_.joints().size())
    throw ArgumentError(
        fmt::format("inverse_kinematics: joint {}; the model has {}", joint, model_.joints().size()));
  check_configuration(model_, "the wanted configuration", wanted);
  return solve(JointGoal(model_, model_.joints()[std::size_t(joint)], wanted), q);
}

}  // namespace articula
