// libFuzzer target for the folder of a sharded run: run.json, and the same bytes as a shard's note.
#include "articula/batch/run_folder.hpp"

#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  static const struct Folder {
    Folder() {
      if (mkdtemp(name.data()) == nullptr) std::abort();
      BlockWriter(shard_file(name, 0, "csv")).append(0, 1, "row\n");
    }
    ~Folder() { std::filesystem::remove_all(name); }
    std::string name = std::filesystem::temp_directory_path() / "articula_fuzz_XXXXXX";
  } made;
  const std::string& folder = made.name;
  for (const std::string& path : {folder + "/run.json", shard_file(folder, 0, "json")})
    std::ofstream(path).write(text.data(), static_cast<std::streamsize>(text.size()));
  read_notes(folder);
  GatheredBlocks blocks(folder);
  const RunManifest& run = blocks.manifest();
  for (const auto& [shard, count] : blocks.missing())
    if (shard >= run.shards || count == 0 || run.command_of(shard).empty()) std::abort();
  blocks.for_each([](std::uint64_t, std::string_view) {});
}
