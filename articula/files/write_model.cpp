#include "articula/files/write_model.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "articula/files/mjcf.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/urdf.hpp"

namespace articula {

namespace {

constexpr ModelWriter writers[] = {
    {"urdf", write_urdf, false},
    {"sdf", write_sdf, true, ".world"},
    {"mjcf", write_mjcf, true, ".xml"},
};

}  // namespace

std::span<const ModelWriter> model_writers() { return writers; }

const ModelWriter* find_writer(std::string_view path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const ModelWriter& writer : writers)
    if (!ending.empty() && (ending.substr(1) == writer.name || ending == writer.other_ending)) return &writer;
  return nullptr;
}

}  // namespace articula
