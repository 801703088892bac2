// articula eval of many states goes through Batch: what it prints is that of each state by itself, but for
// rounding.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <cmath>

#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

class EvalOfMany : public CommandLine {
 protected:
  static Json states(const Model& model, int count) {
    Rng rng(1);
    Json all = Json::array();
    for (int i = 0; i < count; ++i) {
      const State s = random_state(rng, model);
      all.push_back({{"q", s.q},
                     {"v", s.v},
                     {"a", s.a},
                     {"tau", s.tau},
                     {"dq", s.v},
                     {"dv", s.a},
                     {"da", s.tau},
                     {"dtau", s.v}});
    }
    return all;
  }
  static std::string text(const Json& list) { return Json{{"states", list}}.dump(); }
};

/// The same keys, lists and kinds of values, in the same order; numbers to a share of the largest near them.
void expect_same(const Json& a, const Json& b, const std::string& where) {
  ASSERT_EQ(a.type(), b.type()) << where;
  if (a.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    EXPECT_NEAR(x, y, 1e-9 * std::max(1.0, std::abs(y))) << where;
    return;
  }
  if (!a.is_structured()) {
    EXPECT_EQ(a, b) << where;
    return;
  }
  ASSERT_EQ(a.size(), b.size()) << where;
  auto y = b.begin();
  for (auto x = a.begin(); x != a.end(); ++x, ++y) {
    if (a.is_object()) {
      ASSERT_EQ(x.key(), y.key()) << where;
    }
    expect_same(*x, *y, where + (a.is_object() ? "." + x.key() : "[]"));
  }
}

TEST_F(EvalOfMany, PrintsWhatEachStateByItselfPrints) {
  const Words quantities{"inverse_dynamics",    "forward_dynamics",
                         "coriolis_matrix",     "mass_matrix_rate",
                         "mass_matrix",         "bias_forces",
                         "gravity_forces",      "inverse_mass_matrix",
                         "kinetic_energy",      "potential_energy",
                         "center_of_mass",      "momentum",
                         "centroidal_map",      "pose",
                         "frame_velocity",      "jacobian",
                         "jacobian_dot_v",      "operational_space",
                         "linearized_inverse",  "linearized_forward",
                         "perturbed_inverse",   "perturbed_forward",
                         "forward_dynamics_fd1"};
  struct Of {
    const char *name, *base;
    int count;
  };
  for (const Of& of : {Of{"arm7", "fixed", 19}, Of{"quadruped", "free", 9}, Of{"hand", "fixed", 8}}) {
    SCOPED_TRACE(of.name);
    const std::string file = std::string(ARTICULA_SOURCE_DIR) + "/models/" + of.name + ".urdf";
    const Model model = read_urdf(file, {.base = of.base == std::string("free") ? Base::free : Base::fixed});
    Json list = states(model, of.count);
    list[3]["wrenches"] = {{model.frames().back().name, {0.1, 0.2, 0.3, 1, 2, 3}}};
    Words words{"eval", file, "--base", of.base, "--frame", model.frames().back().name};
    words.insert(words.end(), quantities.begin(), quantities.end());
    if (!model.has_mimics()) words.push_back("diagonalized");
    const Ran all = run(words, text(list));
    ASSERT_EQ(all.code, 0) << all.err;
    const Json together = Json::parse(all.out);
    ASSERT_EQ(together["results"].size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Ran one = run(words, list[i].dump());
      ASSERT_EQ(one.code, 0) << one.err;
      const Json alone = Json::parse(one.out);
      EXPECT_EQ(alone["model"], together["model"]);
      expect_same(together["results"][i], alone["results"][0], "state " + std::to_string(i));
    }
  }
}

TEST_F(EvalOfMany, FaultsNameTheState) {
  const std::string arm = std::string(ARTICULA_SOURCE_DIR) + "/models/arm7.urdf";
  const Model model = read_urdf(arm);
  Json list = states(model, 20);
  list[13]["v"][2] = 1e200;
  const Ran failed = run({"eval", arm, "mass_matrix", "inverse_dynamics"}, text(list));
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.err.find("state 13: inverse_dynamics is not finite"), std::string::npos) << failed.err;
  EXPECT_EQ(failed.out, "");
  list = states(model, 20);
  list[11]["q"] = std::vector<double>(7, 0.0);  // stretched out
  const Ran lost = run({"eval", arm, "operational_space", "--frame", model.frames().back().name}, text(list));
  EXPECT_EQ(lost.code, 0);
  EXPECT_NE(lost.err.find("state 11: operational_space: rank"), std::string::npos) << lost.err;
  EXPECT_LT(Json::parse(lost.out)["results"][11]["operational_space"]["rank"], 6);
  EXPECT_EQ(Json::parse(lost.out)["results"][10]["operational_space"]["rank"], 6);
  expect_failure(2, {"eval", arm, "pose", "--frame", "flange"}, R"({"states": [{"q": [0]}]})", {"state 0"});
}

/// Reading is linear in the number of states (it was not): ten times as many take seconds, not minutes.
TEST_F(EvalOfMany, ManyAreRead) {
  const std::string file = std::string(ARTICULA_SOURCE_DIR) + "/models/planar_2r.urdf";
  Json list = Json::array();
  for (int i = 0; i < 20000; ++i) list.push_back({{"q", {0.001 * i, 1}}});
  const Ran all = run({"eval", file, "gravity_forces"}, text(list));
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(Json::parse(all.out)["results"].size(), 20000u);
}

}  // namespace
}  // namespace articula::testing

#endif
