// Where scenes come from, and what eval and check do with them.
#pragma once

#include <string>
#include <vector>

#include "articula/loops/scene.hpp"
#include "cli/model_source.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// True for a JSON file, and for the name of a shipped scene.
bool is_scene(const std::string& source);
/// With --gravity, where it is given, in place of the scene's.
SceneSpec load_scene(const ModelOptions& options);

/// How its arms' links are drawn.
std::vector<LinkShapes> scene_shapes(const std::string& source, const SceneSpec& scene);

/// articula eval SCENE grasp: of scenes of the same parts, one after the other. `model`: what is described in the output;
/// null: that of the scene. method: of grasp, one of ClosedChain's algorithms; empty: the general one. frames: of
/// operational_space.
ExitCode evaluate_scenes(const std::vector<SceneSpec>& scenes, const Model* model,
                         const std::vector<std::string>& quantities, bool project, const std::string& out,
                         const std::string& method = "", const std::vector<std::string>& frames = {});
/// What is suspicious about the constraints where the mechanism is at q and v under tau, as check says it.
std::vector<Finding> find_problems(ConstrainedDynamics& work, In<double> q, In<double> v, In<double> tau,
                                   const std::string& where);
/// articula check SCENE
ExitCode check_scene(const ModelOptions& model, const std::string& out);

}  // namespace articula::cli
