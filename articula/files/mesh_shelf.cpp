#include "articula/files/mesh_shelf.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/files/mesh_limits.hpp"
#include "articula/files/mesh_paths.hpp"

namespace articula {

void MeshShelf::note(const std::string& where, std::string message) {
  findings_.push_back({Finding::Severity::note, where, std::move(message)});
}

std::shared_ptr<const TriangleMesh> MeshShelf::get(const std::string& file, const ModelText& model,
                                                   const std::string& where) {
  const std::string key = model.folder + '\0' + file;
  const auto known = meshes_.find(key);
  if (known != meshes_.end()) return known->second;
  std::shared_ptr<const TriangleMesh> mesh;
  const auto found = find_file(file, model);
  if (!found) {
    if (missing_++ == 0) first_missing_ = {where, file};
  } else {
    try {
      // A page is passed on: it need not tell of folders.
      auto read = std::make_shared<TriangleMesh>(read_mesh(found->string(), found->filename().string()));
      corners_ += read->corners.size();
      if (corners_ <= most_corners)
        mesh = std::move(read);
      else
        note(where, fmt::format("not drawn: with mesh '{:.80}' there are more than {} triangles", file,
                                most_corners / 3));
    } catch (const ModelError& error) {
      note(where, fmt::format("not drawn: {}", error.what()));
    }
  }
  return meshes_[key] = mesh;
}

void MeshShelf::report_missing() {
  if (missing_)
    note(first_missing_.first,
         fmt::format("{} mesh file{} not found below the model's folder and its packages, '{:.80}'{}: drawn "
                     "from collision shapes or the links' own geometry",
                     missing_, missing_ == 1 ? " was" : "s were", first_missing_.second,
                     missing_ == 1 ? "" : " the first"));
}

}  // namespace articula
