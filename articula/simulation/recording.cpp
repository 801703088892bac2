#include "articula/simulation/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/joint_kinds.hpp"

namespace articula {

int Recording::find(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return int(i);
  return -1;
}
std::vector<double> Recording::values(int column) const {
  std::vector<double> out(size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = numbers[i * columns.size() + std::size_t(column)];
  return out;
}
std::vector<int> Recording::starting_with(std::string_view prefix) const {
  std::vector<int> out;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name.starts_with(prefix)) out.push_back(int(i));
  return out;
}

namespace {

std::string column_name(std::string_view prefix, const Joint& joint, int i, int count) {
  return count == 1 ? fmt::format("{}:{}", prefix, joint.name)
                    : fmt::format("{}:{}.{}", prefix, joint.name, i);
}

}  // namespace

std::vector<Column> coordinate_columns(const Model& model) {
  std::vector<Column> out;
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    for (int i = 0; i < joint.nq; ++i) {
      const std::string_view unit = coordinate_unit(joint.kind, i);
      out.push_back({column_name("q", joint, i, joint.nq), std::string(unit.empty() ? "1" : unit)});
    }
  }
  return out;
}
std::vector<Column> velocity_columns(const Model& model, std::string_view prefix, bool forces) {
  std::vector<Column> out;
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    for (int i = 0; i < joint.nv; ++i) {
      const bool turns = is_angular(joint.kind, i);
      out.push_back({column_name(prefix, joint, i, joint.nv),
                     forces ? (turns ? "N m" : "N") : (turns ? "rad/s" : "m/s")});
    }
  }
  return out;
}

Recorder::Recorder(Simulator& simulator) : simulator_(simulator) {
  const Model& model = simulator.model();
  const auto append = [&](const std::vector<Column>& more) {
    columns_.insert(columns_.end(), more.begin(), more.end());
  };
  append({{"time", "s"}});
  append(coordinate_columns(model));
  append(velocity_columns(model));
  for (const char* name :
       {"kinetic_energy", "potential_energy", "total_energy", "energy_change", "stored_energy"})
    columns_.push_back({name, "J"});
  const ConstrainedDynamics* const closed = simulator.closed();
  append({{"power", "W"}, {"constraint_drift", closed ? "m" : "1"}});
  // What is left after projection, and the most that it had to correct since the last row.
  if (closed) append({{"velocity_drift", "m/s"}, {"drift_corrected", "m"}});
  for (const char* axis : {"x", "y", "z"})
    columns_.push_back({fmt::format("angular_momentum.{}", axis), "kg m^2/s"});
  for (const char* axis : {"x", "y", "z"})
    columns_.push_back({fmt::format("linear_momentum.{}", axis), "kg m/s"});
  for (const char* axis : {"x", "y", "z"}) columns_.push_back({fmt::format("center_of_mass.{}", axis), "m"});
  if (closed) {
    for (const Constraint& c : closed->constraints())
      for (int r = 0; r < c.rows(); ++r) append({{fmt::format("force:{}.{}", c.name, r), "N"}});
    // One-sided contacts: whether they neither pull nor slip, which a simulation has to keep verifying (JPL88 Appendix A).
    for (const Constraint& c : closed->constraints())
      if (c.limits) append({{"holds:" + c.name, "1"}});
    a_.resize(model.nv());
  }
  append(velocity_columns(model, "tau", true));
  if (simulator.integrator() == Integrator::rk45) append({{"next_step", "s"}});
  for (std::size_t k = 0; k < simulator.sampled().size(); ++k) {
    append({{fmt::format("sample.{}", k), "1"}});
    append(velocity_columns(model, fmt::format("held.{}", k), true));
  }
}

/// The constraints' forces, and whether contacts hold, of the state at which the simulator is.
void Recorder::put_constraints(double*& next) {
  ConstrainedDynamics& work = *simulator_.closed();
  simulator_.acceleration(a_);
  for (const double x : work.multipliers()) *next++ = x;
  for (std::size_t i = 0; i < work.constraints().size(); ++i)
    if (work.constraints()[i].limits) *next++ = work.contact_state(int(i)).holds() ? 1 : 0;
}

void Recorder::row(std::span<double> out) {
  if (out.size() != columns_.size())
    throw ArgumentError(fmt::format("Recorder::row: {} numbers for {} columns", out.size(), columns_.size()));
  Simulator& s = simulator_;
  const auto t = s.totals();
  const double energy = t.kinetic + t.potential;
  if (!started_) first_energy_ = energy, started_ = true;
  double* o = out.data();
  const auto put = [&](double x) { *o++ = x; };
  put(s.time);
  for (const double x : s.q) put(x);
  for (const double x : s.v) put(x);
  put(t.kinetic), put(t.potential), put(energy), put(energy - first_energy_), put(s.stored_energy());
  put(s.power());
  if (s.closed()) {
    const ConstraintDrift drift = s.closed()->drift(s.q, s.v);
    put(drift.position), put(drift.velocity), put(s.drift_corrected());
  } else {
    put(s.constraint_drift());
  }
  for (const Vec3<double>& x : {t.momentum.w, t.momentum.v, t.center_of_mass}) put(x.x), put(x.y), put(x.z);
  if (s.closed()) put_constraints(o);
  s.joint_forces({o, s.v.size()});
  o += s.v.size();
  if (s.integrator() == Integrator::rk45) put(s.next_step());
  for (const auto& sampled : s.sampled()) {
    put(double(sampled.index));
    for (const double x : sampled.held) put(x);
  }
}

void Recorder::restore(std::span<const double> first, std::span<const double> row) {
  if (first.size() != columns_.size() || row.size() != columns_.size())
    throw ArgumentError(
        fmt::format("Recorder::restore: {} numbers for {} columns", row.size(), columns_.size()));
  Simulator& s = simulator_;
  const std::size_t nq = s.q.size(), nv = s.v.size();
  const auto energy_at = [&](std::span<const double> r) { return r[1 + nq + nv + 2]; };
  s.time = row[0];
  std::copy_n(row.begin() + 1, nq, s.q.begin());
  std::copy_n(row.begin() + 1 + long(nq), nv, s.v.begin());
  first_energy_ = energy_at(first), started_ = true;
  std::size_t at = 1 + nq + nv + 5 + 2 + 9 + nv;
  if (ConstrainedDynamics* const closed = s.closed()) {
    at += 2 + std::size_t(closed->rows());
    for (const Constraint& c : closed->constraints()) at += c.limits ? 1 : 0;
    s.drift_corrected();
  }
  if (s.integrator() == Integrator::rk45) s.set_next_step(row[at++]);
  for (auto& sampled : s.sampled()) {
    sampled.index = std::lround(row[at++]);
    std::copy_n(row.begin() + long(at), nv, sampled.held.begin());
    at += nv;
  }
}

}  // namespace articula
