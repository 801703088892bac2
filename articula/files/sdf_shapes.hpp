// Shapes of SDF files.
#pragma once

#include <tinyxml2.h>

#include <optional>

#include "articula/files/shapes.hpp"
#include "articula/model/spec.hpp"

namespace articula::sdf {

/// A `<geometry>` that is a box, cylinder, sphere or capsule; nothing if it is another, or has no finite,
/// positive numbers.
std::optional<Shape> shape_in(const tinyxml2::XMLElement* geometry);

/// Mass and inertia of a solid of that density, in its own axes.
std::optional<MassProperties> solid_mass(const Shape& shape, double density);

}  // namespace articula::sdf
