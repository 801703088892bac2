#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace articula::cli {

using namespace std::chrono_literals;

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO)), next_(Clock::now() + 1s) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(std::size_t done) {
  if (!terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + 100ms;
  shown_ = true;
  constexpr std::size_t width = 40;
  if (total_ == 0) return fmt::print(stderr, "\r{}: {}", what_, done), void(std::fflush(stderr));
  const std::size_t filled = width * done / total_;
  fmt::print(stderr, "\r{} [{:#<{}}{: <{}}] {} of {}", what_, "", filled, "", width - filled, done, total_);
  std::fflush(stderr);
}

}  // namespace articula::cli
