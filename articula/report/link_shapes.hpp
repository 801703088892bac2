// Something to see for every link: what its file says, or capsules along it.
#pragma once

#include <span>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// One entry a link of the specification, in its order. A link without shapes of its own is drawn as capsules
/// from its origin to its children's joints, or, at the end of a branch, about its mass centre; massless ends
/// (tool frames) stay empty.
std::vector<LinkShapes> link_shapes(const ModelSpec& spec, std::span<const LinkShapes> given = {});

}  // namespace articula
