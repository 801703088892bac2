#include "articula/files/screws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/spatial/host_vectors.hpp"
#include "articula/spatial/inertia.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;

constexpr double unit_tolerance = 1e-6;
constexpr double no_pitch = 1e-9;  // metres per radian, and of |v|: what rounding leaves of a pitch of zero

std::string shown_screw(const Spatial<double>& s) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g}, {:.6g}, {:.6g}, {:.6g})", s.w.x, s.w.y, s.w.z, s.v.x, s.v.y,
                     s.v.z);
}

/// The line that a screw turns about or slides along, and how.
struct Line {
  JointKind kind;
  V3 direction;
  V3 point;  // the nearest one to a given point; of a slide: that point itself
  double pitch;
};

Line line_of(const Spatial<double>& S, const V3& near, std::size_t number) {
  const double turning = norm(S.w), sliding = norm(S.v);
  if (!std::isfinite(turning) || !std::isfinite(sliding))
    throw ModelError(fmt::format("screw {} is {}; expected finite numbers", number, shown_screw(S)));
  const double length = turning > 0 ? turning : sliding;
  if (std::abs(length - 1) > unit_tolerance)
    throw ModelError(
        fmt::format("screw {} is {}; expected |w| = 1, or w = 0 and |v| = 1: divide it by {:.9g}", number,
                    shown_screw(S), length));
  const V3 w = S.w * (1 / length), v = S.v * (1 / length);
  if (turning == 0) return {JointKind::prismatic, v, near, 0};
  const double pitch = dot(w, v);
  const V3 nearest_to_origin = cross(w, v);
  const V3 point = nearest_to_origin + w * dot(w, near);
  if (std::abs(pitch) <= no_pitch * std::max(1.0, sliding)) return {JointKind::revolute, w, point, 0};
  return {JointKind::helical, w, point, pitch};
}

void check_home(const Pose& home, std::size_t number) {
  const Mat3<double> off = home.R * star(home.R) - Mat3<double>::identity();
  const double worst = std::max({std::abs(off.xx), std::abs(off.xy), std::abs(off.xz), std::abs(off.yy),
                                 std::abs(off.yz), std::abs(off.zz)});
  const bool finite = std::isfinite(norm(home.p));
  if (finite && worst <= unit_tolerance) return;
  throw ModelError(
      fmt::format("the home pose of link {} is not a rigid motion (R R* is off by {:.3g}); expected a finite "
                  "position and an orthonormal rotation",
                  number, worst));
}

}  // namespace

ModelSpec spec_of(const ScrewChain& chain) {
  if (chain.links.empty()) throw ModelError("the chain has no screws; expected one for each joint");
  ModelSpec spec;
  spec.name = chain.name;
  spec.add_link({"base"});
  std::string parent = "base";
  Pose parent_at_zero;  // the parent link's frame in the space frame
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    const ScrewLink& link = chain.links[i];
    const std::size_t number = i + 1;
    check_home(link.home, number);
    const Line line = line_of(link.screw, link.home.p, number);
    const Pose at_zero{link.home.R, line.point};  // axes of link frame i, on the joint's axis
    const V3 offset = star_times(link.home.R, link.home.p - line.point);
    JointSpec joint;
    joint.name = link.joint_name.empty() ? fmt::format("joint{}", number) : link.joint_name;
    joint.kind = line.kind;
    joint.parent = parent;
    joint.child = link.link_name.empty() ? fmt::format("link{}", number) : link.link_name;
    joint.placement = inverse(parent_at_zero) * at_zero;
    joint.axis = star_times(link.home.R, line.direction);
    joint.pitch = line.pitch;
    joint.limits = link.limits;
    joint.armature = link.armature;
    joint.damping = link.damping;
    joint.friction = link.friction;
    MassProperties mass = link.mass;
    mass.center_of_mass += offset;
    spec.add_link({joint.child, mass});
    spec.add_frame({fmt::format("frame{}", number), joint.child, {Mat3<double>::identity(), offset}});
    parent = joint.child;
    parent_at_zero = at_zero;
    spec.add_joint(std::move(joint));
  }
  spec.add_frame({"tool", parent, inverse(parent_at_zero) * chain.tool});
  return spec;
}

MassProperties mass_properties(const std::array<std::array<double, 6>, 6>& G) {
  double largest = 0;
  for (const auto& row : G)
    for (const double x : row) {
      if (!std::isfinite(x))
        throw ModelError(fmt::format("the spatial inertia holds {}; expected finite numbers", x));
      largest = std::max(largest, std::abs(x));
    }
  const double m = G[3][3];
  const V3 mp{G[2][4], G[0][5], G[1][3]};
  const Mat3<double> B = tilde(mp);
  const double expected[6][3] = {{B.xx, B.xy, B.xz}, {B.yx, B.yy, B.yz}, {B.zx, B.zy, B.zz},
                                 {m, 0, 0},          {0, m, 0},          {0, 0, m}};
  double off = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      off = std::max(off, std::abs(G[i][j] - G[j][i]));
      if (j >= 3) off = std::max(off, std::abs(G[i][j] - expected[i][j - 3]));
    }
  if (!(off <= 1e-9 * largest) || (m == 0 && norm(mp) > 0))
    throw ModelError(
        fmt::format("the spatial inertia is not [[J, m p~], [-m p~, m Id]]: off by {:.3g}; rotation comes "
                    "first here, as in MR9",
                    off));
  const V3 p = m == 0 ? V3{0, 0, 0} : mp * (1 / m);
  const Sym3<double> J{G[0][0], G[1][1], G[2][2], G[0][1], G[0][2], G[1][2]};
  return {m, p, J - minus_tilde_tilde(p, mp * 0.5)};
}

}  // namespace articula
