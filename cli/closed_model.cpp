#include "cli/closed_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/loops/constrained_operational_space.hpp"
#include "articula/loops/scene_of_model.hpp"

namespace articula::cli {

namespace {

constexpr std::string_view changed[] = {"forward_dynamics",  "inverse_mass_matrix", "linearized_forward",
                                        "perturbed_forward", "forward_gradient",    "operational_space"};
/// What else has to do with forces.
constexpr std::string_view of_tree[] = {
    "inverse_dynamics",     "linearized_inverse",   "perturbed_inverse",
    "inverse_gradient",     "forward_dynamics_fd1", "forward_dynamics_fd2",
    "forward_dynamics_fd3", "forward_dynamics_fd4", "diagonalized"};

template <std::size_t n>
bool among(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// out += A x, or A* x.
void add_product(std::span<const double> A, std::span<const double> x, bool star, std::span<double> out) {
  const std::size_t n = out.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out[i] += (star ? A[j * n + i] : A[i * n + j]) * x[j];
}

}  // namespace

ClosedModel::ClosedModel(const Model& model, std::string where, const SceneOptions& options)
    : where_(std::move(where)),
      options_(options),
      work_(model, constraints_of(model)),
      linear_(work_),
      zero_(std::size_t(model.nv())) {}

bool ClosedModel::changes(const Algorithm& algorithm) { return among(changed, algorithm.name); }

std::string ClosedModel::of_the_tree(const std::vector<const Algorithm*>& wanted) {
  std::string out;
  for (const Algorithm* k : wanted)
    if (among(of_tree, k->name)) out += (out.empty() ? "" : ", ") + std::string(k->name);
  return out;
}

void ClosedModel::settle(State& state) {
  auto &q = state.vectors[int(Input::q)], &v = state.vectors[int(Input::v)];
  if (q.empty()) return;
  std::vector<double> at_rest = zero_;
  std::vector<double>& rate = v.empty() ? at_rest : v;
  fit_positions(work_, q, rate, where_, options_);
  fit_velocities(work_, q, rate, where_, options_);
}

const ConstrainedDerivatives& ClosedModel::derivatives(const State& state) {
  if (!state.wrenches.empty())
    throw InputError(fmt::format("{}: wrenches do not go with derivatives of a model with loops", where_));
  linear_.compute(state[Input::q], state[Input::v], state[Input::tau], found_);
  return found_;
}

void ClosedModel::compute(const Algorithm& algorithm, const State& state, Wrenches<double> wrenches,
                          std::span<const int> frames, std::span<const std::span<double>> out) {
  const std::string_view name = algorithm.name;
  const auto put = [&](std::size_t part, const std::vector<double>& x) {
    std::copy(x.begin(), x.end(), out[part].begin());
  };
  if (name == "forward_dynamics") {
    work_.acceleration(state[Input::q], state[Input::v], state[Input::tau], out[0], wrenches);
  } else if (name == "inverse_mass_matrix") {  // M^-1 - M^-1 J* Omega^+ J M^-1, what tau accelerates
    linear_.compute(state[Input::q], zero_, zero_, found_);
    put(0, found_.da_dtau);
  } else if (name == "operational_space") {
    const ConstrainedTaskTerms t =
        constrained_operational_space(work_, state[Input::q], state[Input::v], frames);
    put(0, t.omega), put(1, t.lambda), put(2, t.coriolis), put(3, t.gravity), put(4, t.jacobian_bar);
    out[5][0] = t.rank;
  } else if (name == "linearized_forward") {
    const ConstrainedDerivatives& d = derivatives(state);
    put(0, d.da_dq), put(1, d.da_dv), put(2, d.da_dtau);
  } else if (name == "perturbed_forward") {
    const ConstrainedDerivatives& d = derivatives(state);
    std::fill(out[0].begin(), out[0].end(), 0.0);
    add_product(d.da_dq, state[Input::dq], false, out[0]);
    add_product(d.da_dv, state[Input::dv], false, out[0]);
    add_product(d.da_dtau, state[Input::dtau], false, out[0]);
  } else {  // forward_gradient
    const ConstrainedDerivatives& d = derivatives(state);
    for (const auto& part : out) std::fill(part.begin(), part.end(), 0.0);
    add_product(d.da_dq, state[Input::weights], true, out[0]);
    add_product(d.da_dv, state[Input::weights], true, out[1]);
    add_product(d.da_dtau, state[Input::weights], true, out[2]);
  }
}

}  // namespace articula::cli
