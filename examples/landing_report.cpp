// A quadruped drops onto soft ground: the run as a page for the browser, the feet's forces as arrows.
#include <algorithm>
#include <articula/dynamics/forward_dynamics.hpp>
#include <articula/dynamics/kinematics.hpp>
#include <articula/files/urdf.hpp>
#include <articula/files/urdf_visuals.hpp>
#include <articula/model/configuration.hpp>
#include <articula/report/report.hpp>
#include <cmath>
#include <cstdio>

using namespace articula;

int main(int argc, char** argv) {
  const Model dog = read_urdf("models/quadruped.urdf", {.base = Base::free});
  std::vector<double> q = neutral(dog), v(dog.nv()), tau(dog.nv()), a(dog.nv()), step(dog.nv());
  q[6] = 0.65;  // the trunk's height
  for (int leg = 0; leg < 4; ++leg) q[8 + 3 * leg] = 0.6, q[9 + 3 * leg] = -1.2;
  const std::vector<double> stance = q;

  Report report;
  report.title = "A quadruped lands";
  std::vector<double> all_q, all_v, all_tau;
  const char* feet[] = {"lf_foot", "rf_foot", "lh_foot", "rh_foot"};
  for (const char* foot : feet) report.forces.push_back({foot, {}, {}});

  ForwardDynamics work(dog);
  Kinematics kinematics(dog);
  std::vector<Spatial<double>> wrenches(dog.body_count());
  const double h = 1e-4;
  for (int i = 0; i <= 15000; ++i) {
    kinematics.update(q, v);
    std::fill(wrenches.begin(), wrenches.end(), Spatial<double>{});
    for (int f = 0; f < 4; ++f) {  // a spring with damping under each foot's sole
      const int frame = dog.frame(feet[f]), body = dog.frames()[frame].body;
      const Vec3<double> at = kinematics.pose(frame).position - Vec3<double>{0, 0, 0.025};
      const Vec3<double> speed = kinematics.velocity(frame).v;
      const double up = at.z < 0 ? std::max(0.0, -60000 * at.z - 800 * speed.z) : 0;
      const Vec3<double> force{-0.6 * up * std::tanh(50 * speed.x), -0.6 * up * std::tanh(50 * speed.y), up};
      const Vec3<double> lever = at - kinematics.pose(dog.frame(dog.bodies()[body].name)).position;
      wrenches[body] = {cross(lever, force), force};
      if (i % 50 == 0) report.forces[f].points.push_back(at), report.forces[f].forces.push_back(force);
    }
    for (int k = 6; k < dog.nv(); ++k) tau[k] = 300 * (stance[k + 1] - q[k + 1]) - 6 * v[k];
    if (i % 50 == 0) {
      report.times.push_back(i * h);
      all_q.insert(all_q.end(), q.begin(), q.end());
      all_v.insert(all_v.end(), v.begin(), v.end());
      all_tau.insert(all_tau.end(), tau.begin(), tau.end());
    }
    forward_dynamics(work, q, v, tau, a, wrenches);
    for (int k = 0; k < dog.nv(); ++k) v[k] += h * a[k], step[k] = h * v[k];
    integrate(dog, q, step, q);
  }

  add_motion(report, dog, {all_q, all_v, all_tau}, read_urdf_visuals("models/quadruped.urdf").links);
  if (argc > 1 && has_page()) write_report(report, argv[1]);
  std::printf("the trunk rests at %.2f m after %.1f s\n", q[6], report.times.back());
}
