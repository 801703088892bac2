// articula covariance, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

Printed run_covariance(const std::string& arguments, const std::string& input = "",
                       bool with_errors = false) {
  return printed("printf '%s' '" + input + "' | '" ARTICULA_PROGRAM "' covariance " + arguments +
                 (with_errors ? " 2>&1" : " 2>/dev/null"));
}

TEST(CovarianceCommand, AgreesWithSamples) {
  for (const char* model : {"arm7", "quadruped --base free"}) {
    const auto ran = run_covariance(std::string(model) +
                                    " --tau-deviation 0.5 --force-deviation 0.1 --moment-deviation 0.02 "
                                    "--mass-deviation 0.02 --samples 20000");
    ASSERT_EQ(ran.code, 0);
    const Json found = Json::parse(ran.out)["results"][0];
    for (const Json& x : found["acceleration_deviation"]) EXPECT_GT(x, 0.0);
    EXPECT_LT(found["sampled"]["largest_error_in_sigmas"], 5.0);
  }
}
TEST(CovarianceCommand, DeviationsOfAState) {
  const auto of = [](const std::string& arguments, const std::string& state) {
    return Json::parse(run_covariance("double_pendulum " + arguments, state).out)["results"][0];
  };
  const Json all = of("--tau-deviation 2", R"({"q": [0.3, -0.5]})");
  const Json own = of("", R"({"q": [0.3, -0.5], "tau_deviation": [2, 2]})");
  EXPECT_EQ(all, own);
  const Json frame = of("--tau-deviation 1 --frame tip", R"({"q": [0.3, -0.5]})");
  EXPECT_EQ(frame["frames"]["tip"]["acceleration_covariance"].size(), 6u);
}
TEST(CovarianceCommand, ErrorsAreOneLine) {
  struct Bad {
    const char *arguments, *state, *message;
  };
  for (const Bad& bad :
       {Bad{"double_pendulum --tau-deviation -1", "", "0 or more"},
        Bad{"double_pendulum --samples 1", "", "two or more"},
        Bad{"double_pendulum --mass-deviation 0.3 --samples 10", "", "negative"},
        Bad{"double_pendulum --frame nowhere", "", "nowhere"},
        Bad{"double_pendulum", R"({"q": [0, 0], "mass_deviation": [1]})", "mass_deviation has 1"}}) {
    const Printed ran = run_covariance(bad.arguments, bad.state, true);
    EXPECT_EQ(ran.code, 2) << bad.arguments;
    EXPECT_NE(ran.out.find(bad.message), std::string::npos) << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  }
}

}  // namespace
}  // namespace articula::testing

#endif
