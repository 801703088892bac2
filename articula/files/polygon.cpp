#include "articula/files/polygon.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "articula/spatial/vec3.hpp"

namespace articula {

namespace {

using Corner = std::uint32_t;
using V3 = Vec3<double>;
constexpr long most_work = 20'000'000;

V3 point(std::span<const float> points, Corner i) {
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

std::vector<Flat> flattened(std::span<const float> points, std::span<const Corner> polygon) {
  V3 normal{0, 0, 0};  // Newell's, from the first point so that little is lost far from the origin
  const V3 origin = point(points, polygon[0]);
  for (std::size_t i = 0; i < polygon.size(); ++i)
    normal +=
        cross(point(points, polygon[i]) - origin, point(points, polygon[(i + 1) % polygon.size()]) - origin);
  const double x = std::abs(normal.x), y = std::abs(normal.y), z = std::abs(normal.z);
  std::vector<Flat> out;
  for (const Corner i : polygon) {
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

float squared_distance(std::span<const float> points, Corner a, Corner b) {
  const float* const p = &points[3 * std::size_t(a)];
  const float* const q = &points[3 * std::size_t(b)];
  const float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
  return x * x + y * y + z * z;
}

// --- as MuJoCo's reader does it: in floats, seen along an axis of coordinates -------------------------
constexpr std::size_t most_corners_there = 100;  // it leaves larger ones out

struct FlatFloat {
  float x, y;
};

/// The two coordinates that the first corner of any size is seen in.
std::array<std::size_t, 2> axes_of(std::span<const float> points, std::span<const Corner> polygon) {
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const float* const a = &points[3 * std::size_t(polygon[k])];
    const float* const b = &points[3 * std::size_t(polygon[(k + 1) % polygon.size()])];
    const float* const c = &points[3 * std::size_t(polygon[(k + 2) % polygon.size()])];
    const float d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                e[3] = {c[0] - b[0], c[1] - b[1], c[2] - b[2]};
    const float x = std::abs(d[1] * e[2] - d[2] * e[1]), y = std::abs(d[2] * e[0] - d[0] * e[2]),
                z = std::abs(d[0] * e[1] - d[1] * e[0]);
    constexpr float least = std::numeric_limits<float>::epsilon();
    if (!(x > least || y > least || z > least)) continue;
    if (x > y && x > z) break;
    return {0, z > x && z > y ? std::size_t(1) : std::size_t(2)};
  }
  return {1, 2};
}

/// By crossings of a ray along x.
bool inside(const std::array<FlatFloat, 3>& triangle, const FlatFloat& p) {
  bool out = false;
  for (std::size_t i = 0, j = 2; i < 3; j = i++) {
    const FlatFloat &a = triangle[i], &b = triangle[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) out = !out;
  }
  return out;
}

}  // namespace

void PolygonCutter::cut_as_mujoco(std::span<const float> points, std::span<const Corner> polygon,
                                  std::vector<Corner>& corners) {
  if (polygon.size() > most_corners_there) return;
  const auto [right, up] = axes_of(points, polygon);
  std::vector<Corner> left(polygon.begin(), polygon.end());
  const auto flat = [&, right = right, up = up](Corner i) {
    return FlatFloat{points[3 * std::size_t(i) + right], points[3 * std::size_t(i) + up]};
  };
  std::size_t at = 0, tries = left.size(), before = left.size();
  while (left.size() > 3 && tries > 0 && work_ < most_work) {
    const std::size_t n = left.size();
    if (at >= n) at -= n;
    if (before != n)
      before = tries = n;
    else
      --tries;
    const Corner i = left[at], j = left[(at + 1) % n], k = left[(at + 2) % n];
    const std::array<FlatFloat, 3> t{flat(i), flat(j), flat(k)};
    const float corner = (t[1].x - t[0].x) * (t[2].y - t[1].y) - (t[1].y - t[0].y) * (t[2].x - t[1].x);
    const float area = (t[0].x * t[1].y - t[0].y * t[1].x) * 0.5f;  // seen from the origin, not the polygon's
    bool ear = !(corner * area < 0);
    for (std::size_t other = 3; ear && other < n; ++other, ++work_)
      ear = !inside(t, flat(left[(at + other) % n]));
    ++work_;
    if (!ear) {
      ++at;
      continue;
    }
    corners.insert(corners.end(), {i, j, k});
    left.erase(left.begin() + std::ptrdiff_t((at + 1) % n));
  }
  if (left.size() == 3) corners.insert(corners.end(), {left[0], left[1], left[2]});
}

void PolygonCutter::cut(std::span<const float> points, std::span<const Corner> polygon,
                        std::vector<Corner>& corners) {
  const auto add = [&](Corner a, Corner b, Corner c) { corners.insert(corners.end(), {a, b, c}); };
  if (polygon.size() == 4) {  // by its shorter diagonal
    const auto& p = polygon;
    const bool first = squared_distance(points, p[0], p[2]) < squared_distance(points, p[1], p[3]);
    add(p[0], p[1], p[first ? 2 : 3]);
    add(p[first ? 0 : 1], p[2], p[3]);
    return;
  }
  if (as_mujoco_) return cut_as_mujoco(points, polygon, corners);
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
