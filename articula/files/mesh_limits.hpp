// How much of meshes is read.
#pragma once

#include <cstddef>

namespace articula {

/// Of a model's meshes together, and so of each: two million triangles.
inline constexpr std::size_t most_corners = 6'000'000;

}  // namespace articula
