// What a URDF file says of its links' looks: <visual>, and where its meshes are missing, <collision>.
#pragma once

#include <string>

#include "articula/files/read_model.hpp"

namespace articula {

/// Shapes of every link. Meshes (STL, OBJ, Collada) are read where they are found: relative names beside the file,
/// package://NAME/REST as places_of (mesh_paths.hpp) says. A link whose visual meshes cannot be had is given
/// the boxes, cylinders and spheres of its collision geometry, if there are any. Throws ModelError if the file
/// is not XML; a missing or damaged mesh, or a shape with impossible numbers, is a note.
ModelVisuals read_urdf_visuals(const std::string& path);
/// The same from memory.
ModelVisuals parse_urdf_visuals(const ModelText& model);

}  // namespace articula
