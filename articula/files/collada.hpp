// Collada meshes (.dae).
#pragma once

#include <string>
#include <string_view>

#include "articula/files/shapes.hpp"

namespace articula {

/// All triangles that the file's scene shows, where its nodes put them, in metres by the file's unit. Like ROS's tools
/// it turns nothing for the file's up_axis. Throws ModelError (file:line, what) if it is not Collada, or refers to what is
/// not there.
TriangleMesh parse_collada(std::string_view text, const std::string& name);

}  // namespace articula
