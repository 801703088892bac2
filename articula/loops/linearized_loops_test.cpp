// The linearized closed chain against the residual's own text with dual numbers, and a dense solve in long double.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/kernels/residual_text.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/dual.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

using D = Dual<double>;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

Pose random_pose(Rng& rng) { return {rotation(rng.quaternion()), rng.vector(0.5)}; }

/// Constraints as the kernels take them, all active and without those of mimic joints: a residual in the model's own
/// coordinates does not see these.
struct Groups {
  std::vector<RowGroup> groups;
  std::vector<JointTermAt> terms;
  LoopMemory loop;

  Groups(const Model& model, const std::vector<Constraint>& constraints) {
    const auto place = [&](const Attachment& at) -> GroupEnd {
      if (at.frame < 0) return {0, at.placement.R, at.placement.p};
      const Frame& frame = model.frames()[at.frame];
      const Pose pose = frame.placement * at.placement;
      if (frame.body < 0) return {0, pose.R, pose.p};
      const Mat3<double>& axes = model.bodies()[frame.body].link_axes;
      return {frame.body + 1, axes * pose.R, axes * pose.p};
    };
    using Kind = Constraint::Kind;
    for (const Constraint& c : constraints) {
      RowGroup g;
      g.kind = c.kind == Kind::frames         ? RowsOf::frames
               : c.kind == Kind::distance     ? RowsOf::distance
               : c.kind == Kind::coupler      ? RowsOf::joints
               : c.kind == Kind::rolling_ball ? RowsOf::rolling_ball
                                              : RowsOf::rolling_disc;
      g.rows = c.rows();
      g.first = loop.rows;
      g.length = c.length;
      loop.rows += g.rows;
      g.term_begin = static_cast<int>(terms.size());
      for (const auto& t : c.terms) {
        const BodyIndex& b = model.tree<double>().index[model.joints()[t.joint].body + 1];
        terms.push_back({b.q, b.v, 0, {t.coefficient, t.higher[0], t.higher[1], t.higher[2]}});
      }
      g.term_end = static_cast<int>(terms.size());
      if (c.kind != Kind::coupler) g.a = place(c.a), g.b = place(c.b);
      for (int i = 0, row = 0; i < 6; ++i)
        if (c.kind == Kind::frames ? c.fixed[i] : i >= 3) g.freedom[row++] = i;
      groups.push_back(g);
    }
    loop.groups = groups.data();
    loop.group_count = static_cast<int>(groups.size());
    loop.terms = terms.data();
  }
};

/// Columns of the residual's derivatives by q and v, in the model's own coordinates.
struct Oracle {
  const Model& model;
  Tree<double> tree;
  Groups groups;
  std::vector<D> x, side, p, V, forces, rows;
  KernelMemory<D> m;

  Oracle(const Model& model, const std::vector<Constraint>& constraints)
      : model(model),
        tree(model.tree<double>()),
        groups(model, constraints),
        x(static_cast<std::size_t>(tree.slots()) * body::count),
        side(6 * static_cast<std::size_t>(tree.slots())),
        p(3 * static_cast<std::size_t>(tree.slots())),
        V(6 * static_cast<std::size_t>(tree.slots())),
        forces(tree.nv),
        rows(groups.loop.rows + 1) {
    m.x = x.data(), m.side = side.data(), m.p = p.data(), m.V = V.data();
  }
  int own() const { return model.nv(); }
  int row_count() const { return groups.loop.rows; }

  std::vector<D> full_velocity(std::span<const double> value, std::span<const double> d) const {
    std::vector<D> out;
    for (const auto& f : model.full_velocities())
      out.push_back(D(value[f.source], d[f.source]) * f.multiplier);
    if (!model.has_mimics()) {
      out.clear();
      for (std::size_t i = 0; i < value.size(); ++i) out.push_back({value[i], d[i]});
    }
    return out;
  }
  std::vector<D> full_q(std::span<const double> q, std::span<const double> direction) const {
    Vector rates(model.nq());
    coordinate_rates(model, q, direction, rates);
    std::vector<D> out;
    if (!model.has_mimics())
      for (std::size_t i = 0; i < q.size(); ++i) out.push_back({q[i], rates[i]});
    else
      for (const auto& c : model.full_coordinates())
        out.push_back(D(q[c.source], rates[c.source]) * c.multiplier + c.offset);
    return out;
  }
  /// [R1; R2] along one direction.
  Eigen::Matrix<long double, Eigen::Dynamic, 1> along(std::span<const double> q, std::span<const double> v,
                                                      std::span<const double> a, const double* wrenches,
                                                      std::span<const double> lambda, const Vector& dq,
                                                      const Vector& dv) {
    const Vector none(own());
    const auto fq = full_q(q, dq), fv = full_velocity(v, dv), fa = full_velocity(a, none);
    portable::closed_chain_residual<D>(tree, fq.data(), fv.data(), fa.data(), wrenches, lambda.data(), m,
                                       groups.loop, forces.data(), rows.data());
    Eigen::Matrix<long double, Eigen::Dynamic, 1> out(own() + row_count());
    out.setZero();
    for (int i = 0; i < tree.nv; ++i) {
      const auto from = model.has_mimics() ? model.full_velocities()[i] : Model::FullVelocity{i, 1, 0};
      out[from.source] += from.multiplier * forces[i].d;
    }
    for (int r = 0; r < row_count(); ++r) out[own() + r] = rows[r].d;
    return out;
  }
  /// [M, -J*; J, 0]
  LongMatrix kkt(ConstrainedDynamics& work, std::span<const double> q) const {
    const int n = own(), k = row_count();
    const Vector M = mass_matrix(model, q);
    Vector J(static_cast<std::size_t>(n) * k);
    work.jacobian(q, J);
    LongMatrix K = LongMatrix::Zero(n + k, n + k);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) K(i, j) = M[i * n + j];
    for (int r = 0; r < k; ++r)
      for (int j = 0; j < n; ++j) K(n + r, j) = J[r * n + j], K(j, n + r) = -J[r * n + j];
    return K;
  }
};

struct Errors {
  Worst da{"of velocities, against dual numbers"}, df{"of multipliers, against dual numbers"};
  int redundant = 0, full = 0;

  /// A mimic joint is one more row of Omega, badly conditioned where what follows is light.
  static double limit(const Model& model) { return model.has_mimics() ? 1e-7 : 1e-9; }
  /// expected: K^-1 of the columns; what multipliers do to the joints where they are not unique.
  void compare(const LongMatrix& K, const LongMatrix& columns, const std::vector<double>& velocities,
               const std::vector<double>& multipliers, bool unique, const std::string& what, double limit) {
    const int n = columns.cols(), k = K.rows() - n;
    const LongMatrix expected = unique ? LongMatrix(K.fullPivLu().solve(columns))
                                       : LongMatrix(K.completeOrthogonalDecomposition().solve(columns));
    // Redundant rows that contradict each other off the constraints have no derivative to compare with.
    if ((K * expected - columns).norm() > 1e-10L * (1 + columns.norm())) return;
    ++(unique ? full : redundant);
    const LongMatrix J = K.block(n, 0, k, n);
    const LongMatrix forces =
        unique ? LongMatrix(expected.bottomRows(k)) : LongMatrix(J.transpose() * expected.bottomRows(k));
    LongMatrix got(k, n);
    for (int r = 0; r < k; ++r)
      for (int c = 0; c < n; ++c) got(r, c) = multipliers[r * n + c];
    if (!unique) got = (J.transpose() * got).eval();
    Vector one, other, all(velocities.size());
    for (Eigen::Index r = 0; r < got.rows(); ++r)
      for (int c = 0; c < n; ++c)
        one.push_back(static_cast<double>(got(r, c))), other.push_back(static_cast<double>(forces(r, c)));
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) all[r * n + c] = static_cast<double>(expected(r, c));
    EXPECT_LT(da(relative_error(velocities, all, 1)), limit) << what;
    EXPECT_LT(df(relative_error(one, other, 1)), limit) << what;
  }
};

std::vector<Constraint> random_constraints(Rng& rng, const Model& model, int i) {
  std::vector<int> frames;
  for (std::size_t f = 0; f < model.frames().size(); ++f)
    if (model.frames()[f].body >= 0) frames.push_back(static_cast<int>(f));
  const auto end = [&] {
    return Attachment{frames[rng.integer(0, int(frames.size()) - 1)], random_pose(rng)};
  };
  std::vector<Constraint> all;
  const auto add = [&](Constraint c) {
    const auto body = [&](const Attachment& at) { return at.frame < 0 ? -1 : model.frames()[at.frame].body; };
    if (c.kind != Constraint::Kind::coupler && body(c.a) == body(c.b)) return;
    c.name = "c" + std::to_string(all.size());
    all.push_back(c);
  };
  const Attachment world{-1, random_pose(rng)};
  add(ball("", world, end()));
  Constraint some;
  some.a = end(), some.b = end();
  for (bool& fixed : some.fixed) fixed = rng.chance(0.5);
  some.fixed[rng.integer(0, 5)] = true;
  add(some);
  if (i % 5 == 0) add(rod("", end(), end(), 1));
  if (i % 5 == 1) add(rolling_disc("", world, end(), 0.2));
  if (i % 5 == 2) add(rolling_ball("", end(), end(), 0.2));
  if (i % 5 == 3) add(rolling_disc("", end(), end(), 0.3));
  if (i % 7 == 4) add(weld("", end(), end()));
  if (i % 6 == 5) add(all.front());  // once more: redundant
  for (std::size_t j = 0; j < model.joints().size() && i % 3; ++j)
    if (nv_of(model.joints()[j].kind) == 1) {
      add(coupler("", {{static_cast<int>(j), 1.5, {0.4, -0.3, 0.2}}}));
      break;
    }
  return all;
}

/// Whether rows are far from dependent, or clearly dependent: Omega's rank is then no matter of taste.
bool is_clear(const ConstrainedDynamics& work) {
  const int k = work.rows();
  Vector omega(static_cast<std::size_t>(k) * k);
  work.omega(omega);
  Eigen::MatrixXd scaled(k, k);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j)
      scaled(i, j) = omega[i * k + j] / std::sqrt(omega[i * k + i] * omega[j * k + j]);
  const Eigen::VectorXd values = scaled.selfadjointView<Eigen::Upper>().eigenvalues();
  for (const double value : values)
    if (std::abs(value) > 1e-13 && std::abs(value) < 1e-4) return false;
  return true;
}

template <class Check>
void for_each_closed_chain(Check&& check) {
  Rng rng(7);
  for (int i = 0; i < 150; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 4 + i % 11,
                                             .mimic = i % 4 == 0 ? 0.25 : 0,
                                             .mass_ratio = i % 10 == 9 ? 1e5 : 100,
                                             .size = i % 8 == 7 ? 5.0 : 0.5});
    const Model model(spec, {.base = i % 2 ? Base::free : Base::fixed});
    if (model.nv() < 10) continue;
    const State s = random_state(rng, model, i % 9 == 8 ? 20 : 1);
    const std::vector<Constraint> constraints = random_constraints(rng, model, i);
    ConstrainedDynamics work(model, constraints);
    Vector a(model.nv());
    work.acceleration(s.q, s.v, s.tau, a, s.wrenches);
    if (!is_clear(work)) continue;
    check(rng, model, s, work, i);
  }
}

TEST(LinearizedConstrained, AgainstDualNumbersAndADenseSolve) {
  Errors errors;
  for_each_closed_chain([&](Rng&, const Model& model, const State& s, ConstrainedDynamics& work, int i) {
    const int n = model.nv();
    LinearizedConstrained linear(work);
    ConstrainedDerivatives d;
    const Wrenches<double> wrenches = i % 2 ? Wrenches<double>(s.wrenches) : Wrenches<double>();
    linear.compute(s.q, s.v, s.tau, d, wrenches);
    Oracle oracle(model, work.constraints());
    const Vector lambda(work.multipliers().begin(), work.multipliers().end());
    LongMatrix columns[3];
    for (int part = 0; part < 3; ++part) {
      columns[part] = LongMatrix::Zero(n + work.rows(), n);
      for (int c = 0; c < n; ++c)
        if (part == 2)
          columns[part](c, c) = 1;
        else
          columns[part].col(c) =
              -oracle.along(s.q, s.v, d.a, wrenches.empty() ? nullptr : &wrenches[0].w.x, lambda,
                            part == 0 ? unit(n, c) : Vector(n), part == 1 ? unit(n, c) : Vector(n));
    }
    const LongMatrix K = oracle.kkt(work, s.q);
    const bool unique = !work.redundant();
    const std::string what = std::to_string(i) + ", " + describe(model.spec());
    errors.compare(K, columns[0], d.da_dq, d.df_dq, unique, what + ", by q", Errors::limit(model));
    errors.compare(K, columns[1], d.da_dv, d.df_dv, unique, what + ", by v", Errors::limit(model));
    errors.compare(K, columns[2], d.da_dtau, d.df_dtau, unique, what + ", by tau", Errors::limit(model));
  });
  EXPECT_GT(errors.full, 60);
  EXPECT_GT(errors.redundant, 20);
}

TEST(LinearizedConstrained, ImpulsesAgainstDualNumbersAndDifferences) {
  Errors errors;
  Worst differences("of velocities after impulses, against differences");
  for_each_closed_chain([&](Rng& rng, const Model& model, const State& s, ConstrainedDynamics& work, int i) {
    const int n = model.nv();
    const double restitution = i % 3 ? 0.5 * (i % 3) : 0;
    LinearizedConstrained linear(work);
    ImpulseDerivatives d;
    linear.impulse(s.q, s.v, d, restitution);
    const Vector lambda(work.multipliers().begin(), work.multipliers().end());
    Oracle oracle(model, work.constraints());
    oracle.tree.gravity = {0, 0, 0};
    const Vector none(n), change = sum(d.v, s.v, -1), both = sum(d.v, s.v, restitution);
    const LongMatrix K = oracle.kkt(work, s.q);
    LongMatrix by_q(n + work.rows(), n), by_v(n + work.rows(), n);
    for (int c = 0; c < n; ++c) {
      by_q.col(c) = -oracle.along(s.q, none, change, nullptr, lambda, unit(n, c), none);
      by_q.col(c).tail(work.rows()) =
          -oracle.along(s.q, none, both, nullptr, lambda, unit(n, c), none).tail(work.rows());
    }
    by_v.topRows(n) = K.topLeftCorner(n, n);
    by_v.bottomRows(work.rows()) = -restitution * K.bottomLeftCorner(work.rows(), n);
    const std::string what = std::to_string(i) + ", " + describe(model.spec());
    errors.compare(K, by_q, d.dv_dq, d.df_dq, !work.redundant(), what + ", by q", Errors::limit(model));
    errors.compare(K, by_v, d.dv_dv, d.df_dv, !work.redundant(), what + ", by v", Errors::limit(model));
    if (work.redundant()) return;
    const Vector direction = random_vector(rng, n);
    const auto expected = derivative(
        [&](double h) {
          Vector out(n);
          work.impulse(manifold_add(model, s.q, scaled(direction, h)), s.v, out, restitution);
          return out;
        },
        1e-3);
    EXPECT_LT(differences(relative_error(product(d.dv_dq, direction), expected, 1)), 1e-5) << what;
  });
  EXPECT_GT(errors.full, 60);
  EXPECT_GT(errors.redundant, 20);
}

}  // namespace
}  // namespace articula::testing
