// Joint limits as events of closed chains: impacts that keep the loops closed.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/loops/scene.hpp"
#include "articula/simulation/simulator.hpp"

namespace articula {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A shipped mechanism, some of whose joints have been given limits about where it begins.
struct Limited {
  Scene scene;
  Model model;
  ConstrainedDynamics dynamics;

  static Model with_limits(const Scene& scene, const std::vector<std::pair<int, double>>& ranges) {
    ModelSpec spec = scene.model().spec();
    for (const auto& [joint, range] : ranges) {
      const double at = scene.q[scene.model().joints()[joint].q_index];
      for (JointSpec& j : spec.joints)
        if (j.name == scene.model().joints()[joint].name) {
          if (j.kind == JointKind::continuous) j.kind = JointKind::revolute;
          j.limits.lower = at - range, j.limits.upper = at + range;
        }
    }
    return Model(spec, {.base = scene.model().base()});
  }
  Limited(const char* name, const std::vector<std::pair<int, double>>& ranges)
      : scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/" + name + ".json")),
        model(with_limits(scene, ranges)),
        dynamics(model, scene.dynamics().constraints()) {}
  void start(Simulator& sim, double speed) {
    sim.q = scene.q;
    for (std::size_t i = 0; i < sim.v.size(); ++i) sim.v[i] = speed * std::sin(3.0 * double(i) + 1);
    dynamics.impulse(sim.q, sim.v, sim.v);
  }
};

/// M (v' - v) = J* x + e* y, J v' = 0, v'_i = -restitution v_i.
std::vector<double> dense_impact(ConstrainedDynamics& closed, In<double> q, In<double> v, int joint,
                                 double restitution) {
  const int n = closed.model().nv(), m = closed.rows();
  Matrix M(n, n), J(m, n);
  MassMatrix<> mass(closed.model());
  mass_matrix(mass, q, {M.data(), std::size_t(M.size())});
  closed.jacobian(q, {J.data(), std::size_t(J.size())});
  Eigen::MatrixXd rows(m + 1, n), K = Eigen::MatrixXd::Zero(n + m + 1, n + m + 1);
  rows << J, Eigen::RowVectorXd::Unit(n, joint);
  K.topLeftCorner(n, n) = M;
  K.topRightCorner(n, m + 1) = -rows.transpose();
  K.bottomLeftCorner(m + 1, n) = rows;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n + m + 1);
  right.head(n) = M * Eigen::Map<const Eigen::VectorXd>(v.data(), n);
  right[n + m] = -restitution * v[joint];
  const Eigen::VectorXd x = K.completeOrthogonalDecomposition().solve(right);
  return {x.data(), x.data() + n};
}

TEST(ClosedStops, ImpactIsThatOfTheDenseEquations) {
  for (const double restitution : {0.0, 0.5, 1.0})
    for (const auto& [name, joint] :
         {std::pair{"four_bar", 0}, {"four_bar", 2}, {"slider_crank", 0}, {"stewart", 2}}) {
      SCOPED_TRACE(std::string(name) + ", restitution " + std::to_string(restitution));
      Limited m(name, {{joint, 0.0}});  // at both bounds: one is hit
      Simulator sim(m.dynamics, Integrator::rk45);
      sim.stop_at_limits(restitution);
      m.start(sim, 2);
      const int v = m.model.joints()[joint].v_index;
      const std::vector<double> before = sim.v;
      ASSERT_GT(std::abs(before[v]), 0.05);
      const auto expected = dense_impact(m.dynamics, sim.q, before, v, restitution);
      if (restitution > 0) {  // it would run against the other bound at once: take that away
        Limited one(name, {{joint, 0.0}});
        ModelSpec spec = one.model.spec();
        for (JointSpec& j : spec.joints)
          if (j.name == one.model.joints()[joint].name)
            (before[v] > 0 ? j.limits.lower : j.limits.upper) = before[v] > 0 ? -100 : 100;
        const Model open_side(spec, {.base = one.model.base()});
        ConstrainedDynamics dynamics(open_side, m.dynamics.constraints());
        Simulator other(dynamics, Integrator::rk45);
        other.stop_at_limits(restitution);
        other.q = sim.q, other.v = before;
        other.advance(1e-12);
        ASSERT_EQ(other.impacts().size(), 1u);
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(other.v[i], expected[i], 1e-8) << i;
        continue;
      }
      sim.advance(1e-12);
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(sim.v[i], expected[i], 1e-8) << i;
      EXPECT_EQ(sim.v[v], 0);
    }
}

/// Never beyond a limit, never off a loop, and what an impact takes does not come back.
TEST(ClosedStops, MotionStaysWithinLimitsAndLoops) {
  struct Case {
    const char* name;
    std::vector<std::pair<int, double>> ranges;
    double speed;
  };
  for (const Case& c :
       {Case{"four_bar", {{0, 0.4}}, 4}, Case{"four_bar", {{0, 0.5}, {2, 0.2}}, 3},
        Case{"slider_crank", {{0, 0.6}}, 3}, Case{"stewart", {{2, 0.02}, {5, 0.03}, {8, 0.02}}, 1}})
    for (const double restitution : {0.0, 0.6, 1.0}) {
      SCOPED_TRACE(std::string(c.name) + ", restitution " + std::to_string(restitution));
      Limited m(c.name, c.ranges);
      Simulator sim(m.dynamics, Integrator::rk45, {1e-10, 1e-10});
      sim.stop_at_limits(restitution);
      m.start(sim, c.speed);
      const auto energy = [&] { return sim.totals().kinetic + sim.totals().potential; };
      double last = energy();
      const double first = last;
      std::size_t impacts = 0;
      for (int i = 1; i <= 100; ++i) {
        sim.advance(0.01 * i);
        impacts += sim.impacts().size();
        const double now = energy();
        EXPECT_LT(now - last, 1e-7 * (1 + std::abs(first)));
        last = now;
        const ConstraintDrift off = m.dynamics.drift(sim.q, sim.v);
        EXPECT_LT(off.position, 1e-9);
        EXPECT_LT(off.velocity, 1e-9);
        for (const JointStop& stop : joint_stops(m.model))
          EXPECT_LT(stop.side * (sim.q[stop.q] - stop.bound), 1e-9);
      }
      EXPECT_GT(impacts, restitution > 0 ? 1u : 0u);  // or it rests after the first
      if (restitution == 1) EXPECT_NEAR(last, first, 1e-5 * (1 + std::abs(first)));
      if (restitution == 0) EXPECT_LT(last, first - 1e-3);
    }
}

/// A four-bar that leans on its stop: nothing moves, the stop carries what gravity asks, and lets go when it is drawn.
TEST(ClosedStops, RestsAndIsDrawnBack) {
  Limited m("four_bar", {{0, 0.1}});
  Simulator sim(m.dynamics, Integrator::rk45);
  sim.stop_at_limits();
  m.start(sim, 0);
  for (int i = 1; i <= 300; ++i) sim.advance(0.01 * i);
  const std::vector<double> there = sim.q;
  const int v = m.model.joints()[0].v_index;
  const double bound = m.model.joints()[0].limits.upper[0], other = m.model.joints()[0].limits.lower[0];
  const bool up = std::abs(sim.q[m.model.joints()[0].q_index] - bound) < 1e-12;
  EXPECT_TRUE(up || std::abs(sim.q[m.model.joints()[0].q_index] - other) < 1e-12);
  for (const double x : sim.v) EXPECT_NEAR(x, 0, 1e-9);
  std::vector<double> a(sim.v.size());
  sim.acceleration(a);
  for (const double x : a) EXPECT_NEAR(x, 0, 1e-8);
  sim.advance(4);
  for (std::size_t i = 0; i < there.size(); ++i) EXPECT_NEAR(sim.q[i], there[i], 1e-10);
  sim.tau[v] = up ? -3 : 3;
  sim.advance(4.05);
  EXPECT_GT((up ? -1 : 1) * sim.v[v], 0.01);
  EXPECT_LT(m.dynamics.drift(sim.q, sim.v).position, 1e-9);
}

}  // namespace
}  // namespace articula
