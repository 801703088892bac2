#include "articula/dynamics/fd1_to_fd4.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "tests/support/dense_dynamics.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Algorithm = NamedForwardDynamics::Algorithm;

constexpr Algorithm all[] = {Algorithm::fd1, Algorithm::fd2, Algorithm::fd3, Algorithm::fd4};

TEST(NamedForwardDynamics, AgreeWithProductionOnRandomTrees) {
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 20);
    options.mimic = seed % 3 == 0 ? 0.3 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    const State s = random_state(rng, model);
    ForwardDynamics<> production(model);
    NamedForwardDynamics named(model);
    std::vector<double> expected(model.nv()), a(model.nv());
    forward_dynamics(production, s.q, s.v, s.tau, expected, s.wrenches);
    for (const Algorithm algorithm : all) {
      named.compute(algorithm, s.q, s.v, s.tau, a, s.wrenches);
      EXPECT_LT(relative_error(a, expected), 1e-11) << "fd" << 1 + static_cast<int>(algorithm);
    }
  }
}

TEST(NamedForwardDynamics, AgreeWithDenseDynamics) {
  for (const JointKind kind : moving_joint_kinds()) {
    for (int seed = 1; seed <= 3; ++seed) {
      Rng rng(100 * seed + static_cast<int>(kind));
      RandomOptions options;
      options.links = 5;
      options.kinds = {kind, JointKind::revolute};
      options.mass_ratio = 5;
      const ModelSpec spec = random_spec(rng, options);
      SCOPED_TRACE(describe(spec));
      const Model model(spec);
      const State s = random_state(rng, model);
      DenseDynamics dense(spec, Base::fixed);
      dense.update(s.q, s.v);
      const std::vector<double> expected = to_std(dense.forward_dynamics(s.tau, s.wrenches));
      NamedForwardDynamics named(model);
      std::vector<double> a(model.nv());
      for (const Algorithm algorithm : all) {
        named.compute(algorithm, s.q, s.v, s.tau, a, s.wrenches);
        EXPECT_LT(relative_error(a, expected), 1e-10) << "fd" << 1 + static_cast<int>(algorithm);
      }
    }
  }
}

TEST(NamedForwardDynamics, Fd2GivesLinkAndTipAccelerations) {
  for (int seed = 1; seed <= 12; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.mimic = seed % 3 == 0 ? 0.4 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    const State s = random_state(rng, model);
    NamedForwardDynamics named(model);
    std::vector<double> a(model.nv());
    forward_dynamics_fd2(named, s.q, s.v, s.tau, a);
    Kinematics<> kinematics(model);
    kinematics.update(s.q, s.v, a);
    for (std::size_t f = 0; f < model.frames().size(); ++f)
      EXPECT_LT(relative_error(named.tip_acceleration(f), kinematics.acceleration(f), 1), 1e-10)
          << model.frames()[f].name;
    EXPECT_EQ(named.link_accelerations().size(), static_cast<std::size_t>(model.body_count()));
    forward_dynamics_fd1(named, s.q, s.v, s.tau, a);
    EXPECT_THROW(named.link_accelerations(), ArgumentError);
  }
}

TEST(NamedForwardDynamics, SaysWhichSizeIsWrong) {
  const Model model(one_joint_spec(JointKind::revolute));
  NamedForwardDynamics named(model);
  std::vector<double> one(1), two(2);
  try {
    forward_dynamics_fd3(named, one, one, two, one);
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("forward_dynamics_fd3: tau has 2 numbers"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace articula
