// Closed forms, the textbook, lost directions and the way through a singularity.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/task_space/control.hpp"
#include "articula/task_space/textbook_task_space.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = std::vector<double>;

const std::string models = std::string(ARTICULA_SOURCE_DIR) + "/models/";

struct TwoLinks {
  double m1 = 1.3, m2 = 0.7, L1 = 0.8, L2 = 0.5, g = 9.81;
  Model model = make();
  Model make() const {
    ModelSpec spec;
    spec.add_link({.name = "base"});
    spec.add_link({.name = "one", .mass = {m1, {L1, 0, 0}, {0, 0, 0, 0, 0, 0}}});
    spec.add_link({.name = "two", .mass = {m2, {L2, 0, 0}, {0, 0, 0, 0, 0, 0}}});
    spec.add_joint({.name = "j1", .parent = "base", .child = "one", .axis = {0, 0, 1}});
    spec.add_joint(
        {.name = "j2", .parent = "one", .child = "two", .placement = {.p = {L1, 0, 0}}, .axis = {0, 0, 1}});
    spec.add_frame({.name = "tip", .link = "two", .placement = {.p = {L2, 0, 0}}});
    return Model(spec, {.gravity = {0, -g, 0}});
  }
};

/// MR9's 2R arm of point masses, position of the tip: by hand, and by (9.98), (9.99).
TEST(TaskSpaceClosedForm, TwoLinksOfPointMasses) {
  const TwoLinks arm;
  const double m1 = arm.m1, m2 = arm.m2, L1 = arm.L1, L2 = arm.L2, g = arm.g;
  const Task task = selected_task(arm.model, "tip", {false, false, false, true, true, false});
  TaskSpace space(arm.model, task);
  for (const double t2 : {-1.1, 0.4, 2.5, M_PI / 2}) {
    const double t1 = 0.4, v1 = 0.9, v2 = -0.6;
    const double c1 = std::cos(t1), s1 = std::sin(t1), c2 = std::cos(t2), s2 = std::sin(t2);
    const double c12 = std::cos(t1 + t2), s12 = std::sin(t1 + t2);
    Eigen::Matrix2d M, J, J_dot;
    M << m1 * L1 * L1 + m2 * (L1 * L1 + 2 * L1 * L2 * c2 + L2 * L2), m2 * (L1 * L2 * c2 + L2 * L2),
        m2 * (L1 * L2 * c2 + L2 * L2), m2 * L2 * L2;
    J << -L1 * s1 - L2 * s12, -L2 * s12, L1 * c1 + L2 * c12, L2 * c12;
    J_dot << -L1 * c1 * v1 - L2 * c12 * (v1 + v2), -L2 * c12 * (v1 + v2),
        -L1 * s1 * v1 - L2 * s12 * (v1 + v2), -L2 * s12 * (v1 + v2);
    const Eigen::Vector2d v(v1, v2),
        C(-m2 * L1 * L2 * s2 * (2 * v1 * v2 + v2 * v2), m2 * L1 * L2 * v1 * v1 * s2),
        G((m1 + m2) * L1 * g * c1 + m2 * g * L2 * c12, m2 * g * L2 * c12);
    const Eigen::Matrix2d J_inverse = J.inverse(), Lambda = J_inverse.transpose() * M * J_inverse;
    const Eigen::Vector2d c = J_inverse.transpose() * C - Lambda * J_dot * v,
                          grav = J_inverse.transpose() * G;
    const Vector q{t1, t2}, rates{v1, v2};
    space.update(q, rates);
    Vector square(4), two(2);
    space.lambda(square);
    EXPECT_LT(relative_error(square, Vector{Lambda(0, 0), Lambda(0, 1), Lambda(1, 0), Lambda(1, 1)}), 1e-12);
    space.coriolis(two);
    EXPECT_LT(relative_error(two, Vector{c[0], c[1]}, 1), 1e-12);
    space.gravity(two);
    EXPECT_LT(relative_error(two, Vector{grav[0], grav[1]}, 1), 1e-12);
    const auto textbook = textbook_task_space(arm.model, task, q, rates);
    EXPECT_LT(relative_error(textbook.Lambda, square), 1e-12);
    EXPECT_LT(relative_error(textbook.eta, Vector{c[0] + grav[0], c[1] + grav[1]}, 1), 1e-12);
    // The mass at the tip is felt along the outer link by all of m2, and across it by no less.
    const double along = 1 / (c12 * (c12 * Lambda.inverse()(0, 0) + s12 * Lambda.inverse()(0, 1)) +
                              s12 * (c12 * Lambda.inverse()(1, 0) + s12 * Lambda.inverse()(1, 1)));
    TaskSpace line(arm.model, line_task(arm.model, "tip", {1, 0, 0}, "tip"));
    line.update(q);
    Vector one(1);
    line.lambda(one);
    EXPECT_NEAR(one[0], along, 1e-12 * along);
  }
}

/// MR9 (9.90)-(9.99) for six joints.
TEST(TaskSpaceClosedForm, SixJoints) {
  int checked = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const Model model(make_chain(6, seed));
    Rng rng(seed);
    const State s = random_state(rng, model);
    const Task task = pose_task(model, model.frames().back().name);
    TaskSpace space(model, task);
    space.update(s.q, s.v);
    const auto report = space.rank_report();
    if (report.inverse_inertias.front() < 1e-6 * report.inverse_inertias.back()) continue;
    ++checked;
    const auto textbook = textbook_task_space(model, task, s.q, s.v);
    Vector Lambda(36), c(6), g(6);
    space.lambda(Lambda);
    space.coriolis(c);
    space.gravity(g);
    EXPECT_LT(relative_error(Lambda, textbook.Lambda), 1e-9);
    for (int i = 0; i < 6; ++i) c[i] += g[i];
    EXPECT_LT(relative_error(c, textbook.eta, 1), 1e-9);
  }
  EXPECT_GT(checked, 5);
  const Model seven = read_urdf(models + "arm7.urdf");
  EXPECT_THROW(textbook_task_space(seven, pose_task(seven, "flange"), Vector(7), Vector(7)), ArgumentError);
  const TwoLinks arm;
  const Task task = selected_task(arm.model, "tip", {false, false, false, true, true, false});
  EXPECT_THROW(textbook_task_space(arm.model, task, Vector{0.3, 0}, Vector(2)), SingularError);
}

/// A chain of 2000 links: nothing is lost on the way.
TEST(TaskSpaceClosedForm, LongChain) {
  const Model model(make_chain(2000));
  Rng rng(1);
  State s = random_state(rng, model, 0.01);
  TaskSpace space(model, pose_task(model, model.frames().back().name));
  space.update(s.q, s.v);
  Vector u{0.3, -0.2, 0.5, 1, 0.7, -0.9}, F(6), tau(2000), y(6), bias(6);
  space.motion_force(u, F);
  space.times_jacobian_star(F, tau);
  const Vector a = forward_dynamics(model, s.q, s.v, tau);
  space.times_jacobian(a, y);
  space.bias_acceleration(bias);
  for (int i = 0; i < 6; ++i) y[i] += bias[i];
  std::printf("  chain of 2000: y'' - u %.1e, accelerations up to %.1e\n", relative_error(y, u, 1),
              largest(a));
  EXPECT_LT(relative_error(y, u, 1 + largest(a)), 1e-10);
}

TEST(TaskSpaceRank, NamesWhatIsLost) {
  const TwoLinks arm;
  TaskSpace space(arm.model, selected_task(arm.model, "tip", {false, false, false, true, true, false}));
  space.update(Vector{0, 0}, Vector{0.5, 0.2});
  EXPECT_EQ(space.rank(), 1);
  EXPECT_FALSE(space.exact());
  auto report = space.rank_report();
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_EQ(report.lost[0].words, "moving 'tip' along (1.000, 0.000, 0.000), world axes");
  EXPECT_NEAR(report.lost[0].share, 1, 1e-12);
  EXPECT_NE(report.words.find("rank 1 of 2; lost: moving"), std::string::npos) << report.words;
  // across, the result is exact: y is still there, x is none
  Vector square(4), F(2);
  space.omega(square);
  const double Omega_yy = square[3];
  space.lambda(square);
  EXPECT_NEAR(square[3], 1 / Omega_yy, 1e-12 / Omega_yy);
  EXPECT_NEAR(square[0], 0, 1e-9);
  EXPECT_NEAR(square[1], 0, 1e-9);

  // an arm of the plane has three directions of six, in words of its own axes
  TaskSpace pose(arm.model, pose_task(arm.model, "tip", "tip"));
  pose.update(Vector{0.3, 1.0});
  EXPECT_EQ(pose.rank(), 2);
  report = pose.rank_report();
  EXPECT_EQ(report.lost.size(), 4u);
  EXPECT_NE(report.words.find("axes of 'tip'"), std::string::npos);
  bool turning = false;
  for (const auto& lost : report.lost) turning |= lost.words.find("turning 'tip'") != std::string::npos;
  EXPECT_TRUE(turning) << report.words;

  // a frame of the world cannot be moved at all
  TaskSpace base(arm.model, pose_task(arm.model, "base"));
  base.update(Vector{0.3, 1.0}, Vector{1, 1});
  EXPECT_EQ(base.rank(), 0);
  Vector c(6), g(6);
  base.coriolis(c);
  base.gravity(g);
  EXPECT_EQ(largest(c), 0);
  EXPECT_EQ(largest(g), 0);

  // the same task twice: every direction once
  const Task once = position_task(arm.model, "tip");
  const std::vector<Task> twice{once, once};
  TaskSpace doubled(arm.model, twice);
  doubled.update(Vector{0.3, 1.0});
  EXPECT_EQ(doubled.rank(), 2);
}

TEST(TaskSpaceRank, RankIsThatOfTheJacobian) {
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {.links = rng.integer(1, 6), .mass_ratio = 10}),
                      {.base = seed % 4 ? Base::fixed : Base::free});
    const auto q = random_configuration(rng, model);
    std::vector<Task> tasks;
    for (int i = rng.integer(1, 2); i > 0; --i)
      tasks.push_back(pose_task(model, model.frames()[rng.integer(0, int(model.frames().size()) - 1)].name));
    TaskSpace space(model, tasks);
    space.update(q);
    Eigen::MatrixXd J(space.rows(), model.nv());
    Vector numbers(space.rows() * model.nv());
    space.jacobian(numbers);
    for (int i = 0; i < J.rows(); ++i)
      for (int k = 0; k < J.cols(); ++k) J(i, k) = numbers[i * J.cols() + k];
    int rank = 0;
    if (J.cols() > 0) {
      const Eigen::JacobiSVD<Eigen::MatrixXd> svd(J);
      for (int i = 0; i < svd.singularValues().size(); ++i)
        rank += svd.singularValues()[i] > 1e-6 * svd.singularValues()[0] && svd.singularValues()[0] > 0;
    }
    EXPECT_EQ(space.rank(), rank);
    // Omega Lambda Omega = Omega, Lambda symmetric
    const int n = space.rows();
    Vector a(n * n), b(n * n);
    space.omega(a);
    space.lambda(b);
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<Matrix> O(a.data(), n, n), L(b.data(), n, n);
    if (a.empty()) continue;
    EXPECT_LT((O * L * O - O).cwiseAbs().maxCoeff(), 1e-9 * std::max(1e-3, O.cwiseAbs().maxCoeff()));
    EXPECT_LT((L - L.transpose()).cwiseAbs().maxCoeff(), 1e-12 * std::max(1.0, L.cwiseAbs().maxCoeff()));
  }
}

/// Far from a singularity damping changes nothing at all; close by, only the lost direction.
TEST(TaskSpaceRank, DampsOnlyWhatIsLost) {
  const TwoLinks arm;
  const Task task = selected_task(arm.model, "tip", {false, false, false, true, true, false}, "tip");
  TaskSpace exact(arm.model, task), damped(arm.model, task, {.damp = true, .activation = 0.01});
  Vector a(4), b(4);
  exact.update(Vector{0.2, 1.2});
  damped.update(Vector{0.2, 1.2});
  exact.lambda(a);
  damped.lambda(b);
  EXPECT_EQ(a, b);
  EXPECT_TRUE(damped.exact());
  // Along the tip's x, the arm is stretched at t2 = 0
  exact.update(Vector{0.2, 0.02});
  damped.update(Vector{0.2, 0.02});
  EXPECT_EQ(damped.rank(), 2);
  EXPECT_FALSE(damped.exact());
  const auto report = damped.rank_report();
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_GT(report.lost[0].share, 0.5);
  EXPECT_LT(report.inverse_inertias[0], 0.01);
  // u across the arm: the same force
  Vector one(2), other(2);
  const auto& d = report.lost[0].direction;
  const Vector across{-d[1], d[0]}, along{d[0], d[1]};
  exact.times_lambda(across, one);
  damped.times_lambda(across, other);
  EXPECT_LT(relative_error(other, one), 1e-9);
  exact.times_lambda(along, one);
  damped.times_lambda(along, other);
  EXPECT_LT(largest(other), 1.05 / 0.01);
  EXPECT_GT(largest(one), 2 * largest(other));
}

/// Largest change of the torques between neighbours on a way of `steps` steps through the stretched arm.
double largest_jump(bool damp, int steps, double& largest_torque) {
  const Model model = read_urdf(models + "arm7.urdf");
  TaskController control(model, {{pose_task(model, "flange")}}, {.damp = damp});
  Vector tau(7), before;
  double jump = 0;
  largest_torque = 0;
  for (int i = 0; i <= steps; ++i) {
    const double s = -0.4 + 0.8 * i / steps;
    const Vector q{0.3, 0.5, -0.2, s, 0.4, 0.7, 0.1}, v{0.1, -0.2, 0.3, 0.4, -0.1, 0.2, 0.1};
    control.update(q, v);
    control.accelerate(0, Spatial<double>{{0.3, -0.2, 0.5}, {1, 0.7, -0.9}});
    control.torques(tau);
    for (std::size_t k = 0; k < tau.size(); ++k) {
      largest_torque = std::max(largest_torque, std::abs(tau[k]));
      if (!before.empty()) jump = std::max(jump, std::abs(tau[k] - before[k]));
    }
    before = tau;
  }
  return jump;
}
TEST(TaskSpaceRank, NoJumpThroughASingularity) {
  double torque = 0, exact_torque = 0;
  const double coarse = largest_jump(true, 2000, torque), fine = largest_jump(true, 8000, torque);
  EXPECT_LT(fine, 0.3 * coarse);  // a continuous function: a quarter of the step, a quarter of the change
  EXPECT_LT(fine, 1);
  EXPECT_LT(torque, 500);
  std::printf("  largest torque %.1f Nm, change over 0.1 mrad %.3f Nm\n", torque, fine);
  const double exact = largest_jump(false, 8000, exact_torque);
  EXPECT_GT(exact, 100 * fine);  // the test can tell: without damping there is a jump
  EXPECT_GT(exact_torque, 10 * torque);
}

TEST(TaskSpaceHostile, RefusesWhatCannotBe) {
  const Model model = read_urdf(models + "arm7.urdf");
  EXPECT_THROW(pose_task(model, "nothing"), ArgumentError);
  EXPECT_THROW(pose_task(model, "flange", "nothing"), ArgumentError);
  EXPECT_THROW(line_task(model, "flange", {0, 0, 0}), ArgumentError);
  EXPECT_THROW(plane_task(model, "flange", {NAN, 0, 0}), ArgumentError);
  EXPECT_THROW(selected_task(model, "flange", {}), ArgumentError);
  EXPECT_THROW(rows_task(model, "flange", {}), ArgumentError);
  EXPECT_THROW(rows_task(model, "flange", std::vector<std::array<double, 6>>(7, {1, 0, 0, 0, 0, 0})),
               ArgumentError);
  EXPECT_THROW(rows_task(model, "flange", {{0, 0, 0, 0, 0, 0}}), ArgumentError);
  EXPECT_THROW(rows_task(model, "flange", {{0, INFINITY, 0, 0, 0, 0}}), ArgumentError);
  Task bad = pose_task(model, "flange");
  bad.frame = 1000;
  EXPECT_THROW(TaskSpace(model, bad), ArgumentError);
  bad = pose_task(model, "flange");
  bad.axes = -2;
  EXPECT_THROW(TaskSpace(model, bad), ArgumentError);
  EXPECT_THROW(TaskSpace(model, pose_task(model, "flange"), {.rank_tolerance = NAN}), ArgumentError);
  EXPECT_THROW(TaskSpace(model, pose_task(model, "flange"), {.activation = -1}), ArgumentError);

  TaskSpace space(model, pose_task(model, "flange"));
  Vector six(6), seven(7), square(36);
  EXPECT_THROW(space.omega(square), ArgumentError);  // no state yet
  EXPECT_THROW(space.rank(), ArgumentError);
  EXPECT_THROW((void)space.pose(0), ArgumentError);
  EXPECT_THROW(space.update(six, seven), ArgumentError);
  EXPECT_THROW(space.update(seven, six), ArgumentError);
  space.update(seven, seven);
  EXPECT_THROW(space.omega(six), ArgumentError);
  EXPECT_THROW(space.times_jacobian(six, six), ArgumentError);
  EXPECT_THROW(space.times_jacobian_star(seven, seven), ArgumentError);
  EXPECT_THROW(space.project_forces(seven, six), ArgumentError);
  EXPECT_THROW((void)space.pose(1), ArgumentError);
  EXPECT_THROW((void)space.first_row(-1), ArgumentError);
  Vector lost = seven;
  lost[3] = NAN;
  EXPECT_THROW(space.update(lost, seven), ArgumentError);
  EXPECT_THROW(space.omega(square), ArgumentError);  // nothing half done is handed out
  EXPECT_THROW(space.update(seven, lost), ArgumentError);
  lost[3] = 1e200;
  EXPECT_THROW(space.update(seven, lost), SingularError);
  space.update(seven, seven);
  EXPECT_NO_THROW(space.omega(square));

  EXPECT_THROW(TaskController(model, {{}}), ArgumentError);
  TaskController control(model, {{pose_task(model, "flange")}});
  EXPECT_THROW(control.torques(seven), ArgumentError);
  EXPECT_THROW(control.follow(0, {}), ArgumentError);
  control.update(seven, seven);
  EXPECT_THROW(control.torques(six), ArgumentError);
  EXPECT_THROW(control.accelerate(1, six), ArgumentError);
  EXPECT_THROW(control.accelerate(0, seven), ArgumentError);
  six[2] = NAN;
  EXPECT_THROW(control.accelerate(0, six), ArgumentError);
  EXPECT_THROW(control.follow(0, {.position = {NAN, 0, 0}}), ArgumentError);
  EXPECT_THROW(control.press(0, 6, 1), ArgumentError);
  EXPECT_THROW(control.press(0, 1, INFINITY), ArgumentError);
  EXPECT_THROW(control.hold_posture(six, 1, 1), ArgumentError);
  EXPECT_THROW(control.hold_posture(seven, NAN, 1), ArgumentError);
  EXPECT_THROW(control.null_space_forces(six), ArgumentError);
  EXPECT_THROW(control.limit_torques(six), ArgumentError);
  EXPECT_THROW(control.limit_torques(Vector(7, -1.0)), ArgumentError);
  EXPECT_THROW((void)control.rank(1), ArgumentError);
  EXPECT_NO_THROW(control.torques(seven));
  for (const double x : seven) EXPECT_TRUE(std::isfinite(x));

  // no tasks at all: gravity compensation
  TaskController none(model, {});
  none.update(Vector(7, 0.3), Vector(7));
  EXPECT_NO_THROW(none.torques(seven));
}

}  // namespace
}  // namespace articula
