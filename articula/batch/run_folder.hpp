// The folder of a sharded run: what it is about, the shards' files of blocks, and what each shard says of itself.
//
//   run.json            what is computed, in how many blocks and shards; made once, by the first shard to come
//   shard-000003.csv    the blocks that shard 3 made, appended one after the other (block_file.hpp); .bin: of numbers
//   shard-000003.json   how far it is; replaced as a whole, for `status`
//   claims/000000012    who is at block 12, where shards take blocks from each other
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "articula/batch/block_file.hpp"

namespace articula {

/// Part `index` of `count`, from 0.
struct Shard {
  std::uint64_t index = 0, count = 1;
};

inline constexpr std::uint64_t most_shards = 1'000'000;

struct RunManifest {
  std::uint64_t rows = 0, block = 1, shards = 1;  // block: rows of each, but for the last
  /// "statistics", whose leaves have `unit` rows; "trajectories", many lines for each row; "values": numbers in binary.
  std::string kind = "rows";
  std::uint64_t unit = 1;
  /// The merged file's first line; of statistics: the columns, of values: what they are, in JSON.
  std::string header;
  std::vector<std::pair<std::string, std::string>> about;  // what must be the same for all shards
  std::vector<std::string> command;                        // without --shard
  std::string where;                                       // the folder in which that was given

  std::uint64_t blocks() const { return rows / block + (rows % block != 0); }
  std::uint64_t rows_of(std::uint64_t number) const {
    return number + 1 < blocks() ? block : rows - number * block;
  }
  /// Shard i has the blocks from first_of(i) to first_of(i + 1).
  std::uint64_t first_of(std::uint64_t shard) const;
  std::uint64_t rows_of_shard(std::uint64_t shard) const;
  /// Of the shards' files.
  const char* ending() const { return kind == "values" ? "bin" : "csv"; }
  /// What a row is about, for messages.
  const char* what() const { return kind == "values" ? "states" : "runs"; }
  /// For a shell.
  std::string command_of(std::uint64_t shard) const;
};
/// Rows of a block: a power of two times `unit`, so that each shard has some sixteen blocks, and none has more than
/// `most` rows, but for a unit.
std::uint64_t rows_of_blocks(std::uint64_t rows, std::uint64_t shards, std::uint64_t unit,
                             std::uint64_t most = 16384);

/// Makes run.json, and the folder, or finds that it is of the same run. ArgumentError, naming what differs, where it is
/// not, or where the folder holds something else.
RunManifest enter_run(const std::string& folder, const RunManifest& mine);
/// ArgumentError where there is none, ModelError where it is damaged.
RunManifest read_manifest(const std::string& folder);

/// Without std::filesystem's operator /: that of libstdc++ crashes where memory ends within it.
std::string path_in(std::string_view folder, std::string_view name);
std::string shard_file(const std::string& folder, std::uint64_t shard, std::string_view ending);
/// The numbers of all shards that have a file with this ending, in their order.
std::vector<std::uint64_t> shards_in(const std::string& folder, std::string_view ending);

/// All blocks of a folder, wherever they are.
class GatheredBlocks {
 public:
  /// ArgumentError where two shards say different things of one block.
  explicit GatheredBlocks(const std::string& folder);
  const RunManifest& manifest() const { return manifest_; }
  std::uint64_t failed() const;
  /// How many blocks of each shard's part are missing: (shard, blocks).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> missing() const;
  /// The blocks' texts in their order, one at a time in memory. False: some are damaged, and are among the missing now.
  bool for_each(const std::function<void(std::uint64_t number, std::string_view text)>& use);

 private:
  struct Place {
    Block block;
    std::uint64_t shard = 0;
  };
  /// Of two with one number that are not alike, one must be damaged: whether it is the first.
  bool is_worse(const Place& a, const Place& b) const;

  std::string folder_;
  RunManifest manifest_;
  /// By number; those that are there: what a folder claims takes no memory. Of one number, all that are alike.
  std::vector<Place> places_;
};

/// What a shard says of itself.
struct ShardNote {
  std::uint64_t shard = 0, rows = 0, rows_done = 0, failed = 0,
                stolen = 0;                 // stolen: rows of other shards, done here
  double seconds = 0, rows_per_second = 0;  // of this process
  double age = 0;                           // seconds since it said so; set by read_notes
  std::string host, state = "running";      // running, done, stopped, failed
  long process = 0;
};
void write_note(const std::string& folder, const ShardNote& note);
std::vector<ShardNote> read_notes(const std::string& folder);

}  // namespace articula
