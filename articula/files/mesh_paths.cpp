#include "articula/files/mesh_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace articula {

namespace {

namespace fs = std::filesystem;

fs::path absolute(const fs::path& path) {
  std::error_code ignored;
  fs::path out = fs::absolute(path.empty() ? "." : path, ignored).lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

/// The model's folder, and that of the file which a link leads to: of files that are installed as links,
/// meshes stand beside the latter.
std::vector<fs::path> folders_of(const ModelText& model) {
  std::vector<fs::path> out{absolute(model.folder)};
  std::error_code error;
  const fs::path real = fs::canonical(model.name, error).parent_path();
  if (!error && real != out[0]) out.push_back(real);
  return out;
}

bool is_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "package.xml", ignored) || fs::exists(folder / "model.config", ignored);
}

/// The folder that a model's files are below: see places_of.
fs::path root_of(const fs::path& folder) {
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
    if (is_package(at)) return at;
  std::error_code ignored;
  fs::path at = folder;
  for (int up = 0; up < 3 && at.has_relative_path(); ++up, at = at.parent_path())
    if (fs::is_directory(at / "meshes", ignored)) return at;
  return folder;
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

/// Folders of a package: what the user says, else what ROS 1, ROS 2 and Gazebo say.
std::vector<fs::path> package_folders(const std::string& name, const ReadOptions& options) {
  if (name.empty() || name == "." || name == "..") return {};
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
  for (const char* gazebo : {"GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"})
    for (const fs::path& path : listed(gazebo)) out.push_back(path / name);
  return out;
}

/// The file itself, with links followed, if it is one and below its root.
std::optional<fs::path> found_at(const FilePlace& place) {
  std::error_code error;
  const fs::path file = fs::canonical(place.file, error);
  if (error || !fs::is_regular_file(file, error)) return {};
  const fs::path root = fs::canonical(place.root, error);
  if (error || std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first != root.end())
    return {};
  return file;
}

}  // namespace

std::vector<FilePlace> places_of(std::string_view name, const ModelText& model) {
  std::vector<FilePlace> out;
  const std::vector<fs::path> folders = folders_of(model);
  if (!name.starts_with("package://") && !name.starts_with("model://")) {
    if (name.starts_with("file://")) name.remove_prefix(7);
    for (const fs::path& folder : folders) {
      out.push_back({folder / fs::path(name), root_of(folder)});
      for (const auto& package : model.options.packages)
        out.push_back({folder / fs::path(name), absolute(package.second)});
    }
    return out;
  }
  const std::string_view both = name.substr(name.find("://") + 3);
  const std::size_t slash = std::min(both.find('/'), both.size());
  const fs::path named = both.substr(0, slash), rest = both.substr(std::min(slash + 1, both.size()));
  for (const fs::path& folder : package_folders(named.string(), model.options))
    out.push_back({folder / rest, folder});
  for (const fs::path& folder : folders) {
    const fs::path root = root_of(folder);
    for (const fs::path& at : {folder, root}) out.push_back({at / named / rest, root});
    for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
      if (!named.empty() && is_package(at / named)) out.push_back({at / named / rest, at / named});
    for (const fs::path& at : {folder, root}) out.push_back({at / rest, root});
  }
  return out;
}

std::optional<fs::path> find_file(std::string_view name, const ModelText& model) {
  for (const FilePlace& place : places_of(name, model))
    if (const auto found = found_at(place)) return found;
  return {};
}

}  // namespace articula
