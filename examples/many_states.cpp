// Forward dynamics of 4096 random states of an arm, on all cores.
#include <articula/batch/batch.hpp>
#include <articula/files/urdf.hpp>
#include <cstdio>
#include <random>

int main(int argc, char** argv) {
  const articula::Model arm = articula::read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  const std::size_t states = 4096;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<double> q(states * arm.nq()), v(states * arm.nv()), tau(v.size()), a(v.size());
  for (auto* x : {&q, &v, &tau})
    for (double& number : *x) number = draw(random);

  articula::Threads threads;                            // as many as there are cores
  articula::Batch<> batch(arm, {.threads = &threads});  // memory, once per model
  batch.forward_dynamics(q, v, tau, a);                 // state by state: a[state * nv + joint]
  double largest = 0;
  for (const double x : a) largest = std::max(largest, x < 0 ? -x : x);
  std::printf("largest joint acceleration of %zu states on %d threads: %g rad/s^2\n", states, threads.count(),
              largest);
}
