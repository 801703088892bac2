#include "articula/loops/closed_chain_inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

SceneSpec arms_and_object(int count) {
  SceneSpec spec;
  spec.where = "arms";
  const std::string model = std::string(ARTICULA_SOURCE_DIR) + "/models/arm7.urdf";
  for (int i = 0; i < count; ++i) {
    SceneArm arm;
    arm.name = "arm" + std::to_string(i);
    arm.source = model;
    arm.spec = read_urdf_spec(model).spec;
    const double turn = 2 * M_PI / count * i;
    arm.base = {rotation_from_rpy(0, 0, turn), {std::cos(turn) * -0.6, std::sin(turn) * -0.6, 0}};
    arm.tip = "flange";
    arm.q = {0.2, 0.7, -0.1, 1.2, 0.3, -0.6, 0.4};
    spec.arms.push_back(arm);
    SceneGrasp g;
    g.kind = static_cast<SceneGrasp::Kind>(i % 4);
    g.name = g.arm = arm.name;
    g.object = "object";
    spec.grasps.push_back(g);
  }
  spec.objects.push_back({"object",
                          {3, {0, 0, 0.05}, {0.08, 0.07, 0.06, 0, 0, 0}},
                          {Mat3<double>::identity(), {0, 0, 0.8}},
                          {}});
  return spec;
}

TEST(ClosedChainInverse, TheObjectMovesAsWanted) {
  Worst worst("object acceleration from inverse dynamics");
  for (const int count : {1, 2, 3, 4}) {
    Scene scene(arms_and_object(count));
    const Model& model = scene.model();
    Rng rng(5);
    std::vector<double> q = scene.q, v = random_vector(rng, model.nv(), 0.5), tau(model.nv()), a(model.nv());
    scene.dynamics().impulse(q, v, v);
    const int object = scene.object_frame(0);
    ClosedChainInverse inverse(model, scene.constraints(), {object});
    const Spatial<double> wanted{{0.3, -0.2, 0.5}, {0.4, 1.2, -0.7}};
    double norm[2];
    for (const auto share : {InverseOptions::Share::least_forces, InverseOptions::Share::least_torques}) {
      inverse.compute(q, v, {&wanted, 1}, tau, {.share = share});
      for (int i = 0; i < 6; ++i) EXPECT_EQ(tau[scene.object(0).v + i], 0);
      scene.dynamics().acceleration(q, v, tau, a);
      Kinematics<> k(model);
      k.update(q, v, a);
      EXPECT_LT(worst(relative_error(k.acceleration(object), wanted)), 1e-9);
      EXPECT_LT(relative_error(scene.dynamics().multipliers(), inverse.multipliers()), 1e-7);
      double square = 0;
      for (const double t : tau) square += t * t;
      norm[share == InverseOptions::Share::least_torques] = std::sqrt(square);
    }
    EXPECT_LE(norm[1], norm[0] * (1 + 1e-9));
    if (count == 1) continue;
    // Squeeze: chosen internal forces appear as they are, and the motion stays.
    std::vector<double> squeeze(scene.dynamics().rows());
    squeeze[scene.dynamics().row_of(0) + 3] = 7;
    squeeze[scene.dynamics().row_of(1) + 2] = -3;
    inverse.compute(q, v, {&wanted, 1}, tau, {.internal = squeeze});
    const std::vector<double> internal = inverse.internal_part(inverse.multipliers());
    EXPECT_LT(relative_error(internal, inverse.internal_part(squeeze)), 1e-9);
    EXPECT_GT(largest(internal), 0.1);
    scene.dynamics().acceleration(q, v, tau, a);
    Kinematics<> k(model);
    k.update(q, v, a);
    EXPECT_LT(relative_error(k.acceleration(object), wanted), 1e-9);
    const ForceSplit split =
        split_forces(scene.dynamics(), q, scene.dynamics().multipliers(), scene.object(0).v, 6);
    EXPECT_LT(relative_error(split.internal, internal), 1e-7);
    EXPECT_LT(relative_error(sum(split.motion, split.internal),
                             std::vector<double>(scene.dynamics().multipliers().begin(),
                                                 scene.dynamics().multipliers().end())),
              1e-12);
  }
}

TEST(ClosedChainInverse, ControlBringsTheObjectToItsPlace) {
  Scene scene(arms_and_object(2));
  const Model& model = scene.model();
  const int object = scene.object_frame(0);
  ClosedChainInverse inverse(model, scene.constraints(), {object});
  std::vector<double> q = scene.q, v(model.nv()), tau(model.nv()), a(model.nv()), d(model.nv());
  PoseReference wanted;
  wanted.pose = {rotation_from_rpy(0.1, -0.1, 0.2), {0.05, -0.03, 0.85}};
  Kinematics<> k(model);
  const double h = 5e-3;
  for (int step = 0; step < 400; ++step) {
    k.update(q, v);
    const auto pose = k.pose(object);
    const Spatial<double> u =
        pose_feedback(wanted, {pose.rotation, pose.position}, k.velocity(object), 100, 20);
    inverse.compute(q, v, {&u, 1}, tau);
    // Joint damping in what the object leaves free, so that the elbows come to rest.
    scene.dynamics().acceleration(q, v, tau, a);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += h * a[i];
    d = scaled(v, h);
    integrate(model, q, d, q);
    scene.dynamics().project(q, v);
  }
  k.update(q, v);
  const auto pose = k.pose(object);
  EXPECT_LT(relative_error(pose.position, wanted.pose.p), 1e-3);
  const Vec3<double> turn = log_quaternion(quaternion(wanted.pose.R * star(pose.rotation)));
  EXPECT_LT(std::sqrt(dot(turn, turn)), 1e-3);
}

TEST(ClosedChainInverse, WhatMotorsCannotDoIsAnError) {
  SceneSpec spec = arms_and_object(1);
  spec.grasps[0].kind = SceneGrasp::Kind::point;  // one point cannot turn an object at will
  Scene scene(spec);
  const Model& model = scene.model();
  ClosedChainInverse inverse(model, scene.constraints(), {scene.object_frame(0)});
  const Spatial<double> wanted{{1, 0, 0}, {0, 0, 0}};
  std::vector<double> tau(model.nv());
  EXPECT_THROW(inverse.compute(scene.q, scene.v, {&wanted, 1}, tau), SingularError);
  EXPECT_THROW(inverse.compute(scene.q, scene.v, {}, tau), ArgumentError);
  EXPECT_THROW(ClosedChainInverse(model, scene.constraints(), {0}, {true}), ArgumentError);
}

}  // namespace
}  // namespace articula::testing
