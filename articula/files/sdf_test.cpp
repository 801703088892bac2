#include "articula/files/sdf.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>

#include "tests/support/sdf_text.hpp"

namespace articula {
namespace {

using namespace testing::sdf_text;

using std::numbers::pi;

// --- what links and joints say -----------------------------------------------------------------------
TEST(Sdf, Inertials) {
  const auto loaded =
      parsed(7, model(R"(<link name='a'/><link name='b'><inertial/></link>
    <link name='c'><inertial><pose>1 2 3 0 0 1.5707963267948966</pose><mass>4</mass><inertia><ixx>1</ixx><iyy>2</iyy>
      <izz>2.5</izz><ixy>0.1</ixy></inertia></inertial></link>)" +
                      joint("ab", "fixed", "a", "b", "") + joint("bc", "fixed", "b", "c", "")));
  for (const char* name : {"a", "b"}) {  // SDF's defaults
    EXPECT_EQ(link_of(loaded, name).mass.mass, 1);
    EXPECT_EQ(link_of(loaded, name).mass.inertia.xx, 1);
    EXPECT_EQ(link_of(loaded, name).mass.inertia.zz, 1);
  }
  EXPECT_TRUE(tells(loaded.findings, warning, "m.sdf:1", "link 'a' has no <inertial>"));
  EXPECT_FALSE(tells(loaded.findings, warning, "m.sdf:1", "link 'b'"));
  const MassProperties& c = link_of(loaded, "c").mass;
  EXPECT_EQ(c.mass, 4);
  expect_near(c.center_of_mass, {1, 2, 3});
  EXPECT_NEAR(c.inertia.xx, 2, 1e-15);  // turned about z
  EXPECT_NEAR(c.inertia.yy, 1, 1e-15);
  EXPECT_NEAR(c.inertia.xy, -0.1, 1e-15);
}

TEST(Sdf, InertiasFromShapes) {
  const auto loaded =
      parsed(11, model(R"(<link name='a'><inertial auto="true"><density>100</density></inertial>
    <collision name='b'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></collision>
    <collision name='s'><density>50</density><geometry><sphere><radius>2</radius></sphere></geometry></collision></link>
    <link name='c'><inertial auto="true"/><collision name='c'><geometry><capsule><radius>0.1</radius><length>0.4</length>
      </capsule></geometry></collision></link>)" +
                       joint("ac", "fixed", "a", "c", "")));
  const double box = 600, ball = 50 * 4.0 / 3 * pi * 8;
  const MassProperties& a = link_of(loaded, "a").mass;
  EXPECT_NEAR(a.mass, box + ball, 1e-9);
  EXPECT_NEAR(a.center_of_mass.z, box / (box + ball), 1e-12);
  const double reduced = box * ball / (box + ball);
  EXPECT_NEAR(a.inertia.xx, box * 13 / 12 + 0.4 * ball * 4 + reduced, 1e-8);
  EXPECT_NEAR(a.inertia.zz, box * 5 / 12 + 0.4 * ball * 4, 1e-8);
  // A capsule, by slices along z.
  const MassProperties& c = link_of(loaded, "c").mass;
  double m = 0, xx = 0, zz = 0;
  constexpr int slices = 60000;
  for (int i = 0; i < slices; ++i) {
    const double z = -0.3 + 0.6 * (i + 0.5) / slices, beyond = std::max(0.0, std::abs(z) - 0.2);
    const double rr = 0.01 - beyond * beyond, dm = 1000 * pi * rr * 0.6 / slices;
    m += dm, zz += dm * rr / 2, xx += dm * (rr / 4 + z * z);
  }
  EXPECT_NEAR(c.mass, m, 1e-6 * m);
  EXPECT_NEAR(c.inertia.xx, xx, 1e-6 * xx);
  EXPECT_NEAR(c.inertia.zz, zz, 1e-6 * zz);
}

TEST(Sdf, JointTypesAndNumbers) {
  const auto loaded =
      parsed(10, model(link("a") + link("b") + link("c") + link("d") + link("e") + link("f") + link("g") +
                       joint("r", "revolute", "a", "b",
                             R"(<axis><xyz>0 2 0</xyz><limit><lower>-1</lower><upper>1e16</upper>
              <effort>5</effort><velocity>-1</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
              <spring_stiffness>3</spring_stiffness><spring_reference>0.4</spring_reference></dynamics></axis>)") +
                       joint("p", "prismatic", "b", "c") + joint("b_", "ball", "c", "d", "") +
                       joint("u", "universal", "d", "e",
                             R"(<axis><xyz>1 0 0</xyz><dynamics><damping>1</damping></dynamics></axis>
              <axis2><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis2>)") +
                       joint("s", "screw", "e", "f",
                             "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.5</screw_thread_pitch>") +
                       joint("c_", "continuous", "f", "g",
                             "<axis><xyz>1 0 0</xyz></axis><drake:rotor_inertia>0.01</drake:rotor_inertia>"
                             "<drake:gear_ratio>20</drake:gear_ratio>")));
  EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const JointSpec& r = joint_of(loaded, "r");
  expect_near(r.axis, {0, 1, 0});
  EXPECT_EQ(r.limits.lower[0], -1);
  EXPECT_TRUE(std::isinf(r.limits.upper[0]) && std::isinf(r.limits.velocity[0]));
  EXPECT_EQ(r.limits.effort[0], 5);
  EXPECT_EQ(r.damping[0], 0.1);
  EXPECT_EQ(r.friction[0], 0.2);
  EXPECT_EQ(r.stiffness[0], 3);
  EXPECT_EQ(r.spring_reference[0], 0.4);
  EXPECT_EQ(joint_of(loaded, "p").kind, JointKind::prismatic);
  EXPECT_EQ(joint_of(loaded, "b_").kind, JointKind::spherical);
  EXPECT_EQ(joint_of(loaded, "u").kind, JointKind::universal);
  EXPECT_EQ(joint_of(loaded, "u").damping[0], 1);
  EXPECT_EQ(joint_of(loaded, "u").damping[1], 2);
  EXPECT_EQ(joint_of(loaded, "s").kind, JointKind::helical);
  EXPECT_NEAR(joint_of(loaded, "s").pitch, 0.5 / (2 * pi), 1e-16);
  EXPECT_EQ(joint_of(loaded, "c_").kind, JointKind::continuous);
  EXPECT_NEAR(joint_of(loaded, "c_").armature[0], 4, 1e-15);
}

/// thread_pitch is radians per metre of a left-handed screw: what screw_thread_pitch says, upside down.
TEST(Sdf, OldThreadPitch) {
  const auto old = parsed(6, model(link("a") + link("b") +
                                   joint("s", "screw", "a", "b",
                                         "<axis><xyz>0 0 1</xyz></axis><thread_pitch>-20</thread_pitch>")));
  EXPECT_DOUBLE_EQ(joint_of(old, "s").pitch, 0.05);
  const auto zero = parsed(
      6, model(link("a") + link("b") +
               joint("s", "screw", "a", "b", "<axis><xyz>0 0 1</xyz></axis><thread_pitch>0</thread_pitch>")));
  EXPECT_TRUE(tells(zero.findings, error, "m.sdf:1", "<thread_pitch> of joint 's' is 0"));
}

/// In the model's frame until 1.4; then in the joint's, or the model's if asked for; from 1.7 in any.
TEST(Sdf, AxesByVersion) {
  const auto axis_in = [](int minor, const std::string& attribute, const std::string& more) {
    const auto loaded = parsed(
        minor, model(link("a") + link("b", "<pose>0 0 0 0 0 1.5707963267948966</pose>") +
                     (minor < 7 ? "" : "<frame name='f'><pose>0 0 0 0 1.5707963267948966 0</pose></frame>") +
                     joint("j", "revolute", "a", "b",
                           "<pose>0 0 0 1.5707963267948966 0 0</pose><axis><xyz" + attribute +
                               ">0 0 1</xyz>" + more + "</axis>")));
    EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
    const Model built(loaded.spec);
    // The axis in the world: what turns b.
    const Pose still = pose_of_frame(built, "b", {0}), turned = pose_of_frame(built, "b", {0.1});
    const Vec3<double> w = log_quaternion(quaternion(turned.R * star(still.R)));
    return w * 10;
  };
  const std::string use = "<use_parent_model_frame>1</use_parent_model_frame>";
  expect_near(axis_in(4, "", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(6, "", use), {0, 0, 1}, 1e-13);
  expect_near(axis_in(6, "", ""), {1, 0, 0}, 1e-13);  // z, turned by -90 degrees about x, then by 90 about z
  expect_near(axis_in(7, "", ""), {1, 0, 0}, 1e-13);
  expect_near(axis_in(7, " expressed_in='__model__'", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(7, " expressed_in='b'", ""), {0, 0, 1}, 1e-13);
  expect_near(axis_in(7, " expressed_in='f'", ""), {1, 0, 0}, 1e-13);
}

// --- frames ------------------------------------------------------------------------------------------
TEST(Sdf, FramesRelativeToEachOther) {
  const auto loaded = parsed(
      9, model(link("a") + link("b", "<pose relative_to='f'>0 0 1 0 0 0</pose>") +
               "<frame name='f' attached_to='a'><pose>1 0 0 0 0 1.5707963267948966</pose></frame>"
               "<frame name='g' attached_to='j'><pose relative_to='f'>1 0 0 0 0 0</pose></frame>"
               "<frame name='h'><pose relative_to='b' degrees='true'>0 0 0 90 0 0</pose></frame>"
               "<frame name='k' attached_to='b'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0.6 "
               "0.8</pose></frame>" +
               joint("j", "revolute", "f", "b", "<pose>0 1 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>")));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 1);
  expect_near(pose_of_frame(built, "b").p, {1, 0, 1});
  expect_near(pose_of_frame(built, "g").p, {1, 1, 0});
  expect_near(column_y(pose_of_frame(built, "h").R), {0, 0, 1});
  expect_near(column_x(pose_of_frame(built, "k").R),
              pose_of_frame(built, "b").R * Vec3<double>{0.28, 0.96, 0});
  // The joint turns b about the point (0, 1, 0) of b, which is (0, 0, 1) of the world, and takes g along, not h.
  const Numbers turned{pi / 2};
  expect_near(pose_of_frame(built, "b", turned).p, {0, 1, 1});
  expect_near(pose_of_frame(built, "h", turned).p, {1, 0, 1});
  expect_near(pose_of_frame(built, "g", turned).p, {-1, 1, 0});
}

TEST(Sdf, NestedModels) {
  const std::string hand =
      R"(<model name='hand' placement_frame='grip'><pose relative_to='tool'>0 0 0.5 0 0 0</pose>)" +
      link("palm", "<pose>0.1 0 0 0 0 0</pose>") + link("finger", "<pose>0.2 0 0 0 0 0</pose>") +
      joint("bend", "revolute", "palm", "finger") +
      "<frame name='grip'><pose>0.3 0 0 0 0 0</pose></frame></model>";
  const auto loaded =
      parsed(9, model(link("arm") + "<frame name='tool' attached_to='arm'><pose>0 0 2 0 0 0</pose></frame>" +
                      hand + joint("mount", "fixed", "arm", "hand::palm", "") +
                      "<frame name='tip' attached_to='hand::finger'><pose>0 1 0 0 0 0</pose></frame>"));
  ASSERT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  const Model built(loaded.spec);
  EXPECT_EQ(built.nv(), 1);
  EXPECT_EQ(built.joints()[0].name, "hand::bend");
  expect_near(pose_of_frame(built, "hand::palm").p, {-0.2, 0, 2.5});
  expect_near(pose_of_frame(built, "hand::grip").p, {0, 0, 2.5});
  expect_near(pose_of_frame(built, "hand").p, {-0.3, 0, 2.5});
  expect_near(pose_of_frame(built, "tip").p, {-0.1, 1, 2.5});
}

TEST(Sdf, FramesThatLeadNowhere) {
  const auto told = [](const std::string& inside, const std::string& text) {
    const auto loaded = parsed(9, model(link("a") + inside));
    EXPECT_TRUE(tells(loaded.findings, error, "m.sdf:1", text)) << inside;
    EXPECT_THROW(loaded.build(), ModelError);
  };
  told("<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>",
       "relative to itself");
  told("<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>" +
           joint("j", "fixed", "f", "a", ""),
       "attached to themselves");
  told("<frame name='f'><pose relative_to='aa'/></frame>", "there is no frame 'aa' in model 'm'");
  told(link("b") + joint("j", "revolute", "a", "c"), "there is no frame 'c'");
  told(link("b") + joint("j", "revolute", "x::a", "b"), "there is no model 'x'");
  told(link("b") + joint("j", "spring", "a", "b"), "joint 'j' has the type 'spring'");
  told(joint("j", "revolute", "a", "a"), "joins a link to itself");
  told("<link name='b'><pose>1 2 3</pose></link>", "expected 6 finite numbers");
  told(joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>"), "expected a direction");
  EXPECT_THROW(parsed("<robot/>"), ModelError);
  EXPECT_THROW(parsed("<sdf>"), ModelError);
  EXPECT_TRUE(tells(parsed(7, "<light name='sun'/>").findings, error, "m.sdf:1", "there is no <model>"));
  EXPECT_TRUE(tells(parsed(99, model(link("a"))).findings, warning, "m.sdf:1", "the version is"));
}

// --- files -------------------------------------------------------------------------------------------
class SdfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("articula_sdf_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(SdfFiles, Include) {
  write("hand/model.config",
        "<model><sdf version='1.4'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>");
  write("hand/new.sdf", "<sdf version='1.9'><model name='hand'>" + link("palm") + "</model></sdf>");
  const auto include = [](const std::string& uri, const std::string& more = "",
                          const std::string& attributes = "") {
    return "<include" + attributes + "><uri>" + uri + "</uri><name>h</name><pose>0 0 1 0 0 0</pose>" + more +
           "</include>";
  };
  const auto text = [&](const std::string& inside) {
    return "<sdf version='1.10'><model name='m'>" + link("a") + inside +
           joint("j", "fixed", "a", "h::palm", "") + "</model></sdf>";
  };
  write("arm/model.config", "<model/>");
  const std::string arm = write("arm/arm.sdf", text(include("model://hand")));
  const LoadedModel loaded = read_model(arm);
  EXPECT_TRUE(loaded.findings.empty()) << describe(loaded.findings[0]);
  expect_near(pose_of_frame(Model(loaded.spec), "h::palm").p, {0, 0, 1});
  EXPECT_NE(link_of(loaded, "h::palm").where.find("new.sdf:1"), std::string::npos);
  // Named on the command line; and merged.
  const std::string far = write("far/away/arm.sdf", text(include("model://gripper")));
  EXPECT_TRUE(tells(read_model(far).findings, error, "arm.sdf:1", "--package"));
  EXPECT_TRUE(read_model(far, {.packages = {{"gripper", (folder_ / "hand").string()}}}).findings.empty());
  const std::string merged =
      write("arm/merged.sdf", "<sdf version='1.10'><model name='m'>" + link("a") +
                                  include("model://hand", "", " merge='true'") +
                                  joint("j", "fixed", "a", "palm", "") + "</model></sdf>");
  const LoadedModel flat = read_model(merged);
  EXPECT_TRUE(flat.findings.empty()) << describe(flat.findings[0]);
  expect_near(pose_of_frame(Model(flat.spec), "palm").p, {0, 0, 1});
  // Files that include themselves, or each other, and files elsewhere.
  const std::string own = write("arm/own.sdf", text(include("own.sdf")));
  EXPECT_TRUE(tells(read_model(own).findings, error, "own.sdf:1", "the included 'own.sdf'"));
  write("arm/one.sdf", text(include("two.sdf")));
  write("arm/two.sdf", text(include("one.sdf")));
  EXPECT_TRUE(tells(read_model((folder_ / "arm/one.sdf").string()).findings, error, "two.sdf:1",
                    "the included 'one.sdf'"));
  const std::string outside =
      write("arm/outside.sdf",
            text(include("../hand/new.sdf") + include("file:///etc/passwd") + include("https://x.org/m")));
  EXPECT_EQ(read_model(outside).findings.size(), 4u);  // and the joint has nothing to hold
}

TEST_F(SdfFiles, Visuals) {
  write("m/meshes/a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string file = write("m/m.sdf", R"(<sdf version='1.9'><model name='m'><link name='a'>
    <visual name='v'><pose>0 0 1 0 0 0</pose><geometry><mesh><uri>model://m/meshes/a.obj</uri><scale>2 2 2</scale></mesh>
      </geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
    <visual name='w'><geometry><box><size>1 2 3</size></box></geometry></visual></link></model></sdf>)");
  const ModelVisuals visuals = read_visuals(read_model(file));
  ASSERT_EQ(visuals.links.size(), 1u);
  ASSERT_EQ(visuals.links[0].shapes.size(), 2u);
  EXPECT_EQ(visuals.links[0].shapes[0].kind, ShapeKind::mesh);
  EXPECT_EQ(visuals.links[0].shapes[0].size.x, 2);
  EXPECT_EQ(visuals.links[0].shapes[0].placement.p.z, 1);
  EXPECT_EQ((*visuals.links[0].shapes[0].color)[0], 1);
  EXPECT_EQ(visuals.links[0].shapes[1].size.z, 3);
}

}  // namespace
}  // namespace articula
