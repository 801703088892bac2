#include "cli/monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "articula/batch/monte_carlo.hpp"
#include "cli/device.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
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

/// Runs whose steps are all alike, constant forces and nothing else, go many at once.
bool can_run_together(const MotionSetup& setup) {
  return !setup.torque && setup.forces.is_null() && setup.controllers.is_null() && !setup.model_friction &&
         (setup.limits == "check" || setup.limits == "ignore") &&
         stepping_of(setup.integrator) == Stepping::explicit_step;
}

/// A row for each run that was made.
std::string table_of(const std::vector<MonteCarloRun>& results, const std::vector<Drawn>& drawn,
                     const std::vector<Column>& columns) {
  std::string text = "run,failed";
  for (const Drawn& d : drawn) append_csv_word("draw:" + d.name, text += ',');
  for (const Column& c : columns) append_csv_word(c.name, text += ',');
  text += ",largest_speed,error\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const MonteCarloRun& r = results[i];
    if (!r.done) continue;
    text += fmt::format("{},{}", i, r.error.empty() ? 0 : 1);
    for (const double x : r.draws) text += fmt::format(",{}", x);
    for (std::size_t k = 0; k < columns.size(); ++k)
      text += k < r.end.size() ? fmt::format(",{}", r.end[k]) : ",nan";
    text += fmt::format(",{}", r.fastest);
    std::string error;
    for (const char c : r.error)
      error += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
    text += error.empty() ? ",\n" : ",\"" + error + "\"\n";
  }
  return text;
}

}  // namespace

std::string monte_carlo(const Model& model, const MotionSetup& setup,
                        const std::vector<Constraint>& constraints, const Grid& grid,
                        const MonteCarloOptions& options, int& failed) {
  MonteCarlo what;
  if (!options.distributions.empty()) what.drawn = DistributionsFile(options.distributions, model).read();
  const std::vector<Column> columns =
      MechanismMotion(model, setup, constraints).columns();  // and the setup is sound
  what.runs = options.runs, what.seed = options.seed, what.threads = options.threads;
  what.q = setup.q, what.v = setup.v, what.tau = setup.tau;
  what.grid = grid;
  what.make = [&](const MonteCarloStart& start) {
    MotionSetup own = setup;
    own.q = start.q, own.v = start.v, own.tau = start.tau;
    return std::make_unique<RunMotion>(start.model, own, constraints);
  };
  what.constraints = constraints;
  what.together = can_run_together(setup) && constraints.empty(), what.damping = setup.model_damping;
  std::optional<cuda::Batch<double>> device;
  if (options.device == "cuda") {
    if (!what.together || model.nv() == 0)
      throw InputError(
          "--device cuda is for runs whose steps are all alike: no closed chains, constant forces, no "
          "friction, limits checked or ignored, an integrator of fixed steps");
    device.emplace(device_batch(model));
    what.engine = MonteCarlo::Engine{
        [&](In<double> inertias) { device->vary(inertias); },
        [&](In<double> q, In<double> v, In<double> tau, const RolloutOptions& how, Out<double> q_path,
            Out<double> v_path) { device->rollout(q, v, tau, how, q_path, v_path); }};
  }
  what.integrator = setup.integrator;
  what.stop = &stop_flag();
  Progress progress("runs", std::size_t(options.runs));
  what.told = [&](std::size_t finished) { progress.at(finished); };
  const std::vector<MonteCarloRun> results = articula::monte_carlo(model, what);
  failed = int(
      std::count_if(results.begin(), results.end(), [](const MonteCarloRun& r) { return !r.error.empty(); }));
  return table_of(results, what.drawn, columns);
}

}  // namespace articula::cli
