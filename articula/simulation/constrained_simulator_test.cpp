// Closed chains in motion: constraints are held, energy is kept, errors leave the state as it was.
#include "articula/simulation/constrained_simulator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/loops/scene.hpp"
#include "articula/simulation/constrained_recorder.hpp"
#include "articula/simulation/controllers.hpp"

namespace articula {
namespace {

Scene swinging_four_bar() {
  Scene scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/four_bar.json"));
  scene.v.assign(scene.v.size(), 0);
  scene.v[0] = 4;
  scene.dynamics().impulse(scene.q, scene.v, scene.v);
  return scene;
}

TEST(ConstrainedSimulator, EveryIntegratorHoldsTheLoopAndAgrees) {
  std::vector<double> reference;
  for (const auto& [integrator, tolerance] : {std::pair{Integrator::rk45, 0.0},
                                              {Integrator::rk4, 1e-7},
                                              {Integrator::euler, 0.1},
                                              {Integrator::symplectic_euler, 0.1}}) {
    Scene scene = swinging_four_bar();
    ConstrainedSimulator sim(scene.dynamics(), integrator, {1e-10, 1e-10});
    sim.q = scene.q, sim.v = scene.v;
    const bool first_order = tolerance == 0.1;
    const int steps = first_order ? 20000 : 2000;
    for (int i = 1; i <= steps; ++i) sim.advance(double(i) / steps);
    EXPECT_EQ(sim.time, 1);
    EXPECT_LT(scene.dynamics().drift(sim.q, sim.v).position, 1e-11) << name_of(integrator);
    if (integrator == Integrator::rk45) reference = sim.q;
    for (std::size_t i = 0; i < sim.q.size(); ++i)
      EXPECT_NEAR(sim.q[i], reference[i], tolerance) << name_of(integrator);
  }
}

TEST(ConstrainedSimulator, KeepsEnergyAndRestoresRowsToTheBit) {
  for (const Integrator integrator : {Integrator::rk4, Integrator::rk45}) {
    Scene scene = swinging_four_bar();
    ConstrainedSimulator sim(scene.dynamics(), integrator);
    sim.q = scene.q, sim.v = scene.v;
    ConstrainedRecorder recorder(sim);
    Recording r{recorder.columns(), {}, {}};
    std::vector<double> row(r.columns.size());
    for (int i = 0; i <= 200; ++i) {
      if (i) sim.advance(i * 0.001);
      recorder.row(row);
      r.numbers.insert(r.numbers.end(), row.begin(), row.end());
    }
    const auto change = r.values(r.find("energy_change"));
    for (const double x : change) EXPECT_LT(std::abs(x), 1e-6);
    EXPECT_GT(r.values(r.find("drift_corrected"))[100], 0);
    recorder.restore(r.row(0), r.row(100));
    for (int i = 101; i <= 200; ++i) {
      sim.advance(i * 0.001);
      recorder.row(row);
    }
    for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], r.row(200)[i]) << r.columns[i].name;
  }
}

TEST(ConstrainedSimulator, ForceElementsActAndErrorsLeaveTheState) {
  Scene scene = swinging_four_bar();
  ConstrainedSimulator sim(scene.dynamics());
  sim.q = scene.q, sim.v = scene.v;
  JointDampers dampers(scene.model(), std::vector<double>(scene.model().nv(), 1.0));
  sim.add(dampers);
  const double before = std::abs(sim.v[0]);
  for (int i = 0; i < 5000; ++i) sim.step(1e-3);
  EXPECT_LT(std::abs(sim.v[0]), 0.1 * before);
  // A step much too long: the loop cannot be closed again, or the motion runs away.
  sim.v[0] = 1e9;
  scene.dynamics().impulse(sim.q, sim.v, sim.v);
  const auto q = sim.q, v = sim.v;
  const double time = sim.time;
  EXPECT_THROW(sim.step(100), Error);
  EXPECT_EQ(sim.q, q);
  EXPECT_EQ(sim.v, v);
  EXPECT_EQ(sim.time, time);
  std::atomic<bool> stop{true};
  sim.watch.stop = &stop;
  EXPECT_THROW(sim.step(1e-3), StoppedError);
  EXPECT_EQ(sim.q, q);
  EXPECT_THROW(ConstrainedSimulator(scene.dynamics(), Integrator::cvode), ArgumentError);
  sim.q.pop_back();
  EXPECT_THROW(sim.step(1e-3), ArgumentError);
}

}  // namespace
}  // namespace articula
