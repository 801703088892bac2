#include "articula/files/urdf_visuals.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "articula/error.hpp"
#include "articula/files/mesh_shelf.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace {

using tinyxml2::XMLElement;
using Color = std::array<double, 4>;

/// `count` finite numbers, or nothing.
template <std::size_t count>
std::optional<std::array<double, count>> numbers_of(const char* text) {
  const auto words = words_of(text ? text : "", count);
  if (words.size() != count) return {};
  std::array<double, count> out{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = articula::number_of(words[i]);
    if (!x) return {};
    out[i] = *x;
  }
  return out;
}
std::optional<double> number_in(const char* text) {
  const auto one = numbers_of<1>(text);
  return one ? std::optional((*one)[0]) : std::nullopt;
}

class VisualReader {
 public:
  explicit VisualReader(const ModelText& model) : model_(model), name_(model.name) {}

  ModelVisuals read() {
    tinyxml2::XMLDocument document;
    std::vector<Finding> ignored;  // the model's own reader tells them
    parse_xml(model_.text, name_, document, ignored);
    const XMLElement* robot = document.FirstChildElement("robot");
    if (!robot) throw ModelError(fmt::format("{}:1: there is no <robot>; is this a URDF file?", name_));
    for (auto* m = robot->FirstChildElement("material"); m; m = m->NextSiblingElement("material"))
      if (const char* named = m->Attribute("name"))
        if (const auto color = color_of(*m)) colors_[named] = *color;
    for (auto* link = robot->FirstChildElement("link"); link; link = link->NextSiblingElement("link"))
      if (const char* named = link->Attribute("name")) read_link(*link, named);
    meshes_.report_missing();
    return std::move(out_);
  }

 private:
  void note(int line, std::string message) {
    out_.findings.push_back({Finding::Severity::note, fmt::format("{}:{}", name_, line), std::move(message)});
  }

  void read_link(const XMLElement& link, const char* named) {
    LinkShapes shapes{named, {}};
    bool all = true;
    for (auto* v = link.FirstChildElement("visual"); v; v = v->NextSiblingElement("visual"))
      if (auto shape = read_shape(*v, true))
        shapes.shapes.push_back(std::move(*shape));
      else
        all = false;
    if (shapes.shapes.empty() && !all)
      for (auto* c = link.FirstChildElement("collision"); c; c = c->NextSiblingElement("collision"))
        if (auto shape = read_shape(*c, false)) shapes.shapes.push_back(std::move(*shape));
    if (!shapes.shapes.empty()) out_.links.push_back(std::move(shapes));
  }

  std::optional<Color> color_of(const XMLElement& material) const {
    const XMLElement* color = material.FirstChildElement("color");
    auto rgba = color ? numbers_of<4>(color->Attribute("rgba")) : std::nullopt;
    if (rgba)
      for (double& x : *rgba) x = std::clamp(x, 0.0, 1.0);
    return rgba;
  }

  /// Of a <visual> or <collision>. A material may be stated where it is used and named again elsewhere.
  std::optional<Color> color_in(const XMLElement& owner) {
    const XMLElement* material = owner.FirstChildElement("material");
    if (!material) return {};
    const char* named = material->Attribute("name");
    if (const auto color = color_of(*material)) {
      if (named) colors_.try_emplace(named, *color);
      return color;
    }
    const auto known = named ? colors_.find(named) : colors_.end();
    return known == colors_.end() ? std::nullopt : std::optional(known->second);
  }

  std::optional<Shape> read_shape(const XMLElement& owner, bool with_meshes) {
    const XMLElement* geometry = owner.FirstChildElement("geometry");
    const XMLElement* solid = geometry ? geometry->FirstChildElement() : nullptr;
    if (!solid) return {};
    Shape shape;
    if (const XMLElement* origin = owner.FirstChildElement("origin")) {
      const auto zero = "0 0 0";
      const char *xyz = origin->Attribute("xyz"), *rpy = origin->Attribute("rpy");
      const auto p = numbers_of<3>(xyz ? xyz : zero), turn = numbers_of<3>(rpy ? rpy : zero);
      if (!p || !turn) return wrong(*origin);
      shape.placement = {rotation_from_rpy((*turn)[0], (*turn)[1], (*turn)[2]), {(*p)[0], (*p)[1], (*p)[2]}};
    }
    shape.color = color_in(owner);
    const std::string_view kind = solid->Name();
    if (kind == "mesh") return with_meshes ? read_mesh_shape(*solid, std::move(shape)) : std::nullopt;
    if (kind == "box") return read_box(*solid, std::move(shape));
    shape.radius = number_in(solid->Attribute("radius")).value_or(0);
    shape.length = number_in(solid->Attribute("length")).value_or(0);
    if (!make_round(shape, kind)) return wrong(*solid);
    return shape;
  }

  std::optional<Shape> wrong(const XMLElement& e) {
    note(e.GetLineNum(),
         fmt::format("not drawn: <{:.40}> is not a shape with finite, positive numbers", e.Name()));
    return {};
  }

  std::optional<Shape> read_box(const XMLElement& box, Shape shape) {
    const auto size = numbers_of<3>(box.Attribute("size"));
    if (!size || !std::all_of(size->begin(), size->end(), [](double x) { return x > 0; })) return wrong(box);
    shape.kind = ShapeKind::box;
    shape.size = {(*size)[0], (*size)[1], (*size)[2]};
    return shape;
  }

  std::optional<Shape> read_mesh_shape(const XMLElement& e, Shape shape) {
    const char* file = e.Attribute("filename");
    const char* scale = e.Attribute("scale");
    const auto size = numbers_of<3>(scale ? scale : "1 1 1");
    if (!file || !size) return wrong(e);
    shape.kind = ShapeKind::mesh;
    shape.size = {(*size)[0], (*size)[1], (*size)[2]};
    shape.mesh = meshes_.get(file, model_, fmt::format("{}:{}", name_, e.GetLineNum()));
    return shape.mesh ? std::optional(std::move(shape)) : std::nullopt;
  }

  const ModelText& model_;
  const std::string& name_;
  ModelVisuals out_;
  std::map<std::string, Color> colors_;
  MeshShelf meshes_{out_.findings};
};

}  // namespace

ModelVisuals parse_urdf_visuals(const ModelText& model) { return VisualReader(model).read(); }

ModelVisuals read_urdf_visuals(const std::string& path) {
  return parse_urdf_visuals({content_of(path), path, std::filesystem::path(path).parent_path().string()});
}

}  // namespace articula
