#include "articula/simulation/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/model/configuration.hpp"
#include "articula/simulation/no_headway.hpp"
#include "articula/simulation/simulator_stops.hpp"

namespace articula {

namespace {

bool all_finite(In<double> x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
}
IntegrationError no_longer_finite(double t) {
  return IntegrationError(fmt::format("the motion is no longer finite at t = {}: take a shorter step", t));
}

}  // namespace

Simulator::Simulator(const Model& model, Integrator integrator, const Tolerances& tolerances, MotionForm form)
    : Simulator(model, nullptr, integrator, tolerances, form) {}
Simulator::Simulator(ConstrainedDynamics& closed, Integrator integrator, const Tolerances& tolerances)
    : Simulator(closed.model(), &closed, integrator, tolerances) {}

Simulator::Simulator(const Model& model, ConstrainedDynamics* closed, Integrator integrator,
                     const Tolerances& tolerances, MotionForm form)
    : q(neutral(model)),
      v(model.nv()),
      tau(model.nv()),
      model_(model),
      manifold_(model),
      forward_(model),
      kinematics_(model),
      method_(integrator, model, tolerances),
      forces_(model.nv()),
      scratch_(model.nv()),
      q_before_(model.nq()),
      v_before_(model.nv()),
      wrenches_now_(model.body_count()),
      closed_(closed) {
  impacts_.reserve(16);
  if (form != MotionForm::rates) {
    if (closed) throw ArgumentError("Simulator: nu and xi are velocities of open chains");
    if (integrator == Integrator::variational)
      throw ArgumentError("Simulator: the variational integrator moves momenta, not nu or xi");
    form_.emplace(model, form);
    x_.resize(model.nv()), rate_.resize(model.nv());
  }
  if (integrator != Integrator::variational) return;
  inverse_.emplace(model);
  if (!closed) return;
  for (const Constraint& c : closed->constraints())
    if (!c.is_of_position())
      throw ArgumentError(fmt::format(
          "the variational integrator is for constraints of position; '{}' holds a velocity", c.name));
  rows_.resize(closed->rows());
  kick_.resize(model.nv()), q_start_.resize(model.nq()), v_start_.resize(model.nv());
}
Simulator::~Simulator() = default;

void Simulator::add(WrenchElement& element) { wrench_elements_.push_back(&element); }

void Simulator::add_sampled(ForceElement& element, double period) {
  if (!(period > 0) || !std::isfinite(period))
    throw ArgumentError(fmt::format("Simulator::add_sampled: period is {} s, expected more than 0", period));
  sampled_.push_back({&element, period, -1, std::vector<double>(model_.nv())});
}

void Simulator::check_sizes() const {
  const auto check = [&](const char* name, std::size_t size, std::size_t expected) {
    if (size != expected)
      throw ArgumentError(fmt::format("Simulator: {} has {} numbers, model '{}' needs {}", name, size,
                                      model_.name(), expected));
  };
  check("q", q.size(), model_.nq()), check("v", v.size(), model_.nv()), check("tau", tau.size(), model_.nv());
  if (!wrenches.empty()) check("wrenches", wrenches.size(), model_.body_count());
  if (!std::isfinite(time)) throw ArgumentError(fmt::format("Simulator: time is {}", time));
  for (std::size_t i = 0; i < v.size(); ++i)
    if (!std::isfinite(v[i]))
      throw ArgumentError(
          fmt::format("Simulator: v of joint '{}' is {}", joint_of_velocity(model_, int(i)), v[i]));
  for (const double x : q)
    if (!std::isfinite(x)) throw ArgumentError(fmt::format("Simulator: q has {}", x));
}

void Simulator::forces_at(double t, In<double> at, In<double> rate, Out<double> out) {
  std::copy(tau.begin(), tau.end(), out.begin());
  for (ForceElement* element : elements_) element->add_forces(t, at, rate, out);
  for (const Sampled& s : sampled_)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += s.held[i];
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!std::isfinite(out[i]))
      throw ArgumentError(fmt::format("Simulator: the force at joint '{}' is {} at t = {}",
                                      joint_of_velocity(model_, int(i)), out[i], t));
}

Wrenches<double> Simulator::wrenches_at(double t, In<double> at, In<double> rate) {
  if (wrench_elements_.empty()) return wrenches;
  kinematics_.update(at, rate);
  std::fill(wrenches_now_.begin(), wrenches_now_.end(), Spatial<double>{{0, 0, 0}, {0, 0, 0}});
  std::copy(wrenches.begin(), wrenches.end(), wrenches_now_.begin());
  for (WrenchElement* element : wrench_elements_) element->add_wrenches(t, kinematics_, wrenches_now_);
  return wrenches_now_;
}

void Simulator::acceleration_at(double t, In<double> at, In<double> rate, Out<double> a) {
  forces_at(t, at, rate, forces_);
  try {
    if (closed_) {
      const auto f = wrenches_at(t, at, rate);
      ConstrainedDynamics& now = stops_ ? stops_->closed_now() : *closed_;
      now.acceleration(at, rate, forces_, a, f);
      if (&now != closed_) {  // the same again, for the loops' own multipliers
        stops_->take_pushes(forces_);
        closed_->acceleration(at, rate, forces_, a, f);
      }
    } else {
      forward_dynamics(forward_, at, rate, forces_, a, wrenches_at(t, at, rate));
    }
  } catch (const Error&) {
    // A motion that runs away within a step makes the mass matrix infinite: no joint is to blame.
    if (!all_finite(at) || !all_finite(rate)) throw no_longer_finite(std::isfinite(t) ? t : time);
    throw;
  }
  if (stops_) stops_->hold(at, a);
}

/// Wrenches as joint forces: bias forces at rest with them are g - J* f.
void Simulator::generalized_forces_at(double t, In<double> at, In<double> rate, Out<double> out) {
  forces_at(t, at, rate, out);
  const auto f = wrenches_at(t, at, rate);
  if (f.empty()) return;
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  bias_forces(*inverse_, at, scratch_, forces_, f);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= forces_[i];
  gravity_forces(*inverse_, at, forces_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += forces_[i];
}

/// Asks the sampled elements that are due; `next` becomes the time of the next sample before `end`.
void Simulator::sample(double end, double& next) {
  next = end;
  for (Sampled& s : sampled_) {
    if (s.held.size() != v.size())
      throw ArgumentError("Simulator: a sampled element's forces have another size");
    const long index = std::lround(std::floor(time / s.period + 1e-9));
    if (s.index != index) {
      std::fill(s.held.begin(), s.held.end(), 0.0);
      s.element->add_forces(time, q, v, s.held);
      s.index = index;
    }
    const double due = double(index + 1) * s.period;
    if (due < next - 1e-9 * s.period) next = due;
  }
}

void Simulator::advance(double end) {
  check_sizes();
  if (!(end >= time) || !std::isfinite(end))
    throw ArgumentError(fmt::format("Simulator::advance: from t = {} to {}", time, end));
  impacts_.clear();
  q_before_ = q, v_before_ = v;
  const double time_before = time;
  watch.begin(time, end, is_adaptive(integrator()));
  try {
    while (time < end) {
      double next = end;
      sample(end, next);
      segment(next);
      if (!all_finite(q) || !all_finite(v)) throw no_longer_finite(time);
    }
  } catch (...) {
    std::copy(q_before_.begin(), q_before_.end(), q.begin());
    std::copy(v_before_.begin(), v_before_.end(), v.begin());
    time = time_before;
    throw;
  }
}

/// After an evaluation: forces_ are those at t.
void Simulator::look(double t, In<double> rate) {
  if (watch.look(t)) throw no_headway(model_, integrator(), t, watch.more(), forces_, rate);
}

/// The same motion with nu or xi in the place of v.
void Simulator::segment_in_form(double end) {
  auto slope = [this](double t, In<double> at, In<double> x, Out<double> x_dot) {
    form_->to_rates(at, x, rate_);
    forces_at(t, at, rate_, forces_);
    form_->slope(at, x, forces_, x_dot, wrenches_at(t, at, rate_));
    look(t, rate_);
  };
  auto rates = [this](double, In<double> at, In<double> x, Out<double> out) { form_->to_rates(at, x, out); };
  form_->from_rates(q, v, x_);
  method_.advance({manifold_, slope, rates}, time, end, q, x_);
  form_->to_rates(q, x_, v);
  time = end;
}

void Simulator::segment(double end) {
  if (form_) return segment_in_form(end);
  auto motion = [this](double t, In<double> at, In<double> rate, Out<double> a) {
    acceleration_at(t, at, rate, a);
    look(t, rate);
  };
  auto forces = [this](double t, In<double> at, In<double> rate, Out<double> out) {
    generalized_forces_at(t, at, rate, out);
    look(t, rate);
  };
  auto back = [this](double t, Out<double> at, Out<double> rate) { project(t, at, rate); };
  System<double> system{manifold_, motion, {}, {}, forces};
  if (closed_) system.project = back;
  if (stops_)
    segment_with_stops(system, end);
  else if (closed_ && integrator() == Integrator::variational)
    held_step(system, end);
  else
    method_.advance(system, time, end, q, v);
  time = end;
}

namespace {
IntegrationError cannot_be_held(const ConstrainedDynamics& closed, const ConstraintDrift& off) {
  return IntegrationError(
      fmt::format("constraint '{}' cannot be held: it is off by {:.3g} after projection; try a smaller step",
                  closed.constraints()[std::max(0, off.worst_position)].name, off.position));
}
}  // namespace

void Simulator::project(double t, Out<double> at, Out<double> rate) {
  if (!all_finite(at) || !all_finite(rate)) throw no_longer_finite(t);
  ConstrainedDynamics& now = stops_ ? stops_->closed_now() : *closed_;
  const Projection p = now.project(at, rate);
  corrected_ = std::max(corrected_, p.before.position);
  if (!p.converged) throw cannot_be_held(now, p.after);
  if (stops_) stops_->pin(at, rate);
}

/// RATTLE with the variational rule inside: momenta are pushed by J(q0)* lambda before the open chain's step, with the
/// lambda that lets it end on the constraints, and by J(q1)* mu after it, so that velocities fit them. Both pushes and
/// the step are symplectic.
void Simulator::held_step(const System<double>& system, double end) {
  const double h = end - time;
  std::copy(q.begin(), q.end(), q_start_.begin());
  std::copy(v.begin(), v.end(), v_start_.begin());
  // Half a step of the constraints' forces here, to begin with.
  acceleration_at(time, q, v, kick_);
  forward_dynamics(forward_, q, v, forces_, scratch_, wrenches_at(time, q, v));
  for (std::size_t i = 0; i < v.size(); ++i) kick_[i] = h / 2 * (kick_[i] - scratch_[i]);
  const double wanted = closed_->options().position_tolerance;
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0;; ++round) {
    std::copy(q_start_.begin(), q_start_.end(), q.begin());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = v_start_[i] + kick_[i];
    method_.advance(system, time, end, q, v);
    if (!all_finite(q) || !all_finite(v)) throw no_longer_finite(end);
    const ConstraintDrift off = closed_->drift(q, v);
    if (round == 0) corrected_ = std::max(corrected_, off.position);
    // Rounding keeps large mechanisms from the tolerance, as in ConstrainedDynamics::project.
    if (off.position <= wanted || (off.position >= last / 2 && off.position < 1e4 * wanted)) break;
    if (round == 50 || !std::isfinite(off.position)) throw cannot_be_held(*closed_, off);
    last = off.position;
    closed_->position_errors(q, rows_);
    for (double& x : rows_) x /= h;
    closed_->velocity_change(q_start_, rows_, scratch_);
    for (std::size_t i = 0; i < v.size(); ++i) kick_[i] -= scratch_[i];
  }
  closed_->impulse(q, v, v);
}

double Simulator::next_step() const {
  return method_.adaptive_pair() ? method_.adaptive_pair()->next_step() : 0;
}
void Simulator::set_next_step(double h) {
  if (method_.adaptive_pair()) method_.adaptive_pair()->set_next_step(h);
}

void Simulator::joint_forces(Out<double> forces) {
  check_sizes();
  forces_at(time, q, v, forces);
}
void Simulator::acceleration(Out<double> a) {
  check_sizes();
  acceleration_at(time, q, v, a);
}
Totals<double> Simulator::totals() {
  check_sizes();
  kinematics_.update(q, v);
  return kinematics_.totals();
}
double Simulator::stored_energy() {
  double sum = 0;
  for (ForceElement* element : elements_) sum += element->energy(q);
  return sum;
}
double Simulator::power() {
  check_sizes();
  std::copy(tau.begin(), tau.end(), forces_.begin());
  double sum = 0;
  for (ForceElement* element : elements_) element->add_forces(time, q, v, forces_);
  for (const Sampled& s : sampled_)
    for (std::size_t i = 0; i < v.size(); ++i) forces_[i] += s.held[i];
  for (std::size_t i = 0; i < v.size(); ++i) sum += forces_[i] * v[i];
  const auto f = wrenches_at(time, q, v);
  if (!f.empty()) {
    // J* f by forward dynamics would need M; bias forces at rest are g - J* f.
    if (!inverse_) inverse_.emplace(model_);
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    bias_forces(*inverse_, q, scratch_, forces_, f);
    for (std::size_t i = 0; i < v.size(); ++i) sum -= forces_[i] * v[i];
    gravity_forces(*inverse_, q, forces_);
    for (std::size_t i = 0; i < v.size(); ++i) sum += forces_[i] * v[i];
  }
  return sum;
}
double Simulator::constraint_drift() const {
  double worst = 0;
  for (const Joint& joint : model_.joints()) {
    if (joint.mimics >= 0 || (joint.kind != JointKind::spherical && joint.kind != JointKind::free)) continue;
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += q[joint.q_index + i] * q[joint.q_index + i];
    worst = std::max(worst, std::abs(std::sqrt(sum) - 1));
  }
  return worst;
}

}  // namespace articula
