// Dormand and Prince's pair of orders 5 and 4 on the manifold, with error control, dense output and events.
//
// The chart q (+) u is centred anew at each step, and the pair integrates (u, v) in it: the continuous
// extension (Hairer, Norsett, Wanner I, II.6) is then one of the configuration too.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "articula/simulation/system.hpp"

namespace articula {

struct Tolerances {
  double relative = 1e-8, absolute = 1e-8;
};

class DormandPrince {
 public:
  /// Throws ArgumentError for tolerances that are not positive.
  explicit DormandPrince(const Manifold& manifold, const Tolerances& tolerances = {});

  /// One accepted step from t towards `end`, and no further; returns the time reached. Nothing is allocated.
  /// Throws IntegrationError where no step is short enough, or numbers are not finite; the state is then as
  /// before. Slopes are kept from step to step: call restart() if the system itself has changed (a held
  /// torque, say).
  double step(const System<double>& system, double t, double end, Out<double> q, Out<double> v);
  void restart() { fresh_ = false; }
  /// Steps from t to `end` exactly. Begins with restart().
  void advance(const System<double>& system, double t, double end, Out<double> q, Out<double> v);

  /// The state at a time within the last step, of the fourth order.
  void at(double t, Out<double> q, Out<double> v) const;
  double step_begin() const { return t0_; }
  double step_end() const { return t1_; }

  /// The step that the error control would take next; may be set (0: found anew). After advance() it is all
  /// that the integrator remembers.
  double next_step() const { return h_; }
  void set_next_step(double h) { h_ = h; }
  double largest_step = std::numeric_limits<double>::infinity();

  long steps() const { return steps_; }
  long rejected() const { return rejected_; }
  long evaluations() const { return evaluations_; }

 private:
  void slope(const System<double>& system, double t, int stage, const double* u, const double* x);
  double first_step(const System<double>& system, double t, double end, In<double> v);
  double attempt(const System<double>& system, double t, double h, In<double> v);
  void accept(const System<double>& system, double h, Out<double> q, Out<double> v);
  double error_of(const double* x0, const double* x1) const;
  double* k(int stage) { return memory_.data() + 2 * nv_ * stage; }  // (u', x')
  const double* k(int stage) const { return memory_.data() + 2 * nv_ * stage; }

  Tolerances tolerances_;
  const std::size_t nv_, nq_;
  std::vector<double> memory_;             // slopes of seven stages
  std::vector<double> q0_, q1_, x1_, v1_;  // begin and end of the last step; v1: joint velocities at the end
  std::vector<double> u_, x_, q_, error_, scale_;
  std::vector<double> dense_[5];        // of (u, x)
  const Manifold* manifold_ = nullptr;  // of the last step
  double t0_ = 0, t1_ = 0, h_ = 0, last_error_ = 1e-4;
  bool fresh_ = false;
  long steps_ = 0, rejected_ = 0, evaluations_ = 0;
};

/// Something to be found in time: a function of the state that passes zero.
struct Event {
  FunctionRef<double(double t, In<double> q, In<double> v)> function;
  int direction = 0;  // +1: only from below, -1: only from above
};
struct FoundEvent {
  int index;    // in the list
  double time;  // just behind the zero, within `precision` of it
};
/// The first passage within the integrator's last step, found on its dense output to `precision` seconds; q
/// and v take the state there. Functions are looked at in `samples` places of the step: two passages closer
/// than that may be missed.
std::optional<FoundEvent> find_event(const DormandPrince& integrator, std::span<const Event> events,
                                     Out<double> q, Out<double> v, double precision = 1e-12, int samples = 8);

}  // namespace articula
