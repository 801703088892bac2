#include "articula/report/model_view.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <nlohmann/json.hpp>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/error.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/constrained_operational_space.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
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

TEST(ModelView, SlidersComeBackFromConfigurations) {
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {}), {.base = rng.chance(0.5) ? Base::free : Base::fixed});
    const std::vector<double> q = random(model, seed),
                              back = configuration_of(model, slider_values(model, q));
    std::vector<double> way(model.nv());
    difference(model, q, back, way);
    for (const double x : way) EXPECT_NEAR(x, 0, 1e-7);
  }
}

TEST(ModelView, ADraggedFrameComesToItsTarget) {
  const Model arm = read_urdf(ARTICULA_SOURCE_DIR "/models/arm7.urdf");
  ModelView view(arm, {});
  const int hand = view.first_frame();
  ViewRequest request{.values = std::vector<double>(7, 0.4), .frame = hand};
  const json before = json::parse(view.state_json(request));
  EXPECT_EQ(before["values"], json(request.values)) << "what nobody moved stays";
  auto [x, y, z] = before["position"].get<std::array<double, 3>>();
  const auto turn = before["quaternion"].get<std::array<double, 4>>();
  request.drag = {{x + 0.05, y - 0.04, z - 0.06}, {}};
  const json after = json::parse(view.state_json(request));
  const auto values = after["values"].get<std::vector<double>>();
  const FramePose<double> found = pose(arm, configuration_of(arm, values), arm.frames()[hand].name);
  EXPECT_NEAR(found.position.x, x + 0.05, 1e-8);
  EXPECT_NEAR(found.position.z, z - 0.06, 1e-8);
  EXPECT_NEAR(after["position"][1].get<double>(), y - 0.04, 1e-8);
  EXPECT_NE(after["quaternion"], before["quaternion"]);
  request.drag->turn = Quaternion<double>{turn[0], turn[1], turn[2], turn[3]};
  const json kept = json::parse(view.state_json(request));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(kept["quaternion"][i].get<double>(), turn[i], 1e-7);
  EXPECT_NEAR(kept["position"][0].get<double>(), x + 0.05, 1e-8);
  // Far away: within limits, nearer than before.
  request.drag = {{100, 0, 0}, {}};
  const json far = json::parse(view.state_json(request));
  EXPECT_GT(far["position"][0].get<double>(), x);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_GE(far["values"][i].get<double>(), view.sliders()[i].lower);
    EXPECT_LE(far["values"][i].get<double>(), view.sliders()[i].upper);
  }
  request.drag = {{std::nan(""), 0, 0}, {}};
  EXPECT_THROW(view.state_json(request), ArgumentError);
  request.drag.reset();
  request.move = {7, 0.1};
  EXPECT_THROW(view.state_json(request), ArgumentError);
  request.move = {0, std::nan("")};
  EXPECT_THROW(view.state_json(request), ArgumentError);
}

TEST(ModelView, LoopsStayClosedWhateverIsMoved) {
  for (const char* name : {"four_bar", "stewart", "two_arms"}) {
    SCOPED_TRACE(name);
    Scene scene(read_scene(ARTICULA_SOURCE_DIR "/models/" + std::string(name) + ".json"));
    const Model& model = scene.model();
    ModelView view(model, {}, {.title = name, .constraints = scene.constraints(), .q = scene.q});
    ASSERT_TRUE(view.closed());
    ViewRequest request{.frame = view.first_frame()};
    for (const Slider& s : view.sliders()) request.values.push_back(s.value);
    const std::vector<double> still(model.nv());
    const auto drift = [&](const json& state) {
      const auto q = configuration_of(model, state["values"].get<std::vector<double>>());
      return scene.dynamics().drift(q, still).position;
    };
    json state = json::parse(view.state_json(request));
    EXPECT_LT(drift(state), 1e-8);
    for (int i = 0; i < static_cast<int>(view.sliders().size()); ++i) {
      request.move = {i, request.values[i] + 0.03};
      state = json::parse(view.state_json(request));
      EXPECT_LT(drift(state), 1e-8) << "slider " << i;
    }
    request.move = {0, request.values[0] + 0.03};
    state = json::parse(view.state_json(request));
    EXPECT_NEAR(state["values"][0].get<double>(), request.values[0] + 0.03, 1e-7) << "the one that was moved";
    EXPECT_NE(state["values"], json(request.values));
    // The ellipsoid is that of the closed mechanism.
    const int frames[] = {request.frame};
    const auto q = configuration_of(model, request.values);
    const ConstrainedTaskTerms terms = constrained_operational_space(scene.dynamics(), q, still, frames);
    const OperationalEllipsoid e = view.ellipsoid(request.values, request.frame);
    EXPECT_NEAR(e.inverse_mass[0] + e.inverse_mass[1] + e.inverse_mass[2],
                terms.omega[21] + terms.omega[28] + terms.omega[35], 1e-6);
  }
}

TEST(ModelView, LoopsThatCannotBeClosedAreShownOpenWithANote) {
  const Model arm = read_urdf(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf");
  const int tip = static_cast<int>(arm.frames().size()) - 1;
  const Constraint far = ball("tether", {-1, {Mat3<double>::identity(), {50, 0, 0}}}, {tip, {}});
  ModelView view(arm, {}, {.constraints = {far}});
  EXPECT_FALSE(view.closed());
  ASSERT_EQ(view.notes().size(), 1u);
  EXPECT_NE(view.notes()[0].find("'tether' is off by"), std::string::npos) << view.notes()[0];
}

}  // namespace
}  // namespace articula::testing
