// simulate --monte-carlo N, and rollout: all runs into a file, or one part of them into a folder.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "articula/model/fingerprint.hpp"
#include "cli/input.hpp"
#include "cli/monte_carlo.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"
#include "cli/table_output.hpp"

namespace articula::cli {

namespace {

/// Processes of one launch on one machine share its cores, unless the launcher has already given each its own.
int threads_beside(int neighbours) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const int all = int(std::max(1u, std::thread::hardware_concurrency()));
  const int own = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : all;
  return std::max(1, own < all ? own : all / neighbours);
}

/// What must be the same for every shard: numbers as they are, long lists and files by their fingerprint.
About about_all(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                const Schedule& when, const MonteCarloOptions& options, const std::vector<Drawn>& drawn,
                const About& about) {
  About out = about_part(model, constraints, about);
  const auto add = [&](const char* key, const auto& value) {
    out.emplace_back(key, fmt::format("{}", value));
  };
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
    add("--states", options.states.empty() ? "none" : fingerprint_of_file(options.states));
  }
  add("--sweep",
      options.sweep.empty() ? "none" : Fingerprint().add(read_all(options.sweep, options.sweep)).text());
  add("--duration", when.grid.duration), add("--seed", options.seed), add("--device", options.device);
  return out;
}

ExitCode run_sharded(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                     const Schedule& when, MonteCarloOptions o, const std::string& folder,
                     const About& about) {
  const OwnPart part = own_part(o.sharding, folder);
  if (o.threads == 0) o.threads = threads_beside(part.neighbours);
  if (o.device == "cuda") o.device_number = part.device();
  MonteCarloTable table(model, setup, constraints, when, o);
  ShardedWork work;
  constexpr std::uint64_t most_rows = 16384, most_of_statistics = 262'144;
  work.run.rows = o.runs = table.runs();
  work.run.block = o.sharding.block_of(o.runs, part.shard.count, std::uint64_t(table.group()),
                                       o.statistics ? most_of_statistics : most_rows);
  work.run.header = table.header();
  work.run.about = about_all(model, setup, constraints, when, o, table.drawn(), about);
  if (o.statistics) {
    work.run.kind = "statistics", work.run.unit = std::uint64_t(table.group());
    work.run.header = Json(table.columns()).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (o.trajectories) work.run.kind = "trajectories";
  std::size_t longest = 0;
  work.make = [&](std::uint64_t first, std::uint64_t count, std::uint64_t& failed, const auto& told) {
    if (o.statistics) {
      const RunStatistics some = table.statistics(first, count, told);
      failed = some.failed();
      return some.text();
    }
    std::string text;
    text.reserve(longest);  // as the block before
    failed = table.rows(
        first, count, [&](std::string_view rows) { text += rows; }, told);
    longest = std::max(longest, text.size());
    return text;
  };
  return make_part(folder, work, part, o.sharding);
}

}  // namespace

ExitCode run_many(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                  const Schedule& when, const MonteCarloOptions& o, const std::string& path,
                  const About& about) {
  if (is_folder(path) || !o.sharding.shard.empty())
    return run_sharded(model, setup, constraints, when, o, path, about);
  if (o.statistics) check_statistics_name(path);
  warn_of_launcher(path);
  MonteCarloTable table(model, setup, constraints, when, o);
  const std::uint64_t runs = table.runs();
  Progress progress("runs", runs);
  const auto told = [&](std::uint64_t n) { progress.at(n); };
  std::uint64_t failed = 0;
  const auto write_with = [&](auto&& out, const auto& write) {
    watch_signals("articula: stopped; the runs before are not written\n");
    write(out);
    out.finish();
  };
  if (o.statistics)
    write_with(Output(path), [&](Output& out) {
      const RunStatistics all = table.statistics(0, runs, told);
      if (asked_to_stop()) throw ComputationError("stopped; nothing is written");
      failed = all.failed();
      out.write(all.describe(table.columns()));
    });
  else
    write_with(TableOutput(path, table.header()), [&](TableOutput& out) {
      failed = table.rows(
          0, runs, [&](std::string_view rows) { out.write(rows); }, told);
    });
  const bool has_errors = !o.statistics && !o.trajectories;
  if (failed > 0) say("{} of {} runs failed{}", failed, runs, has_errors ? "; see their column 'error'" : "");
  return asked_to_stop() || failed == runs ? impossible : done;
}

}  // namespace articula::cli
