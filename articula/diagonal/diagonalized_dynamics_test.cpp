#include "articula/diagonal/diagonalized_dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

double dot_of(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Each joint kind with others, then random trees over all kinds, both bases.
void for_each_model(const std::function<void(const Model&, const State&)>& f) {
  const auto one = [&](Rng& rng, const RandomOptions& options, Base base) {
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec, {.base = base});
    f(model, random_state(rng, model));
  };
  for (const JointKind kind : moving_joint_kinds()) {
    Rng rng(200 + static_cast<int>(kind));
    RandomOptions options;
    options.links = 5;
    options.kinds = {kind};
    options.mass_ratio = 5;
    one(rng, options, Base::fixed);
    options.kinds = {kind, JointKind::revolute};
    options.armature = 0;
    one(rng, options, Base::fixed);
  }
  for (int seed = 1; seed <= 16; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 14);
    options.mass_ratio = 10;
    one(rng, options, seed % 2 ? Base::fixed : Base::free);
  }
}

TEST(DiagonalizedDynamics, MapsAreThoseOfTheMassFactorAndInverses) {
  Worst worst("velocity and force maps");
  for_each_model([&](const Model& model, const State& s) {
    DiagonalizedDynamics work(model);
    MassFactor<> factor(model);
    work.update(s.q);
    factor.factor(s.q);
    const std::size_t n = model.nv();
    Vector x(n), y(n);
    factor.times_root_star(s.v, y);  // nu = m* v
    work.rates_to_nu(s.v, x);
    EXPECT_LT(worst(relative_error(x, y)), 1e-12);
    work.nu_to_rates(x, x);
    EXPECT_LT(worst(relative_error(x, s.v)), 1e-11);
    factor.times_factor_star(s.v, y);  // xi = [Id + H phi K]* v
    work.rates_to_xi(s.v, x);
    EXPECT_LT(worst(relative_error(x, y)), 1e-12);
    work.xi_to_rates(x, x);
    EXPECT_LT(worst(relative_error(x, s.v)), 1e-11);
    factor.solve_root(s.tau, y);  // eps = m^-1 tau
    work.forces_to_epsilon(s.tau, x);
    EXPECT_LT(worst(relative_error(x, y)), 1e-11);
    work.epsilon_to_forces(x, x);
    EXPECT_LT(worst(relative_error(x, s.tau)), 1e-11);
    factor.solve_factor(s.tau, y);  // kappa = [Id - H psi K] tau
    work.forces_to_kappa(s.tau, x);
    EXPECT_LT(worst(relative_error(x, y)), 1e-12);
    work.kappa_to_forces(x, x);
    EXPECT_LT(worst(relative_error(x, s.tau)), 1e-11);
    // kinetic energy = |nu|^2 / 2 = v* M v / 2, power = eps . nu = tau . v
    Vector nu(n), eps(n), Mv(n);
    work.rates_to_nu(s.v, nu);
    work.forces_to_epsilon(s.tau, eps);
    factor.multiply(s.v, Mv);
    EXPECT_NEAR(dot_of(nu, nu), dot_of(s.v, Mv), 1e-11 * dot_of(nu, nu));
    EXPECT_NEAR(dot_of(nu, eps), dot_of(s.v, s.tau), 1e-10 * std::sqrt(dot_of(nu, nu) * dot_of(eps, eps)));
  });
}

/// nu' from the recursion is d/dt (m* v) along the motion that forward dynamics predicts.
TEST(DiagonalizedDynamics, RatesAgreeWithTheStandardForm) {
  Worst worst_nu("nu' against d/dt (m* v)"), worst_xi("xi' against d/dt"), worst_D("D' against differences");
  for_each_model([&](const Model& model, const State& s) {
    const std::size_t n = model.nv();
    ForwardDynamics<> forward(model);
    DiagonalizedDynamics work(model), moved(model);
    Vector a(n), nu(n), xi(n), nu_dot(n), xi_dot(n);
    forward_dynamics(forward, s.q, s.v, s.tau, a, s.wrenches);
    work.update(s.q);
    work.rates_to_nu(s.v, nu);
    work.rates_to_xi(s.v, xi);
    const auto terms = work.terms(s.v);
    work.xi_dot(s.q, xi, s.tau, xi_dot, s.wrenches);
    work.nu_dot(s.q, nu, s.tau, nu_dot, s.wrenches);
    // d/dt x(q, v) = dx/dq v + dx/dv a; x is linear in v
    const auto rate = [&](auto&& map) {
      const Vector by_q = derivative(
          [&](double t) {
            moved.update(manifold_add(model, s.q, scaled(s.v, t)));
            return map(moved, s.v);
          },
          2e-3);
      moved.update(s.q);
      return sum(by_q, map(moved, a));
    };
    const auto nu_of = [](DiagonalizedDynamics& w, const Vector& v) {
      Vector out(v.size());
      w.rates_to_nu(v, out);
      return out;
    };
    const auto xi_of = [](DiagonalizedDynamics& w, const Vector& v) {
      Vector out(v.size());
      w.rates_to_xi(v, out);
      return out;
    };
    EXPECT_LT(worst_nu(relative_error(nu_dot, rate(nu_of), 1)), 1e-10);
    EXPECT_LT(worst_xi(relative_error(xi_dot, rate(xi_of), 1)), 1e-10);
    const Vector D_dot = derivative(
        [&](double t) {
          moved.update(manifold_add(model, s.q, scaled(s.v, t)));
          Vector D(n * n);
          moved.D(D);
          return D;
        },
        2e-3);
    EXPECT_LT(worst_D(relative_error(terms.D_dot, D_dot, 1)), 1e-8);
  });
}

TEST(DiagonalizedDynamics, ThePrintedRecursionGivesTheSameTerm) {  // DIAG (42)
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 12);
    options.kinds = {JointKind::revolute, JointKind::prismatic};
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    const State s = random_state(rng, model);
    const int n = model.nv();
    std::vector<double> nu(n), C(n), printed(n);
    std::vector<Spatial<double>> wrenches(model.body_count());
    for (auto& f : wrenches) f = {{rng.uniform(-1, 1), 0.5, 0}, {0, rng.uniform(-9, 9), rng.uniform(-9, 9)}};
    DiagonalizedDynamics work(model);
    work.update(s.q);
    work.rates_to_nu(s.v, nu);
    for (const Wrenches<double> forces : {Wrenches<double>{}, Wrenches<double>(wrenches)}) {
      work.coriolis_nu(nu, C, forces);
      work.coriolis_nu_printed(nu, printed, forces);
      double most = 1;
      for (const double x : C) most = std::max(most, std::abs(x));
      for (int i = 0; i < n; ++i) EXPECT_NEAR(printed[i], C[i], 1e-11 * most) << i;
    }
  }
  DiagonalizedDynamics many(Model(make_chain(2), {.base = Base::free}));
  std::vector<double> x(many.model().nv());
  many.update(neutral(many.model()));
  EXPECT_THROW(many.coriolis_nu_printed(x, x), ArgumentError);
}

TEST(DiagonalizedDynamics, CoriolisTermDoesNoWork) {
  Worst worst("nu . C(q, nu)");
  for_each_model([&](const Model& with_gravity, const State& s) {
    const Model model = with_gravity.with_gravity({0, 0, 0});
    DiagonalizedDynamics work(model);
    work.update(s.q);
    Vector nu(model.nv()), C(model.nv());
    work.rates_to_nu(s.v, nu);
    work.coriolis_nu(nu, C);
    const double scale = std::max(1e-3, std::sqrt(dot_of(nu, nu) * dot_of(C, C)));
    EXPECT_LT(worst(std::abs(dot_of(nu, C)) / scale), 1e-12);
  });
}

/// C(q, 0) is m^-1 g: gravity and external forces alone.
TEST(DiagonalizedDynamics, AtRestOnlyGravityAndExternalForcesAreLeft) {
  for_each_model([&](const Model& model, const State& s) {
    DiagonalizedDynamics work(model);
    InverseDynamics<> inverse(model);
    work.update(s.q);
    const Vector still(model.nv());
    Vector C(model.nv()), g(model.nv());
    work.coriolis_nu(still, C, s.wrenches);
    work.epsilon_to_forces(C, C);
    inverse_dynamics(inverse, s.q, still, still, g, s.wrenches);
    EXPECT_LT(relative_error(C, g, 1), 1e-11);
  });
}

TEST(DiagonalizedDynamics, RefusesMimicJointsAndWrongSizes) {
  Rng rng(5);
  RandomOptions options;
  options.kinds = {JointKind::revolute};
  options.mimic = 0.5;
  const Model mimic(random_spec(rng, options));
  ASSERT_TRUE(mimic.has_mimics());
  EXPECT_THROW(DiagonalizedDynamics{mimic}, ArgumentError);
  const Model model(one_joint_spec(JointKind::revolute));
  DiagonalizedDynamics work(model);
  Vector one(1), two(2);
  EXPECT_THROW(work.rates_to_nu(one, one), ArgumentError);  // before update
  EXPECT_THROW(work.update(two), ArgumentError);
  work.update(one);
  EXPECT_THROW(work.rates_to_nu(two, one), ArgumentError);
  EXPECT_THROW(work.coriolis_nu(one, two), ArgumentError);
  EXPECT_THROW(work.nu_dot(one, one, two, one), ArgumentError);
}

// --- the decoupled rate controller -------------------------------------------------------------------
TEST(DecoupledRateControl, EachRateIsItsOwnFirstOrderLoop) {
  for_each_model([&](const Model& model, const State& s) {
    const std::size_t n = model.nv();
    DiagonalizedDynamics work(model);
    work.update(s.q);
    Vector gains(n), desired(n), tau(n), nu(n), rate(n);
    for (std::size_t i = 0; i < n; ++i) gains[i] = 1 + 0.1 * double(i), desired[i] = std::sin(double(i));
    decoupled_rate_control(work, s.v, desired, gains, RateCompensation::all, tau);
    work.rates_to_nu(s.v, nu);
    work.nu_dot(s.q, nu, tau, rate);
    Vector expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = gains[i] * (desired[i] - nu[i]);
    EXPECT_LT(relative_error(rate, expected, 1), 1e-9);
  });
}

/// With gravity alone compensated, the energy |nu|^2/2 still falls at exactly sum gain nu^2.
TEST(DecoupledRateControl, IsPassive) {
  for_each_model([&](const Model& model, const State& s) {
    const std::size_t n = model.nv();
    DiagonalizedDynamics work(model);
    work.update(s.q);
    Vector gains(n, 0.7), desired(n), tau(n), nu(n), rate(n);
    decoupled_rate_control(work, s.v, desired, gains, RateCompensation::gravity, tau);
    work.rates_to_nu(s.v, nu);
    work.nu_dot(s.q, nu, tau, rate);
    const double power = dot_of(nu, rate), expected = -0.7 * dot_of(nu, nu);
    EXPECT_NEAR(power, expected,
                1e-10 * (std::abs(expected) + std::sqrt(dot_of(nu, nu) * dot_of(rate, rate))));
    EXPECT_LE(power, 0);
  });
}

}  // namespace
}  // namespace articula
