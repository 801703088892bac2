// The algorithms of one state, each with a workspace of its own, and how they fit together.
#include <articula/dynamics/forward_dynamics.hpp>
#include <articula/dynamics/inverse_dynamics.hpp>
#include <articula/dynamics/kinematics.hpp>
#include <articula/dynamics/mass_factor.hpp>
#include <articula/files/urdf.hpp>
#include <articula/model/configuration.hpp>
#include <cmath>
#include <cstdio>

using namespace articula;

int main(int argc, char** argv) {
  const Model model = read_urdf(argc > 1 ? argv[1] : "models/humanoid.urdf", {.base = Base::free});
  std::vector<double> q = random(model, 1), v(model.nv(), 0.2), a(model.nv(), 0.5), tau(model.nv()),
                      back(tau);

  InverseDynamics id(model);
  ForwardDynamics fd(model);
  inverse_dynamics(id, q, v, a, tau);
  forward_dynamics(fd, q, v, tau, back);
  double worst = 0;
  for (int i = 0; i < model.nv(); ++i) worst = std::fmax(worst, std::fabs(back[i] - a[i]));
  std::printf("a -> tau -> a: %.1e\n", worst);

  MassFactor factor(model);  // M = [Id + H phi K] D [Id + H phi K]*, in O(n)
  factor.factor(q);
  std::printf("log det M = %.6f; weakest joint: %s\n", factor.log_determinant(),
              model.joints()[factor.weakest_joint().joint].name.c_str());

  Kinematics motion(model);
  motion.update(q, v);
  const int frame = static_cast<int>(model.frames().size()) - 1;
  const Spatial<double> world = motion.velocity(frame), local = motion.velocity(frame, Axes::local);
  std::printf("%s turns at (%.3f, %.3f, %.3f) in world axes, (%.3f, %.3f, %.3f) in its own\n",
              model.frames()[frame].name.c_str(), world.w.x, world.w.y, world.w.z, local.w.x, local.w.y,
              local.w.z);
  std::printf("kinetic energy %.4f J, potential %.4f J\n", motion.totals().kinetic,
              motion.totals().potential);

  // On the configuration manifold: q (+) v for a second, and the velocity that leads there.
  std::vector<double> later(q.size()), again(v.size());
  integrate(model, q, v, later);
  difference(model, q, later, again);
  std::printf("q (+) v (-) q - v: %.1e\n", std::fabs(again[0] - v[0]));
  return worst < 1e-8 ? 0 : 1;
}
