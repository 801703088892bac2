#include "articula/operators/derive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/read_model.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/operators/parse.hpp"
#include "articula/spatial/dense.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::Derivation;
using operators::OperatorState;
using operators::Program;

const std::string mass = "H*phi*M*star(phi)*star(H) + rotor";

/// Random trees over all joint kinds, some with rotor inertia.
template <class F>
void for_each_tree(int count, F&& f) {
  for (int seed = 1; seed <= count; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 12);
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.body_count() == 0) continue;
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    f(model, random_state(rng, model), rng);
  }
}
Derivation derived(OperatorState& state, const std::string& text, bool matrix = false) {
  const Derivation d = operators::derive(state, operators::parse(text).node, matrix);
  EXPECT_TRUE(d.checked);
  for (const auto& step : d.steps) EXPECT_LT(step.residual, 1e-11) << step.identity << ": " << step.text;
  return d;
}
bool passes_through(const Derivation& d, const std::string& text) {
  return std::any_of(d.steps.begin(), d.steps.end(), [&](const auto& step) { return step.text == text; });
}

TEST(Derive, TheInverseOfTheMassOperator) {  // JPL88 (4.16), from (a.48)
  for_each_tree(20, [](const Model& model, const State& s, Rng&) {
    OperatorState state(model);
    state.update(s.q);
    const Derivation d = derived(state, "inv(" + mass + ")");
    EXPECT_EQ(d.steps.back().text, "[I - H psi K]* D^-1 [I - H psi K]");
    const operators::Dense found = Program(state, d.result).dense();
    const int n = model.nv();
    dense::Matrix M(n, n);
    MassMatrix<>(model).compute(s.q, M.numbers());
    const dense::Matrix one = M * dense::view(found.numbers, n, n) - dense::Matrix::identity(n);
    EXPECT_LT(dense::largest(one), 1e-9);
  });
}

TEST(Derive, ForwardDynamicsWithTwoSweeps) {  // FD3, then FD4 (5.13)-(5.17), from FD1
  for_each_tree(6, [](const Model& model, const State& s, Rng&) {
    OperatorState state(model);
    state.update(s.q, s.v);
    const Derivation d =
        derived(state, "inv(" + mass + ")*(tau - H*phi*(M*star(phi)*(a_bias + star(E)*a_g) + b_bias))");
    Program program(state, d.result);
    EXPECT_EQ(program.sweeps(), 2);
    std::vector<double> found(model.nv()), expected(model.nv());
    program.evaluate({s.tau}, found);
    ForwardDynamics<>(model).compute(s.q, s.v, s.tau, expected, {});
    double most = 1;
    for (const double x : expected) most = std::max(most, std::abs(x));
    for (int i = 0; i < model.nv(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9 * most);
  });
}
TEST(Derive, PassesThroughTheFormsOfThePaper) {
  const Model model(make_chain(4));
  OperatorState state(model);
  state.update(neutral(model), std::vector<double>(model.nv(), 1.0));
  const Derivation d = derived(state, "inv(" + mass + ")*(tau - H*phi*(M*star(phi)*a_bias + b_bias))");
  EXPECT_TRUE(
      passes_through(d, "-[I - H psi K]* D^-1 (H psi (M phi* a_bias + b_bias) - [I - H psi K] tau)"));  // FD3
  EXPECT_EQ(d.steps.back().text,
            "-K* psi* a_bias - [I - H psi K]* D^-1 (H psi (P a_bias + b_bias) - [I - H psi K] tau)");  // FD4
}

TEST(Derive, OmegaOfOneFrame) {  // OSC (56)-(58)
  for_each_tree(20, [](const Model& model, const State& s, Rng& rng) {
    OperatorState state(model);
    state.update(s.q);
    const std::string B =
        "B('" + model.frames()[rng.integer(0, static_cast<int>(model.frames().size()) - 1)].name + "')";
    const Derivation d = derived(state, "star(" + B + ")*star(phi)*star(H)*inv(" + mass + ")*H*phi*" + B);
    EXPECT_EQ(Program(state, d.result).sweeps(), 0) << d.steps.back().text;
  });
}
TEST(Derive, OmegaOfAWholeChain) {  // OSC (56): sweeps side by side instead of one after another
  const Model model(make_chain(6));
  OperatorState state(model);
  state.update(neutral(model));
  const Derivation d = derived(state, "star(psi)*star(H)*inv(D)*H*psi", true);
  EXPECT_EQ(d.steps.back().text, "psi* Omega - Omega (I - psi)");
}

TEST(Derive, PairsOfInverses) {  // JPL88 (4.14), (a.14), (a.15), by the inversion lemma
  const Model model(make_chain(5));
  OperatorState state(model);
  state.update(neutral(model));
  const auto last = [&](const std::string& text) { return derived(state, text).steps.back().text; };
  EXPECT_EQ(last("inv(I + H*phi*K)"), "[I - H psi K]");
  EXPECT_EQ(last("inv(I - H*psi*K)"), "[I + H phi K]");
  EXPECT_EQ(last("star(inv(I + H*phi*K))"), "[I - H psi K]*");
  EXPECT_EQ(last("inv(I - E_phi)*inv(phi)"), "I");
  EXPECT_EQ(last("M*star(phi)*star(H)*inv(" + mass + ")").substr(0, 18), "M psi* H* D^-1 [I ");
}

Model example(const char* name) {
  return Model(read_model(std::string(ARTICULA_SOURCE_DIR) + "/models/" + name + ".urdf").spec);
}
double distance_from_identity(const operators::Dense& a, const operators::Dense& b) {
  const int n = a.rows;
  return dense::largest(dense::view(a.numbers, n, n) * dense::view(b.numbers, n, n) -
                        dense::Matrix::identity(n));
}

TEST(Derive,
     WithoutTheRotorsOfTheModel) {  // the mass operator as JPL88 (3.20) has it, of arms that have rotors
  for (const char* const name : {"arm7", "puma560", "quadruped", "hand"}) {
    SCOPED_TRACE(name);
    const Model model = example(name);
    Rng rng(5);
    const State s = random_state(rng, model);
    OperatorState state(model);
    state.update(s.q, s.v);
    const std::string bare = "H*phi*M*star(phi)*star(H)";
    const Derivation d = derived(state, "inv(" + bare + ")");
    EXPECT_TRUE(d.without_rotors);
    EXPECT_EQ(d.steps[1].source, "this model");
    EXPECT_EQ(d.steps.back().text,
              model.has_mimics() ? "(mass without rotors)^-1" : "[I - H psi K]* D^-1 [I - H psi K]");
    // The result is of the model itself.
    EXPECT_LT(distance_from_identity(Program(state, operators::parse(bare).node).dense(),
                                     Program(state, d.result).dense()),
              1e-8);
    const Derivation f = derived(state, "inv(" + bare + ")*(tau - H*phi*(M*star(phi)*a_bias + b_bias))");
    EXPECT_EQ(Program(state, f.result).inputs(), 1);
  }
}
TEST(Derive, MimicJoints) {
  const Model model = example("hand");
  Rng rng(6);
  const State s = random_state(rng, model);
  OperatorState state(model);
  state.update(s.q);
  for (const char* const rotor : {"rotor", "star(Gamma)*rotor*Gamma"}) {
    const Derivation d = derived(state, std::string("inv(H*phi*M*star(phi)*star(H) + ") + rotor + ")");
    EXPECT_FALSE(d.without_rotors);
    EXPECT_EQ(d.steps.back().text, "mass^-1");
    const int n = model.nv();
    operators::Dense M{n, n, mass_matrix(model, s.q)};
    EXPECT_LT(distance_from_identity(M, Program(state, d.result).dense()), 1e-8);
  }
  const Derivation d = derived(state, "phi*M*star(phi)*star(H)");
  EXPECT_TRUE(passes_through(d, "phi M phi* H* Gamma")) << d.steps[0].text;
}
TEST(Derive, AStepThatDoesNotHoldIsAnError) {
  const Model model(make_chain(3));
  OperatorState state(model);
  std::vector<double> q = neutral(model);
  q[0] = 1e300;  // sin and cos are nobody's numbers there
  state.update(q, std::vector<double>(model.nv(), 1e200));
  EXPECT_THROW(operators::derive(state, operators::parse("inv(" + mass + ")*H*phi*b_bias").node), Error);
}

TEST(Derive, SaysWhatItCannotDo) {
  const Model model(make_chain(3));
  OperatorState state(model);
  state.update(neutral(model));
  try {
    operators::derive(state, operators::parse("inv(H*phi*P*star(phi)*star(H))").node);
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("no O(n) form"), std::string::npos) << error.what();
  }
}

TEST(Derive, EveryRewritingHolds) {
  for_each_tree(20, [](const Model& model, const State& s, Rng& rng) {
    OperatorState state(model);
    state.update(s.q, s.v);
    for (const operators::Rewriting& r : operators::rewritings()) {
      if (r.chains_only) continue;
      const operators::NodePtr left = operators::parse(r.left, true).node,
                               right = operators::parse(r.right, true).node;
      Program difference(state, sum(left, right, -1)), one(state, left);
      const auto x = random_vector(rng, one.columns());
      std::vector<double> value(one.rows()), d(one.rows());
      one.apply(x, value);
      difference.apply(x, d);
      double most = 1, worst = 0;
      for (int i = 0; i < one.rows(); ++i) {
        most = std::max(most, std::abs(value[i]));
        worst = std::max(worst, std::abs(d[i]));
      }
      EXPECT_LT(worst / most, 1e-11) << r.name;
    }
  });
}

}  // namespace
}  // namespace articula
