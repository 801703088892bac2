// The convex hull by quickhull: faces keep the points outside of them, and the farthest one is added, until there
// is none.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "articula/files/mesh_mass.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using Corner = std::uint32_t;

struct Face {
  std::array<Corner, 3> corners;
  V3 normal;  // unit length, outward
  double offset;
  std::vector<Corner> outside{};
  bool alive = true;
};

class Hull {
 public:
  explicit Hull(std::span<const V3> points) : points_(points) {}
  std::vector<Corner> build();

 private:
  static std::uint64_t edge(Corner from, Corner to) { return std::uint64_t(from) << 32 | to; }
  double height(const Face& face, Corner p) const { return dot(face.normal, points_[p]) - face.offset; }
  bool make_first();
  std::size_t add_face(Corner a, Corner b, Corner c);
  void share_out(const std::vector<Corner>& points, std::size_t first_face);
  void add_point(std::size_t face);
  template <class F>
  Corner best(F&& value) const {
    Corner out = 0;
    double most = -1;
    for (std::size_t i = 0; i < points_.size(); ++i)
      if (const double v = value(points_[i]); v > most) most = v, out = Corner(i);
    return out;
  }

  std::span<const V3> points_;
  std::vector<Face> faces_;
  std::unordered_map<std::uint64_t, std::size_t> face_of_edge_;
  double tolerance_ = 0;
};

std::size_t Hull::add_face(Corner a, Corner b, Corner c) {
  V3 n = cross(points_[b] - points_[a], points_[c] - points_[a]);
  const double length = norm(n);
  if (length > 0) n = n * (1 / length);
  faces_.push_back({{a, b, c}, n, dot(n, points_[a])});
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)})
    face_of_edge_[edge(from, to)] = faces_.size() - 1;
  return faces_.size() - 1;
}

/// A tetrahedron of points far from each other; false if there is none.
bool Hull::make_first() {
  if (points_.size() < 4) return false;
  const V3 start = points_[0];
  const Corner a = best([&](const V3& p) { return norm(p - start); });
  const V3 A = points_[a];
  const Corner b = best([&](const V3& p) { return norm(p - A); });
  const double size = norm(points_[b] - A);
  if (!(size > 0) || !std::isfinite(size)) return false;
  tolerance_ = 1e-13 * size;
  const V3 along = (points_[b] - A) * (1 / size);
  const Corner c = best([&](const V3& p) { return norm(cross(p - A, along)); });
  V3 n = cross(along, points_[c] - A);
  const double width = norm(n);
  if (!(width > tolerance_)) return false;
  n = n * (1 / width);
  const Corner d = best([&](const V3& p) { return std::abs(dot(n, p - A)); });
  const double depth = dot(n, points_[d] - A);
  if (!(std::abs(depth) > tolerance_)) return false;
  const Corner second = depth > 0 ? c : b, third = depth > 0 ? b : c;  // so that d is behind the first face
  add_face(a, second, third);
  add_face(a, third, d);
  add_face(third, second, d);
  add_face(second, a, d);
  return true;
}

void Hull::share_out(const std::vector<Corner>& points, std::size_t first_face) {
  for (const Corner p : points)
    for (std::size_t f = first_face; f < faces_.size(); ++f)
      if (height(faces_[f], p) > tolerance_) {
        faces_[f].outside.push_back(p);
        break;
      }
}

void Hull::add_point(std::size_t face) {
  const auto& outside = faces_[face].outside;
  const Corner p = *std::max_element(outside.begin(), outside.end(), [&](Corner a, Corner b) {
    return height(faces_[face], a) < height(faces_[face], b);
  });
  std::vector<std::size_t> visible{face};
  std::vector<std::pair<Corner, Corner>> horizon;
  std::vector<Corner> left;
  faces_[face].alive = false;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const std::array<Corner, 3> c = faces_[visible[i]].corners;
    for (const auto& [from, to] : {std::pair(c[0], c[1]), std::pair(c[1], c[2]), std::pair(c[2], c[0])}) {
      const auto other = face_of_edge_.find(edge(to, from));
      if (other == face_of_edge_.end()) continue;
      Face& next = faces_[other->second];
      if (!next.alive) continue;
      if (height(next, p) > tolerance_) {
        next.alive = false;
        visible.push_back(other->second);
      } else {
        horizon.emplace_back(from, to);
      }
    }
  }
  for (const std::size_t v : visible) {
    for (const Corner q : faces_[v].outside)
      if (q != p) left.push_back(q);
    faces_[v].outside = {};
  }
  const std::size_t first = faces_.size();
  for (const auto& [from, to] : horizon) add_face(from, to, p);
  share_out(left, first);
}

std::vector<Corner> Hull::build() {
  std::vector<Corner> out;
  if (!make_first()) return out;
  std::vector<Corner> all(points_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Corner(i);
  share_out(all, 0);
  for (std::size_t f = 0; f < faces_.size(); ++f)
    if (faces_[f].alive && !faces_[f].outside.empty()) add_point(f);
  for (const Face& face : faces_)
    if (face.alive) out.insert(out.end(), face.corners.begin(), face.corners.end());
  return out;
}

}  // namespace

std::vector<std::uint32_t> convex_hull(std::span<const V3> points) { return Hull(points).build(); }

}  // namespace articula
