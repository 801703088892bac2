#include "cli/motion_report.hpp"

#include <algorithm>
#include <filesystem>

#include "articula/dynamics/kinematics.hpp"
#include "cli/scene_source.hpp"

namespace articula::cli {

namespace {

/// The hands' forces on what they hold, as arrows at the tips.
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

Report report_of(const NamedRecording& first, const NamedRecording* second, const Model& model,
                 std::span<const LinkShapes> shapes) {
  return second ? compare_recordings(first, *second, model, shapes)
                : articula::report_of(first.recording, model, shapes);
}

}  // namespace

Report model_report(const NamedRecording& first, const NamedRecording* second, const Model& model,
                    const ModelOptions& options) {
  const ModelVisuals visuals = load_visuals(options.source, options.read_options());
  Report report = report_of(first, second, model, visuals.links);
  for (const auto& finding : visuals.findings) report.notes.push_back(finding.message);
  return report;
}

Report scene_report(const NamedRecording& first, const NamedRecording* second, Scene& scene,
                    const ModelOptions& options) {
  Report report = report_of(first, second, scene.model(), scene_shapes(options.source, scene.spec()));
  report.title = std::filesystem::path(scene.spec().where).stem().string();
  add_grasp_forces(report, first.recording, scene);
  return report;
}

}  // namespace articula::cli
