#include "articula/linearization/state_space.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/linearization/regulator.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

// Columns of A and B against differences of the step itself, on the manifold.
TEST(StateSpace, DiscreteIsTheDerivativeOfTheStep) {
  Worst worst("discrete A and B against differences");
  for_each_case([&](const Case& c) {
    const Model& model = c.model;
    const State& s = c.state;
    const std::size_t n = model.nv();
    const double h = 0.02;
    StateSpace work(model);
    ForwardDynamics<> dynamics(model);
    for (const Integrator step : {Integrator::euler, Integrator::symplectic_euler}) {
      Vector A(4 * n * n), B(2 * n * n), q0(model.nq()), v0(n);
      discrete_state_space(work, s.q, s.v, s.tau, h, step, A, B, q0, v0);
      Rng rng(3);
      const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), du = random_vector(rng, n);
      const Vector expected = derivative(
          [&](double e) {
            const Vector q = manifold_add(model, s.q, scaled(dq, e)), v = sum(s.v, dv, e),
                         tau = sum(s.tau, du, e);
            Vector a(n), next_q(model.nq()), out(2 * n);
            forward_dynamics(dynamics, q, v, tau, a);
            const Vector next_v = sum(v, a, h);
            integrate(model, q, scaled(step == Integrator::euler ? v : next_v, h), next_q);
            difference(model, q0, next_q, std::span(out).first(n));
            for (std::size_t i = 0; i < n; ++i) out[n + i] = next_v[i];
            return out;
          },
          0.003);
      Vector x(dq);
      x.insert(x.end(), dv.begin(), dv.end());
      Vector result = product(A, x);
      for (std::size_t i = 0; i < 2 * n; ++i)
        for (std::size_t j = 0; j < n; ++j) result[i] += B[i * n + j] * du[j];
      const double condition = n == 0 ? 1 : std::max(1.0, double(c.dense.condition_number()) * 1e-3);
      EXPECT_LT(worst(relative_error(result, expected, 1)), 1e-8 * condition);
    }
  });
}

// Over a short step the discrete system is Id + h times the continuous one.
TEST(StateSpace, ContinuousIsTheLimitOfDiscrete) {
  Worst worst("continuous A against the limit");
  for_each_case([&](const Case& c) {
    const State& s = c.state;
    const std::size_t n = c.model.nv();
    StateSpace work(c.model);
    Vector A(4 * n * n), B(2 * n * n), q(c.model.nq()), v(n);
    continuous_state_space(work, s.q, s.v, s.tau, A, B);
    const auto rates = [&](double h) {
      Vector Ah(4 * n * n), Bh(2 * n * n);
      discrete_state_space(work, s.q, s.v, s.tau, h, Integrator::euler, Ah, Bh, q, v);
      for (std::size_t i = 0; i < 2 * n; ++i) Ah[i * (2 * n + 1)] -= 1;
      return scaled(Ah, 1 / h);
    };
    // The error is linear in h: one extrapolation.
    const Vector limit = sum(scaled(rates(0.5e-5), 2), rates(1e-5), -1);
    EXPECT_LT(worst(relative_error(A, limit, 1)), 1e-8);
  });
}

TEST(Regulator, SolvesTextbookCases) {
  // The double integrator with Q = Id, R = 1: P = [[sqrt 3, 1], [1, sqrt 3]], K = (1, sqrt 3).
  const Vector A{0, 1, 0, 0}, B{0, 1}, Q{1, 0, 0, 1}, R{1};
  const Regulator r = regulator(A, B, Q, R, 2, 1);
  EXPECT_LT(relative_error(r.K, Vector{1, std::sqrt(3)}), 1e-14);
  EXPECT_LT(relative_error(r.P, Vector{std::sqrt(3), 1, 1, std::sqrt(3)}), 1e-14);
  EXPECT_LT(r.residual, 1e-15);
  EXPECT_EQ(controllability_rank(A, B, 2, 1), 2);
  EXPECT_EQ(controllability_rank(A, Vector{1, 0}, 2, 1), 1);
  // x_next = x + u with Q = R = 1: P is the golden ratio.
  const Regulator d = discrete_regulator(Vector{1}, Vector{1}, Vector{1}, Vector{1}, 1, 1);
  EXPECT_NEAR(d.P[0], (1 + std::sqrt(5)) / 2, 1e-15);
  EXPECT_LT(d.residual, 1e-15);
  // A mode out of reach.
  EXPECT_THROW(regulator(Vector{1, 0, 0, 1}, Vector{1, 0}, Q, R, 2, 1), SingularError);
  EXPECT_THROW(discrete_regulator(Vector{2, 0, 0, 2}, Vector{1, 0}, Q, R, 2, 1), SingularError);
  EXPECT_THROW(regulator(A, B, Q, Vector{-1}, 2, 1), ArgumentError);
  EXPECT_THROW(regulator(A, Vector{1}, Q, R, 2, 1), ArgumentError);
}

TEST(Regulator, RandomSystems) {
  Worst worst("Riccati residual");
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const int n = rng.integer(1, 30), m = rng.integer(1, n);
    const Vector A = random_vector(rng, n * n), B = random_vector(rng, n * m);
    Vector Q(n * n), R(m * m);
    for (int i = 0; i < n; ++i) Q[i * (n + 1)] = 1;
    for (int i = 0; i < m; ++i) R[i * (m + 1)] = 1;
    EXPECT_EQ(controllability_rank(A, B, n, m), n);
    EXPECT_LT(worst(regulator(A, B, Q, R, n, m).residual), 1e-12);
    EXPECT_LT(worst(discrete_regulator(A, B, Q, R, n, m).residual), 1e-12);
  }
}

// The gain made from the linearization holds the nonlinear double pendulum upright: with both joints driven,
// and with one of them alone.
TEST(Regulator, HoldsTheDoublePendulumUpright) {
  const Model model = read_urdf(std::string(ARTICULA_SOURCE_DIR) + "/models/double_pendulum.urdf");
  ASSERT_EQ(model.nv(), 2);
  // Upright is where the potential energy is greatest: of the positions with straight links, that one.
  Vector upright(2), zero(2), tau(2);
  double best = -INFINITY;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      const Vector q{i * M_PI / 2, j * M_PI};
      const double energy = totals(model, q, zero).potential;
      if (energy > best + 1e-9) best = energy, upright = q;
    }
  tau = gravity_forces(model, upright);
  EXPECT_LT(largest(tau), 1e-12);  // an equilibrium, and an unstable one:
  StateSpace work(model);
  Vector A(16), B(8);
  continuous_state_space(work, upright, zero, tau, A, B);
  double fastest = -INFINITY;
  for (const auto& pole : eigenvalues(A, 4)) fastest = std::max(fastest, pole.real());
  EXPECT_GT(fastest, 1);
  for (int driven = 0; driven < 3; ++driven) {  // the first joint, the second, both
    const int m = driven == 2 ? 2 : 1;
    Vector b(4 * m), Q(16), R(m * m);
    for (int i = 0; i < 4; ++i) {
      Q[5 * i] = 1;
      for (int j = 0; j < m; ++j) b[i * m + j] = B[2 * i + (driven == 2 ? j : driven)];
    }
    for (int j = 0; j < m; ++j) R[j * (m + 1)] = 1;
    EXPECT_EQ(controllability_rank(A, b, 4, m), 4);
    const Regulator r = regulator(A, b, Q, R, 4, m);
    EXPECT_LT(r.residual, 1e-12);
    Vector q = sum(upright, Vector{0.02, -0.01}), v = zero, a(2);
    ForwardDynamics<> dynamics(model);
    const double h = 1e-3;
    for (int i = 0; i < 20000; ++i) {
      const Vector x{q[0] - upright[0], q[1] - upright[1], v[0], v[1]};
      Vector u = tau;
      for (int j = 0; j < m; ++j)
        for (int k = 0; k < 4; ++k) u[driven == 2 ? j : driven] -= r.K[j * 4 + k] * x[k];
      forward_dynamics(dynamics, q, v, u, a);
      for (int k = 0; k < 2; ++k) v[k] += h * a[k], q[k] += h * v[k];
    }
    EXPECT_LT(relative_error(q, upright, 1), 1e-6) << "driven " << driven;
    EXPECT_LT(largest(v), 1e-6);
  }
}

}  // namespace
}  // namespace articula::testing
