#include "articula/loops/scene_of_model.hpp"

#include <gtest/gtest.h>

#include "articula/files/sdf.hpp"
#include "articula/loops/scene.hpp"

namespace articula {
namespace {

/// A four-bar with uneven sides; the order of its joints decides where the loop is cut.
ModelSpec four_bar(const std::vector<std::string>& order, const std::string& top_joints = "revolute") {
  const auto link = [](const std::string& name, const std::string& pose) {
    return "<link name='" + name + "'><pose>" + pose +
           "</pose><inertial><pose>0.1 0 0.2 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy>"
           "<izz>0.15</izz></inertia></inertial></link>";
  };
  const auto joint = [](const std::string& name, const std::string& type, const std::string& parent,
                        const std::string& child, const std::string& pose) {
    return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" + child +
           "</child><pose>" + pose + "</pose><axis><xyz>0 1 0</xyz></axis></joint>";
  };
  std::string text = "<sdf version='1.9'><model name='bars'>" + link("base", "0 0 0 0 0 0") +
                     link("l", "0 0 1 0 0.1 0") + link("r", "1 0 1 0 0 0") + link("top", "0.5 0 2 0 0 0");
  for (const std::string& name : order) {
    if (name == "bl") text += joint("bl", "revolute", "base", "l", "0 0 -1 0 0 0");
    if (name == "br") text += joint("br", "revolute", "base", "r", "0 0 -1 0 0 0");
    if (name == "lt") text += joint("lt", top_joints, "l", "top", "-0.5 0 0 0 0 0");
    if (name == "rt") text += joint("rt", "revolute", "r", "top", "0.5 0 0.2 0 0 0");
  }
  return parse_sdf({text + "</model></sdf>", "bars.sdf", ""}).build().spec();
}

std::vector<double> accelerations(const ModelSpec& spec, const std::vector<std::string>& joints) {
  Scene scene(scene_of(spec));
  std::vector<double> a(std::size_t(scene.model().nv())), out;
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
  for (const std::string& name : joints)
    out.push_back(
        a[std::size_t(scene.model().joints()[std::size_t(scene.model().joint("bars/" + name))].v_index)]);
  return out;
}

TEST(SceneOfModel, WhereTheLoopIsCutDoesNotMatter) {
  const ModelSpec one = four_bar({"bl", "br", "lt", "rt"}), other = four_bar({"rt", "lt", "br", "bl"});
  ASSERT_EQ(one.loops.size(), 1u);
  ASSERT_EQ(other.loops.size(), 1u);
  EXPECT_EQ(one.loops[0].name, "rt");
  EXPECT_EQ(other.loops[0].name, "lt");
  const auto a = accelerations(one, {"bl", "br"}), b = accelerations(other, {"bl", "br"});
  EXPECT_GT(std::abs(a[0]), 0.01);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(a[std::size_t(i)], b[std::size_t(i)], 1e-11 * std::abs(a[0]));
  // The plane's own constraints follow from the rest: a ball where a hinge was is the same motion.
  const auto ball = accelerations(four_bar({"bl", "br", "rt", "lt"}, "ball"), {"bl", "br"});
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(a[std::size_t(i)], ball[std::size_t(i)], 1e-11 * std::abs(a[0]));
}

TEST(SceneOfModel, Couplings) {
  ModelSpec spec;
  spec.name = "gears";
  spec.add_link({.name = "base"});
  for (const char* name : {"in", "out"})
    spec.add_link({.name = name, .mass = {1, {0, 0, 0}, {0.1, 0.1, 0.3, 0, 0, 0}}});
  spec.add_joint({.name = "i", .parent = "base", .child = "in", .axis = {0, 0, 1}});
  spec.add_joint({.name = "o", .parent = "base", .child = "out", .axis = {0, 0, 1}});
  spec.couplings.push_back({.name = "g", .joint = "o", .source = "i", .coefficients = {0, -5}});
  EXPECT_TRUE(has_loops(spec));
  Scene scene(scene_of(spec));
  std::vector<double> a(2);
  scene.dynamics().acceleration(scene.q, scene.v, std::vector<double>{1, 0}, a);
  EXPECT_NEAR(a[0], 1 / (0.3 + 25 * 0.3), 1e-13);  // the inertia behind the gear, by its square
  EXPECT_NEAR(a[1], -5 * a[0], 1e-13);
  spec.couplings[0].coefficients = {0, 1, 0, 0, 0, 2};
  EXPECT_THROW(scene_of(spec), ModelError);
  spec.couplings.clear();
  spec.loops.push_back({.name = "l", .kind = JointKind::universal, .first = "in", .second = "out"});
  EXPECT_THROW(scene_of(spec), ModelError);
}

/// q2 = p(q1): with one freedom left, (J1 + p'^2 J2) a1 = tau1 + p' tau2 - p' p'' J2 v1^2.
TEST(SceneOfModel, CurvedCouplings) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  for (const char* name : {"in", "out"})
    spec.add_link({.name = name, .mass = {1, {0, 0, 0}, {0.1, 0.1, 0.3, 0, 0, 0}}});
  spec.add_joint({.name = "i", .parent = "base", .child = "in", .axis = {0, 0, 1}});
  spec.add_joint({.name = "o", .parent = "base", .child = "out", .axis = {0, 0, 1}});
  spec.couplings.push_back(
      {.name = "c", .joint = "o", .source = "i", .coefficients = {0.2, -0.5, 2, 0.7, -0.3}});
  const Model model(spec);
  ConstrainedDynamics work(model, constraints_of(model));
  const double x = 0.4, u = 1.3, J = 0.3;
  const double p = 0.2 - 0.5 * x + 2 * x * x + 0.7 * x * x * x - 0.3 * x * x * x * x;
  const double slope = -0.5 + 4 * x + 2.1 * x * x - 1.2 * x * x * x, bend = 4 + 4.2 * x - 3.6 * x * x;
  const std::vector<double> q{x, p}, v{u, slope * u}, tau{0.9, -0.4};
  const ConstraintDrift off = work.drift(q, v);
  EXPECT_NEAR(off.position, 0, 1e-15);
  EXPECT_NEAR(off.velocity, 0, 1e-15);
  std::vector<double> a(2), J_row(2), bias(1);
  work.acceleration(q, v, tau, a);
  const double wanted = (tau[0] + slope * tau[1] - slope * bend * J * u * u) / (J + slope * slope * J);
  EXPECT_NEAR(a[0], wanted, 1e-13);
  EXPECT_NEAR(a[1], slope * a[0] + bend * u * u, 1e-12);
  EXPECT_LT(work.residual(q, v, a), 1e-12);
  work.jacobian(q, J_row);
  EXPECT_NEAR(J_row[0], -slope, 1e-15);
  work.bias(q, v, bias);
  EXPECT_NEAR(bias[0], -bend * u * u, 1e-13);
  std::vector<double> from{x, p + 0.3}, rate{u, 0};
  EXPECT_TRUE(work.project(from, rate).converged);
  EXPECT_LT(work.drift(from, rate).position, 1e-12);
  EXPECT_LT(work.drift(from, rate).velocity, 1e-12);
}

TEST(SceneOfModel, TendonsOverThreeJoints) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  for (const char* name : {"a", "b", "c"}) {
    spec.add_link({.name = name, .mass = {1, {0, 0, 0}, {0.1, 0.1, 0.5, 0, 0, 0}}});
    spec.add_joint({.name = name, .parent = "base", .child = name, .axis = {0, 0, 1}});
  }
  spec.couplings.push_back({.name = "t", .joint = "a", .source = "c", .coefficients = {0, 2}});
  spec.couplings[0].further = {{"b", -3}};
  Scene scene(scene_of(spec));
  std::vector<double> a(3);
  scene.dynamics().acceleration(scene.q, scene.v, std::vector<double>{1, 0, 0}, a);
  EXPECT_NEAR(a[0] + 3 * a[1] - 2 * a[2], 0, 1e-14);
  EXPECT_NEAR(a[0], 2 * (1 - 1. / 14), 1e-13);  // J a = tau - c f with c = (1, 3, -2)
  EXPECT_NEAR(a[1], 2 * -3. / 14, 1e-13);
}

/// Joints that no constraint is, in a loop of their own: the same twice holds as one does.
TEST(SceneOfModel, LinksAreHalvedWhereOtherJointsCloseLoops) {
  const auto spec = [](const std::string& type, int times) {
    std::string text =
        "<sdf version='1.10'><model name='m'><link name='base'/><link name='a'><pose>0 0 1 0.3 0 "
        "0</pose><inertial>"
        "<pose>0.1 0.2 0.3 0 0 "
        "0</pose><mass>2</mass><inertia><ixx>0.3</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia>"
        "</inertial></link>";
    for (int i = 0; i < times; ++i) {
      const std::string drake = type == "planar" ? "drake:" : "";
      text += "<" + drake + "joint name='j" + std::to_string(i) + "' type='" + type + "'><" + drake +
              "parent>base</" + drake + "parent><" + drake + "child>a</" + drake +
              "child><axis><xyz>1 0 0</xyz></axis>" +
              (type == "universal" ? "<axis2><xyz>0 1 0</xyz></axis2>" : "") +
              (type == "screw" ? "<screw_thread_pitch>0.5</screw_thread_pitch>" : "") + "</" + drake +
              "joint>";
    }
    return parse_sdf({text + "</model></sdf>", "m.sdf", ""}).build().spec();
  };
  for (const std::string type : {"universal", "screw", "planar"}) {
    SCOPED_TRACE(type);
    const ModelSpec once = spec(type, 1), twice = spec(type, 2);
    ASSERT_TRUE(once.loops.empty());
    ASSERT_EQ(twice.loops.size(), 1u);
    const BuildOptions sideways{.gravity = {3, 4, -9.81}};
    const Model free(once, sideways), closed(twice, sideways);
    const std::size_t n = std::size_t(free.nv());
    ASSERT_EQ(closed.nv(), 2 * free.nv());
    EXPECT_EQ(closed.mass(), free.mass());
    std::vector<double> q(n, 0.2), v(n, 0.7), a(n), both(2 * n);
    ConstrainedDynamics open(free, {}), work(closed, constraints_of(closed));
    open.acceleration(q, v, std::vector<double>(n), a);
    work.acceleration(std::vector<double>(2 * n, 0.2), std::vector<double>(2 * n, 0.7),
                      std::vector<double>(2 * n), both);
    for (std::size_t i = 0; i < 2 * n; ++i) EXPECT_NEAR(both[i], a[i % n], 1e-11);
  }
}

}  // namespace
}  // namespace articula
