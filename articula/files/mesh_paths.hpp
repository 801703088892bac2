// Where the files that a model names are: relative names, package:// and file://.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "articula/files/read_model.hpp"

namespace articula {

/// A file, and the folder that it must be below: a model from elsewhere does not get to look around.
struct FilePlace {
  std::filesystem::path file, root;
};

/// Where a file may be, best first, as ROS looks for it. Relative names: in the model's folder,
/// or from there in a folder that is given for some package.
/// package://NAME/REST (or model://): in the folder given for NAME, or failing that in those of
/// ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and Gazebo's paths; then as NAME/REST in the model's root, as REST in
/// a package NAME (a folder with a package.xml or model.config) that lies in a folder above, and as REST in the root. The root is the
/// package that the model is in, or the folder of two above it that holds `meshes`, or the model's own.
std::vector<FilePlace> places_of(std::string_view name, const ModelText& model);

/// The first that is a file below its root, links followed. Nothing else is looked at, whatever names say.
std::optional<std::filesystem::path> find_file(std::string_view name, const ModelText& model);

}  // namespace articula
