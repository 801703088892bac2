// Best-of-many timing. This and other machines are shared and noisy: the shortest batch is what the code
// costs.
#pragma once

#include <algorithm>
#include <chrono>

namespace articula::bench {

/// Nanoseconds per call of f(i), i counting up; batches of about batch_seconds, the shortest of `batches`.
template <class F>
double best_ns(F&& f, double batch_seconds = 1e-3, int batches = 200) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  const auto batch = [&](long calls) {
    const auto start = Clock::now();
    for (long i = 0; i < calls; ++i) f(i);
    return seconds(start);
  };
  long calls = 1;
  double once = batch(1);
  while (once < batch_seconds / 4 && calls < (1L << 30)) once = batch(calls *= 2);
  calls = std::max(1L, static_cast<long>(calls * batch_seconds / std::max(once, 1e-9)));
  double best = batch(calls);
  for (int b = 1; b < batches; ++b) best = std::min(best, batch(calls));
  return best / calls * 1e9;
}

}  // namespace articula::bench
