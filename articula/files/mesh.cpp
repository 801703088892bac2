#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "articula/error.hpp"
#include "articula/files/collada.hpp"
#include "articula/files/gltf.hpp"
#include "articula/files/polygon.hpp"
#include "articula/files/shapes.hpp"

namespace articula {

namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t largest_file = 64u << 20;
constexpr std::string_view blanks = " \t\r\f\v";

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
  throw ModelError(fmt::format("{}: {}", name, message));
}

/// STL gives every triangle its own three points; equal ones become one.
class Points {
 public:
  explicit Points(TriangleMesh& mesh) : mesh_(mesh) {}
  std::uint32_t add(const std::array<float, 3>& p) {
    const auto [at, is_new] =
        known_.try_emplace(std::bit_cast<Bits>(p), static_cast<std::uint32_t>(mesh_.points.size() / 3));
    if (is_new) mesh_.points.insert(mesh_.points.end(), p.begin(), p.end());
    return at->second;
  }

 private:
  using Bits = std::array<std::uint32_t, 3>;
  struct Hash {
    std::size_t operator()(const Bits& b) const {
      std::uint64_t h = 0x9E3779B97F4A7C15u;
      for (const std::uint32_t x : b) h = (h ^ x) * 0xD6E8FEB86659FD93u, h ^= h >> 32;
      return h;
    }
  };
  TriangleMesh& mesh_;
  std::unordered_map<Bits, std::uint32_t, Hash> known_;
};

/// The next word of a line, taken off its front.
std::string_view next_word(std::string_view& line) {
  const std::size_t at = line.find_first_not_of(blanks);
  if (at == line.npos) return line = {};
  line.remove_prefix(at);
  const std::size_t end = std::min(line.find_first_of(blanks), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

/// Calls `read(line, number)` for each line.
template <class Read>
void each_line(std::string_view text, const Read& read) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

float coordinate(std::string_view word, const std::string& name, int line) {
  if (word.starts_with('+')) word.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  // Numbers too small for a float are zero to the eye.
  if (error == std::errc::result_out_of_range && end == word.data() + word.size()) return 0;
  if (error != std::errc() || end != word.data() + word.size())
    refuse(name, fmt::format("line {}: a coordinate is not a number", line));
  return value;
}

std::array<float, 3> point_of(std::string_view line, const std::string& name, int number) {
  std::array<float, 3> p;
  for (float& x : p) x = coordinate(next_word(line), name, number);
  return p;
}

TriangleMesh text_stl(std::string_view text, const std::string& name) {
  TriangleMesh mesh{name, {}, {}};
  Points points(mesh);
  each_line(text, [&](std::string_view line, int number) {
    const std::string_view word = next_word(line);
    if (word == "vertex") mesh.corners.push_back(points.add(point_of(line, name, number)));
    if (word == "endfacet" && mesh.corners.size() % 3 != 0)
      refuse(name, fmt::format("line {}: a facet without three vertices", number));
  });
  return mesh;
}

TriangleMesh binary_stl(std::string_view bytes, std::size_t triangles, const std::string& name) {
  TriangleMesh mesh{name, {}, {}};
  Points points(mesh);
  mesh.corners.reserve(3 * triangles);
  for (std::size_t i = 0; i < triangles; ++i)
    for (int corner = 0; corner < 3; ++corner) {  // 50 bytes: a normal, three points, two bytes of no meaning
      std::array<float, 3> p;
      std::memcpy(p.data(), bytes.data() + 84 + 50 * i + 12 * (corner + 1), sizeof p);
      mesh.corners.push_back(points.add(p));
    }
  return mesh;
}

TriangleMesh stl(std::string_view bytes, const std::string& name) {
  std::uint32_t triangles = 0;
  if (bytes.size() >= 84) std::memcpy(&triangles, bytes.data() + 80, sizeof triangles);
  // Binary files may begin with "solid" too: their size tells.
  if (bytes.size() >= 84 && bytes.size() == 84 + 50 * std::size_t(triangles))
    return binary_stl(bytes, triangles, name);
  if (bytes.starts_with("solid")) return text_stl(bytes, name);
  refuse(name, "this is not STL: expected 'solid' at the beginning, or 84 bytes and 50 for each triangle");
}

TriangleMesh obj(std::string_view text, const std::string& name, bool as_mujoco) {
  TriangleMesh mesh{name, {}, {}};
  PolygonCutter cutter(as_mujoco);
  bool ended = false;
  std::vector<std::uint32_t> face;
  each_line(text, [&](std::string_view line, int number) {
    const std::string_view kind = next_word(line);
    if (kind == "v") {
      const auto p = point_of(line, name, number);
      mesh.points.insert(mesh.points.end(), p.begin(), p.end());
    }
    const bool object = kind == "o" || kind == "g";
    ended = ended || (as_mujoco && object && !mesh.corners.empty());
    if (kind != "f" || ended) return;
    face.clear();
    const auto count = static_cast<long long>(mesh.points.size() / 3);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      long long index = 0;  // of the point; after a slash come those of texture and normal
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
      const bool ends = end == word.data() + word.size() || *end == '/';
      if (index < 0) index += count + 1;  // counted from the end
      if (error != std::errc() || !ends || index < 1 || index > count)
        refuse(name, fmt::format("line {}: a face names a point that there is not", number));
      face.push_back(static_cast<std::uint32_t>(index - 1));
    }
    if (face.size() > 2) cutter.cut(mesh.points, face, mesh.corners);
  });
  return mesh;
}

}  // namespace

namespace {

TriangleMesh parse(std::string_view bytes, const std::string& name, ObjContent content,
                   const ReadBeside& beside) {
  std::string ending = fs::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TriangleMesh mesh;
  if (ending == ".stl")
    mesh = stl(bytes, name);
  else if (ending == ".obj")
    mesh = obj(bytes, name, content == ObjContent::as_mujoco);
  else if (ending == ".dae")
    mesh = parse_collada(bytes, name);
  else if (ending == ".gltf" || ending == ".glb")
    mesh = parse_gltf(bytes, name, beside);
  else
    refuse(name,
           fmt::format("meshes of kind '{}' are not read; expected .stl, .obj, .dae, .gltf or .glb", ending));
  if (mesh.corners.empty()) refuse(name, "there are no triangles");
  if (mesh.corners.size() % 3 != 0) refuse(name, "the last triangle is not complete");
  if (!std::all_of(mesh.points.begin(), mesh.points.end(), [](float x) { return std::isfinite(x); }))
    refuse(name, "there are points that are not finite");
  return mesh;
}

std::string bytes_of(const fs::path& path, const std::string& name) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::is_regular_file(status))
    refuse(name, fs::exists(status) ? "is not a file" : "there is no such file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > largest_file)
    refuse(name, fmt::format("is larger than {} MiB; reduce the mesh", largest_file >> 20));
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) refuse(name, "cannot be read");
  return bytes;
}

}  // namespace

TriangleMesh parse_mesh(std::string_view bytes, const std::string& name, ObjContent content) {
  return parse(bytes, name, content, {});
}

TriangleMesh read_mesh(const std::string& path, const std::string& name, ObjContent content) {
  // In the mesh's own folder, wherever links lead.
  const auto beside = [&](const std::string& file) -> std::optional<std::string> {
    std::error_code error;
    const fs::path mesh = fs::canonical(path, error), other = fs::canonical(mesh.parent_path() / file, error);
    if (error || other.parent_path() != mesh.parent_path()) return {};
    return bytes_of(other, file);
  };
  TriangleMesh mesh = parse(bytes_of(path, name), name, content, beside);
  mesh.path = path;
  return mesh;
}

bool make_round(Shape& shape, std::string_view kind) {
  if (kind == "sphere")
    shape.kind = ShapeKind::sphere;
  else if (kind == "cylinder")
    shape.kind = ShapeKind::cylinder;
  else if (kind == "capsule")
    shape.kind = ShapeKind::capsule;
  else
    return false;
  return shape.radius > 0 && (shape.kind == ShapeKind::sphere || shape.length > 0);
}

}  // namespace articula
