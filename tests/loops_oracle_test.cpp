// The quadruped with four feet held, against Pinocchio's constraintDynamics, where the folder ../shared
// exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "articula/files/urdf.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(LoopsOracle, QuadrupedOnFourFeet) {
  const fs::path shared = fs::path(ARTICULA_SOURCE_DIR) / ".." / "shared";
  if (!fs::exists(shared / "oracle" / "anymal_ff.json")) GTEST_SKIP() << "skipped: no ../shared";
  const json data = json::parse(std::ifstream(shared / "oracle" / "anymal_ff.json"));
  const Model model = read_urdf((shared / "robots" / "anymal.urdf").string(), {.base = Base::free});
  // The oracle: linear before angular, joints in its own order.
  std::vector<int> v_of;
  for (const json& joint : data["joints"]) {
    const bool base = joint["type"] == "JointModelFreeFlyer";
    const Joint& ours =
        base ? model.joints()[0] : model.joints()[model.joint(joint["name"].get<std::string>())];
    for (int i = 0; i < joint["nv"]; ++i) v_of.push_back(ours.v_index + (base ? (i + 3) % 6 : i));
  }
  const auto vector = [&](const json& theirs) {
    std::vector<double> out(model.nv());
    for (std::size_t i = 0; i < v_of.size(); ++i) out[v_of[i]] = theirs[i];
    return out;
  };
  Worst worst("quadruped on four feet");
  int checked = 0;
  for (const json& state : data["states"]) {
    if (!state.contains("contact")) continue;
    const json& contact = state["contact"];
    std::vector<double> q(model.nq());
    for (const json& joint : data["joints"]) {
      const int at = joint["idx_q"];
      if (joint["type"] == "JointModelFreeFlyer")
        for (int i = 0; i < 7; ++i) q[i] = state["q"][at + (i + 3) % 7];
      else if (joint["nq"] == 2)
        q[model.joints()[model.joint(joint["name"].get<std::string>())].q_index] =
            std::atan2(state["q"][at + 1].get<double>(), state["q"][at].get<double>());
      else
        q[model.joints()[model.joint(joint["name"].get<std::string>())].q_index] = state["q"][at];
    }
    const auto v = vector(state["v"]), tau = vector(state["tau"]);
    std::vector<Constraint> feet;
    for (const json& foot : contact["frames"]) {
      const std::string name = foot;
      feet.push_back(ball(name, {-1, {}}, {model.frame(name), {}}));
    }
    ASSERT_EQ(feet.size(), 4u);
    ConstrainedDynamics work(model, feet);
    std::vector<double> a(model.nv());
    work.acceleration(q, v, tau, a);
    EXPECT_LT(worst(relative_error(a, vector(contact["qdd"]))), 1e-9);
    const std::vector<double> f = contact["kkt_minus_multiplier"];
    EXPECT_LT(worst(relative_error(work.multipliers(), f)), 1e-9);
    const std::vector<double> bias = contact["Jdot_v"];
    std::vector<double> ours(12);
    work.bias(q, v, ours);
    EXPECT_LT(relative_error(ours, bias), 1e-10);
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace articula::testing
