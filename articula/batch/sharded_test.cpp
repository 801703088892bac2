#include "articula/batch/sharded.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

namespace articula {
namespace {

namespace fs = std::filesystem;

class Sharded : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              fmt::format("articula_sharded_{}_{}", getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  /// Rows that say their number; `made` counts how often each block was made.
  ShardedWork numbers(std::uint64_t rows, std::uint64_t shards, std::uint64_t block) {
    ShardedWork work;
    work.run.rows = rows, work.run.shards = shards, work.run.block = block;
    work.run.header = "row\n";
    work.run.about = {{"seed", "1"}};
    work.run.command = {"articula", "simulate", "a model"};
    work.make = [this, block](std::uint64_t first, std::uint64_t count, std::uint64_t& failed,
                              const auto& told) {
      ++made_[first / block];
      std::string text;
      for (std::uint64_t i = first; i < first + count; ++i)
        text += fmt::format("{}\n", i), failed += i % 10 == 0;
      told(count);
      return text;
    };
    return work;
  }
  static std::string whole(std::uint64_t rows) {
    std::string text;
    for (std::uint64_t i = 0; i < rows; ++i) text += fmt::format("{}\n", i);
    return text;
  }
  std::string merged(const std::string& folder) {
    GatheredBlocks blocks(folder);
    EXPECT_TRUE(blocks.missing().empty());
    std::string out;
    EXPECT_TRUE(blocks.for_each([&](std::uint64_t, std::string_view text) { out += text; }));
    return out;
  }

  fs::path folder_;
  std::map<std::uint64_t, int> made_;
};

TEST_F(Sharded, PartsCoverAllBlocksOnce) {
  for (const std::uint64_t rows : {1u, 16u, 17u, 1000u, 100'000u})
    for (const std::uint64_t shards : {1u, 2u, 3u, 7u, 1000u}) {
      RunManifest run;
      run.rows = rows, run.shards = shards, run.block = rows_of_blocks(rows, shards, 16);
      EXPECT_EQ(run.block % 16, 0u);
      EXPECT_EQ(run.first_of(0), 0u);
      EXPECT_EQ(run.first_of(shards), run.blocks());
      std::uint64_t counted = 0;
      for (std::uint64_t i = 0; i < shards; ++i) counted += run.rows_of_shard(i);
      EXPECT_EQ(counted, rows);
    }
  EXPECT_EQ(rows_of_blocks(100'000'000, 64, 16), 16384u);
  EXPECT_EQ(rows_of_blocks(100'000'000, 64, 1), 16384u);
  EXPECT_EQ(rows_of_blocks(10, 64, 16), 16u);
}

TEST_F(Sharded, ATornBlockIsCutOffAtWhateverByte) {
  const std::string file = path("f"), first = "1,2\n3,4\n", second = "5,6\n";
  { BlockWriter(file).append(7, 1, first); }
  const std::string good = content(file);
  { BlockWriter(file).append(8, 0, second); }
  const std::string both = content(file);
  EXPECT_TRUE(both.starts_with(good));
  for (std::size_t size = 0; size <= both.size(); ++size) {
    write(file, both.substr(0, size));
    BlockWriter writer(file);
    EXPECT_EQ(writer.blocks().size(), (size >= good.size()) + (size == both.size())) << size;
    writer.append(9, 0, "7,8\n");
    BlockReader reader(file);
    const auto blocks = reader.more();
    ASSERT_EQ(blocks.size(), writer.blocks().size());
    std::string text;
    EXPECT_TRUE(reader.read(blocks.back(), text));
    EXPECT_EQ(text, "7,8\n");
  }
}

TEST_F(Sharded, EveryBitThatChangesIsFound) {
  const std::string file = path("f");
  {
    BlockWriter writer(file);
    for (int i = 0; i < 3; ++i) writer.append(std::uint64_t(i), 0, fmt::format("{},{}\n", i, i * i));
  }
  const std::string good = content(file);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    write(file, bad);
    BlockReader reader(file);
    std::string text;
    int sound = 0;
    for (const Block& block : reader.more())
      if (reader.read(block, text)) {
        ++sound;
        EXPECT_EQ(text, fmt::format("{},{}\n", block.number, block.number * block.number)) << bit;
      }
    // A line of another length may hide what follows, which is made again; the case of a checksum's digits is no change.
    EXPECT_LE(sound, 3) << bit;
    if (sound == 3) {
      EXPECT_TRUE(std::isxdigit(static_cast<unsigned char>(bad[bit / 8])) || bad[bit / 8] == 0) << bit;
    }
  }
}

TEST_F(Sharded, GoesOnWhereItWas) {
  const std::string folder = path("run");
  const ShardedWork work = numbers(1000, 3, 32);
  // Each process makes two blocks, and is gone.
  for (int i = 0; i < 40; ++i) {
    std::atomic<bool> stop{false};
    int blocks = 0;
    ShardedWork mortal = work;
    mortal.make = [&](std::uint64_t first, std::uint64_t count, std::uint64_t& failed, const auto& told) {
      if (++blocks == 3) throw Error("gone");
      return work.make(first, count, failed, told);
    };
    try {
      run_shard(folder, mortal, {std::uint64_t(i) % 3, 3}, {false, 60, &stop, nullptr});
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(merged(folder), whole(1000));
  EXPECT_EQ(GatheredBlocks(folder).failed(), 100u);
  for (const auto& [block, times] : made_) EXPECT_EQ(times, 1) << block;
  const ShardOutcome again = run_shard(folder, work, {1, 3}, {});
  EXPECT_EQ(again.rows, again.rows_before);
}

TEST_F(Sharded, AnotherRunIsRefused) {
  const std::string folder = path("run");
  const ShardedWork work = numbers(100, 2, 16);
  run_shard(folder, work, {0, 2}, {});
  const auto refused = [&](const auto& change, const char* said) {
    ShardedWork other = work;
    change(other.run);
    try {
      run_shard(folder, other, {1, other.run.shards}, {});
      ADD_FAILURE() << said;
    } catch (const ArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  };
  refused([](RunManifest& r) { r.about[0].second = "2"; }, "its seed is 1, here it is 2");
  refused([](RunManifest& r) { r.rows = 101; }, "number of runs is 100");
  refused([](RunManifest& r) { r.shards = 3; }, "number of shards is 2");
  refused([](RunManifest& r) { r.block = 32; }, "in a block");
  refused([](RunManifest& r) { r.header = "other\n"; }, "columns");
  EXPECT_THROW(run_shard(folder, work, {2, 2}, {}), ArgumentError);
  fs::create_directory(path("mine"));
  write(path("mine/thesis.tex"), "");
  EXPECT_THROW(run_shard(path("mine"), work, {0, 2}, {}), ArgumentError);
  EXPECT_THROW(run_shard(path("no/such"), work, {0, 2}, {}), ArgumentError);
  EXPECT_THROW(read_manifest(path("none")), ArgumentError);
  // The same number twice at a time.
  const BlockWriter taken(shard_file(folder, 1, "csv"));
  EXPECT_THROW(run_shard(folder, work, {1, 2}, {}), ArgumentError);
}

TEST_F(Sharded, DamagedHeadersCostNoTime) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "# block ";  // 2.4 MB, searched anew for each: minutes
  write(path("b.csv"), text);
  { BlockWriter(path("b.csv")).append(3, 0, "sound\n"); }
  EXPECT_EQ(content(path("b.csv")).size(), 48u);  // nothing sound was before it
  write(path("b.csv"), text + content(path("b.csv")));
  BlockReader reader(path("b.csv"));
  const auto blocks = reader.more();
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(reader.is_sound(blocks[0]));
}

TEST_F(Sharded, DamagedManifestsAreRefused) {
  const std::string folder = path("run");
  run_shard(folder, numbers(100, 2, 8), {0, 2}, {});
  std::ifstream file(folder + "/run.json");
  const std::string sound{std::istreambuf_iterator<char>(file), {}};
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    write(folder + "/run.json", text.replace(at, from.size(), to));
    EXPECT_THROW(GatheredBlocks{folder}, Error) << to;
    EXPECT_THROW(run_shard(folder, numbers(100, 2, 8), {0, 2}, {}), Error) << to;
  };
  with("\"rows\": 100", "\"rows\": 1e300");
  with("\"rows\": 100", "\"rows\": -1");
  with("\"rows\": 100", "\"rows\": 18446744073709551615");
  with("\"shards\": 2", "\"shards\": 1000000000000");
  with("\"block\": 8", "\"block\": 0");
  with("\"header\"", "\"hat\"");
  with("\"command\": [", "\"command\": [1, ");
  with("{", "[");
}

TEST_F(Sharded, WhatIsMissingIsNamed) {
  const std::string folder = path("run");
  const ShardedWork work = numbers(100, 3, 8);
  run_shard(folder, work, {0, 3}, {});
  run_shard(folder, work, {2, 3}, {});
  {
    const GatheredBlocks blocks(folder);
    ASSERT_EQ(blocks.missing().size(), 1u);
    EXPECT_EQ(blocks.missing()[0].first, 1u);
    EXPECT_EQ(blocks.manifest().command_of(1), "articula simulate 'a model' --shard 1/3");
  }
  run_shard(folder, work, {1, 3}, {});
  // A byte changes on the disk: found, named, made again.
  std::string bytes = content(shard_file(folder, 2, "csv"));
  bytes[bytes.size() - 3] = 'x';
  write(shard_file(folder, 2, "csv"), bytes);
  GatheredBlocks damaged(folder);
  EXPECT_FALSE(damaged.for_each([](std::uint64_t, std::string_view) {}));
  ASSERT_EQ(damaged.missing().size(), 1u);
  EXPECT_EQ(damaged.missing()[0], std::pair(std::uint64_t{2}, std::uint64_t{1}));
  run_shard(folder, work, {2, 3}, {});
  EXPECT_EQ(merged(folder), whole(100));
}

TEST_F(Sharded, AFolderThatVanishesIsAnError) {
  const std::string folder = path("run");
  ShardedWork work = numbers(100, 1, 16);
  work.make = [&, make = work.make](std::uint64_t first, std::uint64_t count, std::uint64_t& failed,
                                    const auto& told) {
    if (first == 32) fs::remove_all(folder);
    return make(first, count, failed, told);
  };
  EXPECT_THROW(run_shard(folder, work, {0, 1}, {}), Error);
}

TEST_F(Sharded, AThiefDoesWhatOthersLeave) {
  const std::string folder = path("run");
  const ShardedWork work = numbers(1000, 4, 16);
  ShardOptions steal;
  steal.steal = true, steal.lease = 1;
  // Shard 1 dies at its third block, which it has claimed.
  ShardedWork mortal = work;
  mortal.make = [&](std::uint64_t first, std::uint64_t count, std::uint64_t& failed, const auto& told) {
    if (first / 16 == work.run.first_of(1) + 2) throw Error("dies");
    return work.make(first, count, failed, told);
  };
  EXPECT_THROW(run_shard(folder, mortal, {1, 4}, steal), Error);
  const ShardOutcome out = run_shard(folder, work, {0, 4}, steal);
  EXPECT_EQ(out.stolen, 1000 - out.rows - 32);
  EXPECT_EQ(merged(folder), whole(1000));
  for (const auto& [block, times] : made_) EXPECT_EQ(times, 1) << block;
  // Late ones find nothing to do.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // its lease on them is over
  EXPECT_EQ(run_shard(folder, work, {3, 4}, steal).stolen, 0u);
  for (const auto& [block, times] : made_) EXPECT_EQ(times, 1) << block;
}

TEST_F(Sharded, ManyThievesAtOnceMakeTheSame) {
  const std::string folder = path("run");
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      ShardedWork work = numbers(2000, 4, 16);
      work.make = [i](std::uint64_t first, std::uint64_t count, std::uint64_t& failed, const auto& told) {
        failed = 0;
        std::string text;
        for (std::uint64_t k = first; k < first + count; ++k) text += fmt::format("{}\n", k);
        std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 20 : 1));  // one is slow
        told(count);
        return text;
      };
      ShardOptions steal;
      steal.steal = true, steal.lease = 30;
      const ShardOutcome out = run_shard(folder, work, {i, 4}, steal);
      if (i != 0) EXPECT_GE(out.rows + out.stolen, 400u);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(merged(folder), whole(2000));
  std::uint64_t blocks = 0;
  for (const std::uint64_t shard : shards_in(folder, "csv"))
    blocks += BlockReader(shard_file(folder, shard, "csv")).more().size();
  EXPECT_LE(blocks, 125u + 8);  // few are made twice
  EXPECT_EQ(read_notes(folder).size(), 4u);
}

TEST_F(Sharded, TwoOwnersOfABlockDoNoHarmUnlessTheyDiffer) {
  const std::string folder = path("run");
  const ShardedWork work = numbers(64, 2, 16);
  run_shard(folder, work, {0, 2}, {});
  run_shard(folder, work, {1, 2}, {});
  { BlockWriter(shard_file(folder, 1, "csv")).append(0, 2, whole(16)); }
  EXPECT_EQ(merged(folder), whole(64));
  EXPECT_EQ(GatheredBlocks(folder).failed(), 7u);
  { BlockWriter(shard_file(folder, 1, "csv")).append(1, 0, "other\n"); }
  EXPECT_THROW(GatheredBlocks{folder}, ArgumentError);
}

TEST(Launchers, SayWhichPart) {
  using Variables = std::map<std::string, std::string>;
  const auto part = [](const Variables& variables) {
    const LaunchedShard found = shard_of_launcher([&](const char* name) -> const char* {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second.c_str();
    });
    return fmt::format("{}/{} {}", found.shard.index, found.shard.count, found.from);
  };
  EXPECT_EQ(part({}), "0/1 ");
  EXPECT_EQ(part({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}), "3/8 OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(part({{"PMI_RANK", "3"}, {"PMI_SIZE", "8"}}), "3/8 PMI_RANK");
  EXPECT_EQ(part({{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "2"}}), "0/2 FLUX_TASK_RANK");
  EXPECT_EQ(part({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_NTASKS", "6"}}),
            "5/6 SLURM_PROCID");
  EXPECT_EQ(part({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "6"}}), "0/1 ");  // the script itself
  const Variables array{{"SLURM_ARRAY_TASK_ID", "7"},
                        {"SLURM_ARRAY_TASK_MIN", "1"},
                        {"SLURM_ARRAY_TASK_STEP", "2"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"}};
  EXPECT_EQ(part(array), "3/4 SLURM_ARRAY_TASK_ID");
  Variables both = array;  // ranks within each job of the array
  both["OMPI_COMM_WORLD_RANK"] = "1", both["OMPI_COMM_WORLD_SIZE"] = "10";
  EXPECT_EQ(part(both), "31/40 SLURM_ARRAY_TASK_ID and OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(part({{"JOB_COMPLETION_INDEX", "2"}, {"ARTICULA_SHARDS", "5"}}), "2/5 JOB_COMPLETION_INDEX");
  EXPECT_EQ(part({{"PBS_ARRAY_INDEX", "2"}, {"ARTICULA_SHARDS", "5"}}), "2/5 PBS_ARRAY_INDEX");
  EXPECT_THROW(part({{"JOB_COMPLETION_INDEX", "2"}}), ArgumentError);
  EXPECT_THROW(part({{"JOB_COMPLETION_INDEX", "5"}, {"ARTICULA_SHARDS", "5"}}), ArgumentError);
  EXPECT_THROW(part({{"PMI_RANK", "x"}, {"PMI_SIZE", "8"}}), ArgumentError);
  EXPECT_THROW(
      part({{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}),
      ArgumentError);  // a list with gaps
}

TEST(Launchers, SayWhichOfThisMachine) {
  using Variables = std::map<std::string, std::string>;
  const auto rank = [](const Variables& variables) {
    return local_rank([&](const char* name) -> const char* {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second.c_str();
    });
  };
  EXPECT_EQ(rank({}), std::nullopt);
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                           "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID"})
    EXPECT_EQ(rank({{name, "3"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), 3u) << name;
  EXPECT_EQ(rank({{"SLURM_LOCALID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}), 2u);
  EXPECT_EQ(rank({{"SLURM_LOCALID", "0"}}), std::nullopt);  // the script itself
  EXPECT_THROW(rank({{"MPI_LOCALRANKID", "x"}}), ArgumentError);
}

}  // namespace
}  // namespace articula
