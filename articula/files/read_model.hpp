// Models from files of any format that is known: the one list of formats is in read_model.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/model/model.hpp"

namespace articula {

struct ReadOptions {
  /// Folders of packages by name, for package://NAME/..; then ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are asked.
  std::map<std::string, std::string> packages{};
};

/// What a reader is given.
struct ModelText {
  std::string text;
  std::string name;    // of the file, for messages
  std::string folder;  // that the files it names are looked for from
  ReadOptions options{};
};

/// Coordinates and velocities that a file names, in the order of the model that is built with a fixed base.
struct NamedState {
  std::string name;
  std::vector<double> q, v;
  std::string where{};
};

/// A model as its file says it.
struct LoadedModel {
  ModelSpec spec;
  std::vector<Finding> findings{};            // of the reader itself; find_problems adds its own
  std::shared_ptr<const ModelText> source{};  // what it was read from, for read_visuals
  std::optional<Vec3<double>> gravity{};      // if the file states one
  std::vector<NamedState> states{};

  /// Under the file's gravity, if it states one. Throws ModelError with the first error, of the reader or of
  /// find_problems, and how many more there are.
  Model build(Base base = Base::fixed) const;
  /// As the options say.
  Model build(const BuildOptions& options) const;
};

/// Reads a file, by its content, not by its ending. Only .xacro is one: the program `xacro` is run on it, if
/// it is installed. Throws ModelError ("file:line: what, expected, what to do") if it cannot be read as a
/// model at all; everything milder is a finding.
LoadedModel read_model(const std::string& path, const ReadOptions& options = {});
/// The same from memory.
LoadedModel read_model(ModelText text);

/// What the reader found, and what find_problems finds. If the reader met an error, its findings alone: what
/// it could not read would only be reported twice. A Model can be built from the specification if there is no
/// error among them (and cannot otherwise: readers leave NaN where a number or a joint could not be read).
std::vector<Finding> find_problems(const LoadedModel& loaded, Base base = Base::fixed);

/// What links look like.
struct ModelVisuals {
  std::vector<LinkShapes> links;  // those that have any shape
  std::vector<Finding> findings;  // what could not be drawn, as notes: nothing here is an error
};
/// None for models that were not read from text.
ModelVisuals read_visuals(const LoadedModel& loaded);

/// Of one format: how its files are known, and its readers.
struct ModelFormat {
  std::string_view name;  // "URDF"
  std::string_view root;  // the top element
  LoadedModel (*read)(const ModelText& text);
  ModelVisuals (*visuals)(const ModelText& text);
};

}  // namespace articula
