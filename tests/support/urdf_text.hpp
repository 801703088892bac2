// Texts of URDF, and what is to be said of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "articula/files/urdf.hpp"

namespace articula::testing::urdf_text {

using Severity = Finding::Severity;

/// The whole text of a model with one joint, whose element is given.
inline std::string with_joint(const std::string& joint) {
  return "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\"/>\n" + joint + "\n</robot>\n";
}
inline std::string with_link(const std::string& inside) {
  return "<robot name=\"r\">\n<link name=\"a\">\n" + inside + "\n</link>\n</robot>\n";
}
inline LoadedModel parse(const std::string& text) { return parse_urdf_spec(text, "f.urdf"); }

inline const std::string ends = "<parent link=\"a\"/><child link=\"b\"/>";
inline const std::string limit = "<limit lower=\"-1\" upper=\"1\" effort=\"5\" velocity=\"2\"/>";

inline std::string all(const std::vector<Finding>& findings) {
  std::string out;
  for (const auto& f : findings) out += describe(f) + "\n";
  return out;
}
inline int count(const std::vector<Finding>& findings, Severity severity) {
  return int(
      std::count_if(findings.begin(), findings.end(), [&](const auto& f) { return f.severity == severity; }));
}
/// Exactly one finding of that severity, at that line, that says each of the words.
inline void expect_one(const std::string& text, Severity severity, int line,
                       const std::vector<std::string>& words) {
  const auto findings = parse(text).findings;
  ASSERT_EQ(count(findings, severity), 1) << all(findings) << text;
  for (const auto& f : findings) {
    if (f.severity != severity) continue;
    EXPECT_EQ(f.where, "f.urdf:" + std::to_string(line)) << f.message;
    for (const auto& word : words)
      EXPECT_NE(f.message.find(word), std::string::npos) << word << " in: " << f.message;
  }
}
inline void expect_refused(const std::string& text, const std::string& place, const std::string& word) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
  } catch (const ModelError& e) {
    EXPECT_EQ(std::string(e.what()).find(place), 0u) << e.what();
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

}  // namespace articula::testing::urdf_text
