// URDF: reading and writing. To read whatever a file holds, see read_model.hpp.
#pragma once

#include <string>
#include <string_view>

#include "articula/files/read_model.hpp"

namespace articula {

/// Reads a URDF file into a specification, as URDF is in the world: what other programs load loads here, with
/// a warning (docs/models.md). Throws ModelError ("file:line: what, expected, what to do") if the file cannot
/// be read as URDF at all; everything milder is a finding.
LoadedModel read_urdf_spec(const std::string& path);
/// The same from memory; `name` stands for the file name in messages.
LoadedModel parse_urdf_spec(std::string_view text, const std::string& name);

/// A model from a URDF file in one call. Throws ModelError with the first error, and how many more there are.
Model read_urdf(const std::string& path, const BuildOptions& options = {});

/// URDF text of a specification. Reading it back gives every number again to the last bit, except rotations,
/// which pass through roll, pitch and yaw (1e-15), and with these differences, which URDF asks for: frames
/// become massless links on fixed joints; a joint that hangs from the world hangs from a link of that name,
/// and so, welded, does the root link, if there is one beside it. Springs and actuators are left out. Universal,
/// cylindrical and helical joints become two each (split_joints). Throws ModelError where URDF cannot say it
/// (freedoms of a joint that differ, loops, numbers that are not finite).
std::string write_urdf(const ModelSpec& spec, const ModelExtras& extras = {});

}  // namespace articula
