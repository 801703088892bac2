// What a page of a moving scene shows beside the motion.
#pragma once

#include "articula/loops/scene.hpp"
#include "articula/report/report.hpp"
#include "articula/simulation/recording.hpp"

namespace articula::cli {

/// The hands' forces on what they hold, as arrows at the tips.
void add_grasp_forces(Report& report, const Recording& recording, Scene& scene);

}  // namespace articula::cli
