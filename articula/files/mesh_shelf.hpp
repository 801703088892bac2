// Meshes that models name, each read once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "articula/files/read_model.hpp"

namespace articula {

class MeshShelf {
 public:
  /// What cannot be had becomes a note.
  explicit MeshShelf(std::vector<Finding>& findings) : findings_(findings) {}

  /// A file as `model` names it (mesh_paths.hpp); nothing if it is missing, damaged or too much. `where` is the file:line
  /// that names it.
  std::shared_ptr<const TriangleMesh> get(const std::string& file, const ModelText& model,
                                          const std::string& where);
  /// One note of all files that were not found.
  void report_missing();

 private:
  void note(const std::string& where, std::string message);
  std::vector<Finding>& findings_;
  std::map<std::string, std::shared_ptr<const TriangleMesh>> meshes_;  // by folder and name
  std::size_t corners_ = 0;
  int missing_ = 0;
  std::pair<std::string, std::string> first_missing_;  // where, and its name
};

}  // namespace articula
