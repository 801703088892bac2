// The linearizations on the command line: names, shapes, signs and both methods, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <cmath>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

class LinearizationCommands : public CommandLine {
 protected:
  /// A pendulum about y, 2 kg at 0.5 m, 0.1 kg m^2: tau = 0.6 a + 9.81 sin(q).
  std::string pendulum() const {
    return write("pendulum.urdf", R"(<robot name="pendulum"><link name="base"/>
<link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>
)");
  }
};

void expect_number(const Json& value, double expected) {
  ASSERT_TRUE(value.is_number()) << value;
  EXPECT_NEAR(value.get<double>(), expected, 1e-13 * std::max(1.0, std::abs(expected)));
}
std::vector<double> row_by_row(const Json& matrix) {
  std::vector<double> out;
  for (const auto& row : matrix)
    for (const auto& x : row) out.push_back(x);
  return out;
}

TEST_F(LinearizationCommands, PendulumByHand) {
  const std::string state =
      R"({"q": [0.3], "v": [0.2], "a": [0.4], "tau": [1.5], "dq": [0.1], "dv": [0.2], "da": [0.3], "dtau": [0.4]})";
  const double stiffness = 9.81 * std::cos(0.3);
  const Json inverse = result({"eval", pendulum(), "linearized_inverse"}, state)["linearized_inverse"];
  expect_number(inverse["dq"][0][0], stiffness);
  expect_number(inverse["dv"][0][0], 0);
  expect_number(inverse["da"][0][0], 0.6);
  expect_number(result({"eval", pendulum(), "perturbed_inverse"}, state)["perturbed_inverse"][0],
                stiffness * 0.1 + 0.6 * 0.3);
  for (const char* method : {"direct", "conventional", "numerical", "printed"}) {
    const Json forward =
        result({"eval", pendulum(), "linearized_forward", "--method", method}, state)["linearized_forward"];
    expect_number(forward["dq"][0][0], -stiffness / 0.6);
    expect_number(forward["dv"][0][0], 0);
    expect_number(forward["dtau"][0][0], 1 / 0.6);
    expect_number(
        result({"eval", pendulum(), "perturbed_forward", "--method", method}, state)["perturbed_forward"][0],
        (-stiffness * 0.1 + 0.4) / 0.6);
  }
}

TEST_F(LinearizationCommands, DampingAndFriction) {
  const std::string lossy = write("lossy.urdf", R"(<robot name="pendulum"><link name="base"/>
<link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
<dynamics damping="0.7" friction="0.3"/></joint></robot>
)");
  const std::string state =
      R"({"q": [0.3], "v": [0.2], "a": [0.4], "tau": [1.5], "dq": [0.1], "dv": [0.2], "da": [0.3], "dtau": [0.4]})";
  const double gravity = 9.81 * std::sin(0.3), stiffness = 9.81 * std::cos(0.3), damping = 0.7 * 0.2,
               friction = 0.3 * std::tanh(0.2 / 0.01);
  const Json both = result({"eval", lossy, "inverse_dynamics", "forward_dynamics", "forward_dynamics_fd1",
                            "mass_matrix", "--damping", "--friction"},
                           state);
  expect_number(both["inverse_dynamics"][0], 0.6 * 0.4 + gravity + damping + friction);
  for (const char* name : {"forward_dynamics", "forward_dynamics_fd1"})
    expect_number(both[name][0], (1.5 - gravity - damping - friction) / 0.6);
  const Json linear = result({"eval", lossy, "linearized_inverse", "linearized_forward", "perturbed_inverse",
                              "perturbed_forward", "--damping"},
                             state);
  expect_number(linear["linearized_inverse"]["dv"][0][0], 0.7);
  expect_number(linear["linearized_forward"]["dv"][0][0], -0.7 / 0.6);
  expect_number(linear["linearized_forward"]["dq"][0][0], -stiffness / 0.6);
  expect_number(linear["perturbed_inverse"][0], stiffness * 0.1 + 0.7 * 0.2 + 0.6 * 0.3);
  expect_number(linear["perturbed_forward"][0], (0.4 - stiffness * 0.1 - 0.7 * 0.2) / 0.6);
  // Many states at once are computed as one.
  std::string many = "{\"states\": [" + state;
  for (int i = 1; i < 20; ++i) many += ", " + state;
  const Json all =
      json({"eval", lossy, "forward_dynamics", "mass_matrix", "--damping"}, many + "]}")["results"];
  ASSERT_EQ(all.size(), 20u);
  expect_number(all[19]["forward_dynamics"][0], (1.5 - gravity - damping) / 0.6);
  expect_failure(2, {"eval", lossy, "linearized_forward", "--friction"}, state, {"--friction is for"});
  expect_failure(2, {"eval", lossy, "mass_matrix", "--damping"}, state, {"none is asked for"});
  expect_failure(2, {"eval", lossy, "inverse_dynamics", "forward_gradient", "--damping"}, state,
                 {"is not for forward_gradient"});
}

TEST_F(LinearizationCommands, QuadrupedAgainstDifferencesOfTheDynamics) {
  const std::string file = ARTICULA_SOURCE_DIR "/models/quadruped.urdf";
  const Model model = read_urdf(file, {.base = Base::free});
  Rng rng(3);
  const State s = random_state(rng, model), d = random_state(rng, model);
  const Json state{{"q", s.q},  {"v", s.v},  {"a", s.a},  {"tau", s.tau},
                   {"dq", d.v}, {"dv", d.a}, {"da", d.v}, {"dtau", d.tau}};
  const auto run_on = [&](const char* quantity, const char* method) {
    Words words{"eval", file, quantity, "--base", "free"};
    if (*method) words.insert(words.end(), {"--method", method});
    return result(words, state.dump())[quantity];
  };
  const std::size_t n = model.nv();
  const auto times = [&](const Json& matrix, const std::vector<double>& x) {
    const std::vector<double> m = row_by_row(matrix);
    EXPECT_EQ(m.size(), n * n);
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) y[i] += m[i * n + j] * x[j];
    return y;
  };
  const auto sum = [](std::vector<double> a, const std::vector<double>& b, const std::vector<double>& c) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i] + c[i];
    return a;
  };
  // Central differences along the direction; the step keeps both errors below 1e-7.
  const double h = 1e-5;
  const auto moved = [&](double t, auto&& dynamics) {
    std::vector<double> q(model.nq()), dq = d.v, v = s.v;
    for (std::size_t i = 0; i < n; ++i) dq[i] *= t, v[i] += t * d.a[i];
    integrate(model, s.q, dq, q);
    return dynamics(q, v, t);
  };
  const auto slope = [&](auto&& dynamics) {
    std::vector<double> up = moved(h, dynamics);
    const std::vector<double> down = moved(-h, dynamics);
    for (std::size_t i = 0; i < n; ++i) up[i] = (up[i] - down[i]) / (2 * h);
    return up;
  };
  const auto inverse = slope([&](const auto& q, const auto& v, double t) {
    std::vector<double> a = s.a;
    for (std::size_t i = 0; i < n; ++i) a[i] += t * d.v[i];
    return inverse_dynamics(model, q, v, a);
  });
  const auto forward = slope([&](const auto& q, const auto& v, double t) {
    std::vector<double> tau = s.tau;
    for (std::size_t i = 0; i < n; ++i) tau[i] += t * d.tau[i];
    return forward_dynamics(model, q, v, tau);
  });
  for (const char* method : {"direct", "conventional", "numerical", "printed"}) {
    const Json li = run_on("linearized_inverse", ""), lf = run_on("linearized_forward", method);
    EXPECT_LT(relative_error(sum(times(li["dq"], d.v), times(li["dv"], d.a), times(li["da"], d.v)), inverse),
              1e-7);
    EXPECT_LT(
        relative_error(sum(times(lf["dq"], d.v), times(lf["dv"], d.a), times(lf["dtau"], d.tau)), forward),
        1e-6);
    EXPECT_LT(relative_error(run_on("perturbed_inverse", "").get<std::vector<double>>(), inverse), 1e-7);
    EXPECT_LT(relative_error(run_on("perturbed_forward", method).get<std::vector<double>>(), forward), 1e-6);
  }
}

// MR9 (9.53)-(9.57): a base that accelerates upward is gravity, a force at the tip is one more torque.
TEST_F(LinearizationCommands, TextbookWithAMovingBaseAndAForceAtTheTip) {
  const std::string at = R"("q": [0.3], "v": [0.2], "a": [0.4])";
  const auto tau = [&](const std::string& more, const Words& words = {}) {
    Words all{"eval", pendulum(), "inverse_dynamics_screws"};
    all.insert(all.end(), words.begin(), words.end());
    return result(all, "{" + at + more + "}")["inverse_dynamics_screws"][0];
  };
  const double plain = 0.6 * 0.4 + 9.81 * std::sin(0.3);
  expect_number(tau(""), plain);
  expect_number(tau(R"(, "V_0_dot": [0, 0, 0, 0, 0, 1])"), plain + std::sin(0.3));
  expect_number(tau(R"(, "V_0": [0, 1, 0, 0, 0, 0])"), plain);  // turning about its own axis changes nothing
  expect_number(tau(R"(, "F_tip": [0, 2, 0, 0, 0, 0])", {"--frame", "bob"}), plain + 2);
  expect_failure(2, {"eval", pendulum(), "inverse_dynamics_screws"},
                 "{" + at + R"(, "F_tip": [0, 2, 0, 0, 0, 0]})", {"--frame"});
  expect_failure(2, {"eval", pendulum(), "inverse_dynamics_screws"}, "{" + at + R"(, "V_0": [0, 2]})",
                 {"V_0", "expected 6"});
  expect_failure(2, {"eval", pendulum(), "inverse_dynamics_screws", "mass_matrix"}, "{" + at + "}",
                 {"stands alone"});
}

// JPL88 FD2's alpha(0) is the frame's acceleration at th'' of forward dynamics.
TEST_F(LinearizationCommands, AccelerationOfTheTip) {
  const std::string at = R"("q": [0.3, -0.5], "v": [0.2, 1])";
  const Json a = result({"eval", "double_pendulum", "forward_dynamics"},
                        "{" + at + R"(, "tau": [1, 2]})")["forward_dynamics"];
  const Json expected = result({"eval", "double_pendulum", "frame_acceleration", "--frame", "tip"},
                               "{" + at + ", \"a\": " + a.dump() + "}")["frame_acceleration"];
  const Json found = result({"eval", "double_pendulum", "tip_acceleration", "--frame", "tip"},
                            "{" + at + R"(, "tau": [1, 2]})")["tip_acceleration"];
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(found[i].get<double>(), expected[i].get<double>(), 1e-12);
}

TEST_F(LinearizationCommands, WhatIsMissingOrWrongIsSaid) {
  const std::string robot = pendulum();
  expect_failure(2, {"eval", robot, "perturbed_inverse"}, R"({"q": [0.3], "v": [0.2], "a": [0.4]})", {"dq"});
  expect_failure(2, {"eval", robot, "perturbed_forward"},
                 R"({"q": [0.3], "v": [0.2], "tau": [0.4], "dq": [1], "dv": [1], "dtau": [1, 2]})",
                 {"dtau", "2"});
  expect_failure(2, {"eval", robot, "linearized_forward", "--method", "guess"},
                 R"({"q": [0.3], "v": [0.2], "tau": [0.4]})", {"--method"});
  expect_failure(2, {"eval", robot, "inverse_dynamics", "--method", "printed"},
                 R"({"q": [0.3], "v": [0.2], "a": [0.4]})", {"inverse_dynamics has no such method"});
}

}  // namespace
}  // namespace articula::testing

#endif
