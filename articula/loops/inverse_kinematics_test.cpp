#include "articula/loops/inverse_kinematics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "articula/files/urdf.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

const std::string models = ARTICULA_SOURCE_DIR "/models/";

double distance(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> d = a - b;
  return std::sqrt(dot(d, d));
}
void expect_within_limits(const Model& model, std::span<const double> q) {
  for (const Joint& joint : model.joints())
    for (int i = 0; i < joint.nv && joint.nq == joint.nv; ++i) {
      EXPECT_GE(q[joint.q_index + i], joint.limits.lower[i]) << joint.name;
      EXPECT_LE(q[joint.q_index + i], joint.limits.upper[i]) << joint.name;
    }
}

/// Every joint kind, mimics too: where a nearby configuration has the frame, it can be again.
TEST(InverseKinematics, ReachesWhatCanBeReached) {
  int checked = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(4, 12);
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = rng.chance(0.3) ? Base::free : Base::fixed});
    if (model.nv() == 0) continue;
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    std::vector<double> q = random(model, seed), way(model.nv()), there(q.size());
    for (double& x : way) x = rng.uniform(-0.2, 0.2);
    integrate(model, q, way, there);
    for (const Joint& joint : model.joints())  // as far as it may go
      for (int i = 0; i < joint.nv && joint.nq == joint.nv; ++i)
        there[joint.q_index + i] =
            std::clamp(there[joint.q_index + i], joint.limits.lower[i], joint.limits.upper[i]);
    const int frame = static_cast<int>(model.frames().size()) - 1;
    const FramePose<double> wanted = pose(model, there, model.frames()[frame].name);
    FrameTarget target{.frame = frame, .position = wanted.position};
    if (rng.chance(0.5)) target.rotation = wanted.rotation;
    InverseKinematics ik(model);
    const InverseKinematicsResult result = ik.reach(target, q);
    const FramePose<double> found = pose(model, q, model.frames()[frame].name);
    // Limits may stand in the way of the nearest route.
    if (!result.converged) continue;
    ++checked;
    EXPECT_LT(distance(found.position, wanted.position), 1e-8);
    if (target.rotation) {
      const Vec3<double> turn = orientation_error(found.rotation, wanted.rotation);
      EXPECT_LT(std::sqrt(dot(turn, turn)), 1e-6);
    }
  }
  EXPECT_GE(checked, 36);
}

TEST(InverseKinematics, AnArmReachesPosesFromAfarWithinItsLimits) {
  const Model arm = read_urdf(models + "arm7.urdf");
  const int hand = static_cast<int>(arm.frames().size()) - 1;
  InverseKinematics ik(arm);
  int reached = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    const FramePose<double> wanted = pose(arm, random(arm, 100 + seed), arm.frames()[hand].name);
    std::vector<double> q(7, 0.3);
    reached += ik.reach({.frame = hand, .position = wanted.position}, q).converged;
    expect_within_limits(arm, q);
  }
  EXPECT_GE(reached, 27);
}

TEST(InverseKinematics, OutOfReachIsTheNearestPlaceAndNothingJumps) {
  const Model arm = read_urdf(models + "planar_2r.urdf");
  const int tip = arm.frame(arm.frames().back().name);
  const Vec3<double> shoulder = pose(arm, neutral(arm), arm.frames()[tip].name).position;
  InverseKinematics ik(arm);
  std::vector<double> q{0.4, 0.7};
  const auto at = [&] { return pose(arm, q, arm.frames()[tip].name).position; };
  // How far it reaches: stretched out.
  const double reach = std::sqrt(dot(shoulder, shoulder));
  std::vector<double> last = q;
  for (int i = 0; i <= 200; ++i) {  // once around, inside and outside of reach
    const double angle = 0.6 + 0.01 * i, far = reach * (1 + 0.6 * std::sin(0.05 * i));
    std::vector<double> straight{angle, 0};
    const Vec3<double> along = pose(arm, straight, arm.frames()[tip].name).position * (1 / reach);
    const InverseKinematicsResult result = ik.reach({.frame = tip, .position = along * far}, q);
    const double least = std::max(0.0, far - reach);
    EXPECT_NEAR(result.residual, least, 1e-6 + 1e-3 * least) << i;
    EXPECT_NEAR(distance(at(), along * far), result.residual, 1e-12);
    if (i > 0)
      for (int k = 0; k < 2; ++k) EXPECT_LT(std::abs(q[k] - last[k]), 0.5) << i;
    last = q;
  }
  // Asked again for what it cannot reach, it stays.
  const Vec3<double> target = at() * 2;
  ik.reach({.frame = tip, .position = target}, q);
  last = q;
  ik.reach({.frame = tip, .position = target}, q);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(q[k], last[k], 1e-4);
  // Very far is no different.
  for (const double far : {1e6, 1e150, 1e300}) {
    const InverseKinematicsResult result = ik.reach({.frame = tip, .position = target * far}, q);
    EXPECT_FALSE(result.converged);
    for (const double x : q) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(InverseKinematics, AStraightArmBends) {
  const Model arm = read_urdf(models + "planar_2r.urdf");
  const int tip = static_cast<int>(arm.frames().size()) - 1;
  std::vector<double> q{0.0, 0.0};
  const Vec3<double> half = pose(arm, q, arm.frames()[tip].name).position * 0.5;
  EXPECT_TRUE(InverseKinematics(arm).reach({.frame = tip, .position = half}, q).converged);
  EXPECT_GT(std::abs(q[1]), 1.0);
}

TEST(InverseKinematics, NeedsNoMasses) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "upper"});
  spec.add_link({.name = "hand"});
  spec.add_joint({.name = "turn", .parent = "base", .child = "upper", .axis = {0, 0, 1}});
  spec.add_joint({.name = "slide",
                  .kind = JointKind::prismatic,
                  .parent = "upper",
                  .child = "hand",
                  .axis = {1, 0, 0},
                  .limits = {.lower = 0.1, .upper = 1}});
  const Model model(spec);
  InverseKinematics ik(model);
  std::vector<double> q{0, 0.5};
  EXPECT_TRUE(ik.reach({.frame = model.frame("hand"), .position = {0, 0.8, 0}}, q).converged);
  EXPECT_NEAR(q[0], std::acos(0.0), 1e-8);
  EXPECT_NEAR(q[1], 0.8, 1e-8);
  const InverseKinematicsResult far = ik.reach({.frame = model.frame("hand"), .position = {0, 3, 0}}, q);
  EXPECT_NEAR(far.residual, 2, 1e-9);
  EXPECT_EQ(q[1], 1) << "at its limit to the last bit";
  // One that begins beyond its limit may come back, and goes no further.
  q = {0, 1.5};
  ik.reach({.frame = model.frame("hand"), .position = {3, 0, 0}}, q);
  EXPECT_EQ(q[1], 1.5);
}

TEST(InverseKinematics, LoopsStayClosed) {
  for (const char* name : {"four_bar", "gripper", "slider_crank", "stewart", "two_arms"}) {
    SCOPED_TRACE(name);
    Scene scene(read_scene(models + name + ".json"));
    const Model& model = scene.model();
    InverseKinematics ik(model, scene.constraints());
    std::vector<double> q = scene.q, still(model.nv());
    EXPECT_TRUE(ik.close(q));
    const int joint = 0;
    for (const double by : {0.05, -0.1, 0.3}) {
      std::vector<double> wanted = q;
      wanted[model.joints()[joint].q_index] += by;
      const InverseKinematicsResult result = ik.set_joint(joint, wanted, q);
      EXPECT_LT(scene.dynamics().drift(q, still).position, 1e-8) << by;
      if (result.converged)
        EXPECT_NEAR(q[model.joints()[joint].q_index], wanted[model.joints()[joint].q_index], 1e-8);
      if (std::abs(by) < 0.06) EXPECT_TRUE(result.converged) << by;
    }
    // Dragged: every frame that can move moves towards its target, and what cannot stays.
    for (int f = 0; f < static_cast<int>(model.frames().size()); ++f) {
      std::vector<double> there = q;
      const std::string& frame = model.frames()[f].name;
      const Vec3<double> from = pose(model, q, frame).position, to = from + Vec3<double>{0.02, 0.01, 0.02};
      const InverseKinematicsResult result = ik.reach({.frame = f, .position = to}, there);
      EXPECT_LT(scene.dynamics().drift(there, still).position, 1e-8) << frame;
      EXPECT_LE(result.residual, distance(from, to) + 1e-12) << frame;
    }
  }
}

/// The four-bar's rocker does not turn all the way: asked for more it stops where the crank and the coupler are straight.
TEST(InverseKinematics, ALoopStopsWhereItsBarsEnd) {
  Scene scene(read_scene(models + "four_bar.json"));
  InverseKinematics ik(scene.model(), scene.constraints());
  std::vector<double> q = scene.q, wanted = q, still(3);
  const int rocker = 2;
  wanted[rocker] = 3;
  const InverseKinematicsResult result = ik.set_joint(rocker, wanted, q);
  EXPECT_FALSE(result.converged);
  EXPECT_GT(result.residual, 0.1);
  EXPECT_LT(scene.dynamics().drift(q, still).position, 1e-8);
  // And again from there: the same place.
  std::vector<double> again = q;
  ik.set_joint(rocker, wanted, again);
  EXPECT_NEAR(again[rocker], q[rocker], 1e-3);
}

TEST(InverseKinematics, RefusesNonsense) {
  const Model arm = read_urdf(models + "planar_2r.urdf");
  InverseKinematics ik(arm);
  std::vector<double> q(2), short_q(1);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_THROW(ik.reach({.frame = 99}, q), ArgumentError);
  EXPECT_THROW(ik.reach({.frame = -1}, q), ArgumentError);
  EXPECT_THROW(ik.reach({.frame = 1, .position = {nan, 0, 0}}, q), ArgumentError);
  EXPECT_THROW(ik.reach({.frame = 1, .position = {inf, 0, 0}}, q), ArgumentError);
  EXPECT_THROW(ik.reach({.frame = 1}, short_q), ArgumentError);
  EXPECT_THROW(ik.set_joint(7, q, q), ArgumentError);
  EXPECT_THROW(ik.set_joint(0, short_q, q), ArgumentError);
  q[0] = nan;
  EXPECT_THROW(ik.reach({.frame = 1}, q), ArgumentError);
  EXPECT_THROW(ik.close(q), ArgumentError);
}

}  // namespace
}  // namespace articula
