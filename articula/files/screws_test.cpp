#include "articula/files/screws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "tests/support/spec_kinematics.hpp"

namespace articula {
namespace {

using testing::kinematics_of;
using testing::to_eigen;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

Eigen::Matrix3d tilde_of(const Eigen::Vector3d& a) {
  Eigen::Matrix3d m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}
Vector6 vector_of(const Spatial<double>& s) {
  Vector6 out;
  out << s.w.x, s.w.y, s.w.z, s.v.x, s.v.y, s.v.z;
  return out;
}
/// exp([S] q), by the matrix exponential.
Eigen::Matrix4d exponential(const Spatial<double>& S, double q) {
  Eigen::Matrix4d A = Eigen::Matrix4d::Zero();
  A.topLeftCorner<3, 3>() = tilde_of(to_eigen(S.w)) * q;
  A.topRightCorner<3, 1>() = to_eigen(S.v) * q;
  return A.exp();
}
/// MR9: Ad of T on (w, v).
Matrix6 adjoint(const Eigen::Matrix4d& T) {
  const Eigen::Matrix3d R = T.topLeftCorner<3, 3>();
  Matrix6 out = Matrix6::Zero();
  out.topLeftCorner<3, 3>() = R;
  out.bottomRightCorner<3, 3>() = R;
  out.bottomLeftCorner<3, 3>() = tilde_of(T.topRightCorner<3, 1>()) * R;
  return out;
}
Matrix6 spatial_inertia(const MassProperties& m) {
  Matrix6 G = Matrix6::Zero();
  const Eigen::Matrix3d p = tilde_of(to_eigen(m.center_of_mass));
  G.topLeftCorner<3, 3>() = to_eigen(m.inertia) - m.mass * p * p;
  G.topRightCorner<3, 3>() = m.mass * p;
  G.bottomLeftCorner<3, 3>() = -m.mass * p;
  G.bottomRightCorner<3, 3>() = m.mass * Eigen::Matrix3d::Identity();
  return G;
}

/// Turning, sliding and a screw of finite pitch, in no special position.
ScrewChain mixed_chain() {
  ScrewChain chain;
  const auto turning = [](const Vec3<double>& axis, const Vec3<double>& point, double pitch) {
    const Vec3<double> w = axis * (1 / std::sqrt(dot(axis, axis)));
    return Spatial<double>{w, cross(point, w) + w * pitch};  // v = -w x r + h w
  };
  const Vec3<double> slide = Vec3<double>{1, 2, -1} * (1 / std::sqrt(6.0));
  const Spatial<double> screws[] = {turning({0, 0, 1}, {0, 0, 0}, 0),
                                    turning({1, -2, 0.5}, {0.3, 0.1, 0.6}, 0),
                                    {{0, 0, 0}, slide},
                                    turning({0.2, 1, 1}, {0.5, -0.2, 0.8}, 0.07),
                                    turning({0, 1, 0}, {0.9, 0.1, 1.0}, 0)};
  for (int i = 0; i < 5; ++i) {
    ScrewLink link;
    link.screw = screws[i];
    link.home = {rotation_from_rpy(0.2 * i, -0.3 * i, 0.5 + 0.1 * i),
                 {0.2 * i, 0.1 - 0.05 * i, 0.3 + 0.2 * i}};
    link.mass = {2.0 - 0.2 * i, {0.01 * i, 0, 0.02}, {0.04, 0.05, 0.06, 0.003, -0.002, 0.001}};
    chain.links.push_back(link);
  }
  chain.tool = {rotation_from_rpy(0.4, 0.5, 0.6), {1.1, 0.2, 1.3}};
  return chain;
}

TEST(Screws, FramesFollowTheProductOfExponentials) {
  const ScrewChain chain = mixed_chain();
  const std::vector<double> q{0.4, -0.7, 0.3, 1.2, -0.5};
  const auto k = kinematics_of(spec_of(chain), q);
  Eigen::Matrix4d product = Eigen::Matrix4d::Identity();
  for (std::size_t i = 0; i < 5; ++i) {
    product = product * exponential(chain.links[i].screw, q[i]);
    const Eigen::Matrix4d expected = product * to_eigen(chain.links[i].home).matrix();
    EXPECT_LT((k.pose.at("frame" + std::to_string(i + 1)).matrix() - expected).norm(), 1e-14) << i;
  }
  EXPECT_LT((k.pose.at("tool").matrix() - product * to_eigen(chain.tool).matrix()).norm(), 1e-14);
}

TEST(Screws, KindsFollowThePitch) {
  const ModelSpec spec = spec_of(mixed_chain());
  EXPECT_EQ(spec.joints[0].kind, JointKind::revolute);
  EXPECT_EQ(spec.joints[1].kind, JointKind::revolute);
  EXPECT_EQ(spec.joints[2].kind, JointKind::prismatic);
  EXPECT_EQ(spec.joints[3].kind, JointKind::helical);
  EXPECT_NEAR(spec.joints[3].pitch, 0.07, 1e-16);
  EXPECT_EQ(spec.joints[4].kind, JointKind::revolute);
}

/// MR9 closed form: M = A* L* G L A with A_i = Ad(M_i^-1) S_i (9.40) and the link-to-link transforms of
/// (9.82).
TEST(Screws, MassMatrixIsMr9sClosedForm) {
  const ScrewChain chain = mixed_chain();
  const std::vector<double> q{0.4, -0.7, 0.3, 1.2, -0.5};
  constexpr int n = 5;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(6 * n, n), G = Eigen::MatrixXd::Zero(6 * n, 6 * n);
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(6 * n, 6 * n);
  for (int i = 0; i < n; ++i) {
    const ScrewLink& link = chain.links[std::size_t(i)];
    const Eigen::Matrix4d home = to_eigen(link.home).matrix();
    const Vector6 Ai = adjoint(home.inverse()) * vector_of(link.screw);
    A.block<6, 1>(6 * i, i) = Ai;
    G.block<6, 6>(6 * i, 6 * i) = spatial_inertia(link.mass);
    if (i == 0) continue;
    // T_{i,i-1} = exp(-[A_i] q_i) M_i^-1 M_{i-1}
    const Spatial<double> screw{{Ai(0), Ai(1), Ai(2)}, {Ai(3), Ai(4), Ai(5)}};
    const Eigen::Matrix4d previous = to_eigen(chain.links[std::size_t(i - 1)].home).matrix();
    W.block<6, 6>(6 * i, 6 * (i - 1)) =
        adjoint(exponential(screw, -q[std::size_t(i)]) * home.inverse() * previous);
  }
  const Eigen::MatrixXd L = (Eigen::MatrixXd::Identity(6 * n, 6 * n) - W).inverse();
  const Eigen::MatrixXd expected = A.transpose() * L.transpose() * G * L * A;
  const Eigen::MatrixXd M = testing::mass_matrix_of(spec_of(chain), q);
  EXPECT_LT((M - expected).norm(), 1e-13 * expected.norm());
}

TEST(Screws, SpecIsSound) {
  for (const auto& finding : find_problems(spec_of(mixed_chain()))) ADD_FAILURE() << describe(finding);
}

std::string message_of(const ScrewChain& chain) {
  try {
    spec_of(chain);
  } catch (const ModelError& e) {
    return e.what();
  }
  return "";
}

TEST(Screws, ErrorsNameTheScrew) {
  EXPECT_NE(message_of({}).find("no screws"), std::string::npos);
  ScrewChain chain = mixed_chain();
  chain.links[2].screw = {{0, 0, 2}, {0, 0, 0}};
  EXPECT_NE(message_of(chain).find("screw 3"), std::string::npos) << message_of(chain);
  EXPECT_NE(message_of(chain).find("divide it by 2"), std::string::npos) << message_of(chain);
  chain.links[2].screw = {{0, 0, 0}, {0, 0, 0}};
  EXPECT_NE(message_of(chain).find("screw 3"), std::string::npos) << message_of(chain);
  chain.links[2].screw.w.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of(chain).find("finite"), std::string::npos) << message_of(chain);
  chain = mixed_chain();
  chain.links[1].home.R.xx += 0.1;
  EXPECT_NE(message_of(chain).find("link 2"), std::string::npos) << message_of(chain);
}

std::array<std::array<double, 6>, 6> array_of(const Matrix6& m) {
  std::array<std::array<double, 6>, 6> out;
  for (Eigen::Index i = 0; i < 6; ++i)
    for (Eigen::Index j = 0; j < 6; ++j) out[std::size_t(i)][std::size_t(j)] = m(i, j);
  return out;
}

TEST(Screws, MassPropertiesOfASpatialInertia) {
  const MassProperties given{2.5, {0.1, -0.2, 0.3}, {0.4, 0.5, 0.6, 0.01, 0.02, -0.03}};
  const MassProperties back = mass_properties(array_of(spatial_inertia(given)));
  EXPECT_EQ(back.mass, 2.5);
  EXPECT_LT((to_eigen(back.center_of_mass) - to_eigen(given.center_of_mass)).norm(), 1e-16);
  EXPECT_LT((to_eigen(back.inertia) - to_eigen(given.inertia)).norm(), 1e-15);
  auto translation_first = spatial_inertia(given);
  translation_first = translation_first.colwise().reverse().rowwise().reverse().eval();
  EXPECT_THROW(mass_properties(array_of(translation_first)), ModelError);
}

}  // namespace
}  // namespace articula
