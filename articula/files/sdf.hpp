// SDF (SDFormat, Gazebo's format) 1.3 to 1.12: reading and writing. To read whatever a file holds, see
// read_model.hpp.
#pragma once

#include <string>

#include "articula/files/read_model.hpp"

namespace articula {

/// Reads a model, or a world of models as one assembly (docs/files.md): frames (relative_to, attached_to,
/// expressed_in), nested models, <include>, and joints that close loops. Throws ModelError ("file:line: what,
/// expected, what to do") if it cannot be read as SDF at all; everything milder is a finding.
LoadedModel parse_sdf(const ModelText& text);

/// `<visual>` of every link; where its meshes are missing, `<collision>`.
ModelVisuals parse_sdf_visuals(const ModelText& text);

/// SDF text of a specification, one `<model>`. Reading it back gives every number again to the last bit, but
/// for rotations, which pass through roll, pitch and yaw, and placements (1e-15). Armatures are written as
/// Drake reads them where it can. A cylindrical joint becomes two (split_joints). Throws ModelError where SDF cannot say it
/// (free joints outboard of others, couplings that are not linear, loops that are open at zero, numbers that are not
/// finite).
std::string write_sdf(const ModelSpec& spec, const ModelExtras& extras = {});

}  // namespace articula
