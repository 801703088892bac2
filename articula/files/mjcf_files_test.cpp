// MJCF in several files, and meshes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/support/mjcf_text.hpp"

namespace articula {
namespace {

using namespace testing::mjcf_text;

TEST(Mjcf, MeshesInTheModel) {
  const std::string tetrahedron = R"(vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3")";
  const LoadedModel model =
      read("<asset><mesh name=\"m\" " + tetrahedron +
           " scale=\"2 1 -1\"/><mesh name=\"n\" inertia=\"convex\" " + tetrahedron +
           "/></asset><worldbody><body name=\"a\"><geom type=\"mesh\" mesh=\"m\" density=\"3\"/></body>"
           "<body name=\"b\"><geom type=\"mesh\" mesh=\"n\" mass=\"5\" pos=\"1 0 0\"/></body></worldbody>");
  EXPECT_EQ(findings(model), "");
  expect_mass(link(model, "a").mass, 6, V3{13, 13, 8} * (6 * 3. / 80));
  EXPECT_NEAR(link(model, "a").mass.center_of_mass.z, -0.75, 1e-15);
  EXPECT_NEAR(link(model, "b").mass.mass, 5, 1e-14);
  EXPECT_NEAR(link(model, "b").mass.center_of_mass.x, 1.25, 1e-14);
}

// A box fitted to a cube is the cube.
TEST(Mjcf, SolidsFittedToMeshes) {
  const std::string cube =
      R"(<asset><mesh name="m" vertex="0 0 0 2 0 0 0 3 0 2 3 0 0 0 4 2 0 4 0 3 4 2 3 4"/></asset>
    <worldbody><body name="a"><geom type="box" mesh="m" density="1"/></body></worldbody>)";
  for (const char* compiler : {"", "<compiler fitaabb=\"true\"/>"}) {
    const LoadedModel model = read(compiler + cube);
    EXPECT_EQ(findings(model), "");
    expect_mass(link(model, "a").mass, 24, {50, 40, 26}, 1e-9);
    EXPECT_NEAR(link(model, "a").mass.center_of_mass.y, 1.5, 1e-12);
  }
}

class MjcfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("articula_mjcf_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "in" / "parts");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  LoadedModel load() { return read_model((folder_ / "in" / "main.xml").string()); }
  std::string why_not() {
    try {
      return findings(load());
    } catch (const ModelError& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(MjcfFiles, IncludeAndMeshes) {
  put("in/main.xml",
      R"(<mujoco><include file="parts/defaults.xml"/><compiler meshdir="parts"/><asset><mesh file="m.obj"/></asset><worldbody>
    <include file="parts/bodies.xml"/></worldbody></mujoco>)");
  put("in/parts/defaults.xml", R"(<mujocoinclude><default><joint damping="3"/></default></mujocoinclude>)");
  put("in/parts/bodies.xml",
      "<mujocoinclude><body name=\"a\"><joint name=\"j\"/>\n<geom type=\"mesh\" mesh=\"m\" "
      "density=\"1\"/></body><include file=\"more.xml\"/></mujocoinclude>");
  put("in/parts/more.xml", "<x><body name=\"b\">\n<geom size=\"x\"/></body></x>");
  put("in/parts/m.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const LoadedModel model = load();
  EXPECT_EQ(joint(model, "j").damping[0], 3);
  EXPECT_NEAR(link(model, "a").mass.center_of_mass.z, 0.75, 1e-15);
  ASSERT_FALSE(model.findings.empty());
  EXPECT_NE(model.findings[0].where.find("parts/more.xml:2"), std::string::npos) << model.findings[0].where;
}

TEST_F(MjcfFiles, NoFileOutsideIsRead) {
  put("secret.xml", "<x><body name=\"secret\"/></x>");
  put("in/main.xml", R"(<mujoco><worldbody><include file="../secret.xml"/></worldbody></mujoco>)");
  EXPECT_NE(why_not().find("'../secret.xml' was not found below the model's folder"), std::string::npos)
      << why_not();
  put("m.stl", "solid x\nendsolid x\n");
  put("in/main.xml",
      R"(<mujoco><asset><mesh file="../m.stl"/></asset><worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>)");
  EXPECT_NE(why_not().find("was not found below"), std::string::npos) << why_not();
  // Unless the user names the folder.
  ReadOptions options;
  options.packages["all"] = folder_.string();
  put("in/main.xml", R"(<mujoco><worldbody><include file="../secret.xml"/></worldbody></mujoco>)");
  EXPECT_EQ(read_model((folder_ / "in" / "main.xml").string(), options).spec.links.at(0).name, "secret");
  put("in/main.xml", R"(<mujoco><worldbody><include file="main.xml"/></worldbody></mujoco>)");
  EXPECT_NE(why_not().find("included twice"), std::string::npos) << why_not();
}

TEST_F(MjcfFiles, Attach) {
  put("in/main.xml",
      R"(<mujoco><asset><model name="hand" file="parts/hand.xml"/></asset><worldbody><body name="arm"><joint name="j"/><geom size="1"/>
    <frame pos="0 0 5"><attach model="hand" body="palm" prefix="left/"/></frame><attach model="hand" body="palm" prefix="right/"/></body></worldbody></mujoco>)");
  put("in/parts/hand.xml",
      R"(<mujoco><compiler angle="radian"/><default><geom density="10"/></default><worldbody><body name="palm" pos="1 0 0"><joint name="j" range="-1 1"/>
    <geom type="box" size="0.5 0.5 0.5"/></body><body name="other"/></worldbody><actuator><motor name="m" joint="j"/><motor joint="elsewhere"/></actuator></mujoco>)");
  const LoadedModel model = load();
  EXPECT_EQ(findings(model), "");
  EXPECT_EQ(joint(model, "left/j").placement.p.z, 5);
  EXPECT_EQ(joint(model, "left/j").limits.upper[0], 1);
  EXPECT_EQ(joint(model, "right/j").parent, "arm");
  EXPECT_EQ(link(model, "right/palm").mass.mass, 10);
  EXPECT_EQ(model.spec.actuators.size(), 2u);
  EXPECT_EQ(model.spec.links.size(), 3u);
}

TEST_F(MjcfFiles, Shapes) {
  put("in/main.xml",
      R"(<mujoco><asset><material name="red" rgba="1 0 0 1"/><mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="2 2 2"/>
    </asset><worldbody><body name="a"><geom type="box" size="1 2 3" material="red"/><geom type="ellipsoid" size="1 2 3"/><geom type="mesh" mesh="m" pos="0 0 1"/>
    <geom size="1" group="3"/></body></worldbody></mujoco>)");
  const ModelVisuals visuals = read_visuals(load());
  ASSERT_EQ(visuals.links.size(), 1u);
  const auto& shapes = visuals.links[0].shapes;
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0].size.z, 6);
  EXPECT_EQ(shapes[0].color.value()[0], 1);
  EXPECT_EQ(shapes[1].size.y, 2);
  EXPECT_EQ(shapes[2].placement.p.z, 1);
  EXPECT_EQ(shapes[2].mesh->points[11] * shapes[2].size.z, 6);
}

}  // namespace
}  // namespace articula
