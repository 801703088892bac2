// Joint limits as events of a Simulator; internal.
#pragma once

#include <optional>

#include "articula/simulation/simulator.hpp"

namespace articula {

/// A stop that carries (`resting`) holds its joint still: a_i = 0 by a force along the joint, X lambda with X = M^-1 e_i,
/// which may push but not pull. In a closed chain it is one more constraint, so that the loops answer an impact and a
/// step ends on both.
struct Simulator::Stops {
  Stops(Simulator& simulator, double restitution_of, double slow_below);

  /// a + X lambda with a = 0 at every resting stop: lambda by Cholesky of the small matrix. A joint with both stops
  /// resting does not occur.
  void hold(In<double> q, Out<double> a);
  /// Of closed chains: the mechanism with its resting stops as constraints; how hard those of its last acceleration push,
  /// into `lambda` and onto joint forces; the resting joints exactly at their bounds, and still.
  ConstrainedDynamics& closed_now();
  void take_pushes(Out<double> forces);
  void pin(Out<double> q, Out<double> v) const;
  /// The state at an event, which is between those of two steps, back on the constraints: with stop `hit` at its bound if
  /// there is one.
  void close(double t, std::optional<std::size_t> hit);
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
  std::optional<ConstrainedDynamics> held;  // the loops, then a constraint for each stop
  std::vector<double> rates;                // of its rows
  std::vector<Gap> gaps;
  std::vector<Push> pushes;
  std::vector<Event> events;  // of stop i: 2 i its gap, 2 i + 1 its push

 private:
  void mirror();
  std::size_t row(std::size_t i) const;
  double gap(std::size_t i) const { return all[i].side * (all[i].bound - owner.q[all[i].q]); }
  bool any_resting() const;
  void response(std::size_t i);
  void bounce(std::size_t i, In<double> q, Out<double> v);
};

}  // namespace articula
