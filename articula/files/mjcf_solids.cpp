// Volumes and moments of inertia of MJCF's simple solids and shells.
#include <cmath>
#include <numbers>

#include "articula/files/mjcf_inertia.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;
constexpr double pi = std::numbers::pi;

double area_of(const Geom& g) {
  const auto [a, b, c] = g.size;
  switch (g.kind) {
    case GeomKind::sphere:
      return 4 * pi * a * a;
    case GeomKind::capsule:
      return 4 * pi * a * a + 4 * pi * a * b;
    case GeomKind::cylinder:
      return 2 * pi * a * a + 4 * pi * a * b;
    case GeomKind::ellipsoid: {  // Thomsen's approximation, as MuJoCo has it
      const double p = 1.6075;
      const double sum = std::pow(a * b, p) + std::pow(b * c, p) + std::pow(c * a, p);
      return 4 * pi * std::pow(sum / 3, 1 / p);
    }
    case GeomKind::box:
    case GeomKind::hfield:
      return 8 * (a * b + b * c + c * a);
    default:
      return 0;
  }
}

double volume_of(const Geom& g) {
  const auto [a, b, c] = g.size;
  switch (g.kind) {
    case GeomKind::sphere:
      return 4 * pi * a * a * a / 3;
    case GeomKind::capsule:
      return pi * (2 * a * a * b + 4 * a * a * a / 3);
    case GeomKind::cylinder:
      return 2 * pi * a * a * b;
    case GeomKind::ellipsoid:
      return 4 * pi * a * b * c / 3;
    case GeomKind::box:
    case GeomKind::hfield:
      return 8 * a * b * c;
    default:
      return 0;
  }
}

V3 ellipsoid_moments(const V3& s, double mass) {
  const double x = s.x * s.x, y = s.y * s.y, z = s.z * s.z;
  return V3{y + z, x + z, x + y} * (mass / 5);
}

/// Two half balls (or half spheres), and a cylinder of half length h between them.
V3 capsule_moments(double r, double h, bool shell) {
  const double ends = shell ? r / (r + h) : 2 * r / (2 * r + 3 * h);  // their part of the mass
  const double middle = 1 - ends;
  const double ball = (shell ? 2.0 / 3 : 2.0 / 5) * ends * r * r;
  const double offset = shell ? r / 2 : 3 * r / 8;  // of a half ball's mass centre from its flat side
  // A half ball's inertia about its own mass centre, moved out to the end of the cylinder.
  const double moved = ends * ((h + offset) * (h + offset) - offset * offset);
  const double across = middle * (shell ? (6 * r * r + 4 * h * h) / 12 : (3 * r * r + 4 * h * h) / 12);
  const double along = middle * (shell ? r * r : r * r / 2);
  return {across + ball + moved, across + ball + moved, along + ball};
}

V3 cylinder_moments(double r, double h, bool shell) {
  if (!shell) {
    const double across = (3 * r * r + 4 * h * h) / 12;
    return {across, across, r * r / 2};
  }
  const double disk = r / (2 * (r + 2 * h));  // the part of the mass of one end
  const double wall = 1 - 2 * disk;
  const double across = wall * (6 * r * r + 4 * h * h) / 12 + 2 * disk * (r * r / 4 + h * h);
  return {across, across, wall * r * r + disk * r * r};
}

/// Of a shell: each pair of faces is two thin plates.
V3 box_moments(const V3& s, bool shell) {
  const double x = s.x * s.x, y = s.y * s.y, z = s.z * s.z;
  if (!shell) return V3{y + z, x + z, x + y} * (1.0 / 3);
  const double all = s.x * s.y + s.y * s.z + s.z * s.x;
  const double on_z = s.x * s.y / all, on_x = s.y * s.z / all, on_y = s.z * s.x / all;  // parts of the mass
  return {on_z * (y / 3 + z) + on_x * (y + z) / 3 + on_y * (z / 3 + y),
          on_z * (x / 3 + z) + on_x * (z / 3 + x) + on_y * (x + z) / 3,
          on_z * (x + y) / 3 + on_x * (y / 3 + x) + on_y * (x / 3 + y)};
}

/// A thin layer between two ellipsoids, as MuJoCo has it.
V3 ellipsoid_shell_moments(const V3& s) {
  const double thickness = 1e-6;
  const V3 outer{s.x + thickness, s.y + thickness, s.z + thickness};
  const double inside = s.x * s.y * s.z, outside = outer.x * outer.y * outer.z, layer = outside - inside;
  return ellipsoid_moments(outer, outside / layer) - ellipsoid_moments(s, inside / layer);
}

}  // namespace

double extent_of(const Geom& geom) { return geom.shell ? area_of(geom) : volume_of(geom); }

V3 moments_of(const Geom& g) {
  switch (g.kind) {
    case GeomKind::sphere:
      return V3{1, 1, 1} * ((g.shell ? 2.0 / 3 : 2.0 / 5) * g.size.x * g.size.x);
    case GeomKind::capsule:
      return capsule_moments(g.size.x, g.size.y, g.shell);
    case GeomKind::cylinder:
      return cylinder_moments(g.size.x, g.size.y, g.shell);
    case GeomKind::ellipsoid:
      return g.shell ? ellipsoid_shell_moments(g.size) : ellipsoid_moments(g.size, 1);
    case GeomKind::box:
    case GeomKind::hfield:
      return box_moments(g.size, g.shell);
    default:
      return {0, 0, 0};
  }
}

}  // namespace articula::mjcf
