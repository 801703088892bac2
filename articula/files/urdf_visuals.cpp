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

/// A file, and the folder that it must be below: a model from elsewhere does not get to look around.
struct Place {
  fs::path file, root;
};

bool is_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "package.xml", ignored) || fs::exists(folder / "model.config", ignored);
}

/// The folder that a model's files are below: its own, or the package that this is in; failing that the first
/// of two above it that holds a folder of meshes.
fs::path root_of(const fs::path& folder) {
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
    if (is_package(at)) return at;
  std::error_code ignored;
  fs::path at = folder;
  for (int up = 0; up < 3 && at.has_relative_path(); ++up, at = at.parent_path())
    if (fs::is_directory(at / "meshes", ignored)) return at;
  return folder;
}

/// Where a mesh's file may be: its name as it stands; for package://NAME/REST both NAME/REST and REST in the
/// model's root, and REST in a package NAME that is in a folder above the model's.
void append_places(std::string_view name, const fs::path& folder, std::vector<Place>& out) {
  constexpr std::string_view package = "package://", model = "model://", file = "file://";
  const fs::path root = root_of(folder);
  if (!name.starts_with(package) && !name.starts_with(model)) {
    if (name.starts_with(file)) name.remove_prefix(file.size());
    return out.push_back({folder / fs::path(name), root});
  }
  const std::string_view both = name.substr(name.find("://") + 3);
  const std::size_t slash = std::min(both.find('/'), both.size());
  const fs::path named = both.substr(0, slash), rest = both.substr(std::min(slash + 1, both.size()));
  for (const fs::path& at : {folder, root}) {
    out.push_back({at / named / rest, root});
    out.push_back({at / rest, root});
  }
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
    if (!named.empty() && is_package(at / named)) out.push_back({at / named / rest, at / named});
}

/// The file itself, with links followed, if it is one and below its root.
std::optional<fs::path> found_at(const Place& place) {
  std::error_code error;
  const fs::path file = fs::canonical(place.file, error);
  if (error || !fs::is_regular_file(file, error)) return {};
  const fs::path root = fs::canonical(place.root, error);
  if (error || std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first != root.end())
    return {};
  return file;
}

class Reader {
 public:
  Reader(const std::string& name, std::vector<fs::path> folders)
      : name_(name), folders_(std::move(folders)) {}

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
    std::vector<Place> places;
    for (const fs::path& folder : folders_) append_places(file, folder, places);
    std::optional<fs::path> found;
    for (std::size_t i = 0; i < places.size() && !found; ++i) found = found_at(places[i]);
    if (!found) {
      if (missing_++ == 0) first_missing_ = {line, file};
    } else {
      try {
        // A page is passed on: it need not tell of folders.
        auto read = std::make_shared<TriangleMesh>(read_mesh(found->string(), found->filename().string()));
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
      note(
          first_missing_.first,
          fmt::format("{} mesh file{} not found below the model's folder and its packages, '{:.80}'{}: drawn "
                      "from collision shapes or the links' own geometry",
                      missing_, missing_ == 1 ? " was" : "s were", first_missing_.second,
                      missing_ == 1 ? "" : " the first"));
  }

  const std::string& name_;
  std::vector<fs::path> folders_;
  UrdfVisuals out_;
  std::map<std::string, Color> colors_;
  std::map<std::string, std::shared_ptr<const TriangleMesh>> meshes_;
  std::size_t corners_ = 0;
  int missing_ = 0;
  std::pair<int, std::string> first_missing_;
};

fs::path whole_path(const fs::path& folder) {
  std::error_code ignored;
  const fs::path from = fs::absolute(folder.empty() ? "." : folder, ignored).lexically_normal();
  return from.has_filename() ? from : from.parent_path();
}

}  // namespace

UrdfVisuals parse_urdf_visuals(std::string_view text, const std::string& name, const std::string& folder) {
  return Reader(name, {whole_path(folder)}).read(text);
}

UrdfVisuals read_urdf_visuals(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ModelError(fmt::format("{}: cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<fs::path> folders{whole_path(fs::path(path).parent_path())};
  // Of files that are installed as links, meshes stand beside the one that the link leads to.
  std::error_code error;
  if (const fs::path real = fs::canonical(path, error).parent_path(); !error && real != folders[0])
    folders.push_back(real);
  return Reader(path, std::move(folders)).read(text);
}

}  // namespace articula
