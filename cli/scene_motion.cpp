#include "cli/scene_motion.hpp"

#include <fmt/format.h>

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

}  // namespace articula::cli
