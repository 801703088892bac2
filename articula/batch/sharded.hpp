// Work that is cut into blocks of rows, which many processes make, on one machine or many; a shared folder is all that
// they have in common. A killed process goes on where it was when it is started again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "articula/batch/run_folder.hpp"

namespace articula {

struct ShardedWork {
  RunManifest run;
  /// The text of `count` rows from `first` on, the same bits wherever and whenever it is made, and how many of them tell
  /// of a failure. Calls `told` now and then with the rows that are finished. Nothing is kept of it after a stop.
  std::function<std::string(std::uint64_t first, std::uint64_t count, std::uint64_t& failed,
                            const std::function<void(std::uint64_t)>& told)>
      make;
};

struct ShardOptions {
  /// When its own part is done, take blocks of others that nobody is at, from the end of their parts; and return when
  /// all is done. Whoever is at a block says so every quarter of a lease; after a whole one another takes it.
  bool steal = false;
  double lease = 60;
  const std::atomic<bool>* stop = nullptr;
  /// Rows of its own part that are there, and all of them.
  std::function<void(std::uint64_t done, std::uint64_t all)> told;
};

struct ShardOutcome {
  std::uint64_t rows = 0, rows_before = 0;  // of its part; those that an earlier process had made
  std::uint64_t failed = 0, stolen = 0;     // in what it has; rows of other shards that it made
  bool stopped = false;
};

/// Makes a shard's part. ArgumentError if the folder is of another run or the shard is at work already; Error if it
/// cannot be written: what was written before stays.
ShardOutcome run_shard(const std::string& folder, const ShardedWork& work, const Shard& shard,
                       const ShardOptions& options);

/// The shard that the launcher's environment makes of this process: an array of jobs (Slurm, PBS, Kubernetes), or ranks
/// (Open MPI, PMI, Flux, Slurm), or both, ranks within the array. `from`: which variables said so; empty: none did.
struct LaunchedShard {
  Shard shard;
  std::string from;
  int neighbours = 1;  // processes of this launch on this machine, where that is known
};
/// ArgumentError where it cannot be made sense of.
LaunchedShard shard_of_launcher(const std::function<const char*(const char*)>& variable);
LaunchedShard shard_of_launcher();
/// This process's number among those of the launch on this machine, from 0, where the launcher says it.
std::optional<std::uint64_t> local_rank(const std::function<const char*(const char*)>& variable);
std::optional<std::uint64_t> local_rank();

}  // namespace articula
