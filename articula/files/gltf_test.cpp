#include "articula/files/gltf.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "articula/error.hpp"

namespace articula {
namespace {

/// A triangle (0 0 0), (1 0 0), (0 2 0) and its indices.
std::string data() {
  const float points[] = {0, 0, 0, 1, 0, 0, 0, 2, 0};
  const std::uint16_t corners[] = {0, 1, 2, 0};
  std::string out(sizeof points + sizeof corners, ' ');
  std::memcpy(out.data(), points, sizeof points);
  std::memcpy(out.data() + sizeof points, corners, sizeof corners);
  return out;
}
std::string text(const std::string& buffer, const std::string& nodes, const std::string& more = "") {
  return R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": )" + nodes +
         R"(, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                  {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
    "buffers": [)" +
         buffer + "]" + more + "}";
}
const std::string file_buffer = R"({"uri": "d.bin", "byteLength": 44})", plain = R"([{"mesh": 0}])";
const ReadBeside beside = [](const std::string& file) {
  return file == "d.bin" ? std::optional(data()) : std::nullopt;
};

TEST(Gltf, UpIsZ) {
  const TriangleMesh mesh = parse_gltf(text(file_buffer, plain), "m.gltf", beside);
  EXPECT_EQ(mesh.corners, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(mesh.points, (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 0, 2}));
}

TEST(Gltf, NodesPlaceThem) {
  const TriangleMesh mesh =
      parse_gltf(text(file_buffer, R"([{"translation": [0, 0, 1], "scale": [2, 2, 2], "children": [1]},
                           {"mesh": 0, "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]}])"),
                 "m.gltf", beside);
  // (1 0 0): turned to y, moved by 5 x, doubled, moved by z, then y up.
  ASSERT_EQ(mesh.points.size(), 9u);
  EXPECT_EQ(mesh.points[3], 10);
  EXPECT_EQ(mesh.points[4], -1);
  EXPECT_EQ(mesh.points[5], 2);
}

TEST(Gltf, DataInTheFileItself) {
  const TriangleMesh in_text = parse_gltf(
      text(
          R"({"uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAAAAAAABAAIAAAA="})",
          plain),
      "m.gltf");
  EXPECT_EQ(in_text.points, (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 0, 2}));
  std::string json = text("{}", plain), bytes = "glTF";
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const auto word = [&](std::uint32_t x) { bytes.append(reinterpret_cast<const char*>(&x), 4); };
  word(2), word(0), word(std::uint32_t(json.size())), word(0x4E4F534A);
  bytes += json;
  word(std::uint32_t(data().size())), word(0x004E4942);
  bytes += data();
  EXPECT_EQ(parse_mesh(bytes, "m.GLB").points, in_text.points);
  EXPECT_THROW(parse_gltf(bytes.substr(0, bytes.size() - 9), "m.glb"), ModelError);
}

TEST(Gltf, WhatIsWrongIsSaid) {
  const auto says = [](const std::string& json, const char* what) {
    try {
      parse_gltf(json, "m.gltf", beside);
      ADD_FAILURE() << what;
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with("m.gltf")) << error.what();
    }
  };
  for (const char* file : {"../d.bin", "/etc/passwd", "file:d.bin", "", "other.bin"})
    says(text(std::string(R"({"uri": ")") + file + "\"}", plain), "is no file in the same folder");
  says(text(file_buffer, R"([{"children": [0]}])"), "too deep");
  says(text(file_buffer, R"([{"mesh": 7}])"), "what is not there among \"meshes\"");
  says(text(file_buffer, plain, R"(, "extensionsRequired": ["KHR_draco_mesh_compression"])"), "KHR_draco");
  says(text(R"({"uri": "data:,AAAA"})", plain), "beyond its buffer");
  says("[]", "is not glTF");
}

}  // namespace
}  // namespace articula
