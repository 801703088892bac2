// articula merge and articula status: the parts of a sharded run as one, and how far they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "articula/batch/run_folder.hpp"
#include "articula/batch/run_statistics.hpp"
#include "articula/files/json_input.hpp"
#include "cli/eval_arrays.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/table_output.hpp"

namespace articula::cli {

namespace {

struct MergeOptions {
  std::string folder, out = "-";
};

/// Says what is missing, and the commands that make it, each as a line for a shell.
ExitCode tell_missing(const GatheredBlocks& blocks, const std::string& folder) {
  const auto missing = blocks.missing();
  std::uint64_t count = 0;
  for (const auto& [shard, n] : missing) count += n;
  const RunManifest& run = blocks.manifest();
  say("{}: {} of {} blocks are missing, of {}; these commands make them (in {}):", folder, count,
      run.blocks(), missing.size() == 1 ? "one shard" : fmt::format("{} shards", missing.size()), run.where);
  for (const auto& [shard, n] : missing) fmt::print(stderr, "{}\n", printable(run.command_of(shard)));
  return impossible;
}

/// Takes the blocks in their order, whatever the run is of, and makes the file.
class Joined {
 public:
  virtual ~Joined() = default;
  virtual void add(std::uint64_t block, std::string_view text) = 0;
  virtual void finish() = 0;
};

class JoinedRows : public Joined {
 public:
  JoinedRows(const RunManifest& run, const std::string& out) : out_(out, run.header) {}
  void add(std::uint64_t, std::string_view text) override { out_.write(text); }
  void finish() override { out_.finish(); }

 private:
  TableOutput out_;
};

/// What run.json says of the results.
Json described(const RunManifest& run) {
  return parse_ordered_json(run.header, "run.json: \"header\"", "expected what the results are");
}

class JoinedStatistics : public Joined {
 public:
  JoinedStatistics(const RunManifest& run, const std::string& out) : run_(run), out_(out) {
    check_statistics_name(out);
    const Json names = described(run);
    if (!names.is_array() || !std::ranges::all_of(names, [](const Json& name) { return name.is_string(); }))
      throw InputError("run.json: \"header\" is no list of columns");
    columns_ = names;
  }
  void add(std::uint64_t block, std::string_view text) override {
    tree_.add(RunStatistics::of(text, columns_.size()), (run_.rows_of(block) + run_.unit - 1) / run_.unit);
  }
  void finish() override {
    out_.write(tree_.result(columns_.size()).describe(columns_));
    out_.finish();
  }

 private:
  const RunManifest& run_;
  Output out_;
  StatisticsTree tree_;
  std::vector<std::string> columns_;
};

class JoinedValues : public Joined {
 public:
  JoinedValues(const RunManifest& run, const std::string& out) : run_(run) {
    if (out.ends_with(".csv") || out.ends_with(".npy"))
      throw InputError(
          fmt::format("--out {}: results of eval are .json, .ndjson, .npz or .h5; give such a name", out));
    const Json all = described(run);
    if (!all.is_object() || !all.contains("model") || !all.contains("quantities"))
      throw InputError("run.json is damaged: it does not say what its results are");
    quantities_ = quantities_of(all["quantities"]);
    results_ = results_for(out, results_format(out), all["model"], quantities_);
  }
  void add(std::uint64_t block, std::string_view text) override {
    add_block(text, run_.rows_of(block), quantities_, *results_);
  }
  void finish() override { results_->finish(); }

 private:
  const RunManifest& run_;
  std::vector<Quantity> quantities_;
  std::unique_ptr<Results> results_;
};

std::unique_ptr<Joined> joined(const RunManifest& run, const std::string& out) {
  if (run.kind == "statistics") return std::make_unique<JoinedStatistics>(run, out);
  if (run.kind == "values") return std::make_unique<JoinedValues>(run, out);
  if (run.kind == "rows" || run.kind == "trajectories") return std::make_unique<JoinedRows>(run, out);
  throw InputError(
      fmt::format("run.json is of kind '{}', which this version does not know", printable(run.kind)));
}

ExitCode run_merge(const MergeOptions& o) {
  GatheredBlocks blocks(o.folder);
  if (!blocks.missing().empty()) return tell_missing(blocks, o.folder);
  const RunManifest& run = blocks.manifest();
  const auto file = joined(run, o.out);
  Progress progress("blocks", run.blocks());
  const bool sound = blocks.for_each([&](std::uint64_t number, std::string_view text) {
    file->add(number, text);
    progress.at(number);
  });
  if (!sound) return tell_missing(blocks, o.folder);
  file->finish();
  if (blocks.failed() > 0)
    say("{} of {} {} failed{}", blocks.failed(), run.rows, run.what(),
        run.kind == "rows" ? "; see their column 'error'" : "");
  return blocks.failed() == run.rows ? impossible : done;
}

// --- status ---------------------------------------------------------------------------------------------------------
struct StatusOptions {
  std::string folder, out = "-";
  bool json = false;
};

/// A shard's note, and what it means beside the others'.
struct Told {
  ShardNote note;
  std::string verdict;  // running, done, stopped, failed, silent, straggler, absent
  double seconds_left = 0;
};

/// A shard that says nothing for this long while it runs (it does every second, or every thousandth of a second for
/// each shard) is taken for dead.
double silence_of(const RunManifest& run) { return std::max(30.0, 3e-3 * double(run.shards)); }

std::vector<Told> judged(const RunManifest& run, const std::string& folder) {
  std::map<std::uint64_t, ShardNote> notes;
  for (ShardNote& note : read_notes(folder)) notes[note.shard] = std::move(note);
  std::vector<Told> out;
  std::vector<double> times;
  for (std::uint64_t shard = 0; shard < run.shards; ++shard) {
    const auto found = notes.find(shard);
    if (found == notes.end()) {
      if (run.first_of(shard) == run.first_of(shard + 1)) continue;  // has nothing to do
      Told told{{}, "absent"};
      told.note.shard = shard, told.note.rows = run.rows_of_shard(shard);
      out.push_back(std::move(told));
      continue;
    }
    Told told{found->second, found->second.state};
    const ShardNote& note = told.note;
    if (note.rows_per_second > 0)
      told.seconds_left = double(note.rows - note.rows_done) / note.rows_per_second;
    if (note.state == "running" && note.age > silence_of(run)) told.verdict = "silent";
    if (note.state == "running" || note.state == "done") times.push_back(told.seconds_left);
    out.push_back(std::move(told));
  }
  if (times.empty()) return out;
  std::ranges::nth_element(times, times.begin() + std::ptrdiff_t(times.size() / 2));
  const double median = times[times.size() / 2];
  for (Told& told : out)
    if (told.verdict == "running" && told.seconds_left > 2 * median + 10) told.verdict = "straggler";
  return out;
}

Json as_json(const Told& told) {
  const ShardNote& n = told.note;
  return {{"shard", n.shard},
          {"state", told.verdict},
          {"rows", n.rows},
          {"done", n.rows_done},
          {"stolen", n.stolen},
          {"failed", n.failed},
          {"rows_per_second", n.rows_per_second},
          {"seconds_left", told.seconds_left},
          {"seconds_silent", n.age},
          {"host", n.host},
          {"process", n.process}};
}

ExitCode run_status(const StatusOptions& o) {
  const RunManifest run = read_manifest(o.folder);
  const std::vector<Told> all = judged(run, o.folder);
  std::uint64_t rows = 0, failed = 0;
  double speed = 0, longest = 0;
  std::map<std::string, int> counts;
  for (const Told& told : all) {
    rows += told.note.rows_done + told.note.stolen, failed += told.note.failed;
    ++counts[told.verdict];
    if (told.verdict != "running" && told.verdict != "straggler") continue;
    speed += told.note.rows_per_second;
    longest = std::max(longest, told.seconds_left);
  }
  rows = std::min(rows, run.rows);  // a block that two have made counts once
  std::string text;
  if (o.json) {
    Json json{{"rows", run.rows},        {"done", rows},       {"failed", failed},
              {"shards", run.shards},    {"block", run.block}, {"rows_per_second", speed},
              {"seconds_left", longest}, {"states", counts},   {"parts", Json::array()}};
    for (const Told& told : all) json["parts"].push_back(as_json(told));
    append(json, 0, text);
    text += "\n";
  } else {
    text = fmt::format("{}: {} of {} {} ({:.1f} %), {} failed; {:.0f} {}/s", o.folder, rows, run.rows,
                       run.what(), 100 * double(rows) / double(run.rows), failed, speed, run.what());
    text += longest > 0 ? fmt::format(", {:.0f} s left\n", longest) : "\n";
    for (const auto& [state, n] : counts)
      text += fmt::format("  {} {}\n", count_of(std::size_t(n), "shard"), state);
    for (const Told& told : all)
      if (told.verdict != "running" && told.verdict != "done")
        text +=
            fmt::format("  shard {}/{}: {}, {} of {} {}{}{}\n", told.note.shard, run.shards, told.verdict,
                        told.note.rows_done, told.note.rows, run.what(),
                        told.note.host.empty() ? "" : " on " + printable(told.note.host),
                        told.verdict == "silent" ? fmt::format(", no word for {:.0f} s", told.note.age) : "");
  }
  Output out(o.out);
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_merge(CLI::App& program) {
  auto o = std::make_shared<MergeOptions>();
  CLI::App& app = *program.add_subcommand("merge", "The parts of a sharded run as one file");
  app.add_option("FOLDER", o->folder, "That of simulate, rollout or eval with --shard I/K --out FOLDER/")
      ->required()
      ->type_name("");
  add_out_option(app, o->out);
  app.footer(
      "The file is the same bytes as that of one run without shards: CSV, .npz or .h5 of simulate and "
      "rollout;\n"
      "JSON, .ndjson, .npz or .h5 of eval; JSON of statistics, as its name ends. If something is missing, "
      "nothing is\n"
      "written, and the commands that make it are printed; exit code 1.\n\n"
      "Example:\n"
      "  articula simulate arm7 --duration 1 --monte-carlo 100 --shard 0/2 --out runs/\n"
      "  articula simulate arm7 --duration 1 --monte-carlo 100 --shard 1/2 --out runs/\n"
      "  articula merge runs --out all.csv\n");
  return {&app, [o] { return run_merge(*o); }};
}

Subcommand add_status(CLI::App& program) {
  auto o = std::make_shared<StatusOptions>();
  CLI::App& app = *program.add_subcommand("status", "How far a sharded run is: progress, speed, stragglers");
  app.add_option("FOLDER", o->folder, "That of simulate, rollout or eval with --shard I/K --out FOLDER/")
      ->required()
      ->type_name("");
  app.add_flag("--json", o->json, "As JSON, with every shard");
  add_out_option(app, o->out);
  app.footer(
      "States of shards: running; done; stopped (by a signal); failed; silent (no word for half a minute: "
      "dead?);\n"
      "straggler (it needs more than twice as long as most); absent (never begun).\n\n"
      "Example:\n  articula status runs\n");
  return {&app, [o] { return run_status(*o); }};
}

}  // namespace articula::cli
