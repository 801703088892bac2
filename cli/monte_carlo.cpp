#include "cli/monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "articula/model/configuration.hpp"
#include "cli/device.hpp"
#include "cli/input.hpp"
#include "cli/states.hpp"
#include "cli/stop.hpp"

namespace articula::cli {

namespace {

using nlohmann::json;

/// Reads a file of distributions; messages say where.
class DistributionsFile {
 public:
  DistributionsFile(const std::string& path, const Model& model) : path_(path), model_(model) {}

  std::vector<Drawn> read() {
    const json file = parse_json(read_all(path_, "--distributions " + path_), path_,
                                 "expected {\"q\": {\"JOINT\": {\"normal\": [mean, deviation]}}, ..}");
    if (!file.is_object()) fail("expected an object");
    try {
      for (const auto& [section, entries] : file.items()) {
        drawn_named(section);
        if (!entries.is_object())
          fail(fmt::format("\"{}\" is a JSON {}, expected an object", section, entries.type_name()));
        for (const auto& [name, entry] : entries.items()) add(section, name, entry);
      }
    } catch (const ArgumentError& error) {
      fail(error.what());
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("--distributions {}: {}", path_, why));
  }
  void add(const std::string& section, const std::string& name, const json& entry) {
    const auto at = fmt::format("\"{}\": \"{}\"", section, name);
    if (!entry.is_object() || entry.size() != 1 || !(entry.contains("normal") || entry.contains("uniform")))
      fail(at + ": expected {\"normal\": [mean, deviation]} or {\"uniform\": [least, largest]}");
    const json& two = entry.begin().value();
    if (!two.is_array() || two.size() != 2 || !two[0].is_number() || !two[1].is_number())
      fail(at + ": expected two finite numbers");
    add_drawn(model_, section, name, entry.contains("normal"), two[0].get<double>(), two[1].get<double>(),
              out_);
  }

  const std::string& path_;
  const Model& model_;
  std::vector<Drawn> out_;
};

class RunMotion : public MonteCarloMotion {
 public:
  RunMotion(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints)
      : motion_(model, setup, constraints) {
    motion_.watch().stop = &stop_flag();
  }
  Simulator& simulator() override { return motion_.simulator(); }
  Recorder& recorder() override { return motion_.recorder(); }

 private:
  MechanismMotion motion_;
};

/// Large enough that joining leaves costs little beside the runs.
constexpr int leaf_of_statistics = 256;

/// Runs whose steps are all alike, constant forces and nothing else, go many at once.
bool can_run_together(const MotionSetup& setup) {
  return !setup.torque && setup.forces.is_null() && setup.controllers.is_null() && !setup.model_friction &&
         (setup.limits == "check" || setup.limits == "ignore") &&
         stepping_of(setup.integrator) == Stepping::explicit_step;
}

}  // namespace

void MonteCarloOptions::add_to(CLI::App& app) {
  app.add_option(trajectories ? "--count" : "--monte-carlo", runs,
                 trajectories ? "Make this many trajectories" : "Make this many runs; one summary row each")
      ->check(CLI::Range(1, 2'000'000'000))
      ->type_name("N");
  app.add_option("--distributions", distributions, "JSON: what is drawn for each run")->type_name("FILE");
  app.add_option("--sweep", sweep,
                 "JSON: in place of these two, what is varied from run to run, and its design")
      ->type_name("FILE");
  app.add_option("--seed", seed, "Of the draws")->capture_default_str();
  app.add_option("--threads", threads,
                 trajectories ? "Default: all cores" : "For --monte-carlo (default: all cores)")
      ->check(CLI::Range(1, 4096));
  add_device_option(app, device,
                    trajectories ? "Where steps are made" : "Where the steps of --monte-carlo are made");
  if (trajectories) {
    app.add_option("--states", states,
                   "Starts: arrays q, v, tau (runs, numbers) of a .npz or HDF5 file; q of a .npy file")
        ->type_name("FILE");
    app.add_option("--hold", hold, "Draw the torques of --distributions anew so often (default: once)")
        ->type_name("SECONDS");
  } else {
    app.add_flag("--statistics", statistics,
                 "In place of rows: mean, covariance, quantiles and histograms of all runs (JSON)");
  }
  sharding.add_to(app, "runs");
}

MonteCarloTable::MonteCarloTable(const Model& model, const MotionSetup& setup,
                                 const std::vector<Constraint>& constraints, const Schedule& when,
                                 const MonteCarloOptions& options)
    : model_(model), setup_(setup), runs_(options.runs) {
  if (!options.sweep.empty()) {
    sweep_.emplace(read_sweep(options.sweep, model, setup, options.seed));
    what_.drawn = sweep_->drawn, runs_ = sweep_->design.size();
    what_.chosen = [this](std::int64_t run, std::span<double> out) {
      sweep_->numbers(std::uint64_t(run), out);
    };
  }
  if (!options.distributions.empty()) what_.drawn = DistributionsFile(options.distributions, model).read();
  columns_ = MechanismMotion(model, setup, constraints).columns();  // and the setup is sound
  what_.seed = options.seed, what_.threads = options.threads;
  what_.q = setup.q, what_.v = setup.v, what_.tau = setup.tau;
  what_.grid = when.grid;
  if (!options.states.empty()) read_starts(options.states);
  if (options.hold) {
    what_.hold = std::lround(*options.hold / when.grid.step);
    if (!(*options.hold > 0) || what_.hold < 1 || sweep_)
      throw InputError("--hold is at least a step, and does not go with --sweep, where nothing is drawn");
  }
  what_.make = [this](const MonteCarloStart& start) {
    MotionSetup own = setup_;
    own.q = start.q, own.v = start.v, own.tau = start.tau;
    if (sweep_) sweep_->put(start.draws, own);
    return std::make_unique<RunMotion>(start.model, own, what_.constraints);
  };
  what_.constraints = constraints;
  what_.together = can_run_together(setup) && constraints.empty(), what_.damping = setup.model_damping;
  what_.integrator = setup.integrator;
  what_.stop = &stop_flag();
  if (options.device == "cuda") {
    if (monte_carlo_group(model, what_) == 1)
      throw InputError(
          "--device cuda is for runs whose steps are all alike: no closed chains, constant forces, no "
          "friction, limits checked or ignored, an integrator of fixed steps");
    idle_.push_back(std::make_unique<cuda::Batch<double>>(device_batch(model, options.device_number)));
    what_.engine = [this, device = options.device_number] { return engine(device); };
  }
  if (options.statistics) what_.piece = std::max(leaf_of_statistics, monte_carlo_group(model, what_));
  if (options.trajectories) {
    what_.keep = when.every;
    header_ = "run,time";
    for (const auto& list :
         {coordinate_columns(model), velocity_columns(model), velocity_columns(model, "tau", true)})
      for (const Column& c : list) append_csv_word(c.name, header_ += ',');
    header_ += '\n';
    return;
  }
  header_ = "run,failed";
  for (const Drawn& d : what_.drawn) append_csv_word("draw:" + d.name, header_ += ',');
  for (const Column& c : columns_) append_csv_word(c.name, header_ += ',');
  header_ += ",largest_speed,error\n";
}

MonteCarlo::Engine MonteCarloTable::engine(int device) {
  std::unique_lock lock(guard_);
  if (idle_.empty()) idle_.push_back(std::make_unique<cuda::Batch<double>>(device_batch(model_, device)));
  auto own = std::move(idle_.back());
  idle_.pop_back();
  lock.unlock();
  const std::shared_ptr<cuda::Batch<double>> batch(own.release(), [this](cuda::Batch<double>* x) {
    std::unique_ptr<cuda::Batch<double>> back(x);
    const std::lock_guard at(guard_);
    idle_.push_back(std::move(back));
  });
  return {[batch](In<double> inertias) { batch->vary(inertias); },
          [batch](In<double> q, In<double> v, In<double> tau, const RolloutOptions& how, Out<double> q_path,
                  Out<double> v_path,
                  Out<double> fastest) { batch->rollout(q, v, tau, how, q_path, v_path, fastest); }};
}

/// A start for each run, read where it is needed: the file may be larger than memory.
void MonteCarloTable::read_starts(const std::string& path) {
  constexpr std::string_view names[] = {"q", "v", "tau"};
  starts_.emplace(path, names);
  const std::size_t sizes[] = {std::size_t(model_.nq()), std::size_t(model_.nv()), std::size_t(model_.nv())};
  std::optional<std::uint64_t> count;
  for (int i = 0; i < 3; ++i) {
    const auto found = starts_->arrays.find(std::string(names[i]));
    if (found == starts_->arrays.end()) continue;
    const std::size_t numbers = found->second.count, n = sizes[i];
    if (n == 0 || numbers % n != 0 || (count && numbers / n != *count))
      throw InputError(fmt::format("--states {}: array {} has {} numbers, expected ({}, {})", path, names[i],
                                   numbers, count ? fmt::format("{}", *count) : "runs", n));
    count = numbers / n;
  }
  if (!count || *count == 0) throw InputError(fmt::format("--states {}: has no array q, v or tau", path));
  if (runs_ > *count)
    throw InputError(fmt::format("--states {}: has {} states, not {}", path, *count, runs_));
  if (runs_ == 0) runs_ = *count;
  what_.begin = [this](std::int64_t run, std::span<double> q, std::span<double> v, std::span<double> tau) {
    for (const auto& [name, to] : {std::pair{"q", q}, {"v", v}, {"tau", tau}})
      if (const auto found = starts_->arrays.find(name); found != starts_->arrays.end())
        starts_->bytes->read(found->second.at + std::size_t(run) * to.size_bytes(),
                             {reinterpret_cast<char*>(to.data()), to.size_bytes()});
    for (const auto& x : {q, v, tau})
      if (!std::ranges::all_of(x, [](double number) { return std::isfinite(number); }))
        throw ArgumentError("its start has a number that is not finite");
    normalise(model_, q);
  };
}

std::vector<std::string> MonteCarloTable::columns() const {
  std::vector<std::string> out;
  for (const Drawn& d : what_.drawn) out.push_back("draw:" + d.name);
  for (const Column& c : columns_) out.push_back(c.name);
  out.emplace_back("largest_speed");
  return out;
}

/// A row for each run that was made.
std::string MonteCarloTable::rows_of(const MonteCarloPiece& piece) const {
  std::string text;
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < piece.runs.size(); ++i) {
    const MonteCarloRun& r = piece.runs[i];
    if (!r.done) continue;
    fmt::format_to(out, "{},{}", piece.first + std::int64_t(i), r.error.empty() ? 0 : 1);
    for (const double x : r.draws) fmt::format_to(out, ",{}", x);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      k < r.end.size() ? fmt::format_to(out, ",{}", r.end[k]) : fmt::format_to(out, ",nan");
    fmt::format_to(out, ",{}", r.fastest);
    std::string error;
    for (const char c : r.error)
      error += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
    text += error.empty() ? ",\n" : ",\"" + error + "\"\n";
  }
  return text;
}

std::string MonteCarloTable::trajectories_of(const MonteCarloPiece& piece) const {
  std::string text;
  auto out = std::back_inserter(text);
  const std::size_t width = 1 + std::size_t(model_.nq()) + 2 * std::size_t(model_.nv());
  for (std::size_t i = 0; i < piece.runs.size(); ++i) {
    const std::vector<double>& path = piece.runs[i].path;
    for (std::size_t at = 0; piece.runs[i].done && at < path.size(); at += width)
      fmt::format_to(
          out, "{},{}\n", piece.first + std::int64_t(i),
          fmt::join(path.begin() + std::ptrdiff_t(at), path.begin() + std::ptrdiff_t(at + width), ","));
  }
  return text;
}

RunStatistics MonteCarloTable::statistics_of(const MonteCarloPiece& piece) const {
  std::vector<double> rows;
  std::uint64_t failed = 0;
  for (const MonteCarloRun& r : piece.runs) {
    if (!r.done || !r.error.empty()) {
      ++failed;
      continue;
    }
    rows.insert(rows.end(), r.draws.begin(), r.draws.end());
    rows.insert(rows.end(), r.end.begin(), r.end.end());
    rows.push_back(r.fastest);
  }
  return {what_.drawn.size() + columns_.size() + 1, rows, failed};
}

std::uint64_t MonteCarloTable::rows(std::uint64_t first, std::uint64_t count,
                                    const std::function<void(std::string_view)>& give,
                                    const std::function<void(std::uint64_t)>& told) {
  what_.first = std::int64_t(first), what_.runs = std::int64_t(count), what_.told = told;
  std::uint64_t failed = 0;
  articula::monte_carlo(
      model_, what_,
      [this](MonteCarloPiece& piece) {
        piece.made = what_.keep > 0 ? trajectories_of(piece) : rows_of(piece);
      },
      [&](MonteCarloPiece& piece) {
        for (const MonteCarloRun& r : piece.runs) failed += !r.error.empty();
        give(std::any_cast<const std::string&>(piece.made));
      });
  return failed;
}

RunStatistics MonteCarloTable::statistics(std::uint64_t first, std::uint64_t count,
                                          const std::function<void(std::uint64_t)>& told) {
  what_.first = std::int64_t(first), what_.runs = std::int64_t(count), what_.told = told;
  StatisticsTree tree;
  articula::monte_carlo(
      model_, what_, [this](MonteCarloPiece& piece) { piece.made = statistics_of(piece); },
      [&](MonteCarloPiece& piece) { tree.add(std::any_cast<RunStatistics>(std::move(piece.made)), 1); });
  return tree.result(columns().size());
}

}  // namespace articula::cli
