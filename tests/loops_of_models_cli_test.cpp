// Models whose files close loops or couple joints: every command takes them closed.
#include <gtest/gtest.h>

#include "tests/support/command_line.hpp"

#ifdef ARTICULA_PROGRAM

namespace articula {
namespace {

using testing::Json;
using testing::Ran;

class LoopsOfModels : public testing::CommandLine {
 protected:
  /// Two bars that a third one joins, in the plane of x and z.
  std::string bars() const {
    const auto bar = [](const char* name, const char* at, const char* inside) {
      return std::string("<body name='") + name + "' pos='" + at + "'><joint name='" + name +
             "_j' axis='0 1 0'/><inertial pos='0.1 0 0.4' mass='2' diaginertia='0.2 0.2 0.1'/>" + inside +
             "</body>";
    };
    return write("bars.xml",
                 "<mujoco model='bars'><worldbody>" + bar("left", "0 0 0", bar("top", "0 0 1", "").c_str()) +
                     bar("right", "1 0 0", "") +
                     "</worldbody><equality><connect name='pin' body1='top' body2='right' anchor='1 0 0'/>"
                     "</equality><keyframe><key name='leaning' qpos='0.2 -0.2 0.2' qvel='1 -1 1'/>"
                     "<key name='open' qpos='0.2 0 0' qvel='0 0 0'/></keyframe></mujoco>");
  }
};

TEST_F(LoopsOfModels, EvalIsOfTheClosedMechanism) {
  const std::string model = bars();
  const Json tree = result({"eval", model, "mass_matrix", "bias_forces", "--states", "leaning"}, "");
  const Json found = result(
      {"eval", model, "forward_dynamics", "inverse_mass_matrix", "linearized_forward", "--states", "leaning"},
      "");
  // A parallelogram: the top keeps its attitude, and both bars turn alike.
  const Json a = found["forward_dynamics"];
  EXPECT_NEAR(a[0].get<double>(), a[2].get<double>(), 1e-12);
  EXPECT_NEAR(a[0].get<double>(), -a[1].get<double>(), 1e-12);
  // M a + C v + g = J* f: no power where the loop lets things move, along (1, -1, 1).
  double power = 0;
  for (int i = 0; i < 3; ++i) {
    double force = tree["bias_forces"][i].get<double>();
    for (int j = 0; j < 3; ++j) force += tree["mass_matrix"][i][j].get<double>() * a[j].get<double>();
    power += (i == 1 ? -1 : 1) * force;
  }
  EXPECT_NEAR(power, 0, 1e-12);
  EXPECT_GT(std::abs(a[0].get<double>()), 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(found["inverse_mass_matrix"][i][j].get<double>(),
                  found["linearized_forward"]["dtau"][i][j].get<double>(), 1e-13);
  const Json grasp = result({"eval", model, "grasp", "--states", "leaning"}, "")["grasp"];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(grasp["arms"][0]["a"][i], a[i]);
  EXPECT_EQ(grasp["loops"][0]["name"], "pin");
  // Directions and gradients are those of the matrices; many states are each as one.
  const std::string state = R"({"q": [0.2, -0.2, 0.2], "v": [1, -1, 1], "tau": [0, 0, 0], "dq": [1, 2, 3],
    "dv": [0, 1, 0], "dtau": [0, 0, 1], "weights": [1, 0, 2]})";
  const Json d = found["linearized_forward"];
  const Json more = result({"eval", model, "perturbed_forward", "forward_gradient"}, state);
  const auto x = [&](const char* part, int i, int j) { return d[part][i][j].get<double>(); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(more["perturbed_forward"][i].get<double>(),
                x("dq", i, 0) + 2 * x("dq", i, 1) + 3 * x("dq", i, 2) + x("dv", i, 1) + x("dtau", i, 2),
                1e-10);
    EXPECT_NEAR(more["forward_gradient"]["q"][i].get<double>(), x("dq", 0, i) + 2 * x("dq", 2, i), 1e-10);
  }
  std::string many = "{\"states\": [" + state;
  for (int i = 1; i < 20; ++i) many += ", " + state;
  const Json all = json({"eval", model, "forward_dynamics", "mass_matrix"}, many + "]}")["results"];
  ASSERT_EQ(all.size(), 20u);
  EXPECT_EQ(all[19]["forward_dynamics"], a);
  EXPECT_EQ(all[19]["mass_matrix"], tree["mass_matrix"]);
}

TEST_F(LoopsOfModels, OperationalSpaceOfTheClosedMechanism) {
  const std::string model = bars();
  const Json found = result({"eval", model, "operational_space", "inverse_mass_matrix", "jacobian", "--frame",
                             "top", "--states", "leaning"},
                            "");
  const Json& space = found["operational_space"];
  EXPECT_EQ(space["rank"], 1);  // one freedom
  const auto J = [&](int r, int i) { return found["jacobian"][r][i].get<double>(); };
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c) {
      double omega = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          omega += J(r, i) * found["inverse_mass_matrix"][i][j].get<double>() * J(c, j);
      EXPECT_NEAR(space["omega"][r][c].get<double>(), omega, 1e-11);
    }
  EXPECT_GT(std::abs(space["lambda"][3][3].get<double>()), 1e-3);
}

TEST_F(LoopsOfModels, StatesFitOrAreMadeTo) {
  const std::string model = bars();
  const Ran open = run({"eval", model, "forward_dynamics", "--states", "open"});
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.err.find("state 0: "), std::string::npos) << open.err;
  EXPECT_NE(open.err.find("loop 'pin' is not closed"), std::string::npos) << open.err;
  EXPECT_NE(open.err.find("--project"), std::string::npos) << open.err;
  EXPECT_EQ(run({"eval", model, "mass_matrix", "--states", "open"}).code, 0);  // of the tree, which fits
  EXPECT_EQ(run({"eval", model, "forward_dynamics", "--states", "open", "--project"}).code, 0);
  const std::string moving = R"({"q": [0, 0, 0], "v": [1, 0, 0], "tau": [0, 0, 0]})";
  const Ran unfit = run({"eval", model, "forward_dynamics"}, moving);
  EXPECT_EQ(unfit.code, 2);
  EXPECT_NE(unfit.err.find("velocity of loop 'pin' does not fit"), std::string::npos) << unfit.err;
  // The velocity that is nearest in the metric of the mass matrix lies along what the loop allows.
  const Json fit = result({"eval", model, "frame_velocity", "--frame", "top", "--project"}, moving);
  EXPECT_NEAR(fit["frame_velocity"][1].get<double>(), 0, 1e-12);
  EXPECT_GT(fit["frame_velocity"][3].get<double>(), 0.1);
  const Ran told = run({"eval", model, "inverse_dynamics", "--states", "leaning"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(told.err.find("inverse_dynamics is of the tree alone"), std::string::npos) << told.err;
  EXPECT_EQ(run({"eval", "arm7", "mass_matrix", "--project"}, "{}").code, 2);
  const Ran unknown = run({"eval", model, "mass_matrix", "--states", "lying"});
  EXPECT_EQ(unknown.code, 2);
}

TEST_F(LoopsOfModels, OtherCommands) {
  const std::string model = bars();
  const Ran moved = run({"simulate", model, "--duration", "0.1", "--initial", "leaning"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_NE(moved.out.find("\n0,0.2,-0.2,0.2,1,-1,1,"), std::string::npos) << moved.out.substr(0, 600);
  EXPECT_EQ(run({"simulate", model, "--duration", "0.1", "--initial", "open"}).code, 2);
  EXPECT_EQ(run({"simulate", model, "--duration", "0.1", "--initial", "open", "--project"}).code, 0);
  EXPECT_EQ(run({"simulate", "double_pendulum", "--duration", "0.1", "--initial", "leaning"}).code, 2);
  const Ran check = run({"check", model});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_NE(check.out.find("note: 'pin' (translation along y) holds by itself"), std::string::npos)
      << check.out;
  const Json info = json({"info", model, "--json"});
  EXPECT_EQ(info["loops"][0]["links"], (Json{"top", "right"}));
  EXPECT_EQ(run({"view", model, "--out", path("page.html")}).code, 0);
  const std::string apart = write("apart.xml",
                                  "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/><inertial pos='0 0 "
                                  "1' mass='1' diaginertia='1 1 1'/></body>"
                                  "</worldbody><equality><connect body1='a' anchor='0 5 0'/><joint "
                                  "joint1='a_joint' polycoef='1 0 0 0 0'/>"
                                  "</equality></mujoco>");
  EXPECT_NE(run({"check", apart}).out.find("apart.xml"), std::string::npos);
  const std::string standing =
      write("standing.xml",
            "<mujoco><worldbody><body name='a'><geom size='1'/></body></worldbody><equality>"
            "<weld body1='a'/></equality></mujoco>");
  EXPECT_EQ(run({"view", standing, "--out", path("page.html")}).code, 0);
  EXPECT_NE(run({"check", standing}).out.find("both its ends are fixed in the world"), std::string::npos);
}

TEST_F(LoopsOfModels, CurvedCouplingsKeepTheEnergy) {
  const std::string model = write("cam.xml",
                                  "<mujoco model='cam'><worldbody><body name='a'><joint name='x' axis='0 1 "
                                  "0'/><inertial pos='0.3 0 0' mass='1' "
                                  "diaginertia='0.1 0.1 0.1'/></body><body name='b' pos='0 1 0'><joint "
                                  "name='y' type='slide' axis='0 0 1'/>"
                                  "<inertial pos='0 0 0' mass='2' diaginertia='1 1 "
                                  "1'/></body></worldbody><equality><joint name='cam' joint1='y' "
                                  "joint2='x' polycoef='0.1 0.2 -0.5 0.1 0.3'/></equality></mujoco>");
  const Ran ran =
      run({"simulate", model, "--duration", "0.5", "--step", "0.00025", "--every", "0.5", "--project"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto lines = [&] {
    std::vector<std::vector<std::string>> out;
    std::istringstream text(ran.out);
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      auto& row = out.emplace_back();
      for (std::string word; std::getline(words, word, ',');) row.push_back(word);
    }
    return out;
  }();
  ASSERT_EQ(lines.size(), 3u);
  const auto at = [&](std::string_view name) {
    for (std::size_t i = 0; i < lines[0].size(); ++i)
      if (lines[0][i] == name) return std::stod(lines[2][i]);
    ADD_FAILURE() << name;
    return 0.0;
  };
  const double x = at("q:cam/x"), y = at("q:cam/y");
  EXPECT_NEAR(y, 0.1 + 0.2 * x - 0.5 * x * x + 0.1 * x * x * x + 0.3 * x * x * x * x, 1e-10);
  EXPECT_NEAR(at("energy_change"), 0, 1e-8);  // of 6 J; the error falls with the fourth power of the step
  EXPECT_GT(at("kinetic_energy"), 0.1);
}

}  // namespace
}  // namespace articula

#endif
