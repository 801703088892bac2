// The code of docs/operators.md, run. The blocks between [tour] and [end] are those of the page, and a test
// says so.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/model/chain.hpp"
#include "articula/operators/program.hpp"

namespace {

using namespace articula;
using namespace articula::operators;

// clang-format off
TEST(Tour, Runs) {
const std::vector<double> q{0.3, -0.7, 1.1, 0.2, -0.4, 0.9}, v{0.5, -1, 0.2, 0.8, -0.3, 1.2}, tau{1, -2, 0.5, 0.3, -0.1, 0.2};
// [tour]
const Model model(make_chain(6));
OperatorState state(model);
state.update(q, v);

const auto body_velocities = star(phi) * star(H);          // V = phi* H* th'
const std::vector<double> V = apply(state, body_velocities, v);
// [end]
// [tour]
std::string text = explain(state, body_velocities);
EXPECT_NE(text.find("sweep, base to tip"), std::string::npos);
EXPECT_NE(text.find("1 sweep over 6 bodies"), std::string::npos);
// [end]
// [tour]
const auto J = star(B("link_6")) * star(phi) * star(H);
const std::vector<double> tip_velocity = apply(state, J, v);
const Dense J_matrix = dense(state, J);                     // 6 x 6, as kinematics would give it
EXPECT_NEAR(tip_velocity[0], V[30], 1e-14);                 // the last body's angular velocity
// [end]
// [tour]
const auto mass = H * phi * M * star(phi) * star(H);
Program times_mass(state, mass);                            // compiled once, runs without allocation
std::vector<double> Mv(6);
times_mass.apply(v, Mv);
EXPECT_EQ(times_mass.sweeps(), 2);
// [end]
// [tour]
const auto factor = Id + H * phi * K;
const auto whiten = Id - H * psi * K;                       // its inverse, by (4.14)
const std::vector<double> x = apply(state, whiten * factor, v);
EXPECT_NEAR(x[2], v[2], 1e-12);

const auto inverse_mass = star(whiten) * inv(D) * whiten;   // (4.16)
const std::vector<double> a1 = apply(state, inverse_mass, tau);
const std::vector<double> a2 = apply(state, inv(mass), tau);  // inv() knows that rule
EXPECT_NEAR(a1[3], a2[3], 1e-12);
// [end]
// [tour]
const auto T = input<JointSpace>(0);
const auto a = a_bias + star(E) * a_g;
const auto b = b_bias;
const auto bias = H * phi * (M * star(phi) * a + b);
const auto fd3 = star(whiten) * inv(D) * (T - H * psi * (K * T + M * star(phi) * a + b));
const std::vector<double> th_dd = evaluate(state, fd3, {tau});
EXPECT_NEAR(th_dd[0], forward_dynamics(model, q, v, tau)[0], 1e-11);
EXPECT_EQ(Program(state, fd3).sweeps(), 3);
// [end]
// [tour]
const auto z = psi * (K * T + b + P * a);
const auto alpha = star(psi) * (star(H) * inv(D) * (T - H * z) + a);   // FD4's outward sweep, at body level
const auto joint_forces = z + P * (alpha - a);

Program forces(state, joint_forces);
std::vector<double> f(36);
const std::span<const double> given[] = {tau};
forces.evaluate(given, f);
EXPECT_EQ(forces.sweeps(), 2);                              // one inward, one outward: FD4's own

const std::vector<double> long_way =
    evaluate(state, phi * (M * (star(phi) * star(H) * input<JointSpace>(0) + star(phi) * a) + b), {th_dd});
for (int i = 0; i < 36; ++i) EXPECT_NEAR(f[i], long_way[i], 1e-10);
// [end]
EXPECT_EQ(J_matrix.rows, 6);
EXPECT_EQ(evaluate(state, bias).size(), 6u);
EXPECT_NE(Mv[0], 0);
}
// clang-format on

std::vector<std::string> blocks(const std::string& path, const std::string& begin, const std::string& end) {
  std::ifstream file(std::string(ARTICULA_SOURCE_DIR) + "/" + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t stop = text.find(end, at);
    found.push_back(text.substr(at, stop - at));
    at = stop;
  }
  return found;
}

TEST(Tour, IsThatOfThePage) {
  auto page = blocks("docs/operators.md", "```cpp\n", "```");
  ASSERT_FALSE(page.empty());
  page.erase(page.begin());  // the includes
  EXPECT_EQ(page, blocks("articula/operators/tour_test.cpp", "// [tour]\n", "// [end]"));
}

}  // namespace
