// Commands whose work is cut into parts: --shard I/K --out FOLDER/, and what launchers say in its place.
#pragma once

#include <string>

#include "articula/batch/sharded.hpp"
#include "articula/loops/constraint.hpp"
#include "cli/resume.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

struct ShardingOptions {
  std::string shard;  // "I/K"; empty: the launcher's environment says
  std::uint64_t block = 0;
  bool steal = false;
  double lease = 60;

  /// `rows`: what is shared out, "runs".
  void add_to(CLI::App& app, const std::string& rows);
  /// A power of two times the unit, so that any two sizes nest.
  std::uint64_t block_of(std::uint64_t rows, std::uint64_t shards, std::uint64_t unit,
                         std::uint64_t most) const;
};

/// Whether --out names a folder: by its ending, or because it is one.
bool is_folder(const std::string& out);
/// Where a launcher has started many processes that all make the same file.
void warn_of_launcher(const std::string& out);

/// What this process is to make.
struct OwnPart {
  Shard shard;
  int neighbours = 1;  // processes of this launch on this machine
  /// The GPU of this process, where several on one machine have each its own.
  int device() const;
};
/// InputError where the options, or --out, do not fit.
OwnPart own_part(const ShardingOptions& options, const std::string& folder);

/// What must be the same for every part, whatever is computed, and what this command has beside it.
About about_part(const Model& model, const std::vector<Constraint>& constraints, const About& own);
/// For a file that may be larger than memory: its size, and bytes from its beginning to its end; all of them up to 64 MB.
std::string fingerprint_of_file(const std::string& path);

/// Makes the part, durably (articula/batch/sharded.hpp).
ExitCode make_part(const std::string& folder, ShardedWork& work, const OwnPart& part,
                   const ShardingOptions& options);

}  // namespace articula::cli
