#include "articula/dynamics/textbook.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

TEST(Textbook, AgreesWithTheLibraryOnRandomTrees) {
  for (int seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 10);
    options.mimic = seed % 3 == 0 ? 0.3 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.nv() == 0) continue;
    const State s = random_state(rng, model);
    EXPECT_LT(
        relative_error(inverse_dynamics_screws(model, s.q, s.v, s.a), inverse_dynamics(model, s.q, s.v, s.a)),
        1e-11);
    const ClosedForm closed = closed_form(model, s.q, s.v);
    EXPECT_LT(relative_error(closed.mass_matrix.numbers, mass_matrix(model, s.q)), 1e-11);
    EXPECT_LT(relative_error(closed.g, gravity_forces(model, s.q), 1e-3), 1e-11);
    std::vector<double> bias(model.nv());
    for (int i = 0; i < model.nv(); ++i) bias[i] = closed.c[i] + closed.g[i];
    EXPECT_LT(relative_error(bias, bias_forces(model, s.q, s.v)), 1e-11);
    EXPECT_LT(
        relative_error(get_joint_accel(model, s.q, s.v, s.tau), forward_dynamics(model, s.q, s.v, s.tau)),
        1e-8);
  }
}

/// (9.54)-(9.57), (9.69)-(9.71), (9.81): the base of a fixed model moves as a free model's root does.
TEST(Textbook, AMovingBaseAndAForceAtTheTip) {
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 8);
    options.branching = Branching::tree;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec), moving(spec, {.base = Base::free});
    if (model.nv() == 0 || moving.nv() != model.nv() + 6) continue;
    State s = random_state(rng, moving);
    const double rest[] = {0, 0, 0, 1, 0, 0, 0};  // the root's frame is the world's
    std::copy_n(rest, 7, s.q.begin());
    const auto tail = [](const std::vector<double>& x, std::size_t from) {
      return std::vector<double>(x.begin() + static_cast<long>(from), x.end());
    };
    const int tip = model.frame(spec.links.back().name);
    BaseAndTip ends;
    ends.tip = tip;
    ends.F_tip = {rng.vector(), rng.vector()};
    // the free joint's velocity is (w, v) in the root's axes; the rate of v_O is v' + w x v
    ends.V_0 = {{s.v[0], s.v[1], s.v[2]}, {s.v[3], s.v[4], s.v[5]}};
    ends.V_0_dot = {{s.a[0], s.a[1], s.a[2]}, {s.a[3], s.a[4], s.a[5]}};
    const std::vector<double> q = tail(s.q, 7), v = tail(s.v, 6), a = tail(s.a, 6);

    Kinematics<> kinematics(moving);
    kinematics.update(s.q, s.v);
    std::vector<double> J(6 * static_cast<std::size_t>(moving.nv()));
    kinematics.jacobian(moving.frame(spec.links.back().name), J, Axes::local);
    std::vector<double> expected = inverse_dynamics(moving, s.q, s.v, s.a);
    const double F[] = {ends.F_tip.w.x, ends.F_tip.w.y, ends.F_tip.w.z,
                        ends.F_tip.v.x, ends.F_tip.v.y, ends.F_tip.v.z};
    for (int i = 0; i < moving.nv(); ++i)
      for (int r = 0; r < 6; ++r) expected[i] += J[static_cast<std::size_t>(r * moving.nv() + i)] * F[r];
    expected = tail(expected, 6);
    EXPECT_LT(relative_error(inverse_dynamics_screws(model, q, v, a, ends), expected), 1e-11);

    const ClosedForm closed = closed_form(model, q, v, ends);
    std::vector<double> tau(model.nv());
    for (int i = 0; i < model.nv(); ++i) {
      tau[i] = closed.c[i] + closed.g[i] + closed.tip_forces[i];
      for (int j = 0; j < model.nv(); ++j) tau[i] += closed.mass_matrix.numbers[i * model.nv() + j] * a[j];
    }
    EXPECT_LT(relative_error(tau, expected), 1e-11);
    EXPECT_LT(relative_error(mass_matrix_of_link_jacobians(model, q), mass_matrix(model, q)),
              1e-11);  // (9.61)
    // GetJointAccel with tau_external = J^T F_tip
    ends.V_0 = ends.V_0_dot = {{0, 0, 0}, {0, 0, 0}};
    const std::vector<double> tau_at_rest = inverse_dynamics_screws(model, q, v, a, ends);
    EXPECT_LT(relative_error(
                  get_joint_accel(model, q, v, tau_at_rest, closed_form(model, q, v, ends).tip_forces), a),
              1e-7);
  }
}

/// MR9's 2R example, with its two misprints put right (docs/math.md 12).
TEST(Textbook, TwoLinksOfPointMasses) {
  const double m1 = 1.3, m2 = 0.7, L1 = 0.8, L2 = 0.5, g = 9.81;
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "one", .mass = {m1, {L1, 0, 0}, {0, 0, 0, 0, 0, 0}}});
  spec.add_link({.name = "two", .mass = {m2, {L2, 0, 0}, {0, 0, 0, 0, 0, 0}}});
  spec.add_joint({.name = "j1", .parent = "base", .child = "one", .axis = {0, 0, 1}});
  spec.add_joint(
      {.name = "j2", .parent = "one", .child = "two", .placement = {.p = {L1, 0, 0}}, .axis = {0, 0, 1}});
  const Model model(spec, {.gravity = {0, -g, 0}});
  const double t1 = 0.4, t2 = -1.1, v1 = 0.9, v2 = -0.6, a1 = 1.7, a2 = 0.3;
  const double c2 = std::cos(t2), s2 = std::sin(t2), c12 = std::cos(t1 + t2);
  const double tau1 = ((m1 + m2) * L1 * L1 + m2 * (2 * L1 * L2 * c2 + L2 * L2)) * a1 +
                      m2 * (L1 * L2 * c2 + L2 * L2) * a2 - 2 * m2 * L1 * L2 * v1 * v2 * s2 -
                      m2 * L1 * L2 * v2 * v2 * s2 + (m1 + m2) * L1 * g * std::cos(t1) + m2 * g * L2 * c12;
  const double tau2 = m2 * (L1 * L2 * c2 + L2 * L2) * a1 + m2 * L2 * L2 * a2 + m2 * L1 * L2 * v1 * v1 * s2 +
                      m2 * g * L2 * c12;
  const std::vector<double> q{t1, t2}, v{v1, v2}, a{a1, a2}, expected{tau1, tau2};
  EXPECT_LT(relative_error(inverse_dynamics_screws(model, q, v, a), expected), 1e-14);
  EXPECT_LT(relative_error(inverse_dynamics(model, q, v, a), expected), 1e-14);
}

TEST(Textbook, SaysWhichSizeIsWrong) {
  const Model model(one_joint_spec(JointKind::revolute));
  const std::vector<double> one(1), two(2);
  EXPECT_THROW(inverse_dynamics_screws(model, one, two, one), ArgumentError);
  EXPECT_THROW(closed_form(model, two, one), ArgumentError);
  EXPECT_THROW(get_joint_accel(model, one, one, two), ArgumentError);
}

}  // namespace
}  // namespace articula
