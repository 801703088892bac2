#include "articula/files/urdf_visuals.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "articula/error.hpp"

namespace articula {

namespace {

namespace fs = std::filesystem;
using tinyxml2::XMLElement;
using Color = std::array<double, 4>;

constexpr std::size_t most_corners = 6'000'000;  // of all meshes together: two million triangles
constexpr std::string_view spaces = " \t\r\n\f\v";

/// `count` finite numbers, or nothing.
template <std::size_t count>
std::optional<std::array<double, count>> numbers_of(const char* text) {
  if (!text) return {};
  std::array<double, count> out{};
  std::string_view rest = text;
  for (double& x : out) {
    rest.remove_prefix(std::min(rest.find_first_not_of(spaces), rest.size()));
    if (rest.starts_with('+')) rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), x);
    if (error != std::errc() || !std::isfinite(x)) return {};
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (rest.find_first_not_of(spaces) != rest.npos) return {};
  return out;
}
std::optional<double> number_of(const char* text) {
  const auto one = numbers_of<1>(text);
  return one ? std::optional((*one)[0]) : std::nullopt;
}

/// Where a mesh's file may be: its name as it stands, or for package://NAME/REST every NAME/REST and REST
/// from the model's folder up to the root.
std::vector<fs::path> candidates(std::string_view name, const fs::path& folder) {
  constexpr std::string_view package = "package://", model = "model://", file = "file://";
  if (name.starts_with(file)) return {fs::path(name.substr(file.size()))};
  const bool packaged = name.starts_with(package) || name.starts_with(model);
  if (!packaged) return {folder / fs::path(name)};
  const std::string_view rest = name.substr(name.find("://") + 3);
  const std::size_t slash = rest.find('/');
  std::vector<fs::path> out;
  for (fs::path at = folder;; at = at.parent_path()) {
    out.push_back(at / fs::path(rest));
    if (slash != rest.npos) out.push_back(at / fs::path(rest.substr(slash + 1)));
    if (!at.has_relative_path()) return out;
  }
}

class Reader {
 public:
  Reader(const std::string& name, fs::path folder) : name_(name), folder_(std::move(folder)) {}

  UrdfVisuals read(std::string_view text) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS)
      throw ModelError(
          fmt::format("{}:{}: this is not well-formed XML", name_, std::max(1, document.ErrorLineNum())));
    const XMLElement* robot = document.FirstChildElement("robot");
    if (!robot) throw ModelError(fmt::format("{}:1: there is no <robot>; is this a URDF file?", name_));
    for (auto* m = robot->FirstChildElement("material"); m; m = m->NextSiblingElement("material"))
      if (const char* named = m->Attribute("name"))
        if (const auto color = color_of(*m)) colors_[named] = *color;
    for (auto* link = robot->FirstChildElement("link"); link; link = link->NextSiblingElement("link"))
      if (const char* named = link->Attribute("name")) read_link(*link, named);
    report_meshes();
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
    shape.radius = number_of(solid->Attribute("radius")).value_or(0);
    shape.length = number_of(solid->Attribute("length")).value_or(0);
    if (kind == "sphere")
      shape.kind = ShapeKind::sphere;
    else if (kind == "cylinder")
      shape.kind = ShapeKind::cylinder;
    else if (kind == "capsule")
      shape.kind = ShapeKind::capsule;
    else
      return wrong(*solid);
    if (!(shape.radius > 0) || (shape.kind != ShapeKind::sphere && !(shape.length > 0))) return wrong(*solid);
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
    shape.mesh = mesh_of(file, e.GetLineNum());
    return shape.mesh ? std::optional(std::move(shape)) : std::nullopt;
  }

  std::shared_ptr<const TriangleMesh> mesh_of(const std::string& file, int line) {
    const auto known = meshes_.find(file);
    if (known != meshes_.end()) return known->second;
    std::shared_ptr<const TriangleMesh> mesh;
    std::error_code ignored;
    const auto paths = candidates(file, folder_);
    const auto found = std::find_if(paths.begin(), paths.end(),
                                    [&](const fs::path& path) { return fs::is_regular_file(path, ignored); });
    if (found == paths.end()) {
      if (missing_++ == 0) first_missing_ = {line, file};
    } else {
      try {
        auto read = std::make_shared<TriangleMesh>(read_mesh(found->string()));
        read->name = found->filename().string();  // a page is passed on: it need not tell of folders
        corners_ += read->corners.size();
        if (corners_ <= most_corners)
          mesh = std::move(read);
        else
          note(line, fmt::format("not drawn: with mesh '{:.80}' there are more than {} triangles", file,
                                 most_corners / 3));
      } catch (const ModelError& error) {
        note(line, fmt::format("not drawn: {}", error.what()));
      }
    }
    return meshes_[file] = mesh;
  }

  void report_meshes() {
    if (missing_)
      note(first_missing_.first,
           fmt::format("{} mesh file{} not found, '{:.80}'{}: drawn from collision shapes or the links' own "
                       "geometry",
                       missing_, missing_ == 1 ? " was" : "s were", first_missing_.second,
                       missing_ == 1 ? "" : " the first"));
  }

  const std::string& name_;
  fs::path folder_;
  UrdfVisuals out_;
  std::map<std::string, Color> colors_;
  std::map<std::string, std::shared_ptr<const TriangleMesh>> meshes_;
  std::size_t corners_ = 0;
  int missing_ = 0;
  std::pair<int, std::string> first_missing_;
};

}  // namespace

UrdfVisuals parse_urdf_visuals(std::string_view text, const std::string& name, const std::string& folder) {
  std::error_code ignored;
  fs::path from = fs::absolute(folder.empty() ? "." : folder, ignored).lexically_normal();
  if (!from.has_filename()) from = from.parent_path();
  return Reader(name, from).read(text);
}

UrdfVisuals read_urdf_visuals(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ModelError(fmt::format("{}: cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_urdf_visuals(text, path, fs::path(path).parent_path().string());
}

}  // namespace articula
