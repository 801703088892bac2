// What a link looks like: simple solids and triangle meshes, placed in the link's axes. For drawing only: the
// dynamics knows nothing of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "articula/spatial/rotation.hpp"

namespace articula {

struct TriangleMesh {
  std::string name;
  std::vector<float> points;           // x y z of each point, metres before scaling
  std::vector<std::uint32_t> corners;  // three points per triangle
  std::string path{};                  // that it was read from; empty: from memory
};

/// What of an OBJ file is taken: all of it, or what MuJoCo takes, the first object, cut into triangles as there.
enum class ObjContent : unsigned char { all, as_mujoco };

/// Reads an STL (text or binary), OBJ, Collada or glTF file, by its ending. Throws ModelError (file, what, expected) if it
/// is something else, larger than 64 MiB, or damaged: points that are not finite, triangles without points.
/// `name` stands for the file in messages.
TriangleMesh read_mesh(const std::string& path, const std::string& name,
                       ObjContent content = ObjContent::all);
/// Reads a mesh from memory; `name` stands for the file in messages and tells the format by its ending.
TriangleMesh parse_mesh(std::string_view bytes, const std::string& name,
                        ObjContent content = ObjContent::all);

enum class ShapeKind : unsigned char { box, cylinder, sphere, capsule, mesh };

/// Cylinders and capsules lie along z; a capsule's length is that of its cylinder, without the caps.
struct Shape {
  ShapeKind kind = ShapeKind::box;
  Pose placement{};               // of its centre, in link axes
  Vec3<double> size{1, 1, 1};     // box: the sides; mesh: the scale
  double radius = 0, length = 0;  // cylinder, sphere, capsule
  std::shared_ptr<const TriangleMesh> mesh{};
  std::optional<std::array<double, 4>> color{};  // red, green, blue, opacity, 0 to 1
};

/// Makes a shape that has its radius and length a sphere, cylinder or capsule, as files call them. False: it is another
/// kind, or the numbers it needs are not positive.
bool make_round(Shape& shape, std::string_view kind);

struct LinkShapes {
  std::string link;
  std::vector<Shape> shapes;
};

/// What files say beside the model; writers leave out what their format has no words for.
struct ModelExtras {
  std::span<const LinkShapes> shapes{};
  std::string folder{};  // of the file that is written: it names those of meshes from there
  std::optional<Vec3<double>> gravity{};
};

}  // namespace articula
