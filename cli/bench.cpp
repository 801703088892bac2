// articula bench: time per state of each algorithm, for one state or many at once.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "articula/algorithms/algorithms.hpp"
#include "articula/diagonal/operation_counts.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/model/configuration.hpp"
#include "bench/measure.hpp"
#include "cli/device.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace articula::cli {

namespace {

struct BenchOptions {
  ModelOptions model;
  std::string out = "-", only, device = "cpu", method;
  bool json = false;
  int batch = 1, threads = 1;
};

constexpr int most_velocities = 2000;  // velocities: larger matrices are left out
constexpr std::size_t most_numbers = static_cast<std::size_t>(most_velocities) * most_velocities;
constexpr int largest_count = 200;  // counting numbers are slow

/// Random states near the neutral one, all vectors that algorithms use, and room for results.
class States {
 public:
  States(const Model& model, std::size_t count) : count_(count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    const std::vector<double> start = neutral(model);
    std::vector<double> at(model.nq()), step(model.nv());
    for (std::size_t i = 0; i < count; ++i) {
      for (double& s : step) s = draw(random);
      integrate(model, start, step, at);
      vectors_[0].insert(vectors_[0].end(), at.begin(), at.end());
    }
    for (int k = 1; k < argument_count; ++k) {
      vectors_[k].resize(count * model.nv());
      for (double& s : vectors_[k]) s = draw(random);
    }
  }
  /// The call of an algorithm at `states` states from the i-th on.
  Call<double> call(const Model& model, const Algorithm& algorithm, std::size_t i, std::size_t states) {
    Call<double> c;
    c.listed = algorithm.listed;
    for (const Argument argument : algorithm.uses) {
      const std::size_t n = size_of(model, argument), k = static_cast<std::size_t>(argument);
      c.in[k] = std::span(vectors_[k]).subspan(i % (count_ - states + 1) * n, states * n);
    }
    frame_ = static_cast<int>(model.frames().size()) - 1;
    if (algorithm.frames != FramesNeeded::none) c.frames = std::span(&frame_, 1);
    results_.resize(algorithm.parts.size());
    out_.clear();
    for (std::size_t r = 0; r < results_.size(); ++r) {
      results_[r].resize(states * size_of(model, algorithm.parts[r], 1));
      out_.emplace_back(results_[r]);
    }
    c.out = out_;
    return c;
  }

 private:
  std::size_t count_;
  std::array<std::vector<double>, argument_count> vectors_;
  std::vector<std::vector<double>> results_;
  std::vector<std::span<double>> out_;
  int frame_ = 0;
};

/// Those of the list that this model has, and whose results are not too large.
std::vector<const Algorithm*> usable(const Model& model) {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : algorithms()) {
    std::size_t numbers = 0;
    for (const Part& part : algorithm.parts) numbers += size_of(model, part, 1);
    const bool linearization = algorithm.options_one_by_one;  // has room for matrices
    const bool fits = numbers <= 3 * most_numbers && (!linearization || model.nv() <= most_velocities);
    if (fits && (algorithm.mimics || !model.has_mimics()) &&
        (algorithm.frames == FramesNeeded::none || !model.frames().empty()))
      all.push_back(&algorithm);
  }
  return all;
}

/// ns of a call whose arrays are on the GPU, in columns.
double ns_on_device(cuda::Batch<double>& batch, const Algorithm& a, std::size_t count,
                    const Call<double>& rows) {
  std::vector<cuda::Array<double>> arrays;
  arrays.reserve(argument_count + rows.out.size());
  Call<double> call = rows;
  std::vector<std::span<double>> out;
  for (const Argument argument : a.uses) {
    const auto from = rows[argument];
    const std::size_t n = from.size() / count;
    std::vector<double> columns(from.size());
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t i = 0; i < n; ++i) columns[i * count + s] = from[s * n + i];
    arrays.emplace_back(batch.device().number, from.size());
    arrays.back().upload(columns);
    call.in[static_cast<int>(argument)] = arrays.back();
  }
  for (const auto& part : rows.out) {
    arrays.emplace_back(batch.device().number, part.size());
    out.emplace_back(arrays.back());
  }
  call.out = out;
  batch.compute(a, call);
  batch.check();
  return bench::best_ns([&](long) { batch.compute(a, call), batch.check(); }, 5e-3, 20);
}

Json machine() {
  return {{"cpu", bench::cpu_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"instruction_set", instruction_set()},
          {"compiler", __VERSION__}};
}

/// Those that are wanted; unknown names are errors.
std::vector<const Algorithm*> chosen(std::vector<const Algorithm*> all, const std::string& only) {
  if (only.empty()) return all;
  std::vector<const Algorithm*> out;
  std::stringstream names(only);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Algorithm* a) { return a->name == name; });
    if (found == all.end()) {
      std::string known;
      for (const Algorithm* a : all) known += std::string(known.empty() ? "" : ", ") + a->name;
      throw InputError(
          fmt::format("--only: there is no algorithm '{}' for this model; there are: {}", name, known));
    }
    out.push_back(*found);
  }
  return out;
}

/// Of one state, divisions being multiplications. Nothing where they are not counted.
struct Operations {
  long multiplications = 0, additions = 0;
};
std::optional<Operations> operations_of(const Model& model, const std::string& counted) {
  if (counted.empty() || model.nv() > largest_count) return {};
  Operations sum;
  std::stringstream names(counted);
  for (std::string name; std::getline(names, name, '+');) {
    const Tally tally = count_operations(model, name);
    sum.multiplications += tally.multiplications + tally.divisions;
    sum.additions += tally.additions;
  }
  return sum;
}

ExitCode run(const BenchOptions& o) {
  if (o.batch < 1) throw InputError(fmt::format("--batch is {}, expected 1 or more", o.batch));
  if (o.threads > 1 && o.batch == 1)
    throw InputError("--threads goes with --batch: one state has one thread");
  const bool on_device = o.device == "cuda";
  if (on_device && (o.threads > 1 || o.batch == 1))
    throw InputError("--device cuda goes with --batch N and without --threads: many states, one GPU");
  const Model model = load_model(o.model);
  if (model.nv() == 0) throw InputError("the model has no joint that moves");
  std::optional<cuda::Batch<double>> device;
  if (on_device) device.emplace(device_batch(model, 0, Layout::columns, cuda::Where::device));
  const double numbers = 3.0 * model.nv() * model.nv() * o.batch;
  if (model.nv() <= most_velocities && numbers > 2e9)
    throw InputError(fmt::format("--batch {}: {} matrices of {} velocities do not fit; take fewer states",
                                 o.batch, o.batch, model.nv()));
  Output out(o.out);
  std::optional<Threads> threads;
  if (o.threads > 1) threads.emplace(o.threads);
  Evaluator<> evaluator(model, BatchOptions{.threads = threads ? &*threads : nullptr});
  States states(model, o.batch == 1 ? 16 : o.batch);
  const Method method = method_of(o.method);
  std::vector<const Algorithm*> all = chosen(usable(model), o.only);
  if (method != Method::automatic) std::erase_if(all, [&](const Algorithm* a) { return !a->has(method); });
  if (all.empty()) throw InputError(fmt::format("--method {}: {} has no such method", o.method, o.only));
  Json results = Json::array();
  Progress progress("algorithms", all.size());
  std::string text = fmt::format("{:<22}{:>13}{:>13}{:>16}{:>12}\n", "algorithm", "ns per state",
                                 "ns per body", "multiplications", "additions");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Algorithm& a = *all[i];
    const bool together = o.batch > 1;
    const auto batch = static_cast<std::size_t>(o.batch);
    OneState<> one(model);
    std::vector<Call<double>> calls;
    for (std::size_t k = 0; k < (together ? 1 : 16); ++k)
      calls.emplace_back(states.call(model, a, k, batch)).method = method;
    const double ns =
        device && on_devices(model, a) && method == Method::automatic
            ? ns_on_device(*device, a, batch, states.call(model, a, 0, batch)) / o.batch
        : together ? bench::best_ns([&](long) { evaluator.many(a, batch, calls[0]); }, 5e-3, 20) / o.batch
                   : bench::best_ns([&](long k) { a.one_in_double(one, calls[k % 16]); }, 1e-3, 60);
    Json row{{"algorithm", a.name},
             {"model", model.name()},
             {"nv", model.nv()},
             {"batch", together ? o.batch : 1},
             {"threads", together ? o.threads : 1},
             {"device", device && on_devices(model, a) ? device->device().name : "cpu"},
             {"ns", ns}};
    if (method != Method::automatic) row["method"] = o.method;
    const std::optional<Operations> operations =
        operations_of(model, method == Method::automatic ? a.counted : "");
    row["multiplications"] = operations ? Json(operations->multiplications) : Json();
    row["additions"] = operations ? Json(operations->additions) : Json();
    text += fmt::format(
        "{:<22}{:>13.1f}{:>13.2f}{:>16}{:>12}{}\n", a.name, ns, ns / model.body_count(),
        operations ? std::to_string(operations->multiplications) : "-",
        operations ? std::to_string(operations->additions) : "-",
        together && (!a.many_in_double || method != Method::automatic) ? "   one state at a time" : "");
    results.push_back(std::move(row));
    progress.at(i);
  }
  if (o.json) {
    text.clear();
    append(Json{{"machine", machine()}, {"results", results}}, 0, text);
    text += "\n";
  }
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_bench(CLI::App& program) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App& app = *program.add_subcommand("bench", "Time a state of each algorithm on this machine");
  o->model.source = "arm7";
  o->model.add_to(app);
  app.get_option("MODEL")->required(false);
  app.add_flag("--json", o->json, "Print JSON");
  app.add_option("--only", o->only, "These algorithms only, separated by commas")->type_name("NAME,NAME");
  app.add_option("--method", o->method, "Those that eval has it for, made this way")
      ->check(CLI::IsMember({"direct", "conventional", "numerical", "printed"}));
  app.add_option("--batch", o->batch, "States at once")->capture_default_str();
  app.add_option("--threads", o->threads, "Threads, with --batch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_device_option(app, o->device, "Where, with --batch; cuda: arrays are on the GPU already");
  add_out_option(app, o->out);
  app.footer(
      "Nanoseconds per state, the best of many; multiplications (divisions included) and additions are "
      "exact\n"
      "counts of one state (articula count; mimic joints as hinges of their own). Algorithms of frames: the\n"
      "model's last.\n\n"
      "Examples:\n  articula bench quadruped --base free\n"
      "  articula bench arm7 --batch 4096 --threads 2 --only forward_dynamics,linearized_forward --json\n");
  return {&app, [o] { return run(*o); }};
}

}  // namespace articula::cli
