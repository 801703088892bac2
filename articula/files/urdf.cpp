#include "articula/files/urdf.hpp"

#include <filesystem>

#include "articula/files/xml_text.hpp"

namespace articula {

LoadedModel read_urdf_spec(const std::string& path) {
  std::string text = content_of(path);
  LoadedModel loaded = parse_urdf_spec(text, path);
  loaded.source = std::make_shared<const ModelText>(
      ModelText{std::move(text), path, std::filesystem::path(path).parent_path().string()});
  return loaded;
}

Model read_urdf(const std::string& path, const BuildOptions& options) {
  return read_urdf_spec(path).build(options);
}

}  // namespace articula
