#include "articula/operators/acceleration_covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/model/chain.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/dense.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::AccelerationCovariance;
using operators::Deviations;
using operators::OperatorState;
using operators::Program;

dense::Matrix matrix(OperatorState& state, const char* text) {
  const operators::Dense d = Program(state, operators::parse(text).node).dense();
  return dense::Matrix(dense::view(d.numbers, d.rows, d.columns));
}
std::vector<double> positive(Rng& rng, std::size_t size) {
  std::vector<double> x = random_vector(rng, size);
  for (double& y : x) y = std::abs(y);
  return x;
}
/// J diag(deviation)^2 J*
dense::Matrix spread(const dense::Matrix& J, std::span<const double> deviation) {
  dense::Matrix scaled = J;
  for (int i = 0; i < J.rows(); ++i)
    for (int j = 0; j < J.columns(); ++j) scaled(i, j) *= deviation[j];
  return scaled * dense::star(scaled);
}

struct Case {
  Model model;
  State state;
};
std::vector<Case> trees(int count) {
  std::vector<Case> all;
  for (int seed = 1; seed <= count; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, 12);
    options.mass_ratio = 10;
    Model model(random_spec(rng, options), {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.body_count() == 0) continue;
    State state = random_state(rng, model);
    all.push_back({std::move(model), std::move(state)});
  }
  return all;
}

/// Against M^-1 and M^-1 H phi as whole matrices.
TEST(AccelerationCovariance, EqualsTheDenseComputation) {
  int seed = 0;
  for (const auto& [model, s] : trees(60)) {
    Rng rng(1000 + ++seed);
    const int nv = model.nv(), bodies = model.body_count();
    const auto of_tau = positive(rng, nv), of_wrenches = positive(rng, 6 * bodies),
               of_masses = positive(rng, bodies);
    AccelerationCovariance work(model);
    work.compute(s.q, s.v, s.tau, {of_tau, of_wrenches, of_masses});
    std::vector<double> found(nv);
    work.joints(found);

    OperatorState state(model);
    state.update(s.q, s.v);
    const dense::Matrix by_tau = matrix(state, "inv(H*phi*M*star(phi)*star(H) + rotor)");
    const dense::Matrix by_wrench = by_tau * matrix(state, "H*phi");
    // what a share of each body's mass does: its force M alpha + b
    std::vector<double> force(6 * bodies);
    const auto th = forward_dynamics(model, s.q, s.v, s.tau);
    Program(state, operators::parse("M*(star(phi)*(star(H)*x + a_bias + star(E)*a_g)) + b_bias").node)
        .evaluate({th}, force);
    dense::Matrix shares(6 * bodies, bodies);
    for (int k = 0; k < bodies; ++k)
      for (int i = 0; i < 6; ++i) shares(6 * k + i, k) = force[6 * k + i];
    const dense::Matrix covariance =
        spread(by_tau, of_tau) + spread(by_wrench, of_wrenches) + spread(by_wrench * shares, of_masses);
    double most = 0;
    for (int i = 0; i < nv; ++i) most = std::max(most, covariance(i, i));
    for (int i = 0; i < nv; ++i)
      EXPECT_NEAR(found[i] * found[i], covariance(i, i), 1e-9 * most) << "seed " << seed;

    const dense::Matrix to_bodies = matrix(state, "star(phi)*star(H)");
    const dense::Matrix of_bodies = to_bodies * covariance * dense::star(to_bodies);
    for (int k = 0; k < bodies; ++k) {
      const double scale = dense::largest(of_bodies.block(6 * k, 6 * k, 6, 6));
      for (int c = 0; c < 36; ++c)
        EXPECT_NEAR(work.body(k)[c], of_bodies(6 * k + c / 6, 6 * k + c % 6), 1e-9 * scale);
    }
    const int frame = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
    const std::string B = "star(B('" + model.frames()[frame].name + "'))";
    const dense::Matrix to_frame = matrix(state, (B + "*star(phi)*star(H)").c_str());
    const dense::Matrix of_frame = to_frame * covariance * dense::star(to_frame);
    for (int c = 0; c < 36; ++c)
      EXPECT_NEAR(work.frame(frame)[c], of_frame(c / 6, c % 6),
                  1e-9 * std::max(1.0, dense::largest(of_frame)));
  }
}

TEST(AccelerationCovariance, RefusesWhatIsWrong) {
  const Model model(make_chain(3));
  AccelerationCovariance work(model);
  const std::vector<double> q(3), two(2), negative{-1, 0, 0};
  EXPECT_THROW(work.compute(q, {}, {}, {.tau = two}), ArgumentError);
  EXPECT_THROW(work.compute(q, {}, {}, {.tau = negative}), ArgumentError);
  EXPECT_THROW(work.compute(two, {}, {}, {}), ArgumentError);
}

}  // namespace
}  // namespace articula
