// Calls that cannot succeed say what was given and what was expected, and harm nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "articula/diagonal/operator_rates.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/task_space/coordinates.hpp"
#include "articula/task_space/swept_control.hpp"
#include "articula/task_space/textbook_task_space.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

/// The call throws E, and its message has all of `words`.
template <class E, class F>
void expect_error(F&& call, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with: " << words.front();
  } catch (const E& e) {
    for (const std::string& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << e.what();
  }
}

Model some_model() {
  Rng rng(5);
  return Model(random_spec(rng, {.links = 6, .kinds = moving_joint_kinds()}), {.base = Base::free});
}

TEST(HostileCalls, WrongSizes) {
  const Model model = some_model();
  Rng rng(1);
  const State s = random_state(rng, model);
  const std::size_t nq = model.nq(), nv = model.nv();
  const std::vector<double> short_q(nq - 1), long_q(nq + 1), short_v(nv - 1), none;
  std::vector<double> out(nv), short_out(nv - 1), matrix(nv * nv), short_matrix(nv * nv - 1), J(6 * nv),
      short_J(6 * nv - 1);
  const std::vector<Spatial<double>> few(model.body_count() - 1), many(model.body_count() + 1);
  InverseDynamics<> inverse(model);
  ForwardDynamics<> forward(model);
  MassMatrix<> mass(model);
  MassFactor<> factor(model);
  Kinematics<> motion(model);
  const auto refused = [&](auto&& call, const std::string& argument, std::size_t given,
                           std::size_t expected) {
    expect_error<ArgumentError>(call,
                                {argument, std::to_string(given), std::to_string(expected), model.name()});
  };
  for (const auto& q : {short_q, long_q, none}) {
    refused([&] { inverse_dynamics(inverse, q, s.v, s.a, out); }, "q", q.size(), nq);
    refused([&] { bias_forces(inverse, q, s.v, out); }, "q", q.size(), nq);
    refused([&] { gravity_forces(inverse, q, out); }, "q", q.size(), nq);
    refused([&] { forward_dynamics(forward, q, s.v, s.tau, out); }, "q", q.size(), nq);
    refused([&] { mass_matrix(mass, q, matrix); }, "q", q.size(), nq);
    refused([&] { centroidal_map(mass, q, J); }, "q", q.size(), nq);
    refused([&] { inverse_mass_matrix(factor, q, matrix); }, "q", q.size(), nq);
    refused([&] { motion.update(q); }, "q", q.size(), nq);
    refused([&] { motion.update(q, s.v); }, "q", q.size(), nq);
    refused([&] { motion.update(q, s.v, s.a); }, "q", q.size(), nq);
  }
  refused([&] { inverse_dynamics(inverse, s.q, short_v, s.a, out); }, "v", nv - 1, nv);
  refused([&] { inverse_dynamics(inverse, s.q, s.v, short_v, out); }, "a", nv - 1, nv);
  refused([&] { inverse_dynamics(inverse, s.q, s.v, s.a, short_out); }, "tau", nv - 1, nv);
  refused([&] { inverse_dynamics(inverse, s.q, s.v, s.a, out, few); }, "wrenches", few.size(),
          few.size() + 1);
  refused([&] { bias_forces(inverse, s.q, short_v, out); }, "v", nv - 1, nv);
  refused([&] { bias_forces(inverse, s.q, s.v, out, many); }, "wrenches", many.size(), many.size() - 1);
  refused([&] { gravity_forces(inverse, s.q, short_out); }, "tau", nv - 1, nv);
  refused([&] { forward_dynamics(forward, s.q, short_v, s.tau, out); }, "v", nv - 1, nv);
  refused([&] { forward_dynamics(forward, s.q, s.v, short_v, out); }, "tau", nv - 1, nv);
  refused([&] { forward_dynamics(forward, s.q, s.v, s.tau, short_out); }, "a", nv - 1, nv);
  refused([&] { forward_dynamics(forward, s.q, s.v, s.tau, out, few); }, "wrenches", few.size(),
          few.size() + 1);
  refused([&] { mass_matrix(mass, s.q, short_matrix); }, "matrix", nv * nv - 1, nv * nv);
  refused([&] { centroidal_map(mass, s.q, short_J); }, "map", 6 * nv - 1, 6 * nv);
  refused([&] { inverse_mass_matrix(factor, s.q, short_matrix); }, "matrix", nv * nv - 1, nv * nv);
  factor.factor(s.q);
  refused([&] { factor.solve(short_v, out); }, "tau", nv - 1, nv);
  refused([&] { factor.solve(s.tau, short_out); }, "x", nv - 1, nv);
  refused([&] { motion.update(s.q, short_v); }, "v", nv - 1, nv);
  refused([&] { motion.update(s.q, s.v, short_v); }, "a", nv - 1, nv);
  motion.update(s.q, s.v);
  refused([&] { motion.jacobian(0, short_J); }, "J", 6 * nv - 1, 6 * nv);
  refused([&] { (void)inverse_dynamics(model, short_q, s.v, s.a); }, "q", nq - 1, nq);
  refused([&] { (void)forward_dynamics(model, s.q, s.v, short_v); }, "tau", nv - 1, nv);
}

TEST(HostileCalls, FramesAndJoints) {
  const Model model = some_model();
  Kinematics<> motion(model);
  Rng rng(1);
  const State s = random_state(rng, model);
  expect_error<ArgumentError>([&] { (void)motion.pose(0); }, {"update"});
  motion.update(s.q);
  expect_error<ArgumentError>([&] { (void)motion.velocity(0); }, {"update"});
  expect_error<ArgumentError>([&] { (void)motion.acceleration(0); }, {"update"});
  motion.update(s.q, s.v);
  const int count = static_cast<int>(model.frames().size());
  std::vector<double> J(6 * model.nv());
  for (const int frame : {-1, count, 1 << 30, std::numeric_limits<int>::min()}) {
    const std::vector<std::string> words{std::to_string(frame), std::to_string(count)};
    expect_error<ArgumentError>([&] { (void)motion.pose(frame); }, words);
    expect_error<ArgumentError>([&] { (void)motion.velocity(frame); }, words);
    expect_error<ArgumentError>([&] { (void)motion.acceleration(frame); }, words);
    expect_error<ArgumentError>([&] { motion.jacobian(frame, J); }, words);
  }
  expect_error<ArgumentError>([&] { (void)model.frame("nowhere"); }, {"nowhere", "link0"});
  expect_error<ArgumentError>([&] { (void)model.joint("nothing"); }, {"nothing", "joint1"});
  expect_error<ArgumentError>([&] { (void)pose(model, s.q, "nowhere"); }, {"nowhere"});
}

/// Numbers that are not finite never come out as finite results, and never crash; where inertia is divided
/// by, they may be reported.
TEST(HostileCalls, NotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for_each_case([&](const Case& c) {
      const int nv = c.model.nv();
      if (nv == 0) return;
      InverseDynamics<> inverse(c.model);
      ForwardDynamics<> forward(c.model);
      MassFactor<> factor(c.model);
      const auto all_finite = [](const std::vector<double>& x) { return std::isfinite(largest(x)); };
      std::vector<double> q = c.state.q, v = c.state.v, tau(nv), a(nv), matrix(nv * nv);
      // The last coordinate of a base that slides does not matter to its own dynamics, so take the first: it
      // turns or slides, and the velocity that goes with it.
      v[0] = bad;
      inverse_dynamics(inverse, c.state.q, v, c.state.a, tau);
      const bool first_matters = !all_finite(inverse_dynamics(c.model, c.state.q, v, c.state.a));
      if (first_matters) {
        try {
          forward_dynamics(forward, c.state.q, v, c.state.tau, a);
          EXPECT_FALSE(all_finite(a));
        } catch (const ArgumentError&) {
        }
      }
      for (double& x : q) x = bad;
      try {
        factor.factor(q);
        factor.inverse(matrix);
        // Only joints that slide can leave M out of it.
        EXPECT_TRUE(all_finite(mass_matrix(c.model, q)) || !all_finite(matrix));
      } catch (const ArgumentError&) {  // not SingularError: the mechanism is sound, the numbers are not
      }
      // A workspace is as good as new afterwards.
      const auto expected = forward_dynamics(c.model, c.state.q, c.state.v, c.state.tau);
      forward_dynamics(forward, c.state.q, c.state.v, c.state.tau, a);
      EXPECT_EQ(a, expected);
      inverse_dynamics(inverse, c.state.q, c.state.v, c.state.a, tau);
      EXPECT_EQ(tau, inverse_dynamics(c.model, c.state.q, c.state.v, c.state.a));
      factor.factor(c.state.q);
      factor.inverse(matrix);
      EXPECT_EQ(matrix, inverse_mass_matrix(c.model, c.state.q));
    });
  }
}

/// A joint that can lose its inertia: two prismatic joints, the outer one turned along the inner one only at
/// some configurations. The model is fine (find_problems sees it move elsewhere); at that place D is zero.
TEST(HostileCalls, SingularJointIsNamed) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "arm", .mass = {0, {0, 0, 0}, {}}});
  spec.add_link({.name = "bob", .mass = {1, {1, 0, 0}, {}}});  // a point mass on the x axis
  spec.add_joint({.name = "shoulder", .parent = "base", .child = "arm", .axis = {1, 0, 0}});
  spec.add_joint({.name = "elbow", .parent = "arm", .child = "bob", .axis = {0, 0, 1}});
  const Model model(spec);
  const std::vector<double> straight{0, 0}, bent{0, 1}, zero{0, 0};
  EXPECT_NO_THROW((void)forward_dynamics(model, bent, zero, zero));
  expect_error<SingularError>([&] { (void)forward_dynamics(model, straight, zero, zero); }, {"shoulder"});
  expect_error<SingularError>([&] { (void)inverse_mass_matrix(model, straight); }, {"shoulder"});
  ForwardDynamics<float> work(model);
  std::vector<float> a(2);
  const std::vector<float> f{0, 0};
  expect_error<SingularError>([&] { forward_dynamics(work, f, f, f, a); }, {"shoulder"});
}

/// What is not in the list of algorithms: arguments that are not finite are never a singular mechanism.
TEST(HostileCalls, NotFiniteIsNotSingular) {
  const Model arm = shipped("arm7");
  const std::vector<double> zero(7), bent(7, 0.4);
  std::vector<double> lost = bent, out(7);
  lost[3] = NAN;
  int number = 0;
  const auto refused = [&](auto&& call) {
    SCOPED_TRACE(number++);
    expect_error<ArgumentError>(call, {"finite"});
  };

  SweptControl swept(arm, "flange");
  const PostureGains posture{.wanted = bent};
  refused([&] { swept.torques(bent, lost, {}, {}, posture, out); });
  refused([&] { swept.torques(lost, zero, {}, {}, posture, out); });
  refused([&] { swept.torques(bent, zero, {.position = {0, NAN, 0}}, {}, posture, out); });
  refused([&] { swept.torques(bent, zero, {}, {.damping = INFINITY}, posture, out); });
  refused([&] { swept.torques(bent, zero, {}, {}, {.wanted = lost, .stiffness = 1}, out); });

  const Model two = shipped("double_pendulum");
  Task task = selected_task(two, two.frames().back().name, {false, false, false, true, false, true});
  refused([&] { (void)textbook_task_space(two, task, std::vector{NAN, 0.3}, std::vector{0.0, 0.0}); });
  refused([&] { (void)operator_rates(arm, lost, zero); });
  refused([&] { (void)EulerAngles().rate({0, NAN, 0, 0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}); });

  const int flange = arm.frame("flange");
  ConstrainedDynamics closed(arm, {ball("hand", {-1, {}}, {flange, {}})});
  refused([&] { closed.acceleration(bent, lost, zero, out); });
  refused([&] { closed.acceleration(bent, zero, lost, out); });
  std::vector<Spatial<double>> wrenches(arm.body_count(), {{0, 0, 0}, {0, 0, 0}});
  wrenches[2].v.y = NAN;
  refused([&] { closed.acceleration(bent, zero, zero, out, wrenches); });
  ClosedChainInverse inverse(arm, {ball("hand", {-1, {}}, {flange, {}})}, {arm.frame("elbow_link")},
                             std::vector<bool>(7, true));
  const Spatial<double> wanted[] = {{{NAN, 0, 0}, {0, 0, 0}}};
  refused([&] { inverse.compute(bent, zero, wanted, out); });
}

TEST(HostileCalls, ModelWithoutFreedoms) {
  ModelSpec spec;
  spec.add_link({.name = "rock", .mass = {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}}});
  const Model model(spec);
  EXPECT_EQ(model.nv(), 0);
  const std::vector<double> none;
  EXPECT_TRUE(inverse_dynamics(model, none, none, none).empty());
  EXPECT_TRUE(forward_dynamics(model, none, none, none).empty());
  EXPECT_TRUE(mass_matrix(model, none).empty());
  EXPECT_TRUE(inverse_mass_matrix(model, none).empty());
  EXPECT_TRUE(centroidal_map(model, none).empty());
  const auto t = totals(model, none, none);
  EXPECT_EQ(t.mass, 0);
  EXPECT_EQ(t.kinetic, 0);
  EXPECT_EQ(t.potential, 0);
  EXPECT_EQ(pose(model, none, "rock").position.x, 0);
}

TEST(HostileCalls, GravityMustBeFinite) {
  const Model model = some_model();
  expect_error<ArgumentError>([&] { (void)model.with_gravity({0, NAN, 0}); }, {"gravity"});
  expect_error<ArgumentError>([&] { Model(model.spec(), {.gravity = {INFINITY, 0, 0}}); }, {"gravity"});
}

}  // namespace
}  // namespace articula::testing
