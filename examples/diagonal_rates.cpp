// Velocities nu in which the kinetic energy is |nu|^2/2, and a controller for each of them alone.
#include <articula/diagonal/diagonalized_dynamics.hpp>
#include <articula/dynamics/forward_dynamics.hpp>
#include <articula/files/urdf.hpp>
#include <articula/model/configuration.hpp>
#include <cmath>
#include <cstdio>

using namespace articula;

int main(int argc, char** argv) {
  const Model arm = read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  const int nv = arm.nv();
  std::vector<double> q(arm.nq(), 0.3), v(nv, 1.0), nu(nv), rest(nv), gains(nv, 4.0), tau(nv), a(nv),
      step(nv);
  DiagonalizedDynamics work(arm);
  ForwardDynamics forward(arm);

  // Every nu_i falls as exp(-4 t), whatever the others do.
  const double h = 1e-4;
  double first = 0, last = 0;
  for (int i = 0; i <= 5000; ++i) {
    work.update(q);
    work.rates_to_nu(v, nu);
    (i == 0 ? first : last) = nu[3];
    decoupled_rate_control(work, v, rest, gains, RateCompensation::all, tau);
    forward_dynamics(forward, q, v, tau, a);
    for (int k = 0; k < nv; ++k) v[k] += h * a[k], step[k] = h * v[k];
    integrate(arm, q, step, q);
  }
  double energy = 0;
  for (const double x : nu) energy += x * x / 2;
  std::printf("nu(3) after 0.5 s: %.5f of what it was, exp(-2) = %.5f; kinetic energy %.5f J\n", last / first,
              std::exp(-2.0), energy);
  return std::abs(last / first - std::exp(-2.0)) < 1e-3 ? 0 : 1;
}
