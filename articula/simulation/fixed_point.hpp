// The stopping rule of the implicit integrators' iterations; internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace articula {

/// Watches x <- f(x): it ends at rounding, or fails.
class FixedPoint {
 public:
  static constexpr int most = 200;

  /// Replaces x by next. True: go on.
  bool go_on(double* x, const double* next, std::size_t n) {
    double change = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      change = std::max(change, std::abs(next[i] - x[i]));
      size = std::max(size, std::abs(next[i]));
      if (!(std::abs(next[i]) < std::numeric_limits<double>::infinity())) return failed_ = true, false;
      x[i] = next[i];
    }
    ++count_;
    // It runs away: before what is evaluated loses its meaning (a mass matrix at angles of 1e17).
    if (count_ == 1) first_ = std::max(change, size);
    if (change > 1e6 * first_) return failed_ = true, false;
    constexpr double ulp = std::numeric_limits<double>::epsilon();
    if (change <= ulp / 2 * size) return false;
    // It converges like a geometric series: the next change would be lost in rounding.
    if (count_ > 1 && change < last_ / 8 && change * (change / last_) <= ulp / 8 * size) return false;
    // No longer shrinking: rounding, if it is small already.
    if (change >= last_ * 0.9 && change < 1e3 * ulp * size) return false;
    last_ = change;
    if (count_ < most) return true;
    failed_ = change > 1e-9 * size;
    return false;
  }
  bool failed() const { return failed_; }
  int count() const { return count_; }

 private:
  double last_ = std::numeric_limits<double>::infinity(), first_ = 0;
  int count_ = 0;
  bool failed_ = false;
};

/// Iterates equations (midpoint.hpp, variational.hpp) from the unknown that is in them.
template <class Equations, class Moved>
FixedPoint find_fixed_point(Equations& equations, const Moved& system, double t, double h,
                            std::span<const double> q, std::span<const double> v) {
  FixedPoint iteration;
  do equations.evaluate(system, t, h, q, v);
  while (iteration.go_on(equations.unknown().data(), equations.next().data(), v.size()));
  return iteration;
}

}  // namespace articula
