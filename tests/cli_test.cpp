// The command line as users script it: names, shapes, signs, exit codes and messages, by running the program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#ifdef ARTICULA_PROGRAM

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/command_line.hpp"

namespace articula {
namespace {

namespace fs = testing::fs;
using testing::Json;
using testing::Ran;
using testing::Words;

class CommandLine : public testing::CommandLine {
 protected:
  /// A pendulum about y: 2 kg, 0.5 m below the pivot, and a tip 1 m below it.
  std::string pendulum() const {
    return write("pendulum.urdf", R"(<robot name="pendulum">
<link name="base"/>
<link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="tip"/>
<joint name="pivot" type="revolute"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/></joint>
<joint name="end" type="fixed"><parent link="bob"/><child link="tip"/><origin xyz="0 0 -1"/></joint>
</robot>
)");
  }
  /// 3 kg, its mass centre at its origin.
  std::string brick() const {
    return write("brick.urdf", R"(<robot name="brick"><link name="body"><inertial><mass value="3"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link></robot>
)");
  }
};

void expect_numbers(const Json& value, const std::vector<double>& expected) {
  ASSERT_TRUE(value.is_array()) << value;
  ASSERT_EQ(value.size(), expected.size()) << value;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(value[i].get<double>(), expected[i], 1e-14) << i;
}

Words keys(const Json& object) {
  Words out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

TEST_F(CommandLine, VersionAndHelp) {
  EXPECT_EQ(run({"--version"}).out.rfind("articula ", 0), 0u);
  for (const Words& words : {Words{"--help"}, {"info", "--help"}, {"check", "--help"}, {"eval", "--help"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.err, "");
    // The example works as printed, with the program on the path.
    const auto at = ran.out.find("Example:\n");
    ASSERT_NE(at, std::string::npos) << ran.out;
    const auto begin = at + 9, end = ran.out.find('\n', begin);
    const std::string example = ran.out.substr(begin, end - begin);
    const Ran tried =
        shell("PATH=" + quoted(fs::path(ARTICULA_PROGRAM).parent_path().string()) + ":$PATH; " + example);
    EXPECT_EQ(tried.code, 0) << example << "\n" << tried.err;
    EXPECT_NE(tried.out, "") << example;
    EXPECT_EQ(tried.err, "") << example;
  }
}

TEST_F(CommandLine, EvalPrintsTheModel) {
  const Json all = json({"eval", pendulum(), "mass_matrix"}, R"({"states": []})");
  EXPECT_EQ(keys(all), (Words{"model", "results"}));
  EXPECT_EQ(all["results"], Json::array());
  const Json& model = all["model"];
  EXPECT_EQ(keys(model), (Words{"name", "nq", "nv", "mass", "joints"}));
  EXPECT_EQ(model["name"], "pendulum");
  EXPECT_EQ(model["nq"], 1);
  EXPECT_EQ(model["nv"], 1);
  EXPECT_EQ(model["mass"], 2.0);
  EXPECT_EQ(model["joints"], Json::parse(R"([{"name": "pivot", "type": "revolute", "q_index": 0, "nq": 1,
                                              "v_index": 0, "nv": 1}])"));
}

TEST_F(CommandLine, EveryQuantityOfAPendulum) {
  const double q = 0.3, w = 0.7, a = -1.1, tau = 0.4, m = 2, l = 0.5, g = 9.81, s = std::sin(q),
               c = std::cos(q);
  const double M = 0.1 + m * l * l, gravity = m * g * l * s;
  const Words names{"inverse_dynamics", "forward_dynamics", "mass_matrix",    "inverse_mass_matrix",
                    "bias_forces",      "gravity_forces",   "kinetic_energy", "potential_energy",
                    "center_of_mass",   "momentum",         "centroidal_map", "pose",
                    "frame_velocity",   "jacobian",         "jacobian_dot_v"};
  Words words{"eval", pendulum(), "--frame", "tip"};
  words.insert(words.end(), names.begin(), names.end());
  const Json r = result(words, R"({"q": [0.3], "v": [0.7], "a": [-1.1], "tau": [0.4]})");
  EXPECT_EQ(keys(r), names);
  expect_numbers(r["inverse_dynamics"], {M * a + gravity});
  expect_numbers(r["forward_dynamics"], {(tau - gravity) / M});
  ASSERT_EQ(r["mass_matrix"].size(), 1u);
  expect_numbers(r["mass_matrix"][0], {M});
  expect_numbers(r["inverse_mass_matrix"][0], {1 / M});
  expect_numbers(r["bias_forces"], {gravity});
  expect_numbers(r["gravity_forces"], {gravity});
  EXPECT_NEAR(r["kinetic_energy"].get<double>(), M * w * w / 2, 1e-15);
  EXPECT_NEAR(r["potential_energy"].get<double>(), -m * g * l * c, 1e-14);
  expect_numbers(r["center_of_mass"], {-l * s, 0, -l * c});
  expect_numbers(r["momentum"], {0, 0.1 * w, 0, -m * l * w * c, 0, m * l * w * s});
  const std::vector<double> map{0, 0.1, 0, -m * l * c, 0, m * l * s}, J{0, 1, 0, -c, 0, s};
  ASSERT_EQ(r["centroidal_map"].size(), 6u);
  ASSERT_EQ(r["jacobian"].size(), 6u);
  for (int i = 0; i < 6; ++i) {
    expect_numbers(r["centroidal_map"][i], {map[i]});
    expect_numbers(r["jacobian"][i], {J[i]});
  }
  EXPECT_EQ(keys(r["pose"]), (Words{"rotation", "position"}));
  expect_numbers(r["pose"]["rotation"][0], {c, 0, s});
  expect_numbers(r["pose"]["rotation"][1], {0, 1, 0});
  expect_numbers(r["pose"]["rotation"][2], {-s, 0, c});
  expect_numbers(r["pose"]["position"], {-s, 0, -c});
  expect_numbers(r["frame_velocity"], {0, w, 0, -w * c, 0, w * s});
  expect_numbers(r["jacobian_dot_v"], {0, 0, 0, w * w * s, 0, w * w * c});
}

TEST_F(CommandLine, WrenchesActInWorldAxesAtTheLinksOrigin) {
  const double s = std::sin(0.3), c = std::cos(0.3), gravity = 9.81 * s, M = 0.6;
  const double push = 5 - 7 * c + 11 * s;  // moment about y, force along x and z at the tip
  const std::string state =
      R"({"q": [0.3], "v": [0], "a": [0], "tau": [0], "wrenches": {"tip": [1, 5, 2, 7, 3, 11], "base": [9,9,9,9,9,9]}})";
  const Json r = result({"eval", pendulum(), "inverse_dynamics", "forward_dynamics", "bias_forces"}, state);
  expect_numbers(r["inverse_dynamics"], {gravity - push});
  expect_numbers(r["forward_dynamics"], {(push - gravity) / M});
  expect_numbers(r["bias_forces"], {gravity});
}

TEST_F(CommandLine, FreeBaseHasQuaternionThenPositionAndBodyAxes) {
  // Turned by pi/2 about x: the body's y axis points up.
  const Words words{"eval",   brick(), "inverse_dynamics", "pose", "momentum",
                    "--base", "free",  "--frame",          "body"};
  const Json all = json(words, R"({"q": [0.70710678118654752, 0, 0, 0.70710678118654752, 4, 5, 6],
                                   "v": [0, 0, 0, 1, 2, 0], "a": [0, 0, 0, 0, 0, 0]})");
  EXPECT_EQ(all["model"]["joints"],
            Json::parse(R"([{"name": "root_joint", "type": "free", "q_index": 0, "nq": 7,
                                                     "v_index": 0, "nv": 6}])"));
  EXPECT_EQ(all["model"]["mass"], 3.0);
  const Json& r = all["results"][0];
  expect_numbers(r["inverse_dynamics"], {0, 0, 0, 0, 3 * 9.81, 0});
  expect_numbers(r["pose"]["position"], {4, 5, 6});
  expect_numbers(r["pose"]["rotation"][2], {0, 1, 0});
  expect_numbers(r["momentum"], {0, 0, 0, 3, 0, 6});
  EXPECT_EQ(json({"eval", brick(), "mass_matrix"}, R"({"states": []})")["model"]["nv"], 0);
}

TEST_F(CommandLine, GravityIsAnOption) {
  const std::string state = R"({"q": [0.3]})";
  expect_numbers(
      result({"eval", "--gravity", "0", "0", "0", pendulum(), "gravity_forces"}, state)["gravity_forces"],
      {0});
  expect_numbers(
      result({"eval", pendulum(), "gravity_forces", "--gravity", "0", "0", "-.5"}, state)["gravity_forces"],
      {0.5 * std::sin(0.3)});
}

TEST_F(CommandLine, MimicJointsAreListedWithoutCoordinates) {
  const Json model = json({"eval", "hand", "mass_matrix"}, R"({"states": []})")["model"];
  int mimics = 0, nv = 0;
  for (const auto& joint : model["joints"]) {
    nv += joint["nv"].get<int>();
    if (!joint.contains("mimic")) continue;
    ++mimics;
    EXPECT_EQ(joint["nq"], 0);
    EXPECT_EQ(joint["nv"], 0);
    EXPECT_EQ(keys(joint["mimic"]), (Words{"joint", "multiplier", "offset"}));
  }
  EXPECT_GT(mimics, 0);
  EXPECT_EQ(nv, model["nv"]);
}

TEST_F(CommandLine, NumbersRoundTripToTheLastBit) {
  const Model model(make_chain(9, 5));
  const auto q = random(model, 1), v = random(model, 2), a = random(model, 3);
  const std::string state = Json{{"states", {{{"q", q}, {"v", v}, {"a", a}, {"tau", a}}}}}.dump();
  const Json all = json(
      {"eval", "chain:9:5", "inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"}, state);
  EXPECT_EQ(all["model"]["nv"], 9);
  const Json& r = all["results"][0];
  EXPECT_EQ(r["inverse_dynamics"].get<std::vector<double>>(), inverse_dynamics(model, q, v, a));
  EXPECT_EQ(r["forward_dynamics"].get<std::vector<double>>(), forward_dynamics(model, q, v, a));
  std::vector<double> M;
  for (const auto& row : r["mass_matrix"])
    for (const auto& x : row) M.push_back(x.get<double>());
  EXPECT_EQ(M, mass_matrix(model, q));
  EXPECT_EQ(r["kinetic_energy"].get<double>(), totals(model, q, v).kinetic);
}

TEST_F(CommandLine, ChainsDependOnTheirSeedAlone) {
  const std::string a = run({"info", "chain:4:7", "--json"}).out;
  EXPECT_EQ(a, run({"info", "chain:4:7", "--json"}).out);
  EXPECT_NE(a, run({"info", "chain:4:8", "--json"}).out);
  EXPECT_EQ(run({"info", "chain:4", "--json"}).out, run({"info", "chain:4:1", "--json"}).out);
}

TEST_F(CommandLine, QuaternionsNearUnitLengthAreNormalised) {
  const Words words{"eval", brick(), "pose", "mass_matrix", "--base", "free", "--frame", "body"};
  const auto state = [](double w) { return Json{{"q", {0, 0, 0, w, 0, 0, 0}}}.dump(); };
  EXPECT_EQ(result(words, state(1 + 9e-7)), result(words, state(1)));
  EXPECT_EQ(result(words, state(1 - 9e-7)), result(words, state(1)));
  for (const double w : {1 + 1.1e-6, 1 - 1.1e-6, 0.0, 3.0})
    expect_failure(2, words, state(w), {"state 0", "quaternion", "root_joint", "length"});
}

TEST_F(CommandLine, WrongStatesAreNamed) {
  const std::string file = pendulum();
  const Words bias{"eval", file, "bias_forces"};
  struct Case {
    std::string input;
    Words said;
  };
  for (const auto& [input, said] : std::vector<Case>{
           {"", {"<stdin>", "empty"}},
           {"[]", {"array", "states"}},
           {"{\"states\": 3}", {"\"states\"", "list"}},
           {"{\"states\": [7]}", {"state 0", "object"}},
           {"{}", {"state 0", "q is missing", "bias_forces", "1"}},
           {R"({"states": [{"q": [1], "v": [1]}, {"q": [1]}]})", {"state 1", "v is missing", "bias_forces"}},
           {R"({"states": [{"q": [1], "v": [1]}, {"q": [1], "v": [1, 2]}]})",
            {"state 1", "v has 2 numbers", "nv = 1"}},
           {R"({"q": [], "v": [1]})", {"state 0", "q has 0 numbers", "nq = 1"}},
           {R"({"q": [1], "v": [1], "a": [1, 2]})", {"state 0", "a has 2 numbers"}},
           {R"({"q": "1", "v": [1]})", {"state 0", "q is a JSON string"}},
           {R"({"q": ["1"], "v": [1]})", {"state 0", "q[0]", "string", "finite number"}},
           {R"({"q": [null], "v": [1]})", {"state 0", "q[0]", "null"}},
           {R"({"q": [[1]], "v": [1]})", {"state 0", "q[0]", "array"}},
           {R"({"q": [NaN], "v": [1]})", {"not JSON", "line 1"}},
           {R"({"q": [1e999], "v": [1]})", {"1e999"}},
           {R"({"q": [1], "q": [2], "v": [1]})", {"\"q\"", "twice"}},
           {R"({"q": [1], "v": [1])", {"not JSON", "line 1"}},
           {R"({"q": [1], "v": [1], "wrenches": {"top": [1,2,3,4,5,6]}})", {"state 0", "'top'", "tip"}},
           {R"({"q": [1], "v": [1], "wrenches": {"tip": [1,2,3]}})", {"state 0", "'tip'", "3 numbers", "6"}},
           {R"({"q": [1], "v": [1], "wrenches": [1]})", {"state 0", "wrenches", "LINK"}},
       })
    expect_failure(2, bias, input, said);
  // A key that is not read is said, and does no harm.
  const Ran ran = run({"eval", file, "gravity_forces"}, R"({"q": [1], "wrench": {}})");
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.err.find("\"wrench\""), std::string::npos) << ran.err;
}

TEST_F(CommandLine, WrongCommandLinesExitWithTwo) {
  const std::string file = pendulum(), state = R"({"q": [0], "v": [0]})";
  struct Case {
    Words words, said;
  };
  for (const auto& [words, said] : std::vector<Case>{
           {{"evaluate", file}, {"'evaluate'", "info, check, eval"}},
           {{"info"}, {"MODEL"}},
           {{"info", file, "more"}, {"more"}},
           {{"info", file, "--colour"}, {"--colour", "articula info --help"}},
           {{"info", file, "--base", "floating"}, {"floating", "fixed", "free"}},
           {{"info", file, "--gravity", "0", "0"}, {"--gravity", "3"}},
           {{"info", file, "--gravity", "0", "0", "down"}, {"--gravity", "down"}},
           {{"info", file, "--gravity", "0", "0", "nan"}, {"gravity", "finite"}},
           {{"info", "no_such_robot"}, {"no_such_robot", "puma560", "chain:N"}},
           {{"info", folder_.string()}, {"directory"}},
           {{"info", "chain:0"}, {"chain:0", "chain:10"}},
           {{"info", "chain:3:x"}, {"chain:3:x"}},
           {{"eval", file}, {"QUANTITY"}},
           {{"eval", file, "torque"}, {"'torque'", "inverse_dynamics", "forward_dynamics", "jacobian_dot_v"}},
           {{"eval", file, "pose"}, {"pose", "--frame"}},
           {{"eval", file, "pose", "--frame", "hand"}, {"'hand'", "tip"}},
           {{"eval", file, "bias_forces", "--states", path("none.json")}, {"none.json", "No such file"}},
           {{"eval", file, "bias_forces", "--states", folder_.string()}, {"directory"}},
           {{"eval", "-", "bias_forces"}, {"stdin", "--states"}},
           {{"eval", file, "bias_forces", "--out", path("no/such/folder")}, {"--out", "No such file"}},
           {{"eval", file, "bias_forces", "--out", folder_.string()}, {"--out", "directory"}},
       })
    expect_failure(2, words, state, said);
}

TEST_F(CommandLine, UnreadableModelsExitWithTwo) {
  expect_failure(2, {"info", write("bare.urdf", "<robot name=\"bare\"/>")}, "", {"bare.urdf:1: ", "<link>"});
  const std::string urdf = content(pendulum());
  for (const auto& [text, said] :
       std::vector<std::pair<std::string, std::string>>{{"", ":1:"},
                                                        {std::string("\0\1\2", 3), ":1:"},
                                                        {"hello", ":1:"},
                                                        {urdf.substr(0, urdf.size() / 2), ":"}}) {
    const std::string file = write("broken.urdf", text);
    for (const char* const what : {"info", "check"})
      expect_failure(2, {what, file}, "", {"broken.urdf" + said});
    expect_failure(2, {"eval", file, "mass_matrix"}, "{}", {"broken.urdf" + said});
  }
}

TEST_F(CommandLine, WhatCannotBeComputedExitsWithOne) {
  expect_failure(1, {"eval", "double_pendulum", "bias_forces"}, R"({"q": [0.1, 0.7], "v": [1e200, 1e200]})",
                 {"state 0", "bias_forces", "not finite"});
  const Ran full = shell(quoted(ARTICULA_PROGRAM) + " info hand > /dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.err.find("No space left"), std::string::npos) << full.err;
  EXPECT_EQ(shell(quoted(ARTICULA_PROGRAM) + " info hand >&-").code, 1);
}

TEST_F(CommandLine, CheckExitsWithZeroOnlyIfSound) {
  const Ran sound = run({"check", pendulum()});
  EXPECT_EQ(sound.code, 0) << sound.out;
  EXPECT_NE(sound.out.find("sound"), std::string::npos);
  for (const auto& entry : fs::directory_iterator(ARTICULA_SOURCE_DIR "/models"))
    if (entry.path().extension() == ".urdf") {
      const Ran shipped = run({"check", entry.path().stem()});
      EXPECT_EQ(shipped.code, 0) << entry.path() << "\n" << shipped.out << shipped.err;
    }
  EXPECT_EQ(run({"check", "chain:20"}).code, 0);

  std::string text = content(pendulum());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  const Ran suspicious = run({"check", write("doubtful.urdf", replaced("ixx=\"0.1\"", "ixx=\"0.5\""))});
  EXPECT_EQ(suspicious.code, 1);
  EXPECT_NE(suspicious.out.find("doubtful.urdf:3: warning: "), std::string::npos) << suspicious.out;
  EXPECT_NE(suspicious.out.find("0 errors, 1 warning\n"), std::string::npos) << suspicious.out;
  const Ran wrong = run({"check", write("wrong.urdf", replaced("child link=\"tip\"", "child link=\"top\""))});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.out.find("wrong.urdf:8: error: "), std::string::npos) << wrong.out;
  // The same file cannot be used at all.
  expect_failure(2, {"info", path("wrong.urdf")}, "", {"wrong.urdf:", "top"});
}

TEST_F(CommandLine, InfoTellsTheTree) {
  const Ran text = run({"info", pendulum()});
  EXPECT_EQ(text.code, 0);
  for (const char* const word : {"pendulum", "nq 1, nv 1", "base", "bob", "tip", "pivot", "revolute", "fixed",
                                 "-1", "0.5", "0.25", "gravity 0 0 -9.81"})
    EXPECT_NE(text.out.find(word), std::string::npos) << word << "\n" << text.out;

  const Json all = json({"info", "-", "--json", "--gravity", "1", "2", "3"}, content(pendulum()));
  EXPECT_EQ(keys(all), (Words{"model", "base", "gravity", "links", "frames"}));
  EXPECT_EQ(all["base"], "fixed");
  EXPECT_EQ(all["gravity"], Json::parse("[1.0, 2.0, 3.0]"));
  const Json& joint = all["model"]["joints"][0];
  EXPECT_EQ(joint["name"], "pivot");
  EXPECT_EQ(joint["parent"], "base");
  EXPECT_EQ(joint["child"], "bob");
  EXPECT_EQ(joint["limits"], Json::parse(R"({"lower": -1.0, "upper": 2.0, "velocity": 3.0, "effort": 4.0})"));
  EXPECT_EQ(joint["damping"], 0.5);
  EXPECT_EQ(joint["friction"], 0.25);
  EXPECT_EQ(joint["armature"], 0.0);
  EXPECT_EQ(all["links"].size(), 3u);
  EXPECT_EQ(all["links"][1]["mass"], 2.0);
  ASSERT_EQ(all["frames"].size(), 3u);
  EXPECT_EQ(all["frames"][2]["name"], "tip");
  EXPECT_EQ(all["frames"][2]["body"], "bob");
}

TEST_F(CommandLine, LongChainsAndManyStatesWork) {
  EXPECT_EQ(run({"info", "chain:20000"}).code, 0);
  std::string states = "{\"states\": [";
  for (int i = 0; i < 3000; ++i)
    states += (i ? ", " : "") + std::string("{\"q\": [") + std::to_string(i * 1e-3) + "]}";
  const Json all = json({"eval", pendulum(), "potential_energy"}, states + "]}");
  ASSERT_EQ(all["results"].size(), 3000u);
  EXPECT_NEAR(all["results"][2500]["potential_energy"].get<double>(), -9.81 * std::cos(2.5), 1e-13);
}

}  // namespace
}  // namespace articula

#endif
