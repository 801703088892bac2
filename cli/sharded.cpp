// simulate --monte-carlo N --shard I/K --out FOLDER/: one part of the runs.
#include "articula/batch/sharded.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <thread>

#include "articula/kernels/instruction_set.hpp"
#include "articula/model/fingerprint.hpp"
#include "cli/input.hpp"
#include "cli/monte_carlo.hpp"
#include "cli/output.hpp"
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
    if (wrong_too == std::errc() && last == end && out.index < out.count && out.count <= 1'000'000)
      return out;
  }
  throw InputError(
      fmt::format("--shard {}: expected I/K, part I of K, I from 0 to K - 1 and K up to 1000000", text));
}

/// Processes of one launch on one machine share its cores, unless the launcher has already given each its own.
int threads_beside(int neighbours) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const int all = int(std::max(1u, std::thread::hardware_concurrency()));
  const int own = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : all;
  return std::max(1, own < all ? own : all / neighbours);
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

/// What must be the same for every shard: numbers as they are, long lists and files by their fingerprint.
About about_all(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                const Schedule& when, const MonteCarloOptions& options, const std::vector<Drawn>& drawn,
                const About& about) {
  About out{{"version of articula", ARTICULA_VERSION}, {"instruction set (ARTICULA_ISA)", instruction_set()}};
  out.insert(out.end(), about.begin(), about.end());
  const auto add = [&](const char* key, const auto& value) {
    out.emplace_back(key, fmt::format("{}", value));
  };
  add("model's fingerprint", fingerprint(model));
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
  add("closed chains", loops.text());
  add("start (--initial)", Fingerprint().add(setup.q).add(setup.v).add(setup.tau).text());
  Fingerprint torque;
  if (setup.torque)
    for (std::size_t i = 0; i < setup.torque->times().size(); ++i)
      torque.add(setup.torque->times()[i]).add(setup.torque->row(i));
  add("--torque", torque.text());
  add("--forces", Fingerprint().add(setup.forces.dump()).text());
  add("--controllers", Fingerprint().add(setup.controllers.dump()).text());
  Fingerprint draws;
  for (const Drawn& d : drawn) draws.add(d.name).add(d.normal ? "normal" : "uniform").add(d.a).add(d.b);
  add("--distributions", draws.text());
  if (options.trajectories) {
    add("--every", double(when.every) * when.grid.step), add("--hold", options.hold.value_or(0));
    add("--states", options.states.empty()
                        ? "none"
                        : Fingerprint().add(recording_files::read_bytes(options.states)).text());
  }
  add("--sweep",
      options.sweep.empty() ? "none" : Fingerprint().add(read_all(options.sweep, options.sweep)).text());
  add("--duration", when.grid.duration), add("--seed", options.seed), add("--device", options.device);
  return out;
}

/// A power of two times the group, so that any two sizes nest.
std::uint64_t block_of(const MonteCarloOptions& o, std::uint64_t shards, std::uint64_t group) {
  constexpr std::uint64_t most_rows = 16384, most_of_statistics = 262'144;
  if (o.block == 0)
    return rows_of_blocks(o.runs, shards, group, o.statistics ? most_of_statistics : most_rows);
  std::uint64_t out = group;
  while (out < o.block) out *= 2;
  return out;
}

}  // namespace

namespace {

/// Whether --out names a folder: by its ending, or because it is one.
bool is_folder(const std::string& out) {
  std::error_code ignored;
  return out.ends_with('/') || (out != "-" && fs::is_directory(out, ignored));
}

/// Where a launcher has started many processes that all make the same file.
void warn_of_launcher(const std::string& out) {
  const LaunchedShard launched = shard_of_launcher();
  if (launched.shard.count > 1)
    say("warning: process {} of {} ({}) makes all runs: --out {} is no folder; --out FOLDER/ shares them out",
        launched.shard.index, launched.shard.count, launched.from, out);
}

ExitCode run_sharded(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                     const Schedule& when, MonteCarloOptions o, const std::string& folder,
                     const About& about) {
  if (!is_folder(folder)) {
    std::error_code ignored;
    if (folder == "-" || fs::exists(folder, ignored))
      throw InputError(fmt::format("--shard {}: expected --out FOLDER/, found --out {}", o.shard, folder));
  }
  if (!(o.lease >= 1 && o.lease <= 1e6))
    throw InputError(fmt::format("--lease {}: expected 1 to 1e6 seconds", o.lease));
  const LaunchedShard launched = o.shard.empty() ? shard_of_launcher() : LaunchedShard{};
  const Shard shard = o.shard.empty() ? launched.shard : shard_named(o.shard);
  if (o.threads == 0) o.threads = threads_beside(launched.neighbours);
  MonteCarloTable table(model, setup, constraints, when, o);
  ShardedWork work;
  work.run.rows = o.runs = table.runs(), work.run.shards = shard.count;
  work.run.block = block_of(o, shard.count, std::uint64_t(table.group()));
  work.run.header = table.header();
  work.run.about = about_all(model, setup, constraints, when, o, table.drawn(), about);
  work.run.command = command_without_shard(), work.run.where = fs::current_path().string();
  if (o.statistics) {
    work.run.kind = "statistics", work.run.unit = std::uint64_t(table.group());
    work.run.header = Json(table.columns()).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (o.trajectories) work.run.kind = "trajectories";
  work.make = [&](std::uint64_t first, std::uint64_t count, std::uint64_t& failed, const auto& told) {
    if (o.statistics) {
      const RunStatistics some = table.statistics(first, count, told);
      failed = some.failed();
      return some.text();
    }
    std::string text;
    failed = table.rows(
        first, count, [&](std::string_view rows) { text += rows; }, told);
    return text;
  };
  watch_signals("articula: stopped; the same command goes on\n");
  Progress progress("runs", 0);
  const ShardOutcome out = run_shard(
      folder, work, shard,
      {o.steal, o.lease, &stop_flag(), [&](std::uint64_t done, std::uint64_t) { progress.at(done); }});
  if (out.failed > 0) say("{} runs of shard {}/{} failed", out.failed, shard.index, shard.count);
  if (!out.stopped) return done;
  say("stopped; {} has every block before, the same command goes on", folder);
  return impossible;
}

}  // namespace

ExitCode run_many(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                  const Schedule& when, const MonteCarloOptions& o, const std::string& path,
                  const About& about) {
  if (is_folder(path) || !o.shard.empty())
    return run_sharded(model, setup, constraints, when, o, path, about);
  if (path != "-" && !o.statistics && format_of(path) != FileFormat::csv)
    throw InputError(fmt::format("--monte-carlo writes CSV; --out {} has another ending", path));
  warn_of_launcher(path);
  MonteCarloTable table(model, setup, constraints, when, o);
  Output out(path);
  watch_signals("articula: stopped; the runs before are not written\n");
  const std::uint64_t runs = table.runs();
  Progress progress("runs", runs);
  const auto told = [&](std::uint64_t n) { progress.at(n); };
  std::uint64_t failed = 0;
  if (o.statistics) {
    const RunStatistics all = table.statistics(0, runs, told);
    if (asked_to_stop()) throw ComputationError("stopped; nothing is written");
    failed = all.failed();
    out.write(all.describe(table.columns()));
  } else {
    out.write(table.header());
    failed = table.rows(
        0, runs, [&](std::string_view rows) { out.write(rows); }, told);
  }
  out.finish();
  const bool has_errors = !o.statistics && !o.trajectories;
  if (failed > 0) say("{} of {} runs failed{}", failed, runs, has_errors ? "; see their column 'error'" : "");
  return asked_to_stop() || failed == runs ? impossible : done;
}

}  // namespace articula::cli
