#include "articula/files/write_model.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "articula/error.hpp"
#include "articula/files/collada.hpp"
#include "articula/files/mjcf.hpp"
#include "articula/files/read_model.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"

namespace articula {
namespace {

namespace fs = std::filesystem;

class WrittenModels : public ::testing::Test {
 protected:
  WrittenModels() : folder_(fs::temp_directory_path() / ("articula_written_" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "meshes");
    std::ofstream(folder_ / "meshes" / "m.stl") << "solid m\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 "
                                                   "0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
  }
  ~WrittenModels() override { fs::remove_all(folder_); }

  std::vector<LinkShapes> shapes() const {
    const Pose at{rotation_from_rpy(0.1, -0.2, 0.3), {1, 2, 3}};
    Shape box{.kind = ShapeKind::box, .placement = at, .size = {1, 2, 3}, .color = {{0.1, 0.2, 0.3, 0.5}}};
    Shape ball{.kind = ShapeKind::sphere, .radius = 0.5};
    Shape rod{.kind = ShapeKind::cylinder, .placement = at, .radius = 0.2, .length = 3};
    Shape pill{.kind = ShapeKind::capsule, .radius = 0.3, .length = 2};
    Shape mesh{.kind = ShapeKind::mesh, .placement = at, .size = {1, 1, -2}};
    mesh.mesh = std::make_shared<TriangleMesh>(read_mesh((folder_ / "meshes" / "m.stl").string(), "m.stl"));
    Shape lost{.kind = ShapeKind::mesh};  // of no file
    lost.mesh = std::make_shared<TriangleMesh>(TriangleMesh{"lost", {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}});
    return {{"bob", {box, ball, rod, lost, pill, mesh}}};
  }
  static ModelSpec pendulum() {
    ModelSpec spec;
    spec.name = "pendulum";
    spec.add_link({.name = "stand"});
    spec.add_link({.name = "bob", .mass = {1, {0, 0, -0.5}, {0.01, 0.01, 0.01, 0, 0, 0}}});
    spec.add_joint({.name = "hinge",
                    .kind = JointKind::continuous,
                    .parent = "stand",
                    .child = "bob",
                    .axis = {0, 1, 0}});
    return spec;
  }
  fs::path folder_;
};

TEST_F(WrittenModels, ShapesComeBack) {
  const auto before = shapes();
  for (const ModelWriter& writer : model_writers()) {
    SCOPED_TRACE(writer.name);
    const std::string text = writer.write(pendulum(), {.shapes = before, .folder = folder_.string()});
    const LoadedModel read = read_model(ModelText{text, "m", folder_.string()});
    EXPECT_TRUE(find_problems(read).empty()) << describe(find_problems(read)[0]) << text;
    EXPECT_EQ(read.build().mass(), 1);  // shapes weigh nothing
    const ModelVisuals after = read_visuals(read);
    ASSERT_EQ(after.links.size(), 1u) << text;
    EXPECT_TRUE(after.findings.empty()) << after.findings[0].message;
    EXPECT_EQ(after.links[0].link, "bob");
    ASSERT_EQ(after.links[0].shapes.size(), 5u) << text;  // all but the one of no file
    for (std::size_t i = 0; i < 5; ++i) {
      const Shape &a = before[0].shapes[i < 3 ? i : i + 1], &b = after.links[0].shapes[i];
      EXPECT_EQ(a.kind, b.kind);
      const Vec3<double> apart = a.placement.p - b.placement.p;
      EXPECT_LT(dot(apart, apart), 1e-28);
      const Mat3<double> turn = a.placement.R - b.placement.R;
      EXPECT_LT(std::abs(turn.xx) + std::abs(turn.xy) + std::abs(turn.zx) + std::abs(turn.yz), 1e-14);
      if (a.kind == ShapeKind::box || a.kind == ShapeKind::mesh) EXPECT_EQ(b.size.z, a.size.z);
      if (a.kind == ShapeKind::cylinder || a.kind == ShapeKind::capsule) EXPECT_EQ(b.length, a.length);
      if (a.radius > 0) EXPECT_EQ(b.radius, a.radius);
      EXPECT_EQ(b.color.has_value(), a.color.has_value());
      if (a.color && b.color) EXPECT_EQ(*b.color, *a.color);
    }
    const Shape& mesh = after.links[0].shapes[4];
    EXPECT_TRUE(fs::equivalent(mesh.mesh->path, folder_ / "meshes" / "m.stl"));
    EXPECT_EQ(text.find(folder_.string()), std::string::npos);  // named from the file's own folder
  }
}

TEST_F(WrittenModels, GravityComesBackWhereTheFormatSaysIt) {
  for (const ModelWriter& writer : model_writers()) {
    SCOPED_TRACE(writer.name);
    const std::string text = writer.write(pendulum(), {.gravity = Vec3<double>{1, 0.5, -3}});
    const LoadedModel read = read_model(ModelText{text, "m", ""});
    ASSERT_EQ(read.gravity.has_value(), writer.gravity) << text;
    if (!read.gravity) continue;
    EXPECT_EQ(read.gravity->x, 1);
    EXPECT_EQ(read.gravity->y, 0.5);
    EXPECT_EQ(read.gravity->z, -3);
    EXPECT_EQ(read.build().nv(), 1);
  }
}

/// Bodies nest in MJCF, deeper than the parser of XML goes.
TEST(DeepFiles, ChainsOfAThousandBodies) {
  const ModelSpec chain = make_chain(1000, 3);
  const LoadedModel read = parse_mjcf({write_mjcf(chain), "chain.xml", ""});
  EXPECT_TRUE(read.findings.empty());
  ASSERT_EQ(read.spec.joints.size(), chain.joints.size() + 1);  // the root stands on the world
  for (std::size_t i = 0; i < chain.joints.size(); ++i) {
    const JointSpec &a = chain.joints[i], &b = read.spec.joints[i + 1];
    EXPECT_EQ(b.name, a.name);
    EXPECT_EQ(b.parent, a.parent);
    const Vec3<double> apart = b.placement.p - a.placement.p;
    EXPECT_LT(dot(apart, apart), 1e-28);
  }
}

TEST(DeepFiles, LinesAreThoseOfTheFile) {
  for (const int deep : {50, 89, 90, 91, 500}) {
    std::string text = "<mujoco>\n<worldbody>\n";
    for (int i = 0; i < deep; ++i) text += "<body><!-- <body> -->\n";
    text += "<geom size='x'/>\n";
    for (int i = 0; i < deep; ++i) text += i == deep / 2 ? "\n<geom size='y'/></body>\n" : "</body>\n";
    const LoadedModel read = parse_mjcf({text + "<geom size='z'/></worldbody>\n</mujoco>", "m", ""});
    std::vector<std::string> where;
    for (const Finding& f : read.findings)
      if (f.severity == Finding::Severity::error) where.push_back(f.where);
    const std::string x = "m:" + std::to_string(deep + 3), y = "m:" + std::to_string(deep + 3 + deep / 2 + 2),
                      z = "m:" + std::to_string(2 * deep + 5);
    for (const std::string& line : {x, y, z})
      EXPECT_NE(std::find(where.begin(), where.end(), line), where.end()) << deep << " " << line;
  }
}

TEST(DeepFiles, OfEveryFormat) {
  const auto nested = [](int deep, const std::string& open, const std::string& inside,
                         const std::string& close) {
    std::string text;
    for (int i = 0; i < deep; ++i) text += open + "\n";
    text += inside;
    for (int i = 0; i < deep; ++i) text += close;
    return text;
  };
  // URDF does not nest; what other programs keep in it does, and the link after it is still read, lines and all.
  const LoadedModel robot =
      parse_urdf_spec("<robot name='r'><link name='a'/>\n" + nested(1500, "<gazebo>", "<x/>", "</gazebo>") +
                          "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n<axis xyz='0 "
                          "0 oops'/></joint>"
                          "<link name='b'/></robot>",
                      "r.urdf");
  EXPECT_EQ(robot.spec.links.size(), 2u);
  ASSERT_FALSE(robot.findings.empty());
  EXPECT_EQ(robot.findings[0].where, "r.urdf:1503");
  // Models in models, with a joint in the innermost: names, placements and lines.
  const std::string inside =
      "<link name='l'><pose>0 0 0 0 0 0</pose></link><link name='m'/>\n<joint name='j' type='revolute'>"
      "<parent>l</parent><child>m</child><axis><xyz>0 0 0</xyz></axis></joint>";
  const LoadedModel models = read_model(
      ModelText{"<sdf version='1.8'>" +
                    nested(150, "<model name='n'><pose>1 0 0 0 0 0</pose>", inside, "</model>") + "</sdf>",
                "m.sdf", ""});
  bool told = false;
  for (const Finding& f : models.findings) told |= f.where == "m.sdf:152";
  EXPECT_TRUE(told);
  // Nodes of a mesh, each a metre further.
  const std::string mesh =
      "<COLLADA><library_geometries><geometry id='g'><mesh><source id='s'><float_array id='f' "
      "count='9'>0 0 0 1 0 0 0 1 0</float_array></source><vertices id='v'><input "
      "semantic='POSITION' source='#s'/></vertices><triangles><input semantic='VERTEX' "
      "source='#v' offset='0'/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>"
      "<library_visual_scenes><visual_scene>" +
      nested(700, "<node><translate>1 0 0</translate>", "<instance_geometry url='#g'/>", "</node>") +
      "</visual_scene></library_visual_scenes></COLLADA>";
  EXPECT_EQ(parse_collada(mesh, "deep.dae").points[3], 701);
}

TEST(DeepFiles, TooDeepIsAnError) {
  const auto says = [](const std::string& top, int deep, const std::string& tag, const char* what) {
    std::string text = "<" + top + ">";
    for (int i = 0; i < deep; ++i) text += "<" + tag + ">";
    for (int i = 0; i < deep; ++i) text += "</" + tag + ">";
    try {
      read_model(ModelText{text + "</" + top + ">", "m", ""});
      ADD_FAILURE() << top << deep;
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  for (const int deep : {3000, 1000000}) {
    says("mujoco", deep, "body", "nested more than 2000 deep");
    says("robot", deep, "link", "nested more than 2000 deep");
    says("sdf", deep, "model", "nested more than 2000 deep");
  }
  says("mujoco><worldbody", 150, "body></body", "not well-formed");
  // A name of the file's own that looks like a mark of ours.
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 120; ++i) text += "<body><articula:below piece='1'/>";
  for (int i = 0; i < 120; ++i) text += "</body>";
  EXPECT_NO_THROW(parse_mjcf({text + "</worldbody></mujoco>", "m", ""}));
}

}  // namespace
}  // namespace articula
