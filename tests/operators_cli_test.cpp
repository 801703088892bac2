// articula operators: the commands of docs/command_line.md, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <string>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/chain.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;

Printed run_operators(const std::string& arguments, const std::string& input = "", bool with_errors = false) {
  return printed("printf '%s' '" + input + "' | '" ARTICULA_PROGRAM "' operators " + arguments +
                 (with_errors ? " 2>&1" : " 2>/dev/null"));
}
json state_of(const State& s) { return {{"q", s.q}, {"v", s.v}, {"tau", s.tau}, {"x", s.a}}; }

TEST(OperatorsCommand, InverseOfTheMassOperator) {
  const Model model(make_chain(5));
  Rng rng(1);
  const State s = random_state(rng, model);
  const Printed ran = run_operators("chain:5 'inv(H*phi*M*star(phi)*star(H)) * x'", state_of(s).dump());
  ASSERT_EQ(ran.code, 0);
  MassFactor<> factor(model);
  factor.factor(s.q);
  std::vector<double> expected(5);
  factor.solve(s.a, expected);
  const auto value = json::parse(ran.out)["results"][0]["value"].get<std::vector<double>>();
  EXPECT_LT(relative_error(value, expected), 1e-12);
}

TEST(OperatorsCommand, ForwardDynamicsAndJacobian) {
  const Model model(make_chain(5));
  Rng rng(2);
  const State s = random_state(rng, model);
  const std::string fd3 =
      "chain:5 'star(I - H*psi*K)*inv(D)*(tau - H*psi*(K*tau + M*star(phi)*(a_bias + star(E)*a_g) + "
      "b_bias))'";
  auto value = json::parse(run_operators(fd3, state_of(s).dump()).out)["results"][0]["value"]
                   .get<std::vector<double>>();
  EXPECT_LT(relative_error(value, forward_dynamics(model, s.q, s.v, s.tau)), 1e-11);
  value = json::parse(run_operators("chain:5 'star(B(link_5))*star(phi)*star(H)*v'", state_of(s).dump())
                          .out)["results"][0]["value"]
              .get<std::vector<double>>();
  const Spatial<double> V = frame_velocity(model, s.q, s.v, "link_5");
  EXPECT_LT(relative_error(value, std::span(numbers_of(V), 6)), 1e-12);
}

TEST(OperatorsCommand, DenseExplainAndIdentities) {
  const auto psi = json::parse(run_operators("chain:3 psi --dense").out)["results"][0]["value"];
  ASSERT_EQ(psi.size(), 18u);
  ASSERT_EQ(psi[0].size(), 18u);
  EXPECT_EQ(psi[0][0], 1.0);
  EXPECT_EQ(psi[17][0], 0.0);
  const auto explained = json::parse(
      run_operators("chain:3 'H*phi*M*star(phi)*star(H)' --explain").out)["results"][0]["explain"];
  EXPECT_EQ(explained["sweeps"], 2);
  EXPECT_GT(explained["multiplications"], 50);
  const auto identities = json::parse(run_operators("chain:4 --identities").out)["results"][0]["identities"];
  EXPECT_GT(identities.size(), 50u);
  for (const json& i : identities) EXPECT_LT(i["residual"], 1e-11) << i.dump();
}

TEST(OperatorsCommand, Derive) {
  const Model model(make_chain(5));
  Rng rng(3);
  const State s = random_state(rng, model);
  const std::string fd1 =
      "chain:5 --derive 'inv(H*phi*M*star(phi)*star(H) + rotor)*(tau - H*phi*(M*star(phi)*(a_bias + "
      "star(E)*a_g) + "
      "b_bias))'";
  const json found = json::parse(run_operators(fd1, state_of(s).dump()).out)["results"][0];
  EXPECT_LT(
      relative_error(found["value"].get<std::vector<double>>(), forward_dynamics(model, s.q, s.v, s.tau)),
      1e-11);
  EXPECT_EQ(found["explain"]["sweeps"], 2);
  const json& steps = found["derive"]["steps"];
  ASSERT_GT(steps.size(), 10u);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_LT(steps[i]["residual"], 1e-11) << steps[i].dump();
  // Every step in the grammar of the command line, and without values: the derivation alone.
  const json again =
      json::parse(run_operators("chain:5 --derive '" + steps.back()["expression"].get<std::string>() + "'",
                                R"({"q": [1, 0, 0, 0, 0], "v": [1, 1, 1, 1, 1]})")
                      .out)["results"][0];
  EXPECT_EQ(again["explain"]["sweeps"], 2);
  EXPECT_FALSE(again.contains("value"));
}
TEST(OperatorsCommand, WithoutStatesTrialsAreAtARandomOne) {  // at rest LIN's steps would say 0 = 0
  const json found = json::parse(
      run_operators("arm7 --derive --dense 'inv(H*phi*M*star(phi)*star(H))*H*phi*(M*star(phi)*star(H_dot) + "
                    "M_ring*star(phi)*star(H))'")
          .out)["results"][0];
  EXPECT_TRUE(found["derive"]["without_rotors"].get<bool>());
  EXPECT_EQ(found["tried_at"]["v"].size(), 7u);
  bool rounding = false;
  for (const json& step : found["derive"]["steps"])
    rounding = rounding || (step.contains("residual") && step["residual"].get<double>() > 0);
  EXPECT_TRUE(rounding);
  EXPECT_EQ(found["value"][0][0].get<double>(), 0);  // its value is at rest
}
TEST(OperatorsCommand, Rates) {  // DIAG Table 1: m m* = M, and its rate
  const auto rates = json::parse(run_operators("chain:3 --rates", R"({"q": [0.1, 0.2, 0.3], "v": [1, 2, 3]})")
                                     .out)["results"][0]["rates"];
  for (const char* name : {"E_phi", "phi", "H", "M", "P", "D", "G", "tau_bar", "E_psi", "psi"})
    EXPECT_EQ(rates[name]["local"].size(), rates[name]["value"].size()) << name;
  EXPECT_EQ(rates["m"]["inertial"].size(), 3u);
  EXPECT_EQ(rates["lambda"]["value"].size(), 18u);
  EXPECT_EQ(rates["Omega_delta"]["value"].size(), 18u);
  // DIAG (48): skew, and for xi with half of D' on the diagonal.
  const auto& c = rates["coriolis"];
  EXPECT_NEAR(c["nu"][0][2].get<double>(), -c["nu"][2][0].get<double>(), 1e-14);
  EXPECT_NEAR(c["xi"][0][0].get<double>(), rates["D"]["local"][0][0].get<double>() / 2, 1e-13);
  EXPECT_EQ(run_operators("chain:3 --rates", R"({"q": [0.1, 0.2, 0.3]})").code, 2);
}
TEST(OperatorsCommand, EquationsOfDiagAmongTheIdentities) {
  const auto list =
      json::parse(run_operators("chain:4 --identities", R"({"q": [0.1, 0.2, 0.3, 0.4], "v": [1, 2, 3, 4]})")
                      .out)["results"][0]["identities"];
  int found = 0;
  for (const auto& identity : list)
    if (identity["source"].get<std::string>().starts_with("DIAG (")) {
      ++found;
      EXPECT_LT(identity["residual"].get<double>(), 1e-11) << identity;
    }
  EXPECT_GE(found, 14);
  const json left = json::parse(run_operators("arm7 --identities").out)["results"][0];
  EXPECT_NE(left["left_out"].get<std::string>().find("rotor"), std::string::npos);
}
TEST(OperatorsCommand, Curvature) {
  const auto of = [](const char* model, const char* state) {
    return json::parse(
        run_operators(std::string(model) + " --curvature", state).out)["results"][0]["curvature"];
  };
  const auto arm = of("double_pendulum", R"({"q": [0.1, 0.2]})");
  EXPECT_FALSE(arm["flat"].get<bool>());
  EXPECT_NE(arm["gaussian"].get<double>(), 0);
  EXPECT_TRUE(of("chain:1", R"({"q": [0.1]})")["flat"].get<bool>());
  EXPECT_EQ(run_operators("quadruped --base free --curvature").code, 2);
}
TEST(OperatorsCommand, ErrorsAreOneLineAndExitCodeTwo) {
  struct Bad {
    const char *arguments, *message;
  };
  for (const Bad& bad :
       {Bad{"chain:3 'phi*H' --dense", "does not fit"}, Bad{"chain:3 psi", "add --dense"},
        Bad{"chain:3 'H*phi*y'", "'y' is missing"}, Bad{"chain:3 'inv(P)' --dense", "no O(n) inverse"},
        Bad{"chain:3 'inv(P)' --derive", "no O(n) form"}, Bad{"chain:3 --derive", "an EXPRESSION is missing"},
        Bad{"chain:3", "an EXPRESSION is missing"}, Bad{"chain:3 'psi*(phi' --dense", "is missing"},
        Bad{"chain:3 'B(nowhere)' --dense", "no frame 'nowhere'"}}) {
    const Printed ran = run_operators(bad.arguments, "", true);
    EXPECT_EQ(ran.code, 2) << bad.arguments;
    EXPECT_NE(ran.out.find(bad.message), std::string::npos) << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  }
  const Printed ran = run_operators("chain:2 'H*phi*x'", R"({"q": [0, 0], "x": [1, 2, 3]})", true);
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("x has 3 numbers, here it needs 12"), std::string::npos) << ran.out;
  const Printed huge = run_operators("chain:2000 phi --dense", "", true);
  EXPECT_EQ(huge.code, 2);
  EXPECT_NE(huge.out.find("12000 x 12000"), std::string::npos) << huge.out;
  const Printed infinite = run_operators("chain:2 '1e308*1e308*phi' --dense", "", true);
  EXPECT_EQ(infinite.code, 1);
  EXPECT_NE(infinite.out.find("not finite"), std::string::npos) << infinite.out;
}

TEST(OperatorsCommand, ExpressionsMayBeginWithAMinus) {
  const json plain = json::parse(run_operators("chain:2 'I - phi' --dense").out);
  for (const char* same : {"chain:2 '-(phi - I)' --dense", "chain:2 '-phi + I' --dense",
                           "chain:2 --dense --gravity 0 0 -1 '-phi + I'"})
    EXPECT_EQ(json::parse(run_operators(same).out), plain) << same;
}

}  // namespace
}  // namespace articula::testing

#endif
