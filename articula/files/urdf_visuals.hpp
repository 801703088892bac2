// What a URDF file says of its links' looks: <visual>, and where its meshes are missing, <collision>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/model/spec.hpp"

namespace articula {

struct UrdfVisuals {
  std::vector<LinkShapes> links;  // those that have any shape
  std::vector<Finding> findings;  // what could not be drawn, as notes: nothing here is an error
};

/// Shapes of every link. Meshes (STL, OBJ) are read where they are found: relative names beside the file,
/// package://NAME/REST as NAME/REST or REST in the model's root, or in a package NAME (a folder with a
/// package.xml or model.config) that lies in a folder above. Nothing else is looked at, whatever names say:
/// the root is the package that the model is in, or the folder of two above it that holds `meshes`, or the
/// model's own. A link whose visual meshes cannot be had is given the boxes, cylinders and spheres of its
/// collision geometry, if there are any.
/// Throws ModelError if the file is not XML; a missing or damaged mesh, or a shape with impossible numbers,
/// is a note.
UrdfVisuals read_urdf_visuals(const std::string& path);
/// The shapes of a URDF text in memory; meshes are looked for from `folder` on.
UrdfVisuals parse_urdf_visuals(std::string_view text, const std::string& name, const std::string& folder);

}  // namespace articula
