#include "articula/simulation/rate_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "articula/loops/closed_chain_inverse.hpp"

namespace articula {

DecoupledRateControl::DecoupledRateControl(const Model& model, std::vector<double> gains,
                                           std::vector<double> desired_nu, RateCompensation compensation)
    : work_(model),
      gains_(std::move(gains)),
      desired_(std::move(desired_nu)),
      tau_(model.nv()),
      compensation_(compensation) {
  // Leaving its forces out, as other controllers do, would leave every nu coupled to the rest.
  if (const auto motor = motors(model); !std::all_of(motor.begin(), motor.end(), std::identity()))
    throw ArgumentError(
        fmt::format("DecoupledRateControl: model '{}' has a free joint (a free base or a loose object), "
                    "which has no motor; it is for models without",
                    model.name()));
  for (const auto& [name, x] : {std::pair{"gains", &gains_}, {"desired nu", &desired_}}) {
    if (x->size() != tau_.size())
      throw ArgumentError(fmt::format("DecoupledRateControl: {} has {} numbers, model '{}' needs nv = {}",
                                      name, x->size(), model.name(), tau_.size()));
    for (const double number : *x)
      if (!std::isfinite(number))
        throw ArgumentError(fmt::format("DecoupledRateControl: a number of {} is {}", name, number));
  }
}

void DecoupledRateControl::add_forces(double, In<double> q, In<double> v, Out<double> tau) {
  work_.update(q);
  decoupled_rate_control(work_, v, desired_, gains_, compensation_, tau_);
  for (std::size_t i = 0; i < tau_.size(); ++i) tau[i] += tau_[i];
}

}  // namespace articula
