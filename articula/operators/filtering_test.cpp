// JPL88 4: the mass matrix as a covariance, and what filter and smoother make of it (docs/filtering.md).
#include <gtest/gtest.h>

#include <random>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/operators/derive.hpp"
#include "articula/operators/parse.hpp"
#include "articula/spatial/dense.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::OperatorState;
using operators::Program;

dense::Matrix matrix(OperatorState& state, const std::string& text) {
  const operators::Dense d = Program(state, operators::parse(text).node).dense();
  return dense::Matrix(dense::view(d.numbers, d.rows, d.columns));
}
double distance(const dense::View& a, const dense::View& b) {
  return dense::largest(a - b) / std::max(1.0, dense::largest(b));
}
template <class F>
void for_each_tree(F&& f) {
  for (int seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 10);
    options.mass_ratio = 10;
    const Model model(random_spec(rng, options), {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.body_count() == 0) continue;
    const State s = random_state(rng, model);
    OperatorState state(model);
    state.update(s.q, s.v);
    SCOPED_TRACE("seed " + std::to_string(seed));
    f(model, s, state);
  }
}

// x = phi w, y = H x + n, w and n with covariances M and rotor: y has the mass matrix as covariance (4.1)-(4.3);
// drawn from white noise by [I + H phi K] root_D, and made white again by root_D^-1 [I - H psi K] (4.15).
TEST(Filtering, DrawAndWhiten) {
  for_each_tree([](const Model& model, const State& s, OperatorState& state) {
    const int n = model.nv();
    dense::Matrix M(n, n);
    MassMatrix<>(model).compute(s.q, M.numbers());
    const dense::Matrix draw = matrix(state, "(I + H*phi*K)*root_D");
    EXPECT_LT(distance(draw * dense::star(draw), M), 1e-11);
    const dense::Matrix whiten = matrix(state, "inv(root_D)*(I - H*psi*K)");
    EXPECT_LT(distance(whiten * M * dense::star(whiten), dense::Matrix::identity(n)), 1e-9);
    EXPECT_LT(distance(whiten * draw, dense::Matrix::identity(n)), 1e-9);
    const dense::Matrix adjoint = matrix(state, "star(root_D)*inv(star(root_D))");
    EXPECT_LT(distance(adjoint, dense::Matrix::identity(n)), 1e-12);
  });
}

// Predicted from what is outboard, psi K y, x is wrong by psi w - psi K n, with P at every body; the innovations
// [I - H psi K] y have covariance D (4.12), (4.13).
TEST(Filtering, PredictionAndInnovations) {
  for_each_tree([](const Model& model, const State&, OperatorState& state) {
    const dense::Matrix error = matrix(state, "psi*(M + K*rotor*star(K))*star(psi)");
    for (int k = 0; k < model.body_count(); ++k) {
      const operators::Dense P = state.block(operators::Symbol::P, k);
      EXPECT_LT(distance(error.block(6 * k, 6 * k, 6, 6), dense::view(P.numbers, 6, 6)), 1e-11);
    }
    const dense::Matrix innovations =
        matrix(state, "(I - H*psi*K)*(H*phi*M*star(phi)*star(H) + rotor)*star(I - H*psi*K)");
    EXPECT_LT(distance(innovations, matrix(state, "D")), 1e-11);
  });
}

// All forces known, E[x | y] = phi M phi* H* M^-1 y; the program finds the two sweeps of the smoother by itself. Its
// error has covariance P - P Omega P at every body.
TEST(Filtering, SmootherIsDerived) {
  for_each_tree([](const Model& model, const State&, OperatorState& state) {
    const auto d = operators::derive(
        state, operators::parse("phi*M*star(phi)*star(H)*inv(H*phi*M*star(phi)*star(H) + rotor)*y").node);
    EXPECT_EQ(d.steps.back().text, "psi K y + P psi* H* D^-1 [I - H psi K] y");
    EXPECT_EQ(Program(state, d.result).sweeps(), 2);
    const dense::Matrix x = matrix(state, "phi*M*star(phi)"), xy = matrix(state, "phi*M*star(phi)*star(H)");
    const dense::Matrix M = matrix(state, "H*phi*M*star(phi)*star(H) + rotor");
    const dense::Matrix left = x - xy * dense::LU(M).solve(dense::star(xy));
    for (int k = 0; k < model.body_count(); ++k) {
      const operators::Dense P = state.block(operators::Symbol::P, k),
                             Omega = state.block(operators::Symbol::Omega, k);
      const dense::View P_ = dense::view(P.numbers, 6, 6);
      const dense::Matrix expected = P_ - P_ * (dense::view(Omega.numbers, 6, 6) * P_);
      const double scale = std::max(1.0, dense::largest(x.block(6 * k, 6 * k, 6, 6)));
      EXPECT_LT(dense::largest(left.block(6 * k, 6 * k, 6, 6) - expected) / scale, 1e-9);
    }
  });
}

TEST(Filtering, SamplesHaveTheMassMatrixAsCovariance) {
  Rng rng(5);
  RandomOptions options;
  options.links = 5;
  const Model model(random_spec(rng, options));
  const State s = random_state(rng, model);
  OperatorState state(model);
  state.update(s.q);
  const int n = model.nv(), samples = 20000;
  dense::Matrix M(n, n), found(n, n);
  MassMatrix<>(model).compute(s.q, M.numbers());
  Program draw(state, operators::parse("(I + H*phi*K)*root_D").node);
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  std::vector<double> y(n);
  for (int i = 0; i < samples; ++i) {
    for (double& x : y) x = normal(engine);
    draw.apply(y, y);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) found(r, c) += y[r] * y[c] / samples;
  }
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c)
      EXPECT_NEAR(found(r, c), M(r, c), 5 * std::sqrt((M(r, r) * M(c, c) + M(r, c) * M(r, c)) / samples));
}

}  // namespace
}  // namespace articula
