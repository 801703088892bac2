// Going on from the rows of an earlier run.
#pragma once

#include <optional>
#include <string>

#include "cli/motion.hpp"
#include "cli/schedule.hpp"

namespace articula::cli {

using About = std::vector<std::pair<std::string, std::string>>;

/// Puts the motion where an earlier run ended, and returns the step of the grid; what follows is cut off its rows.
/// Nothing: all rows are there. InputError, naming what differs, unless the rows are those of this run: the same columns
/// and settings, the same first row, and a last one that follows from the one before to the bit.
std::optional<long> resume(Motion& motion, Recording& earlier, const About& about, const std::string& file,
                           const Schedule& when);

}  // namespace articula::cli
