#include "articula/dynamics/inverse_dynamics.hpp"

#include <gtest/gtest.h>

#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

TEST(InverseDynamics, AgreesWithDense) {
  Worst worst("inverse dynamics");
  for_each_case([&](const Case& c) {
    InverseDynamics<> work(c.model);
    std::vector<double> tau(c.model.nv());
    inverse_dynamics(work, c.state.q, c.state.v, c.state.a, tau);
    EXPECT_LT(worst(relative_error(tau, to_std(c.dense.inverse_dynamics(c.state.a)))), 1e-13);
    inverse_dynamics(work, c.state.q, c.state.v, c.state.a, tau, c.state.wrenches);
    EXPECT_LT(worst(relative_error(tau, to_std(c.dense.inverse_dynamics(c.state.a, c.state.wrenches)))),
              1e-13);
    EXPECT_LT(worst(relative_error(inverse_dynamics(c.model, c.state.q, c.state.v, c.state.a),
                                   to_std(c.dense.inverse_dynamics(c.state.a)))),
              1e-13);
  });
}

TEST(InverseDynamics, BiasAndGravityAgreeWithDense) {
  Worst worst_bias("bias forces"), worst_gravity("gravity forces");
  for_each_case([&](const Case& c) {
    InverseDynamics<> work(c.model);
    std::vector<double> tau(c.model.nv());
    bias_forces(work, c.state.q, c.state.v, tau);
    EXPECT_LT(worst_bias(relative_error(tau, to_std(c.dense.bias))), 1e-13);
    bias_forces(work, c.state.q, c.state.v, tau, c.state.wrenches);
    const LongVector expected = c.dense.bias - c.dense.external_forces(c.state.wrenches);
    EXPECT_LT(worst_bias(relative_error(tau, to_std(expected))), 1e-13);
    gravity_forces(work, c.state.q, tau);
    EXPECT_LT(worst_gravity(relative_error(tau, to_std(c.dense.gravity), 1e-3)), 1e-13);
    EXPECT_LT(worst_bias(relative_error(bias_forces(c.model, c.state.q, c.state.v), to_std(c.dense.bias))),
              1e-13);
    EXPECT_LT(
        worst_gravity(relative_error(gravity_forces(c.model, c.state.q), to_std(c.dense.gravity), 1e-3)),
        1e-13);
  });
}

TEST(InverseDynamics, InFloat) {
  Worst worst("inverse dynamics, float");
  for_each_case([&](const Case& c) {
    InverseDynamics<float> work(c.model);
    std::vector<float> tau(c.model.nv());
    const auto q = to_float(c.state.q), v = to_float(c.state.v), a = to_float(c.state.a);
    inverse_dynamics(work, q, v, a, tau, to_float(c.state.wrenches));
    EXPECT_LT(
        worst(relative_error(to_double(tau), to_std(c.dense.inverse_dynamics(c.state.a, c.state.wrenches)))),
        1e-5);
    bias_forces(work, q, v, tau);
    EXPECT_LT(worst(relative_error(to_double(tau), to_std(c.dense.bias))), 1e-5);
    gravity_forces(work, q, tau);
    EXPECT_LT(worst(relative_error(to_double(tau), to_std(c.dense.gravity), 1)), 1e-5);
  });
}

TEST(InverseDynamics, RepeatedCallsGiveTheSameBits) {
  for_each_case([&](const Case& c) {
    InverseDynamics<> work(c.model);
    std::vector<double> first(c.model.nv()), again(c.model.nv());
    inverse_dynamics(work, c.state.q, c.state.v, c.state.a, first);
    inverse_dynamics(work, c.state.q, c.state.v, c.state.a, again, c.state.wrenches);
    gravity_forces(work, c.state.q, again);
    inverse_dynamics(work, c.state.q, c.state.v, c.state.a, again);
    EXPECT_EQ(first, again);
  });
}

TEST(InverseDynamics, PendulumByHand) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "bob", .mass = {2, {0, 0, -0.5}, {0.01, 0.01, 0.01, 0, 0, 0}}});
  spec.add_joint({.name = "pivot", .parent = "base", .child = "bob", .axis = {0, 1, 0}, .armature = 0.3});
  const Model model(spec);
  // (m l^2 + I + armature) a + m g l sin q
  const auto tau = inverse_dynamics(model, std::vector{0.7}, std::vector{3.0}, std::vector{2.0});
  EXPECT_NEAR(tau[0], (2 * 0.25 + 0.01 + 0.3) * 2 + 2 * 9.81 * 0.5 * std::sin(0.7), 1e-14);
}

}  // namespace
}  // namespace articula::testing
