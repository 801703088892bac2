#include "cli/monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <optional>
#include <thread>

#include "articula/batch/batch.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "cli/device.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/states.hpp"
#include "cli/stop.hpp"

namespace articula::cli {

namespace {

using nlohmann::json;

/// splitmix64: a stream for each run, whatever thread it is on.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t run) : state_(seed * 0x9e3779b97f4a7c15u + run) {
    state_ = next() ^ (run * 0xd1342543de82ef95u);
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal() {
    const double r = std::sqrt(-2 * std::log(1 - uniform()));
    return r * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// One number that is drawn for each run: what it is added to (or, for masses, multiplies).
struct Drawn {
  enum class What { q, v, torque, mass } what;
  int index;  // velocity, or link
  bool normal;
  double a, b;  // mean and deviation, or least and largest
  std::string name;
};

/// Reads a file of distributions; messages say where.
class DistributionsFile {
 public:
  DistributionsFile(const std::string& path, const Model& model) : path_(path), model_(model) {}

  std::vector<Drawn> read() {
    const json file = parse_json(read_all(path_, "--distributions " + path_), path_,
                                 "expected {\"q\": {\"JOINT\": {\"normal\": [mean, deviation]}}, ..}");
    if (!file.is_object()) fail("expected an object");
    for (const auto& [section, entries] : file.items()) {
      const auto what = section == "q"        ? Drawn::What::q
                        : section == "v"      ? Drawn::What::v
                        : section == "torque" ? Drawn::What::torque
                                              : Drawn::What::mass;
      if (what == Drawn::What::mass && section != "mass")
        fail(fmt::format("\"{}\" is not known; known: q, v, mass, torque", section));
      if (!entries.is_object())
        fail(fmt::format("\"{}\" is a JSON {}, expected an object", section, entries.type_name()));
      for (const auto& [name, entry] : entries.items()) add(what, section, name, entry);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("--distributions {}: {}", path_, why));
  }
  void add(Drawn::What what, const std::string& section, const std::string& name, const json& entry) {
    const auto at = fmt::format("\"{}\": \"{}\"", section, name);
    if (!entry.is_object() || entry.size() != 1 || !(entry.contains("normal") || entry.contains("uniform")))
      fail(at + ": expected {\"normal\": [mean, deviation]} or {\"uniform\": [least, largest]}");
    const bool normal = entry.contains("normal");
    const json& two = entry.begin().value();
    if (!two.is_array() || two.size() != 2 || !two[0].is_number() || !two[1].is_number() ||
        !std::isfinite(two[0].get<double>()) || !std::isfinite(two[1].get<double>()))
      fail(at + ": expected two finite numbers");
    const double a = two[0].get<double>(), b = two[1].get<double>();
    if (normal ? b < 0 : b < a)
      fail(at + (normal ? ": the deviation is negative" : ": the largest is less than the least"));
    const std::size_t before = out_.size();
    const auto put = [&](int index, const std::string& full) {
      out_.push_back({what, index, normal, a, b, section + ":" + full});
    };
    if (what == Drawn::What::mass) {
      const auto& links = model_.spec().links;
      for (std::size_t i = 0; i < links.size(); ++i)
        if (name == "*" ? links[i].mass.mass > 0 : links[i].name == name) put(int(i), links[i].name);
    } else {
      // A joint's name stands for all its freedoms, JOINT.i for one, * for all joints.
      const auto velocities = velocity_columns(model_, "");
      for (std::size_t i = 0; i < velocities.size(); ++i) {
        const std::string full = velocities[i].name.substr(1), joint = full.substr(0, full.rfind('.'));
        if (name == "*" || name == full || name == joint) put(int(i), full);
      }
    }
    if (out_.size() == before)
      fail(fmt::format("{}: model '{}' has no such {}", at, model_.name(),
                       what == Drawn::What::mass ? "link" : "joint"));
  }

  const std::string& path_;
  const Model& model_;
  std::vector<Drawn> out_;
};

struct Result {
  bool done = false;
  std::string error;
  std::vector<double> draws, end;  // end: a row of the recorder
  double time = 0, fastest = 0;
};

/// A run before it begins: what was drawn, and what of the setup and the model is its own.
struct Run {
  TreeSetup setup;
  Model model;
};

/// Draws run i's numbers into its result; throws where they make no mechanism.
Run draw_run(const Model& model, const TreeSetup& setup, const std::vector<Drawn>& drawn, std::uint64_t seed,
             int i, Result& result) {
  Stream stream(seed, std::uint64_t(i));
  Run run{setup, model};
  ModelSpec spec;
  bool other_masses = false;
  std::vector<double> dq(model.nv());
  result.draws.clear();
  for (const Drawn& d : drawn) {
    const double x = d.normal ? d.a + d.b * stream.normal() : d.a + (d.b - d.a) * stream.uniform();
    result.draws.push_back(x);
    switch (d.what) {
      case Drawn::What::q:
        dq[d.index] += x;
        break;
      case Drawn::What::v:
        run.setup.v[d.index] += x;
        break;
      case Drawn::What::torque:
        run.setup.tau[d.index] += x;
        break;
      case Drawn::What::mass: {
        if (!other_masses) spec = model.spec(), other_masses = true;
        MassProperties& mass = spec.links[d.index].mass;
        mass.mass *= x;
        for (double* j : {&mass.inertia.xx, &mass.inertia.yy, &mass.inertia.zz, &mass.inertia.xy,
                          &mass.inertia.xz, &mass.inertia.yz})
          *j *= x;
      }
    }
  }
  integrate(model, setup.q, dq, run.setup.q);
  if (other_masses) run.model = Model(spec, {model.base(), model.gravity()});
  return run;
}

/// Runs whose steps are all alike, constant forces and nothing else, go many at once.
bool can_run_together(const TreeSetup& setup) {
  return !setup.torque && setup.forces.is_null() && setup.controllers.is_null() && !setup.model_friction &&
         (setup.limits == "check" || setup.limits == "ignore") &&
         stepping_of(setup.integrator) == Stepping::explicit_step;
}

/// Some runs together, by a batch of the processor or of a GPU. Those that fail keep `done` false: they are for one at a
/// time, which says why.
void run_together(const Model& model, auto&& batch, const std::vector<Run>& runs,
                  const std::vector<Result*>& results, bool other_masses, const Grid& grid) {
  const std::size_t count = runs.size(), nq = model.nq(), nv = model.nv();
  // Steps between looks at whether to stop: some ten milliseconds' worth.
  const long most = std::clamp(3000L / long(nv), 1L, 32L);
  std::vector<double> q, v, tau, inertias, q_path, v_path;
  const auto add = [](std::vector<double>& to, const std::vector<double>& x) {
    to.insert(to.end(), x.begin(), x.end());
  };
  for (const Run& run : runs) {
    add(q, run.setup.q), add(v, run.setup.v), add(tau, run.setup.tau);
    if (other_masses) add(inertias, inertial_parameters(run.model));
  }
  if (other_masses) batch.vary(inertias);
  std::vector<double> fastest(count);
  for (long k = 0; k < grid.steps();) {
    if (asked_to_stop()) return;
    // Steps of one length: the last one may be shorter.
    const long alike = std::max(1L, grid.steps() - 1 - k);
    RolloutOptions options;
    options.integrator = runs[0].setup.integrator;
    options.damping = runs[0].setup.model_damping;
    options.steps = std::size_t(std::min(alike, most));
    options.step = grid.time(k + 1) - grid.time(k);
    q_path.resize(count * options.steps * nq), v_path.resize(count * options.steps * nv);
    try {
      batch.rollout(q, v, tau, options, q_path, v_path);
    } catch (const SingularError&) {  // seen by its numbers
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = (i + 1) * options.steps;
      for (std::size_t j = i * options.steps * nv; j < end * nv; ++j)
        fastest[i] = std::max(fastest[i], std::abs(v_path[j]));
      std::copy_n(q_path.begin() + (end - 1) * nq, nq, q.begin() + i * nq);
      std::copy_n(v_path.begin() + (end - 1) * nv, nv, v.begin() + i * nv);
    }
    k += long(options.steps);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::all_of(v.begin() + i * nv, v.begin() + (i + 1) * nv, [](double x) { return std::isfinite(x); }))
      continue;
    TreeMotion motion(runs[i].model, runs[i].setup);
    results[i]->end.resize(motion.columns().size());
    motion.row(results[i]->end);  // energies are told from the first row on
    Simulator& simulator = motion.simulator();
    simulator.time = grid.time(grid.steps());
    simulator.q.assign(q.begin() + i * nq, q.begin() + (i + 1) * nq);
    simulator.v.assign(v.begin() + i * nv, v.begin() + (i + 1) * nv);
    motion.row(results[i]->end);
    results[i]->fastest = fastest[i];
    results[i]->done = true;
  }
}

/// A row for each run that was made.
std::string table_of(const std::vector<Result>& results, const std::vector<Drawn>& drawn,
                     const std::vector<Column>& columns) {
  std::string text = "run,failed";
  for (const Drawn& d : drawn) append_csv_word("draw:" + d.name, text += ',');
  for (const Column& c : columns) append_csv_word(c.name, text += ',');
  text += ",largest_speed,error\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
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

std::string monte_carlo(const Model& model, const TreeSetup& setup, const Grid& grid,
                        const MonteCarloOptions& options, int& failed) {
  const std::vector<Drawn> drawn = options.distributions.empty()
                                       ? std::vector<Drawn>{}
                                       : DistributionsFile(options.distributions, model).read();
  const std::vector<Column> columns = TreeMotion(model, setup).columns();  // and the setup is sound
  std::vector<Result> results(options.runs);
  const auto run = [&](int i) {
    Result& result = results[i];
    try {
      const Run own = draw_run(model, setup, drawn, options.seed, i, result);
      TreeMotion motion(own.model, own.setup);
      motion.watch().stop = &stop_flag();
      motion.watch().horizon = grid.duration;
      result.end.resize(columns.size());
      motion.row(result.end);
      for (long k = 1; k <= grid.steps(); ++k) {
        motion.advance(grid.time(k));
        for (const double v : motion.simulator().v) result.fastest = std::max(result.fastest, std::abs(v));
      }
      motion.row(result.end);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      result.error = error.what();
    }
    result.done = true;
  };
  // Which runs are together depends on their numbers alone, too.
  const bool other_masses =
      std::any_of(drawn.begin(), drawn.end(), [](const Drawn& d) { return d.what == Drawn::What::mass; });
  const bool alike = can_run_together(setup) && model.nv() > 0;
  std::optional<cuda::Batch<double>> device;
  std::exception_ptr device_failed;
  if (options.device == "cuda") {
    if (!alike)
      throw InputError(
          "--device cuda is for runs whose steps are all alike: constant forces, no friction, limits checked "
          "or "
          "ignored, an integrator of fixed steps");
    device.emplace(device_batch(model));
  }
  const int together = device ? 4096 : alike ? 16 : 1;
  const auto run_group = [&](int group) {
    const int begin = group * together, end = std::min(options.runs, begin + together);
    if (end - begin > 1) {
      std::vector<Run> runs;
      std::vector<Result*> of;
      for (int i = begin; i < end; ++i) {
        try {
          runs.push_back(draw_run(model, setup, drawn, options.seed, i, results[i]));
          of.push_back(&results[i]);
        } catch (const std::bad_alloc&) {
          throw;
        } catch (const std::exception&) {  // said below, by the run alone
        }
      }
      try {
        if (!runs.empty() && device)
          run_together(model, *device, runs, of, other_masses, grid);
        else if (!runs.empty())
          run_together(model, Batch<>(model), runs, of, other_masses, grid);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const cuda::DeviceError&) {
        device_failed = std::current_exception();  // there is one thread; it ends
        throw;
      } catch (const std::exception&) {  // said below
      }
    }
    for (int i = begin; i < end; ++i)
      if (!results[i].done) run(i);
  };

  // Each thread takes the next group; what a run gives depends on its number alone.
  const int groups = (options.runs + together - 1) / together;
  std::atomic<int> next{0}, finished{0};
  const int hardware = int(std::max(1u, std::thread::hardware_concurrency()));
  const int count =
      device ? 1 : std::min(options.threads > 0 ? options.threads : hardware, std::max(1, groups));
  std::vector<std::thread> threads;
  std::atomic<bool> out_of_memory{false};
  const auto work = [&] {
    try {
      for (int i; !asked_to_stop() && (i = next++) < groups; ++finished) run_group(i);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
      next = finished = groups;
    } catch (const cuda::DeviceError&) {
      next = finished = groups;
    }
  };
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  {
    Progress progress("runs", std::size_t(options.runs));
    while (finished < groups && !asked_to_stop()) {
      progress.at(std::size_t(std::min(finished.load() * together, options.runs)));
      std::this_thread::sleep_for(std::chrono::milliseconds(finished < 20 ? 2 : 50));
    }
  }
  for (auto& thread : threads) thread.join();
  if (device_failed) std::rethrow_exception(device_failed);
  if (out_of_memory) throw std::bad_alloc();

  failed =
      int(std::count_if(results.begin(), results.end(), [](const Result& r) { return !r.error.empty(); }));
  return table_of(results, drawn, columns);
}

}  // namespace articula::cli
