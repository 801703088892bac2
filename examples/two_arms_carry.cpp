// Two 7-joint arms carry one object around a circle: closed-chain dynamics, operational-space control of the
// object.
//
//   two_arms_carry [REPORT.html]
#include <articula/dynamics/kinematics.hpp>
#include <articula/files/urdf_visuals.hpp>
#include <articula/loops/closed_chain_inverse.hpp>
#include <articula/loops/scene.hpp>
#include <articula/report/report.hpp>
#include <articula/simulation/simulator.hpp>
#include <cmath>
#include <cstdio>

using namespace articula;

int main(int argc, char** argv) {
  Scene scene(read_scene("models/two_arms.json"));
  const Model& model = scene.model();
  const int object = scene.object_frame(0);
  Simulator sim(scene.dynamics(), Integrator::symplectic_euler);
  sim.q = scene.q, sim.v = scene.v;
  const std::vector<double>&q = sim.q, &v = sim.v;
  std::vector<double>& tau = sim.tau;
  Kinematics kinematics(model);
  kinematics.update(q, v);
  const FramePose<double> start = kinematics.pose(object);
  const Vec3<double> hands[] = {kinematics.pose(model.frame("left/flange")).position,
                                kinematics.pose(model.frame("right/flange")).position};

  // Once around in 4 s, beginning and ending at rest; the object keeps its attitude.
  const double radius = 0.05, duration = 4;
  const auto reference = [&](double t) {
    const double s = t / duration, turn = 2 * M_PI * s * s * s * (10 - 15 * s + 6 * s * s);
    const double rate = 2 * M_PI / duration * 30 * s * s * (1 - s) * (1 - s);
    const double change = 2 * M_PI / (duration * duration) * 60 * s * (1 - s) * (1 - 2 * s);
    const Vec3<double> out{0, std::sin(turn), -std::cos(turn)}, along{0, std::cos(turn), std::sin(turn)};
    return PoseReference{{start.rotation, start.position + (out + Vec3<double>{0, 0, 1}) * radius},
                         {{0, 0, 0}, along * (radius * rate)},
                         {{0, 0, 0}, (along * change - out * (rate * rate)) * radius}};
  };

  Report report;
  report.title = "Two arms carry an object";
  report.forces = {{"left", {}, {}}, {"right", {}, {}}};
  std::vector<double> all_q, all_v, all_tau, errors;
  const std::vector<bool> with_motor = motors(model);
  ClosedChainInverse inverse(model, scene.constraints(), {object});
  const double h = 2e-3;
  double worst = 0;
  for (int i = 0; i * h <= duration; ++i) {
    kinematics.update(q, v);
    const FramePose<double> pose = kinematics.pose(object);
    const PoseReference wanted = reference(i * h);
    const Vec3<double> e = pose.position - wanted.pose.p;
    worst = std::max(worst, std::sqrt(dot(e, e)));
    const Spatial<double> command =
        pose_feedback(wanted, {pose.rotation, pose.position}, kinematics.velocity(object), 400, 40);
    inverse.compute(q, v, {&command, 1}, tau);
    for (int k = 0; k < model.nv(); ++k)  // what the object leaves free comes to rest
      if (with_motor[k]) tau[k] -= 1.0 * v[k];
    if (i % 5 == 0) {
      report.times.push_back(i * h);
      all_q.insert(all_q.end(), q.begin(), q.end());
      all_v.insert(all_v.end(), v.begin(), v.end());
      all_tau.insert(all_tau.end(), tau.begin(), tau.end());
      errors.push_back(1000 * std::sqrt(dot(e, e)));
      std::vector<double> a(model.nv());
      scene.dynamics().acceleration(q, v, tau, a);
      for (int hand = 0; hand < 2; ++hand) {
        report.forces[hand].points.push_back(
            kinematics.pose(model.frame(hand ? "right/flange" : "left/flange")).position);
        report.forces[hand].forces.push_back(scene.dynamics().force(hand).v);
      }
    }
    sim.step(h);
  }
  report.series.push_back({"object", "distance from its path", "mm", errors, -1});
  std::printf("the object stays within %.2f mm of its path; worst drift of a grasp %.1e m\n", 1000 * worst,
              scene.dynamics().drift(q, v).position);
  if (argc > 1 && has_page()) {
    std::vector<LinkShapes> shapes;
    for (const char* arm : {"left/", "right/"})
      for (LinkShapes link : read_urdf_visuals("models/arm7.urdf").links) {
        link.link = arm + link.link;
        shapes.push_back(link);
      }
    Shape beam;  // from hand to hand
    beam.size = {0.12, std::abs(hands[0].y - hands[1].y), 0.12};
    beam.placement.p = star(start.rotation) * ((hands[0] + hands[1]) * 0.5 - start.position);
    shapes.push_back({model.frames()[object].name, {beam}});
    add_motion(report, model, {all_q, all_v, all_tau}, shapes);
    write_report(report, argv[1]);
  }
  return worst < 0.005 ? 0 : 1;
}
