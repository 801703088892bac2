// Controllers: the accelerations that their torques cause, by forward dynamics.
#include "articula/task_space/control.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/cases.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = std::vector<double>;

const std::string models = std::string(ARTICULA_SOURCE_DIR) + "/models/";

/// The rows' accelerations y'' = J a + J' v under joint forces.
Vector measured(TaskController& control, const State& s, const Vector& tau) {
  const Model& model = control.space().model();
  Vector a(model.nv()), y(control.space().rows()), bias(control.space().rows());
  ForwardDynamics<> forward(model);
  forward_dynamics(forward, s.q, s.v, tau, a);
  control.space().times_jacobian(a, y);
  control.space().bias_acceleration(bias);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i];
  return y;
}

Task random_task(Rng& rng, const Model& model, int rows) {
  Task task;
  task.frame = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
  if (rng.chance(0.5)) task.axes = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
  for (int r = 0; r < rows; ++r) {
    task.rows.push_back({});
    for (double& x : task.rows.back()) x = rng.uniform();
  }
  return task;
}

TEST(TaskController, CommandedAccelerationIsMeasured) {
  Worst worst("y'' - u");
  int checked = 0, number = 0;
  for_each_case([&](const Case& c) {
    Rng rng(++number);
    const Task task = random_task(rng, c.model, rng.integer(1, 3));
    TaskController control(c.model, {{task}}, {});
    if (c.model.nv() < 4) return;
    control.update(c.state.q, c.state.v);
    const auto report = control.space().rank_report();
    if (!(report.inverse_inertias[0] > 1e-5 * report.inverse_inertias.back())) return;
    ++checked;
    const Vector u = random_vector(rng, task.rows.size());
    control.accelerate(0, u);
    control.hold_posture(random_configuration(rng, c.model), 10, 3);  // must not matter
    Vector tau(c.model.nv());
    EXPECT_EQ(control.torques(tau).scale, 1);
    const double scale =
        1 + largest(random_vector(rng, 1)) + largest(forward_dynamics(c.model, c.state.q, c.state.v, tau));
    EXPECT_LT(worst(relative_error(measured(control, c.state, tau), u, scale)), 1e-10);
  });
  EXPECT_GT(checked, 30);
}

TEST(TaskController, LowerLevelsLeaveHigherOnesUntouched) {
  Worst worst("higher levels"), worst_second("second level");
  int checked = 0;
  for (int seed = 1; seed <= 150; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {.links = 14, .mass_ratio = 10}),
                      {.base = seed % 2 ? Base::free : Base::fixed});
    if (model.nv() < 14) continue;
    const State s = random_state(rng, model);
    const std::vector<Task> tasks{random_task(rng, model, 3), random_task(rng, model, 3),
                                  random_task(rng, model, 4), random_task(rng, model, 2)};
    TaskController control(model, {{tasks[0]}, {tasks[1], tasks[3]}, {tasks[2]}}, {});
    control.update(s.q, s.v);
    const auto report = control.space().rank_report();
    if (!(report.inverse_inertias[0] > 1e-5 * report.inverse_inertias.back())) continue;
    ++checked;
    Vector u = random_vector(rng, 12), tau(model.nv());
    const auto torques = [&] {
      control.accelerate(0, std::span(u).subspan(0, 3));
      control.accelerate(1, std::span(u).subspan(3, 3));
      control.accelerate(2, std::span(u).subspan(6, 2));
      control.accelerate(3, std::span(u).subspan(8, 4));
      control.torques(tau);
      return measured(control, s, tau);
    };
    Vector y = torques();
    const double scale = 10;
    EXPECT_LT(worst_second(relative_error(y, u, scale)), 1e-9);  // all fit: all are met
    // others on the lower levels, and a posture: levels above do not feel it
    const Vector before = y;
    for (int i = 8; i < 12; ++i) u[i] += 5;
    control.hold_posture(random_configuration(rng, model), 20, 5);
    y = torques();
    EXPECT_LT(worst(relative_error(std::span(y).first(8), std::span(before).first(8), scale)), 1e-10);
    for (int i = 3; i < 8; ++i) u[i] -= 7;
    y = torques();
    EXPECT_LT(worst(relative_error(std::span(y).first(3), std::span(before).first(3), scale)), 1e-10);
  }
  EXPECT_GT(checked, 15);
}

/// Two levels that want different things of the same frame: the first gets its way.
TEST(TaskController, ConflictIsWonByTheHigherLevel) {
  const Model model = read_urdf(models + "arm7.urdf");
  Rng rng(2);
  State s = random_state(rng, model, 0.5);
  const Task task = position_task(model, "flange");
  TaskController control(model, {{task}, {task, orientation_task(model, "flange")}}, {});
  control.update(s.q, s.v);
  control.accelerate(0, Vector{1, 2, 3});
  control.accelerate(1, Vector{-4, 5, -6});
  control.accelerate(2, Vector{0.5, -0.5, 0.25});
  Vector tau(7);
  control.torques(tau);
  EXPECT_EQ(control.rank(0), 3);
  EXPECT_EQ(control.rank(1), 3);  // of six rows: the position is taken
  const Vector y = measured(control, s, tau);
  EXPECT_LT(relative_error(std::span(y).first(3), Vector{1, 2, 3}), 1e-10);
  EXPECT_LT(relative_error(std::span(y).last(3), Vector{0.5, -0.5, 0.25}), 1e-9);
}

TEST(TaskController, GravityCompensationAndPosture) {
  for_each_case([](const Case& c) {
    if (c.model.nv() == 0) return;
    TaskController control(c.model, {});
    const Vector rest(c.model.nv());
    control.update(c.state.q, rest);
    Vector tau(c.model.nv());
    control.torques(tau);
    EXPECT_LT(relative_error(tau, to_std(c.dense.gravity), 1), 1e-11);
    control.update(c.state.q, c.state.v);
    control.torques(tau);
    EXPECT_LT(relative_error(tau, to_std(c.dense.bias), 1), 1e-11);
    // without tasks the posture's acceleration is met in full
    control.hold_posture(c.state.q, 10, 2);
    control.torques(tau);
    const Vector a = forward_dynamics(c.model, c.state.q, c.state.v, tau);
    Vector wanted(c.model.nv());
    for (int i = 0; i < c.model.nv(); ++i) wanted[i] = -2 * c.state.v[i];
    EXPECT_LT(relative_error(a, wanted, 1), 1e-9);
  });
}

/// A rigid surface takes away the acceleration along some rows: its force must be the one asked for, and the
/// motion along it as commanded. The surface by the full equations of motion with a constraint.
TEST(TaskController, HybridForceOnARigidSurface) {
  const Model model = read_urdf(models + "arm7.urdf");
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const State s = random_state(rng, model, 0.5);
    // rows in the axes of another link that moves
    const Task task = pose_task(model, "flange", seed % 2 ? "forearm" : "flange");
    TaskController control(model, {{task}}, {});
    control.update(s.q, s.v);
    if (control.space().rank_report().inverse_inertias[0] < 1e-3) continue;
    Vector u = random_vector(rng, 6), tau(7);
    control.accelerate(0, u);
    const int force_rows[2] = {5, 0};
    const double force[2] = {-20, 1.5};
    for (int i = 0; i < 2; ++i) control.press(0, force_rows[i], force[i]);
    u[5] = u[0] = 0;
    control.hold_posture(Vector(7), 20, 5);
    control.torques(tau);
    Vector J(42), bias(6), Cg(7);
    control.space().jacobian(J);
    control.space().bias_acceleration(bias);
    control.space().bias_forces(Cg);
    const auto numbers = mass_matrix(model, s.q);
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Matrix M = Eigen::Map<const Matrix>(numbers.data(), 7, 7),
                 all = Eigen::Map<const Matrix>(J.data(), 6, 7);
    Eigen::MatrixXd kkt = Eigen::MatrixXd::Zero(9, 9);
    Eigen::VectorXd right(9);
    kkt.topLeftCorner(7, 7) = M;
    for (int i = 0; i < 7; ++i) right[i] = tau[i] - Cg[i];
    for (int i = 0; i < 2; ++i) {
      kkt.block(7 + i, 0, 1, 7) = all.row(force_rows[i]);
      kkt.block(0, 7 + i, 7, 1) = -all.row(force_rows[i]).transpose();
      right[7 + i] = -bias[force_rows[i]];
    }
    const Eigen::VectorXd x = kkt.fullPivLu().solve(right);
    const Eigen::VectorXd y = all * x.head(7) + Eigen::Map<const Eigen::VectorXd>(bias.data(), 6);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(x[7 + i], -force[i], 1e-8);
    for (int i = 1; i < 5; ++i) EXPECT_NEAR(y[i], u[i], 1e-9);
  }
}

TEST(TaskController, LimitsScaleWithinTheTask) {
  const Model model = read_urdf(models + "arm7.urdf");
  const Vector q{0.3, 0.5, -0.2, 1.1, 0.4, 0.7, 0.1}, rest(7);
  const State s{q, rest, rest, rest, {}};
  TaskController control(model, {{position_task(model, "flange")}, {orientation_task(model, "flange")}}, {});
  control.update(q, rest);
  const Vector u{40, -30, 60};
  control.accelerate(0, u);
  control.accelerate(1, Vector{20, 30, -20});
  control.hold_posture(Vector(7), 50, 0);
  Vector tau(7), G(7), limits{60, 60, 50, 50, 20, 15, 15};
  EXPECT_EQ(control.torques(tau).scale, 1);
  bool over = false;
  for (int i = 0; i < 7; ++i) over |= std::abs(tau[i]) > limits[i];
  ASSERT_TRUE(over);
  control.limit_torques(limits);
  const TorqueReport report = control.torques(tau);
  EXPECT_TRUE(report.within_limits);
  EXPECT_LT(report.scale, 1);
  EXPECT_GE(report.joint, 0);
  for (int i = 0; i < 7; ++i) EXPECT_LE(std::abs(tau[i]), limits[i] * (1 + 1e-12));
  // the first level's acceleration keeps its direction
  const Vector y = measured(control, s, tau);
  const double share = y[0] / u[0];
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 1);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(y[i], share * u[i], 1e-9);
  // limits that are no limits change nothing
  Vector free(7), without(7);
  control.limit_torques(Vector(7, INFINITY));
  control.torques(free);
  control.limit_torques({});
  control.torques(without);
  EXPECT_LT(relative_error(free, without), 1e-12);
  // gravity alone is too much: said, and cut off
  control.limit_torques(Vector(7, 1.0));
  const TorqueReport heavy = control.torques(tau);
  EXPECT_FALSE(heavy.within_limits);
  EXPECT_LE(largest(tau), 1);
}

TEST(TaskController, OrientationErrorTurnsTheShorterWay) {
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    const Mat3<double> R = rotation(rng.quaternion()), wanted = rotation(rng.quaternion());
    const Vec3<double> e = orientation_error(R, wanted);
    EXPECT_LE(std::sqrt(dot(e, e)), M_PI + 1e-12);
    const Mat3<double> back = rotation(exp_quaternion(e)) * R;
    EXPECT_NEAR(back.xx, wanted.xx, 1e-12);
    EXPECT_NEAR(back.yz, wanted.yz, 1e-12);
    EXPECT_NEAR(back.zx, wanted.zx, 1e-12);
  }
  const auto none = orientation_error(Mat3<double>::identity(), Mat3<double>::identity());
  EXPECT_EQ(dot(none, none), 0);
}

}  // namespace
}  // namespace articula
