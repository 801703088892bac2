#include "articula/files/polygon.hpp"

#include <cmath>

#include "articula/spatial/vec3.hpp"

namespace articula {

namespace {

using Index = std::uint32_t;
using V3 = Vec3<double>;
constexpr long most_work = 20'000'000;

V3 point(std::span<const float> points, Index i) {
  return {points[3 * std::size_t(i)], points[3 * std::size_t(i) + 1], points[3 * std::size_t(i) + 2]};
}

/// A point seen along the polygon's normal, so that the polygon turns to the left.
struct Flat {
  double x, y;
};
double turn(const Flat& a, const Flat& b, const Flat& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
bool inside(const Flat& a, const Flat& b, const Flat& c, const Flat& p) {
  return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

std::vector<Flat> flattened(std::span<const float> points, std::span<const Index> polygon) {
  V3 normal{0, 0, 0};  // Newell's, from the first point so that little is lost far from the origin
  const V3 origin = point(points, polygon[0]);
  for (std::size_t i = 0; i < polygon.size(); ++i)
    normal +=
        cross(point(points, polygon[i]) - origin, point(points, polygon[(i + 1) % polygon.size()]) - origin);
  const double x = std::abs(normal.x), y = std::abs(normal.y), z = std::abs(normal.z);
  std::vector<Flat> out;
  for (const Index i : polygon) {
    const V3 p = point(points, i);
    if (x >= y && x >= z)
      out.push_back({normal.x < 0 ? -p.y : p.y, p.z});
    else if (y >= z)
      out.push_back({normal.y < 0 ? -p.z : p.z, p.x});
    else
      out.push_back({normal.z < 0 ? -p.x : p.x, p.y});
  }
  return out;
}

double squared_distance(std::span<const float> points, Index a, Index b) {
  const V3 d = point(points, a) - point(points, b);
  return dot(d, d);
}

}  // namespace

void PolygonCutter::cut(std::span<const float> points, std::span<const Index> polygon,
                        std::vector<Index>& corners) {
  const auto add = [&](Index a, Index b, Index c) { corners.insert(corners.end(), {a, b, c}); };
  if (polygon.size() == 4) {  // by its shorter diagonal
    const auto& p = polygon;
    const bool first = squared_distance(points, p[0], p[2]) < squared_distance(points, p[1], p[3]);
    add(p[0], p[1], p[first ? 2 : 3]);
    add(p[first ? 0 : 1], p[2], p[3]);
    return;
  }
  std::vector<std::size_t> left(polygon.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  const std::vector<Flat> flat = left.size() > 3 ? flattened(points, polygon) : std::vector<Flat>{};
  // Ears: corners that turn to the left, with no other point in their triangle.
  std::size_t at = 0, tried = 0;
  while (left.size() > 3 && tried < left.size() && work_ < most_work) {
    const std::size_t n = left.size();
    at %= n;
    const std::size_t a = left[at], b = left[(at + 1) % n], c = left[(at + 2) % n];
    bool ear = turn(flat[a], flat[b], flat[c]) > 0;
    for (std::size_t i = 3; ear && i < n; ++i, ++work_)
      ear = !inside(flat[a], flat[b], flat[c], flat[left[(at + i) % n]]);
    ++work_;
    if (ear) {
      add(polygon[a], polygon[b], polygon[c]);
      left.erase(left.begin() + std::ptrdiff_t((at + 1) % n));
      tried = 0;
    } else {
      ++at, ++tried;
    }
  }
  for (std::size_t i = 2; i < left.size(); ++i) add(polygon[left[0]], polygon[left[i - 1]], polygon[left[i]]);
}

}  // namespace articula
