// Scene files: what they say, and that nothing in them can do harm.
#include "articula/loops/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/random_models.hpp"
#include "tests/support/urdf_mutations.hpp"

namespace articula::testing {
namespace {

namespace fs = std::filesystem;
const fs::path models = fs::path(ARTICULA_SOURCE_DIR) / "models";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SceneFiles, AnObjectRestsOnTheWorld) {
  const char* const text =
      R"({"object": {"name": "table", "mass": 10, "inertia": [[1,0,0],[0,1,0],[0,0,1]], "position": [0,0,1]},
    "grasps": [{"arm": "world", "kind": "point", "position": [1,0,0], "limits": {"friction": 0.5}},
               {"arm": "world", "kind": "point", "position": [-1,1,0], "limits": {"friction": 0.5}},
               {"arm": "world", "kind": "point", "position": [-1,-1,0], "limits": {"friction": 0.5}}]})";
  Scene scene(parse_scene(text, "table.json", ""));
  EXPECT_EQ(scene.constraints()[2].name, "world 3");
  std::vector<double> a(6);
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
  EXPECT_LT(largest(a), 1e-12);
  double weight = 0;
  for (int i = 0; i < 3; ++i) {
    const ContactState s = scene.dynamics().contact_state(i);
    weight += s.normal_force;
    EXPECT_TRUE(s.holds());
  }
  EXPECT_NEAR(weight, 98.1, 1e-9);
  EXPECT_NEAR(scene.dynamics().contact_state(0).normal_force, 98.1 / 2, 1e-9);
  // Nine rows hold six freedoms: redundant, and said so.
  EXPECT_EQ(scene.dynamics().rank(), 6);
  EXPECT_EQ(scene.dynamics().dependences().size(), 3u);
  // Pulled sideways it slips, lifted it would have to be held down.
  const std::vector<Spatial<double>> pull{{{0, 0, 0}, {80, 0, 0}}}, lift{{{0, 0, 0}, {0, 0, 200}}};
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a, pull);
  EXPECT_TRUE(scene.dynamics().contact_state(1).slips || scene.dynamics().contact_state(0).slips);
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a, lift);
  EXPECT_TRUE(scene.dynamics().contact_state(0).pulls);
}

TEST(SceneFiles, SeveralObjectsAndFloatingBases) {
  const char* const text =
      R"({"arms": [{"name": "a", "model": "arm7.urdf", "base": {"free": true}, "tip": "flange",
                "q": [0,0,0,1, 0,0,0, 0.1,0.2,0.3,0.4,0.5,0.6,0.7]},
               {"name": "b", "model": "arm7.urdf", "base": {"position": [1,0,0]}, "tip": "flange"}],
    "objects": [{"name": "cup", "mass": 1, "inertia": [[1,0,0],[0,1,0],[0,0,1]], "position": [0,0,1]},
                {"name": "pan", "mass": 2, "inertia": [[1,0,0],[0,1,0],[0,0,1]], "position": [1,0,1], "velocity": [0,0,0,0,0,0]}],
    "grasps": [{"arm": "a", "object": "cup", "kind": "rigid"}, {"arm": "b", "object": "pan", "kind": "soft_finger", "normal": [0,0,2]}]})";
  Scene scene(parse_scene(text, "kitchen.json", models.string()));
  EXPECT_EQ(scene.model().nv(), 13 + 7 + 12);
  EXPECT_EQ(scene.arm(1).v, 13);
  EXPECT_EQ(scene.object(1).v, 26);
  std::vector<double> a(scene.model().nv());
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
  EXPECT_LT(scene.dynamics().residual(scene.q, scene.v, a), 1e-9);
  // The first pair floats freely: its common mass centre falls. (Arm and cup share no joint with the others:
  // Omega has no such block.)
  std::vector<double> Omega(static_cast<std::size_t>(scene.dynamics().rows()) * scene.dynamics().rows());
  scene.dynamics().omega(Omega);
  for (int i = 0; i < 6; ++i)
    for (int j = 6; j < 10; ++j) EXPECT_EQ(Omega[i * 10 + j], 0);
}

TEST(SceneFiles, OpenLoopsAreErrorsOrClosed) {
  SceneSpec spec = read_scene((models / "four_bar.json").string());
  spec.arms[0].q[1] += 0.01;
  EXPECT_THROW(Scene{spec}, ModelError);
  Scene closed(spec, {.project = true});
  EXPECT_LT(closed.dynamics().drift(closed.q, closed.v).position, 1e-11);
  spec.arms[0].q = {0, 0, 3};
  spec.loops[0].a.placement.p = {5, 0, 0};  // out of reach
  EXPECT_THROW(Scene(spec, {.project = true}), Error);
}

/// Whatever the file says, the answer is a scene or an error of the library.
TEST(SceneFiles, SurviveMutations) {
  Dice dice(7);
  int accepted = 0, refused = 0;
  const ModelSpec arm = read_urdf_spec((models / "arm7.urdf").string()).spec;
  const ModelSpec bars = read_urdf_spec((models / "four_bar_chain.urdf").string()).spec;
  const ModelSpec fingers = read_urdf_spec((models / "gripper_fingers.urdf").string()).spec;
  const auto reader = [&](const std::string& source, const std::string&) {
    if (source.find("four") != source.npos) return bars;
    if (source.find("grip") != source.npos) return fingers;
    return arm;
  };
  const std::string texts[] = {text_of(models / "two_arms.json"), text_of(models / "four_bar.json"),
                               text_of(models / "gripper.json")};
  const char* const tokens[] = {"1e308",     "-1",     "0",    "null",     "[]",      "{}",
                                "\"world\"", "1e-300", "true", "\"left\"", "[0,0,0]", "1e999"};
  for (int i = 0; i < 1500; ++i) {
    std::string text = texts[dice.below(3)];
    if (dice.chance(30)) {
      text = mutate_bytes(text, dice);
    } else {  // a number or word for another
      const std::size_t at = text.find_first_of("0123456789", dice.below(text.size()));
      if (at == text.npos) continue;
      const std::size_t end = text.find_first_of(",]} ", at);
      text.replace(at, end - at, tokens[dice.below(std::size(tokens))]);
    }
    try {
      Scene scene(parse_scene(text, "mutated", models.string(), reader), {.project = dice.chance(50)});
      std::vector<double> a(scene.model().nv());
      scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace articula::testing
