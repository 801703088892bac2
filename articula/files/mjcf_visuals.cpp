// What MJCF says of its bodies' looks: geoms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/files/mesh_limits.hpp"
#include "articula/files/mjcf.hpp"
#include "articula/files/mjcf_inertia.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace mjcf {

namespace {

constexpr int last_shown_group = 2;

/// A ball of radius one, for ellipsoids.
std::shared_ptr<const TriangleMesh> ball() {
  constexpr int around = 24, down = 12;
  auto mesh = std::make_shared<TriangleMesh>();
  mesh->name = "ball";
  for (int i = 0; i <= down; ++i)
    for (int j = 0; j < around; ++j) {
      const double polar = std::numbers::pi * i / down, turn = 2 * std::numbers::pi * j / around;
      for (const double x :
           {std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar)})
        mesh->points.push_back(float(x));
    }
  for (int i = 0; i < down; ++i)
    for (int j = 0; j < around; ++j) {
      const auto at = [&](int row, int column) { return std::uint32_t(row * around + column % around); };
      mesh->corners.insert(mesh->corners.end(), {at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh->corners.insert(mesh->corners.end(), {at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return mesh;
}

bool numbers_are_zero(const Mat3<double>& m) {
  const double* const x = numbers_of(m);
  return std::all_of(x, x + 9, [](double y) { return y == 0; });
}

class Painter {
 public:
  explicit Painter(const ModelText& model) : files_(model), tree_(read_tree(model, files_)) {}

  ModelVisuals paint() {
    int number = 0;
    for (const BodyItem& body : tree_.bodies) {
      ++number;
      LinkShapes shapes{body.name.empty() ? fmt::format("body{}", number) : body.name, {}};
      for (const Geom& geom : body.geoms)
        if (geom.group <= last_shown_group)
          if (auto shape = shape_of(geom, body.document->compiler))
            shapes.shapes.push_back(std::move(*shape));
      if (!shapes.shapes.empty()) out_.links.push_back(std::move(shapes));
    }
    return std::move(out_);
  }

 private:
  std::optional<Shape> shape_of(const Geom& stated, const Compiler& compiler) {
    const Geom geom =
        stated.mesh && stated.kind != GeomKind::mesh ? fitted(stated, compiler, files_) : stated;
    Shape shape;
    shape.placement = geom.pose;
    shape.color = geom.color;
    if (shape.color)
      for (double& x : *shape.color) x = std::clamp(x, 0.0, 1.0);
    const auto [a, b, c] = geom.size;
    shape.radius = a, shape.length = 2 * b;
    switch (geom.kind) {
      case GeomKind::sphere:
        shape.kind = ShapeKind::sphere;
        return a > 0 ? std::optional(shape) : std::nullopt;
      case GeomKind::capsule:
      case GeomKind::cylinder:
        shape.kind = geom.kind == GeomKind::capsule ? ShapeKind::capsule : ShapeKind::cylinder;
        return a > 0 && b > 0 ? std::optional(shape) : std::nullopt;
      case GeomKind::box:
        shape.size = geom.size * 2;
        return a > 0 && b > 0 && c > 0 ? std::optional(shape) : std::nullopt;
      case GeomKind::ellipsoid:
        shape.kind = ShapeKind::mesh;
        shape.size = geom.size;
        shape.mesh = ball_ ? ball_ : ball_ = ball();
        return a > 0 && b > 0 && c > 0 ? std::optional(shape) : std::nullopt;
      case GeomKind::mesh:
        shape.kind = ShapeKind::mesh;
        if (geom.mesh) shape.mesh = mesh_of(*geom.mesh);
        if (shape.mesh && shape.mesh == geom.mesh->triangles) shape.size = geom.mesh->scale;
        return shape.mesh ? std::optional(shape) : std::nullopt;
      default:
        return {};
    }
  }

  /// With scale, refpos and refquat in its points; as the file has it where only a scale is stated.
  std::shared_ptr<const TriangleMesh> mesh_of(MeshAsset& asset) {
    const auto known = meshes_.find(&asset);
    if (known != meshes_.end()) return known->second;
    std::shared_ptr<const TriangleMesh>& out = meshes_[&asset];
    const TriangleMesh* const triangles = triangles_of(asset, files_);
    corners_ += triangles ? triangles->corners.size() : 0;
    if (!triangles || corners_ > most_corners || triangles->corners.empty()) {
      out_.findings.push_back(
          {Finding::Severity::note, files_.where(*asset.element),
           fmt::format("not drawn: {}", triangles ? "there are no triangles, or too many" : asset.problem)});
      return out;
    }
    const Vec3<double>& at = asset.reference_position;
    const Mat3<double> turn = asset.reference_axes - Mat3<double>::identity();
    if (dot(at, at) == 0 && numbers_are_zero(turn)) return out = asset.triangles;
    auto placed = std::make_shared<TriangleMesh>(TriangleMesh{triangles->name, {}, triangles->corners});
    for (const Vec3<double>& p : placed_points(asset, *triangles))
      for (const double x : {p.x, p.y, p.z}) placed->points.push_back(float(x));
    return out = std::move(placed);
  }

  Files files_;
  Tree tree_;
  ModelVisuals out_;
  std::map<const MeshAsset*, std::shared_ptr<const TriangleMesh>> meshes_;
  std::shared_ptr<const TriangleMesh> ball_;
  std::size_t corners_ = 0;
};

}  // namespace

}  // namespace mjcf

ModelVisuals parse_mjcf_visuals(const ModelText& model) { return mjcf::Painter(model).paint(); }

}  // namespace articula
