#include "articula/report/model_view.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <nlohmann/json.hpp>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/error.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;

std::vector<double> random_values(Rng& rng, const Model& model) {
  std::vector<double> out;
  for (const Slider& s : sliders_of(model)) out.push_back(rng.uniform(s.lower, s.upper));
  return out;
}

TEST(ModelView, SlidersOfEveryJointKindMakeConfigurations) {
  Rng rng(1);
  for (const JointKind kind : moving_joint_kinds()) {
    SCOPED_TRACE(name_of(kind));
    const Model model(one_joint_spec(kind));
    const auto sliders = sliders_of(model);
    EXPECT_EQ(sliders.size(), static_cast<std::size_t>(nv_of(kind)));
    for (const auto& s : sliders) EXPECT_TRUE(s.lower <= s.value && s.value <= s.upper && s.lower < s.upper);
    const auto q = configuration_of(model, random_values(rng, model));
    ASSERT_EQ(q.size(), static_cast<std::size_t>(model.nq()));
    if (model.nq() != model.nv()) {
      EXPECT_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
    }
  }
}

TEST(ModelView, SlidersStayWithinLimits) {
  ModelSpec spec = one_joint_spec(JointKind::revolute);
  spec.joints[0].limits.lower = 0.5, spec.joints[0].limits.upper = 1;
  auto s = sliders_of(Model(spec))[0];
  EXPECT_EQ(s.lower, 0.5);
  EXPECT_EQ(s.upper, 1);
  EXPECT_EQ(s.value, 0.5);
  spec.joints[0].limits.upper = INFINITY;
  spec.joints[0].limits.lower = 10;
  s = sliders_of(Model(spec))[0];
  EXPECT_TRUE(s.lower == 10 && s.value == 10 && s.upper > 10 && std::isfinite(s.upper));
}

TEST(ModelView, WrongRequestsAreRefused) {
  const Model model(one_joint_spec(JointKind::universal));
  ModelView view(model, {});
  const double two[] = {0, 0}, one[] = {0}, nan[] = {0, NAN};
  EXPECT_THROW(view.state_json(one, 0), ArgumentError);
  EXPECT_THROW(view.state_json(nan, 0), ArgumentError);
  EXPECT_THROW(view.state_json(two, -1), ArgumentError);
  EXPECT_THROW(view.state_json(two, 1000), ArgumentError);
  EXPECT_NO_THROW(view.state_json(two, 0));
}

TEST(ModelView, EllipsoidIsThatOfTheDenseOperationalSpaceInertia) {
  Rng rng(2);
  for (int i = 0; i < 20; ++i) {
    RandomOptions options;
    options.mimic = i % 3 == 0 ? 0.2 : 0;
    const Model model(random_spec(rng, options), {.base = i % 2 ? Base::free : Base::fixed});
    ModelView view(model, {});
    const auto values = random_values(rng, model);
    const auto q = configuration_of(model, values);
    const int frame = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
    const auto e = view.ellipsoid(values, frame);
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto J_numbers = jacobian(model, q, model.frames()[frame].name);
    const auto M_inv_numbers = inverse_mass_matrix(model, q);
    const Eigen::Map<const Matrix> J(J_numbers.data(), 6, model.nv()),
        M_inv(M_inv_numbers.data(), model.nv(), model.nv());
    const Eigen::Matrix3d Omega = (J * M_inv * J.transpose()).bottomRightCorner<3, 3>();
    const Eigen::Matrix3d A = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&e.axes.xx);
    EXPECT_NEAR(A.determinant(), 1, 1e-9);
    const Eigen::Matrix3d back =
        A * Eigen::Vector3d(e.inverse_mass[0], e.inverse_mass[1], e.inverse_mass[2]).asDiagonal() *
        A.transpose();
    EXPECT_LT((back - Omega).norm(), 1e-9 * (1e-9 + Omega.norm()));
    EXPECT_GE(e.inverse_mass[0], e.inverse_mass[2]);
  }
}

TEST(ModelView, RankTellsHowAFrameCanMove) {
  const Model planar = read_urdf(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf");
  ModelView view(planar, {});
  std::vector<double> values{0.3, 0.8};
  EXPECT_EQ(view.ellipsoid(values, view.first_frame()).rank, 2);
  EXPECT_EQ(view.ellipsoid(values, view.first_frame()).inverse_mass[2], 0) << "not out of its plane";
  const Model arm = read_urdf(ARTICULA_SOURCE_DIR "/models/arm7.urdf");
  ModelView seven(arm, {});
  EXPECT_EQ(seven.ellipsoid(std::vector<double>(7, 0.5), seven.first_frame()).rank, 6);
  EXPECT_LT(seven.ellipsoid(std::vector<double>(7, 0.0), seven.first_frame()).rank, 6) << "stretched out";
}

TEST(ModelView, StateHoldsTheLibrarysNumbers) {
  const Model arm = read_urdf(ARTICULA_SOURCE_DIR "/models/arm7.urdf");
  ModelView view(arm, {});
  const std::vector<double> values(7, 0.4);
  const json state = json::parse(view.state_json(values, view.first_frame()));
  MassFactor<> factor(arm);
  factor.factor(configuration_of(arm, values));
  ASSERT_EQ(state["D"].size(), arm.joints().size());
  for (int j = 0; j < 7; ++j) EXPECT_NEAR(state["D"][j][0].get<double>(), factor.D(j).numbers[0], 1e-15);
  EXPECT_EQ(state["weakest"]["joint"], factor.weakest_joint().joint);
  EXPECT_EQ(state["logDeterminant"], factor.log_determinant());
  EXPECT_FALSE(state.contains("error"));
  EXPECT_EQ(state["frame"], view.first_frame());
}

TEST(ModelView, ASingularMassMatrixIsSaidNotThrown) {
  // A point mass on the first joint's axis, unless the second joint takes it off.
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "yoke"});
  spec.add_link({.name = "rod", .mass = {1, {0, 0, 1}, {0, 0, 0, 0, 0, 0}}});
  spec.add_joint({.name = "turn", .parent = "base", .child = "yoke", .axis = {0, 0, 1}});
  spec.add_joint({.name = "tilt", .parent = "yoke", .child = "rod", .axis = {0, 1, 0}});
  const Model model(spec);
  ModelView view(model, {});
  const json upright = json::parse(view.state_json(std::vector<double>{0, 0}, 0));
  EXPECT_NE(upright["error"].get<std::string>().find("turn"), std::string::npos);
  EXPECT_FALSE(upright.contains("D"));
  EXPECT_TRUE(upright.contains("massMatrix"));
  EXPECT_FALSE(json::parse(view.state_json(std::vector<double>{0, 1}, 0)).contains("error"));
}

}  // namespace
}  // namespace articula::testing
