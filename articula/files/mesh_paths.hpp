// Where the files that a model names are: relative names, package:// and file://.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "articula/files/read_model.hpp"

namespace articula {

/// Where a file may be, best first, as ROS looks for it: relative names in the model's folder;
/// package://NAME/REST (or model://) in the folder given for NAME, then in the folders of ROS_PACKAGE_PATH and
/// AMENT_PREFIX_PATH, then as NAME/REST or REST in the model's folder and those above it. Only places below
/// the named packages and at most four folders above the model's are listed: a model cannot ask for others.
std::vector<std::filesystem::path> places_of(std::string_view name, const ModelText& model);

/// The first that is a file.
std::optional<std::filesystem::path> find_file(std::string_view name, const ModelText& model);

}  // namespace articula
