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
  spec.couplings[0].coefficients = {0, 1, 2};
  EXPECT_THROW(scene_of(spec), ModelError);
  spec.couplings.clear();
  spec.loops.push_back({.name = "l", .kind = JointKind::universal, .first = "in", .second = "out"});
  EXPECT_THROW(scene_of(spec), ModelError);
}

}  // namespace
}  // namespace articula
