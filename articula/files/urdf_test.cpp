#include "articula/files/urdf.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <locale>
#include <sstream>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/joint_kinds.hpp"
#include "tests/support/random_models.hpp"
#include "tests/support/spec_kinematics.hpp"
#include "tests/support/urdf_mutations.hpp"

namespace articula {
namespace {

using Severity = Finding::Severity;

/// The whole text of a model with one joint, whose element is given.
std::string with_joint(const std::string& joint) {
  return "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\"/>\n" + joint + "\n</robot>\n";
}
std::string with_link(const std::string& inside) {
  return "<robot name=\"r\">\n<link name=\"a\">\n" + inside + "\n</link>\n</robot>\n";
}
LoadedModel parse(const std::string& text) { return parse_urdf_spec(text, "f.urdf"); }

const std::string ends = "<parent link=\"a\"/><child link=\"b\"/>";
const std::string limit = "<limit lower=\"-1\" upper=\"1\" effort=\"5\" velocity=\"2\"/>";

std::string all(const std::vector<Finding>& findings) {
  std::string out;
  for (const auto& f : findings) out += describe(f) + "\n";
  return out;
}
int count(const std::vector<Finding>& findings, Severity severity) {
  return int(
      std::count_if(findings.begin(), findings.end(), [&](const auto& f) { return f.severity == severity; }));
}
/// Exactly one finding of that severity, at that line, that says each of the words.
void expect_one(const std::string& text, Severity severity, int line, const std::vector<std::string>& words) {
  const auto findings = parse(text).findings;
  ASSERT_EQ(count(findings, severity), 1) << all(findings) << text;
  for (const auto& f : findings) {
    if (f.severity != severity) continue;
    EXPECT_EQ(f.where, "f.urdf:" + std::to_string(line)) << f.message;
    for (const auto& word : words)
      EXPECT_NE(f.message.find(word), std::string::npos) << word << " in: " << f.message;
  }
}
void expect_refused(const std::string& text, const std::string& place, const std::string& word) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
  } catch (const ModelError& e) {
    EXPECT_EQ(std::string(e.what()).find(place), 0u) << e.what();
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

// --- what is read ------------------------------------------------------------------------------------
TEST(UrdfRead, EveryJointType) {
  const std::pair<const char*, JointKind> kinds[] = {
      {"revolute", JointKind::revolute},   {"continuous", JointKind::continuous},
      {"prismatic", JointKind::prismatic}, {"fixed", JointKind::fixed},
      {"planar", JointKind::planar},       {"floating", JointKind::free},
      {"spherical", JointKind::spherical}};
  for (const auto& [name, kind] : kinds) {
    const auto r = parse(
        with_joint(std::string("<joint name=\"j\" type=\"") + name + "\">" + ends + limit + "</joint>"));
    EXPECT_TRUE(r.findings.empty()) << all(r.findings);
    EXPECT_EQ(r.spec.joints.at(0).kind, kind);
    EXPECT_EQ(r.spec.joints[0].parent, "a");
    EXPECT_EQ(r.spec.joints[0].child, "b");
    EXPECT_EQ(r.spec.joints[0].where, "f.urdf:4");
  }
}

TEST(UrdfRead, EverythingAJointSays) {
  const auto r = parse(with_joint(R"(<joint type='revolute' name='j'>
    <mimic offset="0.25" joint="k" multiplier="-2"/> <dynamics friction="0.1" armature="3e-2" damping="+1.5"/>
    <safety_controller k_velocity="1"/> <calibration rising="0"/>
    <limit velocity="2" upper="1.5" effort="100" lower="-5E-1"/>
    <axis xyz="0 -1 0"/> <child link="b"/> <parent link="a"/> <origin rpy="0 0 1.5707963267948966" xyz="1 2 3"/></joint>
    <link name='c'/><joint name='k' type='continuous'><parent link='a'/><child link='c'/></joint>)"));
  EXPECT_TRUE(r.findings.empty()) << all(r.findings);
  const JointSpec& j = r.spec.joints.at(0);
  ASSERT_TRUE(j.mimic);
  EXPECT_EQ(j.mimic->joint, "k");
  EXPECT_EQ(j.mimic->multiplier, -2);
  EXPECT_EQ(j.mimic->offset, 0.25);
  EXPECT_EQ(j.damping, 1.5);
  EXPECT_EQ(j.friction, 0.1);
  EXPECT_EQ(j.armature, 0.03);
  EXPECT_EQ(j.limits.lower, -0.5);
  EXPECT_EQ(j.limits.upper, 1.5);
  EXPECT_EQ(j.limits.effort, 100);
  EXPECT_EQ(j.limits.velocity, 2);
  EXPECT_EQ(j.axis.y, -1);
  EXPECT_EQ(j.placement.p.z, 3);
  // Yaw by a right angle takes x to y.
  EXPECT_NEAR(j.placement.R.yx, 1, 1e-15);
  EXPECT_NEAR(j.placement.R.xy, -1, 1e-15);
}

TEST(UrdfRead, RollPitchYawAreAboutFixedAxes) {
  const auto r = parse(
      with_joint("<joint name=\"j\" type=\"fixed\">" + ends + "<origin rpy=\"0.3 -0.5 0.9\"/></joint>"));
  const Eigen::Matrix3d expected =
      (Eigen::AngleAxisd(0.9, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(-0.5, Eigen::Vector3d::UnitY()) *
       Eigen::AngleAxisd(0.3, Eigen::Vector3d::UnitX()))
          .toRotationMatrix();
  EXPECT_LT((testing::to_eigen(r.spec.joints[0].placement.R) - expected).norm(), 1e-15);
}

TEST(UrdfRead, InertiaIsTurnedIntoLinkAxes) {
  const auto r = parse(with_link(R"(<inertial><inertia izz="3" iyy="2" ixx="1" ixy="0.1" ixz="0.2" iyz="0.3"/>
    <mass value="4"/><origin rpy="0.4 0.5 0.6" xyz="7 8 9"/></inertial>)"));
  const MassProperties& m = r.spec.links.at(0).mass;
  EXPECT_EQ(m.mass, 4);
  EXPECT_EQ(m.center_of_mass.y, 8);
  Eigen::Matrix3d J;
  J << 1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3;
  const Eigen::Matrix3d R = testing::to_eigen(rotation_from_rpy(0.4, 0.5, 0.6));
  EXPECT_LT((testing::to_eigen(m.inertia) - R * J * R.transpose()).norm(), 1e-14);
}

TEST(UrdfRead, DefaultsOfTheSpecification) {
  const auto r = parse(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "</joint>"));
  EXPECT_TRUE(r.findings.empty()) << all(r.findings);
  const JointSpec& j = r.spec.joints.at(0);
  EXPECT_EQ(j.axis.x, 1);
  EXPECT_EQ(j.axis.y, 0);
  EXPECT_EQ(j.limits.lower, -INFINITY);
  EXPECT_EQ(j.limits.effort, INFINITY);
  EXPECT_EQ(j.placement.R.xx, 1);
  EXPECT_FALSE(j.mimic);
  EXPECT_EQ(r.spec.links[0].mass.mass, 0);  // no inertial: legal
}

TEST(UrdfRead, UnusualButLegalFiles) {
  const std::string body = "<robot name=\"r\"><link name=\"a\"/><!-- <link name=\"no\"/> --></robot>";
  for (const std::string& text :
       {"\xef\xbb\xbf" + body, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n" + body + "\r\n",
        "<!-- first -->\n<!DOCTYPE robot>\n" + body + "<!-- last -->\n\n",
        std::string(
            "<robot name=\"r\"><![CDATA[ <link name=\"no\"/> ]]><link name=\"a\"><visual><x>text</x></visual>"
            "</link><material name=\"m\"/></robot>")}) {
    const auto r = parse(text);
    EXPECT_TRUE(r.findings.empty()) << all(r.findings) << text;
    EXPECT_EQ(r.spec.links.size(), 1u) << text;
  }
}

TEST(UrdfRead, LinesAreCountedWithCarriageReturns) {
  const auto r = parse("<robot name=\"r\">\r\n\r\n<link\r\nname=\"a\"/></robot>");
  EXPECT_EQ(r.spec.links.at(0).where, "f.urdf:3");
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(UrdfRead, NumbersDoNotDependOnTheLocale) {
  const std::string c_locale = std::setlocale(LC_ALL, nullptr);
  const std::locale old = std::locale::global(std::locale(std::locale(), new DecimalComma));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const auto r = parse(with_link("<inertial><mass value=\"1.5\"/></inertial>"));
  const std::string text = write_urdf(r.spec);
  std::locale::global(old);
  std::setlocale(LC_ALL, c_locale.c_str());
  EXPECT_EQ(r.spec.links.at(0).mass.mass, 1.5);
  EXPECT_NE(text.find("\"1.5\""), std::string::npos);
}

TEST(UrdfRead, ThousandsOfLinksInMoments) {
  std::string text = "<robot name=\"long\">";
  for (int i = 0; i < 20000; ++i) {
    text += "<link name=\"l" + std::to_string(i) +
            "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
            "izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n";
    if (i > 0)
      text += "<joint name=\"j" + std::to_string(i) + "\" type=\"continuous\"><parent link=\"l" +
              std::to_string(i - 1) + "\"/><child link=\"l" + std::to_string(i) + "\"/></joint>\n";
  }
  const auto r = parse(text + "</robot>");
  EXPECT_EQ(r.spec.joints.size(), 19999u);
  EXPECT_TRUE(find_problems(r).empty());
}

// --- what is said ------------------------------------------------------------------------------------
TEST(UrdfRefused, WhatIsNoUrdf) {
  expect_refused("", "f.urdf:1:", "empty");
  expect_refused("  \n ", "f.urdf:", "");
  expect_refused("not xml", "f.urdf:", "");
  expect_refused("<!-- only a comment -->", "f.urdf:", "");
  expect_refused("<sdf version=\"1.6\"/>", "f.urdf:1:", "expected <robot>");
  expect_refused("<robot name=\"r\">\n<link name=\"a\">\n</robot>", "f.urdf:", "well-formed");
  expect_refused(std::string("<robot>\n\0</robot>", 18), "f.urdf:2:", "zero byte");
  expect_refused(std::string("\xff\xfe<\0r\0", 6), "f.urdf:1:", "UTF-16");
}

TEST(UrdfRefused, DeepNesting) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "<robot>";
  expect_refused(text, "f.urdf:1:", "well-formed");
}

TEST(UrdfRefused, CrowdsOfAttributes) {
  std::string text = "<robot name=\"r\">\n<!-- " + std::string(1000, '=') + " -->\n<![CDATA[" +
                     std::string(1000, '=') + "]]><link name=\"" + std::string(1000, '=') + ">\"/>\n<link";
  EXPECT_EQ(parse(text + "/></robot>").spec.links.size(), 2u);
  for (int i = 0; i < 100000; ++i) text += " a" + std::to_string(i) + "='>'";
  expect_refused(text + "/></robot>", "f.urdf:4:", "attributes");
}

TEST(UrdfRefused, MissingFilesAndFolders) {
  EXPECT_THROW(read_urdf_spec("/no/such/file.urdf"), ModelError);
  EXPECT_THROW(read_urdf_spec("/"), ModelError);
}

TEST(UrdfErrors, NumbersAreReadStrictly) {
  for (const char* bad : {"abc", "1.0x", "nan", "inf", "-inf", "1e999", "", " ", "1 2", "0x10", "1,5", "++1",
                          "+-1", "--1", "1e", "${mass}", "1.5kg", "١"})
    expect_one(
        with_link(std::string("<inertial>\n<mass value=\"") + bad +
                  "\"/>\n<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>"),
        Severity::error, 4, {"link 'a'", "value", bad, "expected one finite number"});
  for (const char* good :
       {"1", " 1 ", "+1", "1.", "1e0", "10E-1", ".1e1", "1.0000000000000000000000000000000000000"})
    EXPECT_EQ(parse(with_link(std::string("<inertial><mass value=\"") + good + "\"/></inertial>"))
                  .spec.links[0]
                  .mass.mass,
              1)
        << good;
}

TEST(UrdfErrors, VectorsNeedThreeNumbers) {
  for (const char* bad : {"1 2", "1 2 3 4", "1,2,3", "", "a b c", "1 2 nan"})
    expect_one(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "\n<origin xyz=\"" + bad +
                          "\"/></joint>"),
               Severity::error, 5, {"joint 'j'", "xyz", bad, "three finite numbers"});
  expect_one(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "<origin xyz=\"1,2,3\"/></joint>"),
             Severity::error, 4, {"separate numbers by spaces"});
  EXPECT_TRUE(
      parse(with_joint("<joint name=\"j\" type=\"fixed\">" + ends + "<origin xyz=\"\t1\n2  3 \"/></joint>"))
          .findings.empty());
}

TEST(UrdfErrors, SayWhatWhereAndWhatToDo) {
  expect_one(with_joint("<joint name=\"j\" type=\"ball\">" + ends + "</joint>"), Severity::error, 4,
             {"'j'", "'ball'", "expected", "floating"});
  expect_one(with_joint("<joint name=\"j\">" + ends + "</joint>"), Severity::error, 4, {"no type"});
  expect_one(with_joint("<joint type=\"fixed\">" + ends + "</joint>"), Severity::error, 4, {"no name"});
  expect_one(with_joint("<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/></joint>"), Severity::error, 4,
             {"no child", "<child link="});
  expect_one(with_joint("<joint name=\"j\" type=\"fixed\">\n<parent/><child link=\"b\"/></joint>"),
             Severity::error, 5, {"no parent"});
  expect_one("<robot name=\"r\">\n<link/></robot>", Severity::error, 2, {"no name"});
}

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

TEST(UrdfWarnings, AreGivenOnceEach) {
  expect_one(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "\n<axis xyz=\"0 0 2\"/></joint>"),
             Severity::warning, 5, {"'j'", "length 2", "normalised", "0 0 1"});
  expect_one(with_joint("<joint name=\"j\" type=\"revolute\">" + ends + "</joint>"), Severity::warning, 4,
             {"'j'", "<limit>", "unlimited"});
  expect_one(with_joint("<joint name=\"j\" type=\"prismatic\">" + ends + "</joint>"), Severity::warning, 4,
             {"<limit>"});
  expect_one(with_joint("<joint name=\"j\" type=\"revolute\">" + ends +
                        "\n<limit effort=\"1\" velocity=\"1\"/></joint>"),
             Severity::warning, 5, {"no lower and no upper"});
  expect_one(with_joint("<joint name=\"j\" type=\"fixed\">" + ends + "\n<mimic joint=\"k\"/></joint>"),
             Severity::warning, 5, {"<mimic>", "fixed"});
  expect_one("<robot>\n<link name=\"a\"/></robot>", Severity::warning, 1, {"no name"});
  expect_one(with_joint("<joint name=\"j\" type=\"fixed\">" + ends +
                        "</joint>\n<transmission name=\"t\"/>\n<transmission name=\"u\"/>"),
             Severity::note, 5, {"<transmission>", "2 of them", "armature"});
  expect_one(with_joint("<joint name=\"j\" type=\"fixed\">" + ends + "</joint>\n<gazebo/><gazebo/><gazebo/>"),
             Severity::note, 5, {"<gazebo>", "3 of them"});
  expect_one(with_link("<inertail/>"), Severity::warning, 3, {"<inertail>"});
  expect_one(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "\n<axis xzy=\"0 0 1\"/></joint>"),
             Severity::warning, 5, {"'xzy'", "<axis>"});
}

TEST(UrdfWarnings, AxesAreNormalised) {
  const auto r =
      parse(with_joint("<joint name=\"j\" type=\"continuous\">" + ends + "<axis xyz=\"3 0 -4\"/></joint>"));
  EXPECT_DOUBLE_EQ(r.spec.joints[0].axis.x, 0.6);
  EXPECT_DOUBLE_EQ(r.spec.joints[0].axis.z, -0.8);
  // A fixed joint's axis means nothing, and is often zero.
  EXPECT_TRUE(parse(with_joint("<joint name=\"j\" type=\"fixed\">" + ends + "<axis xyz=\"0 0 0\"/></joint>"))
                  .findings.empty());
}

TEST(UrdfErrors, NothingIsBuiltOfABrokenFile) {
  for (const char* joint :
       {"<joint name=\"j\" type=\"ball\">", "<joint name=\"j\" type=\"fixed\"><origin xyz=\"x\"/>",
        "<joint name=\"j\" type=\"continuous\"><dynamics armature=\"x\"/>"}) {
    const auto r = parse(with_joint(joint + ends + "</joint>"));
    EXPECT_GT(count(r.findings, Severity::error), 0);
    EXPECT_GT(count(find_problems(r.spec, Base::fixed), Severity::error), 0) << joint;
    EXPECT_EQ(find_problems(r).size(), r.findings.size());  // not reported twice
  }
}

TEST(UrdfErrors, ReadUrdfThrowsTheFirst) {
  const auto path = std::filesystem::temp_directory_path() / "articula_urdf_test.urdf";
  std::ofstream(path) << with_link("<inertial>\n<mass value=\"x\"/></inertial>");
  try {
    read_urdf(path.string());
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("articula_urdf_test.urdf:"), std::string::npos) << e.what();
  }
  std::filesystem::remove(path);
}

// --- round trip --------------------------------------------------------------------------------------
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  double real() { return (double(next() >> 11) * 0x1p-53 - 0.5) * std::pow(10.0, double(next() % 9) - 4); }
  double angle() { return (double(next() >> 11) * 0x1p-53 - 0.5) * 6.283; }

 private:
  std::uint64_t state_;
};

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
void expect_same(const Vec3<double>& a, const Vec3<double>& b) {
  EXPECT_TRUE(same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z)) << a.x << ' ' << a.y << ' ' << a.z;
}
void expect_same(const MassProperties& a, const MassProperties& b) {
  EXPECT_TRUE(same(a.mass, b.mass));
  expect_same(a.center_of_mass, b.center_of_mass);
  EXPECT_EQ(std::memcmp(&a.inertia, &b.inertia, sizeof a.inertia), 0);
}
double difference(const Mat3<double>& a, const Mat3<double>& b) {
  return (testing::to_eigen(a) - testing::to_eigen(b)).cwiseAbs().maxCoeff();
}
/// Every number to the last bit, rotations to `rotation`.
void expect_same(const ModelSpec& a, const ModelSpec& b, double rotation) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.links.size(), b.links.size());
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].name, b.links[i].name);
    expect_same(a.links[i].mass, b.links[i].mass);
  }
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    const JointSpec &j = a.joints[i], &k = b.joints[i];
    EXPECT_EQ(j.name, k.name);
    EXPECT_EQ(j.kind, k.kind);
    EXPECT_EQ(j.parent, k.parent);
    EXPECT_EQ(j.child, k.child);
    if (has_axis(j.kind)) expect_same(j.axis, k.axis);
    expect_same(j.placement.p, k.placement.p);
    EXPECT_LE(difference(j.placement.R, k.placement.R), rotation);
    EXPECT_TRUE(same(j.damping[0], k.damping[0]) && same(j.friction[0], k.friction[0]) &&
                same(j.armature[0], k.armature[0]));
    EXPECT_TRUE(same(j.limits.lower[0], k.limits.lower[0]) && same(j.limits.upper[0], k.limits.upper[0]));
    EXPECT_TRUE(same(j.limits.effort[0], k.limits.effort[0]) &&
                same(j.limits.velocity[0], k.limits.velocity[0]));
    ASSERT_EQ(bool(j.mimic), bool(k.mimic));
    if (!j.mimic) continue;
    EXPECT_EQ(j.mimic->joint, k.mimic->joint);
    EXPECT_TRUE(same(j.mimic->multiplier, k.mimic->multiplier) && same(j.mimic->offset, k.mimic->offset));
  }
}

ModelSpec random_spec(Random& random) {
  ModelSpec spec;
  spec.name = "random & <strange> \"name\"";
  spec.add_link({"link 0"});
  const JointKind kinds[] = {JointKind::revolute, JointKind::continuous, JointKind::prismatic,
                             JointKind::fixed,    JointKind::planar,     JointKind::free,
                             JointKind::spherical};
  for (int i = 1; i < 40; ++i) {
    LinkSpec link{"link " + std::to_string(i) + " <'\"&>"};
    link.mass = {random.real(),
                 {random.real(), random.real(), random.real()},
                 {random.real(), random.real(), random.real(), random.real(), random.real(), -0.0}};
    JointSpec joint;
    joint.name = "joint\n" + std::to_string(i);
    joint.kind = kinds[random.next() % std::size(kinds)];
    joint.parent = spec.links[random.next() % spec.links.size()].name;
    joint.child = link.name;
    joint.placement = {rotation_from_rpy(random.angle(), random.angle() / 2, random.angle()),
                       {random.real(), random.real(), random.real()}};
    const Vec3<double> a{random.angle(), random.angle(), random.angle()};
    joint.axis = a * (1 / std::sqrt(dot(a, a)));
    joint.damping = std::abs(random.real());
    joint.friction = random.next() % 2 ? std::abs(random.real()) : 0;
    joint.armature = random.next() % 2 ? std::abs(random.real()) : 0;
    if (random.next() % 2) joint.limits.upper = std::abs(random.real());
    if (random.next() % 2) joint.limits.lower = -std::abs(random.real());
    if (random.next() % 2) joint.limits.effort = random.real();
    if (random.next() % 2) joint.limits.velocity = random.real();
    if (i == 1) joint.kind = JointKind::prismatic;
    if (i > 1 && nv_of(joint.kind) == 1 && random.next() % 3 == 0)
      joint.mimic = Mimic{"joint\n1", random.real(), random.real()};
    spec.add_link(link);
    spec.add_joint(joint);
  }
  return spec;
}

TEST(UrdfRoundTrip, RandomSpecsToTheLastBit) {
  Random random(42);
  for (int i = 0; i < 100; ++i) {
    const ModelSpec spec = random_spec(random);
    const LoadedModel back = parse(write_urdf(spec));
    EXPECT_EQ(count(back.findings, Severity::error), 0) << all(back.findings);
    expect_same(spec, back.spec, 1e-15);
  }
}

TEST(UrdfRoundTrip, RotationsNearGimbalLock) {
  Random random(7);
  double worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const double off = i % 3 == 0 ? 0 : std::pow(10.0, -double(i % 17));
    const double pitch = (i % 2 ? 1 : -1) * (1.5707963267948966 - off);
    ModelSpec spec;
    spec.add_link({"a"});
    spec.add_link({"b"});
    JointSpec joint{"j", JointKind::fixed, "a", "b"};
    joint.placement.R =
        rotation(exp_quaternion({random.angle() / 3, random.angle() / 3, random.angle() / 3}));
    if (i % 5) joint.placement.R = rotation_from_rpy(random.angle(), pitch, random.angle());
    spec.add_joint(joint);
    worst =
        std::max(worst, difference(parse(write_urdf(spec)).spec.joints[0].placement.R, joint.placement.R));
  }
  EXPECT_LT(worst, 1e-15);
}

TEST(UrdfRoundTrip, FramesBecomeLinks) {
  ModelSpec spec;
  spec.add_link({"a"});
  spec.add_link({"b"});
  spec.add_joint({"tip_joint", JointKind::continuous, "a", "b"});
  spec.add_frame({"tip", "b", {rotation_from_rpy(0.1, 0.2, 0.3), {1, 2, 3}}});
  const auto back = parse(write_urdf(spec));
  ASSERT_EQ(back.spec.links.size(), 3u);
  EXPECT_EQ(back.spec.links[2].name, "tip");
  EXPECT_EQ(back.spec.links[2].mass.mass, 0);
  EXPECT_EQ(back.spec.joints[1].kind, JointKind::fixed);
  EXPECT_EQ(back.spec.joints[1].parent, "b");
  EXPECT_NE(back.spec.joints[1].name, "tip_joint");
  EXPECT_EQ(back.spec.joints[1].placement.p.y, 2);
  EXPECT_LT(difference(back.spec.joints[1].placement.R, spec.frames[0].placement.R), 1e-15);
}

TEST(UrdfRoundTrip, TheWorldBecomesALink) {
  ModelSpec spec;
  for (const char* name : {"a", "b"}) {
    spec.add_link({name, {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}}});
    spec.add_joint({std::string("j") + name, JointKind::continuous, "world", name});
  }
  EXPECT_TRUE(find_problems(spec).empty());
  const auto back = parse(write_urdf(spec));
  EXPECT_TRUE(find_problems(back).empty()) << all(find_problems(back));
  EXPECT_EQ(back.spec.links[0].name, "world");
  // A root beside them stands on the world: URDF has one root only.
  spec.add_link({"stand"});
  spec.add_frame({"mark", "world", {{}, {1, 2, 3}}});
  spec.frames[0].placement.R = Mat3<double>::identity();
  EXPECT_TRUE(find_problems(spec).empty());
  EXPECT_TRUE(find_problems(parse(write_urdf(spec))).empty()) << write_urdf(spec);
}

/// Two joints of one freedom each, with the same coordinates.
TEST(UrdfWrite, KindsThatUrdfHasNoNameFor) {
  for (const JointKind kind : {JointKind::helical, JointKind::cylindrical, JointKind::universal}) {
    const ModelSpec spec = testing::one_joint_spec(kind);
    const Model before(spec), after(parse(write_urdf(spec)).spec);
    ASSERT_EQ(before.nv(), after.nv());
    const std::vector<double> q(std::size_t(before.nq()), 0.4);
    EXPECT_LT(testing::relative_error(mass_matrix(after, q), mass_matrix(before, q)), 1e-14) << name_of(kind);
  }
}

TEST(UrdfWrite, RefusesWhatUrdfCannotSay) {
  ModelSpec spec;
  spec.add_link({"a", {NAN}});
  EXPECT_THROW(write_urdf(spec), ModelError);
  spec = {};
  spec.add_joint({"odd", JointKind::planar, "a", "b"}).damping[2] = 1;
  EXPECT_THROW(write_urdf(spec), ModelError);
  spec.joints[0].damping = 1;
  EXPECT_NO_THROW(write_urdf(spec));
  spec.loops.push_back({.name = "loop"});
  EXPECT_THROW(write_urdf(spec), ModelError);
}

// --- real files --------------------------------------------------------------------------------------
void expect_round_trip(const std::filesystem::path& path) {
  const LoadedModel first = read_urdf_spec(path.string());
  EXPECT_EQ(count(first.findings, Severity::error), 0) << all(first.findings);
  const LoadedModel back = parse(write_urdf(first.spec));
  expect_same(first.spec, back.spec, 1e-15);
}

TEST(UrdfFiles, OwnModelsAreCleanAndRoundTrip) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ARTICULA_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".urdf") continue;
    ++models;
    const auto findings = find_problems(read_urdf_spec(entry.path().string()));
    EXPECT_TRUE(findings.empty()) << all(findings);
    expect_round_trip(entry.path());
  }
  EXPECT_GE(models, 7);
}

TEST(UrdfFiles, OwnModelsMayFloat) {
  for (const char* name : {"quadruped", "humanoid", "arm7", "hand"}) {
    const auto findings = find_problems(
        read_urdf_spec(std::string(ARTICULA_SOURCE_DIR "/models/") + name + ".urdf"), Base::free);
    EXPECT_TRUE(findings.empty()) << all(findings);
  }
}

TEST(UrdfFiles, SharedRobotsHaveNoErrorsAndRoundTrip) {
  const std::filesystem::path folder = ARTICULA_SOURCE_DIR "/../shared/robots";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "skipped: no ../shared";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".urdf") continue;
    const auto findings = find_problems(read_urdf_spec(entry.path().string()));
    EXPECT_EQ(count(findings, Severity::error), 0) << all(findings);
    expect_round_trip(entry.path());
  }
}

/// A short run of what tests/mutated_urdf_main.cpp does at length; aborts where a promise is broken.
TEST(UrdfFuzz, MutatedSeeds) {
  const auto seeds = testing::urdf_seeds();
  for (const auto& seed : seeds) EXPECT_EQ(testing::exercise_urdf(seed), testing::Outcome::sound) << seed;
  for (unsigned i = 0; i < 3000; ++i) {
    testing::Dice dice(i);
    const std::string& seed = seeds[dice.below(seeds.size())];
    testing::exercise_urdf(i % 4 ? mutate_elements(seed, dice) : mutate_bytes(seed, dice));
  }
}

/// MR9's 2R arm: M(q) in closed form, for unit masses and lengths.
TEST(UrdfFiles, PlanarArmIsMr9s) {
  const auto spec = read_urdf_spec(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf").spec;
  const double c = std::cos(0.7);
  Eigen::Matrix2d expected;
  expected << 3 + 2 * c, 1 + c, 1 + c, 1;
  EXPECT_LT((testing::mass_matrix_of(spec, {0.3, 0.7}) - expected).norm(), 1e-14);
  // Positive angles lift the tip.
  EXPECT_NEAR(testing::kinematics_of(spec, {0.3, 0.7}).pose.at("tip").translation().z(),
              std::sin(0.3) + std::sin(1.0), 1e-15);
}

}  // namespace
}  // namespace articula
