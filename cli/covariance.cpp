// articula covariance: how uncertain accelerations are, in O(n); and the same by samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "articula/batch/batch.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/operators/acceleration_covariance.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/states.hpp"

namespace articula::cli {

namespace {

using operators::AccelerationCovariance;

struct CovarianceOptions {
  ModelOptions model;
  std::vector<std::string> frames;
  double tau = 0, moment = 0, force = 0, mass = 0;
  std::string states = "-", out = "-";
  std::size_t samples = 0, seed = 1;
};

constexpr const char* of_tau = "tau_deviation";
constexpr const char* of_wrenches = "wrench_deviation";
constexpr const char* of_masses = "mass_deviation";

/// What deviates, and by how much: of a state if it says so, else as the options say.
struct Spread {
  std::vector<double> tau, wrenches, masses;

  Spread(const CovarianceOptions& options, const Model& model, const State& state) {
    const std::size_t bodies = model.body_count(), nv = model.nv();
    tau.assign(nv, options.tau);
    masses.assign(bodies, options.mass);
    for (std::size_t k = 0; k < 6 * bodies; ++k)
      wrenches.push_back(k % 6 < 3 ? options.moment : options.force);
    for (const auto& [name, vector] :
         {std::pair{of_tau, &tau}, {of_wrenches, &wrenches}, {of_masses, &masses}})
      if (const auto found = state.named.find(name); found != state.named.end()) {
        if (found->second.size() != vector->size())
          throw InputError(fmt::format("{} has {} numbers, {} are needed{}", name, found->second.size(),
                                       vector->size(), vector == &tau ? "" : ", for each body of the model"));
        *vector = found->second;
      }
  }
  operators::Deviations deviations() const { return {tau, wrenches, masses}; }
};

/// Standard deviations of accelerations over samples: real masses, not their first order.
std::vector<double> sampled(const Model& model, const State& state, const Spread& spread, std::size_t samples,
                            std::size_t seed) {
  constexpr std::size_t at_once = 512;
  const std::size_t nv = model.nv(), bodies = model.body_count();
  const std::vector<double> parameters = inertial_parameters(model);
  const bool masses =
      std::any_of(spread.masses.begin(), spread.masses.end(), [](double x) { return x != 0; });
  if (std::any_of(spread.masses.begin(), spread.masses.end(), [](double x) { return x > 0.15; }))
    throw InputError("--samples: masses that deviate by more than 0.15 would be negative in some");
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Batch<> batch(model);
  std::vector<double> q, v, tau, wrenches, inertias, a, mean(nv), squares(nv);
  for (std::size_t done = 0; done < samples;) {
    const std::size_t count = std::min(at_once, samples - done);
    q.clear(), v.clear(), tau.clear(), wrenches.clear(), inertias.clear();
    for (std::size_t s = 0; s < count; ++s) {
      q.insert(q.end(), state[Input::q].begin(), state[Input::q].end());
      for (std::size_t i = 0; i < nv; ++i) {
        v.push_back(state[Input::v].empty() ? 0 : state[Input::v][i]);
        tau.push_back((state[Input::tau].empty() ? 0 : state[Input::tau][i]) +
                      spread.tau[i] * normal(engine));
      }
      for (std::size_t i = 0; i < 6 * bodies; ++i) wrenches.push_back(spread.wrenches[i] * normal(engine));
      for (std::size_t k = 0; masses && k < bodies; ++k) {
        const double share = 1 + spread.masses[k] * normal(engine);
        for (int i = 0; i < inertial_parameter_count; ++i)
          inertias.push_back(parameters[inertial_parameter_count * k + i] * share);
      }
    }
    if (masses) batch.vary(inertias);
    a.resize(count * nv);
    batch.forward_dynamics(q, v, tau, a, wrenches);
    for (std::size_t s = 0; s < count; ++s, ++done)
      for (std::size_t i = 0; i < nv; ++i) {  // Welford
        const double x = a[s * nv + i], before = x - mean[i];
        mean[i] += before / static_cast<double>(done + 1);
        squares[i] += before * (x - mean[i]);
      }
  }
  for (double& x : squares) x = std::sqrt(x / static_cast<double>(samples - 1));
  return squares;
}

Json result_of(AccelerationCovariance& work, const CovarianceOptions& options, const State& state,
               const std::vector<int>& frames) {
  const Model& model = work.model();
  const Spread spread(options, model, state);
  std::vector<double> v = state[Input::v], tau = state[Input::tau], deviation(model.nv());
  v.resize(model.nv());
  tau.resize(model.nv());
  work.compute(state[Input::q], v, tau, spread.deviations());
  work.joints(deviation);
  Json out{{"acceleration_deviation", deviation}};
  if (!frames.empty()) out["frames"] = Json::object();
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const operators::Covariance6 covariance = work.frame(frames[f]);
    Json rows = Json::array();
    for (int i = 0; i < 6; ++i)
      rows.push_back(std::vector<double>(covariance.begin() + 6 * i, covariance.begin() + 6 * i + 6));
    out["frames"][options.frames[f]] = {{"acceleration_covariance", rows}};
  }
  if (options.samples == 0) return out;
  const std::vector<double> found = sampled(model, state, spread, options.samples, options.seed);
  double worst = 0;  // a deviation from N samples is itself uncertain by 1 in sqrt(2 N)
  for (std::size_t i = 0; i < found.size(); ++i)
    if (deviation[i] > 0)
      worst = std::max(worst, std::abs(found[i] / deviation[i] - 1) *
                                  std::sqrt(2.0 * static_cast<double>(options.samples)));
  out["sampled"] = {
      {"samples", options.samples}, {"acceleration_deviation", found}, {"largest_error_in_sigmas", worst}};
  return out;
}

ExitCode run(const CovarianceOptions& options) {
  if (options.model.source == "-" && options.states == "-")
    throw InputError("MODEL and the states cannot both come from stdin; give --states FILE");
  if (options.samples == 1) throw InputError("--samples needs two or more");
  const Model model = load_model(options.model);
  std::vector<int> frames;
  for (const auto& name : options.frames) frames.push_back(model.frame(name));
  AccelerationCovariance work(model);
  Output out(options.out);
  Needs needs;
  needs[static_cast<int>(Input::q)] = "covariance";
  const auto states = read_states(options.states, model, needs,
                                  {.named = {of_tau, of_wrenches, of_masses}, .neutral_if_absent = true});
  std::string text = "{\n \"model\": ";
  append(describe_model(model), 1, text);
  text += ",\n";
  append_results(
      states.size(), [&](std::size_t i) { return result_of(work, options, states[i], frames); }, text);
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_covariance(CLI::App& program) {
  auto options = std::make_shared<CovarianceOptions>();
  CLI::App& app =
      *program.add_subcommand("covariance", "How uncertain forces and masses make accelerations, in O(n)");
  options->model.add_to(app);
  const auto number = [&](const char* name, double& value, const char* text) {
    app.add_option(name, value, text)->type_name("NUMBER");
  };
  number("--tau-deviation", options->tau, "Standard deviation of every joint force");
  number("--moment-deviation", options->moment, "Of the moment on every body, per axis");
  number("--force-deviation", options->force, "Of the force on every body, per axis");
  number("--mass-deviation", options->mass, "Of every body's mass, as a share of it: 0.05");
  app.add_option("--frame", options->frames,
                 "A link or frame whose acceleration's covariance is wanted (repeatable)")
      ->allow_extra_args(false)
      ->type_name("LINK");
  app.add_option("--samples", options->samples, "Compare with this many samples of forward dynamics")
      ->type_name("N");
  app.add_option("--seed", options->seed, "Of the samples")->type_name("N");
  app.add_option("--states", options->states,
                 "File of states (default: - for stdin; nothing there: neutral, at rest)")
      ->type_name("FILE");
  add_out_option(app, options->out);
  app.footer(
      "All deviations are independent. A state may have its own: tau_deviation (nv numbers), "
      "wrench_deviation (six\n"
      "per body: moment and force, world axes, at its joint), mass_deviation (one per body).\n\n"
      "Example:\n"
      "  articula covariance arm7 --tau-deviation 0.5 --mass-deviation 0.02 --frame flange --samples 10000 < "
      "/dev/null\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
