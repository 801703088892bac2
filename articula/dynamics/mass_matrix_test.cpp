#include "articula/dynamics/mass_matrix.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

TEST(MassMatrix, AgreesWithDense) {
  Worst worst("mass matrix");
  for_each_case([&](const Case& c) {
    MassMatrix<> work(c.model);
    std::vector<double> M(c.model.nv() * c.model.nv(), NAN);
    mass_matrix(work, c.state.q, M);
    EXPECT_LT(worst(relative_error(M, to_std(c.dense.mass_matrix))), 1e-13);
    EXPECT_EQ(M, mass_matrix(c.model, c.state.q));
  });
}

TEST(MassMatrix, InFloat) {
  Worst worst("mass matrix, float");
  for_each_case([&](const Case& c) {
    MassMatrix<float> work(c.model);
    std::vector<float> M(c.model.nv() * c.model.nv(), NAN), A(6 * c.model.nv(), NAN);
    mass_matrix(work, to_float(c.state.q), M);
    EXPECT_LT(worst(relative_error(to_double(M), to_std(c.dense.mass_matrix))), 1e-5);
    centroidal_map(work, to_float(c.state.q), A);
    EXPECT_LT(worst(relative_error(to_double(A), to_std(c.dense.centroidal_map))), 1e-5);
  });
}

/// Column j is the inverse dynamics of a unit acceleration.
TEST(MassMatrix, ColumnsAreInverseDynamics) {
  Worst worst("mass matrix against inverse dynamics");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    const auto M = mass_matrix(c.model, c.state.q);
    InverseDynamics<> work(c.model.with_gravity({0, 0, 0}));
    std::vector<double> columns(nv * nv), zero(nv), unit(nv), tau(nv);
    for (int j = 0; j < nv; ++j) {
      unit.assign(nv, 0);
      unit[j] = 1;
      inverse_dynamics(work, c.state.q, zero, unit, tau);
      for (int i = 0; i < nv; ++i) columns[i * nv + j] = tau[i];
    }
    EXPECT_LT(worst(relative_error(columns, M)), 1e-13);
  });
}

TEST(MassMatrix, IsSymmetricToTheLastBit) {
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    const auto M = mass_matrix(c.model, c.state.q);
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j < i; ++j) EXPECT_EQ(M[i * nv + j], M[j * nv + i]);
  });
}

TEST(CentroidalMap, AgreesWithDense) {
  Worst worst("centroidal map");
  for_each_case([&](const Case& c) {
    MassMatrix<> work(c.model);
    std::vector<double> A(6 * c.model.nv(), NAN);
    centroidal_map(work, c.state.q, A);
    EXPECT_LT(worst(relative_error(A, to_std(c.dense.centroidal_map))), 1e-13);
  });
}

TEST(CentroidalMap, TimesVelocityIsMomentum) {
  Worst worst("centroidal map times v against momentum");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    const auto A = centroidal_map(c.model, c.state.q);
    std::vector<double> h(6);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < nv; ++j) h[i] += A[i * nv + j] * c.state.v[j];
    const auto momentum = totals(c.model, c.state.q, c.state.v).momentum;
    EXPECT_LT(worst(relative_error(h, std::span(numbers_of(momentum), 6), 1e-3)), 1e-13);
  });
}

}  // namespace
}  // namespace articula::testing
