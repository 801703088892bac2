#include "articula/files/mjcf_inertia.hpp"

#include <algorithm>
#include <cmath>

#include "articula/error.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/spatial/dense.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;
constexpr double smallest = 1e-15;       // MuJoCo's mjMINVAL: less is no volume
constexpr double smallest_mass = 1e-14;  // mjEPS: less is no mass

/// Axes and moments, largest first, as MuJoCo sorts them.
struct Principal {
  Mat3<double> axes;  // columns
  double moments[3];
};
Principal principal_axes(const Sym3<double>& J) {
  const dense::PrincipalAxes p(J);  // ascending
  return {from_columns(p.axes[2], p.axes[1], cross(p.axes[2], p.axes[1])),
          {p.values[2], p.values[1], p.values[0]}};
}

std::uint32_t third(std::size_t corner, bool mirrored) {
  return std::uint32_t(mirrored && corner % 3 > 0 ? corner - corner % 3 + (3 - corner % 3) : corner);
}

/// At density one, in the axes of the geom. Null, and an error, if it cannot be had.
const MassProperties* mass_of(MeshAsset& mesh, const Element& asked, Files& files) {
  if (mesh.mass) return &*mesh.mass;
  const TriangleMesh* const triangles = triangles_of(mesh, files);
  const auto fail = [&](const std::string& why) {
    files.error(
        asked,
        "the mass of this <geom> is that of a mesh ({}), and {}; correct the mesh, or state the body's "
        "<inertial>",
        files.where(*mesh.element), why);
    return nullptr;
  };
  if (!triangles) return fail(mesh.problem);
  const auto points = placed_points(mesh, *triangles);
  std::vector<std::uint32_t> corners(triangles->corners.size());
  const bool mirrored = mesh.scale.x * mesh.scale.y * mesh.scale.z < 0;
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i] = triangles->corners[third(i, mirrored)];
  if (corners.empty()) corners = convex_hull(points);  // points alone mean their hull
  const MassProperties mass = mass_of_mesh(points, corners, mesh.inertia);
  if (!(mass.mass >= smallest))
    return fail(mass.mass < 0 ? "its volume is negative: triangles are turned inward"
                              : "it encloses no volume: inertia=\"shell\" takes its surface");
  mesh.mass = mass;
  return &*mesh.mass;
}

bool is_sized(const Geom& g) {
  const bool two = g.kind == GeomKind::capsule || g.kind == GeomKind::cylinder;
  const bool three = g.kind == GeomKind::ellipsoid || g.kind == GeomKind::box || g.kind == GeomKind::hfield;
  return g.size.x > 0 && (!(two || three) || g.size.y > 0) && (!three || g.size.z > 0);
}

/// In the body's axes; nothing if it has no mass.
std::optional<MassProperties> mass_of_geom(const Geom& stated, const Compiler& compiler, Files& files) {
  if (stated.kind == GeomKind::plane || (stated.mass && *stated.mass == 0)) return {};
  if (!stated.mass && stated.density == 0) return {};
  if (stated.kind == GeomKind::sdf) {
    files.error(*stated.element,
                "the mass of a <geom> of type sdf is not computed; state the body's <inertial>");
    return {};
  }
  MassProperties own;  // at density one
  Pose pose = stated.pose;
  if (stated.kind == GeomKind::mesh) {
    const MassProperties* const mesh = stated.mesh ? mass_of(*stated.mesh, *stated.element, files) : nullptr;
    if (!mesh) return {};
    own = *mesh;
  } else {
    const Geom geom = stated.mesh ? fitted(stated, compiler, files) : stated;
    if (!is_sized(geom)) {
      files.error(*stated.element, "<geom> has no size, or one that is not positive; correct it");
      return {};
    }
    pose = geom.pose;
    own.mass = extent_of(geom);
    const V3 moments = moments_of(geom) * own.mass;
    own.inertia = {moments.x, moments.y, moments.z, 0, 0, 0};
  }
  if (stated.mass && !(own.mass > smallest_mass)) return {};
  const double density = stated.mass ? *stated.mass / own.mass : stated.density;
  if (density < 0) {
    files.error(*stated.element, "<geom> has a negative mass or density; correct it");
    return {};
  }
  MassProperties out;
  own.mass *= density;
  for (double* x :
       {&own.inertia.xx, &own.inertia.yy, &own.inertia.zz, &own.inertia.xy, &own.inertia.xz, &own.inertia.yz})
    *x *= density;
  if (!(own.mass > smallest_mass)) return {};
  weld(out, own, pose);
  return out;
}

/// boundmass, boundinertia and balanceinertia.
void apply_bounds(MassProperties& mass, const Compiler& compiler) {
  mass.mass = std::max(mass.mass, compiler.least_mass);
  const bool bounded = compiler.least_inertia > 0;
  if (!bounded && !compiler.balance) return;
  Principal p = principal_axes(mass.inertia);
  double(&m)[3] = p.moments;
  if (bounded)
    for (double& x : m) x = std::max(x, compiler.least_inertia);
  const bool impossible = m[0] + m[1] < m[2] || m[0] + m[2] < m[1] || m[1] + m[2] < m[0];
  if (impossible && compiler.balance) m[0] = m[1] = m[2] = (m[0] + m[1] + m[2]) / 3;
  const Sym3<double> J{m[0], m[1], m[2], 0, 0, 0};
  mass.inertia = symmetric(p.axes * (J * star(p.axes)));
}

}  // namespace

const TriangleMesh* triangles_of(MeshAsset& mesh, Files& files) {
  if (mesh.is_read) return mesh.triangles.get();
  mesh.is_read = true;
  if (!mesh.problem.empty()) return nullptr;
  if (mesh.file.empty()) {
    auto given = std::make_shared<TriangleMesh>();
    for (const V3& p : mesh.given_points)
      for (const double x : {p.x, p.y, p.z}) given->points.push_back(float(x));
    given->corners = mesh.given_corners;
    mesh.triangles = std::move(given);
    return mesh.triangles.get();
  }
  auto found = files.find(mesh.folder, mesh.file);
  if (!found) found = files.find(files.folder_of(*mesh.element), mesh.file);
  if (!found) {
    mesh.problem = fmt::format("its file {} was not found below the model's folder", in_quotes(mesh.file));
    return nullptr;
  }
  try {
    mesh.triangles =
        std::make_shared<TriangleMesh>(read_mesh(found->path, shown(mesh.file), ObjContent::as_mujoco));
  } catch (const ModelError& error) {
    mesh.problem = error.what();
  }
  return mesh.triangles.get();
}

std::vector<V3> placed_points(const MeshAsset& mesh, const TriangleMesh& triangles) {
  std::vector<V3> out(triangles.points.size() / 3);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float* const at = triangles.points.data() + 3 * i;
    const V3 p = star_times(mesh.reference_axes, V3{at[0], at[1], at[2]} - mesh.reference_position);
    out[i] = {p.x * mesh.scale.x, p.y * mesh.scale.y, p.z * mesh.scale.z};
  }
  return out;
}

Geom fitted(const Geom& geom, const Compiler& compiler, Files& files) {
  Geom out = geom;
  const MassProperties* const mass = mass_of(*geom.mesh, *geom.element, files);
  if (!mass) return out;
  const Principal p = principal_axes(mass->inertia);
  const auto half = [&](int i, int j, int k) {
    return 0.5 * std::sqrt(std::max(0.0, 6 * (p.moments[i] + p.moments[j] - p.moments[k]) / mass->mass));
  };
  V3 box{half(1, 2, 0), half(0, 2, 1), half(0, 1, 2)}, center{0, 0, 0};
  const bool round = geom.kind == GeomKind::capsule || geom.kind == GeomKind::cylinder;
  if (compiler.fit_box) {
    constexpr double far = std::numeric_limits<double>::max();
    V3 low{far, far, far}, high{-far, -far, -far};
    for (const V3& point : placed_points(*geom.mesh, *triangles_of(*geom.mesh, files))) {
      const V3 x = star_times(p.axes, point - mass->center_of_mass);
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    center = (low + high) * 0.5;
    box = high - center;
    out.size = round ? V3{std::max(box.x, box.y), box.z, 0} : box;
    if (geom.kind == GeomKind::sphere) out.size.x = std::max({box.x, box.y, box.z});
    if (geom.kind == GeomKind::capsule) out.size.y -= out.size.x;
  } else {
    out.size = round ? V3{(box.x + box.y) / 2, box.z, 0} : box;
    if (geom.kind == GeomKind::sphere) out.size.x = (box.x + box.y + box.z) / 3;
    if (geom.kind == GeomKind::capsule) out.size.y = std::max(0.0, box.z - out.size.x / 2);
  }
  out.size = out.size * geom.fit_scale;
  out.pose = geom.pose * Pose{p.axes, mass->center_of_mass + p.axes * center};
  return out;
}

MassProperties mass_of_body(const BodyItem& body, Files& files) {
  const Compiler& compiler = body.document->compiler;
  MassProperties out = body.inertial.value_or(MassProperties{});
  const bool from_geoms = compiler.inertia_from_geoms == Compiler::always ||
                          (compiler.inertia_from_geoms == Compiler::automatic && !body.inertial);
  bool any = false;
  if (from_geoms) {
    MassProperties sum;
    for (const Geom& geom : body.geoms) {
      if (geom.group < compiler.first_group || geom.group > compiler.last_group) continue;
      const auto mass = mass_of_geom(geom, compiler, files);
      if (!mass) continue;
      weld(sum, *mass, {});
      any = true;
    }
    if (any) out = sum;
  }
  if (!any && !body.inertial) {
    // MuJoCo puts the inertial frame of a body without any as far from the body's own as that is from its
    // parent's; boundmass then makes a mass there.
    out.center_of_mass = body.stated_pose.p;
  }
  apply_bounds(out, compiler);
  if (out.mass == 0) out.center_of_mass = {0, 0, 0};
  return out;
}

}  // namespace articula::mjcf
