// Every instruction set that this machine has gives the same numbers, to rounding.
#include "articula/kernels/instruction_set.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

/// Puts back what was in use.
struct Restore {
  std::string before = instruction_set();
  ~Restore() { use_instruction_set(before); }
};

/// All results of all algorithms, each a vector.
std::vector<std::vector<double>> everything(const Case& c) {
  const int nv = c.model.nv();
  const State& s = c.state;
  std::vector<std::vector<double>> out;
  InverseDynamics<> inverse(c.model);
  ForwardDynamics<> forward(c.model);
  Kinematics<> motion(c.model);
  std::vector<double> tau(nv), a(nv), J(6 * nv);
  inverse_dynamics(inverse, s.q, s.v, s.a, tau, s.wrenches);
  forward_dynamics(forward, s.q, s.v, s.tau, a, s.wrenches);
  motion.update(s.q, s.v, s.a);
  motion.jacobian(c.model.frame("tool"), J);
  out.push_back(tau);
  out.push_back(a);
  out.push_back(J);
  out.push_back(bias_forces(c.model, s.q, s.v));
  out.push_back(gravity_forces(c.model, s.q));
  out.push_back(mass_matrix(c.model, s.q));
  out.push_back(inverse_mass_matrix(c.model, s.q));
  out.push_back(centroidal_map(c.model, s.q));
  const auto acceleration = motion.acceleration(c.model.frame("tool"));
  out.emplace_back(numbers_of(acceleration), numbers_of(acceleration) + 6);
  const auto t = motion.totals();
  out.emplace_back(numbers_of(t), numbers_of(t) + sizeof(t) / sizeof(double));
  return out;
}

TEST(InstructionSet, AllAgree) {
  Restore restore;
  Worst worst("difference between instruction sets");
  const auto sets = instruction_sets();
  ASSERT_FALSE(sets.empty());
  for_each_case([&](const Case& c) {
    use_instruction_set(sets.front());
    const auto expected = everything(c);
    for (const std::string& name : sets) {
      SCOPED_TRACE(name);
      use_instruction_set(name);
      EXPECT_EQ(instruction_set(), name);
      const auto got = everything(c);
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_LT(worst(relative_error(got[i], expected[i], 1e-3)), 1e-12) << "result " << i;
    }
  });
}

TEST(InstructionSet, FloatAgrees) {
  Restore restore;
  const auto sets = instruction_sets();
  for_each_case([&](const Case& c) {
    const auto forces = [&] {
      InverseDynamics<float> work(c.model);
      std::vector<float> tau(c.model.nv());
      inverse_dynamics(work, to_float(c.state.q), to_float(c.state.v), to_float(c.state.a), tau);
      return to_double(tau);
    };
    use_instruction_set(sets.front());
    const auto expected = forces();
    for (const std::string& name : sets) {
      use_instruction_set(name);
      EXPECT_LT(relative_error(forces(), expected), 1e-5) << name;
    }
  });
}

/// The packed sine and cosine as each instruction set compiles it, where products and sums may fuse: joints
/// about z on the world show them unchanged in their pose.
TEST(InstructionSet, SineAndCosine) {
  Restore restore;
  ModelSpec spec;
  spec.add_link({.name = "base"});
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    spec.add_link({.name = "link" + n, .mass = {1, {0.1, 0, 0}, {1, 1, 1, 0, 0, 0}}});
    spec.add_joint({.name = "joint" + n, .parent = "base", .child = "link" + n, .axis = {0, 0, 1}});
  }
  const Model model(spec);
  Kinematics<> work(model);
  for (const std::string& name : instruction_sets()) {
    use_instruction_set(name);
    Worst worst("sine or cosine, units in the last place, " + name);
    Rng rng(3);
    for (int n = 0; n < 20000; ++n) {
      std::vector<double> q(8);
      for (double& x : q) x = rng.uniform() * std::exp2(rng.integer(-10, 20));
      work.update(q);
      for (int i = 0; i < 8; ++i) {
        const auto R = work.pose(model.frame("link" + std::to_string(i))).rotation;
        const auto ulps = [](double got, long double exact) {
          const double rounded = static_cast<double>(exact);
          const double ulp = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
          return static_cast<double>(std::abs(got - exact) / ulp);
        };
        ASSERT_LT(worst(ulps(R.xx, std::cos(static_cast<long double>(q[i])))), 1) << q[i];
        ASSERT_LT(worst(ulps(R.yx, std::sin(static_cast<long double>(q[i])))), 1) << q[i];
      }
    }
  }
}

TEST(InstructionSet, UnknownNameIsRefused) {
  try {
    use_instruction_set("v9");
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("v9"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find(instruction_sets().front()), std::string::npos);
  }
}

}  // namespace
}  // namespace articula::testing
