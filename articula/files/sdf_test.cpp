#include "articula/files/sdf.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/spanning_tree.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using std::numbers::pi;
using testing::relative_error;
using testing::Rng;
using Numbers = std::vector<double>;

LoadedModel parsed(const std::string& text) { return parse_sdf({text, "m.sdf", ""}); }
LoadedModel parsed(int minor, const std::string& inside) {
  return parsed("<sdf version=\"1." + std::to_string(minor) + "\">" + inside + "</sdf>");
}
const JointSpec& joint_of(const LoadedModel& loaded, const std::string& name) {
  for (const JointSpec& j : loaded.spec.joints)
    if (j.name == name) return j;
  throw std::runtime_error("no joint " + name);
}
const LinkSpec& link_of(const LoadedModel& loaded, const std::string& name) {
  for (const LinkSpec& l : loaded.spec.links)
    if (l.name == name) return l;
  throw std::runtime_error("no link " + name);
}
Pose pose_of_frame(const Model& model, const std::string& frame, const Numbers& q) {
  const auto at = pose(model, q, frame);
  return {at.rotation, at.position};
}
Pose pose_of_frame(const Model& model, const std::string& frame) {
  Numbers q(std::size_t(model.nq()));
  for (const Joint& j : model.joints())
    if (j.mimics < 0 && (j.kind == JointKind::spherical || j.kind == JointKind::free))
      q[std::size_t(j.q_index) + 3] = 1;
  return pose_of_frame(model, frame, q);
}
void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance = 1e-14) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}
/// Is there a finding of this severity whose place and text hold these?
bool tells(const std::vector<Finding>& findings, Finding::Severity severity, const std::string& where,
           const std::string& text) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.severity == severity && f.where.find(where) != f.where.npos &&
           f.message.find(text) != f.message.npos;
  });
}
constexpr auto error = Finding::Severity::error;
constexpr auto warning = Finding::Severity::warning;

const std::string mass =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1.5</iyy><izz>2</izz></inertia></inertial>";
std::string link(const std::string& name, const std::string& inside = "") {
  return "<link name='" + name + "'>" + inside + mass + "</link>";
}
std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& inside = "<axis><xyz>0 0 1</xyz></axis>") {
  return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" + child +
         "</child>" + inside + "</joint>";
}
std::string model(const std::string& inside, const std::string& attributes = "") {
  return "<model name='m'" + attributes + ">" + inside + "</model>";
}

// --- what links and joints say -----------------------------------------------------------------------
TEST(Sdf, Inertials) {
  const auto loaded =
      parsed(7, model(R"(<link name='a'/><link name='b'><inertial/></link>
    <link name='c'><inertial><pose>1 2 3 0 0 1.5707963267948966</pose><mass>4</mass><inertia><ixx>1</ixx><iyy>2</iyy>
      <izz>2.5</izz><ixy>0.1</ixy></inertia></inertial></link>)" +
                      joint("ab", "fixed", "a", "b", "") + joint("bc", "fixed", "b", "c", "")));
  for (const char* name : {"a", "b"}) {  // SDF's defaults
    EXPECT_EQ(link_of(loaded, name).mass.mass, 1);
    EXPECT_EQ(link_of(loaded, name).mass.inertia.xx, 1);
    EXPECT_EQ(link_of(loaded, name).mass.inertia.zz, 1);
  }
  EXPECT_TRUE(tells(loaded.findings, warning, "m.sdf:1", "link 'a' has no <inertial>"));
  EXPECT_FALSE(tells(loaded.findings, warning, "m.sdf:1", "link 'b'"));
  const MassProperties& c = link_of(loaded, "c").mass;
  EXPECT_EQ(c.mass, 4);
  expect_near(c.center_of_mass, {1, 2, 3});
  EXPECT_NEAR(c.inertia.xx, 2, 1e-15);  // turned about z
  EXPECT_NEAR(c.inertia.yy, 1, 1e-15);
  EXPECT_NEAR(c.inertia.xy, -0.1, 1e-15);
}

TEST(Sdf, InertiasFromShapes) {
  const auto loaded =
      parsed(11, model(R"(<link name='a'><inertial auto="true"><density>100</density></inertial>
    <collision name='b'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></collision>
    <collision name='s'><density>50</density><geometry><sphere><radius>2</radius></sphere></geometry></collision></link>
    <link name='c'><inertial auto="true"/><collision name='c'><geometry><capsule><radius>0.1</radius><length>0.4</length>
      </capsule></geometry></collision></link>)" +
                       joint("ac", "fixed", "a", "c", "")));
  const double box = 600, ball = 50 * 4.0 / 3 * pi * 8;
  const MassProperties& a = link_of(loaded, "a").mass;
  EXPECT_NEAR(a.mass, box + ball, 1e-9);
  EXPECT_NEAR(a.center_of_mass.z, box / (box + ball), 1e-12);
  const double reduced = box * ball / (box + ball);
  EXPECT_NEAR(a.inertia.xx, box * 13 / 12 + 0.4 * ball * 4 + reduced, 1e-8);
  EXPECT_NEAR(a.inertia.zz, box * 5 / 12 + 0.4 * ball * 4, 1e-8);
  // A capsule, by slices along z.
  const MassProperties& c = link_of(loaded, "c").mass;
  double m = 0, xx = 0, zz = 0;
  constexpr int slices = 60000;
  for (int i = 0; i < slices; ++i) {
    const double z = -0.3 + 0.6 * (i + 0.5) / slices, beyond = std::max(0.0, std::abs(z) - 0.2);
    const double rr = 0.01 - beyond * beyond, dm = 1000 * pi * rr * 0.6 / slices;
    m += dm, zz += dm * rr / 2, xx += dm * (rr / 4 + z * z);
  }
  EXPECT_NEAR(c.mass, m, 1e-6 * m);
  EXPECT_NEAR(c.inertia.xx, xx, 1e-6 * xx);
  EXPECT_NEAR(c.inertia.zz, zz, 1e-6 * zz);
}

TEST(Sdf, JointTypesAndNumbers) {
  const auto loaded =
      parsed(10, model(link("a") + link("b") + link("c") + link("d") + link("e") + link("f") + link("g") +
                       joint("r", "revolute", "a", "b",
                             R"(<axis><xyz>0 2 0</xyz><limit><lower>-1</lower><upper>1e16</upper>
              <effort>5</effort><velocity>-1</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
              <spring_stiffness>3</spring_stiffness><spring_reference>0.4</spring_reference></dynamics></axis>)") +
                       joint("p", "prismatic", "b", "c") + joint("b_", "ball", "c", "d", "") +
                       joint("u", "universal", "d", "e",
                             R"(<axis><xyz>1 0 0</xyz><dynamics><damping>1</damping></dynamics></axis>
              <axis2><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis2>)") +
                       joint("s", "screw", "e", "f",
                             "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.5</screw_thread_pitch>") +
                       joint("c_", "continuous", "f", "g",
                             "<axis><xyz>1 0 0</xyz></axis><drake:rotor_inertia>0.01</drake:rotor_inertia>"
                             "<drake:gear_ratio>20</drake:gear_ratio>")));
  EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const JointSpec& r = joint_of(loaded, "r");
  expect_near(r.axis, {0, 1, 0});
  EXPECT_EQ(r.limits.lower[0], -1);
  EXPECT_TRUE(std::isinf(r.limits.upper[0]) && std::isinf(r.limits.velocity[0]));
  EXPECT_EQ(r.limits.effort[0], 5);
  EXPECT_EQ(r.damping[0], 0.1);
  EXPECT_EQ(r.friction[0], 0.2);
  EXPECT_EQ(r.stiffness[0], 3);
  EXPECT_EQ(r.spring_reference[0], 0.4);
  EXPECT_EQ(joint_of(loaded, "p").kind, JointKind::prismatic);
  EXPECT_EQ(joint_of(loaded, "b_").kind, JointKind::spherical);
  EXPECT_EQ(joint_of(loaded, "u").kind, JointKind::universal);
  EXPECT_EQ(joint_of(loaded, "u").damping[0], 1);
  EXPECT_EQ(joint_of(loaded, "u").damping[1], 2);
  EXPECT_EQ(joint_of(loaded, "s").kind, JointKind::helical);
  EXPECT_NEAR(joint_of(loaded, "s").pitch, 0.5 / (2 * pi), 1e-16);
  EXPECT_EQ(joint_of(loaded, "c_").kind, JointKind::continuous);
  EXPECT_NEAR(joint_of(loaded, "c_").armature[0], 4, 1e-15);
}

/// thread_pitch is radians per metre of a left-handed screw: what screw_thread_pitch says, upside down.
TEST(Sdf, OldThreadPitch) {
  const auto old = parsed(6, model(link("a") + link("b") +
                                   joint("s", "screw", "a", "b",
                                         "<axis><xyz>0 0 1</xyz></axis><thread_pitch>-20</thread_pitch>")));
  EXPECT_DOUBLE_EQ(joint_of(old, "s").pitch, 0.05);
  const auto zero = parsed(
      6, model(link("a") + link("b") +
               joint("s", "screw", "a", "b", "<axis><xyz>0 0 1</xyz></axis><thread_pitch>0</thread_pitch>")));
  EXPECT_TRUE(tells(zero.findings, error, "m.sdf:1", "<thread_pitch> of joint 's' is 0"));
}

/// In the model's frame until 1.4; then in the joint's, or the model's if asked for; from 1.7 in any.
TEST(Sdf, AxesByVersion) {
  const auto axis_in = [](int minor, const std::string& attribute, const std::string& more) {
    const auto loaded = parsed(
        minor, model(link("a") + link("b", "<pose>0 0 0 0 0 1.5707963267948966</pose>") +
                     (minor < 7 ? "" : "<frame name='f'><pose>0 0 0 0 1.5707963267948966 0</pose></frame>") +
                     joint("j", "revolute", "a", "b",
                           "<pose>0 0 0 1.5707963267948966 0 0</pose><axis><xyz" + attribute +
                               ">0 0 1</xyz>" + more + "</axis>")));
    EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
    const Model built(loaded.spec);
    // The axis in the world: what turns b.
    const Pose still = pose_of_frame(built, "b", {0}), turned = pose_of_frame(built, "b", {0.1});
    const Vec3<double> w = log_quaternion(quaternion(turned.R * star(still.R)));
    return w * 10;
  };
  const std::string use = "<use_parent_model_frame>1</use_parent_model_frame>";
  expect_near(axis_in(4, "", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(6, "", use), {0, 0, 1}, 1e-13);
  expect_near(axis_in(6, "", ""), {1, 0, 0}, 1e-13);  // z, turned by -90 degrees about x, then by 90 about z
  expect_near(axis_in(7, "", ""), {1, 0, 0}, 1e-13);
  expect_near(axis_in(7, " expressed_in='__model__'", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(7, " expressed_in='b'", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(7, " expressed_in='f'", ""), {1, 0, 0}, 1e-13);
}

// --- frames ------------------------------------------------------------------------------------------
TEST(Sdf, FramesRelativeToEachOther) {
  const auto loaded = parsed(
      9, model(link("a") + link("b", "<pose relative_to='f'>0 0 1 0 0 0</pose>") +
               "<frame name='f' attached_to='a'><pose>1 0 0 0 0 1.5707963267948966</pose></frame>"
               "<frame name='g' attached_to='j'><pose relative_to='f'>1 0 0 0 0 0</pose></frame>"
               "<frame name='h'><pose relative_to='b' degrees='true'>0 0 0 90 0 0</pose></frame>"
               "<frame name='k' attached_to='b'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0.6 "
               "0.8</pose></frame>" +
               joint("j", "revolute", "f", "b", "<pose>0 1 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>")));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 1);
  expect_near(pose_of_frame(built, "b").p, {1, 0, 1});
  expect_near(pose_of_frame(built, "g").p, {1, 1, 0});
  expect_near(column_y(pose_of_frame(built, "h").R), {0, 0, 1});
  expect_near(column_x(pose_of_frame(built, "k").R),
              pose_of_frame(built, "b").R * Vec3<double>{0.28, 0.96, 0});
  // The joint turns b about the point (0, 1, 0) of b, which is (0, 0, 1) of the world, and takes g along, not h.
  const Numbers turned{pi / 2};
  expect_near(pose_of_frame(built, "b", turned).p, {0, 1, 1});
  expect_near(pose_of_frame(built, "h", turned).p, {1, 0, 1});
  expect_near(pose_of_frame(built, "g", turned).p, {-1, 1, 0});
}

TEST(Sdf, NestedModels) {
  const std::string hand =
      R"(<model name='hand' placement_frame='grip'><pose relative_to='tool'>0 0 0.5 0 0 0</pose>)" +
      link("palm", "<pose>0.1 0 0 0 0 0</pose>") + link("finger", "<pose>0.2 0 0 0 0 0</pose>") +
      joint("bend", "revolute", "palm", "finger") +
      "<frame name='grip'><pose>0.3 0 0 0 0 0</pose></frame></model>";
  const auto loaded =
      parsed(9, model(link("arm") + "<frame name='tool' attached_to='arm'><pose>0 0 2 0 0 0</pose></frame>" +
                      hand + joint("mount", "fixed", "arm", "hand::palm", "") +
                      "<frame name='tip' attached_to='hand::finger'><pose>0 1 0 0 0 0</pose></frame>"));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 1);
  EXPECT_EQ(built.joints()[0].name, "hand::bend");
  expect_near(pose_of_frame(built, "hand::palm").p, {-0.2, 0, 2.5});
  expect_near(pose_of_frame(built, "hand::grip").p, {0, 0, 2.5});
  expect_near(pose_of_frame(built, "hand").p, {-0.3, 0, 2.5});
  expect_near(pose_of_frame(built, "tip").p, {-0.1, 1, 2.5});
}

TEST(Sdf, FramesThatLeadNowhere) {
  const auto told = [](const std::string& inside, const std::string& text) {
    const auto loaded = parsed(9, model(link("a") + inside));
    EXPECT_TRUE(tells(loaded.findings, error, "m.sdf:1", text)) << inside;
    EXPECT_THROW(loaded.build(), ModelError);
  };
  told("<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>",
       "relative to itself");
  told("<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>" +
           joint("j", "fixed", "f", "a", ""),
       "attached to themselves");
  told("<frame name='f'><pose relative_to='aa'/></frame>", "there is no frame 'aa' in model 'm'");
  told(link("b") + joint("j", "revolute", "a", "c"), "there is no frame 'c'");
  told(link("b") + joint("j", "revolute", "x::a", "b"), "there is no model 'x'");
  told(link("b") + joint("j", "spring", "a", "b"), "joint 'j' has the type 'spring'");
  told(joint("j", "revolute", "a", "a"), "joins a link to itself");
  told("<link name='b'><pose>1 2 3</pose></link>", "expected 6 finite numbers");
  told(joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>"), "expected a direction");
  EXPECT_THROW(parsed("<robot/>"), ModelError);
  EXPECT_THROW(parsed("<sdf>"), ModelError);
  EXPECT_TRUE(tells(parsed(7, "<light name='sun'/>").findings, error, "m.sdf:1", "there is no <model>"));
  EXPECT_TRUE(tells(parsed(99, model(link("a"))).findings, warning, "m.sdf:1", "the version is"));
}

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
  EXPECT_TRUE(tells(loaded.findings, warning, "m.sdf:1", "<gravity>"));
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

// --- files -------------------------------------------------------------------------------------------
class SdfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("articula_sdf_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(SdfFiles, Include) {
  write("hand/model.config",
        "<model><sdf version='1.4'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>");
  write("hand/new.sdf", "<sdf version='1.9'><model name='hand'>" + link("palm") + "</model></sdf>");
  const auto include = [](const std::string& uri, const std::string& more = "",
                          const std::string& attributes = "") {
    return "<include" + attributes + "><uri>" + uri + "</uri><name>h</name><pose>0 0 1 0 0 0</pose>" + more +
           "</include>";
  };
  const auto text = [&](const std::string& inside) {
    return "<sdf version='1.10'><model name='m'>" + link("a") + inside +
           joint("j", "fixed", "a", "h::palm", "") + "</model></sdf>";
  };
  write("arm/model.config", "<model/>");
  const std::string arm = write("arm/arm.sdf", text(include("model://hand")));
  const LoadedModel loaded = read_model(arm);
  EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  expect_near(pose_of_frame(Model(loaded.spec), "h::palm").p, {0, 0, 1});
  EXPECT_NE(link_of(loaded, "h::palm").where.find("new.sdf:1"), std::string::npos);
  // Named on the command line; and merged.
  const std::string far = write("far/away/arm.sdf", text(include("model://gripper")));
  EXPECT_TRUE(tells(read_model(far).findings, error, "arm.sdf:1", "--package"));
  EXPECT_TRUE(read_model(far, {.packages = {{"gripper", (folder_ / "hand").string()}}}).findings.empty());
  const std::string merged =
      write("arm/merged.sdf", "<sdf version='1.10'><model name='m'>" + link("a") +
                                  include("model://hand", "", " merge='true'") +
                                  joint("j", "fixed", "a", "palm", "") + "</model></sdf>");
  const LoadedModel flat = read_model(merged);
  EXPECT_TRUE(flat.findings.empty()) << describe(flat.findings[0]);
  expect_near(pose_of_frame(Model(flat.spec), "palm").p, {0, 0, 1});
  // Files that include themselves, or each other, and files elsewhere.
  const std::string own = write("arm/own.sdf", text(include("own.sdf")));
  EXPECT_TRUE(tells(read_model(own).findings, error, "own.sdf:1", "the included 'own.sdf'"));
  write("arm/one.sdf", text(include("two.sdf")));
  write("arm/two.sdf", text(include("one.sdf")));
  EXPECT_TRUE(tells(read_model((folder_ / "arm/one.sdf").string()).findings, error, "two.sdf:1",
                    "the included 'one.sdf'"));
  const std::string outside =
      write("arm/outside.sdf",
            text(include("../hand/new.sdf") + include("file:///etc/passwd") + include("https://x.org/m")));
  EXPECT_EQ(read_model(outside).findings.size(), 4u);  // and the joint has nothing to hold
}

TEST_F(SdfFiles, Visuals) {
  write("m/meshes/a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string file = write("m/m.sdf", R"(<sdf version='1.9'><model name='m'><link name='a'>
    <visual name='v'><pose>0 0 1 0 0 0</pose><geometry><mesh><uri>model://m/meshes/a.obj</uri><scale>2 2 2</scale></mesh>
      </geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
    <visual name='w'><geometry><box><size>1 2 3</size></box></geometry></visual></link></model></sdf>)");
  const ModelVisuals visuals = read_visuals(read_model(file));
  ASSERT_EQ(visuals.links.size(), 1u);
  ASSERT_EQ(visuals.links[0].shapes.size(), 2u);
  EXPECT_EQ(visuals.links[0].shapes[0].kind, ShapeKind::mesh);
  EXPECT_EQ(visuals.links[0].shapes[0].size.x, 2);
  EXPECT_EQ(visuals.links[0].shapes[0].placement.p.z, 1);
  EXPECT_EQ((*visuals.links[0].shapes[0].color)[0], 1);
  EXPECT_EQ(visuals.links[0].shapes[1].size.z, 3);
}

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

TEST(SdfRoundTrip, ShippedModelsBetweenUrdfAndSdf) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ARTICULA_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".urdf") continue;
    SCOPED_TRACE(entry.path().string());
    Rng rng(7);
    const ModelSpec first = read_urdf_spec(entry.path().string()).spec;
    const ModelSpec second = parsed(write_sdf(first)).spec;
    const ModelSpec third = parse_urdf_spec(write_urdf(second), "x.urdf").spec;
    for (const Base base : {Base::fixed, Base::free}) {
      expect_same_dynamics(first, second, base, rng);
      expect_same_dynamics(first, third, base, rng);
    }
    for (std::size_t i = 0; i < first.links.size(); ++i) EXPECT_EQ(first.links[i].name, third.links[i].name);
    ++models;
  }
  EXPECT_GE(models, 10);
}

TEST(SdfRoundTrip, WhatSdfCannotSay) {
  for (const JointKind kind : {JointKind::cylindrical, JointKind::free}) {
    ModelSpec spec = testing::one_joint_spec(kind);
    EXPECT_THROW(write_sdf(spec), ModelError) << name_of(kind);
  }
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
