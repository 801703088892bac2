// articula eval ... operational_space, by running the program (docs/command_line.md).
#include "tests/support/command_line.hpp"

#ifdef ARTICULA_PROGRAM

#include "articula/files/urdf.hpp"
#include "articula/task_space/task_space.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using Vector = std::vector<double>;

Vector flat(const Json& rows) {
  Vector out;
  for (const Json& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}
std::string text(const Vector& q, const Vector& v) { return Json{{"q", q}, {"v", v}}.dump(); }
const std::string arm = ARTICULA_SOURCE_DIR "/models/arm7.urdf";
const std::string humanoid = ARTICULA_SOURCE_DIR "/models/humanoid.urdf";

class OperationalSpaceCommand : public CommandLine {};

TEST_F(OperationalSpaceCommand, OneFrame) {
  const Model model = read_urdf(arm);
  Rng rng(3);
  const State s = random_state(rng, model);
  const Json value =
      result({"eval", arm, "operational_space", "--frame", "flange"}, text(s.q, s.v))["operational_space"];
  TaskSpace space(model, pose_task(model, "flange"));
  space.update(s.q, s.v);
  Vector square(36), six(6), bar(42);
  space.omega(square);
  EXPECT_EQ(flat(value["omega"]), square);
  space.lambda(square);
  EXPECT_EQ(flat(value["lambda"]), square);
  space.coriolis(six);
  EXPECT_EQ(value["coriolis"].get<Vector>(), six);
  space.gravity(six);
  EXPECT_EQ(value["gravity"].get<Vector>(), six);
  space.jacobian_bar(bar);
  EXPECT_EQ(flat(value["jacobian_bar"]), bar);
  ASSERT_EQ(value["jacobian_bar"].size(), 7u);
  EXPECT_EQ(value["rank"], 6);
  EXPECT_EQ(value.size(), 6u);
}

TEST_F(OperationalSpaceCommand, SeveralFramesAreStacked) {
  const Model model = read_urdf(humanoid, {.base = Base::free});
  Rng rng(5);
  const State s = random_state(rng, model);
  const Json value = result({"eval", humanoid, "--base", "free", "operational_space", "--frame", "left_hand",
                             "--frame", "right_sole"},
                            text(s.q, s.v))["operational_space"];
  const std::vector<Task> tasks{pose_task(model, "left_hand"), pose_task(model, "right_sole")};
  TaskSpace space(model, tasks);
  space.update(s.q, s.v);
  Vector square(144);
  space.omega(square);
  ASSERT_EQ(value["omega"].size(), 12u);
  EXPECT_EQ(flat(value["omega"]), square);
  EXPECT_EQ(value["rank"], 12);
  EXPECT_EQ(value["gravity"].size(), 12u);
}

TEST_F(OperationalSpaceCommand, SaysWhatIsLost) {
  const Ran ran = run({"eval", arm, "operational_space", "--frame", "flange"}, text(Vector(7), Vector(7)));
  ASSERT_EQ(ran.code, 0);
  EXPECT_NE(ran.err.find("moving 'flange' along (0.000, 0.000, 1.000), world axes"), std::string::npos)
      << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  const Json value = Json::parse(ran.out)["results"][0]["operational_space"];
  EXPECT_EQ(value["rank"], 3);
  const Vector Omega = flat(value["omega"]), Lambda = flat(value["lambda"]);
  // Omega Lambda Omega = Omega
  Vector left(36), product(36);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) left[6 * i + j] += Omega[6 * i + k] * Lambda[6 * k + j];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) product[6 * i + j] += left[6 * i + k] * Omega[6 * k + j];
  EXPECT_LT(relative_error(product, Omega), 1e-11);
  // Of many states the first ten are told, and how many there are.
  std::string states = text(Vector(7), Vector(7));
  for (int i = 1; i < 30; ++i) states += ", " + text(Vector(7), Vector(7));
  const Ran many =
      run({"eval", arm, "operational_space", "--frame", "flange"}, "{\"states\": [" + states + "]}");
  EXPECT_EQ(std::count(many.err.begin(), many.err.end(), '\n'), 11);
  EXPECT_NE(many.err.find("20 more"), std::string::npos) << many.err;
}

TEST_F(OperationalSpaceCommand, WrongInput) {
  const std::string good = text(Vector(7), Vector(7));
  expect_failure(2, {"eval", arm, "operational_space"}, good, {"operational_space needs --frame LINK"});
  expect_failure(2, {"eval", arm, "operational_space", "--frame", "nothing"}, good, {"no frame 'nothing'"});
  expect_failure(2, {"eval", arm, "pose", "--frame", "flange", "--frame", "hand"}, good,
                 {"pose takes one --frame LINK, 2 given"});
  const Words words{"eval", arm, "operational_space", "--frame", "flange"};
  expect_failure(2, words, R"({"q": [0,0,0,0,0,0,0]})", {"state 0", "v", "operational_space"});
  expect_failure(2, words, R"({"q": [0,0,0], "v": [0,0,0]})", {"state 0", "q", "3", "7"});
  expect_failure(1, words, text(Vector(7), Vector(7, 1e200)), {"state 0", "finite"});
  EXPECT_TRUE(json(words, R"({"states": []})")["results"].empty());
  // --frame takes one name: what follows is still a quantity
  const Ran before = run({"eval", arm, "--frame", "flange", "operational_space", "pose"}, good);
  ASSERT_EQ(before.code, 0);
  EXPECT_TRUE(Json::parse(before.out)["results"][0].contains("pose"));
}

TEST_F(OperationalSpaceCommand, FramesOfTheWorld) {
  const Ran ran = run({"eval", arm, "operational_space", "--frame", "base"}, text(Vector(7), Vector(7)));
  ASSERT_EQ(ran.code, 0);
  const Json value = Json::parse(ran.out)["results"][0]["operational_space"];
  EXPECT_EQ(value["rank"], 0);
  EXPECT_EQ(flat(value["omega"]), Vector(36));
  EXPECT_EQ(flat(value["lambda"]), Vector(36));
}

}  // namespace
}  // namespace articula::testing

#endif
