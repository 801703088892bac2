#include "articula/simulation/controllers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

namespace {

Gains checked(const Model& model, const char* who, Gains gains) {
  for (const auto* k : {&gains.kp, &gains.kd}) {
    if (k->size() != std::size_t(model.nv()))
      throw ArgumentError(fmt::format("{}: {} has {} numbers, model '{}' needs nv = {}", who,
                                      k == &gains.kp ? "kp" : "kd", k->size(), model.name(), model.nv()));
    for (const double x : *k)
      if (!std::isfinite(x)) throw ArgumentError(fmt::format("{}: a gain is {}", who, x));
  }
  return gains;
}

Table one_row(const Model& model, std::vector<double> q) {
  if (q.size() != std::size_t(model.nq()))
    throw ArgumentError(fmt::format("Reference: q has {} numbers, model '{}' needs nq = {}", q.size(),
                                    model.name(), model.nq()));
  normalise(model, q);
  return Table({0}, std::move(q), model.nq());
}

}  // namespace

Reference::Reference(const Model& model, std::vector<double> q)
    : model_(model), table_(one_row(model, std::move(q))) {}
Reference::Reference(const Model& model, Table configurations)
    : model_(model), table_(std::move(configurations)) {
  if (table_.columns() != model.nq())
    throw ArgumentError(fmt::format("Reference: the table has {} columns, model '{}' needs nq = {}",
                                    table_.columns(), model.name(), model.nq()));
}
void Reference::at(double t, Out<double> q, Out<double> v) const {
  const Table::Place p = table_.place(t);
  const auto a = table_.row(p.before), b = table_.row(p.after);
  if (p.before == p.after) {
    std::copy(a.begin(), a.end(), q.begin());
    std::fill(v.begin(), v.end(), 0.0);
    return;
  }
  interpolate(model_, a, b, p.share, q);
  difference(model_, a, b, v);
  const double duration = table_.times()[p.after] - table_.times()[p.before];
  for (double& x : v) x /= duration;
}

PdControl::PdControl(const Model& model, Gains gains, Reference reference, bool compensate_gravity)
    : work_(model),
      gains_(checked(model, "PdControl", std::move(gains))),
      reference_(std::move(reference)),
      gravity_(compensate_gravity),
      q_(model.nq()),
      v_(model.nv()),
      e_(model.nv()),
      g_(model.nv()),
      motor_(motors(model)) {}
void PdControl::add_forces(double t, In<double> q, In<double> v, Out<double> tau) {
  reference_.at(t, q_, v_);
  difference(work_.model(), q, q_, e_);
  if (gravity_) gravity_forces(work_, q, g_);
  for (std::size_t i = 0; i < e_.size(); ++i)
    if (motor_[i]) tau[i] += gains_.kp[i] * e_[i] + gains_.kd[i] * (v_[i] - v[i]) + g_[i];
}

ComputedTorque::ComputedTorque(const Model& model, Gains gains, Reference reference)
    : work_(model),
      gains_(checked(model, "ComputedTorque", std::move(gains))),
      reference_(std::move(reference)),
      q_(model.nq()),
      v_(model.nv()),
      a_(model.nv()),
      tau_(model.nv()),
      motor_(motors(model)) {}
void ComputedTorque::add_forces(double t, In<double> q, In<double> v, Out<double> tau) {
  reference_.at(t, q_, v_);
  difference(work_.model(), q, q_, a_);
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = gains_.kp[i] * a_[i] + gains_.kd[i] * (v_[i] - v[i]);
  inverse_dynamics(work_, q, v, a_, tau_);
  for (std::size_t i = 0; i < a_.size(); ++i)
    if (motor_[i]) tau[i] += tau_[i];
}

GravityCompensation::GravityCompensation(const Model& model)
    : work_(model), g_(model.nv()), motor_(motors(model)) {}
void GravityCompensation::add_forces(double, In<double> q, In<double>, Out<double> tau) {
  gravity_forces(work_, q, g_);
  for (std::size_t i = 0; i < g_.size(); ++i)
    if (motor_[i]) tau[i] += g_[i];
}

}  // namespace articula
