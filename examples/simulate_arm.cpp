// An arm held by a PD controller that runs at 500 Hz, with a push on its hand after a second.
//
//   simulate_arm [models/arm7.urdf]
#include <cmath>
#include <cstdio>
#include <vector>

#include "articula/files/urdf.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/simulator.hpp"

int main(int argc, char** argv) {
  using namespace articula;
  const Model arm = read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  const std::vector<double> home{0.2, 0.6, -0.1, 0.9, 0, 0.4, 0};

  Simulator sim(arm, Integrator::rk4);  // time, q, v and tau are plain members
  sim.q = home;
  PdControl hold(arm, {std::vector<double>(7, 400), std::vector<double>(7, 40)}, Reference(arm, home), true);
  JointDampers damping(arm);  // what the model's joints state
  // Nothing until 1 s, then 20 N along x until 1.2 s; straight lines between the rows.
  TabulatedWrench push(arm, "hand",
                       Table({1, 1.01, 1.2, 1.21}, {0, 0, 0, 0,  0, 0, 0, 0, 0, 20, 0, 0,  //
                                                    0, 0, 0, 20, 0, 0, 0, 0, 0, 0,  0, 0},
                             6));
  sim.add_sampled(hold, 2e-3);  // borrowed: they stay ours
  sim.add(damping);
  sim.add(push);

  double furthest = 0;
  while (sim.time < 3) {
    sim.step(1e-3);  // no allocation
    furthest = std::max(furthest, std::abs(sim.q[1] - home[1]));
    if (std::lround(sim.time * 1000) % 500 == 0)
      std::printf("t = %.1f s   q[1] - home = %+.5f   energy %.3f J\n", sim.time, sim.q[1] - home[1],
                  sim.totals().kinetic + sim.totals().potential);
  }
  std::printf("furthest from home: %.4f rad\n", furthest);
  return furthest > 1e-4 && std::abs(sim.q[1] - home[1]) < 1e-4 ? 0 : 1;
}
