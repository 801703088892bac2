// The page of a recorded motion, or of two that are compared.
#pragma once

#include "articula/loops/scene.hpp"
#include "articula/report/compare_recordings.hpp"
#include "cli/model_source.hpp"

namespace articula::cli {

/// `second`: what the first is compared with, or null. Links look as the model's file says.
Report model_report(const NamedRecording& first, const NamedRecording* second, const Model& model,
                    const ModelOptions& options);
/// Also with the forces of hands on what they hold, of the first.
Report scene_report(const NamedRecording& first, const NamedRecording* second, Scene& scene,
                    const ModelOptions& options);

}  // namespace articula::cli
