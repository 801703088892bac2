#include <gtest/gtest.h>

#include <filesystem>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/mjcf.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/random_models.hpp"
#include "tests/support/sdf_text.hpp"

namespace articula {
namespace {

using namespace testing::sdf_text;

using testing::relative_error;
using testing::Rng;

// --- round trips -------------------------------------------------------------------------------------
/// The same mass matrix and bias at the same coordinates, joint by joint. Free joints get other names in SDF: they
/// are matched by their bodies.
void expect_same_dynamics(const ModelSpec& a, const ModelSpec& b, Base base, Rng& rng) {
  const Model from(a, {.base = base}), to(b, {.base = base});
  ASSERT_EQ(from.nv(), to.nv());
  if (from.nv() == 0) return;
  const Numbers q = testing::random_configuration(rng, from),
                v = testing::random_vector(rng, std::size_t(from.nv()));
  Numbers q_to(q.size()), v_to(v.size());
  std::vector<std::size_t> place(v.size());
  const auto child_of = [](const ModelSpec& spec, const Joint& joint, const Model& model) {
    for (const JointSpec& j : spec.joints)
      if (j.name == joint.name) return j.child;
    return model.bodies()[std::size_t(joint.body)].name;
  };
  for (const Joint& joint : to.joints()) {
    if (joint.mimics >= 0) continue;
    const auto other = std::find_if(from.joints().begin(), from.joints().end(), [&](const Joint& j) {
      return joint.kind == JointKind::free
                 ? j.kind == JointKind::free && child_of(a, j, from) == child_of(b, joint, to)
                 : j.name == joint.name;
    });
    ASSERT_NE(other, from.joints().end()) << joint.name;
    std::copy_n(q.begin() + other->q_index, joint.nq, q_to.begin() + joint.q_index);
    std::copy_n(v.begin() + other->v_index, joint.nv, v_to.begin() + joint.v_index);
    for (int i = 0; i < joint.nv; ++i)
      place[std::size_t(joint.v_index + i)] = std::size_t(other->v_index + i);
  }
  const Numbers M = mass_matrix(from, q), tau = bias_forces(from, q, v);
  Numbers M_moved(M.size()), tau_moved(tau.size());
  for (std::size_t r = 0; r < place.size(); ++r) {
    tau_moved[r] = tau[place[r]];
    for (std::size_t c = 0; c < place.size(); ++c)
      M_moved[r * place.size() + c] = M[place[r] * place.size() + place[c]];
  }
  EXPECT_LT(relative_error(mass_matrix(to, q_to), M_moved), 1e-12);
  EXPECT_LT(relative_error(bias_forces(to, q_to, v_to), tau_moved, 1e-3), 1e-12);
  for (const FrameSpec& frame : a.frames)
    expect_near(pose_of_frame(from, frame.name, q).p, pose_of_frame(to, frame.name, q_to).p, 1e-12);
}

TEST(SdfRoundTrip, RandomTrees) {
  using enum JointKind;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const bool in_world = seed % 3 == 0;
    std::vector<JointKind> kinds{fixed,   revolute,  continuous, prismatic,
                                 helical, universal, spherical,  planar};
    ModelSpec spec = testing::random_spec(rng, {.links = 3 + int(seed % 8), .kinds = kinds, .mimic = 0.2});
    if (!in_world) std::erase_if(spec.frames, [](const FrameSpec& f) { return f.link == world; });
    if (in_world)
      for (JointSpec& j : spec.joints)  // what floats hangs from the world in SDF
        if (j.kind == spherical && rng.chance(0.5)) j.kind = free, j.parent = world, j.armature = 0;
    SCOPED_TRACE(testing::describe(spec));
    const std::string text = write_sdf(spec);
    const LoadedModel back = parsed(text);
    for (const Finding& f : back.findings) ADD_FAILURE() << describe(f) << "\n" << text;
    expect_same_dynamics(spec, back.spec, Base::fixed, rng);
    if (!in_world) expect_same_dynamics(spec, back.spec, Base::free, rng);
    // And once more: now nothing changes any more but rounding.
    const LoadedModel twice = parsed(write_sdf(back.spec));
    expect_same_dynamics(back.spec, twice.spec, Base::fixed, rng);
  }
}

/// URDF - MJCF - SDF - URDF, and without MJCF between.
TEST(SdfRoundTrip, ShippedModelsThroughAllFormats) {
  const auto through = [](const ModelSpec& spec, std::string (*write)(const ModelSpec&, const ModelExtras&)) {
    const LoadedModel read = read_model(ModelText{write(spec, {}), "m", ""});
    EXPECT_TRUE(std::none_of(read.findings.begin(), read.findings.end(),
                             [](const Finding& f) { return f.severity == Finding::Severity::error; }));
    return read.spec;
  };
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ARTICULA_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".urdf") continue;
    SCOPED_TRACE(entry.path().string());
    Rng rng(7);
    const ModelSpec first = read_urdf_spec(entry.path().string()).spec;
    const ModelSpec second = through(first, write_sdf), third = through(second, write_urdf);
    for (const Base base : {Base::fixed, Base::free}) {
      expect_same_dynamics(first, second, base, rng);
      expect_same_dynamics(first, third, base, rng);
    }
    for (std::size_t i = 0; i < first.links.size(); ++i) EXPECT_EQ(first.links[i].name, third.links[i].name);
    const ModelSpec far = through(through(through(first, write_mjcf), write_sdf), write_urdf);
    expect_same_dynamics(first, far, Base::fixed, rng);
    ++models;
  }
  EXPECT_GE(models, 10);
}

TEST(SdfRoundTrip, WhatSdfCannotSay) {
  EXPECT_THROW(write_sdf(testing::one_joint_spec(JointKind::free)), ModelError);
  EXPECT_NO_THROW(write_sdf(testing::one_joint_spec(JointKind::cylindrical)));  // as two joints
  ModelSpec spec = testing::one_joint_spec(JointKind::revolute);
  spec.frames.clear();
  spec.links[1].mass.mass = std::nan("");
  EXPECT_THROW(write_sdf(spec), ModelError);
  spec = testing::one_joint_spec(JointKind::revolute);
  spec.couplings.push_back({.name = "c", .joint = "joint1", .source = "joint1", .coefficients = {0, 1, 2}});
  EXPECT_THROW(write_sdf(spec), ModelError);
}

TEST(SdfRoundTrip, NamesThatMeanSomethingInSdf) {
  ModelSpec spec;
  spec.name = "a<b";
  spec.add_link({.name = "x::y"});
  spec.add_link({.name = "same", .mass = {1, {0, 0, 1}, {1, 1, 1, 0, 0, 0}}});
  spec.add_joint({.name = "same", .parent = "x::y", .child = "same"});
  spec.add_frame({"__tip__", "same", {}});
  const LoadedModel back = parsed(write_sdf(spec));
  EXPECT_TRUE(back.findings.empty()) << describe(back.findings[0]);
  EXPECT_EQ(back.spec.name, "a<b");
  EXPECT_EQ(back.spec.links[0].name, "x_y");
  EXPECT_EQ(back.spec.frames[0].name, "x__tip__");
  EXPECT_EQ(back.spec.joints[0].name, "same_joint");
  EXPECT_EQ(Model(back.spec).nv(), 1);
}

}  // namespace
}  // namespace articula
