#include "articula/simulation/forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace {

/// One number for each velocity, finite and not negative.
void check_each(const Model& model, const char* what, const std::vector<double>& x) {
  if (x.size() != std::size_t(model.nv()))
    throw ArgumentError(
        fmt::format("{}: {} numbers, model '{}' needs nv = {}", what, x.size(), model.name(), model.nv()));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || x[i] < 0)
      throw ArgumentError(fmt::format("{}: number {} is {}, expected at least 0", what, i, x[i]));
}

}  // namespace

JointSprings::JointSprings(const Model& model, std::vector<double> stiffness, std::vector<double> rest)
    : model_(model), stiffness_(std::move(stiffness)), rest_(std::move(rest)), turn_(model.nv()) {
  check_each(model, "JointSprings: stiffness", stiffness_);
  if (rest_.size() != std::size_t(model.nq()))
    throw ArgumentError(fmt::format("JointSprings: rest has {} numbers, model '{}' needs nq = {}",
                                    rest_.size(), model.name(), model.nq()));
  normalise(model_, rest_);
  for (const Joint& joint : model.joints()) {
    const double* const k = stiffness_.data() + joint.v_index;
    if (joint.mimics >= 0 || std::all_of(k, k + joint.nv, [](double x) { return x == 0; })) continue;
    const Chart chart = chart_of(joint.kind);
    const bool several = chart == Chart::motion || chart == Chart::plane;
    if (several || (chart == Chart::rotation && (k[0] != k[1] || k[1] != k[2])))
      throw ArgumentError(
          fmt::format("JointSprings: joint '{}' is {}; springs act on joints whose coordinates "
                      "add, and on spherical ones with three equal numbers",
                      joint.name, name_of(joint.kind)));
  }
}
void JointSprings::add_forces(double, In<double> q, In<double>, Out<double> tau) {
  difference(model_, rest_, q, turn_);
  for (std::size_t i = 0; i < turn_.size(); ++i) tau[i] -= stiffness_[i] * turn_[i];
}
double JointSprings::energy(In<double> q) {
  difference(model_, rest_, q, turn_);
  double sum = 0;
  for (std::size_t i = 0; i < turn_.size(); ++i) sum += stiffness_[i] * turn_[i] * turn_[i] / 2;
  return sum;
}

JointDampers::JointDampers(const Model& model, std::vector<double> damping) : damping_(std::move(damping)) {
  check_each(model, "JointDampers: damping", damping_);
}
JointDampers::JointDampers(const Model& model) : damping_(model.nv()) {
  for (const Joint& joint : model.joints()) {
    const int nv = joint.mimics >= 0 ? 1 : joint.nv;
    for (int i = 0; i < nv; ++i)
      damping_[joint.v_index + i] +=
          joint.damping[i] * (joint.mimics >= 0 ? joint.multiplier * joint.multiplier : 1);
  }
}
void JointDampers::add_forces(double, In<double>, In<double> v, Out<double> tau) {
  for (std::size_t i = 0; i < damping_.size(); ++i) tau[i] -= damping_[i] * v[i];
}
bool JointDampers::any() const {
  return std::any_of(damping_.begin(), damping_.end(), [](double d) { return d != 0; });
}

DryFriction::DryFriction(const Model& model, std::vector<double> friction, double slip) : slip_(slip) {
  check_each(model, "DryFriction: friction", friction);
  if (!(slip > 0)) throw ArgumentError(fmt::format("DryFriction: slip is {}, expected more than 0", slip));
  for (int i = 0; i < model.nv(); ++i)
    if (friction[i] != 0) entries_.push_back({i, 1, friction[i]});
}
DryFriction::DryFriction(const Model& model, double slip)
    : DryFriction(model, std::vector<double>(model.nv()), slip) {
  for (const Joint& joint : model.joints()) {
    const bool mimic = joint.mimics >= 0;
    for (int i = 0; i < (mimic ? 1 : joint.nv); ++i)
      if (joint.friction[i] != 0)
        entries_.push_back({joint.v_index + i, mimic ? joint.multiplier : 1, joint.friction[i]});
  }
}
void DryFriction::add_forces(double, In<double>, In<double> v, Out<double> tau) {
  for (const Entry& e : entries_)
    tau[e.v] -= e.multiplier * e.friction * std::tanh(e.multiplier * v[e.v] / slip_);
}

std::vector<JointStop> joint_stops(const Model& model) {
  std::vector<JointStop> out;
  for (int j = 0; j < int(model.joints().size()); ++j) {
    const Joint& joint = model.joints()[j];
    if (joint.nq != 1 || joint.nv != 1 || joint.mimics >= 0) continue;
    if (std::isfinite(joint.limits.upper[0]))
      out.push_back({j, joint.q_index, joint.v_index, joint.limits.upper[0], 1});
    if (std::isfinite(joint.limits.lower[0]))
      out.push_back({j, joint.q_index, joint.v_index, joint.limits.lower[0], -1});
  }
  return out;
}

StiffStops::StiffStops(const Model& model, double stiffness, double loss)
    : stops_(joint_stops(model)), stiffness_(stiffness), loss_(loss) {
  if (!(stiffness > 0) || !(loss >= 0))
    throw ArgumentError(
        fmt::format("StiffStops: stiffness {} and loss {}; expected positive numbers", stiffness, loss));
}
void StiffStops::add_forces(double, In<double> q, In<double> v, Out<double> tau) {
  for (const JointStop& s : stops_) {
    const double depth = s.side * (q[s.q] - s.bound);
    if (depth > 0) tau[s.v] -= s.side * std::max(0.0, stiffness_ * depth * (1 + loss_ * s.side * v[s.v]));
  }
}
double StiffStops::energy(In<double> q) {
  double sum = 0;
  for (const JointStop& s : stops_) {
    const double depth = s.side * (q[s.q] - s.bound);
    if (depth > 0) sum += stiffness_ * depth * depth / 2;
  }
  return sum;
}

TabulatedForces::TabulatedForces(const Model& model, Table table)
    : table_(std::move(table)), now_(model.nv()) {
  if (table_.columns() != model.nv())
    throw ArgumentError(fmt::format("TabulatedForces: the table has {} columns, model '{}' needs nv = {}",
                                    table_.columns(), model.name(), model.nv()));
}
void TabulatedForces::add_forces(double t, In<double>, In<double>, Out<double> tau) {
  table_.at(t, now_);
  for (std::size_t i = 0; i < now_.size(); ++i) tau[i] += now_[i];
}

TabulatedWrench::TabulatedWrench(const Model& model, std::string_view frame, Table table)
    : table_(std::move(table)), frame_(model.frame(frame)) {
  if (table_.columns() != 6)
    throw ArgumentError(fmt::format("TabulatedWrench: the table has {} columns, expected 6 (moment, force)",
                                    table_.columns()));
  body_ = model.frames()[frame_].body;
  body_frame_ = body_ < 0 ? -1 : model.frame(model.bodies()[body_].name);
}
void TabulatedWrench::add_wrenches(double t, const Kinematics<>& at, std::span<Spatial<double>> wrenches) {
  if (body_ < 0) return;  // on the world
  double x[6];
  table_.at(t, x);
  const Vec3<double> arm = at.pose(frame_).position - at.pose(body_frame_).position;
  const Spatial<double> f{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  wrenches[body_] += Spatial<double>{f.w + cross(arm, f.v), f.v};
}

}  // namespace articula
