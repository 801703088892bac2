// A humanoid holds a hand still while its pelvis is carried about: two levels of tasks and a posture.
//
//   task_priorities [models/humanoid.urdf]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"

int main(int argc, char** argv) {
  using namespace articula;
  const Model model = read_urdf(argc > 1 ? argv[1] : "models/humanoid.urdf", {.base = Base::free});
  std::vector<double> q = neutral(model), v(model.nv()), a(model.nv()), tau(model.nv()), step(model.nv());
  for (const char* joint : {"left_shoulder_pitch", "left_elbow", "right_elbow"})
    q[model.joints()[model.joint(joint)].q_index] = -0.8;
  const std::vector<double> rest = q;

  // First the pelvis, as whatever carries it wants; then the hand; the other joints stay where they can.
  TaskController control(model, {{pose_task(model, "pelvis")}, {pose_task(model, "left_hand")}});
  control.update(q, v);
  const auto pelvis = control.space().pose(0), hand = control.space().pose(1);
  const MotionGains gains{.stiffness = 400, .damping = 40, .turning_stiffness = 400, .turning_damping = 40};
  const Vec3<double> sway{0.02, 0.03, -0.01}, roll{0.02, 0.03, 0.04};
  ForwardDynamics<> dynamics(model);
  const double h = 1e-3;
  double worst = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double w = 2 * M_PI, t = i * h, s = 1 - std::cos(w * t), ds = w * std::sin(w * t),
                 dds = w * w * std::cos(w * t);
    control.update(q, v);
    control.follow(0,
                   {rotation(exp_quaternion(roll * s)) * pelvis.rotation,
                    pelvis.position + sway * s,
                    {roll * ds, sway * ds},
                    {roll * dds, sway * dds}},
                   gains);
    control.follow(1, {hand.rotation, hand.position}, gains);
    control.hold_posture(rest, 30, 11);
    control.torques(tau);
    const Vec3<double> moved = control.space().pose(0).position - pelvis.position,
                       off = control.space().pose(1).position - hand.position;
    worst = std::max(worst, std::sqrt(dot(off, off)));
    if (i % 200 == 0)
      std::printf("t = %.1f s   pelvis moved %5.1f mm   hand %6.3f mm   rank %d and %d\n", t,
                  1e3 * std::sqrt(dot(moved, moved)), 1e3 * std::sqrt(dot(off, off)), control.rank(0),
                  control.rank(1));
    forward_dynamics(dynamics, q, v, tau, a);
    for (int k = 0; k < model.nv(); ++k) v[k] += h * a[k], step[k] = h * v[k];
    integrate(model, q, step, q);
  }
  return worst < 1e-3 ? 0 : 1;
}
