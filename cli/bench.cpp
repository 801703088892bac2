// articula bench: time a state of each algorithm, for one state or many at once.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/diagonal/operation_counts.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/task_space.hpp"
#include "bench/measure.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace articula::cli {

namespace {

struct BenchOptions {
  ModelOptions model;
  std::string out = "-", only;
  bool json = false;
  int batch = 1, threads = 1;
};

constexpr int largest_matrix = 2000;  // velocities: larger matrices are left out
constexpr int largest_count = 200;    // counting numbers are slow

struct Algorithm {
  std::string name, counted;             // counted: names in operation_counts.hpp, joined by +, or empty
  std::function<void(std::size_t)> one;  // one state, by its index
  std::function<void()> many;            // all of them
};

/// States near the neutral one, and room for results.
struct States {
  std::size_t count, nq, nv;
  std::vector<double> q, v, a, tau, x, A, B, C;
  States(const Model& model, std::size_t count) : count(count), nq(model.nq()), nv(model.nv()) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    const std::vector<double> start = neutral(model);
    std::vector<double> at(nq), step(nv);
    for (std::size_t i = 0; i < count; ++i) {
      for (double& s : step) s = draw(random);
      integrate(model, start, step, at);
      q.insert(q.end(), at.begin(), at.end());
    }
    for (auto* y : {&v, &a, &tau}) {
      y->resize(count * nv);
      for (double& s : *y) s = draw(random);
    }
    x.resize(count * nv);
    if (nv <= largest_matrix)
      for (auto* m : {&A, &B, &C}) m->resize(count * nv * nv);
  }
  std::span<const double> row(const std::vector<double>& all, std::size_t i, std::size_t n) const {
    return std::span(all).subspan(i % count * n, n);
  }
  std::span<const double> Q(std::size_t i) const { return row(q, i, nq); }
  std::span<const double> V(std::size_t i) const { return row(v, i, nv); }
  std::span<const double> Acc(std::size_t i) const { return row(a, i, nv); }
  std::span<const double> Tau(std::size_t i) const { return row(tau, i, nv); }
  std::span<double> first(std::vector<double>& all, std::size_t n) const { return std::span(all).first(n); }
};

std::vector<Algorithm> algorithms(const Model& model, States& s, Batch<>* batch) {
  const std::size_t nv = s.nv, square = nv * nv;
  std::vector<Algorithm> all;
  const auto add = [&](const char* name, const char* counted, std::function<void(std::size_t)> one,
                       std::function<void()> many = {}) {
    all.push_back({name, counted, std::move(one), batch ? std::move(many) : nullptr});
  };
  const auto id = std::make_shared<InverseDynamics<>>(model);
  const auto fd = std::make_shared<ForwardDynamics<>>(model);
  const auto kinematics = std::make_shared<Kinematics<>>(model);
  const bool matrices = nv <= largest_matrix;  // linearizations have room for them
  const auto li = matrices ? std::make_shared<LinearizedInverse<>>(model) : nullptr;
  const auto lf = matrices ? std::make_shared<LinearizedForward<>>(model) : nullptr;
  add(
      "inverse_dynamics", "inverse_dynamics",
      [&s, id, nv](std::size_t i) { inverse_dynamics(*id, s.Q(i), s.V(i), s.Acc(i), s.first(s.x, nv)); },
      [&s, batch] { batch->inverse_dynamics(s.q, s.v, s.a, s.x); });
  add(
      "forward_dynamics", "forward_dynamics",
      [&s, fd, nv](std::size_t i) { forward_dynamics(*fd, s.Q(i), s.V(i), s.Tau(i), s.first(s.x, nv)); },
      [&s, batch] { batch->forward_dynamics(s.q, s.v, s.tau, s.x); });
  add(
      "bias_forces", "", [&s, id, nv](std::size_t i) { bias_forces(*id, s.Q(i), s.V(i), s.first(s.x, nv)); },
      [&s, batch] { batch->bias_forces(s.q, s.v, s.x); });
  add(
      "gravity_forces", "", [&s, id, nv](std::size_t i) { gravity_forces(*id, s.Q(i), s.first(s.x, nv)); },
      [&s, batch] { batch->gravity_forces(s.q, s.x); });
  // Of many states only the last frame's acceleration is kept.
  const int last = static_cast<int>(model.frames().size()) - 1;
  const auto accelerations = std::make_shared<std::vector<double>>(batch ? 6 * s.count : 0);
  add(
      "kinematics", "kinematics",
      [&s, kinematics](std::size_t i) { kinematics->update(s.Q(i), s.V(i), s.Acc(i)); },
      [&s, batch, last, accelerations] { batch->frame_acceleration(last, s.q, s.v, s.a, *accelerations); });
  if (matrices)
    add(
        "perturbed_inverse", "linearized_1",
        [&s, li, nv](std::size_t i) {
          perturbed_inverse(*li, s.Q(i), s.V(i), s.Acc(i), s.V(i), s.Acc(i), s.Tau(i), s.first(s.x, nv));
        },
        [&s, batch] { batch->perturbed_inverse(s.q, s.v, s.a, s.v, s.a, s.tau, s.x); });
  if (matrices)
    add(
        "perturbed_forward", "forward_dynamics+linearized_5",
        [&s, lf, nv](std::size_t i) {
          perturbed_forward(*lf, s.Q(i), s.V(i), s.Tau(i), s.V(i), s.Acc(i), s.Tau(i), s.first(s.x, nv));
        },
        [&s, batch] { batch->perturbed_forward(s.q, s.v, s.tau, s.v, s.a, s.tau, s.x); });
  if (!model.frames().empty() && nv > 0) {
    const auto space = std::make_shared<TaskSpace>(model, pose_task(model, model.frames().back().name));
    const auto six = std::make_shared<std::vector<double>>(36);
    const auto spaces = std::make_shared<std::optional<OperationalSpaceBatch<>>>();
    const auto lambdas = std::make_shared<std::vector<double>>(batch ? 36 * s.count : 0);
    add(
        "operational_space", "",
        [&s, space, six](std::size_t i) {
          space->update(s.Q(i), s.V(i));
          space->lambda(*six);
        },
        [&s, batch, last, spaces, lambdas] {
          if (!*spaces) spaces->emplace(*batch, std::span(&last, 1));
          (*spaces)->terms(s.q, s.v, {.lambda = *lambdas});
        });
  }
  if (!model.has_mimics()) {
    const auto diagonal = std::make_shared<DiagonalizedDynamics>(model);
    const auto diagonals = std::make_shared<std::optional<DiagonalizedBatch<>>>();
    add(
        "diagonalized", "normalized",
        [&s, diagonal, nv](std::size_t i) { diagonal->nu_dot(s.Q(i), s.V(i), s.Tau(i), s.first(s.x, nv)); },
        [&s, batch, diagonals] {
          if (!*diagonals) diagonals->emplace(*batch);
          (*diagonals)->nu_dot(s.q, s.v, s.tau, s.x);
        });
  }
  if (!matrices) return all;
  const auto mm = std::make_shared<MassMatrix<>>(model);
  const auto factor = std::make_shared<MassFactor<>>(model);
  const auto coriolis = std::make_shared<Coriolis>(model);
  add(
      "mass_matrix", "mass_matrix",
      [&s, mm, square](std::size_t i) { mass_matrix(*mm, s.Q(i), s.first(s.A, square)); },
      [&s, batch] { batch->mass_matrix(s.q, s.A); });
  add(
      "inverse_mass_matrix", "inverse_mass_matrix",
      [&s, factor, square](std::size_t i) { inverse_mass_matrix(*factor, s.Q(i), s.first(s.A, square)); },
      [&s, batch] { batch->inverse_mass_matrix(s.q, s.A); });
  add(
      "coriolis_matrix", "",
      [&s, coriolis, square](std::size_t i) {
        coriolis_matrix(*coriolis, s.Q(i), s.V(i), s.first(s.A, square));
      },
      [&s, batch] { batch->coriolis_matrix(s.q, s.v, s.A); });
  add(
      "linearized_inverse", "linearized_2",
      [&s, li, square](std::size_t i) {
        linearized_inverse(*li, s.Q(i), s.V(i), s.Acc(i), s.first(s.A, square), s.first(s.B, square),
                           s.first(s.C, square));
      },
      [&s, batch] { batch->linearized_inverse(s.q, s.v, s.a, s.A, s.B, s.C); });
  add(
      "linearized_forward", "forward_dynamics+linearized_6",
      [&s, lf, square](std::size_t i) {
        linearized_forward(*lf, s.Q(i), s.V(i), s.Tau(i), s.first(s.A, square), s.first(s.B, square),
                           s.first(s.C, square));
      },
      [&s, batch] { batch->linearized_forward(s.q, s.v, s.tau, s.A, s.B, s.C); });
  return all;
}

Json machine() {
  return {{"cpu", bench::cpu_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"instruction_set", instruction_set()},
          {"compiler", __VERSION__}};
}

/// Those of the list that are wanted; unknown names are errors.
std::vector<Algorithm> chosen(std::vector<Algorithm> all, const std::string& only) {
  if (only.empty()) return all;
  std::vector<Algorithm> out;
  std::stringstream names(only);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Algorithm& a) { return a.name == name; });
    if (found == all.end()) {
      std::string known;
      for (const Algorithm& a : all) known += (known.empty() ? "" : ", ") + a.name;
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
  const Model model = load_model(o.model);
  if (model.nv() == 0) throw InputError("the model has no joint that moves");
  const double numbers = 3.0 * model.nv() * model.nv() * o.batch;
  if (model.nv() <= largest_matrix && numbers > 2e9)
    throw InputError(fmt::format("--batch {}: {} matrices of {} velocities do not fit; take fewer states",
                                 o.batch, o.batch, model.nv()));
  Output out(o.out);
  std::optional<Threads> threads;
  if (o.threads > 1) threads.emplace(o.threads);
  std::optional<Batch<>> batch;
  if (o.batch > 1) batch.emplace(model, BatchOptions{.threads = threads ? &*threads : nullptr});
  States states(model, o.batch == 1 ? 16 : o.batch);
  const std::vector<Algorithm> all = chosen(algorithms(model, states, batch ? &*batch : nullptr), o.only);
  Json results = Json::array();
  Progress progress("algorithms", all.size());
  std::string text = fmt::format("{:<22}{:>12}{:>12}{:>16}{:>12}\n", "algorithm", "ns a state", "ns a body",
                                 "multiplications", "additions");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Algorithm& a = all[i];
    const bool together = o.batch > 1 && a.many;
    const double ns = together
                          ? bench::best_ns([&](long) { a.many(); }, 5e-3, 20) / o.batch
                          : bench::best_ns([&](long k) { a.one(static_cast<std::size_t>(k)); }, 1e-3, 60);
    Json row{{"algorithm", a.name},
             {"model", model.name()},
             {"nv", model.nv()},
             {"batch", together ? o.batch : 1},
             {"threads", together ? o.threads : 1},
             {"ns", ns}};
    const std::optional<Operations> operations = operations_of(model, a.counted);
    row["multiplications"] = operations ? Json(operations->multiplications) : Json();
    row["additions"] = operations ? Json(operations->additions) : Json();
    text += fmt::format("{:<22}{:>12.1f}{:>12.2f}{:>16}{:>12}{}\n", a.name, ns, ns / model.body_count(),
                        operations ? std::to_string(operations->multiplications) : "-",
                        operations ? std::to_string(operations->additions) : "-",
                        o.batch > 1 && !together ? "   one state at a time" : "");
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
  app.add_option("--batch", o->batch, "States at once")->capture_default_str();
  app.add_option("--threads", o->threads, "Threads, with --batch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_out_option(app, o->out);
  app.footer(
      "Nanoseconds a state, the best of many; multiplications (divisions included) and additions are exact\n"
      "counts of one state (articula count; mimic joints as hinges of their own). operational_space: Lambda "
      "of the\nmodel's last frame.\n\n"
      "Examples:\n  articula bench quadruped --base free\n"
      "  articula bench arm7 --batch 4096 --threads 2 --only forward_dynamics,linearized_forward --json\n");
  return {&app, [o] { return run(*o); }};
}

}  // namespace articula::cli
