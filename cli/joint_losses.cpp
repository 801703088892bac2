#include "cli/joint_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/messages.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

bool is_forward(std::string_view name) { return name.starts_with("forward_dynamics"); }
bool is_linear(std::string_view name) {
  return name == "linearized_inverse" || name == "linearized_forward" || name == "perturbed_inverse" ||
         name == "perturbed_forward";
}

}  // namespace

JointLosses::JointLosses(const Model& model, bool damping, bool friction,
                         const std::vector<const Algorithm*>& wanted)
    : damping_(model.nv()), loss_(model.nv()), forces_(model.nv()) {
  if (damping) dampers_.emplace(model);
  if (friction) friction_.emplace(model);
  const char* const option = damping ? "--damping" : "--friction";
  for (const Algorithm* const a : wanted) {
    if (friction && is_linear(a->name))
      throw InputError(
          fmt::format("--friction is for inverse_dynamics and forward_dynamics, not for {}", a->name));
    const bool takes_forces = std::find(a->uses.begin(), a->uses.end(), Argument::tau) != a->uses.end();
    if (!act_on(*a) && (takes_forces || std::string_view(a->name) == "inverse_gradient"))
      throw InputError(fmt::format("{} is not for {}", option, a->name));
  }
  if (std::none_of(wanted.begin(), wanted.end(), [&](const Algorithm* a) { return act_on(*a); }))
    throw InputError(fmt::format(
        "{} is for inverse_dynamics, forward_dynamics and their linearizations; none is asked for", option));
  if (!damping) return;
  std::vector<double> unit(model.nv(), 1.0);
  dampers_->add_forces(0, {}, unit, damping_);
  for (double& d : damping_) d = -d;
}

bool JointLosses::act_on(const Algorithm& algorithm) const {
  const std::string_view name = algorithm.name;
  return name == "inverse_dynamics" || is_forward(name) || is_linear(name);
}

void JointLosses::before(const Algorithm& algorithm, Call<double>& call) {
  const auto v = call[Argument::v];
  std::fill(loss_.begin(), loss_.end(), 0.0);
  if (dampers_) dampers_->add_forces(0, call[Argument::q], v, loss_);
  if (friction_) friction_->add_forces(0, call[Argument::q], v, loss_);
  const std::string_view name = algorithm.name;
  if (!is_forward(name) && name != "linearized_forward" && name != "perturbed_forward") return;
  const auto tau = call[Argument::tau];
  for (std::size_t i = 0; i < forces_.size(); ++i) forces_[i] = tau[i] + loss_[i];
  call.in[static_cast<int>(Argument::tau)] = forces_;
  if (name != "perturbed_forward") return;
  const auto dtau = call[Argument::dtau], dv = call[Argument::dv];
  for (std::size_t i = 0; i < loss_.size(); ++i) loss_[i] = dtau[i] - damping_[i] * dv[i];
  call.in[static_cast<int>(Argument::dtau)] = loss_;
}

void JointLosses::after(const Algorithm& algorithm, const Call<double>& call) {
  const std::string_view name = algorithm.name;
  const std::size_t n = loss_.size();
  if (name == "inverse_dynamics") {
    for (std::size_t i = 0; i < n; ++i) call.out[0][i] -= loss_[i];
  } else if (name == "perturbed_inverse") {
    for (std::size_t i = 0; i < n; ++i) call.out[0][i] += damping_[i] * call[Argument::dv][i];
  } else if (name == "linearized_inverse") {  // parts dq, dv, da
    for (std::size_t i = 0; i < n; ++i) call.out[1][i * n + i] += damping_[i];
  } else if (name == "linearized_forward") {  // parts dq, dv, dtau
    for (std::size_t i = 0; i < n * n; ++i) call.out[1][i] -= call.out[2][i] * damping_[i % n];
  }
}

}  // namespace articula::cli
