// Which part of the work the launcher's environment gives to this process.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "articula/batch/sharded.hpp"

namespace articula {

namespace {

using Variable = std::function<const char*(const char*)>;

std::optional<std::uint64_t> number(const Variable& variable, const char* name) {
  const char* const text = variable(name);
  if (!text || !*text) return {};
  std::uint64_t out = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, out);
  if (error != std::errc() || stop != end)
    throw ArgumentError(fmt::format("{} is '{}' in the environment, expected a whole number", name, text));
  return out;
}

struct Found {
  Shard shard;
  std::string from;
};
Found checked(std::uint64_t index, std::uint64_t count, const std::string& from) {
  if (count == 0 || index >= count)
    throw ArgumentError(
        fmt::format("{}: part {} of {} makes no sense; say which by --shard I/K", from, index, count));
  return {{index, count}, from};
}

/// Many jobs of one script.
std::optional<Found> array(const Variable& variable) {
  const auto get = [&](const char* name) { return number(variable, name); };
  if (const auto id = get("SLURM_ARRAY_TASK_ID")) {
    const auto least = get("SLURM_ARRAY_TASK_MIN"), step = get("SLURM_ARRAY_TASK_STEP"),
               count = get("SLURM_ARRAY_TASK_COUNT");
    if (!count || *id < least.value_or(0))
      throw ArgumentError(
          "SLURM_ARRAY_TASK_ID without SLURM_ARRAY_TASK_COUNT; say which part by --shard I/K");
    return checked((*id - least.value_or(0)) / std::max<std::uint64_t>(1, step.value_or(1)), *count,
                   "SLURM_ARRAY_TASK_ID");
  }
  // These say which, and not of how many: ARTICULA_SHARDS does.
  for (const char* const name : {"JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "PBS_ARRAYID"})
    if (const auto index = get(name)) {
      const auto count = get("ARTICULA_SHARDS");
      if (!count)
        throw ArgumentError(
            fmt::format("{} is {} in the environment, which does not say of how many; set ARTICULA_SHARDS, "
                        "or give --shard {}/K",
                        name, *index, *index));
      return checked(*index, *count, name);
    }
  return {};
}

/// Many processes of one job.
std::optional<Found> ranks(const Variable& variable) {
  struct Names {
    const char *rank, *size;
  };
  // The launcher inside comes first: mpirun in a job of Slurm. SLURM_STEP_NUM_TASKS is set by srun alone, not in the
  // script, where SLURM_PROCID is 0 for whatever is started without it.
  for (const auto& [rank, size] :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, Names{"PMI_RANK", "PMI_SIZE"},
        Names{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"}, Names{"PMIX_RANK", "PMIX_SIZE"},
        Names{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}) {
    const auto index = number(variable, rank), count = number(variable, size);
    if (index && count && *count > 0) return checked(*index, *count, rank);
  }
  return {};
}

}  // namespace

LaunchedShard shard_of_launcher(const Variable& variable) {
  LaunchedShard out;
  if (const auto found = array(variable)) out.shard = found->shard, out.from = found->from;
  if (const auto found = ranks(variable)) {
    out.shard = {out.shard.index * found->shard.count + found->shard.index,
                 out.shard.count * found->shard.count};
    out.from += (out.from.empty() ? "" : " and ") + found->from;
    if (const char* const each = variable("SLURM_STEP_TASKS_PER_NODE"); each && found->from == "SLURM_PROCID")
      out.neighbours =
          int(std::clamp(std::strtol(each, nullptr, 10), 1L, 1L << 16));  // "3", "3(x2),1": as many on most
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"})
      if (const auto here = number(variable, name); here && *here > 0) {
        out.neighbours = int(std::min<std::uint64_t>(*here, 1 << 16));
        break;
      }
  }
  return out;
}
LaunchedShard shard_of_launcher() {
  return shard_of_launcher([](const char* name) { return std::getenv(name); });
}

std::optional<std::uint64_t> local_rank(const Variable& variable) {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                                 "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID"})
    if (const auto rank = number(variable, name)) return rank;
  // In a script of Slurm it is 0 for whatever is started without srun, as SLURM_PROCID is.
  return number(variable, "SLURM_STEP_NUM_TASKS") ? number(variable, "SLURM_LOCALID") : std::nullopt;
}
std::optional<std::uint64_t> local_rank() {
  return local_rank([](const char* name) { return std::getenv(name); });
}

}  // namespace articula
