#include "articula/loops/constrained_operational_space.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/task_space.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;

MatrixXd eigen(const std::vector<double>& x, int rows, int columns) {
  return Eigen::Map<const Rows>(x.data(), rows, columns);
}
double error(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / std::max(1.0, b.norm()); }

/// Against the full KKT system, on trees with a ball or a weld between two links.
TEST(ConstrainedOperationalSpace, IsThatOfTheClosedMechanism) {
  int checked = 0, empty = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(6, 12);
    options.kinds = {JointKind::revolute, JointKind::prismatic, JointKind::spherical};
    options.mass_ratio = 5;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    State s = random_state(rng, model);
    const int links = static_cast<int>(spec.links.size()), nv = model.nv();
    const int one = model.frame(spec.links[links - 1].name), other = model.frame(spec.links[links / 2].name);
    Constraint c =
        rng.chance(0.5) ? ball("loop", {one, {}}, {other, {}}) : weld("loop", {one, {}}, {other, {}});
    attach(model, c, s.q);
    ConstrainedDynamics work(model, {c});
    work.impulse(s.q, s.v, s.v);
    const int frames[] = {model.frame(spec.links[links - 2].name), one};
    const ConstrainedTaskTerms found = constrained_operational_space(work, s.q, s.v, frames);

    const MatrixXd M = eigen(mass_matrix(model, s.q), nv, nv), Mi = M.inverse();
    std::vector<double> jc(static_cast<std::size_t>(work.rows()) * nv);
    work.jacobian(s.q, jc);
    const MatrixXd Jc = eigen(jc, work.rows(), nv);
    const MatrixXd Oc = Jc * Mi * Jc.transpose();
    // Where rows are nearly lost, roundings say what counts. Where all of them are nothing else (a ball at a spherical
    // joint's own centre), none does.
    const bool nothing = Oc.norm() < 1e-12;
    const VectorXd strength = Eigen::SelfAdjointEigenSolver<MatrixXd>(Oc).eigenvalues() / Oc.norm();
    if (!nothing && (strength.array() > 1e-14 && strength.array() < 1e-6).any()) continue;
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> pseudo;
    pseudo.setThreshold(1e-9);
    pseudo.compute(Oc);
    MatrixXd A = Mi;
    if (!nothing) A -= Mi * Jc.transpose() * pseudo.pseudoInverse() * Jc * Mi;
    empty += nothing;
    MatrixXd J(12, nv);
    Kinematics<> k(model);
    k.update(s.q, s.v, std::vector<double>(nv));
    for (int i = 0; i < 2; ++i) {
      std::vector<double> part(6 * static_cast<std::size_t>(nv));
      k.jacobian(frames[i], part);
      J.middleRows(6 * i, 6) = eigen(part, 6, nv);
    }
    const MatrixXd Omega = J * A * J.transpose();
    EXPECT_LT(error(eigen(found.omega, 12, 12), Omega), 1e-9);
    // Lambda is the inverse on the range of Omega, and F = Lambda u + c + g gives y'' = u there.
    const MatrixXd L = eigen(found.lambda, 12, 12);
    EXPECT_LT(error(Omega * L * Omega, Omega), 1e-7);
    EXPECT_LT(found.rank, 12 + 1);
    EXPECT_LT(error(eigen(found.jacobian_bar, nv, 12), A * J.transpose() * L), 1e-6);
    VectorXd u(12);
    for (int i = 0; i < 12; ++i) u[i] = rng.uniform();
    u = Omega * u;  // one that can be had
    const VectorXd F = L * u + eigen(found.coriolis, 12, 1) + eigen(found.gravity, 12, 1);
    const VectorXd T = J.transpose() * F;
    std::vector<double> a(nv);
    work.acceleration(s.q, s.v, std::vector<double>(T.data(), T.data() + nv), a);
    k.update(s.q, s.v, a);
    std::vector<double> none(nv), free_a(nv);
    work.acceleration(s.q, s.v, none, free_a);
    VectorXd y(12), y_free(12);
    for (int i = 0; i < 2; ++i) {
      const Spatial<double> x = k.acceleration(frames[i]);
      for (int r = 0; r < 6; ++r) y[6 * i + r] = numbers_of(x)[r];
    }
    k.update(s.q, s.v, free_a);
    for (int i = 0; i < 2; ++i) {
      const Spatial<double> x = k.acceleration(frames[i]);
      for (int r = 0; r < 6; ++r) y_free[6 * i + r] = numbers_of(x)[r];
    }
    // Of the acceleration without forces, c and g take away what lies in the range of Omega.
    EXPECT_LT(error(L * (y - u), MatrixXd::Zero(12, 1)), 1e-5 * std::max(1.0, L.norm() * y_free.norm()));
    ++checked;
  }
  EXPECT_GT(checked, 20);
  EXPECT_GT(empty, 0);
}

/// Without constraints: the tree's own.
TEST(ConstrainedOperationalSpace, OfATreeIsTheTrees) {
  Rng rng(3);
  RandomOptions options;
  options.links = 9;
  options.kinds = {JointKind::revolute};
  options.branching = Branching::chain;
  options.mass_ratio = 3;
  const ModelSpec spec = random_spec(rng, options);
  const Model model(spec);
  const State s = random_state(rng, model);
  ConstrainedDynamics work(model, {});
  const int frame = model.frame(spec.links.back().name);
  const ConstrainedTaskTerms found = constrained_operational_space(work, s.q, s.v, std::span(&frame, 1));
  TaskSpace space(model, pose_task(model, spec.links.back().name));
  space.update(s.q, s.v);
  std::vector<double> lambda(36), c(6), g(6);
  space.lambda(lambda), space.coriolis(c), space.gravity(g);
  EXPECT_EQ(found.rank, 6);
  EXPECT_LT(error(eigen(found.lambda, 6, 6), eigen(lambda, 6, 6)), 1e-9);
  EXPECT_LT(error(eigen(found.coriolis, 6, 1), eigen(c, 6, 1)), 1e-9);
  EXPECT_LT(error(eigen(found.gravity, 6, 1), eigen(g, 6, 1)), 1e-9);
}

}  // namespace
}  // namespace articula
