#include "articula/simulation/controllers.hpp"

#include <fmt/format.h>

#include <algorithm>
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
Reference::Reference(const Model& model, const Table& q, const Table& v, const Table& a) : model_(model) {
  for (const Joint& joint : model.joints())
    if (joint.nv > 1)
      throw ArgumentError(
          fmt::format("Reference: joint '{}' has {} freedoms; a smooth reference is for joints with one",
                      joint.name, joint.nv));
  std::vector<double> rows;
  for (const Table* const table : {&q, &v, &a})
    if (table->columns() != model.nv() || table->times() != q.times())
      throw ArgumentError(fmt::format(
          "Reference: q, v and a of a smooth one need the same times and nv = {} columns each", model.nv()));
  for (std::size_t i = 0; i < q.times().size(); ++i)
    for (const Table* const table : {&q, &v, &a})
      rows.insert(rows.end(), table->row(i).begin(), table->row(i).end());
  table_ = Table(q.times(), std::move(rows), 3 * model.nv());
}
/// The polynomial of fifth degree with the given positions, velocities and accelerations at both ends.
void Reference::smooth_at(double t, Out<double> q, Out<double> v, Out<double> a) const {
  const Table::Place p = table_.place(t);
  const auto from = table_.row(p.before), to = table_.row(p.after);
  const std::size_t n = q.size();
  const double T = p.before == p.after ? 0 : table_.times()[p.after] - table_.times()[p.before], s = p.share;
  const bool at_end = std::abs(t - table_.times()[p.before]) <= 1e-9 * (1 + std::abs(t));
  for (std::size_t i = 0; i < n; ++i) {
    if (T == 0) {  // beyond the ends it stays
      q[i] = from[i], v[i] = at_end ? from[n + i] : 0, a[i] = at_end ? from[2 * n + i] : 0;
      continue;
    }
    const double p0 = from[i], v0 = from[n + i] * T, a0 = from[2 * n + i] * T * T;
    const double d = to[i] - p0 - v0 - a0 / 2, e = to[n + i] * T - v0 - a0, f = to[2 * n + i] * T * T - a0;
    const double c3 = 10 * d - 4 * e + f / 2, c4 = -15 * d + 7 * e - f, c5 = 6 * d - 3 * e + f / 2;
    q[i] = p0 + s * (v0 + s * (a0 / 2 + s * (c3 + s * (c4 + s * c5))));
    v[i] = (v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / T;
    a[i] = (a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / (T * T);
  }
}
void Reference::at(double t, Out<double> q, Out<double> v, Out<double> a) const {
  if (table_.columns() != model_.nq()) return smooth_at(t, q, v, a);
  const Table::Place p = table_.place(t);
  const auto from = table_.row(p.before), to = table_.row(p.after);
  std::fill(a.begin(), a.end(), 0.0);
  if (p.before == p.after) {
    std::copy(from.begin(), from.end(), q.begin());
    std::fill(v.begin(), v.end(), 0.0);
    return;
  }
  interpolate(model_, from, to, p.share, q);
  difference(model_, from, to, v);
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
      a_(model.nv()),
      e_(model.nv()),
      g_(model.nv()),
      motor_(motors(model)) {}
void PdControl::add_forces(double t, In<double> q, In<double> v, Out<double> tau) {
  reference_.at(t, q_, v_, a_);
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
      e_(model.nv()),
      tau_(model.nv()),
      motor_(motors(model)) {}
void ComputedTorque::add_forces(double t, In<double> q, In<double> v, Out<double> tau) {
  reference_.at(t, q_, v_, a_);
  difference(work_.model(), q, q_, e_);
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] += gains_.kp[i] * e_[i] + gains_.kd[i] * (v_[i] - v[i]);
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
