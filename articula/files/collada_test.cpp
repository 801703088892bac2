#include "articula/files/collada.hpp"

#include <gtest/gtest.h>

#include <set>

#include "articula/error.hpp"

namespace articula {
namespace {

std::string file(const std::string& faces, const std::string& scene, const std::string& asset = "") {
  return "<COLLADA>" + asset +
         R"(<library_geometries><geometry id="g"><mesh><source id="s"><float_array count="12">0 0 0 1 0 0 1 1 0 0 1 0
    </float_array></source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices>)" +
         faces +
         "</mesh></geometry></library_geometries><library_nodes><node id='n'><instance_geometry "
         "url='#g'/></node>" +
         "</library_nodes>" +
         (scene.empty()
              ? ""
              : "<library_visual_scenes><visual_scene>" + scene + "</visual_scene></library_visual_scenes>") +
         "</COLLADA>";
}
const std::string square =
    "<polylist><input semantic='VERTEX' source='#v' offset='1'/><input semantic='NORMAL' offset='0'/>"
    "<vcount>4</vcount><p>9 0 9 1 9 2 9 3</p></polylist>";

TEST(Collada, FacesOfEveryKind) {
  const std::string input = "<input semantic='VERTEX' source='#v' offset='0'/>";
  for (const std::string& faces : {square, "<triangles>" + input + "<p>0 1 2 0 2 3</p></triangles>",
                                   "<polygons>" + input + "<p>0 1 2 3</p></polygons>",
                                   "<trifans>" + input + "<p>0 1 2 3</p></trifans>"}) {
    const TriangleMesh mesh = parse_mesh(file(faces, ""), "m.DAE");
    EXPECT_EQ(mesh.corners, (std::vector<std::uint32_t>{0, 1, 2, 0, 2, 3})) << faces;
    EXPECT_EQ(mesh.points.size(), 12u);
    EXPECT_EQ(mesh.points[3], 1);
  }
}

TEST(Collada, NodesPlaceThem) {
  const TriangleMesh mesh = parse_collada(
      file(square,
           "<node><translate>0 0 1</translate><rotate>0 0 1 90</rotate><scale>2 2 "
           "2</scale><instance_geometry url='#g'/>"
           "<node><matrix>1 0 0 0 0 1 0 0 0 0 1 3 0 0 0 1</matrix><instance_node url='#n'/></node></node>",
           "<asset><unit meter='0.1'/></asset>"),
      "m.dae");
  ASSERT_EQ(mesh.points.size(), 24u);
  ASSERT_EQ(mesh.corners.size(), 12u);
  EXPECT_NEAR(mesh.points[3], 0, 1e-7);  // (1, 0, 0), twice as large, turned, lifted, in tenths of a metre
  EXPECT_NEAR(mesh.points[4], 0.2, 1e-7);
  EXPECT_NEAR(mesh.points[5], 0.1, 1e-7);
  EXPECT_NEAR(mesh.points[12 + 5], 0.7, 1e-7);
  EXPECT_EQ(mesh.corners[6], 4u);
}

TEST(Collada, WhatIsRefused) {
  const auto told = [](const std::string& text) -> std::string {
    try {
      parse_mesh(text, "m.dae");
    } catch (const ModelError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(told("<x/>").find("m.dae:1: the top element is not <COLLADA>"), std::string::npos);
  EXPECT_NE(told("not xml").find("m.dae:1"), std::string::npos);
  EXPECT_NE(told(file(square, "<node><instance_geometry url='#x'/></node>")).find("no geometry"),
            std::string::npos);
  EXPECT_NE(told(file(square, "<node><matrix>1 2</matrix></node>")).find("expected 16"), std::string::npos);
  EXPECT_NE(told(file("<triangles><input semantic='VERTEX' offset='0'/><p>0 1 4</p></triangles>", ""))
                .find("a point that there is not"),
            std::string::npos);
  EXPECT_NE(told(file("<triangles><p>0 1 -2</p></triangles>", "")).find("no number"), std::string::npos);
  EXPECT_NE(told(file("<polylist><vcount>9</vcount><p>0 1 2</p></polylist>", "")).find("<vcount>"),
            std::string::npos);
  EXPECT_NE(told(file("", "")).find("no triangles"), std::string::npos);
  // Nodes that stand in each other.
  EXPECT_NE(told("<COLLADA><library_nodes><node id='n'><instance_node "
                 "url='#n'/></node></library_nodes><library_visual_scenes>"
                 "<visual_scene><node><instance_node "
                 "url='#n'/></node></visual_scene></library_visual_scenes></COLLADA>")
                .find("deep"),
            std::string::npos);
}

}  // namespace
}  // namespace articula
