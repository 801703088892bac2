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

/// articula eval SCENE grasp
ExitCode evaluate_scene(const ModelOptions& model, const std::vector<std::string>& quantities, bool project,
                        const std::string& out);
/// articula check SCENE
ExitCode check_scene(const ModelOptions& model, const std::string& out);

}  // namespace articula::cli
