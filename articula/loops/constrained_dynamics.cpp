#include "articula/loops/constrained_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

int ConstrainedDynamics::constraint(std::string_view name) const {
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    if (constraints_[i].name == name) return static_cast<int>(i);
  std::string known;
  for (const Constraint& c : constraints_) known += (known.empty() ? "" : ", ") + c.name;
  throw ArgumentError(fmt::format("no constraint '{}'; there are: {}", name, known.empty() ? "none" : known));
}

void ConstrainedDynamics::set_active(int constraint, bool active) {
  if (constraint < 0 || constraint >= static_cast<int>(constraints_.size()))
    throw ArgumentError(fmt::format("set_active: constraint {} of {}", constraint, constraints_.size()));
  active_[constraint] = active;
  number_rows();
}

void ConstrainedDynamics::grasp_here(int constraint, In<double> q) {
  if (constraint < 0 || constraint >= static_cast<int>(constraints_.size()))
    throw ArgumentError(fmt::format("grasp_here: constraint {} of {}", constraint, constraints_.size()));
  Constraint& c = constraints_[constraint];
  if (c.kind != Constraint::Kind::frames)
    throw ArgumentError(fmt::format("grasp_here: constraint '{}' is not between frames", c.name));
  attach(model_, c, q);
  groups_[constraint].b = place(c.b, c.name);
  set_active(constraint, true);
}

int ConstrainedDynamics::active_rows() const {
  int rows = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) rows += groups_[i].rows;
  return rows;
}

// --- forward dynamics
void ConstrainedDynamics::take_own(const double* full, Out<double> own) const {
  if (!result_) {
    if (full != own.data()) std::copy_n(full, own.size(), own.data());
    return;
  }
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = full[own_[i]];
}

void ConstrainedDynamics::spread(const double* active, std::span<double> all) const {
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (int r = 0; r < full_rows_[i]; ++r)
      all[row_of_[i] + r] = r < groups_[i].rows ? active[groups_[i].first + r] : 0;
}

void ConstrainedDynamics::solve_rows(double* x) {
  const LoopKernels& k = *kernel_set().loops;
  std::copy_n(x, loop_.rows, right_);
  deficient_ = !k.factor(loop_, options_.rank_tolerance, right_, x);
  if (!deficient_) {
    rank_ = loop_.rows;
    return;
  }
  std::copy_n(right_, loop_.rows, x);
  rank_ = revealing_.factor(loop_.Omega, loop_.rows, loop_.stride, options_.rank_tolerance);
  revealing_.solve(x);
}

void ConstrainedDynamics::set_targets(In<double> targets) {
  check("set_targets", "targets", targets.size(), all_rows_);
  std::copy(targets.begin(), targets.end(), targets_.begin());
  driven_ = std::any_of(targets.begin(), targets.end(), [](double x) { return x != 0; });
}

/// Couplings that are curves have another slope at every q, and accelerate by p''(q) v^2 where joints do not.
void ConstrainedDynamics::bend(const double* q, const double* v) {
  if (!curved_) return;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].kind != RowsOf::joints) continue;
    double& bias = loop_.bias[row_lanes * i] = 0;
    for (int t = groups_[i].term_begin; t < groups_[i].term_end; ++t) {
      JointTermAt& term = terms_[t];
      term.slope = term.slope_at(q[term.q]);
      if (v) bias += term.curvature_at(q[term.q]) * v[term.v] * v[term.v];
    }
  }
}

void ConstrainedDynamics::acceleration(In<double> q, In<double> v, In<double> tau, Out<double> a,
                                       Wrenches<double> wrenches) {
  constexpr const char* name = "constrained_dynamics";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "tau", tau.size(), model_.nv());
  check(name, "a", a.size(), model_.nv());
  const double* const forces = check_wrenches(name, wrenches);
  const LoopKernels& k = *kernel_set().loops;
  const double *const fq = full_q(q), *const fv = full_v(v);
  if (!(k.start(tree(), fq, fv, full_tau(tau), forces, m_, motion_) > 0))
    throw_singular(model_, name, m_.inv_D);
  bend(fq, fv);
  k.omega(tree(), m_, loop_, true);
  k.open_accelerations(tree(), m_, loop_, lambda_);
  if (const double w = options_.baumgarte_frequency; w > 0) {
    own_errors(fq, errors_);
    k.row_velocities(m_, loop_, fv, rates_);
    for (int r = 0; r < loop_.rows; ++r)
      lambda_[r] += 2 * options_.baumgarte_damping * w * rates_[r] + w * w * errors_[r];
  }
  if (driven_)
    for (std::size_t i = 0; i < constraints_.size(); ++i)
      for (int r = 0; r < groups_[i].rows; ++r) lambda_[groups_[i].first + r] -= targets_[row_of_[i] + r];
  for (int r = 0; r < loop_.rows; ++r) lambda_[r] = -lambda_[r];
  solve_rows(lambda_);
  double* const full = full_result(a);
  k.correct(tree(), m_, loop_, lambda_, full);
  take_own(full, a);
  spread(lambda_, multipliers_);
  double zero = 0;
  for (const double x : a) zero += 0 * x;
  if (zero != 0)  // not a number
    throw SingularError(
        "constrained_dynamics: the arguments are not finite numbers, or a rod's ends or a disc's axis leave "
        "no direction");
}

Spatial<double> ConstrainedDynamics::force(int constraint) const {
  if (constraint < 0 || constraint >= static_cast<int>(constraints_.size()))
    throw ArgumentError(fmt::format("force: constraint {} of {}", constraint, constraints_.size()));
  const RowGroup& g = groups_[constraint];
  if (g.kind == RowsOf::joints)
    throw ArgumentError(fmt::format("force: constraint '{}' is between joints; see multipliers()",
                                    constraints_[constraint].name));
  double f[6] = {};
  const double* const fb = loop_.ends + 12 * row_lanes * constraint + 6 * row_lanes;
  for (int r = 0; r < g.rows; ++r)
    for (int c = 0; c < 6; ++c) f[c] += fb[row_lanes * c + r] * multipliers_[row_of_[constraint] + r];
  Vec3<double> at = g.b.r;
  if (g.b.slot != 0)
    at = gather<block, Mat3<double>>(slot(static_cast<const double*>(m_.x), g.b.slot, int(body::count)) +
                                     block * body::R) *
         g.b.r;
  return Phi<double>{-at} * Spatial<double>{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
}

std::vector<std::string> ConstrainedDynamics::dependences() const {
  std::vector<std::string> out;
  if (!deficient_) return out;
  const auto name_of = [&](int row) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const int r = row - groups_[i].first;
      if (r < 0 || r >= groups_[i].rows) continue;
      if (i >= constraints_.size()) return std::string("a mimic joint's coupling");
      return fmt::format("'{}' ({})", constraints_[i].name, name_of_row(constraints_[i], r));
    }
    return std::string("?");
  };
  for (const auto& d : revealing_.dependences()) {
    if (d.on.empty()) {
      out.push_back(name_of(d.row) + " holds by itself: no joint can move it in this configuration");
      continue;
    }
    std::string others;
    for (std::size_t i = 0; i < d.on.size(); ++i)
      others += (i == 0 ? "" : i + 1 == d.on.size() ? " and " : ", ") + name_of(d.on[i].first);
    out.push_back(fmt::format("{} follows from {}", name_of(d.row), others));
  }
  return out;
}

double ConstrainedDynamics::residual(In<double> q, In<double> v, In<double> a) {
  check("residual", "q", q.size(), model_.nq());
  check("residual", "v", v.size(), model_.nv());
  check("residual", "a", a.size(), model_.nv());
  kernel_set().loops->residual(tree(), full_q(q), full_v(v), full_a(a), nullptr, lambda_, m_, loop_, full_,
                               rates_);
  double largest = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (int r = 0; r < groups_[i].rows; ++r)
      largest = std::max(largest, std::abs(rates_[groups_[i].first + r]));
  return largest;
}

// --- velocity and position
void ConstrainedDynamics::factor_at(const char* function, const double* q) {
  if (!(articula::kernels<double>().factor(tree(), q, m_) > 0)) throw_singular(model_, function, m_.inv_D);
  bend(q, nullptr);
}

void ConstrainedDynamics::impulse(In<double> q, In<double> v, Out<double> v_out, double restitution) {
  constexpr const char* name = "impulse";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "v_out", v_out.size(), model_.nv());
  const LoopKernels& k = *kernel_set().loops;
  const double* const fv = full_v(v);
  factor_at(name, full_q(q));
  k.move(tree(), fv, m_);
  k.omega(tree(), m_, loop_, false);
  k.row_velocities(m_, loop_, fv, lambda_);
  for (int r = 0; r < loop_.rows; ++r) lambda_[r] *= -(1 + restitution);
  solve_rows(lambda_);
  std::fill_n(m_.nu, tree().nv, 0.0);
  k.correct(tree(), m_, loop_, lambda_, full_);
  for (std::size_t i = 0; i < v_out.size(); ++i) v_out[i] = v[i] + full_[result_ ? own_[i] : i];
  spread(lambda_, multipliers_);
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
    solve_rows(lambda_);
    std::fill_n(m_.nu, tree().nv, 0.0);
    k.correct(tree(), m_, loop_, lambda_, full_);
    for (std::size_t i = 0; i < step_.size(); ++i) step_[i] = full_[result_ ? own_[i] : i];
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

// --- for others
void ConstrainedDynamics::jacobian(In<double> q, Out<double> J) {
  const std::size_t nv = model_.nv(), full_nv = tree().nv;
  check("constraint jacobian", "q", q.size(), model_.nq());
  check("constraint jacobian", "J", J.size(), nv * all_rows_);
  const double* const fq = full_q(q);
  articula::kernels<double>().velocities(tree(), fq, nullptr, m_);
  bend(fq, nullptr);
  const LoopKernels& k = *kernel_set().loops;
  k.rows(tree(), m_, loop_, false);
  k.jacobian(tree(), m_, loop_, full_J_);
  std::fill(J.begin(), J.end(), 0.0);
  const auto map = model_.full_velocities();
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (int r = 0; r < groups_[i].rows; ++r) {
      const double* const from = full_J_ + (groups_[i].first + r) * full_nv;
      double* const to = J.data() + (row_of_[i] + r) * nv;
      for (std::size_t c = 0; c < full_nv; ++c)
        result_ ? void(to[map[c].source] += map[c].multiplier * from[c]) : void(to[c] = from[c]);
    }
}

void ConstrainedDynamics::bias(In<double> q, In<double> v, Out<double> out) {
  check("constraint bias", "q", q.size(), model_.nq());
  check("constraint bias", "v", v.size(), model_.nv());
  check("constraint bias", "bias", out.size(), all_rows_);
  std::fill_n(loop_.n, tree().nv, 0.0);
  kernel_set().loops->residual(tree(), full_q(q), full_v(v), loop_.n, nullptr, lambda_, m_, loop_, full_,
                               rates_);
  spread(rates_, out);
}

void ConstrainedDynamics::position_errors(In<double> q, Out<double> errors) {
  check("position_errors", "q", q.size(), model_.nq());
  check("position_errors", "errors", errors.size(), all_rows_);
  const double* const fq = full_q(q);
  articula::kernels<double>().velocities(tree(), fq, nullptr, m_);
  own_errors(fq, errors_);
  spread(errors_, errors);
}

void ConstrainedDynamics::omega(Out<double> matrix) const {
  check("omega", "matrix", matrix.size(), static_cast<std::size_t>(all_rows_) * all_rows_);
  std::fill(matrix.begin(), matrix.end(), 0.0);
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    for (std::size_t j = 0; j < constraints_.size(); ++j)
      for (int r = 0; r < groups_[i].rows; ++r)
        for (int c = 0; c < groups_[j].rows; ++c) {
          const int row = groups_[i].first + r, column = groups_[j].first + c;
          matrix[static_cast<std::size_t>(row_of_[i] + r) * all_rows_ + row_of_[j] + c] =
              loop_.Omega[static_cast<std::size_t>(std::min(row, column)) * loop_.stride +
                          std::max(row, column)];
        }
}

ContactState ConstrainedDynamics::contact_state(int constraint) const {
  const Spatial<double> f = force(constraint);
  const Constraint& c = constraints_[constraint];
  if (!c.limits) throw ArgumentError(fmt::format("contact_state: constraint '{}' has no limits", c.name));
  const GroupEnd& a = groups_[constraint].a;
  Vec3<double> n = a.R * c.limits->normal;
  if (a.slot != 0)
    n = gather<block, Mat3<double>>(slot(static_cast<const double*>(m_.x), a.slot, int(body::count)) +
                                    block * body::R) *
        n;
  ContactState state;
  state.normal_force = dot(n, f.v);
  const Vec3<double> tangential = f.v - n * state.normal_force;
  state.tangential_force = std::sqrt(dot(tangential, tangential));
  state.torsion = dot(n, f.w);
  state.pulls = !(state.normal_force >= 0);
  const double carried = c.limits->friction * std::max(state.normal_force, 0.0);
  state.slips =
      state.tangential_force > carried ||
      (c.limits->torsional_radius > 0 && std::abs(state.torsion) > carried * c.limits->torsional_radius);
  return state;
}

}  // namespace articula
