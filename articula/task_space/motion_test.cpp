// Short simulations of robots under the controllers: semi-implicit Euler, torques held for a millisecond.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = std::vector<double>;

const std::string models = std::string(ARTICULA_SOURCE_DIR) + "/models/";

double norm(const Vec3<double>& x) { return std::sqrt(dot(x, x)); }

/// A robot that moves by the torques it is given, with a force on one body.
struct Robot {
  Model model;
  Vector q, v;
  ForwardDynamics<> dynamics{model};
  Kinematics<> kinematics{model};
  std::vector<Spatial<double>> wrenches{};
  Vector a = Vector(model.nv()), dv = Vector(model.nv());

  void step(const Vector& tau, double h) {
    forward_dynamics(dynamics, q, v, tau, a, wrenches);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += h * a[i], dv[i] = h * v[i];
    integrate(model, q, dv, q);
  }
};

/// Position, velocity and acceleration of s(t), from 0 to 1 in `duration`, at rest at both ends.
struct Way {
  double s, ds, dds;
  Way(double t, double duration) {
    const double x = std::min(1.0, t / duration), w = 2 * M_PI / duration;
    s = x - std::sin(2 * M_PI * x) / (2 * M_PI);
    ds = x < 1 ? (1 - std::cos(2 * M_PI * x)) / duration : 0;
    dds = x < 1 ? w * std::sin(2 * M_PI * x) / duration : 0;
  }
};

const MotionGains stiff{.stiffness = 400, .damping = 40, .turning_stiffness = 400, .turning_damping = 40};
const Vector bent{0.2, 0.5, 0.1, 1.2, -0.3, 0.8, 0};

TEST(TaskMotion, ArmTracesACircle) {
  Robot robot{read_urdf(models + "arm7.urdf"), bent, Vector(7)};
  TaskController control(robot.model, {{pose_task(robot.model, "flange")}});
  control.update(robot.q, robot.v);
  const auto start = control.space().pose(0);
  const double h = 1e-3, T = 1.5, r = 0.1;
  Vector tau(7);
  double worst = 0, turned = 0, farthest = 0;
  for (int i = 0; i * h <= T; ++i) {
    const Way way(i * h, T);
    const double p = 2 * M_PI * way.s, w = 2 * M_PI * way.ds, dw = 2 * M_PI * way.dds, c = std::cos(p),
                 n = std::sin(p);
    MotionTarget target{start.rotation, start.position + Vec3<double>{0, r * n, r * (1 - c)}};
    target.velocity.v = Vec3<double>{0, c, n} * (r * w);
    target.acceleration.v = Vec3<double>{0, c * dw - n * w * w, n * dw + c * w * w} * r;
    control.update(robot.q, robot.v);
    control.follow(0, target, stiff);
    control.hold_posture(bent, 10, 6);
    control.torques(tau);
    const auto pose = control.space().pose(0);
    worst = std::max(worst, norm(pose.position - target.position));
    turned = std::max(turned, norm(orientation_error(pose.rotation, start.rotation)));
    farthest = std::max(farthest, norm(pose.position - start.position));
    robot.step(tau, h);
  }
  EXPECT_LT(worst, 1e-3);
  EXPECT_LT(turned, 1e-3);
  EXPECT_NEAR(farthest, 2 * r, 1e-3);  // it did go around
  std::printf("  circle: error %.3f mm, %.4f mrad\n", 1e3 * worst, 1e3 * turned);
}

/// A springy plane under the flange; pressed with 20 N while moving 6 cm along it.
TEST(TaskMotion, ArmPressesOnAPlane) {
  Robot robot{read_urdf(models + "arm7.urdf"), bent, Vector(7)};
  const int flange = robot.model.frame("flange"), body = robot.model.frames()[flange].body;
  robot.kinematics.update(robot.q);
  const auto start = robot.kinematics.pose(flange);
  const double plane = start.position.z - 1e-3, spring = 4e4, damper = 60, wanted = 20, h = 5e-4, T = 1.5;
  robot.wrenches.resize(robot.model.body_count());
  TaskController control(robot.model, {{pose_task(robot.model, "flange")}});
  Vector tau(7);
  double contact = 0, error = 0, force_error = 0;
  for (int i = 0; i * h <= T; ++i) {
    robot.kinematics.update(robot.q, robot.v);
    const auto pose = robot.kinematics.pose(flange);
    const double depth = plane - pose.position.z, rate = -robot.kinematics.velocity(flange).v.z;
    contact = depth > 0 ? std::max(0.0, spring * depth + damper * rate) : 0;
    // at the body's joint origin: the moment of a force at the flange
    int joint_frame = -1;
    for (std::size_t f = 0; f < robot.model.frames().size(); ++f)
      if (robot.model.frames()[f].body == body && norm(robot.model.frames()[f].placement.p) == 0)
        joint_frame = static_cast<int>(f);
    const Vec3<double> lever = pose.position - robot.kinematics.pose(joint_frame).position;
    robot.wrenches[body] = {cross(lever, Vec3<double>{0, 0, contact}), {0, 0, contact}};

    const Way way(i * h - 0.5, 1.0);  // half a second to settle
    const bool moving = i * h > 0.5;
    MotionTarget target{start.rotation, start.position};
    if (moving) {
      target.position.x += 0.06 * way.s;
      target.velocity.v.x = 0.06 * way.ds;
      target.acceleration.v.x = 0.06 * way.dds;
    }
    control.update(robot.q, robot.v);
    control.follow(0, target, stiff);
    control.press(0, 5, -wanted, 60);
    control.hold_posture(bent, 10, 6);
    control.torques(tau);
    if (i * h > 0.45) {
      force_error = std::max(force_error, std::abs(contact - wanted));
      error = std::max({error, std::abs(pose.position.x - target.position.x),
                        std::abs(pose.position.y - target.position.y)});
    }
    robot.step(tau, h);
  }
  EXPECT_LT(force_error, 0.5);
  EXPECT_NEAR(contact, wanted, 0.05);
  EXPECT_LT(error, 1e-3);
  std::printf("  plane: force off by at most %.3f N of 20, position %.3f mm\n", force_error, 1e3 * error);
}

/// The target goes 5 cm farther out than the arm can reach, and comes back.
TEST(TaskMotion, ArmPassesThroughItsStretchedSingularity) {
  const Model model = read_urdf(models + "arm7.urdf");
  Robot robot{model, Vector{0, 0.9, 0, 0.5, 0, 0.2, 0}, Vector(7)};
  TaskController control(model, {{position_task(model, "flange")}});
  control.update(robot.q, robot.v);
  const auto start = control.space().pose(0);
  const Vec3<double> shoulder{0, 0, 0.32};
  const double reach = 0.40 + 0.38 + 0.11, from = norm(start.position - shoulder);
  const Vec3<double> out = (start.position - shoulder) * (1 / from);
  const Vector posture = robot.q;
  const double h = 1e-3, T = 2.4, travel = reach + 0.05 - from;
  Vector tau(7), before;
  double jump = 0, torque = 0, closest = 1, end = 0, least = 1e9;
  for (int i = 0; i * h <= T; ++i) {
    const double t = i * h;
    const Way way(t < T / 2 ? t : T - t, T / 2);
    MotionTarget target{start.rotation, start.position + out * (travel * way.s)};
    target.velocity.v = out * (travel * way.ds * (t < T / 2 ? 1 : -1));
    target.acceleration.v = out * (travel * way.dds);
    control.update(robot.q, robot.v);
    control.follow(0, target, {.stiffness = 100, .damping = 20});
    control.hold_posture(posture, 20, 9);
    control.torques(tau);
    least = std::min(least, control.space().rank_report().inverse_inertias[0]);
    const double distance = norm(control.space().pose(0).position - shoulder);
    closest = std::min(closest, reach - distance);
    for (std::size_t k = 0; k < tau.size(); ++k) {
      ASSERT_TRUE(std::isfinite(tau[k]));
      torque = std::max(torque, std::abs(tau[k]));
      if (!before.empty()) jump = std::max(jump, std::abs(tau[k] - before[k]));
    }
    before = tau;
    end = norm(control.space().pose(0).position - target.position);
    robot.step(tau, h);
  }
  EXPECT_LT(closest, 1e-3);  // it was stretched
  EXPECT_LT(least, control.space().options().activation);
  EXPECT_LT(torque, 150);
  EXPECT_LT(jump, 4);
  EXPECT_LT(end, 1e-3);
  std::printf("  stretched to %.2f mm; torque at most %.0f Nm, change in 1 ms %.2f Nm, end %.2f mm off\n",
              1e3 * closest, torque, jump, 1e3 * end);
}

/// The pelvis is carried about (first level); the hand stays where it is (second level).
TEST(TaskMotion, HumanoidHoldsAHandStillWhileTheBaseMoves) {
  const Model model = read_urdf(models + "humanoid.urdf", {.base = Base::free});
  Vector q = neutral(model);
  q[6] = 0.9;
  const auto bend = [&](const std::string& joint, double angle) {
    q[model.joints()[model.joint(joint)].q_index] = angle;
  };
  for (const std::string side : {"left_", "right_"}) {
    bend(side + "shoulder_pitch", -0.6);
    bend(side + "elbow", -1.2);
    bend(side + "knee", 0.6);
    bend(side + "hip_pitch", -0.3);
    bend(side + "wrist_pitch", 0.3);
  }
  Robot robot{model, q, Vector(model.nv())};
  TaskController control(model, {{pose_task(model, "pelvis")}, {pose_task(model, "left_hand")}});
  control.update(robot.q, robot.v);
  const auto pelvis = control.space().pose(0), hand = control.space().pose(1);
  const Vec3<double> sway{0.02, 0.03, -0.02}, roll{0.03, 0.05, 0.04};
  const double h = 1e-3, T = 1, w = 2 * M_PI;
  Vector tau(model.nv());
  double hand_error = 0, hand_turned = 0, pelvis_error = 0, moved = 0;
  for (int i = 0; i * h <= T; ++i) {
    const double t = i * h, s = 1 - std::cos(w * t), ds = w * std::sin(w * t), dds = w * w * std::cos(w * t);
    MotionTarget base{rotation(exp_quaternion(roll * s)) * pelvis.rotation, pelvis.position + sway * s};
    base.velocity = {roll * ds, sway * ds};
    base.acceleration = {roll * dds, sway * dds};
    control.update(robot.q, robot.v);
    control.follow(0, base, stiff);
    control.follow(1, {hand.rotation, hand.position}, stiff);
    control.hold_posture(q, 30, 11);
    control.torques(tau);
    const auto now = control.space().pose(1);
    hand_error = std::max(hand_error, norm(now.position - hand.position));
    hand_turned = std::max(hand_turned, norm(orientation_error(now.rotation, hand.rotation)));
    pelvis_error = std::max(pelvis_error, norm(control.space().pose(0).position - base.position));
    moved = std::max(moved, norm(control.space().pose(0).position - pelvis.position));
    robot.step(tau, h);
  }
  EXPECT_LT(hand_error, 1e-3);
  EXPECT_LT(hand_turned, 1e-3);
  EXPECT_LT(pelvis_error, 2e-3);
  EXPECT_GT(moved, 0.05);
  std::printf("  humanoid: base moved %.0f mm, hand %.3f mm and %.3f mrad\n", 1e3 * moved, 1e3 * hand_error,
              1e3 * hand_turned);
}

}  // namespace
}  // namespace articula
