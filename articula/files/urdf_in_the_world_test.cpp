// URDF that other programs load loads here, with a warning.
#include <gtest/gtest.h>

#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/urdf_text.hpp"

namespace articula {
namespace {

using namespace testing::urdf_text;

// --- URDF as it is in the world: other readers load it, and so does this one, with a warning --------
const std::string inertia = "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>";

TEST(UrdfInTheWorld, TheFirstOfTwo) {
  const std::string with_mass = "<inertial><mass value=\"1\"/>" + inertia + "</inertial>";
  expect_one(with_link("<inertial><mass value=\"1\"/>\n<mass value=\"2\"/>" + inertia + "</inertial>"),
             Severity::warning, 4, {"<mass>", "twice", "line 3"});
  expect_one(with_link(with_mass + "\n<inertial><mass value=\"2\"/></inertial>"), Severity::warning, 4,
             {"<inertial>", "twice"});
  EXPECT_EQ(parse(with_link(with_mass + "<inertial><mass value=\"2\"/></inertial>")).spec.links[0].mass.mass,
            1);
  for (const std::string& twice :
       {std::string("<origin xyz=\"1 2 3\"/>"), std::string("<axis xyz=\"0 0 1\"/>"),
        std::string("<dynamics damping=\"1\"/>"), std::string("<mimic joint=\"k\"/>"), limit})
    expect_one(with_joint("<joint name=\"j\" type=\"revolute\">" + ends + (twice == limit ? "" : limit) +
                          twice + "\n" + twice +
                          "</joint><link name=\"c\"/><joint name=\"k\" type=\"continuous\"><parent "
                          "link=\"a\"/><child link=\"c\"/></joint>"),
               Severity::warning, 5, {"twice", "line 4"});
  expect_one("<robot name=\"r\"><link name=\"a\"/></robot>\n<robot name=\"s\"/>", Severity::warning, 2,
             {"second top element"});
  expect_refused(with_joint("<joint name=\"j\" name=\"k\" type=\"fixed\">" + ends + "</joint>"),
                 "f.urdf:4:", "twice");
}

TEST(UrdfInTheWorld, InertialsThatLackSomething) {
  expect_one(with_link("<inertial>\n" + inertia + "</inertial>"), Severity::warning, 3,
             {"no <mass>", "passed over"});
  expect_one(with_link("<inertial/>"), Severity::warning, 3, {"no <mass>"});
  const auto without = parse(with_link("<inertial><origin xyz=\"1 0 0\"/>" + inertia + "</inertial>"));
  EXPECT_EQ(without.spec.links[0].mass.inertia.xx, 0);
  EXPECT_EQ(without.spec.links[0].mass.center_of_mass.x, 0);
  const std::string between = with_link("<inertial>\n<mass> 1.5 </mass>" + inertia + "</inertial>");
  expect_one(between, Severity::warning, 4, {"<mass value=\"1.5\"/>"});
  EXPECT_EQ(parse(between).spec.links[0].mass.mass, 1.5);
  expect_one(with_link("<inertial><mass>much</mass>" + inertia + "</inertial>"), Severity::error, 3,
             {"value"});
  const std::string no_iyy = with_link(
      "<inertial><mass value=\"1\"/>\n<inertia ixx=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
      "iyz=\"0\"/></inertial>");
  expect_one(no_iyy, Severity::warning, 4, {"iyy", "taken as 0"});
  EXPECT_EQ(parse(no_iyy).spec.links[0].mass.inertia.zz, 1);
  const std::string tiny = with_link("<inertial><mass value=\"-1e-20\"/>" + inertia + "</inertial>");
  EXPECT_EQ(count(find_problems(parse(tiny)), Severity::error), 0);
  EXPECT_GT(count(find_problems(parse(tiny)), Severity::warning), 0);
}

TEST(UrdfInTheWorld, JointsThatSayTheImpossible) {
  const std::string zero =
      with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "\n<axis xyz=\"0 0 0\"/></joint>");
  expect_one(zero, Severity::warning, 5, {"'j'", "(0, 0, 0)", "unit length"});
  EXPECT_EQ(parse(zero).spec.joints[0].axis.x, 1);
  const std::string crossed =
      with_joint("<joint name=\"j\" type=\"revolute\">" + ends +
                 "\n<limit lower=\"1\" upper=\"-1\" effort=\"5\" velocity=\"2\"/></joint>");
  expect_one(crossed, Severity::warning, 5, {"'j'", "lower bound 1 above", "unlimited"});
  EXPECT_EQ(parse(crossed).spec.joints[0].limits.lower, -INFINITY);
  EXPECT_EQ(parse(crossed).spec.joints[0].limits.effort, 5);
  const auto damped = parse(
      with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "<dynamics damping=\"-0.1\"/></joint>"));
  EXPECT_EQ(count(find_problems(damped), Severity::error), 0);
  EXPECT_NE(all(find_problems(damped)).find("negative damping"), std::string::npos);
}

TEST(UrdfInTheWorld, MimicsOfNothing) {
  const auto follows = [](const std::string& type, const std::string& mimic, const std::string& source_type,
                          const std::string& source_mimic = "") {
    return with_joint("<joint name=\"j\" type=\"" + type + "\">" + ends + "\n" + mimic +
                      "</joint>\n<link name=\"c\"/><joint name=\"k\" type=\"" + source_type +
                      "\"><parent link=\"a\"/><child link=\"c\"/>" + source_mimic + "</joint>");
  };
  const std::string of_k = "<mimic joint=\"k\"/>";
  EXPECT_TRUE(parse(follows("continuous", of_k, "continuous")).spec.joints[0].mimic);
  for (const auto& [text, line, words] :
       {std::tuple{follows("continuous", "<mimic joint=\"gone\"/>", "continuous"), 5, "does not exist"},
        std::tuple{follows("continuous", of_k, "fixed"), 5, "a fixed joint"},
        std::tuple{follows("continuous", of_k, "floating"), 5, "a free joint"},
        std::tuple{follows("continuous", "<mimic joint=\"j\"/>", "continuous"), 5, "in the end"},
        std::tuple{follows("continuous", of_k, "continuous", "<mimic joint=\"j\"/>"), 6, "in the end"},
        std::tuple{follows("continuous", "<mimic/>", "continuous"), 5, "which joint"},
        std::tuple{follows("fixed", of_k, "continuous"), 5, "fixed joint"},
        std::tuple{follows("floating", of_k, "continuous"), 5, "free joint"}}) {
    expect_one(text, Severity::warning, line, {words});
    EXPECT_EQ(count(find_problems(parse(text)), Severity::error), 0) << all(find_problems(parse(text)));
  }
}

TEST(UrdfInTheWorld, XacroLeftoversAreToldFirst) {
  const auto r =
      parse("<robot name=\"r\">\n<link name=\"a\"><xacro:box/></link>\n<xacro:arm/><odd/></robot>");
  EXPECT_EQ(r.findings[0].where, "f.urdf:2");
  EXPECT_EQ(count(r.findings, Severity::error), 0);
  EXPECT_NE(r.findings[0].message.find("INCOMPLETE: <xacro:box> and 1 more"), std::string::npos)
      << all(r.findings);
}

TEST(UrdfInTheWorld, DeclarationsTwiceAndZerosAtTheEnd) {
  const std::string body = "<robot name=\"r\"><link name=\"a\"/></robot>", top = "<?xml version=\"1.0\"?>\n";
  expect_one(top + top + body, Severity::warning, 2, {"<?xml", "twice"});
  expect_one("<!-- c -->\n" + top + body, Severity::warning, 2, {"not at the top"});
  expect_one(top + body + std::string("\n\0\0\n", 4), Severity::warning, 3, {"zero bytes"});
  EXPECT_TRUE(parse("<!-- " + top + "-->" + body).findings.empty());
}

TEST(UrdfInTheWorld, Latin1IsReadAsSuch) {
  const auto r = parse("<robot name=\"r\">\n<link name=\"gr\xfcn\"/></robot>");
  EXPECT_EQ(r.spec.links.at(0).name, "gr\xc3\xbcn");
  EXPECT_EQ(r.findings.at(0).where, "f.urdf:2");
  EXPECT_NE(r.findings[0].message.find("Latin-1"), std::string::npos);
  EXPECT_TRUE(
      parse("<robot name=\"r\"><link name=\"gr\xc3\xbcn\xf0\x9f\xa4\x96\"/></robot>").findings.empty());
  for (const char* bad : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    EXPECT_EQ(parse(std::string("<robot name=\"r\"><link name=\"a") + bad + "\"/></robot>").findings.size(),
              1u);
}

/// A massless arm: kinematics need no inertia, and what does says which joint lacks it (find_problems_test).
TEST(UrdfInTheWorld, ArmsWithoutMassesLoad) {
  const auto r = parse(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "</joint>"));
  EXPECT_EQ(r.build().massless_velocities(), std::vector<int>{0});
  EXPECT_NE(all(find_problems(r)).find("f.urdf:4: warning: joint 'j' has no inertia to move"),
            std::string::npos);
}

}  // namespace
}  // namespace articula
