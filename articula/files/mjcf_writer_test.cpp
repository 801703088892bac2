#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/error.hpp"
#include "articula/files/mjcf.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using testing::Rng;

LoadedModel read_back(const ModelSpec& spec) {
  const std::string text = write_mjcf(spec);
  LoadedModel out = parse_mjcf({text, "written.xml", "/nowhere"});
  for (const Finding& f : out.findings) ADD_FAILURE() << describe(f) << "\n" << text;
  return out;
}

/// Mass matrix and bias forces at random states.
void expect_same_dynamics(const Model& a, const Model& b, double tolerance = 1e-12) {
  ASSERT_EQ(a.nq(), b.nq());
  ASSERT_EQ(a.nv(), b.nv());
  Rng rng(7);
  MassMatrix<double> first(a), second(b);
  InverseDynamics<double> third(a), fourth(b);
  const std::size_t n = std::size_t(a.nv());
  for (int i = 0; i < 5; ++i) {
    const testing::State s = random_state(rng, a);
    std::vector<double> M(n * n), N(n * n), t(n), u(n);
    mass_matrix<double>(first, s.q, M);
    mass_matrix<double>(second, s.q, N);
    inverse_dynamics<double>(third, s.q, s.v, s.a, t);
    inverse_dynamics<double>(fourth, s.q, s.v, s.a, u);
    EXPECT_LT(testing::relative_error(N, M), tolerance);
    EXPECT_LT(testing::relative_error(u, t), tolerance);
  }
}

/// Joints whose coordinates MJCF has, too.
const std::vector<JointKind> same_in_both{
    JointKind::fixed,     JointKind::revolute,    JointKind::continuous, JointKind::prismatic,
    JointKind::spherical, JointKind::cylindrical, JointKind::universal,  JointKind::translational};

TEST(MjcfWriter, RandomTreesKeepTheirDynamics) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    testing::RandomOptions options;
    options.kinds = same_in_both;
    options.links = rng.integer(1, 15);
    options.mimic = seed % 2 ? 0.2 : 0;
    ModelSpec spec = random_spec(rng, options);
    for (JointSpec& joint : spec.joints)  // of a ball MJCF has one number
      if (joint.kind == JointKind::spherical) joint.armature = joint.armature[0];
    SCOPED_TRACE(testing::describe(spec));
    const LoadedModel back = read_back(spec);
    expect_same_dynamics(Model(spec), back.build());
    EXPECT_EQ(back.spec.frames.size(), spec.frames.size());
  }
}

TEST(MjcfWriter, FreeAndPlanarJoints) {
  const Model free(read_back(testing::one_joint_spec(JointKind::planar)).spec);
  EXPECT_EQ(free.nv(), 3);
  ModelSpec spec;
  spec.add_link({"body", {2, {0.1, 0.2, 0.3}, {1, 2, 2.5, 0.1, 0.2, 0.3}}});
  JointSpec joint{.name = "float", .kind = JointKind::free, .parent = "world", .child = "body"};
  spec.add_joint(joint);
  expect_same_dynamics(Model(spec), read_back(spec).build());
  spec.add_link({"child", {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}}});
  joint.name = "again", joint.parent = "body", joint.child = "child";
  spec.add_joint(joint);
  EXPECT_THROW(write_mjcf(spec), ModelError);
}

// Read, written and read again: the same joints in the same body, whatever their axes and references.
TEST(MjcfWriter, SeveralJointsInABodyStayThere) {
  const std::string text =
      R"(<mujoco model="m"><worldbody><body name="a" pos="0 0 1" euler="10 20 30"><joint name="x" type="slide" axis="1 0 1" ref="0.3"/>
    <joint name="y" pos="0.1 0 0.2" axis="0 1 0" ref="20" range="-30 40" stiffness="2" springref="5"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30"/>
    <body name="b" pos="0.3 0 0"><joint name="k" type="ball" pos="0 0 0.1" damping="0.5"/><geom type="capsule" fromto="0 0 0 0.1 0.2 0.5" size="0.05"/>
    <site name="s" pos="1 2 3" quat="1 2 3 4"/></body></body></worldbody><equality><connect name="c" body1="b" anchor="0 0 1"/><weld name="w" body1="a" body2="b"/>
    <joint name="p" joint1="x" joint2="y" polycoef="1 2 3 4 5"/></equality><actuator><motor name="m" joint="k" gear="1 2 3" forcerange="-4 5"/></actuator></mujoco>)";
  const LoadedModel first = parse_mjcf({text, "m.xml", "/nowhere"});
  const std::string written = write_mjcf(first.spec);
  EXPECT_EQ(written.find("b.k"), std::string::npos) << written;
  EXPECT_EQ(written.find("a.x"), std::string::npos) << written;
  const LoadedModel second = read_back(first.spec);
  expect_same_dynamics(first.build(), second.build());
  ASSERT_EQ(second.spec.loops.size(), 2u);
  EXPECT_EQ(second.spec.loops[0].kind, JointKind::spherical);
  EXPECT_NEAR(second.spec.loops[0].second_placement.p.z, first.spec.loops[0].second_placement.p.z, 1e-15);
  EXPECT_NEAR(second.spec.loops[1].first_placement.p.z, first.spec.loops[1].first_placement.p.z, 1e-15);
  ASSERT_EQ(second.spec.couplings.size(), 1u);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(second.spec.couplings[0].coefficients[i], first.spec.couplings[0].coefficients[i], 1e-13);
  ASSERT_EQ(second.spec.actuators.size(), 1u);
  EXPECT_EQ(second.spec.actuators[0].gear[2], 3);
  EXPECT_EQ(second.spec.actuators[0].upper, 5);
  for (std::size_t i = 0; i < first.spec.joints.size(); ++i) {
    EXPECT_EQ(second.spec.joints[i].name, first.spec.joints[i].name);
    if (std::isfinite(first.spec.joints[i].limits.upper[0]))
      EXPECT_NEAR(second.spec.joints[i].limits.upper[0], first.spec.joints[i].limits.upper[0], 1e-15);
    EXPECT_NEAR(second.spec.joints[i].spring_reference[0], first.spec.joints[i].spring_reference[0], 1e-15);
  }
}

TEST(MjcfWriter, HalfARange) {
  ModelSpec spec = testing::one_joint_spec(JointKind::revolute);
  spec.joints[0].limits.lower = -1;
  const LoadedModel back = read_back(spec);
  EXPECT_EQ(back.spec.joints.back().limits.lower[0], -1);
  EXPECT_TRUE(std::isinf(back.spec.joints.back().limits.upper[0]));
}

TEST(MjcfWriter, WhatItCannotSay) {
  EXPECT_THROW(write_mjcf(testing::one_joint_spec(JointKind::helical)), ModelError);
  ModelSpec spec = testing::one_joint_spec(JointKind::spherical);
  spec.joints[0].armature[1] = 3;
  EXPECT_THROW(write_mjcf(spec), ModelError);
  spec = testing::one_joint_spec(JointKind::revolute);
  spec.links[1].mass.mass = NAN;
  EXPECT_THROW(write_mjcf(spec), ModelError);
  spec = testing::one_joint_spec(JointKind::revolute);
  spec.loops.push_back(
      {.name = "l", .kind = JointKind::revolute, .first = spec.links[1].name, .second = "world"});
  EXPECT_THROW(write_mjcf(spec), ModelError);
}

TEST(MjcfWriter, NamesWithMarks) {
  ModelSpec spec;
  spec.name = "a<b>&\"";
  spec.add_link({"x\"&<y>", {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}}});
  const LoadedModel back = read_back(spec);
  EXPECT_EQ(back.spec.name, spec.name);
  EXPECT_EQ(back.spec.links[0].name, spec.links[0].name);
}

}  // namespace
}  // namespace articula
