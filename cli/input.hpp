// Input files, read whole.
#pragma once

#include <string>
#include <string_view>

namespace articula::cli {

/// The content of a file, or of stdin for `-`. `what` names it in the InputError that is thrown if it cannot
/// be read.
std::string read_all(const std::string& path, const std::string& what);

/// What read_all("-", ..) will give.
std::string_view look_ahead();

}  // namespace articula::cli
