// Which of many random torque sequences leaves the trunk of a falling quadruped highest, and how much that
// owes to masses that are known to ten per cent only: rollouts, then rollouts in which each state has its own
// masses.
#include <algorithm>
#include <articula/batch/batch.hpp>
#include <articula/files/urdf.hpp>
#include <articula/model/configuration.hpp>
#include <articula/model/inertial_parameters.hpp>
#include <cstdio>
#include <random>

int main(int argc, char** argv) {
  const articula::Model robot =
      articula::read_urdf(argc > 1 ? argv[1] : "models/quadruped.urdf", {.base = articula::Base::free});
  const std::size_t trajectories = 256, steps = 50, nq = robot.nq(), nv = robot.nv();
  std::mt19937 random(1);
  std::normal_distribution<double> draw;

  // All begin at rest; the joint forces of each step are trajectory by trajectory, none on the free base.
  std::vector<double> q, v(trajectories * nv), tau(trajectories * steps * nv);
  const std::vector<double> start = articula::neutral(robot);
  for (std::size_t i = 0; i < trajectories; ++i) q.insert(q.end(), start.begin(), start.end());
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] = i % nv < 6 ? 0 : 5 * draw(random);

  articula::Threads threads;
  articula::Batch<> batch(robot, {.threads = &threads});
  articula::RolloutOptions options;
  options.integrator = articula::Integrator::symplectic_euler;
  options.step = 2e-3;
  options.steps = options.every = steps;  // the last state of each is enough here
  std::vector<double> q_end(trajectories * nq);
  batch.rollout(q, v, tau, options, q_end, {});
  const auto height = [&](std::size_t i) { return q_end[i * nq + 6]; };  // quaternion, then x y z
  std::size_t best = 0;
  for (std::size_t i = 0; i < trajectories; ++i)
    if (height(i) > height(best)) best = i;
  std::printf("best of %zu torque sequences: %zu, trunk at %.5f m\n", trajectories, best, height(best));

  // The best one again, in as many robots: each body's ten inertial parameters times a number of its own.
  const std::vector<double> own = articula::inertial_parameters(robot);
  std::vector<double> inertias;
  for (std::size_t i = 0; i < trajectories; ++i) {
    std::copy_n(tau.begin() + best * steps * nv, steps * nv, tau.begin() + i * steps * nv);
    for (std::size_t k = 0; k < own.size(); k += articula::inertial_parameter_count) {
      const double scale = std::clamp(1 + 0.1 * draw(random), 0.5, 1.5);
      for (int j = 0; j < articula::inertial_parameter_count; ++j) inertias.push_back(scale * own[k + j]);
    }
  }
  batch.vary(inertias);
  batch.rollout(q, v, tau, options, q_end, {});
  double least = height(0), most = height(0);
  for (std::size_t i = 0; i < trajectories; ++i)
    least = std::min(least, height(i)), most = std::max(most, height(i));
  std::printf("with masses known to ten per cent: %.5f to %.5f m\n", least, most);
}
