#include "articula/diagonal/diagonal_identities.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/diagonal/operator_rates.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/model/chain.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/dense.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using dense::Matrix;

TEST(DiagonalIdentities, HoldOnRandomTrees) {
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 10);
    options.kinds = {JointKind::revolute, JointKind::prismatic, JointKind::helical};
    options.mass_ratio = 5;
    options.armature = 0;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    const Model model(spec);
    const State s = random_state(rng, model);
    const auto found = diagonal_identities(model, s.q, s.v);
    EXPECT_EQ(found.size(), 14u);
    for (const auto& r : found) EXPECT_LT(r.residual, 1e-11) << r.source << ": " << r.name;
  }
}

TEST(DiagonalIdentities, NothingOfOtherModels) {
  const Model ball(one_joint_spec(JointKind::spherical));
  const std::vector<double> q{0, 0, 0, 1}, v(3);
  EXPECT_TRUE(diagonal_identities(ball, q, v).empty());
  EXPECT_NE(why_no_diagonal_identities(ball), "");
  EXPECT_EQ(why_no_diagonal_identities(Model(make_chain(2))), "");
}

Matrix value(OperatorRates& rates, const char* name) {
  const auto& d = rates[name].value;
  return dense::view(d.numbers, d.rows, d.columns);
}

// (48) as it is printed, but for Omega_delta*, with its diagonal for xi; Fig. 1 is its last row for N = 5. The paper
// counts from the tip, so "m < i" are the bodies outboard of i, and its last row is our first.
TEST(DiagonalIdentities, ComponentsAreThePrintedSums) {
  const int n = 5;
  const Model model(make_chain(n));
  Rng rng(4);
  const State s = random_state(rng, model);
  OperatorRates rates = operator_rates(model, s.q, s.v);
  const Matrix H = value(rates, "H"), psi = value(rates, "psi"), P = value(rates, "P"),
               Od = dense::view(rates.Omega_delta.numbers, 6 * n, 6 * n);
  const auto block = [](const Matrix& x, int i, int j) { return x.block(6 * i, 6 * j, 6, 6); };
  const CoriolisComponents parts = coriolis_components(model, s.q, s.v);
  for (int k = 0; k < n; ++k)
    for (int i = k; i < n; ++i) {
      Matrix sum(6, 6);
      for (int m = i == k ? i : i + 1; m < n; ++m)
        sum += block(psi, k, m) * block(P, m, m) * star(block(Od, m, m)) * star(block(psi, i, m));
      const Matrix c = H.block(k, 6 * k, 1, 6) * sum * star(H.block(i, 6 * i, 1, 6));
      EXPECT_NEAR(parts.c_xi(k, i), c(0, 0), 1e-12);
      if (i != k) EXPECT_NEAR(parts.c_xi(i, k), -c(0, 0), 1e-12);
    }
  DiagonalizedDynamics work(model);
  work.update(s.q);
  std::vector<double> xi(n), C(n);
  work.rates_to_xi(s.v, xi);
  work.coriolis_xi(xi, C);
  for (int k = 0; k < n; ++k) {
    double sum = parts.bias_xi[k];
    for (int i = 0; i < n; ++i) sum += parts.c_xi(k, i) * xi[i];
    EXPECT_NEAR(parts.xi[k], xi[k], 1e-12);
    EXPECT_NEAR(sum, C[k], 1e-12);
  }
}

// Stars that the print lacks, (35) on [I + H Phi K] th'' and section 6 on the map from nu to th', and (47), which has the
// commutator [E_psi, lambda] where E_psi lambda belongs: as printed they are wrong by much, with these they hold.
TEST(DiagonalIdentities, MisprintsOfThePaper) {
  const int n = 5;
  const Model model(make_chain(n));
  Rng rng(12);
  const State s = random_state(rng, model);
  const auto factor = [&](std::span<const double> q) {  // F = [I + H phi K]
    operators::OperatorState state(model);
    state.update(q);
    const operators::Dense d = operators::Program(state, operators::parse("I + H*phi*K").node).dense();
    return Matrix(dense::view(d.numbers, n, n));
  };
  const Matrix F = factor(s.q), v = dense::view(s.v), a = dense::view(s.a);
  constexpr double h = 1e-5;
  const auto moved = [&](double t) {
    std::vector<double> q(n);
    for (int i = 0; i < n; ++i) q[i] = s.q[i] + t * s.v[i] + t * t / 2 * s.a[i];
    return factor(q);
  };
  const Matrix there = moved(h), before = moved(-h);
  const Matrix rate = (1 / (2 * h)) * (star(there) - star(before)) * v;  // d/dt [I + H Phi K]* th'
  const Matrix xi_dot = (1 / (2 * h)) * (star(there) * (v + h * a) - star(before) * (v - h * a));
  EXPECT_LT(dense::largest(rate + star(F) * a - xi_dot), 1e-7 * dense::largest(xi_dot));
  EXPECT_GT(dense::largest(rate + F * a - xi_dot), 1e-2 * dense::largest(xi_dot));

  OperatorRates rates = operator_rates(model, s.q, s.v);
  const Matrix D = value(rates, "D");
  Matrix root(n, n), inv_root(n, n);
  for (int i = 0; i < n; ++i) root(i, i) = std::sqrt(D(i, i)), inv_root(i, i) = 1 / root(i, i);
  const Matrix nu = root * star(F) * v, inverse = dense::LU(F).inverse();  // [I - H Psi K]
  EXPECT_LT(dense::largest(star(inverse) * inv_root * nu - v), 1e-10);
  EXPECT_GT(dense::largest(inverse * inv_root * nu - v), 1e-2);

  const auto full = [&](const operators::Dense& d) {
    return Matrix(dense::view(d.numbers, d.rows, d.columns));
  };
  const Matrix E_psi = value(rates, "E_psi"), P = value(rates, "P"), H = value(rates, "H"),
               phi = value(rates, "phi"), lambda = full(rates.lambda), Od = full(rates.Omega_delta);
  const Matrix V = star(phi) * star(H) * v, rest = lambda * star(E_psi) + Od * P - P * star(Od);
  const auto work = [&](const Matrix& first) { return (star(V) * ((first - rest) * V))(0, 0); };
  const double scale = std::abs((star(V) * (lambda * star(E_psi) * V))(0, 0));
  EXPECT_LT(std::abs(work(E_psi * lambda)), 1e-11 * std::max(1.0, scale));
  EXPECT_GT(std::abs(work(E_psi * lambda - lambda * E_psi)), 1e-2 * scale);
}

// (39): the torque of the second of three joints, its eight terms as printed (in world axes A is the identity; gravity
// is in a(3), the base's acceleration).
TEST(DiagonalIdentities, TorqueOfTheSecondJointTermByTerm) {
  const Model model(make_chain(3));
  Rng rng(9);
  const State s = random_state(rng, model);
  operators::OperatorState state(model);
  state.update(s.q, s.v);
  const auto vector = [&](const char* text) {
    operators::Program program(state, operators::parse(text).node);
    std::vector<double> out(program.rows());
    program.evaluate({}, out);
    return Matrix::column(out);
  };
  using operators::Symbol;
  const auto block = [&](Symbol symbol, int k) -> Matrix {  // the paper's k, from the tip
    const operators::Dense d = state.block(symbol, 3 - k);
    return dense::view(d.numbers, d.rows, d.columns);
  };
  const Matrix a = vector("a_bias + star(E)*a_g"), b = vector("b_bias");
  const auto at = [](const Matrix& x, int k) { return x.part(6 * (3 - k), 6); };
  const auto th = [&](int k) { return s.a[3 - k]; };
  const auto H = [&](int k) { return block(Symbol::H, k); };
  const Matrix phi_21 = block(Symbol::phi, 1), phi_32 = block(Symbol::phi, 2), M = block(Symbol::M, 1),
               r = block(Symbol::R, 2);
  const Matrix torque = th(1) * (H(2) * phi_21 * M * star(H(1))) + th(2) * (H(2) * r * star(H(2))) +
                        th(3) * (H(2) * r * star(phi_32) * star(H(3))) + H(2) * phi_21 * M * at(a, 1) +
                        H(2) * r * at(a, 2) + H(2) * r * star(phi_32) * at(a, 3) + H(2) * phi_21 * at(b, 1) +
                        H(2) * at(b, 2);
  EXPECT_NEAR(torque(0, 0), inverse_dynamics(model, s.q, s.v, s.a)[1], 1e-12);
}

}  // namespace
}  // namespace articula
