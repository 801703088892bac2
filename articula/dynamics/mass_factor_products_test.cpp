#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class F>
void for_random_trees(int seeds, double mimic, F&& f) {
  for (int seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 14);
    options.mimic = mimic;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.nv() == 0) continue;
    const auto q = random_configuration(rng, model);
    const auto numbers = mass_matrix(model, q);
    MassFactor<> factor(model);
    factor.factor(q);
    f(rng, model, q, Matrix(Eigen::Map<const Matrix>(numbers.data(), model.nv(), model.nv())), factor);
  }
}

TEST(MassFactorProducts, MultipliesAndSolvesSeveral) {
  for (const double mimic : {0.0, 0.4})
    for_random_trees(
        20, mimic, [](Rng& rng, const Model& model, const auto&, const Matrix& M, MassFactor<>& factor) {
          const int nv = model.nv();
          const auto x = random_vector(rng, nv);
          std::vector<double> y(nv);
          factor.multiply(x, y);
          const Eigen::VectorXd Mx = M * Eigen::Map<const Eigen::VectorXd>(x.data(), nv);
          EXPECT_LT(relative_error(y, std::span(Mx.data(), nv)), 1e-12);
          for (const int columns : {1, 3, 8, 13}) {
            const auto T = random_vector(rng, nv * columns);
            std::vector<double> X(nv * columns), t(nv), one(nv), column(nv);
            factor.solve_columns(T, X, columns);
            for (int c = 0; c < columns; ++c) {
              for (int i = 0; i < nv; ++i) t[i] = T[i * columns + c], column[i] = X[i * columns + c];
              factor.solve(t, one);
              EXPECT_LT(relative_error(column, one), 1e-12);
            }
          }
          const Eigen::LLT<Eigen::MatrixXd> llt(M);
          const double log_det = 2 * Eigen::MatrixXd(llt.matrixL()).diagonal().array().log().sum();
          EXPECT_NEAR(factor.log_determinant(), log_det, 1e-9 * (1 + std::abs(log_det)));
        });
}

TEST(MassFactorProducts, FactorAndRoot) {
  for_random_trees(
      20, 0, [](Rng& rng, const Model& model, const auto&, const Matrix& M, MassFactor<>& factor) {
        const int nv = model.nv();
        const auto dense = [&](auto&& apply) {
          Matrix m(nv, nv);
          std::vector<double> unit(nv), y(nv);
          for (int j = 0; j < nv; ++j) {
            unit[j] = 1;
            apply(unit, y);
            unit[j] = 0;
            for (int i = 0; i < nv; ++i) m(i, j) = y[i];
          }
          return m;
        };
        const Matrix F = dense([&](auto& x, auto& y) { factor.times_factor(x, y); });
        const Matrix Fs = dense([&](auto& x, auto& y) { factor.times_factor_star(x, y); });
        const Matrix W = dense([&](auto& x, auto& y) { factor.solve_factor(x, y); });
        const Matrix Ws = dense([&](auto& x, auto& y) { factor.solve_factor_star(x, y); });
        const Matrix m = dense([&](auto& x, auto& y) { factor.times_root(x, y); });
        const Matrix ms = dense([&](auto& x, auto& y) { factor.times_root_star(x, y); });
        const Matrix l = dense([&](auto& x, auto& y) { factor.solve_root(x, y); });
        const Matrix ls = dense([&](auto& x, auto& y) { factor.solve_root_star(x, y); });
        const double scale = M.cwiseAbs().maxCoeff(), f = F.cwiseAbs().maxCoeff() * W.cwiseAbs().maxCoeff();
        const Matrix I = Matrix::Identity(nv, nv);
        EXPECT_LT((F - Fs.transpose()).cwiseAbs().maxCoeff(), 1e-12 * F.cwiseAbs().maxCoeff());
        EXPECT_LT((W - Ws.transpose()).cwiseAbs().maxCoeff(), 1e-12 * W.cwiseAbs().maxCoeff());
        EXPECT_LT((F * W - I).cwiseAbs().maxCoeff(), 1e-12 * f);
        EXPECT_LT((m - ms.transpose()).cwiseAbs().maxCoeff(), 1e-12 * m.cwiseAbs().maxCoeff());
        EXPECT_LT((l - ls.transpose()).cwiseAbs().maxCoeff(), 1e-12 * l.cwiseAbs().maxCoeff());
        EXPECT_LT((m * ms - M).cwiseAbs().maxCoeff(), 1e-12 * scale);
        EXPECT_LT((l * M * ls - I).cwiseAbs().maxCoeff(), 1e-9);
        // det M is the product of the determinants of D by joint, and the least pivot is one of theirs.
        const auto weakest = factor.weakest_joint();
        EXPECT_GT(weakest.pivot, 0);
        EXPECT_LE(weakest.pivot, weakest.largest_pivot);
        const auto D = factor.D(weakest.joint);
        ASSERT_GT(D.freedoms, 0);
        for (int i = 0; i < D.freedoms; ++i)
          EXPECT_GE(D.numbers[i * D.freedoms + i] * (1 + 1e-12), weakest.pivot);
        (void)rng;
      });
}

TEST(MassFactorProducts, FramesOfAnySet) {
  for (const double mimic : {0.0, 0.4})
    for_random_trees(
        20, mimic, [](Rng& rng, const Model& model, const auto& q, const Matrix& M, MassFactor<>& factor) {
          const int nv = model.nv();
          Kinematics<> kinematics(model);
          kinematics.update(q);
          std::vector<int> frames;
          for (int i = rng.integer(1, 6); i > 0; --i)
            frames.push_back(rng.integer(0, static_cast<int>(model.frames().size()) - 1));
          const int m = static_cast<int>(frames.size());
          Matrix J(6 * m, nv);
          for (int i = 0; i < m; ++i) {
            std::vector<double> Ji(6 * nv);
            kinematics.jacobian(frames[i], Ji);
            J.middleRows(6 * i, 6) = Eigen::Map<const Matrix>(Ji.data(), 6, nv);
          }
          const Matrix expected = J * Eigen::LLT<Eigen::MatrixXd>(M).solve(Eigen::MatrixXd(J.transpose()));
          std::vector<double> result(36 * m * m);
          factor.frame_inertia_inverse(frames, result);
          EXPECT_LT(relative_error(result, std::span(expected.data(), expected.size()), 1e-6), 1e-9);
        });
}

TEST(MassFactorProducts, NamesTheWeakJoint) {
  ModelSpec spec = one_joint_spec(JointKind::revolute);
  const Model model(spec);
  MassFactor<> factor(model);
  factor.factor(std::vector<double>{0.2});
  EXPECT_EQ(factor.weakest_joint().joint, 0);
  EXPECT_THROW(factor.D(1), ArgumentError);
}

TEST(MassFactorProducts, RefusesTheFactorWithMimicJoints) {
  Rng rng(4);
  for (int seed = 1; seed < 50; ++seed) {
    const Model model(random_spec(rng, {.mimic = 0.8}));
    if (!model.has_mimics()) continue;
    MassFactor<> factor(model);
    factor.factor(random_configuration(rng, model));
    std::vector<double> x(model.nv()), y(model.nv());
    EXPECT_THROW(factor.times_factor(x, y), ArgumentError);
    return;
  }
  FAIL() << "no random model had mimic joints";
}

/// A pointer without mass that follows a link: untied, nothing would resist it, and the factor is a dense
/// one.
TEST(MassFactorProducts, MimicJointWithNothingOfItsOwnToMove) {
  ModelSpec spec;
  spec.name = "pointer";
  spec.links = {{"base", {}},
                {"arm", {.mass = 2, .center_of_mass = {0.1, 0.2, 0.3}, .inertia = {1, 2, 3, 0, 0, 0}}},
                {"pointer", {}}};
  JointSpec arm, pointer;
  arm.name = "shoulder", arm.parent = "base", arm.child = "arm", arm.kind = JointKind::revolute,
  arm.axis = {0, 1, 0};
  pointer.name = "follower", pointer.parent = "arm", pointer.child = "pointer",
  pointer.kind = JointKind::revolute;
  pointer.axis = {0, 0, 1}, pointer.placement.p = {0.5, 0, 0.2}, pointer.mimic = Mimic{"shoulder", -2, 0.1};
  spec.joints = {arm, pointer};
  const Model model(spec);
  MassFactor<> factor(model);
  for (const double angle : {0.3, -1.1}) {  // a second configuration: nothing may be left of the first
    const std::vector<double> q{angle}, one{1};
    factor.factor(q);
    std::vector<double> y(1), Omega(36);
    factor.multiply(one, y);
    const double M = mass_matrix(model, q)[0];
    EXPECT_NEAR(y[0], M, 1e-14 * M);
    const int frame = model.frame("pointer");
    factor.frame_inertia_inverse(std::span(&frame, 1), Omega);
    const std::vector<double> J = jacobian(model, q, "pointer");
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) EXPECT_NEAR(Omega[6 * i + j], J[i] * J[j] / M, 1e-13) << i << " " << j;
  }
}

}  // namespace
}  // namespace articula
