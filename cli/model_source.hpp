// MODEL on the command line: a file, `-` (its text on stdin), chain:N[:SEED], or the name of a shipped model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "articula/files/read_model.hpp"
#include "articula/model/model.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// The options common to all subcommands that take a model.
struct ModelOptions {
  std::string source;
  std::string base = "fixed";
  std::vector<double> gravity;  // empty: as the file says, or failing that the earth's
  bool strict = false;
  std::vector<std::string> packages;  // NAME=FOLDER

  enum class Takes { models, scenes_too };
  void add_to(CLI::App& app, Takes takes = Takes::models);
  /// `stated`: the gravity that the model's file states.
  BuildOptions build_options(const std::optional<Vec3<double>>& stated = {}) const;
  ReadOptions read_options() const;
};

/// Where shipped models and scenes are looked for.
std::vector<std::filesystem::path> model_folders();
/// Of models, or of scenes, that come with the program.
std::vector<std::string> shipped_names(bool scenes);

/// What the source says, before any model is built. Throws InputError or ModelError if it cannot be read.
LoadedModel read_source(const std::string& source, const ReadOptions& options = {});
/// Builds it; warns on stderr of what is suspicious; with --strict that is an error. `suspicions`, if given, receives the
/// number of warnings.
Model build_and_warn(const LoadedModel& read, const ModelOptions& options, std::size_t* suspicions = nullptr);
/// The same of options.source.
Model load_model(const ModelOptions& options, std::size_t* suspicions = nullptr);

/// What the source's links look like; nothing for chains and stdin. What cannot be drawn becomes a note.
ModelVisuals load_visuals(const std::string& source, const ReadOptions& options = {});

}  // namespace articula::cli
