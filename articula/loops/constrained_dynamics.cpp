#include "articula/loops/constrained_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/finite.hpp"
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

/// What roundings alone may leave on the diagonal of Omega = sum of e* D^-1 e: e, unit forces and moments seen by joints,
/// has errors of eps and of eps times a lever. A row that holds by itself (a ball at a spherical joint's own centre) has
/// nothing else, and where all rows do none is small beside the others.
double ConstrainedDynamics::rounding_of_omega() const {
  double largest = 0;
  for (int k = 1; k < tree().slots(); ++k) {
    const BodyIndex& b = tree().index[k];
    visit(b.kind, [&](auto j) {
      using J = decltype(j);
      for (int i = 0; i < J::nv; ++i) largest = std::max(largest, m_.inv_D[6 * (b.v + i) + i]);
    });
  }
  constexpr double eps = 16 * std::numeric_limits<double>::epsilon();
  return eps * eps * (1 + reach_ * reach_) * largest;
}

void ConstrainedDynamics::solve_rows(double* x) {
  const LoopKernels& k = *kernel_set().loops;
  const double rounding = rounding_of_omega();
  deficient_ = false;
  for (int r = 0; r < loop_.rows; ++r) deficient_ |= loop_.Omega[r * loop_.stride + r] <= rounding;
  std::copy_n(x, loop_.rows, right_);
  deficient_ = deficient_ || !k.factor(loop_, options_.rank_tolerance, right_, x);
  if (!deficient_) {
    rank_ = loop_.rows;
    return;
  }
  std::copy_n(right_, loop_.rows, x);
  rank_ = revealing_.factor(loop_.Omega, loop_.rows, loop_.stride, options_.rank_tolerance, rounding);
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
  accelerate(q, v, tau, a, wrenches, nullptr);
}
void ConstrainedDynamics::accelerate(In<double> q, In<double> v, In<double> tau, Out<double> a,
                                     Wrenches<double> wrenches, Keep keep) {
  constexpr const char* name = "constrained_dynamics";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "tau", tau.size(), model_.nv());
  check(name, "a", a.size(), model_.nv());
  const double* const forces = check_wrenches(name, wrenches);
  const LoopKernels& k = *kernel_set().loops;
  const double *const fq = full_q(q), *const fv = full_v(v);
  const double smallest = keep ? k.start_keeping(tree(), fq, fv, full_tau(tau), forces, *keep, motion_)
                               : k.start(tree(), fq, fv, full_tau(tau), forces, m_, motion_);
  if (!(smallest > 0)) throw_singular(model_, name, m_.inv_D);
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
  if (zero != 0) {  // not a number
    if (!are_finite(q, v, tau, targets_) || !are_finite(wrenches))
      throw ArgumentError("constrained_dynamics: the arguments are not finite numbers");
    throw SingularError(
        "constrained_dynamics: a rod's ends or a disc's axis leave no direction, or the numbers are too "
        "large");
  }
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
