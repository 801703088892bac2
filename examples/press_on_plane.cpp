// A 7-joint arm presses on a springy plane with 20 N while it moves along it: hybrid force and motion
// control.
//
//   press_on_plane [models/arm7.urdf]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"

int main(int argc, char** argv) {
  using namespace articula;
  const Model model = read_urdf(argc > 1 ? argv[1] : "models/arm7.urdf");
  std::vector<double> q{0.2, 0.5, 0.1, 1.2, -0.3, 0.8, 0}, v(7), a(7), tau(7), step(7);
  const std::vector<double> rest = q;
  TaskController control(model, {{pose_task(model, "flange")}});  // rows: turning x y z, moving x y z
  ForwardDynamics<> dynamics(model);
  Kinematics<> at(model);
  at.update(q, v);
  const int flange = model.frame("flange"), hand = model.frame("hand");  // the hand's origin is its joint's
  const auto start = at.pose(flange);
  const double plane = start.position.z - 1e-3, spring = 4e4, damper = 60, wanted = 20, h = 5e-4;
  std::vector<Spatial<double>> wrenches(model.body_count());

  double contact = 0;
  for (int i = 0; i <= 3000; ++i) {
    const double t = i * h;
    at.update(q, v);
    const Vec3<double> p = at.pose(flange).position;
    const double depth = plane - p.z;
    contact = depth > 0 ? std::max(0.0, spring * depth - damper * at.velocity(flange).v.z) : 0;
    const Vec3<double> push{0, 0, contact};
    wrenches[model.frames()[hand].body] = {cross(p - at.pose(hand).position, push), push};

    MotionTarget target{start.rotation, start.position};
    target.position.x += 0.03 * (1 - std::cos(2 * t));
    target.velocity.v.x = 0.06 * std::sin(2 * t);
    target.acceleration.v.x = 0.12 * std::cos(2 * t);
    control.update(q, v);
    control.follow(0, target,
                   {.stiffness = 400, .damping = 40, .turning_stiffness = 400, .turning_damping = 40});
    control.press(0, 5, -wanted, 60);  // row 5, moving along z: downward with 20 N
    control.hold_posture(rest, 10, 6);
    control.torques(tau);
    if (i % 500 == 0)
      std::printf("t = %.2f s   contact %6.2f N   off along the plane %6.3f mm\n", t, contact,
                  1e3 * std::abs(p.x - target.position.x));
    forward_dynamics(dynamics, q, v, tau, a, wrenches);
    for (int k = 0; k < 7; ++k) v[k] += h * a[k], step[k] = h * v[k];
    integrate(model, q, step, q);
  }
  return std::abs(contact - wanted) < 0.1 ? 0 : 1;
}
