#include "cli/eval_sharded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/loops/scene_of_model.hpp"
#include "cli/eval_arrays.hpp"
#include "cli/stop.hpp"
#include "cli/stored_states.hpp"

namespace articula::cli {

ExitCode evaluate_part(const Model& model, Evaluation& evaluation, const StatesToShare& states, About about,
                       const OwnPart& part, const ShardingOptions& options, const std::string& folder) {
  StoredStates stored(states.path, model, states.needs, evaluation.at_once(), {.known = states.known});
  if (stored.size() == 0) throw InputError(fmt::format("--states {}: has no states", states.path));
  const std::vector<Quantity> quantities = evaluation.quantities();
  std::size_t width = 1;
  for (const Quantity& quantity : quantities)
    for (const Quantity::Part& p : quantity.parts) width += p.size();
  constexpr std::uint64_t most_states = 16384, most_numbers = 1 << 22;  // of a block, which is made in memory
  ShardedWork work;
  work.run.kind = "values";
  work.run.rows = stored.size(), work.run.unit = evaluation.at_once();
  work.run.block = options.block_of(stored.size(), part.shard.count, evaluation.at_once(),
                                    std::min<std::uint64_t>(most_states, most_numbers / width));
  work.run.header = Json{{"model", describe_model(model)}, {"quantities", describe(quantities)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  about.emplace_back("file of states (--states)", stored.fingerprint());
  work.run.about = about_part(model, constraints_of(model), about);
  work.make = [&](std::uint64_t first, std::uint64_t count, std::uint64_t&, const auto& told) {
    BlockResults results;
    evaluation.begin_at(first);
    stored.stream(first, count, [&](std::span<const State> some) {
      if (asked_to_stop()) return;  // what is left of the block is not kept
      evaluation.add(some, results);
      told(evaluation.index() - first);
    });
    return std::move(results.bytes);
  };
  const ExitCode code = make_part(folder, work, part, options);
  evaluation.finish();
  return code;
}

}  // namespace articula::cli
