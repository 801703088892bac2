#include "articula/loops/constrained_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

// --- set-up ------------------------------------------------------------------------------------------
ConstrainedDynamics::ConstrainedDynamics(const Model& model, std::vector<Constraint> constraints,
                                         const ConstrainedOptions& options)
    : Workspace<double>(model,
                        {.side = true, .factor = true, .keep_D = true, .wide_solve = true, .motion = true}),
      constraints_(std::move(constraints)),
      options_(options) {
  if (!(options.rank_tolerance > 0 && options.rank_tolerance < 1))
    throw ArgumentError(fmt::format("constrained dynamics: rank_tolerance is {}, expected between 0 and 1",
                                    options.rank_tolerance));
  active_.assign(constraints_.size(), true);
  build_groups();
  build_paths();
  const std::size_t groups = groups_.size();
  int packs = 0, longest = 0, rows = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    longest = std::max(longest, groups_[g].step_end - groups_[g].step_begin);
    rows += groups_[g].rows;
  }
  for (PathStep& step : steps_) {
    const int v = tree().index[step.slot].v,
              end = step.slot < tree().bodies ? tree().index[step.slot + 1].v : tree().nv;
    step.w = packs;
    step.v = v;
    step.freedoms = end - v;
    packs += end - v;
  }
  // Velocities that two groups share.
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t h = g; h < groups; ++h) {
      GroupPair pair{static_cast<int>(g), static_cast<int>(h), static_cast<int>(shared_.size()), 0};
      int s = groups_[g].step_begin, t = groups_[h].step_begin;
      while (s < groups_[g].step_end && t < groups_[h].step_end) {
        const int k = steps_[s].slot;
        if (k > steps_[t].slot) {
          ++s;
        } else if (k < steps_[t].slot) {
          ++t;
        } else {
          const int v = tree().index[k].v, end = k < tree().bodies ? tree().index[k + 1].v : tree().nv;
          for (int i = 0; i < end - v; ++i)
            shared_.push_back({steps_[s].w + i, steps_[t].w + i, 6 * (v + i) + i});
          ++s, ++t;
        }
      }
      pair.end = static_cast<int>(shared_.size());
      if (pair.end > pair.begin) pairs_.push_back(pair);
    }
  const std::size_t stride = (static_cast<std::size_t>(rows) + 2 * row_lanes - 1) / row_lanes * row_lanes;
  loop_.stride = static_cast<int>(stride);
  std::size_t used = 0;
  const auto give = [&](std::size_t count, double*& pointer) {
    if (arrays_.size()) pointer = arrays_.data() + used;
    used += (count + 7) / 8 * 8;
  };
  const std::size_t nv = tree().nv;
  for (int pass = 0; pass < 2; ++pass) {
    used = 0;
    give(12 * row_lanes * groups, loop_.ends);
    give(row_lanes * groups, loop_.bias);
    give(row_lanes * static_cast<std::size_t>(packs), loop_.W);
    give(6 * row_lanes * static_cast<std::size_t>(longest), loop_.z);
    give((rows + 1) * stride, loop_.Omega);
    give((rows + 1) * stride, loop_.factor);
    give(stride, loop_.pivot);
    give(stride, right_);
    give(nv, loop_.n);
    give(stride, lambda_);
    give(stride, errors_);
    give(stride, rates_);
    give(nv, full_);
    give(nv * rows, full_J_);
    if (pass == 0) arrays_ = AlignedArray<double>(used + 8);
  }
  loop_.groups = groups_.data();
  loop_.group_count = static_cast<int>(groups);
  loop_.steps = steps_.data();
  loop_.terms = terms_.data();
  loop_.pairs = pairs_.data();
  loop_.pair_count = static_cast<int>(pairs_.size());
  loop_.shared = shared_.data();
  loop_.all_coupled = pairs_.size() == groups * (groups + 1) / 2;
  revealing_ = RankRevealing(rows);
  group_end_.resize(groups);
  row_begin_.resize(rows);
  row_end_.resize(rows);
  loop_.row_begin = row_begin_.data();
  loop_.row_end = row_end_.data();
  multipliers_.resize(all_rows_);
  targets_.resize(all_rows_);
  step_.resize(model_.nv());
  own_.resize(model_.nv());
  for (const Joint& joint : model_.joints())
    if (joint.mimics < 0)
      for (int i = 0; i < joint.nv; ++i) own_[joint.v_index + i] = model_.full_velocity_of(joint) + i;
  number_rows();
}

GroupEnd ConstrainedDynamics::place(const Attachment& at, const std::string& name) const {
  const auto& frames = model_.frames();
  if (at.frame < -1 || at.frame >= static_cast<int>(frames.size()))
    throw ArgumentError(fmt::format("constraint '{}': frame {} of model '{}', which has {}", name, at.frame,
                                    model_.name(), frames.size()));
  const double* numbers = &at.placement.R.xx;
  for (int i = 0; i < 9; ++i)
    if (!std::isfinite(numbers[i]))
      throw ArgumentError(fmt::format("constraint '{}': its placement is not finite", name));
  if (!std::isfinite(at.placement.p.x + at.placement.p.y + at.placement.p.z))
    throw ArgumentError(fmt::format("constraint '{}': its placement is not finite", name));
  if (at.frame < 0) return {0, at.placement.R, at.placement.p};
  const Frame& frame = frames[at.frame];
  const Pose pose = frame.placement * at.placement;
  if (frame.body < 0) return {0, pose.R, pose.p};
  const Mat3<double>& axes = model_.bodies()[frame.body].link_axes;
  return {frame.body + 1, axes * pose.R, axes * pose.p};
}

void ConstrainedDynamics::build_groups() {
  std::set<std::string> names;
  for (const Constraint& c : constraints_) {
    const auto refuse = [&](const std::string& why) -> void {
      throw ArgumentError(fmt::format("constraint '{}': {}", c.name, why));
    };
    if (!names.insert(c.name).second) refuse("another one has this name");
    RowGroup g;
    g.rows = c.rows();
    g.length = c.length;
    g.kind = c.kind == Constraint::Kind::frames         ? RowsOf::frames
             : c.kind == Constraint::Kind::distance     ? RowsOf::distance
             : c.kind == Constraint::Kind::coupler      ? RowsOf::joints
             : c.kind == Constraint::Kind::rolling_ball ? RowsOf::rolling_ball
                                                        : RowsOf::rolling_disc;
    if (g.rows == 0) refuse("it fixes nothing; set some of `fixed`");
    if (!std::isfinite(c.length)) refuse("its length is not finite");
    g.term_begin = static_cast<int>(terms_.size());
    if (c.kind == Constraint::Kind::coupler) {
      if (c.terms.empty()) refuse("it couples no joints");
      for (const auto& term : c.terms) {
        if (term.joint < 0 || term.joint >= static_cast<int>(model_.joints().size()))
          refuse(fmt::format("joint {} of model '{}', which has {}", term.joint, model_.name(),
                             model_.joints().size()));
        const Joint& joint = model_.joints()[term.joint];
        const int body = joint.body + 1;
        if (nv_of(joint.kind) != 1)
          refuse(fmt::format("joint '{}' has {} freedoms; a coupler needs joints with one", joint.name,
                             nv_of(joint.kind)));
        if (!std::isfinite(term.coefficient)) refuse("a coefficient is not finite");
        terms_.push_back({tree().index[body].q, tree().index[body].v, term.coefficient});
      }
    } else {
      if (c.kind != Constraint::Kind::frames && !(c.length > 0))
        refuse(fmt::format("its length or radius is {}, expected a positive number", c.length));
      g.a = place(c.a, c.name);
      g.b = place(c.b, c.name);
      if (g.a.slot == 0 && g.b.slot == 0) refuse("both its ends are fixed in the world");
      if (g.a.slot == g.b.slot)
        refuse(fmt::format("both its ends are fixed in body '{}'", model_.bodies()[g.a.slot - 1].name));
      int row = 0;
      if (c.kind == Constraint::Kind::frames) {
        for (int i = 0; i < 6; ++i)
          if (c.fixed[i]) g.freedom[row++] = i;
      } else {
        for (int i = 0; i < 3; ++i) g.freedom[i] = 3 + i;
      }
      motion_ |= g.a.slot != 0 || g.kind != RowsOf::frames;
    }
    g.term_end = static_cast<int>(terms_.size());
    row_of_.push_back(all_rows_);
    all_rows_ += g.rows;
    groups_.push_back(g);
  }
  motion_ |= options_.baumgarte_frequency > 0;
  for (const Joint& joint : model_.joints()) {  // a mimic joint follows its source: a coupling like others
    if (joint.mimics < 0) continue;
    const int from = model_.joints()[joint.mimics].body + 1, body = joint.body + 1;
    RowGroup g;
    g.kind = RowsOf::joints;
    g.rows = 1;
    g.term_begin = static_cast<int>(terms_.size());
    terms_.push_back({tree().index[body].q, tree().index[body].v, 1});
    terms_.push_back({tree().index[from].q, tree().index[from].v, -joint.multiplier});
    g.term_end = static_cast<int>(terms_.size());
    groups_.push_back(g);
  }
  for (const RowGroup& g : groups_) full_rows_.push_back(g.rows);
}

void ConstrainedDynamics::build_paths() {
  const Tree<double>& t = tree();
  for (RowGroup& g : groups_) {
    std::set<int, std::greater<>> bodies;
    const auto add = [&](int k) {
      for (; k > 0; k = t.index[k].inboard) bodies.insert(k);
    };
    add(g.a.slot);
    add(g.b.slot);
    for (int i = g.term_begin; i < g.term_end; ++i)
      for (int k = 1; k < t.slots(); ++k)
        if (t.index[k].v == terms_[i].v) add(k);
    g.step_begin = static_cast<int>(steps_.size());
    const std::vector<int> order(bodies.begin(), bodies.end());
    std::vector<bool> has(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      PathStep step{};
      step.slot = order[i];
      step.a = g.kind != RowsOf::joints && g.a.slot == order[i];
      step.b = g.kind != RowsOf::joints && g.b.slot == order[i];
      steps_.push_back(step);
    }
    PathStep* const path = steps_.data() + g.step_begin;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int inboard = t.index[order[i]].inboard;
      if (inboard == 0) {
        path[i].give = PathStep::Give::none;
        continue;
      }
      const std::size_t to = std::find(order.begin(), order.end(), inboard) - order.begin();
      path[i].inboard = static_cast<int>(to);
      if (to == i + 1) {
        path[i].give = PathStep::Give::carry;
        path[to].has_carry = true;
      } else {
        path[i].give = has[to] ? PathStep::Give::add : PathStep::Give::first;
        path[to].has_sides = true;
        has[to] = true;
      }
    }
    g.step_end = static_cast<int>(steps_.size());
  }
}

void ConstrainedDynamics::number_rows() {
  int rows = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].rows = g < active_.size() && !active_[g] ? 0 : full_rows_[g];
    groups_[g].first = rows;
    rows += groups_[g].rows;
  }
  loop_.rows = rows;
  // Rows that Omega couples, and those that elimination fills in between.
  for (std::size_t g = 0; g < groups_.size(); ++g) group_end_[g] = static_cast<int>(g);
  for (const GroupPair& pair : pairs_)
    if (groups_[pair.g].rows && groups_[pair.h].rows)
      group_end_[pair.g] = std::max(group_end_[pair.g], pair.h);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (int h = static_cast<int>(g) + 1; h <= group_end_[g]; ++h)
      group_end_[h] = std::max(group_end_[h], group_end_[g]);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    const RowGroup& last = groups_[group_end_[g]];
    for (int r = groups_[g].first; r < groups_[g].first + groups_[g].rows; ++r) {
      row_end_[r] = last.first + last.rows;
      row_begin_[r] = r;
    }
  }
  for (int r = rows - 1; r >= 0; --r)
    for (int c = r + 1; c < row_end_[r]; ++c) row_begin_[c] = std::min(row_begin_[c], r);
  std::fill_n(loop_.Omega, static_cast<std::size_t>(rows + 1) * loop_.stride, 0.0);
  std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
  rank_ = 0;
  deficient_ = false;
}

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

// --- forward dynamics --------------------------------------------------------------------------------
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

// --- velocity and position ---------------------------------------------------------------------------
void ConstrainedDynamics::factor_at(const char* function, const double* q) {
  if (!(articula::kernels<double>().factor(tree(), q, m_) > 0)) throw_singular(model_, function, m_.inv_D);
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
      for (int t = g.term_begin; t < g.term_end; ++t) e[0] += terms_[t].coefficient * q[terms_[t].q];
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
    int turns = 0, free_axis = 0;
    for (int row = 0; row < g.rows; ++row) turns += g.freedom[row] < 3;
    Vec3<double> turn{0, 0, 0};
    if (turns == 3) {
      turn = log_quaternion(quaternion(star(a.R) * b.R));
    } else if (turns == 2) {  // the angle between the axes that stay together
      free_axis = 3;
      for (int row = 0; row < g.rows; ++row)
        if (g.freedom[row] < 3) free_axis -= g.freedom[row];
      const auto axis = [&](const Mat3<double>& R) {
        return free_axis == 0 ? column_x(R) : free_axis == 1 ? column_y(R) : column_z(R);
      };
      const Vec3<double> c = star_times(a.R, cross(axis(a.R), axis(b.R)));
      const double sine = std::sqrt(dot(c, c)), angle = std::atan2(sine, dot(axis(a.R), axis(b.R)));
      turn = sine > 1e-300 ? c * (angle / sine) : c;
    }
    const Vec3<double> shift = star_times(a.R, r);
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
  articula::kernels<double>().kinematics(tree(), fq, fv, nullptr, m_);
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
    // Rounding keeps large mechanisms from the tolerance: stop where nothing is gained any more.
    if (p.converged || p.steps >= options_.projection_steps || !std::isfinite(p.after.position)) break;
    if (p.steps > 2 && p.after.position >= 0.5 * last &&
        p.after.position < 1e4 * options_.position_tolerance) {
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

// --- for others --------------------------------------------------------------------------------------
void ConstrainedDynamics::jacobian(In<double> q, Out<double> J) {
  const std::size_t nv = model_.nv(), full_nv = tree().nv;
  check("constraint jacobian", "q", q.size(), model_.nq());
  check("constraint jacobian", "J", J.size(), nv * all_rows_);
  articula::kernels<double>().kinematics(tree(), full_q(q), nullptr, nullptr, m_);
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
  articula::kernels<double>().kinematics(tree(), fq, nullptr, nullptr, m_);
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
