// Constraints in velocity and position: impulses, drift, projection (constrained_dynamics.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

void ConstrainedDynamics::factor_at(const char* function, const double* q, Keep keep) {
  const double smallest =
      keep ? kernel_set().loops->start_keeping(tree(), q, nullptr, nullptr, nullptr, *keep, false)
           : articula::kernels<double>().factor(tree(), q, m_);
  if (!(smallest > 0)) throw_singular(model_, function, m_.inv_D);
  bend(q, nullptr);
}

/// step_ = M^-1 J* Omega^+ lambda_, where the factor and Omega are.
void ConstrainedDynamics::push_rows() {
  solve_rows(lambda_);
  std::fill_n(m_.nu, tree().nv, 0.0);
  kernel_set().loops->correct(tree(), m_, loop_, lambda_, full_);
  for (std::size_t i = 0; i < step_.size(); ++i) step_[i] = full_[result_ ? own_[i] : i];
  spread(lambda_, multipliers_);
}

void ConstrainedDynamics::impulse(In<double> q, In<double> v, Out<double> v_out, double restitution) {
  push(q, v, v_out, restitution, nullptr);
}
void ConstrainedDynamics::push(In<double> q, In<double> v, Out<double> v_out, double restitution, Keep keep) {
  constexpr const char* name = "impulse";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "v_out", v_out.size(), model_.nv());
  const LoopKernels& k = *kernel_set().loops;
  const double* const fv = full_v(v);
  factor_at(name, full_q(q), keep);
  k.move(tree(), fv, m_);
  k.omega(tree(), m_, loop_, false);
  k.row_velocities(m_, loop_, fv, lambda_);
  for (int r = 0; r < loop_.rows; ++r) lambda_[r] *= -(1 + restitution);
  push_rows();
  for (std::size_t i = 0; i < v_out.size(); ++i) v_out[i] = v[i] + step_[i];
}

void ConstrainedDynamics::velocity_change(In<double> q, In<double> rates, Out<double> change) {
  constexpr const char* name = "velocity_change";
  check(name, "q", q.size(), model_.nq());
  check(name, "rates", rates.size(), all_rows_);
  check(name, "change", change.size(), model_.nv());
  factor_at(name, full_q(q));
  kernel_set().loops->move(tree(), nullptr, m_);
  kernel_set().loops->omega(tree(), m_, loop_, false);
  std::fill_n(lambda_, loop_.rows, 0.0);
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (int r = 0; r < groups_[i].rows; ++r) lambda_[groups_[i].first + r] = rates[row_of_[i] + r];
  push_rows();
  std::copy(step_.begin(), step_.end(), change.begin());
}

namespace {
/// The rotation from a to b, in a's axes, as far as rows hold it: none, the angle between two axes, or all.
Vec3<double> turn_between(const RowGroup& g, const Mat3<double>& a, const Mat3<double>& b) {
  int turns = 0, free_axis = 3;
  for (int row = 0; row < g.rows; ++row) {
    if (g.freedom[row] >= 3) continue;
    ++turns;
    free_axis -= g.freedom[row];
  }
  if (turns == 3) return log_quaternion(quaternion(star(a) * b));
  if (turns != 2) return {0, 0, 0};
  const auto axis = [&](const Mat3<double>& R) {
    return free_axis == 0 ? column_x(R) : free_axis == 1 ? column_y(R) : column_z(R);
  };
  const Vec3<double> c = star_times(a, cross(axis(a), axis(b)));
  const double sine = std::sqrt(dot(c, c)), angle = std::atan2(sine, dot(axis(a), axis(b)));
  return sine > 1e-300 ? c * (angle / sine) : c;
}
}  // namespace

/// Errors of position of the active rows; x and p must be at q.
void ConstrainedDynamics::own_errors(const double* q, double* out) const {
  const auto pose_of = [&](const GroupEnd& end) -> Pose {
    if (end.slot == 0) return {end.R, end.r};
    const auto R = gather<block, Mat3<double>>(
        slot(static_cast<const double*>(m_.x), end.slot, int(body::count)) + block * body::R);
    const double* p = m_.p + 3 * end.slot;
    return {R * end.R, Vec3<double>{p[0], p[1], p[2]} + R * end.r};
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const RowGroup& g = groups_[i];
    double* const e = out + g.first;
    if (g.rows == 0) continue;
    if (g.kind == RowsOf::joints) {
      e[0] = i < constraints_.size() ? -g.length : 0;
      if (i >= constraints_.size()) continue;  // a mimic joint follows by construction
      for (int t = g.term_begin; t < g.term_end; ++t) e[0] += terms_[t].value_at(q[terms_[t].q]);
      continue;
    }
    const Pose a = pose_of(g.a), b = pose_of(g.b);
    const Vec3<double> r = b.p - a.p;
    if (g.kind == RowsOf::distance) {
      e[0] = std::sqrt(dot(r, r)) - g.length;
      continue;
    }
    if (g.kind != RowsOf::frames) {
      const Vec3<double> n = column_z(a.R), u = column_z(b.R), y = n - u * dot(n, u);
      const double down = g.kind == RowsOf::rolling_ball ? 1 : std::sqrt(dot(y, y));  // n.m = |y|
      e[0] = e[1] = 0;
      e[2] = dot(n, r) - g.length * down;
      continue;
    }
    const Vec3<double> turn = turn_between(g, a.R, b.R), shift = star_times(a.R, r);
    for (int row = 0; row < g.rows; ++row)
      e[row] = g.freedom[row] < 3 ? numbers_of(turn)[g.freedom[row]] : numbers_of(shift)[g.freedom[row] - 3];
  }
}

ConstraintDrift ConstrainedDynamics::worst(const double* position, const double* velocity) const {
  ConstraintDrift d;
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (int r = groups_[i].first; r < groups_[i].first + groups_[i].rows; ++r) {
      if (position && !(std::abs(position[r]) <= d.position))
        d.position = std::abs(position[r]), d.worst_position = static_cast<int>(i);
      if (velocity && !(std::abs(velocity[r]) <= d.velocity))
        d.velocity = std::abs(velocity[r]), d.worst_velocity = static_cast<int>(i);
    }
  return d;
}

ConstraintDrift ConstrainedDynamics::drift(In<double> q, In<double> v) {
  check("drift", "q", q.size(), model_.nq());
  check("drift", "v", v.size(), model_.nv());
  const LoopKernels& k = *kernel_set().loops;
  const double *const fq = full_q(q), *const fv = full_v(v);
  articula::kernels<double>().velocities(tree(), fq, fv, m_);
  bend(fq, fv);
  k.rows(tree(), m_, loop_, false);
  own_errors(fq, errors_);
  k.row_velocities(m_, loop_, fv, rates_);
  return worst(errors_, rates_);
}

Projection ConstrainedDynamics::project(Out<double> q, Out<double> v) {
  constexpr const char* name = "project";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  const LoopKernels& k = *kernel_set().loops;
  Projection p;
  p.before = drift(q, v);
  double last = std::numeric_limits<double>::infinity();
  for (p.steps = 0;; ++p.steps) {
    const double* const fq = full_q(q);
    factor_at(name, fq);
    k.move(tree(), nullptr, m_);
    own_errors(fq, lambda_);
    p.after = worst(lambda_, nullptr);
    p.converged = p.after.position <= options_.position_tolerance;
    // Rounding keeps large mechanisms from the tolerance, and redundant rows contradict each other by the digits of
    // the file that states them: stop where nothing is gained any more.
    const double enough = (deficient_ ? 1e6 : 1e4) * options_.position_tolerance;
    if (p.converged || p.steps >= options_.projection_steps || !std::isfinite(p.after.position)) break;
    if (p.steps > 2 && p.after.position >= 0.5 * last && p.after.position < enough) {
      p.converged = true;
      break;
    }
    last = p.after.position;
    k.omega(tree(), m_, loop_, false);
    for (int r = 0; r < loop_.rows; ++r) lambda_[r] = -lambda_[r];
    push_rows();
    integrate(model_, In<double>(q), step_, q);
  }
  impulse(q, v, v);
  k.move(tree(), full_v(v), m_);
  k.row_velocities(m_, loop_, full_v(v), rates_);
  const ConstraintDrift after = worst(nullptr, rates_);
  p.after.velocity = after.velocity;
  p.after.worst_velocity = after.worst_velocity;
  return p;
}

}  // namespace articula
