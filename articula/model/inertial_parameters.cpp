#include "articula/model/inertial_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/spatial/dense.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

/// m (|c|^2 Id - c c*).
Sym3<double> of_point(const Vec3<double>& c, const Vec3<double>& mc) {
  return minus_tilde_tilde(c, mc * 0.5);
}

Sym3<double> inertia_of(const InertialParameters& p) { return {p[4], p[7], p[9], p[5], p[6], p[8]}; }
Vec3<double> moment_of(const InertialParameters& p) { return {p[1], p[2], p[3]}; }

/// About the mass centre.
Sym3<double> central_inertia(const InertialParameters& p) {
  const Sym3<double> J = inertia_of(p);
  if (p[0] == 0) return J;
  const Vec3<double> h = moment_of(p);
  const Sym3<double> shift = of_point(h * (1 / p[0]), h);
  return {J.xx - shift.xx, J.yy - shift.yy, J.zz - shift.zz,
          J.xy - shift.xy, J.xz - shift.xz, J.yz - shift.yz};
}

/// By its pivots: no eigenvalue is needed for the many bodies that are sound.
bool positive_definite(const Sym3<double>& J) {
  if (!(J.xx > 0)) return false;
  const double a = J.xy / J.xx, b = J.xz / J.xx;
  const double yy = J.yy - a * J.xy, yz = J.yz - a * J.xz;
  return yy > 0 && J.zz - b * J.xz - yz * yz / yy > 0;
}

}  // namespace

InertialParameters inertial_parameters(const MassProperties& mass) {
  const Vec3<double> h = mass.center_of_mass * mass.mass;
  const Sym3<double> J = mass.inertia + of_point(mass.center_of_mass, h);
  return {mass.mass, h.x, h.y, h.z, J.xx, J.xy, J.xz, J.yy, J.yz, J.zz};
}

std::vector<double> inertial_parameters(const Model& model) {
  std::vector<double> out;
  out.reserve(inertial_parameter_count * model.bodies().size());
  for (const Body& body : model.bodies()) {
    const InertialParameters p = inertial_parameters(body.mass);
    out.insert(out.end(), p.begin(), p.end());
  }
  return out;
}

MassProperties mass_properties(const InertialParameters& p) {
  if (p[0] == 0) return {0, {0, 0, 0}, inertia_of(p)};
  return {p[0], moment_of(p) * (1 / p[0]), central_inertia(p)};
}

std::optional<std::string> problem_with(const InertialParameters& p, double rounding) {
  static constexpr const char* names[] = {"the mass", "the mass times the mass centre", "the inertia"};
  constexpr double largest_number = 1e30;
  for (int i = 0; i < inertial_parameter_count; ++i)
    if (!(std::abs(p[i]) <= largest_number))
      return fmt::format("{} has {}, expected a finite number", names[i == 0 ? 0 : i < 4 ? 1 : 2], p[i]);
  if (p[0] < 0) return fmt::format("the mass is {:.6g} kg, expected zero or more", p[0]);
  const Vec3<double> h = moment_of(p);
  if (p[0] == 0 && (h.x != 0 || h.y != 0 || h.z != 0))
    return fmt::format("the mass is zero, but mass times mass centre is ({:.6g}, {:.6g}, {:.6g})", h.x, h.y,
                       h.z);
  const Sym3<double> J = central_inertia(p);
  if (!std::isfinite(J.xx + J.yy + J.zz + J.xy + J.xz + J.yz))
    return fmt::format("the mass centre is too far for the mass {:.6g} kg", p[0]);
  if (positive_definite(J)) return std::nullopt;
  const auto moments = principal_moments(J);
  const double largest = std::max(std::abs(moments[0]), std::abs(moments[2]));
  // Taking the mass' share away leaves the rounding of what it is taken from.
  const double lost = 16 * rounding * (std::abs(p[4]) + std::abs(p[7]) + std::abs(p[9]));
  if (moments[0] >= -negative_moment * largest - lost) return std::nullopt;
  return fmt::format(
      "the inertia is not positive: about the mass centre its principal moments are {:.6g}, {:.6g}, {:.6g} "
      "kg "
      "m^2; check that it is about the link's origin",
      moments[0], moments[1], moments[2]);
}

void weld(MassProperties& body, const MassProperties& piece, const Pose& pose) {
  if (piece.mass == 0) {  // pure rotational inertia, as some files give rotors
    body.inertia += turned(pose.R, piece.inertia);
    return;
  }
  const Vec3<double> c = pose.p + pose.R * piece.center_of_mass;
  const double mass = body.mass + piece.mass;
  if (mass == 0) {  // only if one of them is negative
    body = {};
    return;
  }
  const Vec3<double> center = (body.center_of_mass * body.mass + c * piece.mass) * (1 / mass);
  const auto about = [&](double m, const Vec3<double>& from) {  // m (|r|^2 Id - r r*), r from the new centre
    const Vec3<double> r = from - center;
    return minus_tilde_tilde(r, r * (0.5 * m));
  };
  body.inertia = body.inertia + about(body.mass, body.center_of_mass) + turned(pose.R, piece.inertia) +
                 about(piece.mass, c);
  body.mass = mass;
  body.center_of_mass = center;
}

std::array<double, 3> principal_moments(const Sym3<double>& J) {
  if (J.xy == 0 && J.xz == 0 && J.yz == 0) {
    std::array<double, 3> moments{J.xx, J.yy, J.zz};
    std::sort(moments.begin(), moments.end());
    return moments;
  }
  const dense::PrincipalAxes principal(J);
  const auto& v = principal.values;
  const double rounding = 1e-15 * dense::largest(dense::view(v));
  const auto clean = [rounding](double x) { return std::abs(x) <= rounding ? 0 : x; };
  return {clean(v[0]), clean(v[1]), clean(v[2])};
}

InertialConstants inertial_constants(double mass, const Vec3<double>& mp, const Sym3<double>& J) {
  const dense::PrincipalAxes principal(J);
  const auto& d = principal.values;
  const Vec3<double> a = principal.axes[0] * std::sqrt(std::max(0.0, d[1] - d[0]));
  const Vec3<double> b = principal.axes[2] * std::sqrt(std::max(0.0, d[2] - d[1]));
  return {mp, (b - a) * 0.5, b + a, mass, d[1], (J.xx + J.yy + J.zz) / 2 - d[1], J};
}

InertialConstants inertial_constants(const InertialParameters& p, const Mat3<double>& link_axes) {
  return inertial_constants(p[0], link_axes * moment_of(p),
                            symmetric(link_axes * full(inertia_of(p)) * star(link_axes)));
}

}  // namespace articula
