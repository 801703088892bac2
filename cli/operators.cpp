// articula operators: the operator algebra at a state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "articula/diagonal/curvature.hpp"
#include "articula/diagonal/diagonal_identities.hpp"
#include "articula/diagonal/operator_rates.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/configuration.hpp"
#include "articula/operators/derive.hpp"
#include "articula/operators/identities.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/trials.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/states.hpp"

namespace articula::cli {

namespace {

struct OperatorsOptions {
  ModelOptions model;
  std::string expression, states = "-", out = "-";
  bool dense = false, explain = false, derive = false, identities = false, rates = false, curvature = false;
};

constexpr double largest_matrix = 1e8;  // numbers: more are gigabytes of text
constexpr int most_dense_bodies = 40;   // of identities that are checked on whole matrices

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
}

Json matrix(const operators::Dense& d) {
  Json rows = Json::array();
  for (int i = 0; i < d.rows; ++i) {
    const auto row = d.numbers.begin() + static_cast<long>(i) * d.columns;
    rows.push_back(std::vector<double>(row, row + d.columns));
  }
  return rows;
}

ComputationError not_finite(std::size_t state) {
  return ComputationError(
      fmt::format("state {}: the value is not finite; are the state's numbers too large?", state));
}

const std::vector<double>* vector_of(const State& state, const std::string& name) {
  for (int k = 0; k < input_count; ++k)
    if (name == name_of(static_cast<Input>(k)) && !state.vectors[k].empty()) return &state.vectors[k];
  const auto named = state.named.find(name);
  return named == state.named.end() ? nullptr : &named->second;
}
bool has_all(const operators::Parsed& parsed, const State& state) {
  return std::all_of(parsed.vectors.begin(), parsed.vectors.end(),
                     [&](const std::string& name) { return vector_of(state, name); });
}
/// The vectors that the expression names, from a state.
std::vector<std::span<const double>> vectors_of(const operators::Parsed& parsed,
                                                const operators::Program& program, const State& state,
                                                std::size_t index) {
  std::vector<std::span<const double>> out;
  for (std::size_t i = 0; i < parsed.vectors.size(); ++i) {
    const std::string& name = parsed.vectors[i];
    const std::vector<double>* const found = vector_of(state, name);
    const int needed = program.input_size(static_cast<int>(i));
    if (!found)
      throw InputError(
          fmt::format("state {}: '{}' is missing; it is neither an operator ({}) nor a vector of the state, "
                      "which would need {} numbers",
                      index, name, operators::operator_names(), needed));
    if (static_cast<int>(found->size()) != needed)
      throw InputError(
          fmt::format("state {}: {} has {} numbers, here it needs {}", index, name, found->size(), needed));
    out.push_back(*found);
  }
  return out;
}

Json explained(operators::Program& program) {
  Json lines = Json::array();
  const std::string text = program.explain();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto count = program.count();
  return {{"steps", lines},
          {"sweeps", program.sweeps()},
          {"multiplications", count.multiplications},
          {"additions", count.additions}};
}

Json steps_of(const operators::Derivation& derivation) {
  Json steps = Json::array();
  for (const auto& step : derivation.steps) {
    Json j{{"text", step.text}, {"expression", step.expression}};
    if (!step.identity.empty()) {
      j["identity"] = step.identity;
      j["source"] = step.source;
      if (derivation.checked) j["residual"] = step.residual;
    }
    steps.push_back(std::move(j));
  }
  Json out{{"steps", steps}, {"result", operators::to_string(*derivation.result)}};
  if (derivation.without_rotors) out["without_rotors"] = true;
  return out;
}

/// Where derivations and identities are tried if no state is given: at rest many of them would say 0 = 0.
State random_state(const Model& model) {
  std::mt19937_64 engine(1);
  State state;
  auto &q = state.vectors[static_cast<int>(Input::q)], &v = state.vectors[static_cast<int>(Input::v)];
  q.resize(model.nq());
  integrate(model, neutral(model), operators::random_vector(engine, model.nv()), q);
  v = operators::random_vector(engine, model.nv());
  state.vectors[static_cast<int>(Input::a)] = operators::random_vector(engine, model.nv());
  return state;
}

/// Why those of DIAG are not checked; empty: they are.
std::string left_out(const operators::OperatorState& state) {
  if (!state.has_velocities()) return "the state has no velocities";
  if (state.bodies() > most_dense_bodies)
    return fmt::format("more than {} bodies, and they are checked on whole matrices", most_dense_bodies);
  return why_no_diagonal_identities(state.model());
}

Json identities_of(operators::OperatorState& state, const State& at) {
  Json list = Json::array();
  const auto put = [&](const auto& residuals) {
    for (const auto& r : residuals)
      list.push_back(Json{{"name", r.name}, {"source", r.source}, {"residual", r.residual}});
  };
  put(operators::check_identities(state));
  if (left_out(state).empty()) put(diagonal_identities(state.model(), at[Input::q], at[Input::v]));
  return list;
}

/// Whether the mass matrix is that of a flat metric.
Json curvature_of(const Model& model, const State& state) {
  const MassCurvature c = mass_curvature(model, state[Input::q]);
  Json out{{"flat", c.flat}, {"largest", c.largest}, {"scale", c.scale}};
  if (c.n == 2) {
    const std::vector<double> M = mass_matrix(model, state[Input::q]);
    out["gaussian"] = c(0, 1, 0, 1) / (M[0] * M[3] - M[1] * M[2]);
  }
  return out;
}

/// DIAG Table 1.
Json rates_of(const Model& model, const State& state, std::size_t index) {
  const auto &q = state[Input::q], &v = state[Input::v];
  if (v.empty() && model.nv() > 0)
    throw InputError(
        fmt::format("state {}: v is missing; --rates uses it: nv = {} numbers", index, model.nv()));
  if (36.0 * model.body_count() * model.body_count() > largest_matrix / 30)
    throw InputError(
        fmt::format("--rates: ten operators of {} bodies are too large to print", model.body_count()));
  const OperatorRates rates = operator_rates(model, q, v);
  Json out = Json::object();
  for (const auto& x : rates.operators)
    out[x.name] = {{"value", matrix(x.value)}, {"local", matrix(x.local)}, {"inertial", matrix(x.inertial)}};
  out["m"] = {{"value", matrix(rates.m)}, {"inertial", matrix(rates.m_dot)}};
  out["lambda"] = {{"value", matrix(rates.lambda)}};
  out["Omega_delta"] = {{"value", matrix(rates.Omega_delta)}};
  const CoriolisComponents parts = coriolis_components(model, q, v);
  out["coriolis"] = {{"nu", matrix(parts.c)},
                     {"nu_bias", parts.bias},
                     {"xi", matrix(parts.c_xi)},
                     {"xi_bias", parts.bias_xi}};
  return out;
}

void check(const OperatorsOptions& options) {
  if (options.expression.empty() && !options.identities && !options.rates && !options.curvature)
    throw InputError(
        "an EXPRESSION is missing, for instance \"H*phi*M*star(phi)*star(H)\" --dense (or --identities)");
  if (options.expression.empty() && (options.dense || options.explain || options.derive))
    throw InputError("--dense, --explain and --derive need an EXPRESSION");
  if (options.model.source == "-" && options.states == "-")
    throw InputError("MODEL and the states cannot both come from stdin; give --states FILE");
}

ExitCode run(const OperatorsOptions& options) {
  check(options);
  operators::Parsed parsed;
  if (!options.expression.empty()) parsed = operators::parse(options.expression);
  const bool is_vector = parsed.node && parsed.node->from == operators::Space::one;
  if (parsed.node && !is_vector && !options.dense && !options.explain && !options.derive)
    throw InputError(fmt::format(
        "'{}' is an operator: multiply it by a vector of the state, or add --dense for its matrix",
        options.expression));
  if (is_vector && options.dense)
    throw InputError(fmt::format("'{}' is a vector; --dense is for operators", options.expression));

  const Model model = load_model(options.model);
  operators::OperatorState state(model);
  std::unique_ptr<operators::Program> program;
  const auto compile = [&](const operators::NodePtr& expression) {
    program = std::make_unique<operators::Program>(state, expression);
    if (options.dense && double(program->rows()) * program->columns() > largest_matrix)
      throw InputError(
          fmt::format("--dense: a matrix of {} x {} is too large to print; multiply it by vectors",
                      program->rows(), program->columns()));
  };
  if (parsed.node && !options.derive) compile(parsed.node);
  Output out(options.out);
  Needs needs;
  needs[static_cast<int>(Input::q)] = "operators";
  const auto states =
      read_states(options.states, model, needs, {.named = parsed.vectors, .neutral_if_absent = true});

  const auto update = [&](const State& at) {
    const auto &q = at[Input::q], &v = at[Input::v];
    const std::vector<double> at_rest(v.size());
    const auto& a = at.given ? at[Input::a] : at_rest;
    v.empty() ? state.update(q) : a.empty() ? state.update(q, v) : state.update(q, v, a);
  };
  const auto result_of = [&](std::size_t i) {
    const bool tries = options.derive || options.identities;
    const State tried = states[i].given || !tries ? states[i] : random_state(model);
    update(tried);
    Json result = Json::object();
    if (tries && !states[i].given)
      result["tried_at"] = {{"q", tried[Input::q]}, {"v", tried[Input::v]}, {"a", tried[Input::a]}};
    if (options.derive) {
      const operators::Derivation derivation = operators::derive(state, parsed.node, options.dense);
      result["derive"] = steps_of(derivation);
      if (!program && derivation.result->from != operators::Space::any) compile(derivation.result);
    }
    if (options.identities) {
      result["identities"] = identities_of(state, tried);
      if (const std::string why = left_out(state); !why.empty())
        result["left_out"] = "DIAG (29)-(49): " + why;
    }
    update(states[i]);
    if (program && is_vector && (!options.derive || has_all(parsed, states[i]))) {
      std::vector<double> value(program->rows());
      const auto inputs = vectors_of(parsed, *program, states[i], i);
      program->evaluate(inputs, value);
      if (!all_finite(value)) throw not_finite(i);
      result["value"] = value;
    }
    if (program && options.dense) {
      const operators::Dense dense = program->dense();
      if (!all_finite(dense.numbers)) throw not_finite(i);
      result["value"] = matrix(dense);
    }
    if (program && (options.explain || options.derive)) result["explain"] = explained(*program);
    if (options.rates) result["rates"] = rates_of(model, states[i], i);
    if (options.curvature) result["curvature"] = curvature_of(model, states[i]);
    return result;
  };
  std::string text = "{\n";
  append_results(states.size(), result_of, text);
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_operators(CLI::App& program) {
  auto options = std::make_shared<OperatorsOptions>();
  CLI::App& app =
      *program.add_subcommand("operators", "Evaluate an operator expression at given states, as JSON");
  options->model.add_to(app);
  app.add_option("EXPRESSION", options->expression, "An operator expression: see below")->type_name("");
  app.add_flag("--dense", options->dense, "The matrix of an operator");
  app.add_flag("--explain", options->explain,
               "The sweeps that run, with multiplications and additions counted");
  app.add_flag("--derive", options->derive,
               "A form with fewer sweeps, found by the identities, step by step, each checked");
  app.add_flag("--identities", options->identities,
               "Every identity of the algebra with its residual at the state");
  app.add_flag("--rates", options->rates,
               "Operators with their time derivatives, as bodies and as the world see them (DIAG Table 1)");
  app.add_flag(
      "--curvature", options->curvature,
      "Riemann symbols of the mass matrix: is the metric flat, so that nu could be rates of coordinates?");
  app.add_option("--states", options->states,
                 "File of states (default: - for stdin; nothing there: neutral, at rest; --derive and\n"
                 "--identities are then tried at a random state)")
      ->type_name("FILE");
  add_out_option(app, options->out);
  app.footer(
      "Operators: H phi psi M P D root_D G K L tau_bar E_phi E_psi S R Omega E rotor Gamma H_full, B(LINK, "
      "..), I;\n"
      "of a moving state H_dot M_ring P_ring G_ring K_ring R_ring J_ring, and H_ddot H_f if it has a.\n"
      "They are joined by * + - and numbers; star(..) is the adjoint, inv(..) the inverse, of phi, psi, D,\n"
      "I + H*phi*K, I - H*psi*K, the mass operator H*phi*M*star(phi)*star(H) and products of these.\n"
      "Vectors: q v a tau and any other name from the state; a_bias b_bias a_g are made from it.\n"
      "Body vectors have six numbers per body, base to tip, world axes at the body's joint origin; joint "
      "vectors are in\n"
      "velocity order. --derive: with --dense a form for the whole matrix, else one for a vector.\n\n"
      "Examples:\n"
      "  articula operators arm7 'inv(H*phi*M*star(phi)*star(H) + rotor)' --derive < /dev/null\n"
      "  echo '{\"q\": [0.3, -0.5], \"x\": [1, 0]}' | articula operators double_pendulum "
      "'inv(H*phi*M*star(phi)*star(H)) * x'\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
