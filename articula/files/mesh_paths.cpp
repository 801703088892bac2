#include "articula/files/mesh_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace articula {

namespace {

namespace fs = std::filesystem;
constexpr int folders_above = 4;

fs::path absolute(const fs::path& path) {
  std::error_code ignored;
  fs::path out = fs::absolute(path.empty() ? "." : path, ignored).lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

/// The model's folder and those above it, without the root of the file system.
std::vector<fs::path> folders_of(const ModelText& model) {
  std::vector<fs::path> out{absolute(model.folder)};
  while (out.size() <= folders_above && out.back().parent_path().has_relative_path())
    out.push_back(out.back().parent_path());
  return out;
}

std::vector<fs::path> listed(const char* variable) {
  std::vector<fs::path> out;
  const char* const value = std::getenv(variable);
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) out.push_back(absolute(rest.substr(0, colon)));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return out;
}

/// Folders of a package: what the user says, else what ROS 1 and ROS 2 say.
std::vector<fs::path> package_folders(const std::string& name, const ReadOptions& options) {
  const auto given = options.packages.find(name);
  if (given != options.packages.end()) return {absolute(given->second)};
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::path& path : listed("ROS_PACKAGE_PATH")) {
    if (path.filename() == name) out.push_back(path);
    out.push_back(path / name);
    for (const auto& nested : fs::directory_iterator(path, ignored))  // packages of a metapackage
      if (fs::is_directory(nested.path() / name, ignored)) out.push_back(nested.path() / name);
  }
  for (const fs::path& path : listed("AMENT_PREFIX_PATH")) out.push_back(path / "share" / name);
  return out;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::vector<fs::path> places_of(std::string_view name, const ModelText& model) {
  const std::vector<fs::path> folders = folders_of(model);
  std::vector<fs::path> roots{folders.back()}, places;
  for (const auto& [package, folder] : model.options.packages) roots.push_back(absolute(folder));
  const std::size_t scheme = name.find("://");
  if (scheme == name.npos || name.starts_with("file://")) {
    const fs::path path(name.starts_with("file://") ? name.substr(7) : name);
    places.push_back(folders.front() / path);  // which is `path` if that is absolute
  } else {
    const std::string_view rest = name.substr(scheme + 3);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string package(rest.substr(0, slash));
    const fs::path inside(rest.substr(std::min(slash + 1, rest.size())));
    for (const fs::path& folder : package_folders(package, model.options)) {
      roots.push_back(folder);
      places.push_back(folder / inside);
    }
    for (const fs::path& folder : folders) {
      places.push_back(folder / package / inside);
      places.push_back(folder / inside);
    }
  }
  for (fs::path& place : places) place = place.lexically_normal();
  std::erase_if(places, [&](const fs::path& place) {
    return std::none_of(roots.begin(), roots.end(),
                        [&](const fs::path& root) { return is_below(place, root); });
  });
  return places;
}

std::optional<fs::path> find_file(std::string_view name, const ModelText& model) {
  std::error_code ignored;
  for (const fs::path& place : places_of(name, model))
    if (fs::is_regular_file(place, ignored)) return place;
  return {};
}

}  // namespace articula
