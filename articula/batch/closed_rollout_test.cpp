#include "articula/batch/closed_rollout.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/batch/threads.hpp"
#include "articula/loops/scene.hpp"
#include "articula/simulation/simulator.hpp"

namespace articula {
namespace {

TEST(ClosedRollout, EachTrajectoryIsASimulators) {
  Scene scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/four_bar.json"));
  const std::size_t nq = scene.q.size(), nv = scene.v.size(), count = 7, steps = 40;
  std::vector<double> q, v, tau;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> rate(nv);
    rate[0] = double(i) - 3;
    scene.dynamics().impulse(scene.q, rate, rate);
    q.insert(q.end(), scene.q.begin(), scene.q.end()), v.insert(v.end(), rate.begin(), rate.end());
    for (std::size_t k = 0; k < steps * nv; ++k) tau.push_back(std::sin(double(i * steps * nv + k)));
  }
  RolloutOptions options;
  options.steps = steps, options.every = 10, options.step = 2e-3;
  std::vector<double> q_path(count * 4 * nq), v_path(count * 4 * nv);
  Threads threads(3);
  ClosedRollout many(scene.model(), scene.constraints(), &threads);
  many.rollout(q, v, tau, options, q_path, v_path);
  for (std::size_t i = 0; i < count; ++i) {
    Simulator sim(scene.dynamics());
    sim.q.assign(&q[i * nq], &q[i * nq] + nq), sim.v.assign(&v[i * nv], &v[i * nv] + nv);
    for (std::size_t k = 0; k < steps; ++k) {
      sim.tau.assign(&tau[(i * steps + k) * nv], &tau[(i * steps + k) * nv] + nv);
      sim.step(options.step);
      if ((k + 1) % 10) continue;
      const std::size_t row = i * 4 + k / 10;
      for (std::size_t j = 0; j < nq; ++j) EXPECT_NEAR(q_path[row * nq + j], sim.q[j], 1e-12);
      for (std::size_t j = 0; j < nv; ++j) EXPECT_NEAR(v_path[row * nv + j], sim.v[j], 1e-11);
    }
    EXPECT_LT(scene.dynamics().drift(sim.q, sim.v).position, 1e-11);
  }
  // One that comes to an end is NaN; the others are as before. Starts must fit.
  std::vector<double> forces(count * nv), again(q_path.size()), rates(v_path.size());
  many.rollout(q, v, forces, options, q_path, v_path);
  forces[2 * nv] = 1e300;
  many.rollout(q, v, forces, options, again, rates);
  for (std::size_t i = 0; i < again.size(); ++i)
    if (i / (4 * nq) == 2)
      EXPECT_TRUE(std::isnan(again[i]));
    else
      EXPECT_EQ(again[i], q_path[i]);
  q[3 * nq] += 0.1;
  EXPECT_THROW(many.rollout(q, v, forces, options, again, rates), ArgumentError);
  q.pop_back();
  EXPECT_THROW(many.rollout(q, v, {}, options, again, rates), ArgumentError);
}

}  // namespace
}  // namespace articula
