#include "articula/files/urdf_visuals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "articula/error.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/urdf_mutations.hpp"

namespace articula::testing {
namespace {

namespace fs = std::filesystem;

std::string robot(const std::string& inside) { return "<robot name='r'>" + inside + "</robot>"; }
ModelVisuals parse(const std::string& inside) { return parse_urdf_visuals({robot(inside), "r.urdf", "."}); }

TEST(UrdfVisuals, SolidsWithPlacesAndColours) {
  const ModelVisuals seen = parse(
      "<material name='red'><color rgba='1 0 0 0.5'/></material>"
      "<link name='a'><visual><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><geometry><box size='1 2 3'/>"
      "</geometry><material name='red'/></visual>"
      "<visual><geometry><cylinder radius='0.5' length='2'/></geometry></visual></link>"
      "<link name='b'/><link name='c'><visual><geometry><sphere radius='+.25'/></geometry>"
      "<material name='own'><color rgba='0 1 0 7'/></material></visual></link>");
  EXPECT_TRUE(seen.findings.empty());
  ASSERT_EQ(seen.links.size(), 2u);
  EXPECT_EQ(seen.links[0].link, "a");
  const Shape& box = seen.links[0].shapes[0];
  EXPECT_EQ(box.kind, ShapeKind::box);
  EXPECT_EQ(box.size.y, 2);
  EXPECT_EQ(box.placement.p.z, 3);
  EXPECT_NEAR(box.placement.R.yx, 1, 1e-15);
  EXPECT_EQ(box.color, (std::array<double, 4>{1, 0, 0, 0.5}));
  EXPECT_EQ(seen.links[0].shapes[1].length, 2);
  EXPECT_FALSE(seen.links[0].shapes[1].color);
  EXPECT_EQ(seen.links[1].shapes[0].radius, 0.25);
  EXPECT_EQ(seen.links[1].shapes[0].color, (std::array<double, 4>{0, 1, 0, 1}));
}

TEST(UrdfVisuals, ImpossibleShapesAreNotes) {
  for (const char* geometry :
       {"<box size='1 2'/>", "<box size='1 2 -3'/>", "<box size='1 2 nan'/>", "<sphere radius='0'/>",
        "<sphere/>", "<cylinder radius='1'/>", "<cylinder radius='1e999' length='1'/>", "<teapot/>",
        "<mesh/>", "<mesh filename='x.stl' scale='1 x 1'/>"}) {
    SCOPED_TRACE(geometry);
    const auto seen =
        parse(std::string("<link name='a'><visual><geometry>") + geometry + "</geometry></visual></link>");
    EXPECT_TRUE(seen.links.empty());
    ASSERT_EQ(seen.findings.size(), 1u);
    EXPECT_EQ(seen.findings[0].severity, Finding::Severity::note);
  }
}

class MeshFolder : public ::testing::Test {
 protected:
  MeshFolder() {
    fs::create_directories(root / "arm_description/urdf");
    fs::create_directories(root / "arm_description/meshes");
    std::ofstream(root / "arm_description/meshes/a.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::ofstream(root / "arm_description/urdf/beside.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::ofstream(root / "arm_description/meshes/bad.stl") << "nonsense";
  }
  ~MeshFolder() override { fs::remove_all(root); }
  ModelVisuals read(const std::string& inside) {
    const fs::path file = root / "arm_description/urdf/arm.urdf";
    std::ofstream(file) << robot(inside);
    return read_urdf_visuals(file.string());
  }
  static std::string link(const std::string& name, const std::string& mesh, const std::string& more = "") {
    return "<link name='" + name + "'><visual><geometry><mesh filename='" + mesh +
           "' scale='1 1 -2'/></geometry></visual>" + more + "</link>";
  }
  const fs::path root = fs::temp_directory_path() / ("articula_visuals_" + std::to_string(getpid()));
};

TEST_F(MeshFolder, MeshesAreFoundFromTheFileUpwards) {
  const auto seen = read(link("a", "package://arm_description/meshes/a.obj") +
                         link("b", "package://other_name/meshes/a.obj") + link("c", "beside.obj") +
                         link("d", "../meshes/a.obj") +
                         link("e", "file://" + (root / "arm_description/meshes/a.obj").string()) +
                         link("f", "package://arm_description/meshes/a.obj"));
  EXPECT_TRUE(seen.findings.empty());
  ASSERT_EQ(seen.links.size(), 6u);
  for (const auto& link : seen.links) {
    EXPECT_EQ(link.shapes[0].mesh->corners.size(), 3u) << link.link;
    EXPECT_EQ(link.shapes[0].size.z, -2);
    EXPECT_EQ(link.shapes[0].mesh->name.find('/'), std::string::npos) << "folders are nobody's business";
  }
  EXPECT_EQ(seen.links[0].shapes[0].mesh, seen.links[5].shapes[0].mesh) << "read once";
}

TEST_F(MeshFolder, CollisionSolidsStandInForMissingMeshes) {
  const std::string solid = "<collision><geometry><box size='1 1 1'/></geometry></collision>";
  const auto seen = read(link("a", "package://x/gone.stl", solid) + link("b", "package://x/gone.stl", solid) +
                         link("c", "gone.dae") + link("d", "../meshes/bad.stl", solid) + "<link name='e'>" +
                         solid + "</link>");
  ASSERT_EQ(seen.links.size(), 3u);  // e has no visual at all: its collision shape is not for the eye
  EXPECT_EQ(seen.links[0].shapes[0].kind, ShapeKind::box);
  ASSERT_EQ(seen.findings.size(), 2u);
  EXPECT_NE(seen.findings[0].message.find("bad.stl"), std::string::npos);
  EXPECT_NE(seen.findings[1].message.find("2 mesh files"), std::string::npos) << seen.findings[1].message;
}

/// A model from elsewhere learns nothing of this machine, whatever its meshes are called.
TEST_F(MeshFolder, NothingOutsideTheModelsFolderIsLookedAt) {
  std::ofstream(root / "secret.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  fs::create_directories(root / "other");
  std::ofstream(root / "other/a.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  fs::create_symlink(root / "secret.obj", root / "arm_description/meshes/link.obj");
  const std::string name = root.filename().string();
  for (const std::string& mesh :
       {"file://" + (root / "secret.obj").string(), (root / "secret.obj").string(),
        std::string("../../secret.obj"), "package://" + name + "/secret.obj",
        std::string("package://x/../../secret.obj"), std::string("package://arm_description/../secret.obj"),
        std::string("package://other/a.obj"), std::string("model://x/../../../../../../etc/passwd"),
        std::string("../meshes/link.obj"), std::string("file:///etc/passwd"), std::string("package://"),
        "package://.." + std::string(5000, '/')}) {
    const auto seen = read(link("a", mesh)), absent = read(link("a", "not_there.obj"));
    EXPECT_TRUE(seen.links.empty()) << mesh;
    ASSERT_EQ(seen.findings.size(), 1u) << mesh;
    const std::string& said = seen.findings[0].message;
    EXPECT_EQ(said.substr(0, said.find('\'')), absent.findings[0].message.substr(0, said.find('\'')))
        << "what is there and what is not are told apart";
    if (mesh.find(root.string()) == mesh.npos) EXPECT_EQ(said.find(root.string()), said.npos);
  }
  // A package of that name in a folder above is one that the model may name.
  std::ofstream(root / "other/package.xml") << "<package/>";
  EXPECT_EQ(read(link("a", "package://other/a.obj")).links.size(), 1u);
  EXPECT_TRUE(read(link("a", "package://other/../secret.obj")).links.empty());
}

TEST_F(MeshFolder, DamagedMeshesAreNamedWithoutTheirFolder) {
  const auto seen = read(link("a", "../meshes/bad.stl"));
  ASSERT_EQ(seen.findings.size(), 1u);
  EXPECT_EQ(seen.findings[0].message.find(root.string()), std::string::npos) << seen.findings[0].message;
}

TEST_F(MeshFolder, InstalledByLinks) {
  read(link("a", "package://arm_description/meshes/a.obj"));
  fs::create_directories(root / "share/arm_description/urdf");
  const fs::path file = root / "share/arm_description/urdf/arm.urdf";
  fs::create_symlink(root / "arm_description/urdf/arm.urdf", file);
  EXPECT_EQ(read_urdf_visuals(file.string()).links.size(), 1u);
}

/// Robots; the mechanisms of scenes have none, and are drawn as capsules.
TEST(UrdfVisuals, ShippedRobotsHaveAShapeForMostLinks) {
  int robots = 0;
  for (const auto& entry : fs::directory_iterator(ARTICULA_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".urdf") continue;
    const auto seen = read_urdf_visuals(entry.path().string());
    EXPECT_TRUE(seen.findings.empty()) << entry.path();
    if (seen.links.empty()) continue;
    ++robots;
    EXPECT_GE(2 * seen.links.size(), read_urdf_spec(entry.path().string()).spec.links.size()) << entry.path();
  }
  EXPECT_GE(robots, 7);
}

TEST(UrdfVisuals, MutatedFilesAreReadOrRefused) {
  std::ifstream file(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf");
  const std::string sound{std::istreambuf_iterator<char>(file), {}};
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    Dice dice(i);
    const std::string text = i % 3 == 0 ? mutate_bytes(sound, dice) : mutate_elements(sound, dice);
    try {
      for (const auto& link : parse_urdf_visuals({text, "m.urdf", "."}).links) read += !link.shapes.empty();
    } catch (const ModelError&) {
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace articula::testing
