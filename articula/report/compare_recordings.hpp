// Two recordings of one model on one page: both mechanisms on one stage, their curves in one plot, and the difference.
#pragma once

#include "articula/report/recording_report.hpp"

namespace articula {

struct NamedRecording {
  const Recording& recording;
  std::string name;  // the file's, for the page and for messages
};

/// report_of the first, with the second beside it: its links as twins, its curves as compared ones, and after every
/// group the curves of the difference, second less first (of positions: the velocity that leads from one to the other in
/// a unit of time, so that orientations have one too). Samples are the first's; the second is interpolated there, and
/// beyond its ends its curves have gaps and its mechanism stays. Throws ArgumentError, naming both, where models,
/// columns or times do not match.
Report compare_recordings(const NamedRecording& first, const NamedRecording& second, const Model& model,
                          std::span<const LinkShapes> shapes = {}, std::size_t most_samples = 5000);

}  // namespace articula
