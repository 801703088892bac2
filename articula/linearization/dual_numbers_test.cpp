// The linearizations against the dynamics kernels' own text, run with dual numbers: exact derivatives.
#include <gtest/gtest.h>

#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/forward_dynamics_text.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/dual.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

using D = Dual<double>;

TEST(Dual, HasTheArithmeticOfNumbersAndTheirDerivatives) {
  const D x(0.7, 1);
  const auto check = [](const D& y, double value, double derivative) {
    EXPECT_NEAR(y.x, value, 1e-15);
    EXPECT_NEAR(y.d, derivative, 1e-15);
  };
  check(x * x - 2.0 * x + 3.0, 0.49 - 1.4 + 3, 1.4 - 2);
  check(1.0 / x, 1 / 0.7, -1 / 0.49);
  check(x / (x + 1.0), 0.7 / 1.7, 1 / (1.7 * 1.7));
  check(square_root(x), std::sqrt(0.7), 0.5 / std::sqrt(0.7));
  check(sincos(x * 2.0).sin, std::sin(1.4), 2 * std::cos(1.4));
  check(sincos(x * 2.0).cos, std::cos(1.4), -2 * std::sin(1.4));
  check(smaller(x, D(1)), 0.7, 1);
  check(smaller(D(0.5), x), 0.5, 0);
  // Twice: d^2/dx^2 of x^3 is 6 x.
  using DD = Dual<D>;
  const DD z(D(0.7, 1), D(1, 0)), cube = z * z * z;
  EXPECT_NEAR(cube.d.d, 6 * 0.7, 1e-15);
}

/// Full coordinates are the model's own: no mimic joints.
struct Duals {
  explicit Duals(const Model& model)
      : tree(model.tree<double>()),
        x(static_cast<std::size_t>(tree.slots()) * body::count),
        side(static_cast<std::size_t>(tree.slots()) * side_count),
        K(6 * static_cast<std::size_t>(tree.nv) + 1),
        nu(static_cast<std::size_t>(tree.nv) + 1),
        lambda(6 * static_cast<std::size_t>(tree.slots())) {
    m.x = x.data(), m.side = side.data(), m.K = K.data(), m.nu = nu.data(), m.lambda = lambda.data();
  }
  static std::vector<D> lift(std::span<const double> x, std::span<const double> d) {
    std::vector<D> out(x.size() + 1);
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = {x[i], d[i]};
    return out;
  }
  static Vector derivatives(const std::vector<D>& x, std::size_t n) {
    Vector out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = x[i].d;
    return out;
  }
  const Tree<double>& tree;
  std::vector<D> x, side, K, nu, lambda;
  KernelMemory<D> m;
};

TEST(Dual, InverseAndForwardDynamicsGiveTheLinearizations) {
  Worst worst_inverse("Algorithm 1 against dual numbers"), worst_forward("Algorithm 5 against dual numbers");
  for_each_case([&](const Case& c) {
    if (c.model.has_mimics()) return;
    const State& s = c.state;
    const std::size_t n = c.model.nv();
    Rng rng(17);
    const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), last = random_vector(rng, n);
    Vector q_dot(c.model.nq()), expected(n), result(n);
    coordinate_rates(c.model, s.q, dq, q_dot);
    Vector wrenches(6 * s.wrenches.size() + 1), none(wrenches.size());
    for (std::size_t i = 0; i < s.wrenches.size(); ++i) scatter<1>(s.wrenches[i], wrenches.data() + 6 * i);
    Duals duals(c.model);
    const auto q = Duals::lift(s.q, q_dot), v = Duals::lift(s.v, dv), a = Duals::lift(s.a, last),
               tau = Duals::lift(s.tau, last), w = Duals::lift(wrenches, none);
    const LinearizationOptions<double> options{.wrenches = s.wrenches, .method = Method::direct};

    std::vector<D> out(n + 1);
    portable::inverse_dynamics<D>(duals.tree, q.data(), v.data(), a.data(), w.data(), duals.m, out.data());
    LinearizedInverse<> inverse(c.model);
    perturbed_inverse(inverse, s.q, s.v, s.a, dq, dv, last, result, options);
    EXPECT_LT(worst_inverse(relative_error(result, Duals::derivatives(out, n), 1)), 1e-11);

    portable::forward_dynamics<D>(duals.tree, q.data(), v.data(), tau.data(), w.data(), duals.m, out.data());
    LinearizedForward<> forward(c.model);
    perturbed_forward(forward, s.q, s.v, s.tau, dq, dv, last, result, options);
    const double condition = n == 0 ? 1 : std::max(1.0, double(c.dense.condition_number()) * 1e-3);
    EXPECT_LT(worst_forward(relative_error(result, Duals::derivatives(out, n), 1)), 1e-11 * condition);
  });
}

}  // namespace
}  // namespace articula::testing
