#include "articula/files/collada.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <charconv>
#include <cmath>
#include <map>
#include <numbers>

#include "articula/error.hpp"
#include "articula/files/affine.hpp"
#include "articula/files/mesh_limits.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace {

using tinyxml2::XMLElement;
using V3 = Vec3<double>;

constexpr int deepest_collada_node = 1000;  // of nodes in nodes

class ColladaReader {
 public:
  explicit ColladaReader(const std::string& name) : name_(name) { out_.name = name; }

  TriangleMesh read(std::string_view text) {
    tinyxml2::XMLDocument document;
    std::vector<Finding> ignored;
    parse_xml(text, name_, document, ignored);
    const XMLElement* const root = document.FirstChildElement("COLLADA");
    if (!root) refuse(*document.RootElement(), "the top element is not <COLLADA>");
    for (auto* library = root->FirstChildElement(); library; library = library->NextSiblingElement())
      for (auto* e = library->FirstChildElement(); e; e = e->NextSiblingElement()) note_id(*e);
    Affine unit;
    if (const XMLElement* asset = root->FirstChildElement("asset"))
      if (const XMLElement* e = asset->FirstChildElement("unit")) {
        const auto meter = number_of(attribute(*e, "meter"));
        if (meter && *meter > 0) unit.A = scaled({*meter, *meter, *meter});
      }
    const XMLElement* const scenes = root->FirstChildElement("library_visual_scenes");
    const XMLElement* const scene = scenes ? scenes->FirstChildElement("visual_scene") : nullptr;
    if (scene)
      for (auto* node = scene->FirstChildElement("node"); node; node = node->NextSiblingElement("node"))
        add_node(*node, unit, 0);
    else if (const XMLElement* const all = root->FirstChildElement("library_geometries"))
      for (auto* g = all->FirstChildElement("geometry"); g; g = g->NextSiblingElement("geometry"))
        add_geometry(*g, unit);
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const XMLElement& e, const std::string& what) const {
    throw ModelError(fmt::format("{}:{}: {}", name_, e.GetLineNum(), what));
  }
  static std::string_view attribute(const XMLElement& e, const char* name) {
    const char* const value = e.Attribute(name);
    return value ? value : "";
  }
  void note_id(const XMLElement& e) {
    if (const auto id = attribute(e, "id"); !id.empty()) ids_.try_emplace(id, &e);
  }
  /// What "#id" stands for, if it is of that kind.
  const XMLElement* referred(std::string_view url, std::string_view kind) const {
    const auto found = url.starts_with('#') ? ids_.find(url.substr(1)) : ids_.end();
    return found != ids_.end() && found->second->Name() == kind ? found->second : nullptr;
  }
  static Mat3<double> scaled(const V3& s) { return {s.x, 0, 0, 0, s.y, 0, 0, 0, s.z}; }

  // --- numbers ---
  template <class T>
  std::vector<T> numbers(const XMLElement& e) const {
    const char* const text = e.GetText();
    std::vector<T> out;
    const std::string_view all = text ? text : "";
    const char *at = all.data(), *const end = at + all.size();
    while (true) {
      while (at != end && std::isspace(static_cast<unsigned char>(*at))) ++at;
      if (at == end) return out;
      T value{};
      const auto [stop, problem] = std::from_chars(at, end, value);
      const bool too_large = problem == std::errc::result_out_of_range && std::is_integral_v<T>;
      const bool ends = stop == end || std::isspace(static_cast<unsigned char>(*stop));
      if (problem == std::errc::invalid_argument || too_large || !ends)
        refuse(e, fmt::format("<{}> has something that is no number", shown(e.Name())));
      out.push_back(value);  // 0 where a coordinate is too small for a double, or too large to be meant
      at = stop;
    }
  }

  // --- nodes ---
  Affine step(const XMLElement& e) const {
    const std::string_view kind = e.Name();
    const std::size_t count = kind == "matrix" ? 16 : kind == "rotate" ? 4 : 3;
    const auto x = numbers<double>(e);
    if (x.size() != count) refuse(e, fmt::format("<{}> has {} numbers; expected {}", kind, x.size(), count));
    if (kind == "matrix")
      return {{x[0], x[1], x[2], x[4], x[5], x[6], x[8], x[9], x[10]}, {x[3], x[7], x[11]}};
    if (kind == "scale") return {scaled({x[0], x[1], x[2]}), {0, 0, 0}};
    if (kind == "translate") return {Mat3<double>::identity(), {x[0], x[1], x[2]}};
    const double length = std::hypot(x[0], x[1], x[2]);
    if (!(length > 0)) return {};
    const double angle = x[3] * std::numbers::pi / 180 / length;
    return {rotation(exp_quaternion({x[0] * angle, x[1] * angle, x[2] * angle})), {0, 0, 0}};
  }

  void add_node(const XMLElement& node, Affine at, int depth) {
    if (depth > deepest_collada_node)
      refuse(node, fmt::format("nodes are more than {} deep in each other", deepest_collada_node));
    for (auto* e = node.FirstChildElement(); e; e = e->NextSiblingElement()) {
      const std::string_view kind = e->Name();
      if (kind == "matrix" || kind == "rotate" || kind == "scale" || kind == "translate") {
        at = at * step(*e);
      } else if (kind == "node") {
        add_node(*e, at, depth + 1);
      } else if (kind == "instance_node") {
        if (const XMLElement* other = referred(attribute(*e, "url"), "node")) {
          if (++instances_ > most_instances) refuse(*e, "nodes stand in each other too often");
          add_node(*other, at, depth + 1);
        }
      } else if (kind == "instance_geometry") {
        const XMLElement* geometry = referred(attribute(*e, "url"), "geometry");
        if (!geometry) refuse(*e, "there is no geometry of that name");
        add_geometry(*geometry, at);
      } else if (kind == "instance_controller") {
        const XMLElement* const controller = referred(attribute(*e, "url"), "controller");
        const XMLElement* const skin = controller ? controller->FirstChildElement("skin") : nullptr;
        const XMLElement* const geometry = skin ? referred(attribute(*skin, "source"), "geometry") : nullptr;
        if (geometry) add_geometry(*geometry, at);
      }
    }
  }

  // --- meshes ---
  /// Where the positions of a mesh begin among the points.
  struct Positions {
    std::size_t first = 0, count = 0;
  };

  void add_geometry(const XMLElement& geometry, const Affine& at) {
    const XMLElement* const mesh = geometry.FirstChildElement("mesh");
    if (!mesh) return;
    const Positions positions = add_positions(*mesh, at);
    for (auto* e = mesh->FirstChildElement(); e; e = e->NextSiblingElement()) {
      const std::string_view kind = e->Name();
      if (kind == "triangles" || kind == "polylist" || kind == "polygons" || kind == "trifans" ||
          kind == "tristrips")
        add_faces(*e, kind, positions);
    }
  }

  Positions add_positions(const XMLElement& mesh, const Affine& at) {
    const XMLElement* const vertices = mesh.FirstChildElement("vertices");
    if (!vertices) refuse(mesh, "<mesh> has no <vertices>");
    std::string_view source;
    for (auto* input = vertices->FirstChildElement("input"); input;
         input = input->NextSiblingElement("input"))
      if (attribute(*input, "semantic") == "POSITION") source = attribute(*input, "source");
    const XMLElement* positions = nullptr;
    for (auto* s = mesh.FirstChildElement("source"); s && !positions; s = s->NextSiblingElement("source"))
      if (source.starts_with('#') && attribute(*s, "id") == source.substr(1))
        positions = s->FirstChildElement("float_array");
    if (!positions) refuse(*vertices, "the positions of <vertices> are not there");
    const auto x = numbers<double>(*positions);
    Positions out{out_.points.size() / 3, x.size() / 3};
    if (out_.points.size() + x.size() > 3 * most_corners) refuse(*positions, "there are too many points");
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) {
      const V3 p = at.A * V3{x[i], x[i + 1], x[i + 2]} + at.b;
      out_.points.insert(out_.points.end(), {float(p.x), float(p.y), float(p.z)});
    }
    return out;
  }

  void add_faces(const XMLElement& e, std::string_view kind, const Positions& positions) {
    std::size_t stride = 1, vertex = 0;
    for (auto* input = e.FirstChildElement("input"); input; input = input->NextSiblingElement("input")) {
      const double offset = number_of(attribute(*input, "offset")).value_or(0);
      if (!(offset >= 0 && offset < 100)) refuse(*input, "the offset of <input> is not a small number");
      stride = std::max(stride, std::size_t(offset) + 1);
      if (attribute(*input, "semantic") == "VERTEX") vertex = std::size_t(offset);
    }
    std::vector<std::size_t> sizes;  // of a polylist's polygons
    if (const XMLElement* counts = kind == "polylist" ? e.FirstChildElement("vcount") : nullptr)
      sizes = numbers<std::size_t>(*counts);
    for (auto* p = e.FirstChildElement("p"); p; p = p->NextSiblingElement("p")) {
      std::vector<std::uint32_t> corners;
      const auto indices = numbers<std::size_t>(*p);
      for (std::size_t i = vertex; i < indices.size(); i += stride) {
        if (indices[i] >= positions.count) refuse(*p, "a face names a point that there is not");
        corners.push_back(std::uint32_t(positions.first + indices[i]));
      }
      add_polygons(*p, kind, corners, sizes);
    }
  }

  void add_polygons(const XMLElement& p, std::string_view kind, const std::vector<std::uint32_t>& corners,
                    const std::vector<std::size_t>& sizes) {
    if (kind == "triangles") {
      for (std::size_t i = 0; i + 2 < corners.size(); i += 3)
        add_triangle(p, corners[i], corners[i + 1], corners[i + 2]);
    } else if (kind == "tristrips") {
      for (std::size_t i = 2; i < corners.size(); ++i)
        add_triangle(p, corners[i - 2], corners[i - 1], corners[i]);
    } else if (kind == "polylist") {
      std::size_t at = 0;
      for (const std::size_t size : sizes) {
        if (size > corners.size() - at) refuse(p, "<vcount> asks for more points than <p> has");
        for (std::size_t i = 2; i < size; ++i)
          add_triangle(p, corners[at], corners[at + i - 1], corners[at + i]);
        at += size;
      }
    } else {
      for (std::size_t i = 2; i < corners.size(); ++i)
        add_triangle(p, corners[0], corners[i - 1], corners[i]);
    }
  }
  void add_triangle(const XMLElement& p, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (out_.corners.size() + 3 > most_corners)
      refuse(p, fmt::format("there are more than {} triangles", most_corners / 3));
    out_.corners.insert(out_.corners.end(), {a, b, c});
  }

  static constexpr int most_instances = 10000;
  const std::string& name_;
  TriangleMesh out_;
  std::map<std::string_view, const XMLElement*> ids_;
  int instances_ = 0;
};

}  // namespace

TriangleMesh parse_collada(std::string_view text, const std::string& name) {
  return ColladaReader(name).read(text);
}

}  // namespace articula
