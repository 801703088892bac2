#include "articula/dynamics/mass_factor.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(InverseMassMatrix, AgreesWithDense) {
  Worst worst("inverse mass matrix");
  for_each_case([&](const Case& c) {
    MassFactor<> work(c.model);
    std::vector<double> inverse(c.model.nv() * c.model.nv(), NAN);
    inverse_mass_matrix(work, c.state.q, inverse);
    EXPECT_LT(worst(relative_error(inverse, to_std(c.dense.inverse_mass_matrix()))), 1e-12);
    EXPECT_EQ(inverse, inverse_mass_matrix(c.model, c.state.q));
  });
}

TEST(InverseMassMatrix, InFloat) {
  Worst worst("inverse mass matrix, float, over the condition number");
  for_each_case([&](const Case& c) {
    if (c.model.nv() == 0) return;
    MassFactor<float> work(c.model);
    std::vector<float> inverse(c.model.nv() * c.model.nv(), NAN);
    inverse_mass_matrix(work, to_float(c.state.q), inverse);
    const double error = relative_error(to_double(inverse), to_std(c.dense.inverse_mass_matrix()));
    EXPECT_LT(worst(error / static_cast<double>(c.dense.condition_number())), 1e-5);
  });
}

TEST(InverseMassMatrix, TimesMassMatrixIsIdentity) {
  Worst worst("M M^-1 - Id over the condition number");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    if (nv == 0) return;
    const auto M = mass_matrix(c.model, c.state.q), inverse = inverse_mass_matrix(c.model, c.state.q);
    const Matrix product =
        Eigen::Map<const Matrix>(M.data(), nv, nv) * Eigen::Map<const Matrix>(inverse.data(), nv, nv);
    const double error = (product - Matrix::Identity(nv, nv)).cwiseAbs().maxCoeff();
    EXPECT_LT(worst(error / static_cast<double>(c.dense.condition_number())), 1e-14);
  });
}

TEST(InverseMassMatrix, IsSymmetric) {
  Worst worst("asymmetry of M^-1");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    const auto inverse = inverse_mass_matrix(c.model, c.state.q);
    std::vector<double> transposed(inverse.size());
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j < nv; ++j) transposed[i * nv + j] = inverse[j * nv + i];
    EXPECT_LT(worst(relative_error(transposed, inverse)), 1e-13);
  });
}

/// a = M^-1 (tau - bias), from the three algorithms.
TEST(MassFactor, SolvesForwardDynamics) {
  Worst worst_solve("solve against forward dynamics"),
      worst_product("M^-1 (tau - bias) against forward dynamics");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    const auto bias = bias_forces(c.model, c.state.q, c.state.v);
    std::vector<double> rest(nv), a(nv), product(nv);
    for (int i = 0; i < nv; ++i) rest[i] = c.state.tau[i] - bias[i];
    MassFactor<> work(c.model);
    work.factor(c.state.q);
    work.solve(rest, a);
    const auto expected = forward_dynamics(c.model, c.state.q, c.state.v, c.state.tau);
    EXPECT_LT(worst_solve(relative_error(a, expected)), 1e-11);
    const auto inverse = inverse_mass_matrix(c.model, c.state.q);
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j < nv; ++j) product[i] += inverse[i * nv + j] * rest[j];
    EXPECT_LT(worst_product(relative_error(product, expected)), 1e-11);
  });
}

}  // namespace
}  // namespace articula::testing
