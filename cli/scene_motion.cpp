#include "cli/scene_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {
using Method = std::variant<ExplicitEuler<>, SymplecticEuler<>, RungeKutta4<>, DormandPrince>;
Method method_of(Integrator integrator, const Manifold& manifold, const Tolerances& tolerances) {
  switch (integrator) {
    case Integrator::euler:
      return ExplicitEuler<>(manifold);
    case Integrator::symplectic_euler:
      return SymplecticEuler<>(manifold);
    case Integrator::rk4:
      return RungeKutta4<>(manifold);
    case Integrator::rk45:
      return DormandPrince(manifold, tolerances);
    default:
      throw InputError(
          fmt::format("--integrator {} is not for scenes; euler, symplectic_euler, rk4 and rk45 are",
                      name_of(integrator)));
  }
}
}  // namespace

SceneMotion::SceneMotion(Scene& scene, Integrator integrator, const Tolerances& tolerances,
                         std::optional<Table> torque)
    : scene_(scene),
      integrator_(integrator),
      manifold_(scene.model()),
      method_(method_of(integrator, manifold_, tolerances)),
      torque_(std::move(torque)),
      kinematics_(scene.model()),
      tau_(scene.tau),
      a_(scene.model().nv()) {
  const Model& model = scene.model();
  columns_.push_back({"time", "s"});
  for (auto& c : coordinate_columns(model)) columns_.push_back(c);
  for (auto& c : velocity_columns(model)) columns_.push_back(c);
  for (const char* name : {"kinetic_energy", "potential_energy", "total_energy", "energy_change"})
    columns_.push_back({name, "J"});
  // What is left after projection, and the most that it had to correct since the last row.
  columns_.push_back({"constraint_drift", "m"});
  columns_.push_back({"velocity_drift", "m/s"});
  columns_.push_back({"drift_corrected", "m"});
  for (const Constraint& c : scene.constraints())
    for (int r = 0; r < c.rows(); ++r) columns_.push_back({fmt::format("force:{}.{}", c.name, r), "N"});
  // One-sided contacts: whether they neither pull nor slip, which a simulation has to keep verifying (JPL88
  // Appendix A).
  for (const Constraint& c : scene.constraints())
    if (c.limits) columns_.push_back({"holds:" + c.name, "1"});
  for (auto& c : velocity_columns(model, "tau", true)) columns_.push_back(c);
}

void SceneMotion::forces_at(double t) {
  if (torque_) torque_->at(t, tau_);
}

void SceneMotion::advance(double end) {
  const auto acceleration = [this](double t, In<double> q, In<double> v, Out<double> a) {
    forces_at(t);
    scene_.dynamics().acceleration(q, v, tau_, a);
    if (watch_.look(t))
      throw IntegrationError(fmt::format("{} makes no headway at t = {} s", name_of(integrator_), t));
  };
  watch_.begin(time_, end, is_adaptive(integrator_));
  const auto project = [this](double, Out<double> q, Out<double> v) {
    const Projection p = scene_.dynamics().project(q, v);
    corrected_ = std::max(corrected_, p.before.position);
    if (!p.converged)
      throw IntegrationError(fmt::format(
          "constraint '{}' cannot be held: it is off by {:.3g} after projection; try a smaller step",
          scene_.constraints()[std::max(0, p.after.worst_position)].name, p.after.position));
  };
  const System<double> system{manifold_, acceleration, {}, project};
  std::visit(
      [&](auto& method) {
        if constexpr (requires { method.advance(system, time_, end, scene_.q, scene_.v); })
          method.advance(system, time_, end, scene_.q, scene_.v);
        else
          method.step(system, time_, end - time_, scene_.q, scene_.v);
      },
      method_);
  time_ = end;
  for (const double x : scene_.v)
    if (!std::isfinite(x))
      throw IntegrationError(fmt::format("the motion is not finite at t = {} s; try a smaller step", end));
}

void SceneMotion::row(std::span<double> out) {
  forces_at(time_);
  ConstrainedDynamics& work = scene_.dynamics();
  const ConstraintDrift drift = work.drift(scene_.q, scene_.v);
  work.acceleration(scene_.q, scene_.v, tau_, a_);
  kinematics_.update(scene_.q, scene_.v);
  const auto t = kinematics_.totals();
  const double energy = t.kinetic + t.potential;
  if (!started_) first_energy_ = energy;
  started_ = true;
  double* next = out.data();
  *next++ = time_;
  next = std::copy(scene_.q.begin(), scene_.q.end(), next);
  next = std::copy(scene_.v.begin(), scene_.v.end(), next);
  for (const double x :
       {t.kinetic, t.potential, energy, energy - first_energy_, drift.position, drift.velocity, corrected_})
    *next++ = x;
  corrected_ = 0;
  next = std::copy(work.multipliers().begin(), work.multipliers().end(), next);
  for (std::size_t i = 0; i < work.constraints().size(); ++i) {
    const Constraint& c = work.constraints()[i];
    if (!c.limits) continue;
    const ContactState state = work.contact_state(static_cast<int>(i));
    *next++ = state.holds() ? 1 : 0;
    if (state.holds() || warned_) continue;
    warned_ = true;  // once: the column has the rest
    say("warning: at t = {} s contact '{}' would have to {}; the motion goes on as if it held", time_, c.name,
        state.pulls ? "pull" : "slip");
  }
  std::copy(tau_.begin(), tau_.end(), next);
}

void SceneMotion::restore(std::span<const double> first, std::span<const double> row) {
  const std::size_t nq = scene_.q.size(), nv = scene_.v.size();
  time_ = row[0];
  std::copy_n(row.begin() + 1, nq, scene_.q.begin());
  std::copy_n(row.begin() + 1 + static_cast<long>(nq), nv, scene_.v.begin());
  first_energy_ = first[1 + nq + nv + 2];
  started_ = true;
}

std::vector<std::pair<std::string, std::string>> SceneMotion::about() const {
  return {{"scene", scene_.spec().where}, {"integrator", std::string(name_of(integrator_))}};
}

}  // namespace articula::cli
