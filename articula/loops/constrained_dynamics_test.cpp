#include "articula/loops/constrained_dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/dense_constraints.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

Pose random_pose(Rng& rng) { return {rotation(rng.quaternion()), rng.vector(0.5)}; }

/// A frame on a moving body, or (rarely) the world.
Attachment random_end(Rng& rng, const Model& model, bool world_too) {
  if (world_too && rng.chance(0.3)) return {-1, random_pose(rng)};
  for (;;) {
    const int frame = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
    if (model.frames()[frame].body >= 0) return {frame, random_pose(rng)};
  }
}

int body_of(const Model& model, const Attachment& at) {
  return at.frame < 0 ? -1 : model.frames()[at.frame].body;
}

/// Constraints of all kinds but rolling, fewer rows than freedoms.
std::vector<Constraint> random_constraints(Rng& rng, const Model& model, int most_rows,
                                           bool rolling = false) {
  std::vector<Constraint> out;
  int rows = 0;
  for (int tries = 0; tries < 30 && rows < most_rows; ++tries) {
    const std::string name = "c" + std::to_string(tries);
    Constraint c;
    const Attachment a = random_end(rng, model, true), b = random_end(rng, model, false);
    const int kind = rng.integer(0, rolling ? 5 : 3);
    if (kind == 3) {
      std::vector<Constraint::Term> terms;
      for (std::size_t j = 0; j < model.joints().size(); ++j)
        if (nv_of(model.joints()[j].kind) == 1 && terms.size() < 3 && rng.chance(0.5))
          terms.push_back({static_cast<int>(j), rng.uniform(0.5, 2)});
      if (terms.empty()) continue;
      c = coupler(name, terms, rng.uniform());
    } else if (body_of(model, a) == body_of(model, b)) {
      continue;
    } else if (kind == 2) {
      c = rod(name, a, b, rng.uniform(0.5, 2));
    } else if (kind == 4) {
      c = rolling_ball(name, a, b, rng.uniform(0.1, 0.5));
    } else if (kind == 5) {
      c = rolling_disc(name, a, b, rng.uniform(0.1, 0.5));
    } else {
      c.name = name;
      c.a = a;
      c.b = b;
      for (bool& f : c.fixed) f = rng.chance(0.5);
      if (c.rows() == 0) continue;
    }
    if (rows + c.rows() > most_rows) continue;
    rows += c.rows();
    out.push_back(c);
  }
  return out;
}

/// Force in the model's own coordinates: tau + external - bias.
LongVector open_force(const DenseDynamics& dense, const State& s) {
  LongVector f = dense.external_forces(s.wrenches) - dense.bias;
  for (int i = 0; i < dense.nv; ++i) f[i] += s.tau[i];
  return f;
}

TEST(ConstrainedDynamics, IsTheKKTSolutionOnRandomTrees) {
  Worst worst_a("accelerations against dense KKT"), worst_f("multipliers"), worst_residual("residual");
  Rng rng(71);
  int checked = 0;
  for (int i = 0; i < 60; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = rng.integer(4, 14), .mimic = i % 3 == 0 ? 0.2 : 0});
    const Base base = rng.chance(0.5) ? Base::free : Base::fixed;
    const Model model(spec, {.base = base});
    if (model.nv() < 4) continue;
    SCOPED_TRACE(describe(spec));
    const State s = random_state(rng, model);
    DenseDynamics dense(spec, base);
    dense.update(s.q, s.v);
    const auto constraints = random_constraints(rng, model, model.nv() / 2);
    ConstrainedDynamics work(model, constraints);
    std::vector<double> a(model.nv());
    work.acceleration(s.q, s.v, s.tau, a, s.wrenches);
    if (work.redundant()) continue;  // for other tests
    const DenseRows rows = dense_rows(dense, model, constraints);
    const DenseSolution right = dense_kkt(dense, rows, open_force(dense, s));
    // Judged by how well the problem is posed: random rows are often nearly dependent.
    const LongMatrix Omega = rows.J * dense.inverse_mass_matrix() * rows.J.transpose();
    LongVector scale = Omega.diagonal().cwiseSqrt().cwiseInverse();
    const LongMatrix scaled = scale.asDiagonal() * Omega * scale.asDiagonal();
    const Long least = Omega.rows() ? Eigen::SelfAdjointEigenSolver<LongMatrix>(scaled).eigenvalues()[0] : 1;
    if (least < 1e-4L) continue;
    ++checked;
    EXPECT_LT(worst_a(relative_error(a, to_std(right.a), 1e-3)), 1e-9);
    EXPECT_LT(worst_f(relative_error(work.multipliers(), to_std(right.lambda), 1e-3)), 1e-9);
    EXPECT_LT(worst_residual(work.residual(s.q, s.v, a) / (1 + largest(a))), 1e-9);
    EXPECT_EQ(work.rank(), work.active_rows() +
                               static_cast<int>(std::count_if(model.joints().begin(), model.joints().end(),
                                                              [](const Joint& j) { return j.mimics >= 0; })));
  }
  EXPECT_GT(checked, 25);
}

TEST(ConstrainedDynamics, JacobianAndBiasAreDerivatives) {
  Worst worst_J("J against differences of the errors"), worst_bias("bias against differences of J v");
  Rng rng(72);
  for (int i = 0; i < 25; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 8, .mimic = i % 3 == 0 ? 0.2 : 0});
    const Model model(spec, {.base = Base::free});
    const State s = random_state(rng, model, 0.3);
    const auto constraints = random_constraints(rng, model, 14, true);
    ConstrainedDynamics work(model, constraints);
    const std::size_t rows = work.rows(), nv = model.nv();
    std::vector<double> J(rows * nv), bias(rows), v = s.v;
    work.jacobian(s.q, J);
    const auto along = [&](double t) { return manifold_add(model, s.q, scaled(v, t)); };
    const auto rates = [&](std::span<const double> q) {
      std::vector<double> matrix(rows * nv), out(rows);
      work.jacobian(q, matrix);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < nv; ++c) out[r] += matrix[r * nv + c] * v[c];
      return out;
    };
    work.bias(s.q, s.v, bias);
    EXPECT_LT(
        worst_bias(relative_error(bias, derivative([&](double t) { return rates(along(t)); }, 0.02), 0.1)),
        1e-7);
    // Errors of translation, distance, coupling and height are exact integrals of the rows anywhere.
    const auto errors = derivative(
        [&](double t) {
          std::vector<double> e(rows);
          work.position_errors(along(t), e);
          return e;
        },
        0.02);
    const auto now = rates(s.q);
    for (std::size_t c = 0; c < constraints.size(); ++c)
      for (int r = 0; r < constraints[c].rows(); ++r) {
        const std::string what = name_of_row(constraints[c], r);
        if (what.starts_with("rotation") || what.starts_with("rolling")) continue;
        const int at = work.row_of(static_cast<int>(c)) + r;
        EXPECT_LT(worst_J(std::abs(now[at] - errors[at])), 1e-7) << what;
      }
  }
}

/// Rotation and rolling rows, against frames; holonomic rotation errors near zero.
TEST(ConstrainedDynamics, RotationRowsTurnWithA) {
  Rng rng(73);
  for (int i = 0; i < 10; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 6});
    const Model model(spec, {.base = Base::free});
    const State s = random_state(rng, model, 0.5);
    const Attachment a = random_end(rng, model, false);
    Attachment b = random_end(rng, model, false);
    if (body_of(model, a) == body_of(model, b)) continue;
    Constraint c = weld("weld", a, b);
    attach(model, c, s.q);  // zero error: the logarithm's derivative is then the identity
    Constraint h = c;
    h.name = "hinge";
    h.fixed = {true, true, false, true, true, true};
    ConstrainedDynamics work(model, {c, h});
    std::vector<double> J(static_cast<std::size_t>(work.rows()) * model.nv()), e(work.rows());
    work.jacobian(s.q, J);
    work.position_errors(s.q, e);
    EXPECT_LT(largest(e), 1e-13);
    const auto d = derivative([&](double t) {
      std::vector<double> out(work.rows());
      work.position_errors(manifold_add(model, s.q, scaled(s.v, t)), out);
      return out;
    });
    for (int r = 0; r < work.rows(); ++r) {
      double rate = 0;
      for (int j = 0; j < model.nv(); ++j) rate += J[r * model.nv() + j] * s.v[j];
      EXPECT_NEAR(rate, d[r], 1e-8) << r;
    }
  }
}

TEST(ConstrainedDynamics, OmegaIsThatOfTheMassFactor) {
  Rng rng(74);
  for (int i = 0; i < 10; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 12});
    const Model model(spec, {.base = i % 2 ? Base::free : Base::fixed});
    std::vector<int> frames;
    std::vector<Constraint> constraints;
    for (std::size_t f = 0; f < model.frames().size() && frames.size() < 4; ++f) {
      if (model.frames()[f].body < 0) continue;
      frames.push_back(static_cast<int>(f));
      constraints.push_back(weld("w" + std::to_string(f), {-1, {}}, {static_cast<int>(f), {}}));
    }
    const State s = random_state(rng, model);
    ConstrainedDynamics work(model, constraints);
    std::vector<double> a(model.nv());
    work.acceleration(s.q, s.v, s.tau, a);
    const std::size_t size = 6 * frames.size();
    std::vector<double> mine(size * size), theirs(size * size);
    work.omega(mine);
    MassFactor<> factor(model);
    factor.factor(s.q);
    factor.frame_inertia_inverse(frames, theirs);
    EXPECT_LT(relative_error(mine, theirs), 1e-11);
  }
}

TEST(ConstrainedDynamics, ImpulseConservesMomentumAndTakesEnergy) {
  Rng rng(75);
  for (int i = 0; i < 20; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 8, .branching = Branching::tree, .armature = 0});
    const Model model(spec, {.base = Base::free});
    const State s = random_state(rng, model);
    std::vector<Constraint> constraints;
    for (Constraint& c : random_constraints(rng, model, 8))
      if (c.a.frame >= 0) constraints.push_back(c);  // internal ones only: couplers belong to them
    if (constraints.empty()) continue;
    ConstrainedDynamics work(model, constraints);
    std::vector<double> v(model.nv()), J(static_cast<std::size_t>(work.rows()) * model.nv());
    work.impulse(s.q, s.v, v);
    work.jacobian(s.q, J);
    for (int r = 0; r < work.rows(); ++r) {
      double rate = 0;
      for (int c = 0; c < model.nv(); ++c) rate += J[r * model.nv() + c] * v[c];
      EXPECT_NEAR(rate, 0, 1e-8 * (1 + largest(v)));
    }
    const auto before = totals(model, s.q, s.v), after = totals(model, s.q, v);
    EXPECT_LT(relative_error(after.momentum, before.momentum), 1e-9);
    EXPECT_LE(after.kinetic, before.kinetic * (1 + 1e-12));
    // Carnot: the energy lost is that of the velocity lost.
    std::vector<double> lost = sum(s.v, v, -1);
    EXPECT_NEAR(before.kinetic - after.kinetic, totals(model, s.q, lost).kinetic, 1e-8 * before.kinetic);
  }
}

TEST(ConstrainedDynamics, ProjectionReachesTheConstraints) {
  Rng rng(76);
  int converged = 0, tried = 0;
  for (int i = 0; i < 20; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 10, .mimic = i % 2 ? 0.2 : 0});
    const Model model(spec, {.base = Base::free});
    std::vector<double> q = random_configuration(rng, model);
    std::vector<Constraint> constraints;
    for (int c = 0; c < 3; ++c) {
      const Attachment a = random_end(rng, model, true), b = random_end(rng, model, false);
      if (body_of(model, a) == body_of(model, b)) continue;
      Constraint k = c == 0 ? weld("weld", a, b) : c == 1 ? hinge("hinge", a, b) : ball("ball", a, b);
      attach(model, k, q);
      constraints.push_back(k);
    }
    if (constraints.empty()) continue;
    std::vector<double> off = random_vector(rng, model.nv(), 0.02), v = random_vector(rng, model.nv());
    q = manifold_add(model, q, off);
    ConstrainedDynamics work(model, constraints);
    const Projection p = work.project(q, v);
    ++tried;
    converged += p.converged;
    if (!p.converged) continue;
    EXPECT_GT(p.before.position, 1e-4);
    const ConstraintDrift d = work.drift(q, v);
    EXPECT_LT(d.position, 1e-11);
    EXPECT_LT(d.velocity, 1e-9);
  }
  EXPECT_GE(converged, tried - 2);
}

TEST(ConstrainedDynamics, BaumgartePullsErrorsBack) {
  Rng rng(77);
  const ModelSpec spec = random_spec(rng, {.links = 8});
  const Model model(spec, {.base = Base::free});
  const State s = random_state(rng, model);
  const std::vector<Constraint> constraints{ball("ball", {-1, {}}, random_end(rng, model, false))};
  const double w = 3, z = 0.7;
  ConstrainedDynamics work(model, constraints, {.baumgarte_frequency = w, .baumgarte_damping = z});
  std::vector<double> a(model.nv()), J(3 * model.nv()), bias(3), e(3);
  work.acceleration(s.q, s.v, s.tau, a);
  work.jacobian(s.q, J);
  work.bias(s.q, s.v, bias);
  work.position_errors(s.q, e);
  for (int r = 0; r < 3; ++r) {
    double accel = bias[r], rate = 0;
    for (int c = 0; c < model.nv(); ++c)
      accel += J[r * model.nv() + c] * a[c], rate += J[r * model.nv() + c] * s.v[c];
    EXPECT_NEAR(accel, -2 * z * w * rate - w * w * e[r], 1e-9 * (1 + largest(a)));
  }
}

TEST(ConstrainedDynamics, ReleasedConstraintsAreAsIfAbsent) {
  Rng rng(78);
  const ModelSpec spec = random_spec(rng, {.links = 10});
  const Model model(spec, {.base = Base::free});
  const State s = random_state(rng, model);
  const auto all = random_constraints(rng, model, 9);
  ASSERT_GT(all.size(), 2u);
  ConstrainedDynamics work(model, all);
  std::vector<double> a(model.nv()), b(model.nv());
  work.acceleration(s.q, s.v, s.tau, a);
  for (std::size_t i = 0; i < all.size(); ++i) {
    work.set_active(static_cast<int>(i), false);
    work.acceleration(s.q, s.v, s.tau, a);
    std::vector<Constraint> fewer = all;
    fewer.erase(fewer.begin() + static_cast<long>(i));
    ConstrainedDynamics other(model, fewer);
    other.acceleration(s.q, s.v, s.tau, b);
    EXPECT_LT(relative_error(a, b), 1e-10);
    EXPECT_EQ(work.multipliers()[work.row_of(static_cast<int>(i))], 0);
    work.set_active(static_cast<int>(i), true);
  }
}

TEST(ConstrainedDynamics, FarFromTheOriginLosesNothing) {
  Rng rng(79);
  const ModelSpec spec = random_spec(rng, {.links = 8, .mass_ratio = 1e6});
  const Model model(spec, {.base = Base::free});
  State s = random_state(rng, model);
  const Attachment a = random_end(rng, model, false);
  Attachment b = random_end(rng, model, false);
  while (body_of(model, a) == body_of(model, b)) b = random_end(rng, model, false);
  const std::vector<Constraint> constraints{hinge("h", a, b)};
  ConstrainedDynamics work(model, constraints);
  std::vector<double> near(model.nv()), far(model.nv());
  work.acceleration(s.q, s.v, s.tau, near);
  s.q[4] += 1000, s.q[5] -= 2000;
  work.acceleration(s.q, s.v, s.tau, far);
  EXPECT_LT(relative_error(far, near), 1e-9);
}

TEST(ConstrainedDynamics, BadConstraintsAreNamed) {
  Rng rng(80);
  const Model model(random_spec(rng, {.links = 5}), {.base = Base::free});
  const auto message = [&](const Constraint& c) -> std::string {
    try {
      ConstrainedDynamics work(model, {c});
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  int frame = 0;
  while (model.frames()[frame].body < 0) ++frame;
  EXPECT_NE(message(ball("x", {-1, {}}, {999, {}})).find("constraint 'x': frame 999"), std::string::npos);
  EXPECT_NE(message(ball("x", {-1, {}}, {-1, {}})).find("world"), std::string::npos);
  EXPECT_NE(message(ball("x", {frame, {}}, {frame, {}})).find("both its ends"), std::string::npos);
  EXPECT_NE(message(rod("x", {-1, {}}, {frame, {}}, 0)).find("length"), std::string::npos);
  EXPECT_NE(message(rod("x", {-1, {}}, {frame, {}}, std::nan(""))).find("not finite"), std::string::npos);
  EXPECT_NE(message(coupler("x", {})).find("couples no joints"), std::string::npos);
  EXPECT_NE(message(coupler("x", {{0, 1}})).find("6 freedoms"), std::string::npos);
  Constraint nothing;
  nothing.name = "x";
  nothing.b.frame = frame;
  EXPECT_NE(message(nothing).find("fixes nothing"), std::string::npos);
  EXPECT_THROW(
      ConstrainedDynamics(model, {ball("x", {-1, {}}, {frame, {}}), ball("x", {-1, {}}, {frame, {}})}),
      ArgumentError);
  ConstrainedDynamics work(model, {ball("x", {-1, {}}, {frame, {}})});
  std::vector<double> q(model.nq()), v(model.nv()), a(model.nv());
  EXPECT_THROW(work.acceleration(q, std::vector<double>(1), v, a), ArgumentError);
  EXPECT_THROW(work.constraint("y"), ArgumentError);
  EXPECT_THROW(work.set_active(7, true), ArgumentError);
  q.assign(model.nq(), std::nan(""));
  EXPECT_THROW(work.acceleration(q, v, v, a), ArgumentError);
}

}  // namespace
}  // namespace articula::testing
