// Joints of SDF files in any order and direction: trees, loops, worlds.
#include <gtest/gtest.h>

#include "articula/files/spanning_tree.hpp"
#include "tests/support/random_models.hpp"
#include "tests/support/sdf_text.hpp"

namespace articula {
namespace {

using namespace testing::sdf_text;

using testing::Rng;

// --- trees, loops and worlds -------------------------------------------------------------------------
TEST(Sdf, JointsInAnyDirection) {
  // c is the child of two joints, and nothing else carries b: the second is turned around.
  const auto loaded =
      parsed(9, model(link("a") + link("b", "<pose>1 0 0 0 0 0</pose>") +
                      link("c", "<pose>0 1 0 0 0 0</pose>") + joint("ac", "revolute", "a", "c") +
                      joint("bc", "prismatic", "b", "c", "<axis><xyz>1 0 0</xyz></axis>")));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  EXPECT_TRUE(loaded.spec.loops.empty());
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 2);
  // c moves along x by q in b, so that b moves the other way in c.
  Numbers q(2);
  q[std::size_t(built.joints()[std::size_t(built.joint("bc"))].q_index)] = 0.5;
  expect_near(pose_of_frame(built, "b", q).p, {0.5, 0, 0});
  expect_near(pose_of_frame(built, "c", q).p, {0, 1, 0});
}

TEST(Sdf, LoopsAreConstraints) {
  const auto loaded = parsed(
      9,
      model(link("base") + link("l", "<pose>0 0 1 0 0 0</pose>") + link("r", "<pose>1 0 1 0 0 0</pose>") +
            link("top", "<pose>0.5 0 2 0 0 0</pose>") +
            joint("lt", "revolute", "l", "top", "<pose>-0.5 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>") +
            joint("rt", "revolute", "r", "top", "<pose>0.5 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>") +
            joint("bl", "revolute", "base", "l", "<pose>0 0 -1 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>") +
            joint("br", "revolute", "base", "r", "<pose>0 0 -1 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>")));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  ASSERT_EQ(loaded.spec.loops.size(), 1u);
  const LoopSpec& loop = loaded.spec.loops[0];
  EXPECT_EQ(loop.name, "rt");
  EXPECT_EQ(loop.kind, JointKind::revolute);
  EXPECT_EQ(loop.first, "r");
  EXPECT_EQ(loop.second, "top");
  expect_near(loop.first_placement.p, {0, 0, 1});
  expect_near(loop.second_placement.p, {0.5, 0, 0});
  expect_near(loop.axis, {0, 1, 0});
  EXPECT_EQ(Model(loaded.spec).nv(), 3);
  // And back.
  const auto again = parsed(write_sdf(loaded.spec));
  ASSERT_EQ(again.spec.loops.size(), 1u);
  expect_near(again.spec.loops[0].first_placement.p, {0, 0, 1});
  ModelSpec apart = loaded.spec;
  apart.loops[0].first_placement.p.x += 0.1;
  EXPECT_THROW(write_sdf(apart), ModelError);
}

TEST(Sdf, SpanningTreesOfRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    const int links = rng.integer(1, 12), first = rng.integer(-1, links - 1);
    std::vector<TreeEdge> edges(std::size_t(rng.integer(0, 20)));
    for (TreeEdge& e : edges) {
      do e = {rng.integer(-1, links - 1), rng.integer(-1, links - 1), rng.chance(0.2)};
      while (e.parent == e.child);
    }
    const SpanningTree tree = spanning_tree(links, edges, first);
    // Every link has one carrier or is a root, walking inboard ends, and what a loop closes is one tree already.
    std::vector<int> inboard(std::size_t(links), -2);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (tree.roles[e] == EdgeRole::loop) continue;
      const bool turned = tree.roles[e] == EdgeRole::turned;
      const int child = turned ? edges[e].parent : edges[e].child,
                parent = turned ? edges[e].child : edges[e].parent;
      ASSERT_GE(child, 0);
      ASSERT_EQ(inboard[std::size_t(child)], -2);
      inboard[std::size_t(child)] = parent;
    }
    const auto root_of = [&](int k) {
      for (int steps = 0; k >= 0 && inboard[std::size_t(k)] != -2; k = inboard[std::size_t(k)])
        if (++steps > links) ADD_FAILURE() << "a cycle";
      return k;
    };
    for (int k = 0; k < links; ++k) EXPECT_EQ(tree.is_root[std::size_t(k)], inboard[std::size_t(k)] == -2);
    for (std::size_t e = 0; e < edges.size(); ++e)
      EXPECT_EQ(root_of(edges[e].parent), root_of(edges[e].child));
    if (first >= 0) EXPECT_EQ(tree.first_root, root_of(first));
  }
}

TEST(Sdf, WorldsAreAssemblies) {
  const auto loaded = parsed(9,
                             "<world name='w'><gravity>0 0 -3</gravity>"
                             "<model name='table'><static>true</static><pose>0 0 1 0 0 0</pose>" +
                                 link("top") +
                                 "</model>"
                                 "<model name='box'><pose>0 0 2 0 0 0</pose>" +
                                 link("cube", "<pose>0 1 0 0 0 0</pose>") +
                                 "</model>"
                                 "<model name='arm'>" +
                                 link("base") + link("tip") + joint("foot", "fixed", "world", "base", "") +
                                 joint("bend", "revolute", "base", "tip") + "</model></world>");
  ASSERT_TRUE(loaded.gravity);
  EXPECT_EQ(loaded.gravity->z, -3);
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 7);
  EXPECT_EQ(built.name(), "w");
  expect_near(pose_of_frame(built, "table::top").p, {0, 0, 1});
  expect_near(pose_of_frame(built, "box::cube").p, {0, 1, 2});
  EXPECT_EQ(built.frames()[std::size_t(built.frame("table::top"))].body, -1);
  EXPECT_EQ(built.joints()[std::size_t(built.joint("arm::bend"))].nv, 1);
}

TEST(Sdf, ModelsThatStandApartFromTheirLinks) {
  const auto loaded =
      parsed(9, model("<pose>5 5 5 0 0 0</pose>" + link("a", "<pose>0 0 1 0 0 0</pose>") + link("loose")));
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 6);  // the other link floats
  expect_near(pose_of_frame(built, "a").p, {0, 0, 1});
  EXPECT_EQ(Model(loaded.spec, {.base = Base::free}).nv(), 12);
}

TEST(Sdf, GearboxesAreCouplings) {
  const auto loaded = parsed(
      9, model(link("base") + link("in") + link("out") + joint("i", "revolute", "base", "in") +
               joint("o", "revolute", "base", "out", "<axis><xyz>0 0 -1</xyz></axis>") +
               joint("g", "gearbox", "in", "out", R"(<gearbox_reference_body>base</gearbox_reference_body>
      <gearbox_ratio>5</gearbox_ratio><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>)")));
  ASSERT_EQ(loaded.spec.couplings.size(), 1u);
  const CouplingSpec& c = loaded.spec.couplings[0];
  EXPECT_EQ(c.joint, "o");
  EXPECT_EQ(c.source, "i");
  EXPECT_EQ(c.coefficients, (Numbers{0, 5}));  // theta_2 = -5 theta_1, and o turns the other way
}

TEST(Sdf, AxesThatAreNotPerpendicular) {
  const auto loaded = parsed(9, model(link("a") + link("b", "<pose>1 0 0 0 0 0</pose>") +
                                      joint("u", "revolute2", "a", "b",
                                            "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 1</xyz></axis2>")));
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 2);
  const Pose expected = Pose{rotation(exp_quaternion({0, 0, 0.3})), {1, 0, 0}};
  const double s = std::sqrt(0.5) * 0.4;
  const Mat3<double> R = expected.R * rotation(exp_quaternion({0, s, s}));
  const Pose b = pose_of_frame(built, "b", {0.3, 0.4});
  expect_near(b.p, expected.p);
  expect_near(column_x(b.R), column_x(R));
}

TEST(Sdf, Mimics) {
  const auto loaded =
      parsed(11, model(link("a") + link("b") + link("c") + link("d") + joint("ab", "revolute", "a", "b") +
                       joint("bc", "revolute", "b", "c", R"(<axis><xyz>0 0 1</xyz><mimic joint='ab'>
      <multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis>)") +
                       joint("cd", "revolute", "c", "d", "<axis><mimic joint='nothing'/></axis>")));
  const auto& mimic = joint_of(loaded, "bc").mimic;
  ASSERT_TRUE(mimic);
  EXPECT_EQ(mimic->joint, "ab");
  EXPECT_EQ(mimic->multiplier, 2);
  EXPECT_DOUBLE_EQ(mimic->offset, 0.3);
  EXPECT_FALSE(joint_of(loaded, "cd").mimic);
  EXPECT_TRUE(tells(loaded.findings, warning, "m.sdf:", "mimics 'nothing', which does not exist"));
}

}  // namespace
}  // namespace articula
