#include "articula/batch/run_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "articula/files/json_input.hpp"
#include "articula/simulation/recording_arrays.hpp"

namespace articula {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t format_of_folder = 1;

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const RunManifest& m) {
  Json about = Json::object();
  for (const auto& [key, value] : m.about) about[key] = value;
  return dumped({{"format", format_of_folder},
                 {"rows", m.rows},
                 {"block", m.block},
                 {"shards", m.shards},
                 {"kind", m.kind},
                 {"unit", m.unit},
                 {"about", about},
                 {"command", m.command},
                 {"where", m.where},
                 {"header", m.header}});
}

/// Of words, as a POSIX shell reads them.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void compare(const std::string& folder, const RunManifest& theirs, const RunManifest& mine) {
  const auto refuse = [&](const std::string& what, const auto& there, const auto& here) {
    throw ArgumentError(fmt::format(
        "{} holds another run: its {} is {}, here it is {}; give another folder, or the model and options "
        "that it was begun with",
        folder, what, there, here));
  };
  if (theirs.kind != mine.kind) refuse("kind", theirs.kind, mine.kind);
  for (const auto& [key, value] : mine.about) {
    const auto same = [&key = key](const auto& pair) { return pair.first == key; };
    const auto found = std::ranges::find_if(theirs.about, same);
    const std::string there = found == theirs.about.end() ? "nothing" : found->second;
    if (there != value) refuse(key, there, value);
  }
  if (theirs.rows != mine.rows) refuse(fmt::format("number of {}", mine.what()), theirs.rows, mine.rows);
  if (theirs.shards != mine.shards) refuse("number of shards", theirs.shards, mine.shards);
  if (theirs.block != mine.block)
    refuse(fmt::format("number of {} in a block", mine.what()), theirs.block, mine.block);
  if (theirs.header != mine.header) refuse("list of columns", "another one", "this one");
}

/// Whoever names a folder by mistake finds it as it was.
void check_empty(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("run.json") && !name.starts_with("shard-") && name != "claims")
      throw ArgumentError(
          fmt::format("{} holds '{}', and no sharded run; give a new or an empty folder", folder, name));
  }
  if (failed) throw ArgumentError(fmt::format("{} cannot be read ({})", folder, failed.message()));
}

}  // namespace

std::uint64_t RunManifest::first_of(std::uint64_t shard) const {
  return std::uint64_t(static_cast<unsigned __int128>(blocks()) * shard / shards);
}
std::uint64_t RunManifest::rows_of_shard(std::uint64_t shard) const {
  return std::min(rows, first_of(shard + 1) * block) - std::min(rows, first_of(shard) * block);
}
std::string RunManifest::command_of(std::uint64_t shard) const {
  std::string out;
  for (const std::string& word : command) out += quoted(word) + " ";
  return out + fmt::format("--shard {}/{}", shard, shards);
}

std::uint64_t rows_of_blocks(std::uint64_t rows, std::uint64_t shards, std::uint64_t unit,
                             std::uint64_t most) {
  constexpr std::uint64_t blocks_of_each = 32;  // at least, so that one more or less does not matter
  const std::uint64_t wanted = rows / shards / blocks_of_each / unit;
  return unit * std::bit_floor(std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(1, most / unit)));
}

RunManifest read_manifest(const std::string& folder) {
  const std::string path = path_in(folder, "run.json");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) throw ArgumentError(fmt::format("there is no folder {}", folder));
  if (!fs::exists(path, ignored))
    throw ArgumentError(fmt::format("{} holds no sharded run: there is no run.json", folder));
  const nlohmann::json json =
      parse_json(recording_files::read_bytes(path), path, "expected a run's manifest");
  if (const auto format = whole_number(json, "format", path); format != format_of_folder)
    throw ArgumentError(
        fmt::format("{} is of format {}, this version of articula reads {}", path, format, format_of_folder));
  RunManifest m;
  m.rows = whole_number(json, "rows", path), m.block = whole_number(json, "block", path);
  m.shards = whole_number(json, "shards", path, most_shards), m.unit = whole_number(json, "unit", path);
  m.kind = text_of(json, "kind", path), m.header = text_of(json, "header", path);
  m.where = text_of(json, "where", path);
  try {
    m.command = json.at("command").get<std::vector<std::string>>();
    for (const auto& [key, value] : json.at("about").items()) m.about.emplace_back(key, value);
  } catch (const Json::exception&) {
    throw ModelError(fmt::format("{}: \"command\" or \"about\" is missing, or holds no texts", path));
  }
  if (m.rows == 0 || m.block == 0 || m.shards == 0 || m.unit == 0)
    throw ModelError(fmt::format("{}: rows, block, shards and unit must be more than 0", path));
  return m;
}

RunManifest enter_run(const std::string& folder, const RunManifest& mine) {
  const std::string path = path_in(folder, "run.json");
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    if (!fs::create_directory(folder, failed) && failed)
      throw ArgumentError(fmt::format("{} cannot be made ({})", folder, failed.message()));
    check_empty(folder);
    if (create_file(path, as_text(mine))) return mine;
  }
  const RunManifest theirs = read_manifest(folder);
  compare(folder, theirs, mine);
  return theirs;
}

std::string path_in(std::string_view folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.empty() || folder.ends_with('/') ? "" : "/", name);
}
std::string shard_file(const std::string& folder, std::uint64_t shard, std::string_view ending) {
  return path_in(folder, fmt::format("shard-{:06}.{}", shard, ending));
}
std::vector<std::uint64_t> shards_in(const std::string& folder, std::string_view ending) {
  std::vector<std::uint64_t> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    unsigned long long number = 0;
    int length = 0;
    // NOLINTNEXTLINE(cert-err34-c): what follows is compared
    if (std::sscanf(name.c_str(), "shard-%19llu.%n", &number, &length) == 1 && length > 0 &&
        name.substr(std::size_t(length)) == ending)
      out.push_back(number);
  }
  if (failed) throw Error(fmt::format("{} cannot be read ({})", folder, failed.message()));
  std::ranges::sort(out);
  return out;
}

// --- blocks of all shards -------------------------------------------------------------------------------------------
GatheredBlocks::GatheredBlocks(const std::string& folder)
    : folder_(folder), manifest_(read_manifest(folder)) {
  for (const std::uint64_t shard : shards_in(folder, manifest_.ending()))
    for (const Block& block : BlockReader(shard_file(folder, shard, manifest_.ending())).more())
      if (block.number < manifest_.blocks()) places_.push_back({block, shard});  // else damaged
  std::ranges::stable_sort(places_, {}, [](const Place& place) { return place.block.number; });
  std::size_t kept = 0;
  for (const Place& place : places_) {
    const auto unlike = [&](const Place& other) {
      return other.block.number == place.block.number &&
             (other.block.crc != place.block.crc || other.block.bytes != place.block.bytes);
    };
    bool keep = true;
    while (keep && kept > 0 && unlike(places_[kept - 1]))
      is_worse(places_[kept - 1], place) ? void(--kept) : void(keep = false);
    if (keep) places_[kept++] = place;
  }
  places_.resize(kept);
}

bool GatheredBlocks::is_worse(const Place& a, const Place& b) const {
  const auto sound = [&](const Place& place) {
    return BlockReader(shard_file(folder_, place.shard, manifest_.ending())).is_sound(place.block);
  };
  if (!sound(a)) return true;
  if (!sound(b)) return false;
  throw ArgumentError(
      fmt::format("{}: shards {} and {} have different results for block {}: another kind of processor? "
                  "Remove the file of one of them and run it again",
                  folder_, a.shard, b.shard, a.block.number));
}

std::uint64_t GatheredBlocks::failed() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (i == 0 || places_[i - 1].block.number != places_[i].block.number) sum += places_[i].block.failed;
  return sum;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> GatheredBlocks::missing() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  std::size_t at = 0;
  for (std::uint64_t shard = 0; shard < manifest_.shards; ++shard) {
    const std::uint64_t end = manifest_.first_of(shard + 1);
    std::uint64_t absent = end - manifest_.first_of(shard);
    for (; at < places_.size() && places_[at].block.number < end; ++at)
      absent -= at == 0 || places_[at - 1].block.number != places_[at].block.number;
    if (absent > 0) out.emplace_back(shard, absent);
  }
  return out;
}

bool GatheredBlocks::for_each(const std::function<void(std::uint64_t, std::string_view)>& use) {
  std::optional<BlockReader> reader;
  std::optional<std::uint64_t> open, last;  // the file, and the block that was had last
  std::string text;
  std::vector<std::uint64_t> damaged;
  for (const Place& place : places_) {
    const std::uint64_t number = place.block.number;
    if (last == number) continue;
    if (open != place.shard) reader.emplace(shard_file(folder_, *(open = place.shard), manifest_.ending()));
    if (!reader->read(place.block, text)) {
      if (damaged.empty() || damaged.back() != number) damaged.push_back(number);
      continue;
    }
    last = number;
    if (!damaged.empty() && damaged.back() == number) damaged.pop_back();  // it is there twice
    if (damaged.empty()) use(number, text);
  }
  std::erase_if(places_,
                [&](const Place& place) { return std::ranges::binary_search(damaged, place.block.number); });
  return damaged.empty();
}

// --- what shards say of themselves ----------------------------------------------------------------------------------
void write_note(const std::string& folder, const ShardNote& note) {
  const std::string path = shard_file(folder, note.shard, "json");
  const std::string text = dumped({{"shard", note.shard},
                                   {"rows", note.rows},
                                   {"rows_done", note.rows_done},
                                   {"failed", note.failed},
                                   {"stolen", note.stolen},
                                   {"seconds", note.seconds},
                                   {"rows_per_second", note.rows_per_second},
                                   {"host", note.host},
                                   {"process", note.process},
                                   {"state", note.state}});
  // Only its shard writes it, so that the other name can always be the same: a kill leaves one such file at most.
  recording_files::write_bytes(path + ".tmp", text);
  if (std::rename((path + ".tmp").c_str(), path.c_str()) != 0)
    throw Error(fmt::format("{} cannot be written ({})", path, std::generic_category().message(errno)));
}

std::vector<ShardNote> read_notes(const std::string& folder) {
  std::vector<ShardNote> out;
  for (const std::uint64_t shard : shards_in(folder, "json")) {
    const std::string path = shard_file(folder, shard, "json");
    struct stat file {};
    if (stat(path.c_str(), &file) != 0) continue;
    try {
      const nlohmann::json json = parse_json(recording_files::read_bytes(path), path, "expected a note");
      const auto number = [&](const char* key) { return whole_number(json, key, path); };
      ShardNote note;
      note.shard = number("shard"), note.rows = number("rows"),
      note.rows_done = std::min(note.rows, number("rows_done"));
      note.failed = number("failed"), note.stolen = number("stolen"), note.process = long(number("process"));
      note.seconds = json.at("seconds"), note.rows_per_second = json.at("rows_per_second");
      note.host = text_of(json, "host", path), note.state = text_of(json, "state", path);
      note.age = std::max(0.0, std::difftime(std::time(nullptr), file.st_mtime));
      out.push_back(std::move(note));
    } catch (const ModelError&) {  // damaged: nothing is said of it
    } catch (const Json::exception&) {
    }
  }
  return out;
}

}  // namespace articula
