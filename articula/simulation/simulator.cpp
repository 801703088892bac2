#include "articula/simulation/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"

namespace articula {

namespace {

std::string joint_of_velocity(const Model& model, int i) {
  for (const Joint& joint : model.joints())
    if (joint.mimics < 0 && i >= joint.v_index && i < joint.v_index + joint.nv) return joint.name;
  return "?";
}

bool all_finite(In<double> x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
}
IntegrationError no_longer_finite(double t) {
  return IntegrationError(fmt::format("the motion is no longer finite at t = {}: take a shorter step", t));
}

}  // namespace

/// Joint limits as events. A stop that carries (`resting`) holds its joint still: a_i = 0 by a force along
/// the joint, X lambda with X = M^-1 e_i, which may push but not pull.
struct Simulator::Stops {
  Stops(const Model& model, double e, double s)
      : all(joint_stops(model)),
        resting(all.size()),
        near(all.size()),
        factor(model),
        X(all.size() * model.nv()),
        unit(model.nv()),
        lambda(all.size()),
        L(all.size() * all.size()),
        restitution(e),
        slow(s),
        gaps(all.size()),
        pushes(all.size()),
        nv(model.nv()) {
    events.resize(2 * all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      gaps[i] = {this, i}, pushes[i] = {this, i};
      events[2 * i] = {gaps[i], -1}, events[2 * i + 1] = {pushes[i], -1};
    }
  }
  /// Distance to the bound; of a resting stop none, for it is there.
  struct Gap {
    Stops* stops = nullptr;
    std::size_t i = 0;
    double operator()(double, In<double> q, In<double>) const {
      const JointStop& s = stops->all[i];
      return stops->resting[i] ? 1 : s.side * (s.bound - q[s.q]);
    }
  };
  /// How hard a resting stop pushes.
  struct Push {
    Stops* stops = nullptr;
    std::size_t i = 0;
    double operator()(double t, In<double> q, In<double> v) const {
      if (!stops->resting[i]) return 1;
      stops->owner->acceleration_at(t, q, v, stops->push_a);
      return stops->lambda[i];
    }
  };
  bool any_resting() const { return std::find(resting.begin(), resting.end(), 1) != resting.end(); }

  void response(std::size_t i) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[all[i].v] = -all[i].side;  // the push that the stop can give
    factor.solve(unit, {X.data() + i * nv, std::size_t(nv)});
  }
  /// a + X lambda with a = 0 at every resting stop: lambda by Cholesky of the small matrix. A joint with both
  /// stops resting does not occur.
  void hold(In<double> q, Out<double> a) {
    if (!any_resting()) return;
    factor.factor(q);
    const std::size_t m = all.size();
    index.clear();
    for (std::size_t i = 0; i < m; ++i) {
      lambda[i] = 0;
      if (resting[i]) index.push_back(i), response(i);
    }
    const std::size_t n = index.size();
    const auto row = [&](std::size_t i, const double* x) { return -all[index[i]].side * x[all[index[i]].v]; };
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = row(i, X.data() + index[j] * nv);
        for (std::size_t k = 0; k < j; ++k) sum -= L[i * m + k] * L[j * m + k];
        L[i * m + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / L[j * m + j];
      }
      double y = -row(i, a.data());
      for (std::size_t k = 0; k < i; ++k) y -= L[i * m + k] * lambda[index[k]];
      lambda[index[i]] = y / L[i * m + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) lambda[index[i]] -= L[k * m + i] * lambda[index[k]];
      lambda[index[i]] /= L[i * m + i];
    }
    for (std::size_t i = 0; i < n; ++i)
      for (int k = 0; k < nv; ++k) a[k] += lambda[index[i]] * X[index[i] * nv + k];
    for (const std::size_t i : index) a[all[i].v] = 0;  // but for rounding it is
  }
  /// The velocity after an impact at stop i: the push that turns its joint back, resting joints at rest.
  void bounce(std::size_t i, In<double> q, Out<double> v) {
    const JointStop& s = all[i];
    const double before = s.side * v[s.v];
    factor.factor(q);
    resting[i] = 1;
    // As accelerations: resting joints keep their velocity (zero), joint i gets the wanted change.
    const double speed_after = before * restitution < slow ? 0 : before * restitution;
    const double wanted = -s.side * (before + speed_after);
    std::fill(change.begin(), change.end(), 0.0);
    change[s.v] = -wanted;  // hold() cancels it and adds the response
    const double kept = change[s.v];
    hold(q, change);
    change[s.v] -= kept;
    for (int k = 0; k < nv; ++k) v[k] += change[k];
    for (std::size_t k = 0; k < all.size(); ++k)
      if (resting[k]) v[all[k].v] = 0;
    v[s.v] = -s.side * speed_after;
    if (speed_after > 0) resting[i] = 0;
  }

  std::vector<JointStop> all;
  std::vector<char> resting, near;
  MassFactor<double> factor;
  std::vector<double> X, unit, lambda, L, push_a, change, q_start, v_start, q_event, v_event;
  std::vector<std::size_t> index;
  double restitution, slow;
  std::vector<Gap> gaps;
  std::vector<Push> pushes;
  std::vector<Event> events;
  Simulator* owner = nullptr;
  int nv;
};

Simulator::Simulator(const Model& model, Integrator integrator, const Tolerances& tolerances)
    : q(neutral(model)),
      v(model.nv()),
      tau(model.nv()),
      model_(model),
      integrator_(integrator),
      manifold_(model),
      forward_(model),
      kinematics_(model),
      forces_(model.nv()),
      scratch_(model.nv()),
      q_before_(model.nq()),
      v_before_(model.nv()),
      wrenches_now_(model.body_count()) {
  impacts_.reserve(16);
  switch (integrator) {
    case Integrator::euler:
      method_.emplace<ExplicitEuler<>>(manifold_);
      break;
    case Integrator::symplectic_euler:
      method_.emplace<SymplecticEuler<>>(manifold_);
      break;
    case Integrator::rk4:
      method_.emplace<RungeKutta4<>>(manifold_);
      break;
    case Integrator::rk45:
      method_.emplace<DormandPrince>(manifold_, tolerances);
      break;
    case Integrator::variational:
      method_.emplace<Variational>(model);
      inverse_.emplace(model);
      break;
    case Integrator::midpoint:
      method_.emplace<ImplicitMidpoint>(manifold_);
      break;
    case Integrator::cvode:
      method_.emplace<Cvode>(manifold_, tolerances);
  }
}
Simulator::~Simulator() = default;

void Simulator::add(WrenchElement& element) { wrench_elements_.push_back(&element); }

void Simulator::add_sampled(ForceElement& element, double period) {
  if (!(period > 0) || !std::isfinite(period))
    throw ArgumentError(fmt::format("Simulator::add_sampled: period is {} s, expected more than 0", period));
  sampled_.push_back({&element, period, -1, std::vector<double>(model_.nv())});
}

void Simulator::stop_at_limits(double restitution, double slow) {
  if (integrator_ != Integrator::rk45)
    throw ArgumentError(fmt::format(
        "Simulator::stop_at_limits: the {} integrator does not locate events; take rk45, or StiffStops",
        name_of(integrator_)));
  if (!(restitution >= 0 && restitution <= 1) || !(slow >= 0))
    throw ArgumentError(
        fmt::format("Simulator::stop_at_limits: restitution {}, expected 0 to 1", restitution));
  stops_ = std::make_unique<Stops>(model_, restitution, slow);
  stops_->owner = this;
  for (auto* x : {&stops_->push_a, &stops_->change, &stops_->v_start, &stops_->v_event})
    x->resize(model_.nv());
  for (auto* x : {&stops_->q_start, &stops_->q_event}) x->resize(model_.nq());
  stops_->index.reserve(stops_->all.size());
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
    forward_dynamics(forward_, at, rate, forces_, a, wrenches_at(t, at, rate));
  } catch (const Error&) {
    // A motion that runs away within a step makes the mass matrix infinite: no joint is to blame.
    if (!all_finite(at)) throw no_longer_finite(std::isfinite(t) ? t : time);
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
  watch.begin(time, end, is_adaptive(integrator_));
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
  if (!watch.look(t)) return;
  const auto largest = [](In<double> x) {
    return std::max_element(x.begin(), x.end(),
                            [](double a, double b) { return std::abs(a) < std::abs(b); }) -
           x.begin();
  };
  std::size_t i = std::size_t(largest(forces_));
  if (forces_[i] == 0) i = std::size_t(largest(rate));
  throw IntegrationError(
      fmt::format("{} makes no headway at t = {} s: at this pace it needs {:.1e} more evaluations; the force "
                  "at joint '{}' is {:.3g}, "
                  "its velocity {:.3g} ({}gains, stiffness, damping or references may be too large)",
                  name_of(integrator_), t, watch.more(), joint_of_velocity(model_, int(i)), forces_[i],
                  rate[i], integrator_ == Integrator::cvode ? "" : "cvode is for stiff systems; "));
}

void Simulator::segment(double end) {
  const double h = end - time;
  auto motion = [this](double t, In<double> at, In<double> rate, Out<double> a) {
    acceleration_at(t, at, rate, a);
    look(t, rate);
  };
  const System<double> system{manifold_, motion};
  if (auto* m = std::get_if<ExplicitEuler<>>(&method_)) m->step(system, time, h, q, v);
  if (auto* m = std::get_if<SymplecticEuler<>>(&method_)) m->step(system, time, h, q, v);
  if (auto* m = std::get_if<RungeKutta4<>>(&method_)) m->step(system, time, h, q, v);
  if (auto* m = std::get_if<ImplicitMidpoint>(&method_)) m->step(system, time, h, q, v);
  if (auto* m = std::get_if<Variational>(&method_)) {
    auto forces = [this](double t, In<double> at, In<double> rate, Out<double> out) {
      generalized_forces_at(t, at, rate, out);
      look(t, rate);
    };
    m->step(forces, time, h, q, v);
  }
  if (auto* m = std::get_if<Cvode>(&method_)) m->advance(system, time, end, q, v);
  if (auto* m = std::get_if<DormandPrince>(&method_)) {
    if (stops_)
      adaptive_segment(*m, system, end);
    else
      m->advance(system, time, end, q, v);
  }
  time = end;
}

void Simulator::adaptive_segment(DormandPrince& pair, const System<double>& system, double end) {
  pair.restart();
  Stops& stops = *stops_;
  const auto gap = [&](std::size_t i) {
    return stops.all[i].side * (stops.all[i].bound - q[stops.all[i].q]);
  };
  /// Which of the joints that are at a stop, and still, rest on it: those that are pushed against it. A small
  /// complementarity problem, by letting go the one that is pulled most and taking back one that would pass.
  const auto settle = [&](double t) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < stops.all.size(); ++i) {
      stops.near[i] =
          std::abs(gap(i)) <= 1e-10 * (1 + std::abs(stops.all[i].bound)) && v[stops.all[i].v] == 0;
      stops.resting[i] = stops.near[i];
      at += stops.near[i];
    }
    for (std::size_t round = 0; at > 0 && round < 2 * at + 4; ++round) {
      acceleration_at(t, q, v, stops.push_a);
      std::size_t worst = stops.all.size();
      double by = 0;
      for (std::size_t i = 0; i < stops.all.size(); ++i) {
        if (!stops.near[i]) continue;
        const JointStop& s = stops.all[i];
        const double wrong = stops.resting[i] ? -stops.lambda[i] : s.side * stops.push_a[s.v];
        if (wrong > by) by = wrong, worst = i;
      }
      if (worst == stops.all.size()) break;
      stops.resting[worst] = !stops.resting[worst];
    }
  };
  const auto hit = [&](std::size_t i, double t) {
    const JointStop& s = stops.all[i];
    impacts_.push_back({t, s.joint, s.side * v[s.v]});
    stops.bounce(i, q, v);
  };
  /// An impact can drive another joint against the stop that it is at.
  const auto hit_all = [&](double t) {
    bool again = true;
    for (int round = 0; again && round < 100; ++round) {
      again = false;
      for (std::size_t i = 0; i < stops.all.size(); ++i)
        if (gap(i) <= 1e-11 && stops.all[i].side * v[stops.all[i].v] > 0) again = true, hit(i, t);
    }
  };
  for (std::size_t i = 0; i < stops.all.size(); ++i) {
    const JointStop& s = stops.all[i];
    if (gap(i) < -1e-9 * (1 + std::abs(s.bound)))
      throw ArgumentError(fmt::format("Simulator: joint '{}' is at {}, beyond its limit {}",
                                      model_.joints()[s.joint].name, q[s.q], s.bound));
    if (v[s.v] != 0 || gap(i) > 1e-9) stops.resting[i] = 0;  // moved by the user
  }
  hit_all(time);
  settle(time);
  double t = time;
  int shortened = 0;
  while (t < end) {
    std::copy(q.begin(), q.end(), stops.q_start.begin());
    std::copy(v.begin(), v.end(), stops.v_start.begin());
    const double reached = pair.step(system, t, end, q, v);
    const auto found = find_event(pair, stops.events, stops.q_event, stops.v_event);
    if (!found) {
      // Out and back within one look is seen by where it ends: again, with a shorter step.
      bool missed = false;
      for (std::size_t i = 0; i < stops.all.size(); ++i)
        missed = missed || (!stops.resting[i] && gap(i) < -1e-11);
      if (missed) {
        if (++shortened > 60)
          throw IntegrationError(fmt::format("a joint does not stay within its limits at t = {}", t));
        std::copy(stops.q_start.begin(), stops.q_start.end(), q.begin());
        std::copy(stops.v_start.begin(), stops.v_start.end(), v.begin());
        pair.restart();
        pair.set_next_step((reached - t) / 4);
        continue;
      }
      t = reached;
      shortened = 0;
      continue;
    }
    t = found->time;
    std::copy(stops.q_event.begin(), stops.q_event.end(), q.begin());
    std::copy(stops.v_event.begin(), stops.v_event.end(), v.begin());
    const std::size_t i = found->index / 2;
    if (found->index % 2 == 0) {  // else: drawn back, as settle() finds
      q[stops.all[i].q] = stops.all[i].bound;
      hit_all(t);
    }
    settle(t);
    pair.restart();
  }
}

double Simulator::next_step() const {
  const auto* pair = std::get_if<DormandPrince>(&method_);
  return pair ? pair->next_step() : 0;
}
void Simulator::set_next_step(double h) {
  if (auto* pair = std::get_if<DormandPrince>(&method_)) pair->set_next_step(h);
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
