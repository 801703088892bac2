// A bar on stderr for work that turns out to take long; nothing if stderr is not a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace articula::cli {

class Progress {
 public:
  /// No total: a number without a bar.
  Progress(std::string what, std::size_t total);
  ~Progress();
  void at(std::size_t done);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::size_t total_;
  bool terminal_, shown_ = false;
  Clock::time_point next_;
};

}  // namespace articula::cli
