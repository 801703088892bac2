#include "articula/files/urdf.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <locale>
#include <sstream>

#include "articula/model/joint_kinds.hpp"
#include "tests/support/spec_kinematics.hpp"
#include "tests/support/urdf_text.hpp"

namespace articula {
namespace {

using namespace testing::urdf_text;

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

TEST(UrdfRead, RotorsOfTransmissionsAreArmature) {
  const std::string joint =
      "<joint name=\"j\" type=\"continuous\">" + ends + "<dynamics armature=\"0.5\"/></joint>";
  const auto with = [&](const std::string& actuator) {
    return parse(with_joint("<transmission name=\"t\"><joint name=\"j\"/><actuator name=\"m\">" + actuator +
                            "</actuator></transmission>" + joint));
  };
  const auto r = with("<drake:gear_ratio value=\"10\"/><drake:rotor_inertia value=\"0.02\"/>");
  EXPECT_TRUE(r.findings.empty()) << all(r.findings);
  EXPECT_NEAR(r.spec.joints.at(0).armature[0], 2.5, 1e-15);
  EXPECT_EQ(with("<drake:rotor_inertia value=\"0.25\"/>").spec.joints.at(0).armature[0], 0.75);
  EXPECT_EQ(with("<mechanicalReduction>2</mechanicalReduction>").spec.joints.at(0).armature[0], 0.5);
  EXPECT_EQ(count(with("<drake:rotor_inertia value=\"x\"/>").findings, Severity::error), 1);
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
  expect_refused(text, "f.urdf:1:", "nested more than 2000 deep");
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

}  // namespace
}  // namespace articula
