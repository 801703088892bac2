#include "articula/files/gltf.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "articula/error.hpp"
#include "articula/files/affine.hpp"
#include "articula/files/json_input.hpp"
#include "articula/files/mesh_limits.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {

namespace {

using nlohmann::json;
using V3 = Vec3<double>;

constexpr std::size_t most_nodes = 100'000;
constexpr int deepest_gltf_node = 60;  // of nodes in nodes
constexpr int in_floats = 5126, triangles = 4;

class GltfReader {
 public:
  GltfReader(const std::string& name, const ReadBeside& beside) : name_(name), beside_(beside) {
    out_.name = name;
  }

  TriangleMesh read(std::string_view bytes) {
    all_ = parse_json(bytes.starts_with("glTF") ? take_chunks(bytes) : bytes, name_, "expected glTF");
    if (!all_.is_object()) refuse("is not glTF: expected an object");
    if (const json* needed = find(all_, "extensionsRequired"); needed && !needed->empty())
      refuse(fmt::format("needs the extension {:.60}, which is not read", (*needed)[0].dump()));
    const json* const scenes = find(all_, "scenes");
    const std::size_t chosen = whole(all_, "scene", 0);
    const Affine z_up{{1, 0, 0, 0, 0, -1, 0, 1, 0}, {0, 0, 0}};
    if (scenes && chosen < scenes->size())
      if (const json* nodes = find((*scenes)[chosen], "nodes"))
        for (const json& node : *nodes) add_node(node, z_up, 0);
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ModelError(fmt::format("{}: {}", name_, what));
  }

  // --- JSON ---
  static const json* find(const json& in, const char* key) {
    const auto at = in.is_object() ? in.find(key) : in.end();
    return at == in.end() ? nullptr : &*at;
  }
  std::size_t whole(const json& in, const char* key, std::size_t missing) const {
    const json* const x = find(in, key);
    if (!x) return missing;
    if (!x->is_number_unsigned()) refuse(fmt::format("\"{}\" is no whole number", key));
    return x->get<std::size_t>();
  }
  /// The entry of a list at the top; the index as another entry gives it.
  const json& entry(const char* list, const json& index) const {
    const json* const all = find(all_, list);
    if (!all || !all->is_array() || !index.is_number_unsigned() || index.get<std::size_t>() >= all->size())
      refuse(fmt::format("refers to what is not there among \"{}\"", list));
    return (*all)[index.get<std::size_t>()];
  }
  template <std::size_t n>
  std::optional<std::array<double, n>> numbers(const json& in, const char* key) const {
    const json* const list = find(in, key);
    if (!list) return {};
    std::array<double, n> out;
    if (!list->is_array() || list->size() != n) refuse(fmt::format("\"{}\" has not {} numbers", key, n));
    for (std::size_t i = 0; i < n; ++i) {
      if (!(*list)[i].is_number()) refuse(fmt::format("\"{}\" has something that is no number", key));
      out[i] = (*list)[i].get<double>();
    }
    return out;
  }

  // --- bytes ---
  static std::uint32_t word(std::string_view bytes, std::size_t at) {
    std::uint32_t out = 0;
    if (at + 4 <= bytes.size()) std::memcpy(&out, bytes.data() + at, 4);
    return out;
  }
  /// Of a .glb: the JSON; binary data is kept.
  std::string_view take_chunks(std::string_view bytes) {
    std::string_view text;
    for (std::size_t at = 12; at + 8 <= bytes.size();) {
      const std::size_t length = word(bytes, at);
      const std::uint32_t kind = word(bytes, at + 4);
      if (length > bytes.size() - at - 8) refuse("ends within a chunk");
      const std::string_view chunk = bytes.substr(at + 8, length);
      if (kind == 0x4E4F534A && text.empty()) text = chunk;
      if (kind == 0x004E4942 && buffers_.empty()) buffers_[0] = std::string(chunk);
      at += 8 + length;
    }
    return text;
  }
  const std::string& buffer(const json& index) {
    const json& stated = entry("buffers", index);
    const auto [known, is_new] = buffers_.try_emplace(index.get<std::size_t>());
    if (!is_new) return known->second;
    const json* const uri = find(stated, "uri");
    if (!uri || !uri->is_string()) refuse("has a buffer without data");
    const std::string file = uri->get<std::string>();
    if (file.starts_with("data:")) {
      known->second = from_base64(file.substr(std::min(file.find(','), file.size())));
      return known->second;
    }
    const bool plain = !file.empty() && file.find_first_of("/\\:") == file.npos && file != "..";
    auto bytes = plain && beside_ ? beside_(file) : std::nullopt;
    if (!bytes) refuse(fmt::format("its data, '{:.80}', is no file in the same folder", file));
    return known->second = std::move(*bytes);
  }
  /// What is no digit is passed over.
  static std::string from_base64(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
      const std::size_t digit = digits.find(c);
      if (digit == digits.npos) continue;
      bits = bits << 6 | unsigned(digit);
      if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xff);
    }
    return out;
  }
  /// An accessor's elements, one after the other, `size` bytes each.
  std::vector<char> elements(const json& accessor, std::size_t size) {
    const json* const of = find(accessor, "bufferView");
    if (!of || find(accessor, "sparse")) refuse("has an accessor that is sparse, or of no buffer");
    const json& view = entry("bufferViews", *of);
    const json* const which = find(view, "buffer");
    const std::string& bytes = buffer(which ? *which : json(0u));
    const std::size_t stride = whole(view, "byteStride", size), count = whole(accessor, "count", 0);
    const std::size_t first = whole(view, "byteOffset", 0), more = whole(accessor, "byteOffset", 0);
    const std::size_t room = bytes.size();
    if (stride < size || stride > 255 || count > room || first > room || more > room - first ||
        (count > 0 && (count - 1) * stride + size > room - first - more))
      refuse("an accessor reaches beyond its buffer");
    std::vector<char> out(count * size);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(out.data() + i * size, bytes.data() + first + more + i * stride, size);
    return out;
  }

  // --- nodes and meshes ---
  void add_node(const json& index, const Affine& above, int depth) {
    if (depth > deepest_gltf_node || ++nodes_ > most_nodes)
      refuse("nodes are too many, or too deep in each other");
    const json& node = entry("nodes", index);
    Affine at;
    if (const auto m = numbers<16>(node, "matrix")) {  // by columns
      const auto& x = *m;
      at = {{x[0], x[4], x[8], x[1], x[5], x[9], x[2], x[6], x[10]}, {x[12], x[13], x[14]}};
    } else {
      const auto p = numbers<3>(node, "translation"), s = numbers<3>(node, "scale");
      const auto q = numbers<4>(node, "rotation");
      if (q) at.A = rotation(normalized(Quaternion<double>{(*q)[0], (*q)[1], (*q)[2], (*q)[3]}));
      if (s) at.A = at.A * Mat3<double>{(*s)[0], 0, 0, 0, (*s)[1], 0, 0, 0, (*s)[2]};
      if (p) at.b = {(*p)[0], (*p)[1], (*p)[2]};
    }
    at = above * at;
    if (const json* mesh = find(node, "mesh"))
      if (const json* primitives = find(entry("meshes", *mesh), "primitives"))
        for (const json& primitive : *primitives) add_primitive(primitive, at);
    if (const json* children = find(node, "children"))
      for (const json& child : *children) add_node(child, at, depth + 1);
  }

  void add_primitive(const json& primitive, const Affine& at) {
    const json* const attributes = find(primitive, "attributes");
    const json* const position = attributes ? find(*attributes, "POSITION") : nullptr;
    if (!position || whole(primitive, "mode", triangles) != triangles)
      return;  // lines and points are not drawn
    const json& points = entry("accessors", *position);
    if (whole(points, "componentType", 0) != in_floats) refuse("has positions that are not of type float");
    const std::vector<char> bytes = elements(points, 12);
    const std::size_t first = out_.points.size() / 3, count = bytes.size() / 12;
    for (std::size_t i = 0; i < count; ++i) {
      std::array<float, 3> p;
      std::memcpy(p.data(), bytes.data() + 12 * i, 12);
      const V3 x = at.A * V3{p[0], p[1], p[2]} + at.b;
      for (const double y : {x.x, x.y, x.z}) out_.points.push_back(float(y));
    }
    std::vector<std::uint32_t> corners = corners_of(primitive, count);
    corners.resize(corners.size() / 3 * 3);
    for (const std::uint32_t c : corners) {
      if (c >= count) refuse("a triangle has a corner that is not there");
      out_.corners.push_back(std::uint32_t(first + c));
    }
    if (out_.corners.size() > most_corners || out_.points.size() > 3 * most_corners)
      refuse(fmt::format("has more than {} triangles; reduce the mesh", most_corners / 3));
  }
  std::vector<std::uint32_t> corners_of(const json& primitive, std::size_t count) {
    std::vector<std::uint32_t> out;
    const json* const indices = find(primitive, "indices");
    if (!indices) {
      for (std::size_t i = 0; i < count; ++i) out.push_back(std::uint32_t(i));
      return out;
    }
    const json& accessor = entry("accessors", *indices);
    const std::size_t type = whole(accessor, "componentType", 0);
    const std::size_t size = type == 5121 ? 1 : type == 5123 ? 2 : type == 5125 ? 4 : 0;
    if (size == 0) refuse("has indices of an unknown type");
    const std::vector<char> bytes = elements(accessor, size);
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
      std::uint32_t x = 0;
      std::memcpy(&x, bytes.data() + i * size, size);  // the least byte first, as in the file
      out.push_back(x);
    }
    return out;
  }

  const std::string& name_;
  const ReadBeside& beside_;
  TriangleMesh out_;
  json all_;
  std::map<std::size_t, std::string> buffers_;
  std::size_t nodes_ = 0;
};

}  // namespace

TriangleMesh parse_gltf(std::string_view bytes, const std::string& name, const ReadBeside& beside) {
  return GltfReader(name, beside).read(bytes);
}

}  // namespace articula
