// articula eval ... operational_space, by running the program (CLI.md).
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "articula/files/urdf.hpp"
#include "articula/task_space/task_space.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;
using Vector = std::vector<double>;

struct Ran {
  int code;
  std::string out;
};
/// Standard output, or standard error.
Ran run(const std::string& arguments, const std::string& input, bool errors = false) {
  const std::string command = "printf '%s' '" + input + "' | '" ARTICULA_PROGRAM "' eval " + arguments +
                              (errors ? " 2>&1 >/dev/null" : " 2>/dev/null");
  FILE* pipe = popen(command.c_str(), "r");
  Ran ran{-1, {}};
  std::array<char, 4096> chunk;
  while (pipe && std::fgets(chunk.data(), chunk.size(), pipe)) ran.out += chunk.data();
  if (pipe) ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}
Vector flat(const json& rows) {
  Vector out;
  for (const json& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}
const std::string arm = ARTICULA_SOURCE_DIR "/models/arm7.urdf";
const std::string humanoid = ARTICULA_SOURCE_DIR "/models/humanoid.urdf";

TEST(OperationalSpaceCommand, OneFrame) {
  const Model model = read_urdf(arm);
  Rng rng(3);
  const State s = random_state(rng, model);
  const Ran ran = run(arm + " operational_space --frame flange", json{{"q", s.q}, {"v", s.v}}.dump());
  ASSERT_EQ(ran.code, 0);
  const json result = json::parse(ran.out)["results"][0]["operational_space"];
  TaskSpace space(model, pose_task(model, "flange"));
  space.update(s.q, s.v);
  Vector square(36), six(6), bar(42);
  space.omega(square);
  EXPECT_EQ(flat(result["omega"]), square);
  space.lambda(square);
  EXPECT_EQ(flat(result["lambda"]), square);
  space.coriolis(six);
  EXPECT_EQ(result["coriolis"].get<Vector>(), six);
  space.gravity(six);
  EXPECT_EQ(result["gravity"].get<Vector>(), six);
  space.jacobian_bar(bar);
  EXPECT_EQ(flat(result["jacobian_bar"]), bar);
  ASSERT_EQ(result["jacobian_bar"].size(), 7u);
  EXPECT_EQ(result["rank"], 6);
}

TEST(OperationalSpaceCommand, SeveralFramesAreStacked) {
  const Model model = read_urdf(humanoid, {.base = Base::free});
  Rng rng(5);
  const State s = random_state(rng, model);
  const Ran ran = run(humanoid + " --base free operational_space --frame left_hand --frame right_sole",
                      json{{"q", s.q}, {"v", s.v}}.dump());
  ASSERT_EQ(ran.code, 0);
  const json result = json::parse(ran.out)["results"][0]["operational_space"];
  const std::vector<Task> tasks{pose_task(model, "left_hand"), pose_task(model, "right_sole")};
  TaskSpace space(model, tasks);
  space.update(s.q, s.v);
  Vector square(144);
  space.omega(square);
  ASSERT_EQ(result["omega"].size(), 12u);
  EXPECT_EQ(flat(result["omega"]), square);
  EXPECT_EQ(result["rank"], 12);
  EXPECT_EQ(result["gravity"].size(), 12u);
}

TEST(OperationalSpaceCommand, SaysWhatIsLost) {
  const json rest{{"q", Vector(7)}, {"v", Vector(7)}};
  const Ran ran = run(arm + " operational_space --frame flange", rest.dump());
  ASSERT_EQ(ran.code, 0);
  const json result = json::parse(ran.out)["results"][0]["operational_space"];
  const int rank = result["rank"];
  EXPECT_LT(rank, 6);
  const Vector Omega = flat(result["omega"]), Lambda = flat(result["lambda"]);
  // Omega Lambda Omega = Omega
  Vector left(36), product(36);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) left[6 * i + j] += Omega[6 * i + k] * Lambda[6 * k + j];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) product[6 * i + j] += left[6 * i + k] * Omega[6 * k + j];
  EXPECT_LT(relative_error(product, Omega), 1e-11);
  const Ran told = run(arm + " operational_space --frame flange", rest.dump(), true);
  EXPECT_NE(told.out.find("moving 'flange' along (0.000, 0.000, 1.000), world axes"), std::string::npos)
      << told.out;
  EXPECT_EQ(std::count(told.out.begin(), told.out.end(), '\n'), 1);
}

TEST(OperationalSpaceCommand, WrongInput) {
  struct Bad {
    std::string arguments, input, message;
  };
  const std::string good = json{{"q", Vector(7)}, {"v", Vector(7)}}.dump();
  for (const Bad& bad :
       {Bad{" operational_space", good, "operational_space needs --frame LINK"},
        Bad{" operational_space --frame nothing", good, "no frame 'nothing'"},
        Bad{" pose --frame flange --frame hand", good, "pose takes one --frame LINK, 2 given"},
        Bad{" operational_space --frame flange", R"({"q": [0,0,0,0,0,0,0]})", "v"},
        Bad{" operational_space --frame flange", R"({"q": [0,0,0], "v": [0,0,0]})", "3"}}) {
    const Ran ran = run(arm + bad.arguments, bad.input, true);
    EXPECT_EQ(ran.code, 2) << bad.arguments;
    EXPECT_NE(ran.out.find(bad.message), std::string::npos) << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  }
  const Ran empty = run(arm + " operational_space --frame flange", R"({"states": []})");
  EXPECT_EQ(empty.code, 0);
  EXPECT_TRUE(json::parse(empty.out)["results"].empty());
  // --frame takes one name: what follows is still a quantity
  const Ran before = run(arm + " --frame flange operational_space pose", good);
  ASSERT_EQ(before.code, 0);
  EXPECT_TRUE(json::parse(before.out)["results"][0].contains("pose"));
}

TEST(OperationalSpaceCommand, ModelsWithoutFreedomAndFramesOfTheWorld) {
  const Ran ran =
      run(arm + " operational_space --frame base", json{{"q", Vector(7)}, {"v", Vector(7)}}.dump());
  ASSERT_EQ(ran.code, 0);
  const json result = json::parse(ran.out)["results"][0]["operational_space"];
  EXPECT_EQ(result["rank"], 0);
  EXPECT_EQ(flat(result["omega"]), Vector(36));
  EXPECT_EQ(flat(result["lambda"]), Vector(36));
}

}  // namespace
}  // namespace articula::testing

#endif
