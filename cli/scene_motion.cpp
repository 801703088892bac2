#include "cli/scene_motion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/dynamics/kinematics.hpp"
#include "cli/messages.hpp"

namespace articula::cli {

SceneMotion::SceneMotion(Scene& scene, Integrator integrator, const Tolerances& tolerances,
                         std::optional<Table> torque)
    : scene_(scene), simulator_(scene.dynamics(), integrator, tolerances), recorder_(simulator_) {
  simulator_.q = scene.q, simulator_.v = scene.v;
  if (torque)
    simulator_.add(torque_.emplace(scene.model(), std::move(*torque)));
  else
    simulator_.tau = scene.tau;
}

void SceneMotion::row(std::span<double> out) {
  recorder_.row(out);
  const ConstrainedDynamics& work = scene_.dynamics();
  for (std::size_t i = 0; i < work.constraints().size() && !warned_; ++i) {
    if (!work.constraints()[i].limits) continue;
    const ContactState state = work.contact_state(static_cast<int>(i));
    if (state.holds()) continue;
    warned_ = true;  // once: the column has the rest
    say("warning: at t = {} s contact '{}' would have to {}; the motion goes on as if it held", out[0],
        work.constraints()[i].name, state.pulls ? "pull" : "slip");
  }
}

std::vector<std::pair<std::string, std::string>> SceneMotion::about() const {
  return {{"scene", scene_.spec().where}, {"integrator", std::string(name_of(simulator_.integrator()))}};
}

void add_grasp_forces(Report& report, const Recording& recording, Scene& scene) {
  const Model& model = scene.model();
  const std::size_t nq = model.nq(), nv = model.nv();
  const auto first_torque = std::find_if(recording.columns.begin(), recording.columns.end(),
                                         [](const auto& c) { return c.name.starts_with("tau:"); });
  const auto tau_at = static_cast<std::size_t>(first_torque - recording.columns.begin());
  if (tau_at + nv > recording.columns.size()) return;
  Kinematics<> kinematics(model);
  std::vector<double> a(nv);
  std::vector<std::pair<int, int>> hands;  // constraint, frame of the tip
  for (std::size_t g = 0; g < scene.spec().grasps.size(); ++g)
    for (const SceneArm& arm : scene.spec().arms)
      if (arm.name == scene.spec().grasps[g].arm) {
        hands.emplace_back(scene.constraint_of_grasp(static_cast<int>(g)),
                           model.frame(Assembly::name_of(arm.name, arm.tip)));
        report.forces.push_back({arm.name, {}, {}});
      }
  std::size_t row = 0;
  for (const double time : report.times) {
    while (recording.row(row)[0] < time) ++row;
    const std::span<const double> numbers = recording.row(row);
    const auto q = numbers.subspan(1, nq), v = numbers.subspan(1 + nq, nv);
    kinematics.update(q);
    scene.dynamics().acceleration(q, v, numbers.subspan(tau_at, nv), a);
    for (std::size_t i = 0; i < hands.size(); ++i) {
      report.forces[i].points.push_back(kinematics.pose(hands[i].second).position);
      report.forces[i].forces.push_back(scene.dynamics().force(hands[i].first).v);
    }
  }
}

}  // namespace articula::cli
