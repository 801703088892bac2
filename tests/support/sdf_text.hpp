// Texts of SDF, and what is read from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/sdf.hpp"

namespace articula::testing::sdf_text {

using Numbers = std::vector<double>;

inline LoadedModel parsed(const std::string& text) { return parse_sdf({text, "m.sdf", ""}); }
inline LoadedModel parsed(int minor, const std::string& inside) {
  return parsed("<sdf version=\"1." + std::to_string(minor) + "\">" + inside + "</sdf>");
}
inline const JointSpec& joint_of(const LoadedModel& loaded, const std::string& name) {
  for (const JointSpec& j : loaded.spec.joints)
    if (j.name == name) return j;
  throw std::runtime_error("no joint " + name);
}
inline const LinkSpec& link_of(const LoadedModel& loaded, const std::string& name) {
  for (const LinkSpec& l : loaded.spec.links)
    if (l.name == name) return l;
  throw std::runtime_error("no link " + name);
}
inline Pose pose_of_frame(const Model& model, const std::string& frame, const Numbers& q) {
  const auto at = pose(model, q, frame);
  return {at.rotation, at.position};
}
inline Pose pose_of_frame(const Model& model, const std::string& frame) {
  Numbers q(std::size_t(model.nq()));
  for (const Joint& j : model.joints())
    if (j.mimics < 0 && (j.kind == JointKind::spherical || j.kind == JointKind::free))
      q[std::size_t(j.q_index) + 3] = 1;
  return pose_of_frame(model, frame, q);
}
inline void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance = 1e-14) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}
/// Is there a finding of this severity whose place and text hold these?
inline bool tells(const std::vector<Finding>& findings, Finding::Severity severity, const std::string& where,
                  const std::string& text) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.severity == severity && f.where.find(where) != f.where.npos &&
           f.message.find(text) != f.message.npos;
  });
}
inline constexpr auto error = Finding::Severity::error;
inline constexpr auto warning = Finding::Severity::warning;

inline const std::string mass =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1.5</iyy><izz>2</izz></inertia></inertial>";
inline std::string link(const std::string& name, const std::string& inside = "") {
  return "<link name='" + name + "'>" + inside + mass + "</link>";
}
inline std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                         const std::string& child,
                         const std::string& inside = "<axis><xyz>0 0 1</xyz></axis>") {
  return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" + child +
         "</child>" + inside + "</joint>";
}
inline std::string model(const std::string& inside, const std::string& attributes = "") {
  return "<model name='m'" + attributes + ">" + inside + "</model>";
}

}  // namespace articula::testing::sdf_text
