// xacro, ROS's macro language for URDF.
#pragma once

#include <string>

namespace articula {

/// What the program `xacro` makes of a file. ModelError if it is not installed, saying how to get it, or if
/// it fails, with its first line of complaint.
std::string expand_xacro(const std::string& path);

}  // namespace articula
