// Texts of MJCF, and what is read from them.
#pragma once

#include <gtest/gtest.h>

#include <numbers>
#include <stdexcept>
#include <string>

#include "articula/error.hpp"
#include "articula/files/mjcf.hpp"

namespace articula::testing::mjcf_text {

using V3 = Vec3<double>;
inline constexpr double pi = std::numbers::pi;

inline LoadedModel read(const std::string& text, const std::string& folder = "/nowhere") {
  return parse_mjcf({"<mujoco>" + text + "</mujoco>", "m.xml", folder});
}
/// Bodies in <worldbody>.
inline LoadedModel read_bodies(const std::string& text) {
  return read("<worldbody>" + text + "</worldbody>");
}

inline std::string findings(const LoadedModel& model) {
  std::string out;
  for (const Finding& f : model.findings) out += describe(f) + "\n";
  return out;
}
inline void expect_finding(const LoadedModel& model, const std::string& part) {
  EXPECT_NE(findings(model).find(part), std::string::npos) << part << "\nis not in\n" << findings(model);
}
inline std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

inline const LinkSpec& link(const LoadedModel& model, const std::string& name) {
  for (const LinkSpec& l : model.spec.links)
    if (l.name == name) return l;
  throw std::runtime_error("no link " + name);
}
inline const JointSpec& joint(const LoadedModel& model, const std::string& name) {
  for (const JointSpec& j : model.spec.joints)
    if (j.name == name) return j;
  throw std::runtime_error("no joint " + name);
}
inline void expect_mass(const MassProperties& m, double mass, const V3& moments, double tolerance = 1e-12) {
  EXPECT_NEAR(m.mass, mass, tolerance * mass);
  EXPECT_NEAR(m.inertia.xx, moments.x, tolerance * moments.x);
  EXPECT_NEAR(m.inertia.yy, moments.y, tolerance * moments.y);
  EXPECT_NEAR(m.inertia.zz, moments.z, tolerance * moments.z);
}

}  // namespace articula::testing::mjcf_text
