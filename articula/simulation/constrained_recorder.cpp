#include "articula/simulation/constrained_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace articula {

ConstrainedRecorder::ConstrainedRecorder(ConstrainedSimulator& simulator)
    : simulator_(simulator), kinematics_(simulator.model()), a_(simulator.model().nv()) {
  const Model& model = simulator.model();
  const auto append = [&](const std::vector<Column>& more) {
    columns_.insert(columns_.end(), more.begin(), more.end());
  };
  append({{"time", "s"}});
  append(coordinate_columns(model));
  append(velocity_columns(model));
  for (const char* name : {"kinetic_energy", "potential_energy", "total_energy", "energy_change"})
    append({{name, "J"}});
  // What is left after projection, and the most that it had to correct since the last row.
  append({{"constraint_drift", "m"}, {"velocity_drift", "m/s"}, {"drift_corrected", "m"}});
  const auto& constraints = simulator.dynamics().constraints();
  for (const Constraint& c : constraints)
    for (int r = 0; r < c.rows(); ++r) append({{fmt::format("force:{}.{}", c.name, r), "N"}});
  // One-sided contacts: whether they neither pull nor slip, which a simulation has to keep verifying (JPL88 Appendix A).
  for (const Constraint& c : constraints)
    if (c.limits) append({{"holds:" + c.name, "1"}});
  append(velocity_columns(model, "tau", true));
  if (simulator.integrator() == Integrator::rk45) append({{"next_step", "s"}});
}

void ConstrainedRecorder::check(const char* function, std::size_t size) const {
  if (size != columns_.size())
    throw ArgumentError(fmt::format("{}: {} numbers for {} columns", function, size, columns_.size()));
}

void ConstrainedRecorder::row(std::span<double> out) {
  check("ConstrainedRecorder::row", out.size());
  ConstrainedSimulator& s = simulator_;
  ConstrainedDynamics& work = s.dynamics();
  const ConstraintDrift drift = work.drift(s.q, s.v);
  s.acceleration(a_);  // and with it the constraints' forces
  kinematics_.update(s.q, s.v);
  const auto t = kinematics_.totals();
  const double energy = t.kinetic + t.potential;
  if (!started_) first_energy_ = energy, started_ = true;
  double* next = out.data();
  const auto put = [&](double x) { *next++ = x; };
  put(s.time);
  for (const double x : s.q) put(x);
  for (const double x : s.v) put(x);
  put(t.kinetic), put(t.potential), put(energy), put(energy - first_energy_);
  put(drift.position), put(drift.velocity), put(s.drift_corrected());
  for (const double x : work.multipliers()) put(x);
  for (std::size_t i = 0; i < work.constraints().size(); ++i)
    if (work.constraints()[i].limits) put(work.contact_state(static_cast<int>(i)).holds() ? 1 : 0);
  s.joint_forces({next, s.v.size()});
  next += s.v.size();
  if (s.integrator() == Integrator::rk45) put(s.next_step());
}

void ConstrainedRecorder::restore(std::span<const double> first, std::span<const double> row) {
  check("ConstrainedRecorder::restore", first.size()), check("ConstrainedRecorder::restore", row.size());
  ConstrainedSimulator& s = simulator_;
  const std::size_t nq = s.q.size(), nv = s.v.size();
  s.time = row[0];
  std::copy_n(row.begin() + 1, nq, s.q.begin());
  std::copy_n(row.begin() + 1 + static_cast<long>(nq), nv, s.v.begin());
  first_energy_ = first[1 + nq + nv + 2], started_ = true;
  s.drift_corrected();
  if (s.integrator() == Integrator::rk45) s.set_next_step(row.back());
}

}  // namespace articula
