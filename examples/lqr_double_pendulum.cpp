// A double pendulum held upright by a linear quadratic regulator that drives one joint only.
//
//   lqr_double_pendulum [models/double_pendulum.urdf]
//
// The gain comes from the linearization at the upright equilibrium; the simulation is of the full nonlinear
// model. Then the same by a computer that acts twenty times a second, with the exact derivative of its step.
#include <cmath>
#include <cstdio>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/linearization/regulator.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "articula/simulation/simulator.hpp"

int main(int argc, char** argv) {
  using namespace articula;
  const Model model = read_urdf(argc > 1 ? argv[1] : "models/double_pendulum.urdf");

  // Hanging is q = 0; upright is half a turn of the first joint. It needs no torque.
  const std::vector<double> upright{M_PI, 0}, rest(2), no_torque(2);
  StateSpace work(model);
  std::vector<double> A(4 * 4), B(4 * 2);
  continuous_state_space(work, upright, rest, no_torque, A, B);
  for (const auto& pole : eigenvalues(A, 4))
    std::printf("pole of the pendulum: %8.3f %+8.3f i\n", pole.real(), pole.imag());

  // Only the first joint is driven: the first column of B.
  std::vector<double> b(4), Q(4 * 4), R{1};
  for (int i = 0; i < 4; ++i) b[i] = B[2 * i], Q[5 * i] = 1;
  std::printf("controllable: %d of 4\n", controllability_rank(A, b, 4, 1));
  const Regulator r = regulator(A, b, Q, R, 4, 1);
  std::printf("K = %.3f %.3f %.3f %.3f\n", r.K[0], r.K[1], r.K[2], r.K[3]);
  for (const auto& pole : r.poles)
    std::printf("pole with the regulator: %8.3f %+8.3f i\n", pole.real(), pole.imag());

  ForwardDynamics<> dynamics(model);
  std::vector<double> q{M_PI + 0.05, -0.03}, v(2), a(2), tau(2);
  const double h = 1e-3;
  for (int i = 0; i <= 10000; ++i) {
    const double x[4] = {q[0] - upright[0], q[1] - upright[1], v[0], v[1]};
    tau[0] = 0;
    for (int k = 0; k < 4; ++k) tau[0] -= r.K[k] * x[k];
    if (i % 1000 == 0)
      std::printf("t = %4.1f s   q - upright = %+.6f %+.6f   torque %+.4f\n", i * h, x[0], x[1], tau[0]);
    forward_dynamics(dynamics, q, v, tau, a);
    for (int k = 0; k < 2; ++k) v[k] += h * a[k], q[k] += h * v[k];
  }
  const double error = std::abs(q[0] - upright[0]) + std::abs(q[1]);

  // x_next = A x + B u over a step of 50 ms in which the torque is held.
  const double period = 0.05;
  LinearizedStep step(model, Integrator::rk4);
  std::vector<double> q_next(2), v_next(2);
  step.compute(upright, rest, no_torque, period, A, B, q_next, v_next);
  for (int i = 0; i < 4; ++i) b[i] = B[2 * i];
  const Regulator sampled = discrete_regulator(A, b, Q, R, 4, 1);
  for (const auto& pole : sampled.poles)
    std::printf("pole with the sampled regulator: %7.4f %+7.4f i\n", pole.real(), pole.imag());
  Simulator sim(model, Integrator::rk4);
  sim.q = {M_PI + 0.05, -0.03};
  while (sim.time < 10) {
    sim.tau[0] = 0;
    for (int k = 0; k < 2; ++k)
      sim.tau[0] -= sampled.K[k] * (sim.q[k] - upright[k]) + sampled.K[2 + k] * sim.v[k];
    sim.step(period);
  }
  const double sampled_error = std::abs(sim.q[0] - upright[0]) + std::abs(sim.q[1]);
  std::printf("t = %4.1f s   q - upright = %+.6f %+.6f\n", sim.time, sim.q[0] - upright[0], sim.q[1]);
  return error < 1e-3 && sampled_error < 1e-3 ? 0 : 1;
}
