#include "articula/files/denavit_hartenberg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "articula/files/urdf.hpp"
#include "tests/support/spec_kinematics.hpp"

namespace articula {
namespace {

using testing::kinematics_of;
using testing::mass_matrix_of;
constexpr double pi = std::numbers::pi;

Eigen::Isometry3d turn(double angle, const Eigen::Vector3d& axis) {
  return Eigen::Isometry3d(Eigen::AngleAxisd(angle, axis));
}
Eigen::Isometry3d shift(double x, double y, double z) {
  return Eigen::Isometry3d(Eigen::Translation3d(x, y, z));
}
const Eigen::Vector3d ex = Eigen::Vector3d::UnitX(), ez = Eigen::Vector3d::UnitZ();

/// The textbook transform of a row, from frame i - 1 to frame i.
Eigen::Isometry3d textbook(const DhRow& row, DhConvention convention, double q) {
  const bool slides = row.kind == JointKind::prismatic;
  const double theta = row.theta + (slides ? 0 : q), d = row.d + (slides ? q : 0);
  if (convention == DhConvention::standard)
    return turn(theta, ez) * shift(0, 0, d) * shift(row.a, 0, 0) * turn(row.alpha, ex);
  return turn(row.alpha, ex) * shift(row.a, 0, 0) * turn(theta, ez) * shift(0, 0, d);
}

DhTable mixed_table(DhConvention convention) {
  DhTable table;
  table.convention = convention;
  table.base = {rotation_from_rpy(0.1, -0.4, 0.7), {0.2, -0.1, 0.5}};
  table.tool = {rotation_from_rpy(0.3, 0.2, -0.1), {0.05, 0.02, 0.11}};
  for (int i = 0; i < 5; ++i) {
    DhRow row;
    row.a = 0.1 * i - 0.15, row.alpha = 0.7 * i - 1.1, row.d = 0.05 + 0.07 * i, row.theta = 0.3 * i - 0.4;
    row.kind = i % 3 == 1 ? JointKind::prismatic : JointKind::revolute;
    row.mass = {1.0 + i, {0.03 * i, -0.02, 0.05}, {0.04, 0.05, 0.06, 0.003, -0.002, 0.001}};
    table.rows.push_back(row);
  }
  return table;
}

class DenavitHartenberg : public ::testing::TestWithParam<DhConvention> {};

TEST_P(DenavitHartenberg, FramesFollowTheTextbookTransforms) {
  const DhTable table = mixed_table(GetParam());
  const std::vector<double> q{0.4, -0.3, 1.1, -0.8, 0.25};
  const auto k = kinematics_of(spec_of(table), q);
  Eigen::Isometry3d T = testing::to_eigen(table.base);
  EXPECT_LT((k.pose.at("dh0").matrix() - T.matrix()).norm(), 1e-15);
  for (std::size_t i = 0; i < 5; ++i) {
    T = T * textbook(table.rows[i], table.convention, q[i]);
    EXPECT_LT((k.pose.at("dh" + std::to_string(i + 1)).matrix() - T.matrix()).norm(), 2e-15) << i;
  }
  EXPECT_LT((k.pose.at("tool").matrix() - (T * testing::to_eigen(table.tool)).matrix()).norm(), 2e-15);
}

TEST_P(DenavitHartenberg, MassPropertiesAreThoseOfTheDhFrame) {
  const DhTable table = mixed_table(GetParam());
  const ModelSpec spec = spec_of(table);
  const auto k = kinematics_of(spec, {0.4, -0.3, 1.1, -0.8, 0.25});
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i + 1);
    const auto dh = k.pose.at("dh" + number), link = k.pose.at("link" + number);
    const MassProperties& given = table.rows[i].mass;
    const MassProperties& kept = spec.links[i + 1].mass;
    EXPECT_EQ(kept.mass, given.mass);
    EXPECT_LT(
        (dh * testing::to_eigen(given.center_of_mass) - link * testing::to_eigen(kept.center_of_mass)).norm(),
        1e-15);
    const Eigen::Matrix3d in_world = dh.linear() * testing::to_eigen(given.inertia) * dh.linear().transpose();
    const Eigen::Matrix3d kept_in_world =
        link.linear() * testing::to_eigen(kept.inertia) * link.linear().transpose();
    EXPECT_LT((in_world - kept_in_world).norm(), 1e-16);
  }
}

TEST_P(DenavitHartenberg, SpecIsSound) {
  for (const auto& finding : find_problems(spec_of(mixed_table(GetParam()))))
    ADD_FAILURE() << describe(finding);
}

INSTANTIATE_TEST_SUITE_P(Both, DenavitHartenberg,
                         ::testing::Values(DhConvention::standard, DhConvention::modified));

/// The PUMA 560 of models/, from its modified table. The same arm in both conventions, by the conversion that
/// moves a and alpha one row down, must have the same mass matrix.
DhTable puma(DhConvention convention) {
  const double a[] = {0, 0, 0.4318, -0.0203, 0, 0}, alpha[] = {0, -pi / 2, 0, pi / 2, -pi / 2, pi / 2};
  const double d[] = {0, 0.2435, -0.0934, 0.4331, 0, 0}, armature[] = {1.14, 4.71, 0.83, 0.2, 0.179, 0.193};
  const MassProperties mass[] = {{13, {0, 0, 0}, {0.35, 0.35, 0.35, 0, 0, 0}},
                                 {17.4, {0.068, 0.006, -0.016}, {0.126, 0.520, 0.539, 0, 0, 0}},
                                 {4.8, {0, -0.07, 0.014}, {0.070, 0.0165, 0.086, 0, 0, 0}},
                                 {0.82, {0, 0, -0.019}, {1.8e-3, 1.8e-3, 1.3e-3, 0, 0, 0}},
                                 {0.34, {0, 0, 0}, {0.3e-3, 0.3e-3, 0.4e-3, 0, 0, 0}},
                                 {0.09, {0, 0, 0.032}, {0.15e-3, 0.15e-3, 0.04e-3, 0, 0, 0}}};
  DhTable table;
  table.convention = convention;
  for (std::size_t i = 0; i < 6; ++i) {
    DhRow row;
    row.d = d[i];
    row.armature = armature[i];
    row.mass = mass[i];
    if (convention == DhConvention::modified) {
      row.a = a[i], row.alpha = alpha[i];
    } else if (i < 5) {
      row.a = a[i + 1], row.alpha = alpha[i + 1];
      // Masses were given in the modified frame, which the standard one is reached from by Tx(a) Rx(alpha).
      const Mat3<double> R = star(rotation_from_rpy(row.alpha, 0, 0));
      row.mass.center_of_mass = R * (mass[i].center_of_mass - Vec3<double>{row.a, 0, 0});
      row.mass.inertia = symmetric(R * (mass[i].inertia * star(R)));
    }
    table.rows.push_back(row);
  }
  return table;
}

TEST(DenavitHartenbergPuma, ConventionsAgreeWithEachOtherAndWithTheUrdf) {
  const std::vector<double> q{0.3, -0.9, 0.6, 1.2, -0.4, 0.8};
  const Eigen::MatrixXd modified = mass_matrix_of(spec_of(puma(DhConvention::modified)), q);
  const Eigen::MatrixXd standard = mass_matrix_of(spec_of(puma(DhConvention::standard)), q);
  EXPECT_LT((modified - standard).norm(), 1e-14 * modified.norm());
  const LoadedModel urdf = read_urdf_spec(ARTICULA_SOURCE_DIR "/models/puma560.urdf");
  EXPECT_LT((modified - mass_matrix_of(urdf.spec, q)).norm(), 1e-13 * modified.norm());
}

/// The paper's first gravity constant is g1 = -37.2 N m: the load of the upper arm on joint 2.
TEST(DenavitHartenbergPuma, GravityConstantOfThePaper) {
  const ModelSpec spec = spec_of(puma(DhConvention::modified));
  // g1 = -g ((m3 + m4 + m5 + m6) a2 + m2 r_x2), the torque of the stretched upper arm.
  const double mass_beyond = 4.8 + 0.82 + 0.34 + 0.09;
  const double g1 = -9.81 * (mass_beyond * 0.4318 + 17.4 * 0.068);
  EXPECT_NEAR(g1, -37.2, 0.05);
  // The slope of the potential energy when the arm turns at joint 2 and the forearm keeps its direction.
  const auto height = [&](double q2, double q3) {
    const auto k = kinematics_of(spec, {0, q2, q3, 0, 0, 0});
    double sum = 0;
    for (const auto& link : spec.links)
      sum += link.mass.mass * (k.pose.at(link.name) * testing::to_eigen(link.mass.center_of_mass)).z();
    return 9.81 * sum;
  };
  const double e = 1e-5;
  const double torque = (height(e, pi / 2 - e) - height(-e, pi / 2 + e)) / (2 * e);
  EXPECT_NEAR(torque, g1, 1e-6);
}

TEST(DenavitHartenbergErrors, NameTheRow) {
  DhTable table;
  EXPECT_THROW(spec_of(table), ModelError);
  table.rows.resize(2);
  table.rows[1].kind = JointKind::spherical;
  try {
    spec_of(table);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("row 2"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("spherical"), std::string::npos) << e.what();
  }
  table.rows[1].kind = JointKind::revolute;
  table.rows[0].alpha = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(spec_of(table), ModelError);
}

TEST(DenavitHartenbergNames, AreTheUsers) {
  DhTable table;
  table.rows.resize(1);
  table.rows[0].joint_name = "elbow";
  table.rows[0].link_name = "forearm";
  const ModelSpec spec = spec_of(table);
  EXPECT_EQ(spec.joints[0].name, "elbow");
  EXPECT_EQ(spec.joints[0].child, "forearm");
  EXPECT_EQ(spec.links[1].name, "forearm");
}

}  // namespace
}  // namespace articula
