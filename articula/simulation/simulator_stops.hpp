// Joint limits as events of a Simulator; internal.
#pragma once

#include "articula/simulation/simulator.hpp"

namespace articula {

/// A stop that carries (`resting`) holds its joint still: a_i = 0 by a force along the joint, X lambda with X = M^-1 e_i,
/// which may push but not pull.
struct Simulator::Stops {
  Stops(Simulator& simulator, double restitution_of, double slow_below);

  /// a + X lambda with a = 0 at every resting stop: lambda by Cholesky of the small matrix. A joint with both stops
  /// resting does not occur.
  void hold(In<double> q, Out<double> a);
  /// Before a segment: ArgumentError for a joint beyond its limit, impacts of those that run against theirs.
  void begin(double t);
  /// Impacts of all joints that run against the stop that they are at: one can drive another.
  void hit_all(double t);
  /// Which of the joints that are at a stop, and still, rest on it: those that are pushed against it. A small
  /// complementarity problem, by letting go the one that is pulled most and taking back one that would pass.
  void settle(double t);
  /// Whether a joint is beyond its stop, which no event has told.
  bool any_passed() const;

  /// Distance to the bound; of a resting stop none, for it is there.
  struct Gap {
    Stops* stops = nullptr;
    std::size_t i = 0;
    double operator()(double, In<double> q, In<double>) const;
  };
  /// How hard a resting stop pushes.
  struct Push {
    Stops* stops = nullptr;
    std::size_t i = 0;
    double operator()(double t, In<double> q, In<double> v) const;
  };

  Simulator& owner;
  const int nv;
  const std::vector<JointStop> all;
  std::vector<char> resting, near;
  MassFactor<double> factor;
  std::vector<double> X, unit, lambda, L, push_a, change, q_start, v_start, q_event, v_event;
  std::vector<std::size_t> index;
  const double restitution, slow;
  std::vector<Gap> gaps;
  std::vector<Push> pushes;
  std::vector<Event> events;  // of stop i: 2 i its gap, 2 i + 1 its push

 private:
  double gap(std::size_t i) const { return all[i].side * (all[i].bound - owner.q[all[i].q]); }
  bool any_resting() const;
  void response(std::size_t i);
  void bounce(std::size_t i, In<double> q, Out<double> v);
};

}  // namespace articula
