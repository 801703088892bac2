// A simulation's recording as a page.
#pragma once

#include "articula/report/report.hpp"
#include "articula/simulation/recording.hpp"

namespace articula {

/// Everything that was recorded: the mechanism's motion, and a curve for every column that is no book-keeping
/// of the integrator. A longer recording is thinned to about `most_samples` rows, evenly, and a note says so.
/// Throws ArgumentError if columns of the model's coordinates are missing or times do not increase.
Report report_of(const Recording& recording, const Model& model, std::span<const LinkShapes> shapes = {},
                 std::size_t most_samples = 5000);
/// Is it a column that the integrator and sampled controllers keep for going on?
bool is_bookkeeping(std::string_view column);

}  // namespace articula
