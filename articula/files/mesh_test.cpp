#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "articula/error.hpp"
#include "articula/files/shapes.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

/// 84 bytes of head, 50 for each triangle.
std::string binary_stl(const std::vector<std::array<float, 9>>& triangles,
                       const std::string& head = "binary") {
  std::string out(80, ' ');
  out.replace(0, head.size(), head);
  const auto count = static_cast<std::uint32_t>(triangles.size());
  const auto add = [&](const void* data, std::size_t size) {
    out.append(static_cast<const char*>(data), size);
  };
  add(&count, 4);
  for (const auto& t : triangles) {
    const float normal[3] = {};
    add(normal, 12);
    add(t.data(), 36);
    out.append(2, '\0');
  }
  return out;
}

TEST(Mesh, BinaryStlSharesEqualPoints) {
  const std::string bytes = binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 1, 0}});
  const TriangleMesh mesh = parse_mesh(bytes, "square.STL");
  EXPECT_EQ(mesh.points, (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(mesh.corners, (std::vector<std::uint32_t>{0, 1, 2, 1, 3, 2}));
}

TEST(Mesh, BinaryStlMayBeginLikeText) {
  EXPECT_EQ(parse_mesh(binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}}, "solid thing"), "a.stl").corners.size(), 3u);
}

TEST(Mesh, TextStl) {
  const TriangleMesh mesh = parse_mesh(
      "solid x\r\n facet normal 0 0 1\r\n  outer loop\r\n   vertex 0 0 0\r\n   vertex +1e0 0 0\r\n   vertex "
      "0 2.5 "
      "1e-60\r\n  endloop\r\n endfacet\r\nendsolid x\r\n",
      "t.stl");
  EXPECT_EQ(mesh.points, (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 2.5f, 0}));
}

TEST(Mesh, ObjWithPolygonsAndIndicesFromTheEnd) {
  const TriangleMesh mesh = parse_mesh(
      "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0 1.0\nvn 0 0 1\nf 1/1/1 2//1 3 4\nf -4 -3 -2\n",
      "s.obj");
  EXPECT_EQ(mesh.corners, (std::vector<std::uint32_t>{0, 1, 3, 1, 2, 3, 0, 1, 2}));
  EXPECT_EQ(mesh.points.size(), 12u);
}

TEST(Mesh, OfObjFilesMujocoTakesTheFirstObject) {
  const std::string text = "o a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\no b\nf 1 3 4\n";
  EXPECT_EQ(parse_mesh(text, "s.obj").corners.size(), 6u);
  EXPECT_EQ(parse_mesh(text, "s.obj", ObjContent::as_mujoco).corners, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Mesh, DamagedFilesAreRefusedWithTheirName) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string whole = binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}});
  const std::pair<std::string, std::string> bad[] = {
      {"", "a.stl"},
      {whole.substr(0, whole.size() - 1), "cut.stl"},
      {binary_stl({}), "none.stl"},
      {binary_stl({{nan, 0, 0, 1, 0, 0, 0, 1, 0}}), "nan.stl"},
      {"solid\nfacet\nvertex 0 0 0\nvertex 0 0 1\nendfacet\n", "two.stl"},
      {"solid\nvertex 0 zero 0\n", "word.stl"},
      {"solid\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 inf\n", "inf.stl"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "beyond.obj"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "zero.obj"},
      {"v 0 0 0\nf 1 -2 -99999999999999999999 1\n", "huge.obj"},
      {"v 0 0\n", "short.obj"},
      {"<COLLADA/>", "arm.dae"},
      {"", "nothing"},
  };
  for (const auto& [bytes, name] : bad) {
    SCOPED_TRACE(name);
    try {
      parse_mesh(bytes, name);
      FAIL() << "was taken";
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST(Mesh, RandomBytesNeverCrash) {
  Rng rng(5);
  const std::string seeds[] = {binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 1, 0}}),
                               "solid\nfacet\nvertex 0 0 0\nvertex 0 0 1\nvertex 1 0 0\nendfacet\n",
                               "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/2/3 2 -1\n"};
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = seeds[i % 3];
    for (int k = rng.integer(1, 4); k > 0; --k) {
      const auto at = static_cast<std::size_t>(rng.integer(0, static_cast<int>(bytes.size()) - 1));
      if (rng.chance(0.2))
        bytes.resize(at + 1);
      else
        bytes[at] = static_cast<char>(rng.bits());
    }
    try {
      const TriangleMesh mesh = parse_mesh(bytes, i % 3 == 2 ? "x.obj" : "x.stl");
      for (const auto corner : mesh.corners) ASSERT_LT(3 * std::size_t(corner), mesh.points.size());
    } catch (const ModelError&) {
    }
  }
}

TEST(Mesh, WhatIsNoFileIsRefused) {
  EXPECT_THROW(read_mesh("no/such/file.stl", "file.stl"), ModelError);
  EXPECT_THROW(read_mesh("/dev/zero", "zero"), ModelError);
  EXPECT_THROW(read_mesh(std::filesystem::temp_directory_path().string(), "folder"), ModelError);
}

}  // namespace
}  // namespace articula::testing
