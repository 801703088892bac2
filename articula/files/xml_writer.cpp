#include "articula/files/xml_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "articula/error.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;

double distance(const Mat3<double>& a, const Mat3<double>& b) {
  const Mat3<double> d = a - b;
  double worst = 0;
  for (const double x : {d.xx, d.xy, d.xz, d.yx, d.yy, d.yz, d.zx, d.zy, d.zz})
    worst = std::max(worst, std::abs(x));
  return worst;
}

/// Roll, pitch and yaw of R, exact also near pitch = pi/2: there roll makes up for whatever yaw is chosen.
V3 first_angles(const Mat3<double>& R) {
  const double pitch = std::atan2(-R.zx, std::hypot(R.xx, R.yx)), yaw = std::atan2(R.yx, R.xx);
  const double s = std::sin(yaw), c = std::cos(yaw);
  return {std::atan2(s * R.xz - c * R.yz, c * R.yy - s * R.xy), pitch, yaw};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\r':
      case '\t':
        out += fmt::format("&#{};", int(c));
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string say(const V3& a) { return fmt::format("{} {} {}", a.x, a.y, a.z); }
std::string say(const std::array<double, 4>& a) { return fmt::format("{} {} {} {}", a[0], a[1], a[2], a[3]); }

/// The angles within two last places of those above that give R best; if R came from a URDF file, R itself.
V3 angles_of(const Mat3<double>& R) {
  const V3 start = first_angles(R);
  V3 best = start;
  double least = distance(rotation_from_rpy(start.x, start.y, start.z), R);
  const auto around = [](double x) {
    const double up = std::nextafter(x, infinity), down = std::nextafter(x, -infinity);
    return std::array{x, up, down, std::nextafter(up, infinity), std::nextafter(down, -infinity)};
  };
  for (const double roll : around(start.x))
    for (const double pitch : around(start.y))
      for (const double yaw : around(start.z)) {
        if (least == 0) return best;
        const double off = distance(rotation_from_rpy(roll, pitch, yaw), R);
        if (off < least) best = {roll, pitch, yaw}, least = off;
      }
  return best;
}

ShapesByLink by_link(const ModelExtras& extras) {
  ShapesByLink out;
  for (const LinkShapes& link : extras.shapes) out.emplace(link.link, &link);
  return out;
}

std::string file_of(const Shape& mesh, const ModelExtras& extras) {
  if (!mesh.mesh || mesh.mesh->path.empty()) return "";
  std::error_code failed;
  const auto out =
      std::filesystem::proximate(mesh.mesh->path, extras.folder.empty() ? "." : extras.folder, failed);
  return failed ? mesh.mesh->path : out.string();
}

void require_finite(std::string_view format, const std::string& owner,
                    std::initializer_list<double> numbers) {
  for (const double x : numbers)
    if (!std::isfinite(x))
      throw ModelError(
          fmt::format("{} has a number that is not finite, which {} cannot say; correct it before writing",
                      owner, format));
}
void require_finite(std::string_view format, const std::string& owner, const Pose& pose) {
  const Mat3<double>& R = pose.R;
  require_finite(format, owner,
                 {pose.p.x, pose.p.y, pose.p.z, R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz});
}

}  // namespace articula
