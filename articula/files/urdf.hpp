// URDF: reading and writing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

struct UrdfResult {
  ModelSpec spec;
  std::vector<Finding> findings;  // notes of the reader itself; find_problems adds its own
};

/// Reads a URDF file into a specification. Throws ModelError ("file:line: what, expected, what to do") if the
/// file cannot be read as URDF at all; everything milder is a finding.
UrdfResult read_urdf_spec(const std::string& path);
/// Reads a URDF text in memory; `name` stands for the file name in messages.
UrdfResult parse_urdf_spec(std::string_view text, const std::string& name);

/// What the reader found, and what find_problems finds. If the reader met an error, its findings alone: what
/// it could not read would only be reported twice. A Model can be built from the specification if there is no
/// error among them (and cannot otherwise: the reader leaves NaN where a number or a joint could not be
/// read).
std::vector<Finding> find_problems(const UrdfResult& urdf, Base base = Base::fixed);

/// A model from a URDF file in one call. Throws ModelError with the first error, and how many more there are.
Model read_urdf(const std::string& path, const BuildOptions& options = {});

/// URDF text of a specification. Reading it back gives every number again to the last bit, except rotations,
/// which pass through roll, pitch and yaw (1e-15), and with these differences, which URDF asks for: frames
/// become massless links on fixed joints; a joint that hangs from the world hangs from a link of that name,
/// and so, welded, does the root link, if there is one beside it. Throws ModelError where URDF cannot say it
/// (joint kinds that URDF lacks, numbers that are not finite).
std::string write_urdf(const ModelSpec& spec);

}  // namespace articula
