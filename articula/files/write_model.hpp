// Models to text of any format that is known: the one list of writers is in write_model.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "articula/files/shapes.hpp"
#include "articula/model/spec.hpp"

namespace articula {

struct ModelWriter {
  std::string_view name;  // "urdf", also the ending
  std::string (*write)(const ModelSpec& spec, const ModelExtras& extras);
  bool gravity;                        // whether it says it
  std::string_view other_ending = "";  // ".xml"
};
std::span<const ModelWriter> model_writers();

/// By the ending of a path, in any case; nullptr if there is none for it.
const ModelWriter* find_writer(std::string_view path);

}  // namespace articula
