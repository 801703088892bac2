// Where scenes come from, and what eval and check do with them.
#pragma once

#include <string>
#include <vector>

#include "articula/loops/scene.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// True for a JSON file, and for the name of a shipped scene.
bool is_scene(const std::string& source);
SceneSpec load_scene(const std::string& source);

/// articula eval SCENE grasp
ExitCode evaluate_scene(const std::string& source, const std::vector<std::string>& quantities, bool project,
                        const std::string& out);
/// articula check SCENE
ExitCode check_scene(const std::string& source, const std::string& out);

}  // namespace articula::cli
