// The times of a run with fixed steps.
#pragma once

#include <algorithm>
#include <cmath>

namespace articula {

/// The times to which a run advances; the last one is `duration`.
struct Grid {
  double step, duration;
  long steps() const { return std::max(1L, std::lround(std::ceil(duration / step - 1e-9))); }
  double time(long k) const { return k >= steps() ? duration : double(k) * step; }
};

}  // namespace articula
