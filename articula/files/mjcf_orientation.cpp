// Orientations as MJCF states them.
#include <cctype>
#include <cmath>
#include <numbers>

#include "articula/files/mjcf_document.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;
using M3 = Mat3<double>;

V3 axis_of_letter(char letter) {
  const char c = char(std::tolower(static_cast<unsigned char>(letter)));
  return c == 'x' ? V3{1, 0, 0} : c == 'y' ? V3{0, 1, 0} : V3{0, 0, 1};
}

M3 turn(const V3& axis, double angle) { return rotation(exp_quaternion(axis * (angle / norm(axis)))); }

M3 too_short(const Attributes& a, const char* attribute) {
  a.files().error(a.element(), "{} of <{}> has a direction of no length; correct it", attribute,
                  a.element().Name());
  return M3::identity();
}

M3 from_quaternion(const Attributes& a) {
  const auto q = a.numbers("quat", 4, 4);
  if (!q) return M3::identity();
  const auto& n = *q;
  const double norm = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
  if (!(norm > 1e-10 && norm < 1e150)) {
    a.files().warning(a.element(), "quat of <{}> has no length; it is taken as 1 0 0 0: correct it",
                      a.element().Name());
    return M3::identity();
  }
  return rotation(normalized(Quaternion<double>{n[1] / norm, n[2] / norm, n[3] / norm, n[0] / norm}));
}

M3 from_axes(const Attributes& a) {
  const auto n = a.numbers("xyaxes", 6, 6);
  if (!n) return M3::identity();
  V3 x{(*n)[0], (*n)[1], (*n)[2]}, y{(*n)[3], (*n)[4], (*n)[5]};
  if (!(norm(x) > 1e-14)) return too_short(a, "xyaxes");
  x = x * (1 / norm(x));
  y -= x * dot(x, y);
  if (!(norm(y) > 1e-14)) return too_short(a, "xyaxes");
  y = y * (1 / norm(y));
  return from_columns(x, y, cross(x, y));
}

}  // namespace

M3 rotation_from_euler(const V3& angles, const Compiler& compiler) {
  const double unit = compiler.degrees ? std::numbers::pi / 180 : 1;
  const double by[3] = {angles.x, angles.y, angles.z};
  M3 R = M3::identity();
  for (std::size_t i = 0; i < 3; ++i) {
    const char letter = compiler.euler[i];
    const M3 one = turn(axis_of_letter(letter), by[i] * unit);
    // Small letters: axes that turn along.
    R = std::islower(static_cast<unsigned char>(letter)) ? R * one : one * R;
  }
  return R;
}

M3 orientation(const Attributes& a, const Compiler& compiler) {
  const char* const which = a.nearest({"axisangle", "xyaxes", "zaxis", "euler"});
  if (!which) return from_quaternion(a);
  const std::string_view kind = which;
  if (kind == "euler") return rotation_from_euler(a.vector("euler", {0, 0, 0}), compiler);
  if (kind == "xyaxes") return from_axes(a);
  if (kind == "zaxis") {
    const V3 z = a.vector("zaxis", {0, 0, 1});
    return norm(z) > 1e-14 ? rotation_from_z(z * (1 / norm(z))) : too_short(a, which);
  }
  const auto n = a.numbers("axisangle", 4, 4);
  if (!n) return M3::identity();
  const V3 axis{(*n)[0], (*n)[1], (*n)[2]};
  const double angle = (*n)[3] * (compiler.degrees ? std::numbers::pi / 180 : 1);
  return norm(axis) > 1e-14 ? turn(axis, angle) : too_short(a, which);
}

}  // namespace articula::mjcf
