// `eval ... diagonalized` and `articula count`, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <cmath>

#include "articula/files/urdf.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

class DiagonalCommands : public CommandLine {};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST_F(DiagonalCommands, TheManualHasTheCounts) {
  const std::string counts = run({"count", "--markdown"}).out,
                    manual = content(ARTICULA_SOURCE_DIR "/docs/counts.md");
  ASSERT_FALSE(counts.empty());
  EXPECT_TRUE(manual.ends_with(counts)) << "docs/counts.md: put in what articula count --markdown prints";
}

TEST_F(DiagonalCommands, EnergyPowerAndWorkOfTheCoriolisTerm) {
  const std::string file = ARTICULA_SOURCE_DIR "/models/arm7.urdf";
  const Model model = read_urdf(file);
  Rng rng(4);
  const State s = random_state(rng, model);
  const Json state{{"q", s.q}, {"v", s.v}, {"tau", s.tau}};
  const Json d =
      result({"eval", file, "diagonalized", "--gravity", "0", "0", "0"}, state.dump())["diagonalized"];
  const auto numbers = [&](const char* key) { return d.at(key).get<std::vector<double>>(); };
  const auto nu = numbers("nu"), xi = numbers("xi");
  const double energy =
      2 * result({"eval", file, "kinetic_energy"}, state.dump())["kinetic_energy"].get<double>();
  const double power = dot(s.tau, s.v);
  EXPECT_NEAR(dot(nu, nu), energy, 1e-13 * energy);
  EXPECT_NEAR(dot(nu, numbers("epsilon")), power, 1e-12 * dot(nu, nu));
  EXPECT_NEAR(dot(xi, numbers("kappa")), power, 1e-12 * dot(nu, nu));
  double weighted = 0;
  ASSERT_EQ(d["D"].size(), 7u);
  for (int i = 0; i < 7; ++i) {
    ASSERT_EQ(d["D"][i].size(), 7u);
    for (int j = 0; j < 7; ++j) {
      weighted += xi[i] * d["D"][i][j].get<double>() * xi[j];
      if (i != j) {
        EXPECT_EQ(d["D"][i][j], 0.0);
      }
    }
  }
  EXPECT_NEAR(weighted, energy, 1e-13 * energy);
  EXPECT_LT(std::abs(dot(nu, numbers("coriolis_nu"))), 1e-12 * dot(nu, nu));
  EXPECT_GT(std::abs(numbers("coriolis_nu")[0]), 1e-6);
}

TEST_F(DiagonalCommands, ThePrintedRecursion) {  // DIAG (42)
  const std::string state =
      R"({"q": [0.1, 0.2, 0.3, 0.4, 0.5], "v": [1, 2, 3, 4, 5], "tau": [0, 0, 0, 0, 0]})";
  const Json own = result({"eval", "chain:5", "diagonalized"}, state)["diagonalized"];
  const Json printed =
      result({"eval", "chain:5", "diagonalized", "--method", "printed"}, state)["diagonalized"];
  EXPECT_EQ(own["nu"], printed["nu"]);
  const auto numbers = [](const Json& x) { return x["coriolis_nu"].get<std::vector<double>>(); };
  EXPECT_LT(relative_error(numbers(printed), numbers(own)), 1e-12);
  EXPECT_NE(numbers(printed), numbers(own));  // another way to the same
}

TEST_F(DiagonalCommands, CountsOfAChainAndOfARobot) {
  const Json chain = json({"count", "chain:6", "--json"});
  ASSERT_TRUE(chain.is_object());
  const Json robot = json({"count", "puma560", "--json"});
  const auto find = [](const Json& all, const std::string& name) {
    for (const auto& row : all)
      if (row["algorithm"] == name) return row;
    return Json();
  };
  const Json here = find(robot["algorithms"], "inverse_dynamics");
  ASSERT_FALSE(here.is_null()) << robot.dump();
  EXPECT_EQ(here["executed"]["sines_cosines"], 6);
  EXPECT_LT(here["customized"]["multiplications"].get<int>(), here["executed"]["multiplications"].get<int>());
  const std::string text = run({"count", "chain:6"}).out;
  for (const char* word :
       {"inverse_dynamics", "forward_dynamics", "normalized", "linearized_6", "Featherstone"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

TEST_F(DiagonalCommands, PlotIsAnSvgFileAndErrorsAreOneLine) {
  EXPECT_EQ(run({"count", "chain:6", "--plot", path("counts.svg")}).code, 0);
  const std::string svg = content(path("counts.svg"));
  EXPECT_EQ(svg.rfind("<svg", 0) == std::string::npos ? svg.find("<svg") : 0u, 0u) << svg.substr(0, 80);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  expect_failure(2, {"count", "chain:0"}, "", {"chain"});
  expect_failure(2, {"count", "no_such_robot"}, "", {"no_such_robot"});
  expect_failure(2, {"count", "chain:6", "--plot", path("no/such/folder/x.svg")}, "", {"x.svg"});
}

}  // namespace
}  // namespace articula::testing

#endif
