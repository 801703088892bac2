// LIN's matrices as expressions of the operator algebra, and (4.13) as the algebra derives it from (3.2).
#include <gtest/gtest.h>

#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/operators/derive.hpp"
#include "articula/operators/parse.hpp"
#include "articula/spatial/dense.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::OperatorState;
using operators::Program;

const char* const by_v = "2*H*phi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))";

/// LIN's joints: one axis each.
template <class F>
void for_each_tree(F&& f) {
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 12);
    options.kinds = {JointKind::revolute, JointKind::prismatic};
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    f(model, random_state(rng, model));
  }
}
double difference(const operators::Dense& found, const dense::Matrix& expected) {
  const dense::Matrix d = dense::view(found.numbers, found.rows, found.columns) - expected;
  return dense::largest(d) / std::max(1.0, dense::largest(expected));
}

TEST(RingOperators, TorqueByVelocity) {  // A_D of Lemma 3.1
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv();
    dense::Matrix dq(n, n), dv(n, n), da(n, n);
    LinearizedInverse<double> work(model);
    linearized_inverse<double>(work, s.q, s.v, s.a, dq.numbers(), dv.numbers(), da.numbers());
    OperatorState state(model);
    state.update(s.q, s.v);
    EXPECT_LT(difference(Program(state, operators::parse(by_v).node).dense(), dv), 1e-11);
  });
}

TEST(RingOperators, AccelerationByVelocityIsDerived) {  // A_C of Lemma 4.7, from Lemmas 3.1 and 4.1
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv();
    dense::Matrix dq(n, n), dv(n, n), dtau(n, n);
    LinearizedForward<double> work(model);
    linearized_forward<double>(work, s.q, s.v, s.tau, dq.numbers(), dv.numbers(), dtau.numbers());
    OperatorState state(model);
    state.update(s.q, s.v);
    const std::string text = std::string("-inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_v;
    const operators::Derivation d = operators::derive(state, operators::parse(text).node, true);
    EXPECT_LT(difference(Program(state, d.result).dense(), dv), 1e-9);
    for (const auto& step : d.steps) EXPECT_LT(step.residual, 1e-11) << step.text;
  });
}

TEST(RingOperators, TheFormIsThePapers) {  // (4.13)
  const Model model(make_chain(5));
  OperatorState state(model);
  state.update(neutral(model), std::vector<double>(model.nv(), 0.5));
  const std::string text = std::string("inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_v;
  const operators::Derivation d = operators::derive(state, operators::parse(text).node, true);
  EXPECT_EQ(d.steps.back().text,
            "2 K* psi* H_dot* + 2 [I - H psi K]* (D^-1 H psi (P H_dot* + P_ring H*) + K_ring* phi* H*)");
}

TEST(RingOperators, NeedVelocities) {
  const Model model(make_chain(2));
  OperatorState state(model);
  state.update(neutral(model));
  Program program(state, operators::parse("M_ring*star(phi)*star(H)*v").node);
  std::vector<double> out(12);
  const double v[] = {1, 2};
  EXPECT_THROW(program.evaluate({v}, out), ArgumentError);
}

}  // namespace
}  // namespace articula
