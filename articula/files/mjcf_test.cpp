#include "articula/files/mjcf.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/mjcf_text.hpp"

namespace articula {
namespace {

using namespace testing::mjcf_text;

TEST(Mjcf, APendulum) {
  const LoadedModel model = read(R"(<option gravity="0 0 -10"/><worldbody><body name="bob" pos="0 0 2">
    <joint name="hinge" axis="0 2 0" range="-90 45" damping="0.1" frictionloss="0.2" armature="0.3" stiffness="4" springref="10"/>
    <inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.2 0.3"/><site name="tip" pos="0 0 -1"/></body></worldbody>
    <actuator><motor name="m" joint="hinge" gear="50" ctrlrange="-2 3"/></actuator>
    <keyframe><key name="up" qpos="3" qvel="1"/></keyframe>)");
  EXPECT_EQ(findings(model), "");
  const JointSpec& j = joint(model, "hinge");
  EXPECT_EQ(j.kind, JointKind::revolute);
  EXPECT_EQ(j.parent, "world");
  EXPECT_EQ(j.axis.y, 1);
  EXPECT_DOUBLE_EQ(j.limits.lower[0], -pi / 2);
  EXPECT_DOUBLE_EQ(j.limits.upper[0], pi / 4);
  EXPECT_EQ(j.damping[0], 0.1);
  EXPECT_EQ(j.friction[0], 0.2);
  EXPECT_EQ(j.stiffness[0], 4);
  EXPECT_DOUBLE_EQ(j.spring_reference[0], pi / 18);
  EXPECT_EQ(j.where, "m.xml:2");
  ASSERT_EQ(model.spec.actuators.size(), 1u);
  EXPECT_EQ(model.spec.actuators[0].gear[0], 50);
  EXPECT_EQ(model.spec.actuators[0].lower, -2);
  ASSERT_EQ(model.states.size(), 2u);
  EXPECT_EQ(model.states[1].name, "up");
  EXPECT_EQ(model.states[1].q, std::vector<double>{3});
  EXPECT_EQ(model.states[1].v, std::vector<double>{1});
  EXPECT_EQ(model.gravity.value().z, -10);
  const Model built = model.build();
  EXPECT_EQ(built.gravity().z, -10);
  std::vector<double> M(1);
  MassMatrix<double> work(built);
  mass_matrix<double>(work, std::vector<double>{0.3}, M);
  EXPECT_DOUBLE_EQ(M[0], 0.2 + 2 * 0.25 + 0.3);
  EXPECT_EQ(built.frames().back().name, "tip");
}

TEST(Mjcf, SeveralJointsInABodyMoveMasslessLinksBetween) {
  const LoadedModel model =
      read_bodies(R"(<body name="b" pos="1 0 0"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" axis="0 0 1" pos="0 0.5 0"/><geom size="0.1"/></body>)");
  ASSERT_EQ(model.spec.links.size(), 3u);
  EXPECT_EQ(joint(model, "x").child, "b.x");
  EXPECT_EQ(joint(model, "z").parent, "b.x");
  EXPECT_EQ(joint(model, "z").child, "b.z");
  EXPECT_EQ(joint(model, "z").placement.p.y, 0.5);
  EXPECT_EQ(joint(model, "b_weld").placement.p.y, -0.5);
  EXPECT_EQ(link(model, "b.x").mass.mass, 0);
  const Model built = model.build();
  EXPECT_EQ(built.nv(), 2);
  EXPECT_TRUE(built.massless_velocities().empty());
  std::vector<double> a(2);
  ForwardDynamics<double> work(built);
  forward_dynamics<double>(work, std::vector<double>{0.1, 0.2}, std::vector<double>{0, 0},
                           std::vector<double>{1, 0}, a);
  EXPECT_TRUE(std::isfinite(a[0]) && std::isfinite(a[1]));
}

// At the coordinate `ref` the body is where the file puts it.
TEST(Mjcf, Reference) {
  const LoadedModel model =
      read_bodies(R"(<body name="a" pos="1 2 3"><joint name="s" type="slide" axis="0 0 1" ref="0.5"/>
    <geom size="0.1"/><body name="b" pos="1 0 0"><joint name="h" axis="0 0 1" ref="90"/><geom size="0.1" pos="1 0 0"/></body></body>)");
  EXPECT_DOUBLE_EQ(joint(model, "s").placement.p.z, 2.5);
  EXPECT_NEAR(joint(model, "h").placement.R.xy, 1, 1e-15);  // turned by -90 degrees
  ASSERT_EQ(model.states.size(), 1u);
  EXPECT_EQ(model.states[0].name, "qpos0");
  EXPECT_DOUBLE_EQ(model.states[0].q[0], 0.5);
  EXPECT_DOUBLE_EQ(model.states[0].q[1], pi / 2);
}

TEST(Mjcf, FreeAndBallJoints) {
  const LoadedModel model =
      read(R"(<worldbody><body name="a" pos="1 2 3" quat="0 0 0 2"><freejoint name="f"/><geom size="0.1"/>
    <body name="b"><joint type="ball" name="k"/><geom size="0.1" pos="0 0 1"/></body></body></worldbody><keyframe>
    <key qpos="7 8 9 0 0 2 0 0 1 0 0" qvel="1 2 3 4 5 6 7 8 9"/></keyframe>)");
  EXPECT_EQ(findings(model), "");
  EXPECT_EQ(joint(model, "f").kind, JointKind::free);
  EXPECT_EQ(joint(model, "f").placement.p.x, 0);
  EXPECT_EQ(joint(model, "k").kind, JointKind::spherical);
  ASSERT_EQ(model.states.size(), 2u);
  EXPECT_EQ(model.states[0].q, (std::vector<double>{0, 0, 1, 0, 1, 2, 3, 0, 0, 0, 1}));
  EXPECT_EQ(model.states[1].q, (std::vector<double>{0, 1, 0, 0, 7, 8, 9, 1, 0, 0, 0}));
  // Half a turn about y: x and z of the world are -x and -z of the body.
  EXPECT_EQ(model.states[1].v, (std::vector<double>{4, 5, 6, -1, 2, -3, 7, 8, 9}));
  EXPECT_EQ(model.states[1].name, "key0");
}

TEST(Mjcf, SolidsAndTheirDensity) {
  const LoadedModel model = read_bodies(R"(
    <body name="ball"><geom size="0.5" density="10"/></body><body name="box"><geom type="box" size="0.5 1 1.5"/></body>
    <body name="can"><geom type="cylinder" size="0.5 1" mass="3"/></body><body name="egg"><geom type="ellipsoid" size="1 2 3" mass="5"/></body>
    <body name="pill"><geom type="capsule" size="1 1" density="1"/></body><body name="flat"><geom type="plane" size="1 1 1"/></body>
    <body name="none"><geom size="1" mass="0"/><geom size="1" density="0"/></body>)");
  EXPECT_EQ(findings(model), "");
  const double ball = 10 * pi / 6;
  expect_mass(link(model, "ball").mass, ball, V3{1, 1, 1} * (0.1 * ball));
  expect_mass(link(model, "box").mass, 6000, {6500, 5000, 2500});
  expect_mass(link(model, "can").mass, 3, {3 * (0.75 + 4) / 12, 3 * (0.75 + 4) / 12, 0.375});
  expect_mass(link(model, "egg").mass, 5, {13, 10, 5});
  // A cylinder of mass 2 pi, and two half balls of 2 pi / 3 each, whose centres are 3/8 beyond its ends.
  const double half = 2 * pi / 3, across = 2 * pi * (3 + 4) / 12 + 2 * (half * 0.4 + half * (1 + 2 * 3. / 8));
  expect_mass(link(model, "pill").mass, 10 * pi / 3, {across, across, pi + 2 * half * 0.4});
  EXPECT_EQ(link(model, "flat").mass.mass, 0);
  EXPECT_EQ(link(model, "none").mass.mass, 0);
}

TEST(Mjcf, Shells) {
  const LoadedModel model =
      read_bodies(R"(<body name="ball"><geom size="2" density="1" shellinertia="true"/></body>
    <body name="cube"><geom type="box" size="0.5 0.5 0.5" mass="6" shellinertia="true"/></body>
    <body name="can"><geom type="cylinder" size="1 1" density="1" shellinertia="true"/></body>
    <body name="pill"><geom type="capsule" size="1 1" density="1" shellinertia="true"/></body>)");
  expect_mass(link(model, "ball").mass, 16 * pi, V3{1, 1, 1} * (16 * pi * 8 / 3));
  expect_mass(link(model, "cube").mass, 6, V3{1, 1, 1} * (5. / 3));
  const double wall = 4 * pi, disk = pi;
  const double across = wall * (0.5 + 1. / 3) + 2 * disk * (0.25 + 1);
  expect_mass(link(model, "can").mass, 6 * pi, {across, across, wall + disk});
  const double cap = 2 * pi, pill = wall * (0.5 + 1. / 3) + 2 * (cap * 2 / 3 + cap * (1.5 * 1.5 - 0.25));
  expect_mass(link(model, "pill").mass, 8 * pi, {pill, pill, wall + 2 * cap * 2 / 3});
}

TEST(Mjcf, SegmentsAndOrientations) {
  const LoadedModel model = read(R"(<compiler eulerseq="XYZ" angle="radian"/><worldbody>
    <body name="a"><geom type="capsule" fromto="0 0 0 4 0 0" size="0.1"/></body><body name="b" euler="0 0 1.5707963267948966"/>
    <body name="c" axisangle="0 0 3 1.5707963267948966"/><body name="d" xyaxes="0 2 0 -1 0.5 0"/><body name="e" zaxis="1 0 0"/></worldbody>)");
  EXPECT_EQ(link(model, "a").mass.center_of_mass.x, 2);
  EXPECT_LT(link(model, "a").mass.inertia.xx, link(model, "a").mass.inertia.yy);
  for (const char* name : {"b_weld", "c_weld", "d_weld"}) {
    EXPECT_NEAR(joint(model, name).placement.R.yx, 1, 1e-15) << name;
    EXPECT_NEAR(joint(model, name).placement.R.xy, -1, 1e-15) << name;
  }
  EXPECT_NEAR(joint(model, "e_weld").placement.R.xz, 1, 1e-15);
}

TEST(Mjcf, InertialsInAllForms) {
  const LoadedModel model =
      read_bodies(R"(<body name="full"><inertial pos="1 2 3" mass="4" fullinertia="5 6 7 0.1 0.2 0.3"/></body>
    <body name="turned"><inertial pos="0 0 0" mass="1" diaginertia="1 2 3" euler="0 0 90"/></body>)");
  const MassProperties& full = link(model, "full").mass;
  EXPECT_EQ(full.mass, 4);
  EXPECT_EQ(full.center_of_mass.z, 3);
  EXPECT_EQ(full.inertia.yz, 0.3);
  EXPECT_EQ(full.inertia.xy, 0.1);
  EXPECT_NEAR(link(model, "turned").mass.inertia.xx, 2, 1e-15);
}

TEST(Mjcf, InertiaFromGeoms) {
  const std::string bodies = R"(<worldbody><body name="b"><inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/>
    <geom type="box" size="0.5 0.5 0.5" density="1" group="3"/><geom type="box" size="0.5 0.5 0.5" density="1" pos="1 0 0"/></body></worldbody>)";
  const auto mass = [&](const std::string& compiler) {
    return link(read("<compiler " + compiler + "/>" + bodies), "b").mass.mass;
  };
  EXPECT_EQ(mass(""), 7);
  EXPECT_EQ(mass("inertiafromgeom=\"false\""), 7);
  EXPECT_EQ(mass("inertiafromgeom=\"true\""), 2);
  EXPECT_EQ(mass("inertiafromgeom=\"true\" inertiagrouprange=\"0 2\""), 1);
  EXPECT_EQ(mass("settotalmass=\"14\""), 14);
  EXPECT_EQ(mass("boundmass=\"9\""), 9);
  const MassProperties both = link(read("<compiler inertiafromgeom=\"true\"/>" + bodies), "b").mass;
  EXPECT_NEAR(both.inertia.xx, 2. / 6, 1e-15);
  EXPECT_NEAR(both.inertia.zz, 2. / 6 + 0.5, 1e-15);
  EXPECT_NEAR(both.center_of_mass.x, 0.5, 1e-15);
}

TEST(Mjcf, BoundsAndBalance) {
  const std::string body =
      R"(<worldbody><body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/></body></worldbody>)";
  expect_mass(link(read("<compiler balanceinertia=\"true\"/>" + body), "b").mass, 1, {2, 2, 2});
  expect_mass(link(read("<compiler boundinertia=\"3\"/>" + body), "b").mass, 1, {3, 3, 4});
}

TEST(Mjcf, DefaultClasses) {
  const LoadedModel model = read(
      R"(<default><geom density="1"/><joint damping="1"/><default class="arm"><joint axis="0 1 0" armature="2"/>
    <default class="wrist"><joint armature="3"/></default></default></default><worldbody><body name="a" childclass="arm"><joint name="j"/>
    <geom type="box" size="0.5 0.5 0.5"/><body name="b"><joint name="k" class="wrist"/><joint name="l" class="main"/><geom size="1"/></body>
    <frame childclass="wrist"><body name="c"><joint name="m"/><geom size="1"/></body></frame></body></worldbody>)");
  EXPECT_EQ(link(model, "a").mass.mass, 1);
  EXPECT_EQ(joint(model, "j").armature[0], 2);
  EXPECT_EQ(joint(model, "j").axis.y, 1);
  EXPECT_EQ(joint(model, "k").armature[0], 3);
  EXPECT_EQ(joint(model, "k").axis.y, 1);
  EXPECT_EQ(joint(model, "k").damping[0], 1);
  EXPECT_EQ(joint(model, "l").axis.z, 1);
  EXPECT_EQ(joint(model, "l").armature[0], 0);
  EXPECT_EQ(joint(model, "m").armature[0], 3);
}

// A second <default> at the top does not reach the classes that the first one has made; nearer orientations win.
TEST(Mjcf, DefaultClassesAreCopiesOfTheirTime) {
  const LoadedModel model = read(
      R"(<default><joint damping="1"/><default class="x"><joint armature="1"/><site euler="0 0 90"/></default></default>
    <default><joint damping="2"/></default><worldbody><body name="a" childclass="x"><joint name="j"/><geom size="1"/><site name="s"/>
    <site name="t" zaxis="1 0 0"/><body name="b"><joint name="k" class="main"/><geom size="1"/></body></body></worldbody>)");
  EXPECT_EQ(joint(model, "j").damping[0], 1);
  EXPECT_EQ(joint(model, "k").damping[0], 2);
  EXPECT_NEAR(model.spec.frames[0].placement.R.yx, 1, 1e-15);
  EXPECT_NEAR(model.spec.frames[1].placement.R.xz, 1, 1e-15);
}

TEST(Mjcf, FramesAndCopies) {
  const LoadedModel model =
      read(R"(<worldbody><frame pos="0 0 1"><replicate count="3" offset="1 0 0" sep="-"><body name="b">
    <joint name="j"/><geom size="0.1"/></body></replicate><frame pos="0 1 0" euler="90 0 0"><body name="c" pos="0 1 0"/></frame></frame>
    </worldbody><actuator><motor name="m" joint="j"/></actuator>)");
  EXPECT_EQ(findings(model), "");
  EXPECT_EQ(joint(model, "j-2").placement.p.x, 2);
  EXPECT_EQ(joint(model, "j-0").placement.p.z, 1);
  EXPECT_NEAR(joint(model, "c_weld").placement.p.z, 2, 1e-15);
  ASSERT_EQ(model.spec.actuators.size(), 3u);
  EXPECT_EQ(model.spec.actuators[1].name, "m-1");
  EXPECT_EQ(model.spec.actuators[1].joint, "j-1");
}

TEST(Mjcf, LimitsByAutolimits) {
  const std::string body =
      R"(<worldbody><body><joint name="j" range="-1 1"/><joint name="k" limited="true" range="-2 2"/>
    <joint name="l" limited="false" range="-2 2" type="slide"/><geom size="1"/></body></worldbody>)";
  const LoadedModel on = read("<compiler angle=\"radian\"/>" + body);
  EXPECT_EQ(joint(on, "j").limits.upper[0], 1);
  EXPECT_EQ(joint(on, "k").limits.upper[0], 2);
  EXPECT_TRUE(std::isinf(joint(on, "l").limits.upper[0]));
  const LoadedModel off = read("<compiler angle=\"radian\" autolimits=\"false\"/>" + body);
  EXPECT_EQ(joint(off, "j").kind, JointKind::continuous);
  EXPECT_EQ(joint(off, "k").limits.upper[0], 2);
  expect_finding(off, "warning: <joint> has a range but not limited");
}

TEST(Mjcf, WhatHasNoMeaningHereIsNoted) {
  const LoadedModel model = read(
      R"(<contact><exclude body1="a" body2="b"/></contact><sensor/><worldbody><light/><camera/><body name="a"><geom size="1"/></body></worldbody>)");
  for (const char* what : {"<contact>", "<sensor>", "<light>", "<camera>"})
    expect_finding(model, std::string("note: ignored: ") + what);
}

TEST(Mjcf, Refusals) {
  EXPECT_NE(refusal("<compiler coordinate=\"global\"/>").find("m.xml:1: coordinate=\"global\""),
            std::string::npos);
  EXPECT_NE(refusal("<worldbody><replicate count=\"-1\"/></worldbody>").find("usable count"),
            std::string::npos);
  EXPECT_NE(refusal("<worldbody><attach model=\"x\" body=\"y\" prefix=\"\"/></worldbody>").find("no <model>"),
            std::string::npos);
  EXPECT_NE(refusal("<worldbody><body name=\"a\"><attach body=\"a\" prefix=\"x\"/></body></worldbody>")
                .find("m.xml:1: "),
            std::string::npos);
  EXPECT_NE(refusal("<worldbody><replicate count=\"1000\"><replicate "
                    "count=\"1000\"><body/></replicate></replicate></worldbody>")
                .find("copy fewer"),
            std::string::npos);
}

TEST(Mjcf, ErrorsNameFileAndLine) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"", "<mujoco> has no <body>"},
      {"<worldbody><joint/></worldbody>", "m.xml:1: error: <joint> stands in <worldbody>"},
      {"<worldbody>\n<body name=\"a\"/><body name=\"a\"/></worldbody>",
       "m.xml:2: error: the name 'a' of a body is taken"},
      {"<worldbody><body name=\"world\"/></worldbody>", "the name 'world' of a body is taken"},
      {"<worldbody><body><joint axis=\"0 0 0\"/></body></worldbody>", "has no length"},
      {"<worldbody><body pos=\"1 2\"/></worldbody>", "pos of <body> is '1 2'; expected 3 finite numbers"},
      {"<worldbody><body><joint type=\"screw\"/></body></worldbody>",
       "expected one of: free, ball, slide, hinge"},
      {"<worldbody><body><geom type=\"mesh\" mesh=\"x\"/></body></worldbody>", "names the mesh 'x'"},
      {"<worldbody><body><geom type=\"box\" size=\"1 2\"/></body></worldbody>", "has no size"},
      {"<worldbody><body childclass=\"x\"/></worldbody>", "has the childclass 'x', which does not exist"},
      {"<worldbody><body><body><freejoint/></body></body></worldbody>", "a free joint is alone"},
      {"<worldbody><body><joint type=\"ball\"/><joint/></body></worldbody>", "a ball joint is followed"},
      {"<worldbody><body><composite/></body></worldbody>", "<composite> makes bodies"},
      {"<worldbody><body><inertial mass=\"1\"/></body></worldbody>", "<inertial> has no pos"},
      {"<worldbody><body/></worldbody><actuator><motor joint=\"x\"/></actuator>",
       "<motor> names the joint 'x'"},
      {"<compiler eulerseq=\"xy\"/><worldbody><body/></worldbody>", "eulerseq is 'xy'"},
      {"<asset><mesh name=\"m\" file=\"a.stl\"/></asset><worldbody><body><geom type=\"mesh\" "
       "mesh=\"m\"/></body></worldbody>",
       "its file 'a.stl' was not found"},
      {"<default><default/></default><worldbody><body/></worldbody>", "has no class"},
      {"<asset><mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 1 1 0\" face=\"0 1 2 0 2 "
       "3\"/></asset><worldbody><body>"
       "<geom type=\"mesh\" mesh=\"m\"/></body></worldbody>",
       "it encloses no volume"},
  };
  for (const auto& c : cases) {
    const LoadedModel model = read(c.text);
    expect_finding(model, c.message);
    EXPECT_THROW(model.build(), ModelError) << c.text;
  }
}

TEST(Mjcf, AGeomOfAMissingMeshDoesNotMatterWhereTheInertiaIsStated) {
  const LoadedModel model = read(
      R"(<asset><mesh name="m" file="a.stl"/></asset><worldbody><body name="b"><geom type="mesh" mesh="m"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>)");
  EXPECT_EQ(findings(model), "");
}

}  // namespace
}  // namespace articula
