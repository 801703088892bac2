#include "articula/dynamics/coriolis.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix as_matrix(const std::vector<double>& x, int rows) {
  return Eigen::Map<const Matrix>(x.data(), rows, rows ? x.size() / rows : 0);
}

/// M at q (+) t v.
Matrix mass_at(const Model& model, const std::vector<double>& q, std::vector<double> v, double t) {
  for (double& x : v) x *= t;
  return as_matrix(mass_matrix(model, manifold_add(model, q, v)), model.nv());
}

template <class F>
void for_random_trees(int seeds, F&& f, std::vector<JointKind> kinds = all_joint_kinds()) {
  for (int seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 12);
    options.kinds = kinds;
    options.mimic = seed % 3 == 0 ? 0.3 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    f(rng, model, random_state(rng, model));
  }
}

TEST(Coriolis, TimesVelocityIsTheBiasLessGravity) {
  for_random_trees(30, [](Rng&, const Model& model, const State& s) {
    const Matrix C = as_matrix(coriolis_matrix(model, s.q, s.v), model.nv());
    const auto bias = bias_forces(model, s.q, s.v), gravity = gravity_forces(model, s.q);
    Eigen::VectorXd Cv = C * Eigen::Map<const Eigen::VectorXd>(s.v.data(), s.v.size());
    for (int i = 0; i < model.nv(); ++i) Cv[i] += gravity[i];
    EXPECT_LT(relative_error(std::vector<double>(Cv.data(), Cv.data() + Cv.size()), bias), 1e-11);
  });
}

TEST(Coriolis, RateOfTheMassMatrixIsItsSymmetricPart) {
  for_random_trees(30, [](Rng&, const Model& model, const State& s) {
    const Matrix rate = as_matrix(mass_matrix_rate(model, s.q, s.v), model.nv());
    const Matrix C = as_matrix(coriolis_matrix(model, s.q, s.v), model.nv());
    EXPECT_LT((rate - C - C.transpose()).cwiseAbs().maxCoeff(), 1e-13 * (1 + C.cwiseAbs().maxCoeff()));
    // Richardson: fourth order in h.
    const double h = 1e-3;
    const Matrix d1 = (mass_at(model, s.q, s.v, h) - mass_at(model, s.q, s.v, -h)) / (2 * h);
    const Matrix d2 = (mass_at(model, s.q, s.v, 2 * h) - mass_at(model, s.q, s.v, -2 * h)) / (4 * h);
    const Matrix d = (4 * d1 - d2) / 3;
    EXPECT_LT((rate - d).cwiseAbs().maxCoeff(), 1e-8 * (1 + d.cwiseAbs().maxCoeff()));
  });
}

TEST(Coriolis, ChristoffelSymbolsAreThoseOfTheMassMatrix) {
  // One freedom per joint: Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2   MR9 (9.13), (9.86)
  const std::vector<JointKind> kinds{JointKind::revolute,  JointKind::continuous, JointKind::prismatic,
                                     JointKind::universal, JointKind::helical,    JointKind::cylindrical,
                                     JointKind::fixed};
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 7);
    options.kinds = kinds;
    options.mimic = seed % 3 == 0 ? 0.3 : 0;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec);
    const int nv = model.nv();
    const auto q = random_configuration(rng, model);
    const auto gamma = christoffel_symbols(model, q);
    std::vector<Matrix> dM;
    for (int k = 0; k < nv; ++k) {
      std::vector<double> unit(nv);
      unit[k] = 1;
      const double h = 1e-3;
      const Matrix d1 = (mass_at(model, q, unit, h) - mass_at(model, q, unit, -h)) / (2 * h);
      const Matrix d2 = (mass_at(model, q, unit, 2 * h) - mass_at(model, q, unit, -2 * h)) / (4 * h);
      dM.push_back((4 * d1 - d2) / 3);
    }
    const double scale = 1 + largest(gamma);
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j < nv; ++j)
        for (int k = 0; k < nv; ++k) {
          const double expected = (dM[k](i, j) + dM[j](i, k) - dM[i](j, k)) / 2;
          EXPECT_NEAR(gamma[(k * nv + i) * nv + j], expected, 1e-8 * scale) << i << ' ' << j << ' ' << k;
          EXPECT_NEAR(gamma[(k * nv + i) * nv + j], gamma[(j * nv + i) * nv + k], 1e-12 * scale);
        }
  }
}

TEST(Coriolis, IsLinearInVelocity) {
  for_random_trees(6, [](Rng&, const Model& model, const State& s) {
    const int nv = model.nv();
    const auto gamma = christoffel_symbols(model, s.q);
    const auto C = coriolis_matrix(model, s.q, s.v);
    std::vector<double> sum(C.size());
    for (int k = 0; k < nv; ++k)
      for (int i = 0; i < nv * nv; ++i) sum[i] += gamma[static_cast<std::size_t>(k) * nv * nv + i] * s.v[k];
    EXPECT_LT(relative_error(sum, C, 1e-3), 1e-11);
  });
}

TEST(Coriolis, AFarAwayBaseLosesNothing) {
  Rng rng(5);
  const ModelSpec spec = random_spec(rng, {.links = 6, .mass_ratio = 5});
  const Model model(spec, {.base = Base::free});
  State s = random_state(rng, model);
  const auto near = coriolis_matrix(model, s.q, s.v);
  s.q[4] += 1e3, s.q[5] -= 2e3;
  EXPECT_LT(relative_error(coriolis_matrix(model, s.q, s.v), near), 1e-12);
}

TEST(Coriolis, SaysWhichSizeIsWrong) {
  const Model model(one_joint_spec(JointKind::revolute));
  EXPECT_THROW(coriolis_matrix(model, std::vector<double>{1, 2}, std::vector<double>{1}), ArgumentError);
}

}  // namespace
}  // namespace articula
