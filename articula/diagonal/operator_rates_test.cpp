#include "articula/diagonal/operator_rates.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Dense = operators::Dense;
using Eigen::MatrixXd;

MatrixXd eigen(const Dense& d) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(d.numbers.data(), d.rows,
                                                                          d.columns);
}
double error(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / std::max(1.0, b.norm()); }

void for_each_model(const std::function<void(const Model&, const testing::State&)>& f,
                    double armature = 0.3) {
  int seed = 0;
  const auto one = [&](std::vector<JointKind> kinds, Base base) {
    Rng rng(++seed);
    RandomOptions options;
    options.links = 5;
    options.kinds = std::move(kinds);
    options.mass_ratio = 5;
    options.armature = armature;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec, {.base = base});
    f(model, random_state(rng, model));
  };
  for (const JointKind kind : moving_joint_kinds()) one({kind, JointKind::revolute}, Base::fixed);
  for (int i = 0; i < 4; ++i) one(all_joint_kinds(), i % 2 ? Base::fixed : Base::free);
}

/// Table 1: both derivatives of every operator against central differences.
TEST(OperatorRates, AreDerivativesOfTheOperators) {
  Worst worst("operator derivatives against differences");
  for_each_model([&](const Model& model, const testing::State& s) {
    const OperatorRates rates = operator_rates(model, s.q, s.v);
    const double h = 1e-5;
    const OperatorRates plus = operator_rates(model, manifold_add(model, s.q, scaled(s.v, h)), s.v);
    const OperatorRates minus = operator_rates(model, manifold_add(model, s.q, scaled(s.v, -h)), s.v);
    for (const auto& o : rates.operators) {
      const MatrixXd a = eigen(plus[o.name].value), b = eigen(minus[o.name].value);
      EXPECT_LT(worst(error(eigen(o.inertial), (a - b) / (2 * h))), 1e-7) << o.name << ", inertial";
      // The same in body axes: A* X A, with A only on the sides that are body space.
      const auto in_body_axes = [&](const OperatorRates& at, const MatrixXd& x) -> MatrixXd {
        const MatrixXd A = eigen(at.axes);
        MatrixXd y = x;
        if (y.rows() == A.rows()) y = A.transpose() * y;
        if (y.cols() == A.rows()) y = y * A;
        return y;
      };
      const MatrixXd rate = (in_body_axes(plus, a) - in_body_axes(minus, b)) / (2 * h);
      EXPECT_LT(worst(error(in_body_axes(rates, eigen(o.local)), rate)), 1e-7) << o.name << ", local";
    }
    EXPECT_LT(worst(error(eigen(rates.m_dot), (eigen(plus.m) - eigen(minus.m)) / (2 * h))), 1e-7) << "m";
  });
}

TEST(OperatorRates, ValuesAreThoseOfTheLibrary) {
  for_each_model([&](const Model& model, const testing::State& s) {
    const OperatorRates rates = operator_rates(model, s.q, s.v);
    const MatrixXd m = eigen(rates.m);
    MassFactor<> factor(model);
    factor.factor(s.q);
    const int n = model.nv();
    for (int j = 0; j < n; ++j) {
      Vector column(n);
      factor.times_root(unit(n, j), column);
      EXPECT_LT(error(m.col(j), Eigen::Map<Eigen::VectorXd>(column.data(), n)), 1e-11);
    }
  });
}

/// The forms that DIAG prints, where they hold: joints of one freedom, no rotor inertia.
TEST(OperatorRates, PrintedFormsForOneFreedom) {
  for (int seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = 6;
    options.kinds = {JointKind::revolute, JointKind::prismatic, JointKind::helical};
    options.mass_ratio = 5;
    options.armature = 0;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec);
    const testing::State s = random_state(rng, model);
    const OperatorRates rates = operator_rates(model, s.q, s.v);
    const auto get = [&](const char* name) { return eigen(rates[name].value); };
    const MatrixXd Od = eigen(rates.Omega_delta), P = get("P"), P_dot = eigen(rates["P"].local), H = get("H"),
                   D = get("D"), phi = get("phi"), tau_bar = get("tau_bar"), E_psi = get("E_psi"),
                   lambda = eigen(rates.lambda), one = MatrixXd::Identity(P.rows(), P.cols());
    const MatrixXd inv_root = D.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
    // (16), (21)
    EXPECT_LT(error(E_psi * lambda * E_psi.transpose(), P_dot), 1e-11);
    EXPECT_LT(error(E_psi * lambda * E_psi.transpose() + Od * P + P * Od.transpose(), lambda), 1e-11);
    // (29), and (30) with phi - Id and lambda in the place of phi and P'
    const MatrixXd m29 = H * phi * (Od * phi * P + 0.5 * (one + tau_bar) * P_dot) * H.transpose() * inv_root;
    EXPECT_LT(error(m29, eigen(rates.m_dot)), 1e-11);
    const MatrixXd m30 =
        H * phi * (Od * (phi - one) * P + 0.5 * (one + tau_bar) * lambda) * H.transpose() * inv_root;
    EXPECT_LT(error(m30, eigen(rates.m_dot)), 1e-11);
    // Table 1, row 8
    const MatrixXd row8 =
        E_psi * (-P_dot * H.transpose() * D.diagonal().cwiseInverse().asDiagonal() * H + Od * tau_bar);
    EXPECT_LT(error(row8, eigen(rates["E_psi"].local)), 1e-11);
  }
}

TEST(CoriolisComponents, AddUpToTheRecursion) {
  Worst worst("component form (48) against the recursion");
  for_each_model([&](const Model& model, const testing::State& s) {
    const CoriolisComponents parts = coriolis_components(model, s.q, s.v);
    DiagonalizedDynamics work(model);
    work.update(s.q);
    Vector nu(model.nv()), C(model.nv());
    work.rates_to_nu(s.v, nu);
    work.coriolis_nu(nu, C);
    EXPECT_LT(relative_error(parts.nu, nu), 1e-11);
    Vector sum_of(model.nv());
    for (int i = 0; i < model.nv(); ++i) {
      sum_of[i] = parts.bias[i];
      for (int j = 0; j < model.nv(); ++j) {
        sum_of[i] += parts.c(i, j) * nu[j];
        EXPECT_NEAR(parts.c(i, j), -parts.c(j, i), 1e-10 * (1 + std::abs(parts.c(i, j))));
      }
    }
    EXPECT_LT(worst(relative_error(sum_of, C, 1)), 1e-10);
  });
}

}  // namespace
}  // namespace articula
