#include "articula/files/mesh_mass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "articula/files/polygon.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using V3 = Vec3<double>;
using Corners = std::vector<std::uint32_t>;

const std::vector<V3> tetrahedron{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
const Corners outward{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

const std::vector<V3> cube{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                           {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
const Corners cube_faces{0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

void expect_near(const MassProperties& m, double mass, const V3& c, const Sym3<double>& J) {
  EXPECT_NEAR(m.mass, mass, 1e-14);
  EXPECT_NEAR(m.center_of_mass.x, c.x, 1e-14);
  EXPECT_NEAR(m.center_of_mass.y, c.y, 1e-14);
  EXPECT_NEAR(m.center_of_mass.z, c.z, 1e-14);
  EXPECT_NEAR(m.inertia.xx, J.xx, 1e-14);
  EXPECT_NEAR(m.inertia.yy, J.yy, 1e-14);
  EXPECT_NEAR(m.inertia.zz, J.zz, 1e-14);
  EXPECT_NEAR(m.inertia.xy, J.xy, 1e-14);
  EXPECT_NEAR(m.inertia.xz, J.xz, 1e-14);
  EXPECT_NEAR(m.inertia.yz, J.yz, 1e-14);
}

// About the mass centre of a tetrahedron with legs a, b, c: the integral of x^2 is 3 V a^2 / 80, of x y - V a b / 80.
TEST(MeshMass, Tetrahedron) {
  const Sym3<double> J{39. / 80, 30. / 80, 15. / 80, 2. / 80, 3. / 80, 6. / 80};
  for (const auto kind : {MeshInertia::exact, MeshInertia::legacy, MeshInertia::convex})
    expect_near(mass_of_mesh(tetrahedron, outward, kind), 1, {0.25, 0.5, 0.75}, J);
}

TEST(MeshMass, CubeAsSolidAndAsShell) {
  const V3 middle{0.5, 0.5, 0.5};
  expect_near(mass_of_mesh(cube, cube_faces, MeshInertia::exact), 1, middle,
              {1. / 6, 1. / 6, 1. / 6, 0, 0, 0});
  // Six plates of mass 1: 2 (1/12 + 1/12) + 4 (1/12 + 1/4) = 5/3.
  expect_near(mass_of_mesh(cube, cube_faces, MeshInertia::shell), 6, middle,
              {5. / 3, 5. / 3, 5. / 3, 0, 0, 0});
}

TEST(MeshMass, TrianglesThatAreTurnedInward) {
  Corners inward = outward;
  for (std::size_t i = 0; i < inward.size(); i += 3) std::swap(inward[i], inward[i + 1]);
  EXPECT_NEAR(mass_of_mesh(tetrahedron, inward, MeshInertia::exact).mass, -1, 1e-14);
  EXPECT_NEAR(mass_of_mesh(tetrahedron, inward, MeshInertia::legacy).mass, 1, 1e-14);
}

TEST(MeshMass, NothingEnclosed) {
  EXPECT_EQ(mass_of_mesh(tetrahedron, {}, MeshInertia::exact).mass, 0);
  const std::vector<V3> flat{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.3, 0}};
  EXPECT_TRUE(convex_hull(flat).empty());
  EXPECT_TRUE(convex_hull(std::vector<V3>(9, V3{1, 2, 3})).empty());
  EXPECT_EQ(mass_of_mesh(flat, outward, MeshInertia::convex).mass, 0);
}

TEST(MeshMass, ConvexHullLeavesOutWhatIsInside) {
  std::vector<V3> points = cube;
  testing::Rng rng(3);
  for (int i = 0; i < 200; ++i) points.push_back({rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0, 1)});
  for (int i = 0; i < 20; ++i) points.push_back({rng.uniform(0, 1), 1, 0.5});  // on a face
  expect_near(mass_of_mesh(points, {}, MeshInertia::convex), 1, {0.5, 0.5, 0.5},
              {1. / 6, 1. / 6, 1. / 6, 0, 0, 0});
}

// Every point is behind every face, and Euler's formula holds.
TEST(MeshMass, ConvexHullOfPointsOnASphere) {
  testing::Rng rng(1);
  std::vector<V3> points;
  for (int i = 0; i < 300; ++i) points.push_back(rng.direction());
  const Corners hull = convex_hull(points);
  const std::size_t faces = hull.size() / 3;
  EXPECT_EQ(std::set<std::uint32_t>(hull.begin(), hull.end()).size(), 300u);
  EXPECT_EQ(faces, 2 * 300u - 4);
  for (std::size_t f = 0; f < faces; ++f) {
    const V3 a = points[hull[3 * f]], b = points[hull[3 * f + 1]], c = points[hull[3 * f + 2]];
    const V3 n = cross(b - a, c - a);
    for (const V3& p : points) ASSERT_LE(dot(n, p - a), 1e-12);
  }
  const double volume = mass_of_mesh(points, hull, MeshInertia::exact).mass;
  EXPECT_LT(volume, 4.18879);
  EXPECT_GT(volume, 4.0);
}

double area_of(std::span<const float> points, const Corners& corners) {
  double area = 0;
  for (std::size_t i = 0; i < corners.size(); i += 3) {
    const auto at = [&](std::size_t k) {
      return V3{points[3 * corners[k]], points[3 * corners[k] + 1], points[3 * corners[k] + 2]};
    };
    const V3 n = cross(at(i + 1) - at(i), at(i + 2) - at(i));
    EXPECT_GT(n.z, 0) << "turned round";
    area += n.z / 2;
  }
  return area;
}

// The letter L, whose corners cannot all be joined to the first one.
TEST(Polygon, WithADent) {
  const std::vector<float> points{2, 0, 0, 2, 1, 0, 1, 1, 0, 1, 2, 0, 0, 2, 0, 0, 0, 0};
  for (std::uint32_t first = 0; first < 6; ++first) {
    Corners polygon, corners;
    for (std::uint32_t i = 0; i < 6; ++i) polygon.push_back((first + i) % 6);
    PolygonCutter().cut(points, polygon, corners);
    EXPECT_EQ(corners.size(), 12u);
    EXPECT_DOUBLE_EQ(area_of(points, corners), 3);
  }
}

// A regular pentagon away from the origin, which MuJoCo's rule cuts soundly.
TEST(Polygon, AsMujocoCutsThem) {
  std::vector<float> points;
  for (int i = 0; i < 5; ++i)
    points.insert(points.end(),
                  {3 + std::cos(1.2566371f * float(i)), 3 + std::sin(1.2566371f * float(i)), 0});
  Corners corners;
  PolygonCutter(true).cut(points, Corners{0, 1, 2, 3, 4}, corners);
  EXPECT_EQ(corners.size(), 9u);
  EXPECT_NEAR(area_of(points, corners), 2.5 * std::sin(1.2566370614), 1e-6);
  corners.clear();
  PolygonCutter(true).cut(points, Corners(101, 1), corners);
  EXPECT_TRUE(corners.empty());
}

TEST(Polygon, OfFourIsCutByItsShorterDiagonal) {
  const std::vector<float> points{0, 0, 0, 3, 0, 0, 3.5, 1, 0, 0.5, 1, 0};
  Corners corners;
  PolygonCutter().cut(points, Corners{0, 1, 2, 3}, corners);
  EXPECT_EQ(corners, (Corners{0, 1, 3, 1, 2, 3}));
}

TEST(Polygon, WithoutAreaStillEnds) {
  const std::vector<float> points{0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 2, 0, 0};
  Corners corners;
  PolygonCutter().cut(points, Corners{0, 1, 2, 3, 4, 5}, corners);
  EXPECT_EQ(corners.size(), 12u);
}

}  // namespace
}  // namespace articula
