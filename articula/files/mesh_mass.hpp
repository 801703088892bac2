// Mass properties of solids and shells that triangles enclose: exact integrals, whatever the triangles are from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula {

/// How triangles become a body, by MuJoCo's names. exact: the integral over the volume that they enclose, which
/// wants them closed and turned outward. legacy: the same with every tetrahedron between a triangle and the
/// centre counted as positive, so that holes and turned triangles do no great harm. convex: of the convex hull.
/// shell: of the surface.
enum class MeshInertia : unsigned char { legacy, exact, convex, shell };

/// At density one, of volume or of surface. `corners` has three indices of `points` per triangle. The mass comes
/// out zero or negative where there is no such body (flat, or turned inside out); the rest is then without
/// meaning.
MassProperties mass_of_mesh(std::span<const Vec3<double>> points, std::span<const std::uint32_t> corners,
                            MeshInertia kind);

/// Triangles of the convex hull, turned outward; none if all points lie in a plane.
std::vector<std::uint32_t> convex_hull(std::span<const Vec3<double>> points);

}  // namespace articula
