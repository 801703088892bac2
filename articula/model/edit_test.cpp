#include "articula/model/edit.hpp"

#include <gtest/gtest.h>

#include <map>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/model/joint_motion.hpp"
#include "articula/model/model.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using testing::random_configuration;
using testing::random_vector;
using testing::relative_error;
using testing::Rng;
using Numbers = std::vector<double>;

constexpr double exact = 1e-12;

/// Random trees over every joint kind, with mimics, each with a random generator of its own.
template <class F>
void for_random_trees(const F& f, const std::vector<JointKind>& kinds = testing::all_joint_kinds(),
                      double mimic = 0.2) {
  for (int seed = 1; seed <= 30; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    const ModelSpec spec = testing::random_spec(rng, {.links = 4 + seed % 9, .kinds = kinds, .mimic = mimic});
    SCOPED_TRACE(testing::describe(spec));
    f(rng, spec);
  }
}

/// The coordinates or velocities of a model, taken by joint from those of another.
Numbers taken(const Model& to, const Model& from, const Numbers& x, bool velocities) {
  Numbers out(std::size_t(velocities ? to.nv() : to.nq()));
  for (const Joint& joint : to.joints()) {
    if (joint.mimics >= 0) continue;
    const Joint& other = from.joints()[std::size_t(from.joint(joint.name))];
    const int count = velocities ? joint.nv : joint.nq;
    const int at = velocities ? joint.v_index : joint.q_index,
              there = velocities ? other.v_index : other.q_index;
    std::copy_n(x.begin() + there, count, out.begin() + at);
  }
  return out;
}

/// The rows and columns of a square matrix that belong to the freedoms of another model.
Numbers block(const Model& of, const Model& whole, const Numbers& matrix) {
  Numbers index(std::size_t(whole.nv()));
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = double(i);
  const Numbers kept = taken(of, whole, index, true);
  Numbers out;
  for (const double r : kept)
    for (const double c : kept) out.push_back(matrix[std::size_t(r) * index.size() + std::size_t(c)]);
  return out;
}

Pose pose_at(const Model& model, const Numbers& q, const std::string& frame) {
  const auto at = pose(model, q, frame);
  return {at.rotation, at.position};
}

void expect_same_poses(const Model& a, const Numbers& qa, const Model& b, const Numbers& qb) {
  for (const Frame& frame : a.frames()) {
    const auto x = pose_at(a, qa, frame.name), y = pose_at(b, qb, frame.name);
    EXPECT_LT(relative_error(x.p, y.p, 1), exact) << frame.name;
    EXPECT_LT(relative_error(column_x(x.R), column_x(y.R)), exact) << frame.name;
    EXPECT_LT(relative_error(column_y(x.R), column_y(y.R)), exact) << frame.name;
  }
}

TEST(Edit, LockedJointsLeaveTheBlockOfTheMassMatrix) {
  for (const Base base : {Base::fixed, Base::free})
    for_random_trees([&](Rng& rng, const ModelSpec& spec) {
      const Model whole(spec, {.base = base});
      const Numbers q = random_configuration(rng, whole);
      ModelSpec locked = spec;
      for (const Joint& joint : whole.joints()) {
        if (joint.mimics >= 0 || joint.name == "root_joint" || !rng.chance(0.4)) continue;
        lock_joint(locked, joint.name,
                   std::span(q).subspan(std::size_t(joint.q_index), std::size_t(joint.nq)));
      }
      const Model reduced(locked, {.base = base});
      const Numbers q_left = taken(reduced, whole, q, false);
      expect_same_poses(whole, q, reduced, q_left);
      if (reduced.nv() == 0) return;
      EXPECT_LT(relative_error(mass_matrix(reduced, q_left), block(reduced, whole, mass_matrix(whole, q))),
                exact);
      // Forces too, with the locked joints at rest.
      const Numbers v_left = random_vector(rng, std::size_t(reduced.nv()));
      Numbers v(std::size_t(whole.nv())), index(v.size());
      for (std::size_t i = 0; i < index.size(); ++i) index[i] = double(i);
      const Numbers kept = taken(reduced, whole, index, true);
      for (std::size_t i = 0; i < kept.size(); ++i) v[std::size_t(kept[i])] = v_left[i];
      EXPECT_LT(relative_error(bias_forces(reduced, q_left, v_left),
                               taken(reduced, whole, bias_forces(whole, q, v), true), 1e-3),
                exact);
    });
}

TEST(Edit, LockedJointsTakeTheirFollowersAlong) {
  ModelSpec spec;
  for (const char* name : {"a", "b", "c", "d"}) spec.add_link({.name = name});
  spec.add_joint({.name = "ab", .parent = "a", .child = "b"});
  spec.add_joint({.name = "bc", .parent = "b", .child = "c", .mimic = Mimic{"ab", 2, 0.1}});
  spec.add_joint({.name = "cd", .parent = "c", .child = "d"});
  spec.couplings.push_back({.name = "k", .joint = "cd", .source = "bc", .coefficients = {1, 0, 3}});
  spec.actuators.push_back({.name = "m", .joint = "ab"});
  EXPECT_THROW(lock_joint(spec, "bc", 0), ArgumentError);
  EXPECT_THROW(lock_joint(spec, "cd", 0), ArgumentError);
  lock_joint(spec, "ab", 0.3);
  EXPECT_TRUE(spec.couplings.empty() && spec.actuators.empty());
  for (const JointSpec& joint : spec.joints) EXPECT_EQ(joint.kind, JointKind::fixed);
  EXPECT_NEAR(std::atan2(spec.joints[1].placement.R.zy, spec.joints[1].placement.R.yy), 0.7, 1e-15);
  EXPECT_NEAR(std::atan2(spec.joints[2].placement.R.zy, spec.joints[2].placement.R.yy), 1 + 3 * 0.49, 1e-14);
}

// --- another root ------------------------------------------------------------------------------------
struct Moving {
  Numbers q, v;
};

Pose planar_pose(const double* q) { return {rotation(exp_quaternion({0, 0, q[0]})), {q[1], q[2], 0}}; }
/// The coordinates of the inverse motion of a joint that was turned around.
Moving seen_from_child(const JointSpec& joint, const double* q, const double* v) {
  if (const std::size_t n = hinges_of(joint.kind).size(); n > 1)
    return {Numbers(std::reverse_iterator(q + n), std::reverse_iterator(q)),
            Numbers(std::reverse_iterator(v + n), std::reverse_iterator(v))};
  if (joint.kind == JointKind::planar) {
    const Pose x = planar_pose(q), back = inverse(x);
    const Vec3<double> slid = -(x.R * Vec3<double>{v[1], v[2], 0} + cross(x.p, Vec3<double>{0, 0, v[0]}));
    return {{-q[0], back.p.x, back.p.y}, {-v[0], slid.x, slid.y}};
  }
  if (joint.kind == JointKind::spherical || joint.kind == JointKind::free) {
    const Pose x = pose_of(joint, {q, std::size_t(nq_of(joint.kind))}), back = inverse(x);
    const Vec3<double> w = x.R * Vec3<double>{v[0], v[1], v[2]};
    Moving out{{-q[0], -q[1], -q[2], q[3]}, {-w.x, -w.y, -w.z}};
    if (joint.kind == JointKind::free) {
      const Vec3<double> slid = -(x.R * Vec3<double>{v[3], v[4], v[5]} + cross(x.p, w));
      out.q.insert(out.q.end(), {back.p.x, back.p.y, back.p.z});
      out.v.insert(out.v.end(), {slid.x, slid.y, slid.z});
    }
    return out;
  }
  return {Numbers(q, q + nq_of(joint.kind)), Numbers(v, v + nv_of(joint.kind))};
}

TEST(Edit, LockedJointsOfTendons) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  for (const char* name : {"a", "b", "c"}) {
    spec.add_link({.name = name, .mass = {1, {0, 0, 1}, {1, 1, 1, 0, 0, 0}}});
    spec.add_joint({.name = name, .parent = "base", .child = name});
  }
  spec.couplings.push_back(
      {.name = "t", .joint = "a", .source = "b", .coefficients = {1, 2}, .further = {{"c", 3}}});
  ModelSpec by_term = spec, by_source = spec;
  lock_joint(by_term, "c", 0.5);
  EXPECT_EQ(by_term.couplings[0].coefficients, (std::vector<double>{2.5, 2}));
  EXPECT_TRUE(by_term.couplings[0].further.empty());
  lock_joint(by_source, "b", 0.5);
  EXPECT_EQ(by_source.couplings[0].source, "c");
  EXPECT_EQ(by_source.couplings[0].coefficients, (std::vector<double>{2, 3}));
  lock_joint(by_source, "c", 1);  // which holds a, at 5
  EXPECT_EQ(Model(by_source).nv(), 0);
  remove_link(spec, "c");
  EXPECT_TRUE(spec.couplings.empty());
}

TEST(Edit, AnotherRootIsTheSameMechanism) {
  int turned = 0;
  std::map<JointKind, int> kinds;
  for_random_trees([&](Rng& rng, ModelSpec spec) {
    for (JointSpec& joint : spec.joints) {
      if (joint.parent == world) joint.parent = "link0";
      if (chart_of(joint.kind) != Chart::adds)
        joint.armature = joint.kind == JointKind::spherical ? joint.armature[0] : 0;
    }
    const Model before(spec, {.base = Base::free});
    ModelSpec other = spec;
    const std::string root = spec.links[std::size_t(rng.integer(0, int(spec.links.size()) - 1))].name;
    set_root(other, root);
    const Model after(other, {.base = Base::free});
    const Numbers q = random_configuration(rng, before), v = random_vector(rng, std::size_t(before.nv()));
    Moving now{Numbers(std::size_t(after.nq())), Numbers(std::size_t(after.nv()))};
    const auto at = pose_at(before, q, root);
    const auto motion = frame_velocity(before, q, v, root);
    const auto turn = quaternion(at.R);
    const auto w = star_times(at.R, motion.w), u = star_times(at.R, motion.v);
    std::copy_n(Numbers{turn.x, turn.y, turn.z, turn.w, at.p.x, at.p.y, at.p.z}.begin(), 7, now.q.begin());
    std::copy_n(Numbers{w.x, w.y, w.z, u.x, u.y, u.z}.begin(), 6, now.v.begin());
    for (const JointSpec& joint : spec.joints) {
      if (nv_of(joint.kind) == 0 || joint.mimic) continue;
      const Joint &from = before.joints()[std::size_t(before.joint(joint.name))],
                  &to = after.joints()[std::size_t(after.joint(joint.name))];
      const bool stays = std::any_of(other.joints.begin(), other.joints.end(), [&](const JointSpec& j) {
        return j.name == joint.name && j.parent == joint.parent;
      });
      const double *x = q.data() + from.q_index, *y = v.data() + from.v_index;
      const Moving there =
          stays ? Moving{Numbers(x, x + from.nq), Numbers(y, y + from.nv)} : seen_from_child(joint, x, y);
      std::copy(there.q.begin(), there.q.end(), now.q.begin() + to.q_index);
      std::copy(there.v.begin(), there.v.end(), now.v.begin() + to.v_index);
      turned += !stays;
      if (!stays) ++kinds[joint.kind];
    }
    expect_same_poses(before, q, after, now.q);
    const auto a = totals(before, q, v), b = totals(after, now.q, now.v);
    EXPECT_NEAR(a.kinetic, b.kinetic, exact * a.kinetic);
    EXPECT_NEAR(a.potential, b.potential, exact * (1 + std::abs(a.potential)));
  });
  EXPECT_GT(turned, 40);
  EXPECT_EQ(kinds.size(), testing::moving_joint_kinds().size()) << "a kind was never turned around";
}

TEST(Edit, RootOfWhatHangsFromTheWorld) {
  ModelSpec spec;
  for (const char* name : {"a", "b"}) spec.add_link({.name = name});
  spec.add_joint({.name = "wa", .parent = "world", .child = "a"});
  spec.add_joint({.name = "ab", .parent = "a", .child = "b"});
  EXPECT_THROW(set_root(spec, "b"), ArgumentError);
  EXPECT_THROW(set_root(spec, "nothing"), ArgumentError);
  EXPECT_EQ(spec.joints[1].parent, "a");
}

// --- what is added, and what is taken away -----------------------------------------------------------
MassProperties box(Rng& rng) {
  return {rng.uniform(0.5, 2), rng.vector(0.3), {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}};
}

TEST(Edit, PayloadIsABodyWeldedOn) {
  for_random_trees([](Rng& rng, const ModelSpec& spec) {
    ModelSpec loaded = spec, welded = spec;
    const MassProperties mass = box(rng);
    add_payload(loaded, "tool", mass);
    add_payload(loaded, "tool", mass, "second");
    for (int twice = 0; twice < 2; ++twice)
      for (LinkSpec& link : welded.links)
        if (link.name == spec.frames[0].link) weld(link.mass, mass, spec.frames[0].placement);
    const Model a(loaded), b(welded);
    EXPECT_EQ(loaded.links.size(), spec.links.size() + 2);
    const Numbers q = random_configuration(rng, a), v = random_vector(rng, std::size_t(a.nv()));
    if (a.nv() == 0) return;
    EXPECT_LT(relative_error(mass_matrix(a, q), mass_matrix(b, q)), exact);
    EXPECT_LT(relative_error(bias_forces(a, q, v), bias_forces(b, q, v), 1e-3), exact);
    EXPECT_THROW(add_payload(loaded, "tool", mass, "link0"), ArgumentError);
    EXPECT_THROW(add_payload(loaded, "tol", mass), ArgumentError);
    EXPECT_THROW(add_payload(loaded, "tool", {-1}), ArgumentError);
  });
}

TEST(Edit, AttachedModelsMoveTogether) {
  for_random_trees([](Rng& rng, const ModelSpec& spec) {
    const ModelSpec gripper = testing::random_spec(rng, {.links = 3, .mimic = 0.2});
    ModelSpec both = spec;
    EXPECT_THROW(attach(both, gripper, "tool"), ArgumentError);  // names clash
    EXPECT_EQ(both.links.size(), spec.links.size());
    const Pose mount{rotation(rng.quaternion()), rng.vector()};
    attach(both, gripper, "tool", "hand_", mount);
    const Model whole(both), arm(spec), hand(gripper);
    EXPECT_EQ(whole.nv(), arm.nv() + hand.nv());
    const Numbers q = random_configuration(rng, whole);
    // With the arm held still, the gripper has the dynamics that it has alone, standing where the arm holds it.
    ModelSpec held = both;
    for (const Joint& joint : whole.joints())
      if (joint.mimics < 0 && !joint.name.starts_with("hand_"))
        lock_joint(held, joint.name, std::span(q).subspan(std::size_t(joint.q_index), std::size_t(joint.nq)));
    const Model still(held);
    const Numbers q_hand = taken(still, whole, q, false),
                  v_hand = random_vector(rng, std::size_t(still.nv()));
    const auto tool = pose_at(whole, q, "tool");
    const auto gravity = star_times(tool.R * mount.R, arm.gravity());
    const Model alone = hand.with_gravity(gravity);
    if (hand.nv() > 0) {
      EXPECT_LT(relative_error(mass_matrix(still, q_hand), mass_matrix(alone, q_hand)), exact);
      EXPECT_LT(relative_error(bias_forces(still, q_hand, v_hand), bias_forces(alone, q_hand, v_hand), 1e-3),
                exact);
    }
    // Frames are where the arm's tool and the gripper's own kinematics put them.
    const auto there = pose_at(alone, q_hand, "tool"), here = pose_at(whole, q, "hand_tool");
    const Pose expected = Pose{tool.R, tool.p} * mount * Pose{there.R, there.p};
    EXPECT_LT(relative_error(here.p, expected.p, 1), exact);
  });
}

TEST(Edit, RemovedLinksAreGone) {
  for_random_trees([](Rng& rng, const ModelSpec& spec) {
    ModelSpec pruned = spec, emptied = spec;
    const std::string link = spec.links[std::size_t(rng.integer(1, int(spec.links.size()) - 1))].name;
    remove_link(pruned, link);
    // The same as leaving the joints there, without mass and locked.
    const auto is_left = [&](const std::string& name) {
      return std::any_of(pruned.links.begin(), pruned.links.end(), [&](auto& l) { return l.name == name; });
    };
    EXPECT_FALSE(is_left(link));
    for (LinkSpec& l : emptied.links)
      if (!is_left(l.name)) l.mass = {};
    for (JointSpec& j : emptied.joints) {
      if (j.mimic && !is_left(j.child)) j.mimic.reset();
      const auto source = std::find_if(spec.joints.begin(), spec.joints.end(),
                                       [&](auto& s) { return j.mimic && s.name == j.mimic->joint; });
      if (source != spec.joints.end() && !is_left(source->child)) j.mimic.reset();
    }
    for (const JointSpec& j : spec.joints)
      if (!is_left(j.child)) {
        Numbers zero(std::size_t(nq_of(j.kind)));
        if (j.kind == JointKind::spherical || j.kind == JointKind::free) zero[3] = 1;
        lock_joint(emptied, j.name, zero);
      }
    const Model a(pruned), b(emptied);
    ASSERT_EQ(a.nv(), b.nv());
    if (a.nv() == 0) return;
    const Numbers q = random_configuration(rng, a), v = random_vector(rng, std::size_t(a.nv()));
    EXPECT_LT(relative_error(mass_matrix(a, q), mass_matrix(b, q)), exact);
    EXPECT_LT(relative_error(bias_forces(a, q, v), bias_forces(b, q, v), 1e-3), exact);
    for (const FrameSpec& f : pruned.frames) EXPECT_TRUE(f.link == world || is_left(f.link));
    EXPECT_THROW(remove_link(pruned, link), ArgumentError);
  });
  ModelSpec one;
  one.add_link({.name = "a"});
  EXPECT_THROW(remove_link(one, "a"), ArgumentError);
}

TEST(Edit, RenamedPartsAreTheSame) {
  for_random_trees([](Rng& rng, const ModelSpec& spec) {
    ModelSpec renamed = spec;
    rename(renamed, SpecPart::link, "link1", "upper arm");
    rename(renamed, SpecPart::joint, "joint2", "elbow");
    rename(renamed, SpecPart::frame, "tool", "flange");
    EXPECT_THROW(rename(renamed, SpecPart::link, "link2", "flange"), ArgumentError);
    EXPECT_THROW(rename(renamed, SpecPart::joint, "joint3", "elbow"), ArgumentError);
    EXPECT_THROW(rename(renamed, SpecPart::link, "link1", "x"), ArgumentError);
    EXPECT_THROW(rename(renamed, SpecPart::link, "link2", "world"), ArgumentError);
    add_prefix(renamed, "left_");
    const Model a(spec), b(renamed);
    const Numbers q = random_configuration(rng, a);
    if (a.nv() > 0) EXPECT_EQ(mass_matrix(a, q), mass_matrix(b, q));
    EXPECT_NO_THROW(b.frame("left_upper arm"));
    EXPECT_EQ(pose_at(a, q, "tool").p.x, pose_at(b, q, "left_flange").p.x);
  });
}

TEST(Edit, FramesOnFrames) {
  for_random_trees([](Rng& rng, ModelSpec spec) {
    const Pose step{rotation(rng.quaternion()), rng.vector()};
    add_frame(spec, "tip", "tool", step);
    EXPECT_THROW(add_frame(spec, "tip", "link0"), ArgumentError);
    EXPECT_THROW(add_frame(spec, "tap", "nothing"), ArgumentError);
    const Model model(spec);
    const Numbers q = random_configuration(rng, model);
    const auto tool = pose_at(model, q, "tool"), tip = pose_at(model, q, "tip");
    EXPECT_LT(relative_error(tip.p, (Pose{tool.R, tool.p} * step).p, 1), exact);
  });
}

TEST(Edit, RotorsAddToTheDiagonal) {
  for_random_trees(
      [](Rng& rng, const ModelSpec& spec) {
        ModelSpec driven = spec;
        const Model before(spec);
        if (before.nv() == 0) return;
        const Joint& joint = before.joints()[0];
        add_rotor(driven, joint.name, 1e-4, 100);
        const Numbers q = random_configuration(rng, before);
        Numbers M = mass_matrix(before, q);
        for (int i = 0; i < joint.nv; ++i)
          M[std::size_t((joint.v_index + i) * (before.nv() + 1))] += 1e-4 * 100 * 100;
        EXPECT_LT(relative_error(mass_matrix(Model(driven), q), M), exact);
      },
      testing::moving_joint_kinds(), 0);
  ModelSpec spec = testing::one_joint_spec(JointKind::revolute);
  EXPECT_THROW(add_rotor(spec, "joint1", -1), ArgumentError);
  EXPECT_THROW(add_rotor(spec, "joint", 1), ArgumentError);
}

TEST(Edit, SplitJointsMoveTheSame) {
  const std::vector<JointKind> kinds = kinds_to_split({});
  EXPECT_GE(kinds.size(), 3u);  // universal, cylindrical, helical, ..
  for (const Base base : {Base::fixed, Base::free})
    for_random_trees([&](Rng& rng, const ModelSpec& spec) {
      ModelSpec plain = spec;
      split_joints(plain, kinds);
      for (const JointSpec& j : plain.joints) EXPECT_EQ(std::count(kinds.begin(), kinds.end(), j.kind), 0);
      const Model a(spec, {.base = base}), b(plain, {.base = base});
      ASSERT_EQ(a.nv(), b.nv());
      if (a.nv() == 0) return;
      const Numbers q = random_configuration(rng, a), v = random_vector(rng, std::size_t(a.nv()));
      EXPECT_LT(relative_error(mass_matrix(a, q), mass_matrix(b, q)), exact);
      EXPECT_LT(relative_error(bias_forces(a, q, v), bias_forces(b, q, v), 1e-3), exact);
      expect_same_poses(a, q, b, q);
    });
}

TEST(Edit, ScaledModelsHaveScaledDynamics) {
  for_random_trees([](Rng& rng, const ModelSpec& spec) {
    constexpr double length = 1.7, mass = 0.4;
    ModelSpec scaled = spec;
    scale(scaled, length, mass);
    const Model a(spec), b(scaled);
    // Per full coordinate: does it slide? Coordinates that slide grow with the lengths.
    Numbers q = random_configuration(rng, a), v = random_vector(rng, std::size_t(a.nv())), q_scaled = q,
            v_scaled = v, unit(v.size(), 1);
    for (const Joint& joint : a.joints())
      for (int i = 0; i < joint.nv; ++i)
        if (slides(joint.kind, i)) {
          unit[std::size_t(joint.v_index + i)] = length;
          q_scaled[std::size_t(joint.q_index + joint.nq - joint.nv + i)] *= length;
        }
    for (std::size_t i = 0; i < v.size(); ++i) v_scaled[i] *= unit[i];
    if (a.nv() == 0) return;
    Numbers M = mass_matrix(a, q);
    for (std::size_t r = 0; r < v.size(); ++r)
      for (std::size_t c = 0; c < v.size(); ++c)
        M[r * v.size() + c] *= mass * length * length / (unit[r] * unit[c]);
    EXPECT_LT(relative_error(mass_matrix(b, q_scaled), M), exact);
    const auto before = totals(a, q, v), after = totals(b, q_scaled, v_scaled);
    EXPECT_NEAR(after.kinetic, before.kinetic * mass * length * length, exact * after.kinetic);
    EXPECT_NEAR(after.potential, before.potential * mass * length, exact * (1 + std::abs(after.potential)));
  });
  ModelSpec spec = testing::one_joint_spec(JointKind::prismatic);
  EXPECT_THROW(scale(spec, 0), ArgumentError);
  EXPECT_THROW(scale(spec, 1, -1), ArgumentError);
  EXPECT_THROW(scale(spec, std::nan("")), ArgumentError);
}

}  // namespace
}  // namespace articula
