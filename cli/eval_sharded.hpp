// articula eval --states FILE --shard I/K --out FOLDER/: one part of the states.
#pragma once

#include "cli/evaluation.hpp"
#include "cli/sharding.hpp"

namespace articula::cli {

struct StatesToShare {
  std::string path;
  const Needs& needs;
  std::span<const NamedState> known;
};

/// The bits are those of one process: stretches of states that are computed together are the same ones.
ExitCode evaluate_part(const Model& model, Evaluation& evaluation, const StatesToShare& states, About about,
                       const OwnPart& part, const ShardingOptions& options, const std::string& folder);

}  // namespace articula::cli
