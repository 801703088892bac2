#include "cli/monte_carlo.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>
#include <thread>

#include "articula/model/configuration.hpp"
#include "cli/input.hpp"
#include "cli/journal.hpp"
#include "cli/progress.hpp"
#include "cli/states.hpp"

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

std::vector<Drawn> read_distributions(const std::string& path, const Model& model) {
  std::vector<Drawn> out;
  if (path.empty()) return out;
  const json file = parse_json(read_all(path, "--distributions " + path), path,
                               "expected {\"q\": {\"JOINT\": {\"normal\": [mean, deviation]}}, ..}");
  const auto fail = [&](const std::string& why) {
    throw InputError(fmt::format("--distributions {}: {}", path, why));
  };
  if (!file.is_object()) fail("expected an object");
  const auto velocities = velocity_columns(model, "");
  for (const auto& item : file.items()) {
    const std::string& section = item.key();
    const json& entries = item.value();
    const auto what = section == "q"        ? Drawn::What::q
                      : section == "v"      ? Drawn::What::v
                      : section == "torque" ? Drawn::What::torque
                                            : Drawn::What::mass;
    if (what == Drawn::What::mass && section != "mass")
      fail(fmt::format("\"{}\" is not known; known: q, v, mass, torque", section));
    if (!entries.is_object())
      fail(fmt::format("\"{}\" is a JSON {}, expected an object", section, entries.type_name()));
    for (const auto& entry_item : entries.items()) {
      const std::string& name = entry_item.key();
      const json& entry = entry_item.value();
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
      std::size_t found = 0;
      const auto add = [&](int index, const std::string& full) {
        out.push_back({what, index, normal, a, b, section + ":" + full});
        ++found;
      };
      if (what == Drawn::What::mass) {
        const auto& links = model.spec().links;
        for (std::size_t i = 0; i < links.size(); ++i)
          if (name == "*" ? links[i].mass.mass > 0 : links[i].name == name) add(int(i), links[i].name);
      } else {
        // A joint's name stands for all its freedoms, JOINT.i for one, * for all joints.
        for (std::size_t i = 0; i < velocities.size(); ++i) {
          const std::string full = velocities[i].name.substr(1), joint = full.substr(0, full.rfind('.'));
          if (name == "*" || name == full || name == joint) add(int(i), full);
        }
      }
      if (found == 0)
        fail(fmt::format("{}: model '{}' has no such {}", at, model.name(),
                         what == Drawn::What::mass ? "link" : "joint"));
    }
  }
  return out;
}

struct Result {
  bool done = false;
  std::string error;
  std::vector<double> draws, end;  // end: a row of the recorder
  double time = 0, fastest = 0;
};

}  // namespace

long Grid::steps() const { return std::max(1L, std::lround(std::ceil(duration / step - 1e-9))); }
double Grid::time(long k) const { return k >= steps() ? duration : double(k) * step; }

std::string monte_carlo(const Model& model, const TreeSetup& setup, const Grid& grid,
                        const MonteCarloOptions& options, int& failed) {
  const std::vector<Drawn> drawn = read_distributions(options.distributions, model);
  const std::vector<Column> columns = TreeMotion(model, setup).columns();  // and the setup is sound
  std::vector<Result> results(options.runs);
  const auto run = [&](int i) {
    Result& result = results[i];
    Stream stream(options.seed, std::uint64_t(i));
    TreeSetup own = setup;
    ModelSpec spec;
    bool other_masses = false;
    std::vector<double> dq(model.nv());
    for (const Drawn& d : drawn) {
      const double x = d.normal ? d.a + d.b * stream.normal() : d.a + (d.b - d.a) * stream.uniform();
      result.draws.push_back(x);
      switch (d.what) {
        case Drawn::What::q:
          dq[d.index] += x;
          break;
        case Drawn::What::v:
          own.v[d.index] += x;
          break;
        case Drawn::What::torque:
          own.tau[d.index] += x;
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
    try {
      integrate(model, setup.q, dq, own.q);
      const Model mine = other_masses ? Model(spec, {model.base(), model.gravity()}) : model;
      TreeMotion motion(mine, own);
      result.end.resize(columns.size());
      motion.row(result.end);
      for (long k = 1; k <= grid.steps(); ++k) {
        if (asked_to_stop()) {
          result.error = "stopped";
          break;
        }
        motion.advance(grid.time(k));
        for (const double v : motion.simulator().v) result.fastest = std::max(result.fastest, std::abs(v));
      }
      motion.row(result.end);
    } catch (const std::exception& error) {
      result.error = error.what();
    }
    result.done = true;
  };

  // Each thread takes the next run; what a run gives depends on its number alone.
  std::atomic<int> next{0}, finished{0};
  const int hardware = int(std::max(1u, std::thread::hardware_concurrency()));
  const int count = std::min(options.threads > 0 ? options.threads : hardware, std::max(1, options.runs));
  std::vector<std::thread> threads;
  const auto work = [&] {
    for (int i; !asked_to_stop() && (i = next++) < options.runs; ++finished) run(i);
  };
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  {
    Progress progress("runs", std::size_t(options.runs));
    while (finished < options.runs && !asked_to_stop()) {
      progress.at(std::size_t(finished.load()));
      std::this_thread::sleep_for(std::chrono::milliseconds(finished < 20 ? 2 : 50));
    }
  }
  for (auto& thread : threads) thread.join();

  std::string text = "run,failed";
  for (const Drawn& d : drawn) text += ",draw:" + d.name;
  for (const Column& c : columns) text += "," + c.name;
  text += ",largest_speed,error\n";
  failed = 0;
  for (int i = 0; i < options.runs; ++i) {
    const Result& r = results[i];
    if (!r.done) continue;
    failed += !r.error.empty();
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

}  // namespace articula::cli
