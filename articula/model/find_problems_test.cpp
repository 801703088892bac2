#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/model.hpp"
#include "articula/model/name_index.hpp"
#include "tests/support/slowness.hpp"
#include "tests/support/spec_kinematics.hpp"

namespace articula {
namespace {

using Severity = Finding::Severity;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string all(const std::vector<Finding>& findings) {
  std::string out;
  for (const auto& f : findings) out += describe(f) + "\n";
  return out;
}

const MassProperties solid{2, {0.1, 0.02, 0.03}, {0.01, 0.012, 0.014, 0.001, 0.0005, -0.0005}};

/// A sound chain: links l0 .. ln, joints j1 .. jn, about x, y and z in turn.
ModelSpec chain(int joints) {
  ModelSpec spec;
  spec.add_link({"l0", {}, "f:1"});
  for (int i = 1; i <= joints; ++i) {
    const std::string n = std::to_string(i), line = std::to_string(10 * i);
    spec.add_link({"l" + n, solid, "f:" + line});
    JointSpec joint{"j" + n, JointKind::revolute, "l" + std::to_string(i - 1), "l" + n};
    joint.placement = {rotation_from_rpy(0.1, 0.2, 0.3), {0.3, 0.05, 0.1}};
    joint.axis = {double(i % 3 == 1), double(i % 3 == 2), double(i % 3 == 0)};
    joint.limits = {-2, 2, 3, 50};
    joint.where = "f:" + std::to_string(10 * i + 1);
    spec.add_joint(joint);
  }
  return spec;
}

/// The one finding of a changed sound chain: its severity, place, and words of its message.
void expect_one(const std::function<void(ModelSpec&)>& change, Severity severity, const std::string& where,
                const std::vector<std::string>& words, Base base = Base::fixed) {
  ModelSpec spec = chain(4);
  change(spec);
  const auto findings = find_problems(spec, base);
  ASSERT_EQ(findings.size(), 1u) << all(findings);
  EXPECT_EQ(findings[0].severity, severity) << all(findings);
  EXPECT_EQ(findings[0].where, where) << all(findings);
  for (const auto& word : words)
    EXPECT_NE(findings[0].message.find(word), std::string::npos) << word << " in: " << findings[0].message;
}
void expect_error(const std::function<void(ModelSpec&)>& change, const std::string& where,
                  const std::vector<std::string>& words) {
  expect_one(change, Severity::error, where, words);
}
void expect_warning(const std::function<void(ModelSpec&)>& change, const std::string& where,
                    const std::vector<std::string>& words) {
  expect_one(change, Severity::warning, where, words);
}
/// At least one error that says the words.
void expect_among(const ModelSpec& spec, const std::string& words, Base base = Base::fixed) {
  const auto findings = find_problems(spec, base);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [&](const Finding& f) {
                            return f.severity == Severity::error &&
                                   f.message.find(words) != std::string::npos;
                          }))
      << words << " in:\n"
      << all(findings);
}

/// At least one warning that says the words, and no error.
void expect_warned(const ModelSpec& spec, const std::string& words, Base base = Base::fixed) {
  const auto findings = find_problems(spec, base);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [&](const Finding& f) { return f.message.find(words) != std::string::npos; }))
      << words << " in:\n"
      << all(findings);
  for (const Finding& f : findings) EXPECT_EQ(f.severity, Severity::warning) << describe(f);
}

TEST(FindProblems, SoundModelsAreSilent) {
  for (const Base base : {Base::fixed, Base::free}) {
    ModelSpec spec = chain(6);
    spec.links[0].mass = solid;
    EXPECT_TRUE(find_problems(spec, base).empty()) << all(find_problems(spec, base));
  }
}

TEST(FindProblems, EveryKindOfJointIsSilent) {
  for (int kind = 0; kind <= int(JointKind::free); ++kind) {
    ModelSpec spec = chain(5);
    spec.joints[2].kind = JointKind(kind);
    spec.joints[2].pitch = 0.1;
    spec.joints[2].axis = {0, 0, 1};
    EXPECT_TRUE(find_problems(spec).empty()) << name_of(JointKind(kind)) << all(find_problems(spec));
    spec.joints[4].kind = JointKind(kind);
    spec.joints[4].pitch = -0.1;
    spec.joints[4].axis = {0, 0, 1};
    EXPECT_TRUE(find_problems(spec).empty()) << name_of(JointKind(kind)) << all(find_problems(spec));
  }
}

// --- names and the tree ------------------------------------------------------------------------------
TEST(FindProblems, Names) {
  expect_among({}, "no links");
  expect_error(
      [](ModelSpec& s) {
        s.add_joint({"j5", JointKind::fixed, "l0", ""}).where = "f:99";
      },
      "f:99", {"j5", "child link ''"});
  expect_error([](ModelSpec& s) { s.joints[3].name = "j2"; }, "f:41", {"joint 'j2'", "same name", "f:21"});
  expect_error([](ModelSpec& s) { s.joints[3].name = ""; }, "f:41", {"empty name"});
  expect_error([](ModelSpec& s) { s.joints[3].parent = "l33"; }, "f:41",
               {"'j4'", "parent link 'l33'", "did you mean 'l3'?"});
  expect_error([](ModelSpec& s) { s.add_frame({"tip", "no", {}, "f:50"}); }, "f:50", {"frame 'tip'", "'no'"});
  expect_error([](ModelSpec& s) { s.add_frame({"l2", "l1", {}, "f:50"}); }, "f:50", {"name of a link"});
  expect_error(
      [](ModelSpec& s) {
        s.add_frame({"tip", "l1", {}, "f:50"});
        s.add_frame({"tip", "l2", {}, "f:51"});
      },
      "f:51", {"frame 'tip'", "f:50"});
  ModelSpec spec = chain(3);
  spec.links[3].name = "l2";
  expect_among(spec, "same name");
}

TEST(FindProblems, Tree) {
  expect_error(
      [](ModelSpec& s) {
        s.add_joint({"again", JointKind::fixed, "l1", "l4"}).where = "f:99";
      },
      "f:99", {"'l4'", "two joints", "'j4'", "'again'"});
  ModelSpec spec = chain(4);
  spec.joints[1].parent = "l4";  // l2 <- l4 <- l3 <- l2
  expect_among(spec, "cycle");
  spec = chain(4);
  spec.joints[0].parent = "l1";
  expect_among(spec, "link 'l1' forms a cycle");
  spec = chain(1);
  spec.joints[0].parent = "l1";
  spec.links.erase(spec.links.begin());  // nothing but a cycle
  expect_among(spec, "cycle");
}

TEST(FindProblems, Roots) {
  expect_error(
      [](ModelSpec& s) {
        s.add_link({"lost", {}, "f:99"});
      },
      "f:99", {"2 links", "'l0'", "'lost'", "one root"});
  ModelSpec spec = chain(4);
  spec.joints[2].parent = "world";
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));  // two trees
  spec.joints[0].parent = "world";
  spec.links.erase(spec.links.begin());
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));  // both on the world by name
  spec.add_link({"world"});
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));  // now a link like any other
}

// --- numbers -----------------------------------------------------------------------------------------
TEST(FindProblems, NumbersMustBeFinite) {
  const std::vector<std::function<double&(ModelSpec&)>> links{
      [](ModelSpec& s) -> double& { return s.links[2].mass.mass; },
      [](ModelSpec& s) -> double& { return s.links[2].mass.center_of_mass.z; },
      [](ModelSpec& s) -> double& { return s.links[2].mass.inertia.yz; }};
  const std::vector<std::function<double&(ModelSpec&)>> joints{
      [](ModelSpec& s) -> double& { return s.joints[1].placement.p.y; },
      [](ModelSpec& s) -> double& { return s.joints[1].placement.R.yz; },
      [](ModelSpec& s) -> double& { return s.joints[1].axis.x; },
      [](ModelSpec& s) -> double& { return s.joints[1].damping[0]; },
      [](ModelSpec& s) -> double& { return s.joints[1].friction[0]; },
      [](ModelSpec& s) -> double& { return s.joints[1].armature[0]; }};
  for (const double bad : {nan, infinity, 1e40}) {
    for (const auto& number : links)
      expect_error([&](ModelSpec& s) { number(s) = bad; }, "f:20", {"'l2'", "finite"});
    for (const auto& number : joints)
      expect_error([&](ModelSpec& s) { number(s) = bad; }, "f:21", {"'j2'", "finite"});
  }
  expect_error([](ModelSpec& s) { s.joints[1].limits.effort = nan; }, "f:21", {"'j2'", "NaN"});
  expect_error([](ModelSpec& s) { s.joints[1].kind = JointKind::helical, s.joints[1].pitch = nan; }, "f:21",
               {"pitch"});
  expect_error(
      [](ModelSpec& s) {
        s.add_frame({"tip", "l1", {{}, {nan, 0, 0}}, "f:50"});
      },
      "f:50", {"'tip'", "finite"});
}

TEST(FindProblems, Placements) {
  expect_error([](ModelSpec& s) { s.joints[1].placement.R.xx += 1e-3; }, "f:21", {"'j2'", "not a rotation"});
  expect_error([](ModelSpec& s) { s.joints[1].placement.R = {1, 0, 0, 0, 1, 0, 0, 0, -1}; }, "f:21",
               {"det R = -1"});
  ModelSpec spec = chain(2);
  spec.joints[1].placement.R.xy += 1e-8;  // single precision passes
  EXPECT_TRUE(find_problems(spec).empty());
}

TEST(FindProblems, Axes) {
  expect_error(
      [](ModelSpec& s) {
        s.joints[1].axis = {0, 0, 0};
      },
      "f:21", {"'j2'", "(0, 0, 0)", "unit length"});
  expect_warning([](ModelSpec& s) { s.joints[1].axis = {0, 3, 4}; }, "f:21", {"length 5", "(0, 0.6, 0.8)"});
  expect_error(
      [](ModelSpec& s) {
        s.joints[1].kind = JointKind::universal;
        s.joints[1].axis = {0, 1, 0};
        s.joints[1].second_axis = {0, -1, 0};
      },
      "f:21", {"parallel", "perpendicular"});
  expect_error(
      [](ModelSpec& s) {
        s.joints[1].kind = JointKind::universal;
        s.joints[1].axis = {0, 1, 0};
        s.joints[1].second_axis = {0.6, 0.8, 0};
      },
      "f:21", {"degrees apart"});
  ModelSpec spec = chain(2);  // the axis of a spherical joint means nothing
  spec.joints[1].kind = JointKind::spherical;
  spec.joints[1].axis = {0, 0, 0};
  EXPECT_TRUE(find_problems(spec).empty());
}

TEST(FindProblems, MassAndInertia) {
  expect_error([](ModelSpec& s) { s.links[2].mass.mass = -1; }, "f:20", {"'l2'", "negative mass"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.inertia = {1, 1, -0.001, 0, 0, 0}; }, "f:20",
                 {"'l2'", "not positive", "-0.001"});
  expect_warning(
      [](ModelSpec& s) {
        s.links[2].mass.inertia = {0.01, 0.01, 0.01, 0.0101, 0, 0};
        s.joints[2].kind = JointKind::fixed;
      },
      "f:20", {"not positive", "-0.0001", "with the links welded to it: 0.0", "sound"});
  expect_warning([](ModelSpec& s) { s.links[0].mass.inertia = {-1, 1, 1, 0, 0, 0}; }, "f:1",
                 {"not positive", "welded to the world"});
  expect_warning([](ModelSpec& s) { s.links[2].mass = {-1e-20, {}, {}}; }, "f:20", {"below zero"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.inertia = {0.1, 0.1, 0.3, 0, 0, 0}; }, "f:20",
                 {"'l2'", "triangle rule", "0.1 + 0.1 < 0.3"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.inertia = {0.01, 0.1, 0.1, 0, 0, 0.02}; }, "f:20",
                 {"triangle rule", "iyz = 0.02", "half of ixx"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.mass = 0; }, "f:20", {"'l2'", "no mass but an inertia"});
  ModelSpec spec = chain(2);
  spec.links[2].mass.inertia = {0.1, 0.1, 0.20001, 0, 0, 0};  // a flat plate, rounded
  EXPECT_TRUE(find_problems(spec).empty());
  spec.links[2].mass.inertia = {0, 0, 0, 0, 0, 0};  // a point
  EXPECT_TRUE(find_problems(spec).empty());
  spec.links[2].mass.inertia = {2.4e-35, -2.4e-35, 1e-18, 0, 0, -2e-18};  // the same, but for rounding
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

TEST(FindProblems, Coefficients) {
  expect_warning([](ModelSpec& s) { s.joints[1].damping = -1; }, "f:21", {"'j2'", "negative damping"});
  expect_warning([](ModelSpec& s) { s.joints[1].friction = -1; }, "f:21", {"'j2'", "negative friction"});
  expect_error([](ModelSpec& s) { s.joints[1].armature = -1; }, "f:21", {"'j2'", "negative armature"});
}

TEST(FindProblems, Limits) {
  expect_error([](ModelSpec& s) { s.joints[1].limits.lower = 3; }, "f:21",
               {"lower limit 3", "upper limit 2"});
  expect_error([](ModelSpec& s) { s.joints[1].limits.lower = s.joints[1].limits.upper = infinity; }, "f:21",
               {"inf"});
  expect_warning([](ModelSpec& s) { s.joints[1].limits.lower = s.joints[1].limits.upper = 0; }, "f:21",
                 {"no range"});
  expect_warning([](ModelSpec& s) { s.joints[1].limits.upper = 170; }, "f:21", {"degrees", "2.96706 rad"});
  expect_warning([](ModelSpec& s) { s.joints[1].limits.velocity = -1; }, "f:21", {"negative limit"});
  ModelSpec spec = chain(2);
  spec.joints[1].limits = {-6.5, 6.5, 3, 50};  // a little over one turn
  spec.joints[0].limits = {};
  EXPECT_TRUE(find_problems(spec).empty());
  spec.joints[1].kind = JointKind::prismatic;
  spec.joints[1].limits.upper = 30;  // metres
  EXPECT_TRUE(find_problems(spec).empty());
}

TEST(FindProblems, Units) {
  expect_warning(
      [](ModelSpec& s) {
        s.joints[1].placement.p = {300, 0, 0};
      },
      "f:21", {"'j2'", "300 m", "millimetres"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.mass = 2500; }, "f:20", {"'l2'", "2500 kg", "grams"});
  expect_warning(
      [](ModelSpec& s) {
        s.links[2].mass.center_of_mass = {0, 150, 0};
      },
      "f:20", {"'l2'", "150 m"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.inertia = {1e4, 1.2e4, 1.4e4, 0, 0, 0}; }, "f:20",
                 {"gyration radius", "millimetres"});
  expect_warning([](ModelSpec& s) { s.links[2].mass.inertia = {1e-8, 1e-8, 1e-8, 0, 0, 0}; }, "f:20",
                 {"too small for its mass"});
  // One message for a robot that is in millimetres throughout.
  ModelSpec spec = chain(5);
  for (auto& j : spec.joints) j.placement.p = j.placement.p * 1000;
  EXPECT_EQ(find_problems(spec).size(), 1u) << all(find_problems(spec));
  // A big machine in the right units is no suspect.
  spec = chain(3);
  for (auto& j : spec.joints) j.placement.p = j.placement.p * 10;
  for (auto& l : spec.links) l.mass = {3000, {1, 0, 0}, {4000, 5000, 4500, 0, 0, 0}};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

// --- mimic -------------------------------------------------------------------------------------------
TEST(FindProblems, Mimics) {
  expect_error([](ModelSpec& s) { s.joints[1].mimic = Mimic{"j9"}; }, "f:21", {"'j2'", "'j9'", "not exist"});
  expect_error([](ModelSpec& s) { s.joints[1].mimic = Mimic{"j2"}; }, "f:21", {"'j2'", "itself"});
  expect_error([](ModelSpec& s) { s.joints[1].mimic = Mimic{"j1", nan}; }, "f:21", {"multiplier", "finite"});
  expect_error([](ModelSpec& s) { s.joints[0].kind = JointKind::fixed, s.joints[1].mimic = Mimic{"j1"}; },
               "f:21", {"'j2'", "fixed joint 'j1'"});
  expect_error([](ModelSpec& s) { s.joints[0].kind = JointKind::spherical, s.joints[1].mimic = Mimic{"j1"}; },
               "f:21", {"spherical joint 'j1'", "3 freedoms"});
  expect_error([](ModelSpec& s) { s.joints[1].kind = JointKind::planar, s.joints[1].mimic = Mimic{"j1"}; },
               "f:21", {"planar joint 'j2'", "3 freedoms"});
  ModelSpec spec = chain(4);
  spec.joints[1].mimic = Mimic{"j3"};
  spec.joints[2].mimic = Mimic{"j4"};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));  // a chain is fine
  spec.joints[3].mimic = Mimic{"j2"};
  expect_among(spec, "itself");
}

// --- joints without inertia --------------------------------------------------------------------------
TEST(JointInertia, MasslessTip) {
  expect_warning([](ModelSpec& s) { s.links[4].mass = {}; }, "f:41",
                 {"'j4'", "(1, 0, 0)", "'l4'", "have no inertia against it", "armature"});
  ModelSpec spec = chain(4);
  spec.links[4].mass = {};
  spec.joints[3].armature = 1e-4;
  EXPECT_TRUE(find_problems(spec).empty());
  spec.joints[3].armature = 0;
  spec.joints[3].kind = JointKind::fixed;
  EXPECT_TRUE(find_problems(spec).empty());
}

TEST(JointInertia, MasslessLinksInTheMiddleAreLegal) {
  ModelSpec spec = chain(6);
  spec.links[1].mass = spec.links[2].mass = spec.links[4].mass = {};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

TEST(JointInertia, PointMassOnTheAxis) {
  ModelSpec spec = chain(4);
  spec.links[4].mass = {3, {0.2, 0, 0}, {0, 0, 0, 0, 0, 0}};  // j4 turns about x
  expect_warned(spec, "'j4' has no inertia to move when turning about (1, 0, 0)");
  spec.links[4].mass.center_of_mass.y = 1e-3;
  EXPECT_TRUE(find_problems(spec).empty());
  spec.links[4].mass.center_of_mass = {0.2, 0, 0};
  spec.joints[3].kind = JointKind::prismatic;
  EXPECT_TRUE(find_problems(spec).empty());
}

/// Joints that share an axis, with nothing between them: what turns is the outermost body alone.
TEST(JointInertia, CoaxialJoints) {
  ModelSpec spec = chain(4);
  spec.joints[3].axis = spec.joints[2].axis;
  spec.joints[3].placement = {};
  EXPECT_TRUE(find_problems(spec).empty());
  spec.links[3].mass = {};
  expect_warned(spec, "'j3' has no inertia");
  expect_warned(spec, "stay behind");
  spec.joints[2].armature = 0.01;
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

/// Four concurrent axes: the body at the end can turn in three ways only.
TEST(JointInertia, FourConcurrentAxes) {
  ModelSpec spec = chain(6);
  for (std::size_t j = 3; j < 6; ++j) spec.joints[j].placement.p = {0, 0, 0}, spec.links[j].mass = {};
  expect_warned(spec, "'j3' has no inertia");
  spec.joints[3].placement.p = {0, 0.1, 0};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

/// The missing inertia is seen through a joint of another kind between the two coaxial ones.
TEST(JointInertia, CoaxialThroughASlide) {
  ModelSpec spec = chain(3);
  for (auto& j : spec.joints) j.axis = {0, 0, 1}, j.placement = {};
  spec.joints[1].kind = JointKind::prismatic;
  spec.links[1].mass = spec.links[2].mass = {};
  expect_warned(spec, "'j1' has no inertia");
}

TEST(JointInertia, SeveralFreedoms) {
  ModelSpec spec = chain(2);
  spec.joints[1].kind = JointKind::spherical;
  spec.links[2].mass = {1, {0, 0, 0.3}, {0, 0, 0, 0, 0, 0}};  // a point: no turning about its radius
  expect_warned(spec, "'j2' has no inertia to move when turning about");
  spec.joints[1].kind = JointKind::universal;
  spec.joints[1].axis = {1, 0, 0}, spec.joints[1].second_axis = {0, 1, 0};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
  spec.joints[1].kind = JointKind::free;
  expect_warned(spec, "'j2' has no inertia");
  spec.joints[1].kind = JointKind::planar;
  spec.joints[1].axis = {0, 0, 1};
  expect_warned(spec, "'j2' has no inertia");  // the point is on the axis
  spec.joints[1].kind = JointKind::cylindrical;
  expect_warned(spec, "'j2' has no inertia to move when turning about (0, 0, 1)");
}

TEST(JointInertia, FreeBase) {
  ModelSpec spec;
  spec.add_link({"ball", {1, {0, 0, 0}, {0, 0, 0, 0, 0, 0}}, "f:1"});
  EXPECT_TRUE(find_problems(spec, Base::fixed).empty());
  expect_warned(spec, "the free base, link 'ball', has no inertia to move when turning about", Base::free);
  spec.links[0].mass.inertia = {0.1, 0.1, 0.1, 0, 0, 0};
  EXPECT_TRUE(find_problems(spec, Base::free).empty());
  spec.links[0].mass = {};
  expect_warned(spec, "sliding along (1, 0, 0)", Base::free);
}

TEST(JointInertia, WeldedToTheWorldMattersNot) {
  ModelSpec spec = chain(3);
  for (auto& j : spec.joints) j.kind = JointKind::fixed;
  for (auto& l : spec.links) l.mass = {};
  EXPECT_TRUE(find_problems(spec).empty());
}

/// A mimic joint may be massless if what follows the same source is not.
TEST(JointInertia, MimicGroups) {
  ModelSpec spec = chain(4);
  spec.links[4].mass = {};
  spec.joints[3].mimic = Mimic{"j1", 0.5};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
  // A source that has nothing itself, but whose follower has.
  spec = chain(2);
  spec.add_link({"l3", {}, "f:30"});
  spec.add_joint({"j3", JointKind::continuous, "l0", "l3"});
  spec.joints[1].mimic = Mimic{"j3"};
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
  spec.joints[1].mimic = Mimic{"j3", 0};
  expect_warned(spec, "'j3' has no inertia");
  // Two coaxial joints that undo each other: the only massive body never moves.
  spec = chain(2);
  spec.joints[0].axis = spec.joints[1].axis = {0, 0, 1};
  spec.joints[1].placement = {};
  spec.links[1].mass = {};
  spec.joints[1].mimic = Mimic{"j1", -1};
  expect_warned(spec, "'j1' has no inertia");
  spec.joints[1].mimic->multiplier = -0.9;
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

/// Light links at the end of heavy ones, and tiny models, are not taken for massless.
TEST(JointInertia, IsJudgedByRoundingAlone) {
  ModelSpec spec = chain(6);
  for (std::size_t k = 1; k <= 6; ++k) {
    const double scale = std::pow(10.0, -double(k));
    spec.links[k].mass.mass *= scale;
    auto& J = spec.links[k].mass.inertia;
    J = {J.xx * scale, J.yy * scale, J.zz * scale, J.xy * scale, J.xz * scale, J.yz * scale};
  }
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
  spec = chain(6);
  for (auto& j : spec.joints) j.placement.p = j.placement.p * 1e-6;
  for (auto& l : spec.links) {
    auto& m = l.mass;
    m.mass *= 1e-18, m.center_of_mass = m.center_of_mass * 1e-6;
    m.inertia = {m.inertia.xx * 1e-30, m.inertia.yy * 1e-30, m.inertia.zz * 1e-30,
                 m.inertia.xy * 1e-30, m.inertia.xz * 1e-30, m.inertia.yz * 1e-30};
  }
  EXPECT_TRUE(find_problems(spec).empty()) << all(find_problems(spec));
}

/// Trees full of coincidences: zero offsets, parallel axes, missing and point masses, mimics.
ModelSpec special_tree(std::mt19937& random) {
  const auto below = [&](unsigned n) { return random() % n; };
  const Vec3<double> axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {0.6, 0, 0.8}};
  const JointKind kinds[] = {JointKind::revolute, JointKind::revolute, JointKind::prismatic,
                             JointKind::helical, JointKind::fixed};
  ModelSpec spec;
  spec.add_link({"l0"});
  const int joints = 1 + int(below(6));
  for (int i = 1; i <= joints; ++i) {
    LinkSpec link{"l" + std::to_string(i)};
    const unsigned sort = below(5);
    if (sort == 0) link.mass = solid;
    if (sort == 1) link.mass = {1, {0, 0, 0.2}, {0, 0, 0, 0, 0, 0}};
    if (sort == 2) link.mass = {1, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    JointSpec joint{"j" + std::to_string(i), kinds[below(5)],
                    below(4) ? spec.links.back().name : spec.links[below(unsigned(i))].name, link.name};
    joint.axis = axes[below(5)];
    joint.pitch = 0.1;
    if (below(2)) joint.placement.p = {0, below(2) ? 0.3 : 0, 0.25};
    if (below(8) == 0) joint.armature = 0.01;
    if (i > 1 && below(4) == 0 && nv_of(joint.kind) == 1 && nv_of(spec.joints[0].kind) == 1)
      joint.mimic = Mimic{"j1", below(2) ? -1.0 : 0.5, 0.1};
    spec.add_link(link);
    spec.add_joint(joint);
  }
  return spec;
}

/// Smallest eigenvalue of the mass matrix of the independent joints, scaled to a unit diagonal, at some
/// configuration.
double smallest_eigenvalue(const ModelSpec& spec, std::mt19937& random) {
  std::vector<double> q;
  std::vector<std::pair<int, double>> column;  // of each freedom, and its multiplier
  int columns = 0;
  for (const auto& joint : spec.joints) {
    if (nv_of(joint.kind) == 0) continue;
    q.push_back(std::uniform_real_distribution<>(-2, 2)(random));
    column.push_back(joint.mimic ? std::pair(0, joint.mimic->multiplier) : std::pair(columns++, 1.0));
  }
  if (columns == 0) return 1;
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(Eigen::Index(q.size()), columns);
  for (std::size_t i = 0; i < column.size(); ++i) S(Eigen::Index(i), column[i].first) = column[i].second;
  const Eigen::MatrixXd M = S.transpose() * testing::mass_matrix_of(spec, q) * S;
  const Eigen::VectorXd scale = M.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  if (M.diagonal().minCoeff() < 1e-15) return 0;
  const Eigen::MatrixXd scaled = scale.asDiagonal() * M * scale.asDiagonal();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues()(0);
}

std::string say(const ModelSpec& spec) {
  std::ostringstream out;
  for (std::size_t i = 0; i < spec.joints.size(); ++i) {
    const JointSpec& j = spec.joints[i];
    const MassProperties& m = spec.links[i + 1].mass;
    out << name_of(j.kind) << ' ' << j.parent << " -> " << j.child << ", axis " << j.axis.x << ' ' << j.axis.y
        << ' ' << j.axis.z << ", at " << j.placement.p.y << ' ' << j.placement.p.z << ", armature "
        << j.armature[0] << ", mass " << m.mass << " at " << m.center_of_mass.z << ", inertia "
        << m.inertia.xx << (j.mimic ? ", mimics by " + std::to_string(j.mimic->multiplier) : "") << '\n';
  }
  return out.str();
}

/// Who divides by D throws; who does not works, with the same numbers as ever.
void expect_calls(const ModelSpec& spec, bool missing) {
  const Model model(spec);
  EXPECT_EQ(model.massless_velocities().empty(), !missing);
  const std::vector<double> q = random(model, 3);
  const std::vector<double> v(model.nv(), 0.5), a(model.nv(), -0.25);
  const std::vector<double> tau = inverse_dynamics(model, q, v, a);
  for (const double x : tau) EXPECT_TRUE(std::isfinite(x));
  const auto accelerations = [&] { return forward_dynamics(model, q, v, tau); };
  if (!missing) {
    const std::vector<double> back = accelerations();
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], a[i], 1e-6);
  } else {
    EXPECT_THROW(accelerations(), SingularError) << say(spec);
  }
}

TEST(JointInertia, IsMissingExactlyIfTheMassMatrixIsSingular) {
  std::mt19937 random(5);
  int singular = 0, regular = 0;
  for (int i = 0; i < 20000; ++i) {
    const ModelSpec spec = special_tree(random);
    // Two configurations: in one of them a regular model may be near a singularity by chance.
    const double eigenvalue = std::max(smallest_eigenvalue(spec, random), smallest_eigenvalue(spec, random));
    const auto findings = find_problems(spec);
    const bool missing = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
      return f.message.find("no inertia to move") != std::string::npos;
    });
    ASSERT_TRUE(eigenvalue < 1e-13 || eigenvalue > 1e-9) << eigenvalue;
    ASSERT_EQ(missing, eigenvalue < 1e-13) << eigenvalue << '\n' << all(findings) << say(spec);
    ++(missing ? singular : regular);
    if (i < 2000) expect_calls(spec, missing);
  }
  EXPECT_GT(singular, 2000);
  EXPECT_GT(regular, 2000);
}

TEST(FindProblems, LongChainsNeitherRecurseNorAlarm) {
  ModelSpec spec = chain(100000);
  spec.links[0].mass = solid;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(find_problems(spec, Base::free).empty());
  // Generous: quadratic work would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  spec.links.back().mass = {};
  expect_warned(spec, "'j100000' has no inertia");
  spec.joints[0].parent = "l100000";
  expect_among(spec, "cycle");
  for (std::size_t j = 1; j < spec.joints.size(); ++j) spec.joints[j].mimic = Mimic{spec.joints[j - 1].name};
  expect_among(spec, "cycle");
}

/// The joint is named, in double and in float, in the factor too; what needs no D works on.
TEST(JointInertia, CallsNameTheJoint) {
  ModelSpec spec = chain(4);
  spec.links[4].mass = {3, {0.7, 0, 0}, {0, 0, 0, 0, 0, 0}};  // on the axis of j4, but for rounding
  const Model model(spec);
  EXPECT_EQ(model.massless_velocities(), std::vector<int>{3});
  EXPECT_NE(all(model.warnings()).find("'j4'"), std::string::npos);
  const auto names_it = [](const auto& call) {
    try {
      call();
      ADD_FAILURE();
    } catch (const SingularError& e) {
      EXPECT_NE(std::string(e.what()).find("'j4'"), std::string::npos) << e.what();
    }
  };
  for (int seed = 0; seed < 50; ++seed) {
    const std::vector<double> q = random(model, seed), v(4, 1), tau(4, 1);
    names_it([&] { forward_dynamics(model, q, v, tau); });
    names_it([&] { MassFactor<>(model).factor(q); });
    const std::vector<float> qf(q.begin(), q.end()), vf(4, 1), tauf(4, 1);
    std::vector<float> af(4);
    names_it([&] {
      ForwardDynamics<float> work(model);
      work.compute(qf, vf, tauf, af, {});
    });
    const std::vector<double> M = mass_matrix(model, q);
    EXPECT_NEAR(M[15], 0, 1e-12);
    EXPECT_GT(M[0], 0.1);
  }
}

/// Inertias of no real body load; where D comes out negative, the call says so.
TEST(JointInertia, NegativeInertia) {
  ModelSpec spec = chain(2);
  spec.links[2].mass = {1, {0, 0, 0}, {-1, -1, -1, 0, 0, 0}};
  const auto findings = find_problems(spec);
  EXPECT_NE(all(findings).find("'j2' has a negative inertia to move"), std::string::npos) << all(findings);
  const Model model(spec);
  EXPECT_TRUE(model.massless_velocities().empty());
  const std::vector<double> q{0.1, 0.2}, v(2), tau(2);
  EXPECT_THROW(forward_dynamics(model, q, v, tau), SingularError);
  for (const double x : inverse_dynamics(model, q, v, tau)) EXPECT_TRUE(std::isfinite(x));
}

TEST(Spec, OneNumberForEachFreedom) {
  PerFreedom x = 2;
  EXPECT_EQ(x, 2);
  x[3] = 5;
  EXPECT_EQ(std::as_const(x)[0], 2);
  EXPECT_EQ(std::as_const(x)[3], 5);
  EXPECT_TRUE(x.is_one_number(3));
  EXPECT_FALSE(x.is_one_number(4));
  const PerFreedom copy = x;
  x[3] = 6;
  EXPECT_EQ(copy[3], 5);
  EXPECT_NE(copy, x);
  x = 1;
  EXPECT_EQ(x, 1);
}

/// Rotors of a universal joint's two axes and of a planar joint's three directions differ.
TEST(Spec, ArmaturePerFreedomReachesTheDynamics) {
  for (const JointKind kind : {JointKind::universal, JointKind::planar, JointKind::free}) {
    ModelSpec spec = chain(3);
    spec.joints[1].kind = kind;
    spec.joints[1].axis = {0, 0, 1}, spec.joints[1].second_axis = {1, 0, 0};
    const Model bare(spec);
    for (int i = 0; i < nv_of(kind); ++i) spec.joints[1].armature[i] = 0.1 * (i + 1);
    const Model model(spec);
    const std::size_t nv = model.nv();
    const std::vector<double> q = random(model, 1);
    const std::vector<double> M = mass_matrix(model, q), without = mass_matrix(bare, q);
    for (std::size_t i = 0; i < nv; ++i) {
      const int freedom = int(i) - 1;
      const double rotor = freedom >= 0 && freedom < nv_of(kind) ? 0.1 * (freedom + 1) : 0;
      EXPECT_NEAR(M[i * nv + i] - without[i * nv + i], rotor, 1e-12) << name_of(kind) << ' ' << i;
    }
  }
}

TEST(Spec, WhatStandsBesideTheTreeNamesPartsOfIt) {
  expect_error([](ModelSpec& s) { s.actuators.push_back({.name = "m", .joint = "j9", .where = "f:9"}); },
               "f:9", {"actuator 'm'", "'j9'"});
  expect_error(
      [](ModelSpec& s) { s.loops.push_back({.name = "c", .first = "l4", .second = "l9", .where = "f:9"}); },
      "f:9", {"loop 'c'", "'l9'"});
  expect_error(
      [](ModelSpec& s) {
        s.couplings.push_back({.name = "c", .joint = "j1", .source = "j8", .where = "f:9"});
      },
      "f:9", {"coupling 'c'", "'j8'"});
  ModelSpec spec = chain(2);
  spec.actuators.push_back({.name = "m", .joint = "j1", .gear = 50});
  spec.loops.push_back({.name = "c", .first = "l2", .second = "world"});
  EXPECT_TRUE(find_problems(spec).empty());
  EXPECT_EQ(Model(spec).spec().actuators.at(0).gear, 50);
}

/// Against the whole table, on short random words.
TEST(NameIndex, EditsAgreeWithTheFullTable) {
  std::mt19937 random(1);
  const auto full = [](const std::string& a, const std::string& b) {
    std::vector<std::vector<int>> t(a.size() + 1, std::vector<int>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
      for (std::size_t j = 0; j <= b.size(); ++j) {
        if (i == 0 || j == 0)
          t[i][j] = int(i + j);
        else
          t[i][j] = std::min({t[i - 1][j] + 1, t[i][j - 1] + 1, t[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      }
    return std::min(3, t[a.size()][b.size()]);
  };
  EXPECT_EQ(edits_up_to_two("elbow", "lbw"), 2);
  for (int i = 0; i < 20000; ++i) {
    std::string a, b;
    for (unsigned n = random() % 8; n > 0; --n) a += char('a' + random() % 3);
    for (unsigned n = random() % 8; n > 0; --n) b += char('a' + random() % 3);
    ASSERT_EQ(edits_up_to_two(a, b), full(a, b)) << a << ' ' << b;
  }
}

TEST(FindProblems, SuggestionsForManyWrongNamesInMoments) {
  ModelSpec spec = chain(1900);
  for (int i = 0; i < 1900; ++i) spec.joints[i].parent = "some_long_prefix_of_a_link_" + std::to_string(i);
  for (int i = 0; i <= 1900; ++i) spec.links[i].name = "some_long_prefix_of_a_lynk_" + std::to_string(i);
  for (int i = 0; i < 1900; ++i) spec.joints[i].child = spec.links[i + 1].name;
  const std::clock_t start = std::clock();
  const auto findings = find_problems(spec);
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC,
            3 * testing::slowness);  // 16 s with the full table
  EXPECT_NE(findings[0].message.find("did you mean"), std::string::npos) << findings[0].message;
}

TEST(Spec, KindsKnowTheirSizes) {
  EXPECT_EQ(name_of(JointKind::helical), "helical");
  EXPECT_EQ(nq_of(JointKind::free), 7);
  EXPECT_EQ(nv_of(JointKind::free), 6);
  EXPECT_EQ(nq_of(JointKind::spherical), 4);
  EXPECT_EQ(nv_of(JointKind::spherical), 3);
  EXPECT_EQ(nv_of(JointKind::fixed), 0);
  EXPECT_EQ(nv_of(JointKind::universal), 2);
}

TEST(Spec, FindingsAreDescribed) {
  EXPECT_EQ(describe({Severity::error, "arm.urdf:12", "bad"}), "arm.urdf:12: error: bad");
  EXPECT_EQ(describe({Severity::warning, "", "odd"}), "warning: odd");
}

}  // namespace
}  // namespace articula
