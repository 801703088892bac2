#include "articula/files/read_model.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "articula/files/mesh_paths.hpp"
#include "articula/files/urdf.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, and the environment as it was afterwards.
class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() { fs::create_directories(root); }
  ~ModelFiles() override {
    fs::remove_all(root);
    for (const auto& [name, value] : kept_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = root / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  void set(const char* variable, const std::string& value) {
    const char* const old = std::getenv(variable);
    kept_.emplace_back(variable, old ? std::optional<std::string>(old) : std::nullopt);
    setenv(variable, value.c_str(), 1);
  }
  const fs::path root = fs::temp_directory_path() / ("articula_read_model_" + std::to_string(getpid()));

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> kept_;
};

const std::string robot =
    R"(<robot name="r"><link name="a"><visual><geometry><box size="1 1 1"/></geometry></visual>
  <inertial><mass value="1"/></inertial></link></robot>)";

TEST_F(ModelFiles, ContentTellsTheFormat) {
  const LoadedModel loaded = read_model(write("robot.txt", "<?xml version=\"1.0\"?><!-- <sdf/> -->" + robot));
  EXPECT_EQ(loaded.spec.name, "r");
  EXPECT_EQ(loaded.build().name(), "r");
  EXPECT_EQ(read_visuals(loaded).links.size(), 1u);
  const LoadedModel text = read_model(ModelText{robot, "<stdin>", ""});
  EXPECT_EQ(text.spec.links[0].where, "<stdin>:1");
  EXPECT_EQ(read_visuals(text).links.size(), 1u);
  EXPECT_TRUE(read_visuals(LoadedModel{}).links.empty());
  EXPECT_EQ(root_element_of("<!DOCTYPE x>\n<mujoco\nmodel='m'/>"), "mujoco");
  EXPECT_EQ(root_element_of("<sdf>"), "sdf");
  EXPECT_EQ(root_element_of("{}"), "");
  EXPECT_THROW(read_model(write("other.urdf", "<collada/>")), ModelError);
  EXPECT_THROW(read_model(root.string()), ModelError);
  EXPECT_THROW(read_model((root / "none.urdf").string()), ModelError);
}

TEST_F(ModelFiles, BuildThrowsTheReadersFirstError) {
  const LoadedModel wrong = read_model(ModelText{"<robot name='r'><link/><link/></robot>", "w.urdf", ""});
  try {
    wrong.build();
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("w.urdf:1"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1 more"), std::string::npos) << e.what();
  }
}

TEST_F(ModelFiles, XacroIsRunOrAskedFor) {
  const std::string file =
      write("arm.urdf.xacro", "<robot name=\"r\" xmlns:xacro=\"http://x\"><xacro:a/></robot>");
  set("PATH", (root / "bin").string());
  try {
    read_model(file);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("pip install xacro"), std::string::npos) << e.what();
  }
  // A program of that name: it is given the file, and what it prints is the model.
  const auto pretend = [&](const std::string& script) {
    fs::permissions(write("bin/xacro", "#!/bin/sh\n" + script), fs::perms::owner_all);
  };
  pretend("echo '<robot name=\"expanded\"><link name=\"a\"/></robot>'; echo \"$1\" >&2");
  EXPECT_EQ(read_model(file).spec.name, "expanded");
  pretend("echo traceback >&2; echo 'undefined: mass' >&2; exit 2");
  try {
    read_model(file);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("undefined: mass"), std::string::npos) << e.what();
  }
  EXPECT_THROW(read_model((root / "none.xacro").string()), ModelError);
}

TEST_F(ModelFiles, PackagesAreFoundAsRosDoes) {
  unsetenv("ROS_PACKAGE_PATH"), unsetenv("AMENT_PREFIX_PATH");
  const std::string mesh = "package://arm_meshes/m/a.stl";
  const ModelText model{robot, "r.urdf", (root / "ws/arm/urdf").string()};
  EXPECT_FALSE(find_file(mesh, model));
  const auto expect_at = [&](const ModelText& from, const std::string& name) {
    const auto found = find_file(mesh, from);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, root / name);
  };
  write("ws/arm_meshes/m/a.stl", "x");  // beside the package of the model
  EXPECT_FALSE(find_file(mesh, model));
  write("ws/arm_meshes/package.xml", "<package/>");
  expect_at(model, "ws/arm_meshes/m/a.stl");
  write("ros2/share/arm_meshes/m/a.stl", "x");
  set("AMENT_PREFIX_PATH", (root / "none").string() + ":" + (root / "ros2").string());
  expect_at(model, "ros2/share/arm_meshes/m/a.stl");
  write("ros1/meta/arm_meshes/m/a.stl", "x");
  set("ROS_PACKAGE_PATH", (root / "ros1").string());
  expect_at(model, "ros1/meta/arm_meshes/m/a.stl");
  write("ros1/arm_meshes/m/a.stl", "x");
  expect_at(model, "ros1/arm_meshes/m/a.stl");
  set("ROS_PACKAGE_PATH", (root / "ros1/arm_meshes").string());
  expect_at(model, "ros1/arm_meshes/m/a.stl");
  write("mine/m/a.stl", "x");
  ModelText given = model;
  given.options.packages["arm_meshes"] = (root / "mine").string();
  expect_at(given, "mine/m/a.stl");
}

TEST_F(ModelFiles, NamedPackagesAreNotLeft) {
  ModelText model{robot, "r.urdf", (root / "urdf").string()};
  model.options.packages["mine"] = (root / "mine").string();
  write("secret.stl", "x");
  write("mine/a.stl", "x");
  EXPECT_TRUE(find_file("package://mine/a.stl", model));
  EXPECT_FALSE(find_file("package://mine/../secret.stl", model));
  EXPECT_FALSE(find_file("file:///etc/passwd", model));
}

}  // namespace
}  // namespace articula
