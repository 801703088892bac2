#include "articula/simulation/simulator_stops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/spatial/numbers.hpp"

namespace articula {

Simulator::Stops::Stops(Simulator& simulator, double restitution_of, double slow_below)
    : owner(simulator),
      nv(simulator.model_.nv()),
      all(joint_stops(simulator.model_)),
      resting(all.size()),
      near(all.size()),
      factor(simulator.model_),
      X(all.size() * std::size_t(nv)),
      unit(nv),
      lambda(all.size()),
      L(all.size() * all.size()),
      push_a(nv),
      change(nv),
      q_start(simulator.model_.nq()),
      v_start(nv),
      q_event(simulator.model_.nq()),
      v_event(nv),
      restitution(restitution_of),
      slow(slow_below),
      gaps(all.size()),
      pushes(all.size()),
      events(2 * all.size()) {
  index.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    gaps[i] = {this, i}, pushes[i] = {this, i};
    events[2 * i] = {gaps[i], -1}, events[2 * i + 1] = {pushes[i], -1};
  }
}

double Simulator::Stops::Gap::operator()(double, In<double> q, In<double>) const {
  const JointStop& s = stops->all[i];
  return stops->resting[i] ? 1 : s.side * (s.bound - q[s.q]);
}
double Simulator::Stops::Push::operator()(double t, In<double> q, In<double> v) const {
  if (!stops->resting[i]) return 1;
  stops->owner.acceleration_at(t, q, v, stops->push_a);
  return stops->lambda[i];
}

bool Simulator::Stops::any_resting() const {
  return std::find(resting.begin(), resting.end(), 1) != resting.end();
}
bool Simulator::Stops::any_passed() const {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!resting[i] && gap(i) < -1e-11) return true;
  return false;
}

// --- closed chains
namespace {

bool same_place(const Attachment& a, const Attachment& b) {
  const auto same = [](const auto& x, const auto& y, int count) {
    return std::equal(numbers_of(x), numbers_of(x) + count, numbers_of(y));
  };
  return a.frame == b.frame && same(a.placement.p, b.placement.p, 3) && same(a.placement.R, b.placement.R, 9);
}

}  // namespace

/// Grasps may have been made, released and driven since the last segment.
void Simulator::Stops::mirror() {
  const ConstrainedDynamics& closed = *owner.closed_;
  const std::size_t loops = closed.constraints().size();
  bool same = held.has_value();
  for (std::size_t i = 0; same && i < loops; ++i)
    same = same_place(held->constraints()[i].a, closed.constraints()[i].a) &&
           same_place(held->constraints()[i].b, closed.constraints()[i].b);
  if (!same) {
    std::vector<Constraint> constraints = closed.constraints();
    for (const JointStop& s : all)
      constraints.push_back(coupler(fmt::format("{} limit of joint '{}'", s.side > 0 ? "upper" : "lower",
                                                owner.model_.joints()[s.joint].name),
                                    {{s.joint, 1}}, s.bound));
    held.emplace(owner.model_, std::move(constraints), closed.options());
    rates.resize(held->rows());
  }
  for (std::size_t i = 0; i < loops; ++i)
    if (held->active(int(i)) != closed.active(int(i))) held->set_active(int(i), closed.active(int(i)));
  std::fill(rates.begin(), rates.end(), 0.0);
  std::copy(closed.targets().begin(), closed.targets().end(), rates.begin());
  held->set_targets(rates);
}
std::size_t Simulator::Stops::row(std::size_t i) const {
  return held->row_of(int(owner.closed_->constraints().size() + i));
}
ConstrainedDynamics& Simulator::Stops::closed_now() {
  if (!any_resting()) return *owner.closed_;
  const int loops = int(owner.closed_->constraints().size());
  for (int i = 0; i < int(all.size()); ++i)
    if (held->active(loops + i) != bool(resting[i])) held->set_active(loops + i, resting[i]);
  return *held;
}
void Simulator::Stops::take_pushes(Out<double> forces) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    lambda[i] = resting[i] ? -all[i].side * held->multipliers()[row(i)] : 0;
    forces[all[i].v] -= all[i].side * lambda[i];
  }
}
void Simulator::Stops::pin(Out<double> q, Out<double> v) const {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (resting[i]) q[all[i].q] = all[i].bound, v[all[i].v] = 0;
}
void Simulator::Stops::close(double t, std::optional<std::size_t> hit) {
  std::copy(owner.v.begin(), owner.v.end(), v_event.begin());
  if (hit) resting[*hit] = 1;
  owner.project(t, owner.q, v_event);
  if (hit) resting[*hit] = 0;
  closed_now().impulse(owner.q, owner.v, owner.v);
  pin(owner.q, owner.v);
}

void Simulator::Stops::response(std::size_t i) {
  std::fill(unit.begin(), unit.end(), 0.0);
  unit[all[i].v] = -all[i].side;  // the push that the stop can give
  factor.solve(unit, {X.data() + i * nv, std::size_t(nv)});
}

void Simulator::Stops::hold(In<double> q, Out<double> a) {
  if (!any_resting()) return;
  if (held) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (resting[i]) a[all[i].v] = 0;  // but for rounding it is
    return;
  }
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
void Simulator::Stops::bounce(std::size_t i, In<double> q, Out<double> v) {
  const JointStop& s = all[i];
  const double before = s.side * v[s.v];
  resting[i] = 1;
  // As accelerations: resting joints keep their velocity (zero), joint i gets the wanted change.
  const double speed_after = before * restitution < slow ? 0 : before * restitution;
  const double wanted = -s.side * (before + speed_after);
  if (held) {
    std::fill(rates.begin(), rates.end(), 0.0);
    rates[row(i)] = wanted;
    closed_now().velocity_change(q, rates, change);
  } else {
    std::fill(change.begin(), change.end(), 0.0);
    change[s.v] = -wanted;  // hold() cancels it and adds the response
    hold(q, change);
    change[s.v] += wanted;
  }
  for (int k = 0; k < nv; ++k) v[k] += change[k];
  for (std::size_t k = 0; k < all.size(); ++k)
    if (resting[k]) v[all[k].v] = 0;
  v[s.v] = -s.side * speed_after;
  if (speed_after > 0) resting[i] = 0;
}

void Simulator::Stops::begin(double t) {
  if (owner.closed_) mirror();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const JointStop& s = all[i];
    if (gap(i) < -1e-9 * (1 + std::abs(s.bound)))
      throw ArgumentError(fmt::format("Simulator: joint '{}' is at {}, beyond its limit {}",
                                      owner.model_.joints()[s.joint].name, owner.q[s.q], s.bound));
    if (owner.v[s.v] != 0 || gap(i) > 1e-9) resting[i] = 0;  // moved by the user
  }
  hit_all(t);
  settle(t);
}

void Simulator::Stops::hit_all(double t) {
  bool again = true;
  for (int round = 0; again && round < 100; ++round) {
    again = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const JointStop& s = all[i];
      const double speed = s.side * owner.v[s.v];
      if (gap(i) > 1e-11 || !(speed > 0)) continue;
      again = true;
      owner.impacts_.push_back({t, s.joint, speed});
      bounce(i, owner.q, owner.v);
    }
  }
}

void Simulator::Stops::settle(double t) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    near[i] = std::abs(gap(i)) <= 1e-10 * (1 + std::abs(all[i].bound)) && owner.v[all[i].v] == 0;
    resting[i] = near[i];
    at += near[i];
  }
  for (std::size_t round = 0; at > 0 && round < 2 * at + 4; ++round) {
    owner.acceleration_at(t, owner.q, owner.v, push_a);
    std::size_t worst = all.size();
    double by = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!near[i]) continue;
      const double wrong = resting[i] ? -lambda[i] : all[i].side * push_a[all[i].v];
      if (wrong > by) by = wrong, worst = i;
    }
    if (worst == all.size()) break;
    resting[worst] = !resting[worst];
  }
}

void Simulator::stop_at_limits(double restitution, double slow) {
  if (!method_.adaptive_pair())
    throw ArgumentError(fmt::format(
        "Simulator::stop_at_limits: the {} integrator does not locate events; take rk45, or StiffStops",
        name_of(integrator())));
  if (form_)
    throw ArgumentError("Simulator::stop_at_limits: not in nu or xi; take the form rates, or StiffStops");
  if (!(restitution >= 0 && restitution <= 1) || !(slow >= 0))
    throw ArgumentError(
        fmt::format("Simulator::stop_at_limits: restitution {}, expected 0 to 1", restitution));
  stops_ = std::make_unique<Stops>(*this, restitution, slow);
}

void Simulator::segment_with_stops(const System<double>& system, double end) {
  DormandPrince& pair = *method_.adaptive_pair();
  Stops& stops = *stops_;
  const auto take = [&](const std::vector<double>& from_q, const std::vector<double>& from_v) {
    std::copy(from_q.begin(), from_q.end(), q.begin());
    std::copy(from_v.begin(), from_v.end(), v.begin());
  };
  pair.restart();
  stops.begin(time);
  double t = time;
  int shortened = 0;
  while (t < end) {
    std::copy(q.begin(), q.end(), stops.q_start.begin());
    std::copy(v.begin(), v.end(), stops.v_start.begin());
    const double reached = pair.step(system, t, end, q, v);
    const auto found = find_event(pair, stops.events, stops.q_event, stops.v_event);
    if (!found && !stops.any_passed()) {
      t = reached, shortened = 0;
      continue;
    }
    if (!found) {  // out and back within one look is seen by where it ends: again, with a shorter step
      if (++shortened > 60)
        throw IntegrationError(fmt::format("a joint does not stay within its limits at t = {}", t));
      take(stops.q_start, stops.v_start);
      pair.restart();
      pair.set_next_step((reached - t) / 4);
      continue;
    }
    t = found->time;
    take(stops.q_event, stops.v_event);
    const std::size_t i = found->index / 2;
    const bool hit = found->index % 2 == 0;  // else: drawn back, as settle() finds
    if (closed_) stops.close(t, hit ? std::optional(i) : std::nullopt);
    if (hit) {
      q[stops.all[i].q] = stops.all[i].bound;
      stops.hit_all(t);
    }
    stops.settle(t);
    pair.restart();
  }
}

}  // namespace articula
