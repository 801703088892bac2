#include "articula/dynamics/forward_dynamics.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

TEST(ForwardDynamics, AgreesWithDense) {
  Worst worst("forward dynamics");
  for_each_case([&](const Case& c) {
    ForwardDynamics<> work(c.model);
    std::vector<double> a(c.model.nv());
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, a);
    EXPECT_LT(worst(relative_error(a, to_std(c.dense.forward_dynamics(c.state.tau)))), 1e-11);
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, a, c.state.wrenches);
    EXPECT_LT(worst(relative_error(a, to_std(c.dense.forward_dynamics(c.state.tau, c.state.wrenches)))),
              1e-11);
    EXPECT_LT(worst(relative_error(forward_dynamics(c.model, c.state.q, c.state.v, c.state.tau),
                                   to_std(c.dense.forward_dynamics(c.state.tau)))),
              1e-11);
  });
}

TEST(ForwardDynamics, SolvesAtRestWithoutGravity) {
  Worst worst("M^-1 tau, directly"), in_float("M^-1 tau in float, by its forces");
  for_each_case([&](const Case& c) {
    const std::size_t nv = c.model.nv();
    ForwardDynamics<> work(c.model);
    std::vector<double> x(nv);
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, x);  // leaves forces that must not count
    solve_mass_matrix(work, c.state.q, c.state.tau, x);
    const LongVector tau =
        Eigen::Map<const Eigen::VectorXd>(c.state.tau.data(), Eigen::Index(nv)).cast<Long>();
    EXPECT_LT(worst(relative_error(x, to_std(LongVector(c.dense.mass_matrix.ldlt().solve(tau))))), 1e-11);
    if (nv == 0) return;
    ForwardDynamics<float> single(c.model);
    std::vector<float> y(nv);
    solve_mass_matrix(single, to_float(c.state.q), to_float(c.state.tau), y);
    const LongVector got = Eigen::Map<const Eigen::VectorXf>(y.data(), Eigen::Index(nv)).cast<Long>();
    const LongVector needed = c.dense.mass_matrix * got;
    const double scale = std::max(
        largest(c.state.tau), largest(to_std(LongVector(c.dense.mass_matrix.cwiseAbs() * got.cwiseAbs()))));
    EXPECT_LT(in_float(relative_error(to_std(needed), c.state.tau) * largest(c.state.tau) / scale), 1e-4);
  });
}

/// The forces that the result needs, since the result itself carries the condition number of M.
TEST(ForwardDynamics, InFloatByItsForces) {
  Worst worst("forward dynamics, float, by its forces");
  for_each_case([&](const Case& c) {
    if (c.model.nv() == 0) return;
    ForwardDynamics<float> work(c.model);
    std::vector<float> a(c.model.nv());
    forward_dynamics(work, to_float(c.state.q), to_float(c.state.v), to_float(c.state.tau), a,
                     to_float(c.state.wrenches));
    const auto exact = to_std(c.dense.forward_dynamics(c.state.tau, c.state.wrenches));
    // relative to the largest part of the sum
    const LongVector needed = c.dense.inverse_dynamics(to_double(a), c.state.wrenches);
    const double scale = std::max(
        {largest(c.state.tau), largest(to_std(c.dense.bias)),
         largest(to_std(LongVector(
             c.dense.mass_matrix.cwiseAbs() *
             Eigen::Map<const Eigen::VectorXd>(exact.data(), exact.size()).cast<Long>().cwiseAbs())))});
    EXPECT_LT(worst(relative_error(to_std(needed), c.state.tau) * largest(c.state.tau) / scale), 1e-4);
  });
}

/// Largest error of a after inverse and forward dynamics, relative to the largest a.
double round_trip_error(const Model& model, const State& s) {
  InverseDynamics<> inverse(model);
  ForwardDynamics<> forward(model);
  std::vector<double> tau(model.nv()), a(model.nv());
  inverse_dynamics(inverse, s.q, s.v, s.a, tau, s.wrenches);
  forward_dynamics(forward, s.q, s.v, tau, a, s.wrenches);
  return relative_error(a, s.a);
}

TEST(ForwardDynamics, UndoesInverseDynamicsOnOneThousandTrees) {
  Worst worst("forward after inverse dynamics on 1000 trees");
  for (int seed = 1; seed <= 1000; ++seed) {
    Rng rng(10000 + seed);
    RandomOptions options;
    options.links = rng.integer(1, 60);
    options.branching = static_cast<Branching>(seed % 3);  // tree, bushy, several
    options.mimic = seed % 4 == 0 ? 0.3 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    ASSERT_LT(worst(round_trip_error(model, random_state(rng, model))), 1e-11)
        << "seed " << seed << ", " << describe(spec);
  }
}

/// Chains of up to 60 links of unequal weight have mass matrices so ill conditioned that rounding tau alone,
/// half a unit in the last place of each force, moves a by up to |M^-1| |tau| 2^-53: 1e-9 of the largest a
/// and more. No algorithm can do better than that; this one must not do much worse.
TEST(ForwardDynamics, UndoesInverseDynamicsAsFarAsRoundedForcesAllow) {
  Worst worst("forward after inverse dynamics, deep trees"), over("the same, over what rounded forces allow");
  for (int seed = 1; seed <= 60; ++seed) {
    Rng rng(20000 + seed);
    RandomOptions options;
    options.links = rng.integer(1, 60);
    options.branching = seed % 2 ? Branching::deep : Branching::chain;
    options.mimic = seed % 5 == 0 ? 0.3 : 0;
    const ModelSpec spec = random_spec(rng, options);
    const Base base = seed % 3 ? Base::fixed : Base::free;
    const Model model(spec, {.base = base});
    const State s = random_state(rng, model);
    const double error = worst(round_trip_error(model, s));
    if (error < 1e-11) continue;
    DenseDynamics dense(spec, base);
    dense.update(s.q, s.v);
    const LongVector tau = dense.inverse_dynamics(s.a, s.wrenches);
    const LongVector allowed = dense.inverse_mass_matrix().cwiseAbs() * tau.cwiseAbs() * Long(0x1p-53);
    ASSERT_LT(over(error / (largest(to_std(allowed)) / largest(s.a))), 16)
        << "seed " << seed << ", " << describe(spec);
  }
}

TEST(ForwardDynamics, RepeatedCallsGiveTheSameBits) {
  for_each_case([&](const Case& c) {
    ForwardDynamics<> work(c.model);
    std::vector<double> first(c.model.nv()), again(c.model.nv());
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, first);
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, again, c.state.wrenches);
    forward_dynamics(work, c.state.q, c.state.v, c.state.tau, again);
    EXPECT_EQ(first, again);
  });
}

}  // namespace
}  // namespace articula::testing
