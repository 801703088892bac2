// Best-of-many timing. This and other machines are shared and noisy: the shortest batch is what the code
// costs.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace articula::bench {

inline std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

inline double seconds_of(const std::function<void(long)>& run, long calls) {
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
/// How many calls take about that long.
inline long calls_in(const std::function<void(long)>& run, double seconds) {
  long calls = 1;
  double once = seconds_of(run, 1);
  while (once < seconds / 4 && calls < (1L << 30)) once = seconds_of(run, calls *= 2);
  return std::max(1L, static_cast<long>(static_cast<double>(calls) * seconds / std::max(once, 1e-9)));
}

/// Nanoseconds per call of f(i), i counting up; batches of about batch_seconds, the shortest of `batches`.
template <class F>
double best_ns(F&& f, double batch_seconds = 1e-3, int batches = 200) {
  const std::function<void(long)> run = [&](long calls) {
    for (long i = 0; i < calls; ++i) f(i);
  };
  const long calls = calls_in(run, batch_seconds);
  double best = seconds_of(run, calls);
  for (int b = 1; b < batches; ++b) best = std::min(best, seconds_of(run, calls));
  return best / static_cast<double>(calls) * 1e9;
}

/// Of this thread alone: what else runs on its core does not count.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds: of a batch, and of all batches of one contender. Times are those of the thread, or for calls that
/// use several threads, of the clock on the wall.
struct Effort {
  double batch = 5e-4, total = 0.12;
  bool by_wall = false;
  double ns(const std::function<void(long)>& run) const;
};

/// Nanoseconds per call of each, by turns, so that what else the machine does falls on all alike.
inline std::vector<double> race(const std::vector<std::function<void(long)>>& runs, const Effort& effort) {
  std::vector<long> calls;
  std::vector<double> spent(runs.size()), best(runs.size(), 1e300);
  for (const auto& run : runs) calls.push_back(calls_in(run, effort.batch));
  for (bool going = true; going;) {
    going = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (spent[i] >= effort.total) continue;
      const double start = processor_seconds(), wall = seconds_of(runs[i], calls[i]);
      const double seconds = effort.by_wall ? wall : processor_seconds() - start;
      spent[i] += wall;
      best[i] = std::min(best[i], seconds / static_cast<double>(calls[i]) * 1e9);
      going = true;
    }
  }
  return best;
}
inline double Effort::ns(const std::function<void(long)>& run) const { return race({run}, *this)[0]; }

}  // namespace articula::bench
