#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/edit.hpp"
#include "articula/model/joint_kinds.hpp"
#include "tests/support/random_models.hpp"
#include "tests/support/spec_kinematics.hpp"
#include "tests/support/urdf_mutations.hpp"
#include "tests/support/urdf_text.hpp"

namespace articula {
namespace {

using namespace testing::urdf_text;

// --- round trip --------------------------------------------------------------------------------------
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  double real() { return (double(next() >> 11) * 0x1p-53 - 0.5) * std::pow(10.0, double(next() % 9) - 4); }
  double angle() { return (double(next() >> 11) * 0x1p-53 - 0.5) * 6.283; }

 private:
  std::uint64_t state_;
};

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
void expect_same(const Vec3<double>& a, const Vec3<double>& b) {
  EXPECT_TRUE(same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z)) << a.x << ' ' << a.y << ' ' << a.z;
}
void expect_same(const MassProperties& a, const MassProperties& b) {
  EXPECT_TRUE(same(a.mass, b.mass));
  expect_same(a.center_of_mass, b.center_of_mass);
  EXPECT_EQ(std::memcmp(&a.inertia, &b.inertia, sizeof a.inertia), 0);
}
double difference(const Mat3<double>& a, const Mat3<double>& b) {
  return (testing::to_eigen(a) - testing::to_eigen(b)).cwiseAbs().maxCoeff();
}
/// Every number to the last bit, rotations to `rotation`.
void expect_same(const ModelSpec& a, const ModelSpec& b, double rotation) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.links.size(), b.links.size());
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].name, b.links[i].name);
    expect_same(a.links[i].mass, b.links[i].mass);
  }
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    const JointSpec &j = a.joints[i], &k = b.joints[i];
    EXPECT_EQ(j.name, k.name);
    EXPECT_EQ(j.kind, k.kind);
    EXPECT_EQ(j.parent, k.parent);
    EXPECT_EQ(j.child, k.child);
    if (has_axis(j.kind)) expect_same(j.axis, k.axis);
    expect_same(j.placement.p, k.placement.p);
    EXPECT_LE(difference(j.placement.R, k.placement.R), rotation);
    EXPECT_TRUE(same(j.damping[0], k.damping[0]) && same(j.friction[0], k.friction[0]) &&
                same(j.armature[0], k.armature[0]));
    EXPECT_TRUE(same(j.limits.lower[0], k.limits.lower[0]) && same(j.limits.upper[0], k.limits.upper[0]));
    EXPECT_TRUE(same(j.limits.effort[0], k.limits.effort[0]) &&
                same(j.limits.velocity[0], k.limits.velocity[0]));
    ASSERT_EQ(bool(j.mimic), bool(k.mimic));
    if (!j.mimic) continue;
    EXPECT_EQ(j.mimic->joint, k.mimic->joint);
    EXPECT_TRUE(same(j.mimic->multiplier, k.mimic->multiplier) && same(j.mimic->offset, k.mimic->offset));
  }
}

ModelSpec random_spec(Random& random) {
  ModelSpec spec;
  spec.name = "random & <strange> \"name\"";
  spec.add_link({"link 0"});
  const JointKind kinds[] = {JointKind::revolute, JointKind::continuous, JointKind::prismatic,
                             JointKind::fixed,    JointKind::planar,     JointKind::free,
                             JointKind::spherical};
  for (int i = 1; i < 40; ++i) {
    LinkSpec link{"link " + std::to_string(i) + " <'\"&>"};
    link.mass = {random.real(),
                 {random.real(), random.real(), random.real()},
                 {random.real(), random.real(), random.real(), random.real(), random.real(), -0.0}};
    JointSpec joint;
    joint.name = "joint\n" + std::to_string(i);
    joint.kind = kinds[random.next() % std::size(kinds)];
    joint.parent = spec.links[random.next() % spec.links.size()].name;
    joint.child = link.name;
    joint.placement = {rotation_from_rpy(random.angle(), random.angle() / 2, random.angle()),
                       {random.real(), random.real(), random.real()}};
    const Vec3<double> a{random.angle(), random.angle(), random.angle()};
    joint.axis = a * (1 / std::sqrt(dot(a, a)));
    joint.damping = std::abs(random.real());
    joint.friction = random.next() % 2 ? std::abs(random.real()) : 0;
    joint.armature = random.next() % 2 ? std::abs(random.real()) : 0;
    if (random.next() % 2) joint.limits.upper = std::abs(random.real());
    if (random.next() % 2) joint.limits.lower = -std::abs(random.real());
    if (random.next() % 2) joint.limits.effort = random.real();
    if (random.next() % 2) joint.limits.velocity = random.real();
    if (i == 1) joint.kind = JointKind::prismatic;
    if (i > 1 && nv_of(joint.kind) == 1 && random.next() % 3 == 0)
      joint.mimic = Mimic{"joint\n1", random.real(), random.real()};
    spec.add_link(link);
    spec.add_joint(joint);
  }
  return spec;
}

TEST(UrdfRoundTrip, RandomSpecsToTheLastBit) {
  Random random(42);
  for (int i = 0; i < 100; ++i) {
    const ModelSpec spec = random_spec(random);
    const LoadedModel back = parse(write_urdf(spec));
    EXPECT_EQ(count(back.findings, Severity::error), 0) << all(back.findings);
    expect_same(spec, back.spec, 1e-15);
  }
}

TEST(UrdfRoundTrip, RotationsNearGimbalLock) {
  Random random(7);
  double worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const double off = i % 3 == 0 ? 0 : std::pow(10.0, -double(i % 17));
    const double pitch = (i % 2 ? 1 : -1) * (1.5707963267948966 - off);
    ModelSpec spec;
    spec.add_link({"a"});
    spec.add_link({"b"});
    JointSpec joint{"j", JointKind::fixed, "a", "b"};
    joint.placement.R =
        rotation(exp_quaternion({random.angle() / 3, random.angle() / 3, random.angle() / 3}));
    if (i % 5) joint.placement.R = rotation_from_rpy(random.angle(), pitch, random.angle());
    spec.add_joint(joint);
    worst =
        std::max(worst, difference(parse(write_urdf(spec)).spec.joints[0].placement.R, joint.placement.R));
  }
  EXPECT_LT(worst, 1e-15);
}

TEST(UrdfRoundTrip, FramesBecomeLinks) {
  ModelSpec spec;
  spec.add_link({"a"});
  spec.add_link({"b"});
  spec.add_joint({"tip_joint", JointKind::continuous, "a", "b"});
  spec.add_frame({"tip", "b", {rotation_from_rpy(0.1, 0.2, 0.3), {1, 2, 3}}});
  const auto back = parse(write_urdf(spec));
  ASSERT_EQ(back.spec.links.size(), 3u);
  EXPECT_EQ(back.spec.links[2].name, "tip");
  EXPECT_EQ(back.spec.links[2].mass.mass, 0);
  EXPECT_EQ(back.spec.joints[1].kind, JointKind::fixed);
  EXPECT_EQ(back.spec.joints[1].parent, "b");
  EXPECT_NE(back.spec.joints[1].name, "tip_joint");
  EXPECT_EQ(back.spec.joints[1].placement.p.y, 2);
  EXPECT_LT(difference(back.spec.joints[1].placement.R, spec.frames[0].placement.R), 1e-15);
}

TEST(UrdfRoundTrip, TheWorldBecomesALink) {
  ModelSpec spec;
  for (const char* name : {"a", "b"}) {
    spec.add_link({name, {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}}});
    spec.add_joint({std::string("j") + name, JointKind::continuous, "world", name});
  }
  EXPECT_TRUE(find_problems(spec).empty());
  const auto back = parse(write_urdf(spec));
  EXPECT_TRUE(find_problems(back).empty()) << all(find_problems(back));
  EXPECT_EQ(back.spec.links[0].name, "world");
  // A root beside them stands on the world: URDF has one root only.
  spec.add_link({"stand"});
  spec.add_frame({"mark", "world", {{}, {1, 2, 3}}});
  spec.frames[0].placement.R = Mat3<double>::identity();
  EXPECT_TRUE(find_problems(spec).empty());
  EXPECT_TRUE(find_problems(parse(write_urdf(spec))).empty()) << write_urdf(spec);
}

/// Joints of one freedom each, with the same coordinates.
TEST(UrdfWrite, KindsThatUrdfHasNoNameFor) {
  for (const JointKind kind : kinds_to_split({})) {
    const ModelSpec spec = testing::one_joint_spec(kind);
    const Model before(spec), after(parse(write_urdf(spec)).spec);
    ASSERT_EQ(before.nv(), after.nv());
    const std::vector<double> q(std::size_t(before.nq()), 0.4);
    EXPECT_LT(testing::relative_error(mass_matrix(after, q), mass_matrix(before, q)), 1e-14) << name_of(kind);
  }
}

TEST(UrdfWrite, RefusesWhatUrdfCannotSay) {
  ModelSpec spec;
  spec.add_link({"a", {NAN}});
  EXPECT_THROW(write_urdf(spec), ModelError);
  spec = {};
  spec.add_joint({"odd", JointKind::planar, "a", "b"}).damping[2] = 1;
  EXPECT_THROW(write_urdf(spec), ModelError);
  spec.joints[0].damping = 1;
  EXPECT_NO_THROW(write_urdf(spec));
  spec.loops.push_back({.name = "loop"});
  EXPECT_THROW(write_urdf(spec), ModelError);
}

// --- real files --------------------------------------------------------------------------------------
void expect_round_trip(const std::filesystem::path& path) {
  const LoadedModel first = read_urdf_spec(path.string());
  EXPECT_EQ(count(first.findings, Severity::error), 0) << all(first.findings);
  const LoadedModel back = parse(write_urdf(first.spec));
  expect_same(first.spec, back.spec, 1e-15);
}

TEST(UrdfFiles, OwnModelsAreCleanAndRoundTrip) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ARTICULA_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".urdf") continue;
    ++models;
    const auto findings = find_problems(read_urdf_spec(entry.path().string()));
    EXPECT_TRUE(findings.empty()) << all(findings);
    expect_round_trip(entry.path());
  }
  EXPECT_GE(models, 7);
}

TEST(UrdfFiles, OwnModelsMayFloat) {
  for (const char* name : {"quadruped", "humanoid", "arm7", "hand"}) {
    const auto findings = find_problems(
        read_urdf_spec(std::string(ARTICULA_SOURCE_DIR "/models/") + name + ".urdf"), Base::free);
    EXPECT_TRUE(findings.empty()) << all(findings);
  }
}

TEST(UrdfFiles, SharedRobotsHaveNoErrorsAndRoundTrip) {
  const std::filesystem::path folder = ARTICULA_SOURCE_DIR "/../shared/robots";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "skipped: no ../shared";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".urdf") continue;
    const auto findings = find_problems(read_urdf_spec(entry.path().string()));
    EXPECT_EQ(count(findings, Severity::error), 0) << all(findings);
    expect_round_trip(entry.path());
  }
}

/// A short run of what tests/mutated_urdf_main.cpp does at length; aborts where a promise is broken.
TEST(UrdfFuzz, MutatedSeeds) {
  const auto seeds = testing::urdf_seeds();
  for (const auto& seed : seeds) EXPECT_EQ(testing::exercise_urdf(seed), testing::Outcome::sound) << seed;
  for (unsigned i = 0; i < 3000; ++i) {
    testing::Dice dice(i);
    const std::string& seed = seeds[dice.below(seeds.size())];
    testing::exercise_urdf(i % 4 ? mutate_elements(seed, dice) : mutate_bytes(seed, dice));
  }
}

/// MR9's 2R arm: M(q) in closed form, for unit masses and lengths.
TEST(UrdfFiles, PlanarArmIsMr9s) {
  const auto spec = read_urdf_spec(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf").spec;
  const double c = std::cos(0.7);
  Eigen::Matrix2d expected;
  expected << 3 + 2 * c, 1 + c, 1 + c, 1;
  EXPECT_LT((testing::mass_matrix_of(spec, {0.3, 0.7}) - expected).norm(), 1e-14);
  // Positive angles lift the tip.
  EXPECT_NEAR(testing::kinematics_of(spec, {0.3, 0.7}).pose.at("tip").translation().z(),
              std::sin(0.3) + std::sin(1.0), 1e-15);
}

}  // namespace
}  // namespace articula
