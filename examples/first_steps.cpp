#include <articula/dynamics/forward_dynamics.hpp>
#include <articula/files/urdf.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  const articula::Model arm = articula::read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  std::vector<double> q(arm.nq(), 0.3), v(arm.nv(), 0.1), tau(arm.nv(), 1.0), a(arm.nv());

  articula::ForwardDynamics work(arm);             // memory, once per model and thread
  articula::forward_dynamics(work, q, v, tau, a);  // under a microsecond; never allocates
  for (const articula::Joint& joint : arm.joints())
    std::printf("%s: %g\n", joint.name.c_str(), a[joint.v_index]);
}
