// articula eval SCENE grasp and articula check SCENE, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/closed_chain.hpp"
#include "articula/loops/scene.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;

Printed run_on_scene(const std::string& arguments, bool errors = false) {
  return printed("'" ARTICULA_PROGRAM "' " + arguments + (errors ? " 2>&1 >/dev/null" : " 2>/dev/null") +
                 " </dev/null");
}

/// A scene with arms that are shipped, one of each contact kind, in a file.
struct SceneFile {
  json scene;
  fs::path path;
  SceneFile() {
    static int count = 0;
    path = fs::temp_directory_path() /
           ("articula_scene_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".json");
    const char* kinds[] = {"rigid", "hinge", "soft_finger", "point"};
    for (int i = 0; i < 4; ++i) {
      const double turn = M_PI / 2 * i;
      scene["arms"].push_back({{"name", std::string("arm") + kinds[i]},
                               {"model", "arm7"},
                               {"base",
                                {{"position", {-0.6 * std::cos(turn), -0.6 * std::sin(turn), 0}},
                                 {"quaternion", {0, 0, std::sin(turn / 2), std::cos(turn / 2)}}}},
                               {"tip", "flange"},
                               {"q", {0.2, 0.7, -0.1, 1.2, 0.3, -0.6, 0.4}},
                               {"v", std::vector<double>(7, 0.0)},
                               {"tau", {1, -2, 0.5, 0.3, 0.1, -0.2, 0.05}}});
      json g{{"arm", std::string("arm") + kinds[i]}, {"kind", kinds[i]}};
      if (i == 1) g["axis"] = {0, 0.6, 0.8};
      if (i == 2) g["normal"] = {0, 0, 1};
      scene["grasps"].push_back(g);
    }
    scene["gravity"] = {0, 0, -9.81};
    scene["object"] = {{"mass", 2.0},
                       {"center_of_mass", {0.01, 0.02, 0.03}},
                       {"inertia", {{0.05, 0.001, 0}, {0.001, 0.04, 0}, {0, 0, 0.03}}},
                       {"position", {0, 0, 0.8}},
                       {"quaternion", {0, 0, 0, 1}}};
  }
  ~SceneFile() { fs::remove(path); }
  std::string write() const {
    std::ofstream(path) << scene.dump();
    return path.string();
  }
};

TEST(SceneCommand, GraspIsThePapersSolution) {
  SceneFile file;
  const Printed ran = run_on_scene("eval " + file.write() + " grasp");
  ASSERT_EQ(ran.code, 0);
  const json grasp = json::parse(ran.out)["results"][0]["grasp"];
  EXPECT_EQ(grasp["rank"], 24);
  EXPECT_LT(grasp["residual"].get<double>(), 1e-9);
  // RCCFD1, each arm on its own.
  std::vector<GraspingArm> arms;
  const Grasp kinds[] = {Grasp::rigid, Grasp::hinge, Grasp::soft_finger, Grasp::point};
  std::vector<ArmState> states;
  const std::vector<double> zero(7), q = file.scene["arms"][0]["q"], tau = file.scene["arms"][0]["tau"];
  const ModelSpec spec = read_urdf_spec(std::string(ARTICULA_SOURCE_DIR) + "/models/arm7.urdf").spec;
  for (int i = 0; i < 4; ++i) {
    Assembly one;
    const double turn = M_PI / 2 * i;
    one.add("arm", spec, {rotation_from_rpy(0, 0, turn), {-0.6 * std::cos(turn), -0.6 * std::sin(turn), 0}});
    arms.push_back({"arm", one.model(), "arm/flange", kinds[i],
                    i == 1 ? Vec3<double>{0, 0.6, 0.8} : Vec3<double>{0, 0, 1}});
    states.push_back({q, zero, tau});
  }
  ClosedChain chain(arms, {2, {0.01, 0.02, 0.03}, {0.05, 0.04, 0.03, 0.001, 0, 0}});
  chain.compute(ClosedChain::Algorithm::rccfd1, states, {.pose = {Mat3<double>::identity(), {0, 0, 0.8}}});
  for (int i = 0; i < 4; ++i) {
    const json& arm = grasp["arms"][i];
    EXPECT_EQ(arm["name"], file.scene["arms"][i]["name"]);
    EXPECT_LT(relative_error(arm["a"].get<std::vector<double>>(), chain.acceleration(i)), 1e-9);
    const Spatial<double> f = chain.force(i);
    EXPECT_LT(relative_error(arm["force"].get<std::vector<double>>(), {numbers_of(f), 6}), 1e-8);
    EXPECT_EQ(arm["contact_rates"].size(), static_cast<std::size_t>(i));
    if (i > 0) {
      EXPECT_LT(relative_error(arm["contact_rates"].get<std::vector<double>>(), chain.contact_rates(i)),
                1e-8);
    }
  }
  const Spatial<double> alpha = chain.object_acceleration();
  EXPECT_LT(
      relative_error(grasp["object"]["acceleration"].get<std::vector<double>>(), {numbers_of(alpha), 6}),
      1e-9);
}

TEST(SceneCommand, GraspByTheNamedAlgorithms) {
  SceneFile file;
  const auto check = [&](std::initializer_list<const char*> methods) {
    const std::string path = file.write();
    const json grasp = json::parse(run_on_scene("eval " + path + " grasp").out)["results"][0]["grasp"];
    for (const std::string method : methods) {
      const Printed ran = run_on_scene("eval " + path + " grasp --method " + method);
      ASSERT_EQ(ran.code, 0) << method;
      const json other = json::parse(ran.out)["results"][0]["grasp"];
      EXPECT_EQ(other["method"], method);
      EXPECT_EQ(other["rank"], grasp["rank"]);
      const json& Pi = other["Pi"];  // (b.7b): symmetric
      ASSERT_EQ(Pi.size(), 6 * grasp["arms"].size());
      for (std::size_t i = 0; i < Pi.size(); ++i)
        EXPECT_NEAR(Pi[i][0].get<double>(), Pi[0][i].get<double>(), 1e-8 * std::abs(Pi[0][0].get<double>()));
      EXPECT_LT(other["residual"].get<double>(), 1e-9) << method;
      const auto numbers = [](const json& x) { return x.get<std::vector<double>>(); };
      for (std::size_t i = 0; i < grasp["arms"].size(); ++i)
        for (const char* part : {"a", "force", "contact_rates"})
          if (!grasp["arms"][i][part].empty())
            EXPECT_LT(relative_error(numbers(other["arms"][i][part]), numbers(grasp["arms"][i][part])), 1e-8)
                << method << " " << part << " " << i;
      EXPECT_LT(
          relative_error(numbers(other["object"]["acceleration"]), numbers(grasp["object"]["acceleration"])),
          1e-9);
    }
  };
  check({"rccfd1", "rccfd2", "rccfd3", "coupled"});
  // In motion: one arm takes the object along.
  file.scene["arms"].erase(1), file.scene["arms"].erase(1), file.scene["arms"].erase(1);
  file.scene["grasps"].erase(1), file.scene["grasps"].erase(1), file.scene["grasps"].erase(1);
  file.scene["arms"][0]["v"] = {0.1, 0.2, -0.3, 0.4, 0.3, 0.1, 0.2};
  check({"rccfd1", "rccfd2", "rccfd3", "coupled"});
  const auto refused = [](const std::string& arguments, const char* expected) {
    const Printed ran = run_on_scene("eval " + arguments, true);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.out.find(expected), std::string::npos) << ran.out;
  };
  refused("four_bar grasp --method rccfd1", "arms that hold one object");
  refused("two_arms grasp --method direct", "is for models");
  refused("arm7 forward_dynamics --method rccfd2", "of a scene");
}

TEST(SceneCommand, OperationalSpaceOfAHeldObject) {
  const json found = json::parse(run_on_scene("eval two_arms operational_space --frame object/body")
                                     .out)["results"][0]["operational_space"];
  const auto rank = found["rank"].get<int>();
  EXPECT_GT(rank, 0);
  double trace = 0;  // Omega Lambda is a projection
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 6; ++k)
      trace += found["omega"][i][k].get<double>() * found["lambda"][k][i].get<double>();
  EXPECT_NEAR(trace, rank, 1e-8);
  const auto refused = [](const std::string& arguments, const char* expected) {
    const Printed ran = run_on_scene("eval two_arms " + arguments, true);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.out.find(expected), std::string::npos) << ran.out;
  };
  refused("operational_space", "needs --frame");
  refused("operational_space --frame nobody", "nobody");
  refused("grasp --frame object/body", "is for operational_space");
}

TEST(SceneCommand, VelocitiesThatDoNotFit) {
  SceneFile file;
  file.scene["arms"][0]["v"] = {0.1, 0.2, 0, 0, 0.3, 0, 0};
  file.scene["arms"][3]["v"] = {-0.1, 0.5, 0, 0.4, 0, 0, 0};
  const Printed refused = run_on_scene("eval " + file.write() + " grasp", true);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.out.find("does not fit"), std::string::npos) << refused.out;
  EXPECT_NE(refused.out.find("arm '"), std::string::npos) << refused.out;
  EXPECT_NE(refused.out.find("residual"), std::string::npos) << refused.out;
  const Printed projected = run_on_scene("eval " + file.path.string() + " grasp --project");
  ASSERT_EQ(projected.code, 0);
  EXPECT_LT(json::parse(projected.out)["results"][0]["grasp"]["residual"].get<double>(), 1e-8);
  EXPECT_EQ(run_on_scene("check " + file.path.string()).code, 1);
  // One arm that moves takes the object along: its velocity follows.
  file.scene["arms"].erase(1), file.scene["arms"].erase(1), file.scene["arms"].erase(1);
  file.scene["grasps"].erase(1), file.scene["grasps"].erase(1), file.scene["grasps"].erase(1);
  EXPECT_EQ(run_on_scene("eval " + file.write() + " grasp").code, 0);
}

TEST(SceneCommand, ErrorsAreOneLineAndExitCodeTwo) {
  const auto refused = [](const std::function<void(json&)>& change, const char* expected) {
    SceneFile file;
    change(file.scene);
    const std::string path = file.write();
    for (const char* command : {"eval ", "check "}) {
      const Printed ran = run_on_scene(command + path + (command[0] == 'e' ? " grasp" : ""), true);
      EXPECT_EQ(ran.code, 2) << ran.out;
      EXPECT_NE(ran.out.find(expected), std::string::npos) << ran.out;
      EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
    }
  };
  refused([](json& s) { s["grasps"][1]["arm"] = "nobody"; }, "there is no arm 'nobody'");
  refused([](json& s) { s["object"]["mass"] = 0; }, "/object/mass");
  refused([](json& s) { s["object"]["inertia"] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}; }, "positive definite");
  refused([](json& s) { s["object"]["quaternion"] = {0, 0, 0, 2}; }, "quaternion");
  refused([](json& s) { s["arms"][0]["tip"] = "no_link"; }, "no_link");
  refused([](json& s) { s["arms"][0]["model"] = "no_such_model"; }, "no_such_model");
  refused([](json& s) { s["arms"][1]["name"] = s["arms"][0]["name"]; }, "two arms");
  refused([](json& s) { s["grasps"][0]["kind"] = "glue"; }, "unknown kind 'glue'");
  refused([](json& s) { s["grasps"][1].erase("axis"); }, "\"axis\" is missing");
  refused([](json& s) { s["grasps"][1]["axis"] = {0, 0, 0}; }, "no direction");
  refused([](json& s) { s["surprise"] = 1; }, "unknown key \"surprise\"");
  refused([](json& s) { s.erase("object"); }, "no \"object\"");
  refused([](json& s) { s = json::array(); }, "expected an object");
  // Found when the state is put in.
  SceneFile file;
  file.scene["arms"][0]["q"] = {1, 2};
  const Printed ran = run_on_scene("eval " + file.write() + " grasp", true);
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("has 2 numbers"), std::string::npos) << ran.out;
  EXPECT_EQ(run_on_scene("eval " + file.path.string() + " mass_matrix", true).code, 2);
  EXPECT_EQ(run_on_scene("eval /no/such/scene.json grasp", true).code, 2);
  std::ofstream(file.path) << R"({"gravity": [0, 0, 0], "gravity": [0, 0, -1]})";
  EXPECT_NE(run_on_scene("eval " + file.path.string() + " grasp", true).out.find("twice"), std::string::npos);
  std::ofstream(file.path) << "";
  EXPECT_NE(run_on_scene("eval " + file.path.string() + " grasp", true).out.find("is empty"),
            std::string::npos);
}

TEST(SceneCommand, ScenesMayComeFromStdin) {
  const SceneFile file;
  const std::string scene = file.write();
  const auto piped = [&](const std::string& words) {
    return printed("'" ARTICULA_PROGRAM "' " + words + " <" + scene + " 2>&1");
  };
  EXPECT_EQ(piped("eval - grasp").out, run_on_scene("eval " + scene + " grasp").out);
  EXPECT_EQ(piped("simulate - --duration 0.01").out,
            run_on_scene("simulate " + scene + " --duration 0.01").out);
  EXPECT_EQ(piped("check -").code, 0);
  EXPECT_NE(piped("info -").out.find("'-' is a scene"), std::string::npos);
}

TEST(SceneCommand, ModelsAreExpectedElsewhere) {
  for (const char* command : {"info", "operators --identities", "bench", "count"}) {
    const Printed ran = run_on_scene(std::string(command) + " two_arms", true);
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_NE(ran.out.find("'two_arms' is a scene"), std::string::npos) << ran.out;
  }
  const Printed ran = run_on_scene("eval two_arms grasp --states x.json", true);
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("its state is in the file"), std::string::npos) << ran.out;
}

TEST(SceneCommand, ShippedScenes) {
  for (const char* name : {"four_bar", "slider_crank", "stewart", "gripper", "two_arms"}) {
    SCOPED_TRACE(name);
    const Printed ran = run_on_scene(std::string("eval ") + name + " grasp grasp_linearized");
    ASSERT_EQ(ran.code, 0);
    const json result = json::parse(ran.out)["results"][0];
    EXPECT_LT(result["grasp"]["residual"].get<double>(), 1e-9);
    EXPECT_EQ(result["grasp_linearized"]["dq"].size(), result["grasp_linearized"]["a"].size());
    const Printed checked = run_on_scene(std::string("check ") + name);
    EXPECT_EQ(checked.code, 0) << checked.out;
    EXPECT_NE(checked.out.find("sound"), std::string::npos);
  }
  // A planar loop in space is over-determined, and says so.
  EXPECT_NE(run_on_scene("check four_bar").out.find("'rocker pivot' (translation along z) holds by itself"),
            std::string::npos);
}

std::vector<std::vector<double>> rows_of(const std::string& csv, std::vector<std::string>& names) {
  std::vector<std::vector<double>> out;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    out.emplace_back();
    for (const auto& cell : cells) out.back().push_back(std::stod(cell));
  }
  return out;
}

TEST(SceneCommand, SimulationHoldsConstraintsAndEnergy) {
  for (const char* name : {"four_bar", "two_arms"}) {
    SCOPED_TRACE(name);
    const Printed ran =
        run_on_scene(std::string("simulate ") + name + " --duration 1 --step 0.001 --every 0.1");
    ASSERT_EQ(ran.code, 0);
    std::vector<std::string> names;
    const auto rows = rows_of(ran.out, names);
    ASSERT_EQ(rows.size(), 11u);
    const auto column = [&](const std::string& wanted) {
      return std::find(names.begin(), names.end(), wanted) - names.begin();
    };
    ASSERT_LT(column("constraint_drift"), static_cast<long>(names.size()));
    double most = 0;
    for (const auto& row : rows) {
      most = std::max(most, row[column("kinetic_energy")]);
      EXPECT_LT(row[column("constraint_drift")], 1e-10);
      EXPECT_LT(row[column("velocity_drift")], 1e-8);
    }
    for (const auto& row : rows) EXPECT_LT(std::abs(row[column("energy_change")]), 1e-6 * most);
  }
  // A contact that may not pull: a box hung from the ceiling by its lid.
  SceneFile file;
  file.scene = {{"object", {{"mass", 1}, {"inertia", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}},
                {"grasps",
                 {{{"arm", "world"},
                   {"kind", "rigid"},
                   {"position", {0, 0, 0}},
                   {"limits", {{"friction", 1}, {"normal", {0, 0, -1}}}}}}}};
  const std::string path = file.write();
  EXPECT_NE(run_on_scene("simulate " + path + " --duration 0.002", true)
                .out.find("contact 'world' would have to pull"),
            std::string::npos);
  EXPECT_NE(run_on_scene("simulate " + path + " --duration 0.002").out.find("holds:world"),
            std::string::npos);
  EXPECT_EQ(run_on_scene("check " + path).code, 1);
  EXPECT_EQ(run_on_scene("simulate four_bar --duration 1 --limits events", true).code, 2);  // not with rk4
  const Printed held =
      run_on_scene("simulate stewart --duration 1 --every 0.1 --integrator rk45 --limits events");
  EXPECT_EQ(held.code, 0);
  EXPECT_EQ(run_on_scene("simulate four_bar --duration 1 --monte-carlo 2 --device cuda", true).code, 2);
}

TEST(SceneCommand, ReportDrawsTheHandsForces) {
  const fs::path page = fs::temp_directory_path() / ("articula_scene_" + std::to_string(getpid()) + ".html");
  const Printed ran = run_on_scene(
      "simulate two_arms --duration 0.02 --every 0.01 --out /dev/null --report '" + page.string() + "'",
      true);
  if (ran.out.find("no report page") != std::string::npos) GTEST_SKIP() << "built without the page";
  ASSERT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  fs::remove(page);
  EXPECT_NE(text.find("\"title\":\"two_arms\""), std::string::npos);
  const std::size_t forces = text.find("\"forces\":[");
  ASSERT_NE(forces, std::string::npos);
  EXPECT_NE(text.find("\"left\"", forces), std::string::npos);
}

}  // namespace
}  // namespace articula::testing

#endif
