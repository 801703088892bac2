// Parts of the work of one command: which is this process's, and making it.
#include "cli/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "articula/cuda/driver.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/model/fingerprint.hpp"
#include "articula/simulation/recording_arrays.hpp"
#include "cli/messages.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"

namespace articula::cli {

std::vector<std::string>& command_words() {
  static std::vector<std::string> words;
  return words;
}

namespace {

namespace fs = std::filesystem;

Shard shard_named(const std::string& text) {
  Shard out;
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [slash, wrong] = std::from_chars(begin, end, out.index);
  if (wrong == std::errc() && slash != end && *slash == '/') {
    const auto [last, wrong_too] = std::from_chars(slash + 1, end, out.count);
    if (wrong_too == std::errc() && last == end && out.index < out.count && out.count <= most_shards)
      return out;
  }
  throw InputError(fmt::format("--shard {}: expected I/K, part I of K, I from 0 to K - 1 and K up to {}",
                               text, most_shards));
}

/// The words of this command without --shard, and the rest by which another machine can run it.
std::vector<std::string> command_without_shard() {
  std::vector<std::string> out;
  const auto& words = command_words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--shard") {
      ++i;
      continue;
    }
    if (!words[i].starts_with("--shard=")) out.push_back(words[i]);
  }
  return out;
}

}  // namespace

void ShardingOptions::add_to(CLI::App& app, const std::string& rows) {
  app.add_option("--shard", shard,
                 fmt::format("Make part I of K of the {}, I from 0, into the folder --out FOLDER/ (articula "
                             "merge joins them); default: what mpirun, srun, an array of jobs, .. say",
                             rows))
      ->type_name("I/K");
  std::string count = rows;
  std::ranges::transform(count, count.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  app.add_option("--block", block,
                 fmt::format("So many {} between writes of a shard (default: by their number and K)", rows))
      ->type_name(count);
  app.add_flag("--steal", steal, "A shard that is done takes over what other shards have not begun, or left");
  app.add_option("--lease", lease, "After this long without a word a shard's block is taken over")
      ->capture_default_str()
      ->type_name("SECONDS");
}

std::uint64_t ShardingOptions::block_of(std::uint64_t rows, std::uint64_t shards, std::uint64_t unit,
                                        std::uint64_t most) const {
  if (block == 0) return rows_of_blocks(rows, shards, unit, most);
  std::uint64_t out = unit;
  while (out < block) out *= 2;
  return out;
}

bool is_folder(const std::string& out) {
  std::error_code ignored;
  return out.ends_with('/') || (out != "-" && fs::is_directory(out, ignored));
}

void warn_of_launcher(const std::string& out) {
  const LaunchedShard launched = shard_of_launcher();
  if (launched.shard.count > 1)
    say("warning: process {} of {} ({}) makes all runs: --out {} is no folder; --out FOLDER/ shares them out",
        launched.shard.index, launched.shard.count, launched.from, out);
}

OwnPart own_part(const ShardingOptions& o, const std::string& folder) {
  if (!is_folder(folder)) {
    std::error_code ignored;
    if (folder == "-" || fs::exists(folder, ignored))
      throw InputError(fmt::format("--shard {}: expected --out FOLDER/, found --out {}", o.shard, folder));
  }
  if (!(o.lease >= 1 && o.lease <= 1e6))
    throw InputError(fmt::format("--lease {}: expected 1 to 1e6 seconds", o.lease));
  if (o.block > std::uint64_t{1} << 40)
    throw InputError(fmt::format("--block {}: expected up to 2^40", o.block));
  if (!o.shard.empty()) return {shard_named(o.shard)};
  const LaunchedShard launched = shard_of_launcher();
  return {launched.shard, launched.neighbours};
}

int OwnPart::device() const {
  const std::uint64_t count = std::max<std::size_t>(1, cuda::devices().size());
  // Without a launcher that tells, parts go round: those of one machine mostly follow each other.
  return int(local_rank().value_or(shard.index) % count);
}

About about_part(const Model& model, const std::vector<Constraint>& constraints, const About& own) {
  Fingerprint loops;
  for (const Constraint& c : constraints) {
    loops.add(c.name).add(double(int(c.kind))).add(c.length);
    for (const bool fixed : c.fixed) loops.add(fixed);
    for (const Attachment& end : {c.a, c.b}) {
      loops.add(end.frame);
      each_number(end.placement.R, [&](double x, int) { loops.add(x); });
      each_number(end.placement.p, [&](double x, int) { loops.add(x); });
    }
    for (const Constraint::Term& t : c.terms) loops.add(t.joint).add(t.coefficient).add(t.higher);
  }
  About out{{"version of articula", ARTICULA_VERSION}, {"instruction set (ARTICULA_ISA)", instruction_set()}};
  out.insert(out.end(), own.begin(),
             own.end());  // these say more than the fingerprint, which may differ with them
  out.emplace_back("model's fingerprint", fingerprint(model));
  out.emplace_back("closed chains", loops.text());
  return out;
}

std::string fingerprint_of_file(const std::string& path) {
  const recording_files::FileBytes file(path);
  constexpr std::size_t pieces = 64, most = 1 << 20;
  Fingerprint out;
  out.add(double(file.size()));
  if (file.size() <= pieces * most) {
    for (std::size_t at = 0; at < file.size(); at += most)
      out.add(file.read(at, std::min(most, file.size() - at)));
    return out.text();
  }
  // The last piece is the file's end, where .npz has the checksums of all.
  for (std::size_t i = 0; i < pieces; ++i) out.add(file.read((file.size() - most) * i / (pieces - 1), most));
  return out.text();
}

ExitCode make_part(const std::string& folder, ShardedWork& work, const OwnPart& part,
                   const ShardingOptions& o) {
  const Shard& shard = part.shard;
  work.run.shards = shard.count;
  work.run.command = command_without_shard(), work.run.where = fs::current_path().string();
  watch_signals("articula: stopped; the same command goes on\n");
  Progress progress(work.run.what(), 0);
  const ShardOutcome out = run_shard(
      folder, work, shard,
      {o.steal, o.lease, &stop_flag(), [&](std::uint64_t done, std::uint64_t) { progress.at(done); }});
  if (out.failed > 0)
    say("{} {} of shard {}/{} failed", out.failed, work.run.what(), shard.index, shard.count);
  if (!out.stopped) return done;
  say("stopped; {} has every block before, the same command goes on", folder);
  return impossible;
}

}  // namespace articula::cli
