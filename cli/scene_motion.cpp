#include "cli/scene_motion.hpp"

#include <algorithm>

#include "articula/dynamics/kinematics.hpp"

namespace articula::cli {

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
