// A 7-joint arm traces a circle with its flange, by torques: operational-space control at 1 kHz.
//
//   operational_space [models/arm7.urdf]
#include <cmath>
#include <cstdio>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"

int main(int argc, char** argv) {
  using namespace articula;
  const Model model = read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  std::vector<double> q{0.2, 0.5, 0.1, 1.2, -0.3, 0.8, 0}, v(7), a(7), tau(7), step(7);
  const std::vector<double> rest = q;

  // Where it is, and what it weighs there.
  TaskController control(model, {{pose_task(model, "flange")}});
  control.update(q, v);
  const auto start = control.space().pose(0);
  std::vector<double> Lambda(36), g(6);
  control.space().lambda(Lambda);
  control.space().gravity(g);
  std::printf("apparent mass along x y z: %.2f %.2f %.2f kg, weight at the flange %.1f N\n", Lambda[21],
              Lambda[28], Lambda[35], g[5]);

  ForwardDynamics<> dynamics(model);
  const double h = 1e-3, duration = 2, radius = 0.12;
  double worst = 0;
  for (int i = 0; i <= duration / h; ++i) {
    // once around, starting and ending at rest
    const double s = i * h / duration, rate = 2 * M_PI / duration;
    const double angle = 2 * M_PI * s - std::sin(2 * M_PI * s), w = rate * (1 - std::cos(2 * M_PI * s)),
                 dw = rate * rate * std::sin(2 * M_PI * s), c = std::cos(angle), n = std::sin(angle);
    MotionTarget target{start.rotation, start.position + Vec3<double>{0, radius * n, radius * (c - 1)}};
    target.velocity.v = Vec3<double>{0, c, -n} * (radius * w);
    target.acceleration.v = Vec3<double>{0, c * dw - n * w * w, -n * dw - c * w * w} * radius;

    control.update(q, v);
    control.follow(0, target,
                   {.stiffness = 400, .damping = 40, .turning_stiffness = 400, .turning_damping = 40});
    control.hold_posture(rest, 10, 6);
    control.torques(tau);

    const Vec3<double> error = control.space().pose(0).position - target.position;
    worst = std::max(worst, std::sqrt(dot(error, error)));
    if (i % 250 == 0)
      std::printf("t = %.2f s   error %6.3f mm   elbow %+6.1f Nm\n", i * h,
                  1e3 * std::sqrt(dot(error, error)), tau[3]);
    forward_dynamics(dynamics, q, v, tau, a);
    for (int k = 0; k < 7; ++k) v[k] += h * a[k], step[k] = h * v[k];
    integrate(model, q, step, q);
  }
  std::printf("largest error %.3f mm\n", 1e3 * worst);
  return worst < 1e-3 ? 0 : 1;
}
