// The kernels' texts, which the library carries inside itself (cmake/cuda_texts.cmake).
#pragma once

#include <span>
#include <string_view>

namespace articula::cuda {

struct Text {
  const char* name;  // as #include has it
  const char* text;
};
std::span<const Text> texts();

}  // namespace articula::cuda
