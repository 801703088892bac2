// Something to see for every link: what its file says, or capsules along it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// One entry per link of the specification, in its order. A link without shapes of its own is drawn as
/// capsules from its origin to its children's joints, or, at the end of a branch, about its mass centre;
/// massless ends (tool frames) stay empty. An object on a free joint is drawn as the box of its mass and
/// inertia.
std::vector<LinkShapes> link_shapes(const ModelSpec& spec, std::span<const LinkShapes> given = {});

/// Shapes under names with a prefix ("left/"), for pages and scenes that several mechanisms share.
std::vector<LinkShapes> with_prefix(std::vector<LinkShapes> links, std::string_view prefix);

}  // namespace articula
