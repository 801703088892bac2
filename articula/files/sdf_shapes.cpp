// Shapes of SDF files: for drawing, and for inertias that are to come from them.
#include "articula/files/sdf_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "articula/files/mesh_shelf.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/sdf_tree.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace sdf {

namespace {

using Element = tinyxml2::XMLElement;
using std::numbers::pi;

/// The numbers in an element, up to `most`; none if one of them is no number.
std::vector<double> numbers_of(const Element* e, std::size_t most) {
  const char* const text = e ? e->GetText() : nullptr;
  std::vector<double> out;
  for (const std::string_view word : words_of(text ? text : "", most)) {
    const auto number = number_of(word);
    if (!number) return {};
    out.push_back(*number);
  }
  return out;
}
double number_of_child(const Element& e, const char* name) {
  const auto x = numbers_of(e.FirstChildElement(name), 1);
  return x.size() == 1 ? x[0] : 0;
}

std::optional<Pose> pose_of_shape(const Element& owner) {
  const auto x = numbers_of(owner.FirstChildElement("pose"), 6);
  if (x.empty()) return Pose{};
  if (x.size() != 6) return {};
  return Pose{rotation_from_rpy(x[3], x[4], x[5]), {x[0], x[1], x[2]}};
}

std::optional<std::array<double, 4>> color_of(const Element& visual) {
  const Element* const material = visual.FirstChildElement("material");
  auto x = material ? numbers_of(material->FirstChildElement("diffuse"), 4) : std::vector<double>{};
  if (x.size() == 3) x.push_back(1);
  if (x.size() != 4) return {};
  for (double& c : x) c = std::clamp(c, 0.0, 1.0);
  return std::array{x[0], x[1], x[2], x[3]};
}

}  // namespace

std::optional<Shape> shape_in(const Element* geometry) {
  const Element* const e = geometry ? geometry->FirstChildElement() : nullptr;
  if (!e) return {};
  const std::string_view kind = e->Name();
  Shape shape;
  shape.radius = number_of_child(*e, "radius");
  shape.length = number_of_child(*e, "length");
  if (kind == "box") {
    const auto size = numbers_of(e->FirstChildElement("size"), 3);
    if (size.size() != 3 || !std::all_of(size.begin(), size.end(), [](double x) { return x > 0; })) return {};
    shape.kind = ShapeKind::box;
    shape.size = {size[0], size[1], size[2]};
    return shape;
  }
  if (!make_round(shape, kind)) return {};
  return shape;
}

std::optional<MassProperties> solid_mass(const Shape& shape, double density) {
  const double r = shape.radius, l = shape.length, rr = r * r;
  const Vec3<double>& s = shape.size;
  MassProperties out;
  const auto set = [&](double mass, double xx, double yy, double zz) {
    out.mass = mass;
    out.inertia = {xx, yy, zz, 0, 0, 0};
  };
  const double cylinder = density * pi * rr * l, ball = density * pi * rr * r * 4 / 3;
  switch (shape.kind) {
    case ShapeKind::box: {
      const double m = density * s.x * s.y * s.z;
      set(m, m * (s.y * s.y + s.z * s.z) / 12, m * (s.x * s.x + s.z * s.z) / 12,
          m * (s.x * s.x + s.y * s.y) / 12);
      break;
    }
    case ShapeKind::sphere:
      set(ball, 0.4 * ball * rr, 0.4 * ball * rr, 0.4 * ball * rr);
      break;
    case ShapeKind::cylinder:
      set(cylinder, cylinder * (3 * rr + l * l) / 12, cylinder * (3 * rr + l * l) / 12, cylinder * rr / 2);
      break;
    case ShapeKind::capsule: {  // a cylinder and two half balls, whose mass centres are 3/8 r beyond its ends
      const double across = cylinder * (3 * rr + l * l) / 12 + ball * (0.4 * rr + l * l / 4 + 0.375 * l * r);
      set(cylinder + ball, across, across, cylinder * rr / 2 + 0.4 * ball * rr);
      break;
    }
    default:
      return {};
  }
  return out;
}

namespace {

class Visuals {
 public:
  ModelVisuals read(const ModelText& text) {
    const Document document = parse(text);
    add(document.world, document.world.models.size() > 1);
    meshes_.report_missing();
    return std::move(out_);
  }

 private:
  void add(const Model& model, bool names_models) {
    const std::string before = prefix_;
    for (const Link& link : model.links) add(link);
    for (const Model& nested : model.models) {
      prefix_ = names_models ? before + nested.name + "::" : before;
      add(nested, true);
    }
    prefix_ = before;
  }

  void add(const Link& link) {
    LinkShapes shapes{prefix_ + link.name, {}};
    bool all = true;
    for (auto* v = link.element->FirstChildElement("visual"); v; v = v->NextSiblingElement("visual"))
      if (auto shape = read_shape(*v, link, true))
        shapes.shapes.push_back(std::move(*shape));
      else
        all = false;
    if (shapes.shapes.empty() && !all)
      for (auto* c = link.element->FirstChildElement("collision"); c; c = c->NextSiblingElement("collision"))
        if (auto shape = read_shape(*c, link, false)) shapes.shapes.push_back(std::move(*shape));
    if (!shapes.shapes.empty()) out_.links.push_back(std::move(shapes));
  }

  std::optional<Shape> read_shape(const Element& owner, const Link& link, bool with_meshes) {
    const Element* const geometry = owner.FirstChildElement("geometry");
    const Element* const mesh = geometry ? geometry->FirstChildElement("mesh") : nullptr;
    const std::string where = fmt::format("{}:{}", link.file->name, owner.GetLineNum());
    std::optional<Shape> shape;
    if (mesh && with_meshes)
      shape = read_mesh_shape(*mesh, link, where);
    else if (!mesh)
      shape = shape_in(geometry);
    const auto pose = pose_of_shape(owner);
    if ((!shape && !mesh) || !pose) {
      const char* const kind =
          geometry && geometry->FirstChildElement() ? geometry->FirstChildElement()->Name() : "";
      out_.findings.push_back(
          {Finding::Severity::note, where,
           fmt::format("not drawn: <{:.40}> is not a shape that is drawn, or has no finite, "
                       "positive numbers",
                       kind)});
      return {};
    }
    if (!shape) return {};
    shape->placement = *pose;
    shape->color = color_of(owner);
    return shape;
  }

  std::optional<Shape> read_mesh_shape(const Element& mesh, const Link& link, const std::string& where) {
    const Element* const uri = mesh.FirstChildElement("uri");
    const auto scale = numbers_of(mesh.FirstChildElement("scale"), 3);
    Shape shape;
    shape.kind = ShapeKind::mesh;
    if (scale.size() == 3) shape.size = {scale[0], scale[1], scale[2]};
    const auto words = words_of(uri && uri->GetText() ? uri->GetText() : "", 1);
    if (words.empty()) return {};
    shape.mesh = meshes_.get(std::string(words[0]), *link.file, where);
    return shape.mesh ? std::optional(std::move(shape)) : std::nullopt;
  }

  ModelVisuals out_;
  MeshShelf meshes_{out_.findings};
  std::string prefix_;
};

}  // namespace
}  // namespace sdf

ModelVisuals parse_sdf_visuals(const ModelText& text) { return sdf::Visuals().read(text); }

}  // namespace articula
