#include "articula/task_space/coordinates.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/simulation/simulator.hpp"
#include "articula/simulation/task_control.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/motions.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = TaskCoordinates::Vector;

TEST(TaskCoordinates, EveryEulerSequence) {
  for (const char* sequence :
       {"xyx", "xyz", "xzx", "xzy", "yxy", "yxz", "yzx", "yzy", "zxy", "zxz", "zyx", "zyz"}) {
    const EulerAngles angles(sequence);
    Rng rng(5);
    for (int trial = 0; trial < 20; ++trial) {
      Vector y, rate;
      for (double& x : y) x = rng.uniform(-3, 3);
      y[1] = sequence[0] == sequence[2] ? rng.uniform(0.1, 3) : rng.uniform(-1.4, 1.4);
      for (double& x : rate) x = rng.uniform();
      const FramePose<double> pose{angles.rotation(y), {y[3], y[4], y[5]}};
      const Vector back = angles.of(pose);
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(back[i], y[i], 1e-12) << sequence << i;
      // Pi: R moves by w; and y' comes back from it.
      const double h = 1e-6;
      Vector next = y, before = y;
      for (int i = 0; i < 6; ++i) next[i] += h * rate[i], before[i] -= h * rate[i];
      const Vec3<double> w =
          log_quaternion(quaternion(angles.rotation(next) * star(angles.rotation(before)))) * (1 / (2 * h));
      const auto Pi = angles.map(y);
      Spatial<double> velocity{};
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) numbers_of(velocity)[i] += Pi[6 * i + j] * rate[j];
      EXPECT_NEAR(velocity.w.x, w.x, 1e-8);
      EXPECT_NEAR(velocity.w.y, w.y, 1e-8);
      EXPECT_NEAR(velocity.w.z, w.z, 1e-8);
      EXPECT_NEAR(velocity.v.y, rate[4], 1e-15);
      const Vector found = angles.rate(y, velocity);
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(found[i], rate[i], 1e-11) << sequence << i;
      // Pi', against the differences that other coordinates get.
      const auto exact = angles.map_rate(y, rate), about = angles.TaskCoordinates::map_rate(y, rate);
      for (int i = 0; i < 36; ++i) EXPECT_NEAR(exact[i], about[i], 1e-9);
    }
  }
  EXPECT_THROW(EulerAngles("xxy"), ArgumentError);
  EXPECT_THROW(EulerAngles("abc"), ArgumentError);
  EXPECT_THROW(EulerAngles("zy"), ArgumentError);
  EXPECT_THROW(EulerAngles("zyx").rate({0, M_PI / 2, 0, 0, 0, 0}, {{1, 0, 0}, {0, 0, 0}}), SingularError);
}

/// Angles, and the position as radius, angle and height: with Pi alone, Pi' by differences.
struct Cylinder : TaskCoordinates {
  EulerAngles angles{"zyx"};
  Vector of(const FramePose<double>& pose) const override {
    Vector y = angles.of(pose);
    const double r = std::hypot(y[3], y[4]), turn = std::atan2(y[4], y[3]);
    y[3] = r, y[4] = turn;
    return y;
  }
  Matrix map(const Vector& y) const override {
    Matrix Pi = angles.map(y);
    const double c = std::cos(y[4]), s = std::sin(y[4]), r = y[3];
    Pi[21] = c, Pi[22] = -r * s, Pi[27] = s, Pi[28] = r * c;
    return Pi;
  }
};

/// Under the controller each coordinate is a critically damped loop of its own (OSC 2, 5).
TEST(TaskCoordinates, EachIsALoopOfItsOwn) {
  const Model arm = shipped("arm7");
  std::vector<double> q{0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1};
  const auto check = [&](std::shared_ptr<const TaskCoordinates> coordinates, double tolerance) {
    const Vector start = coordinates->of(pose(arm, q, "hand"));
    ControlledTask task{.task = pose_task(arm, "hand"), .coordinates = coordinates};
    const double by[] = {0.1, -0.05, 0.08, 0.03, -0.04, 0.02};
    for (int i = 0; i < 6; ++i) task.wanted.y[i] = start[i] + by[i];
    TaskListControl control(arm, {{task}}, q, 0, 5);
    Simulator sim(arm, Integrator::rk4);
    sim.q = q;
    sim.add(control);
    for (int step = 1; step <= 200; ++step) sim.advance(1e-3 * step);
    const Vector end = coordinates->of(pose(arm, sim.q, "hand"));
    for (int i = 0; i < 6; ++i)
      EXPECT_NEAR(end[i], start[i] + by[i] * (1 - std::exp(-10 * 0.2) * (1 + 10 * 0.2)), tolerance) << i;
  };
  check(std::make_shared<EulerAngles>("zyx"), 1e-9);
  check(std::make_shared<EulerAngles>("zyz"), 1e-9);
  check(std::make_shared<Cylinder>(), 1e-8);
}

/// Levels and pushes are the TaskController's.
TEST(TaskListControl, IsTheTaskController) {
  const Model arm = shipped("arm7");
  const std::vector<double> q{0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1}, v{0.1, -0.2, 0.3, 0, 0.1, 0.2, -0.1};
  MotionTarget there{.rotation = Mat3<double>::identity(), .position = {0.4, 0.1, 0.5}};
  const Task position = position_task(arm, "hand"), turn = orientation_task(arm, "hand");
  TaskListControl list(
      arm,
      {{{.task = position, .target = there, .pushes = {{2, -10, 3}}}}, {{.task = turn, .target = there}}}, q,
      4, 1);
  std::vector<double> found(7), expected(7);
  list.add_forces(0, q, v, found);
  TaskController control(arm, {{position}, {turn}});
  control.update(q, v);
  control.follow(0, there);
  control.press(0, 2, -10, 3);
  control.follow(1, there);
  control.hold_posture(q, 4, 1);
  control.torques(expected);
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
  EXPECT_THROW(TaskListControl(arm, {{{.task = position}}, {{.task = turn, .pushes = {{0, 1}}}}}, q),
               ArgumentError);
  EXPECT_THROW(TaskListControl(arm, {{{.task = position, .pushes = {{3, 1}}}}}, q), ArgumentError);
  EXPECT_THROW(
      TaskListControl(arm, {{{.task = position, .coordinates = std::make_shared<EulerAngles>()}}}, q),
      ArgumentError);
}

}  // namespace
}  // namespace articula
