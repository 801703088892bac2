#include "articula/simulation/constrained_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"
#include "articula/simulation/no_headway.hpp"

namespace articula {

namespace {

Integrator for_closed_chains(Integrator integrator) {
  if (stepping_of(integrator) == Stepping::explicit_step || integrator == Integrator::rk45) return integrator;
  throw ArgumentError(fmt::format("the integrator {} is not for closed chains; {} and rk45 are",
                                  name_of(integrator), integrator_names(Stepping::explicit_step)));
}

}  // namespace

ConstrainedSimulator::ConstrainedSimulator(ConstrainedDynamics& dynamics, Integrator integrator,
                                           const Tolerances& tolerances)
    : q(neutral(dynamics.model())),
      v(dynamics.model().nv()),
      tau(dynamics.model().nv()),
      dynamics_(dynamics),
      manifold_(dynamics.model()),
      method_(for_closed_chains(integrator), dynamics.model(), tolerances),
      forces_(dynamics.model().nv()),
      q_before_(dynamics.model().nq()),
      v_before_(dynamics.model().nv()) {}

void ConstrainedSimulator::check_sizes() const {
  const auto check = [&](const char* name, In<double> x, int expected) {
    if (x.size() != std::size_t(expected))
      throw ArgumentError(fmt::format("ConstrainedSimulator: {} has {} numbers, model '{}' needs {}", name,
                                      x.size(), model().name(), expected));
    for (const double number : x)
      if (!std::isfinite(number))
        throw ArgumentError(fmt::format("ConstrainedSimulator: {} has {}", name, number));
  };
  check("q", q, model().nq()), check("v", v, model().nv()), check("tau", tau, model().nv());
}

void ConstrainedSimulator::forces_at(double t, In<double> at, In<double> rate) {
  std::copy(tau.begin(), tau.end(), forces_.begin());
  for (ForceElement* element : elements_) element->add_forces(t, at, rate, forces_);
}

void ConstrainedSimulator::look(double t, In<double> rate) {
  if (watch.look(t)) throw no_headway(model(), integrator(), t, watch.more(), forces_, rate);
}

void ConstrainedSimulator::project(Out<double> at, Out<double> rate) {
  const Projection p = dynamics_.project(at, rate);
  corrected_ = std::max(corrected_, p.before.position);
  if (!p.converged)
    throw IntegrationError(fmt::format(
        "constraint '{}' cannot be held: it is off by {:.3g} after projection; try a smaller step",
        dynamics_.constraints()[std::max(0, p.after.worst_position)].name, p.after.position));
}

void ConstrainedSimulator::advance(double end) {
  check_sizes();
  if (!(end >= time) || !std::isfinite(end))
    throw ArgumentError(fmt::format("ConstrainedSimulator::advance: from t = {} to {}", time, end));
  q_before_ = q, v_before_ = v;
  watch.begin(time, end, is_adaptive(integrator()));
  auto motion = [this](double t, In<double> at, In<double> rate, Out<double> a) {
    forces_at(t, at, rate);
    dynamics_.acceleration(at, rate, forces_, a);
    look(t, rate);
  };
  auto back = [this](double, Out<double> at, Out<double> rate) { project(at, rate); };
  try {
    if (end > time) method_.advance({manifold_, motion, {}, back}, time, end, q, v);
    for (const double x : v)
      if (!std::isfinite(x))
        throw IntegrationError(fmt::format("the motion is not finite at t = {} s; try a smaller step", end));
  } catch (...) {
    std::copy(q_before_.begin(), q_before_.end(), q.begin());
    std::copy(v_before_.begin(), v_before_.end(), v.begin());
    throw;
  }
  time = end;
}

double ConstrainedSimulator::next_step() const {
  return method_.adaptive_pair() ? method_.adaptive_pair()->next_step() : 0;
}
void ConstrainedSimulator::set_next_step(double h) {
  if (method_.adaptive_pair()) method_.adaptive_pair()->set_next_step(h);
}

void ConstrainedSimulator::joint_forces(Out<double> forces) {
  check_sizes();
  forces_at(time, q, v);
  std::copy(forces_.begin(), forces_.end(), forces.begin());
}
void ConstrainedSimulator::acceleration(Out<double> a) {
  check_sizes();
  forces_at(time, q, v);
  dynamics_.acceleration(q, v, forces_, a);
}
double ConstrainedSimulator::drift_corrected() { return std::exchange(corrected_, 0.0); }

}  // namespace articula
