// MJCF, the files of MuJoCo: reading and writing. To read whatever a file holds, see read_model.hpp; what is made of
// each element, and how coordinates compare with MuJoCo's, is in docs/models.md.
#pragma once

#include <string>
#include <string_view>

#include "articula/files/read_model.hpp"

namespace articula {

/// Reads MJCF. Coordinates are MuJoCo's qpos, quaternions with w last, a free joint's before its position. Throws
/// ModelError ("file:line: what, expected, what to do") if nothing can be made of it; everything milder is a
/// finding. Files that it includes or attaches, and meshes that masses come from, are read from the folders
/// that find_file (mesh_paths.hpp) allows.
LoadedModel parse_mjcf(const ModelText& model);
/// The geoms of groups 0 to 2, as MuJoCo's viewer shows them. What cannot be drawn is a note.
ModelVisuals parse_mjcf_visuals(const ModelText& model);

/// An `<equality>` of two joints whose name begins so is read as a mimic joint: so writes write_mjcf them, since in
/// MuJoCo no joint can do without a coordinate of its own.
inline constexpr std::string_view mimic_mark = "mimic:";

/// MJCF text of a specification. Reading it back gives the same dynamics, joints and frames, with these
/// differences, which MJCF asks for: a massless link between two joints becomes a body with both; joints of two or
/// three freedoms (cylindrical, universal, planar) become as many joints of one; a free joint's coordinates are the
/// pose in the world. Limits of velocity and shapes are left out. Throws ModelError where MJCF cannot say it (helical joints, loops of other kinds than fixed and spherical, numbers
/// that are not finite, a free joint inside the tree).
std::string write_mjcf(const ModelSpec& spec, const ModelExtras& extras = {});

}  // namespace articula
