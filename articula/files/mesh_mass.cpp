#include "articula/files/mesh_mass.hpp"

#include <cmath>

namespace articula {

namespace {

using V3 = Vec3<double>;

struct Triangle {
  V3 a, b, c;
  V3 center() const { return (a + b + c) * (1.0 / 3); }
  /// Twice the area, along the normal.
  V3 doubled() const { return cross(b - a, c - a); }
  double area() const {
    const V3 n = doubled();
    return std::hypot(n.x, n.y, n.z) / 2;
  }
};

template <class F>
void each_triangle(std::span<const V3> points, std::span<const std::uint32_t> corners, F&& f) {
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3)
    f(Triangle{points[corners[i]], points[corners[i + 1]], points[corners[i + 2]]});
}

/// What a triangle counts for, seen from `from`: a tetrahedron's volume, or its own area.
double weight(const Triangle& t, const V3& from, MeshInertia kind) {
  if (kind == MeshInertia::shell) return t.area();
  const double volume = dot(t.center() - from, t.doubled()) / 6;
  return kind == MeshInertia::legacy ? std::abs(volume) : volume;
}

V3 centroid_of_surface(std::span<const V3> points, std::span<const std::uint32_t> corners) {
  double area = 0;
  V3 sum{0, 0, 0};
  each_triangle(points, corners, [&](const Triangle& t) {
    const double a = t.area();
    area += a;
    sum += t.center() * a;
  });
  return area > 0 ? sum * (1 / area) : sum;
}

/// What gives a triangle's (or tetrahedron's) second moments.
Sym3<double> corner_products(const Triangle& t) {
  const V3 s = t.a + t.b + t.c;
  const auto twice_square = [](const V3& v) { return symmetric_product(v, v); };  // 2 v v*
  Sym3<double> sum = twice_square(s);
  for (const V3& v : {t.a, t.b, t.c}) sum += twice_square(v);
  return {sum.xx / 2, sum.yy / 2, sum.zz / 2, sum.xy / 2, sum.xz / 2, sum.yz / 2};
}

}  // namespace

MassProperties mass_of_mesh(std::span<const V3> points, std::span<const std::uint32_t> corners,
                            MeshInertia kind) {
  if (kind == MeshInertia::convex) return mass_of_mesh(points, convex_hull(points), MeshInertia::exact);
  // Seen from the middle of the surface, so that legacy counts as little twice as it can.
  const V3 middle = centroid_of_surface(points, corners);
  double total = 0;
  V3 sum{0, 0, 0};
  each_triangle(points, corners, [&](const Triangle& t) {
    const double w = weight(t, middle, kind);
    total += w;
    sum += (t.center() * 0.75 + middle * 0.25) * w;
  });
  MassProperties out;
  if (!(total > 0)) {
    out.mass = total;
    return out;
  }
  out.center_of_mass = sum * (1 / total);
  const double share = kind == MeshInertia::shell ? 12 : 20;
  Sym3<double> P{0, 0, 0, 0, 0, 0};  // of x x*
  each_triangle(points, corners, [&](const Triangle& t) {
    const V3& c = out.center_of_mass;
    const Triangle moved{t.a - c, t.b - c, t.c - c};
    const double w = weight(moved, {0, 0, 0}, kind);
    const Sym3<double> p = corner_products(moved);
    const double f = w / share;
    out.mass += w;
    P += Sym3<double>{p.xx * f, p.yy * f, p.zz * f, p.xy * f, p.xz * f, p.yz * f};
  });
  out.inertia = {P.yy + P.zz, P.xx + P.zz, P.xx + P.yy, -P.xy, -P.xz, -P.yz};
  return out;
}

}  // namespace articula
