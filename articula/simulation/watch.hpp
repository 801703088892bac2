// What looks on while a motion is made: whether someone wants it to end, and whether it makes headway.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <utility>

#include "articula/error.hpp"

namespace articula {

/// Someone asked for the motion to end (Watch::stop). The state is that before the step.
struct StoppedError : Error {
  StoppedError() : Error("stopped") {}
};

/// Looks at every evaluation of a system's acceleration; that costs about a nanosecond.
class Watch {
 public:
  /// The flag of a signal handler or another thread; borrowed. Once it is set, the next evaluation throws
  /// StoppedError.
  const std::atomic<bool>* stop = nullptr;
  /// The time that the whole run is to reach, where that is later than the end of one advance().
  double horizon = -std::numeric_limits<double>::infinity();
  /// Told now and then: at which time the motion is, after how many evaluations, and how many it needs from there to
  /// the horizon at its present pace.
  std::function<void(double t, double evaluations, double more)> told;

  /// Integrators that choose their steps: these are what can shrink until nothing moves.
  static constexpr double slowest_pace = 1e-8,
                          most_evaluations = 1e8;  // seconds an evaluation; to the horizon

  void begin(double t, double end, bool chooses_steps) {
    end_ = std::max(end, horizon);
    chooses_steps_ = chooses_steps;
    if (t < last_) last_ = none, in_window_ = 0;  // set back
  }
  /// True: it makes no headway. A step's evaluations are at and beyond its beginning, also those of steps that are
  /// rejected: the lowest time of a window of evaluations is where the motion was when the window began.
  bool look(double t) {
    if (stop && stop->load(std::memory_order_relaxed)) throw StoppedError();
    lowest_ = std::min(lowest_, t);
    return ++in_window_ == window && examine();
  }
  double more() const { return more_; }

 private:
  static constexpr long window = 1 << 15;
  static constexpr double none = -std::numeric_limits<double>::infinity(), beyond = -none;
  bool examine() {
    const double now = std::exchange(lowest_, beyond), made = now - std::exchange(last_, now);
    evaluations_ += double(window), in_window_ = 0;
    more_ = made > 0 ? (end_ - now) / made * double(window) : beyond;
    if (told) told(now, evaluations_, more_);
    return chooses_steps_ && made < slowest_pace * double(window) && more_ > most_evaluations;
  }

  double last_ = none, lowest_ = beyond;  // where this window and the one before began
  double end_ = 0, more_ = 0, evaluations_ = 0;
  long in_window_ = 0;
  bool chooses_steps_ = false;
};

}  // namespace articula
