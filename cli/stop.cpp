#include "cli/stop.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

// What handlers read: plain memory and lock-free atomics, nothing else is allowed them.
char doomed_file[4096];
char words[1024];
std::atomic<bool> asked{false};
std::atomic<int> by{static_cast<int>(AskedBy::nobody)};
std::atomic<long> microseconds_when_asked{0};
std::atomic<int> rounds{0};
bool watching = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<long>::is_always_lock_free);

// A run that is asked to stop is looked at this often. It is ended when it has worked so long since, or, where it
// waits for something (a pipe that nobody reads), after so many looks.
constexpr long look_every = 20'000, work_allowed = 55'000;
constexpr int most_looks = 30;

long microseconds_of_work() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

void set_timer(double first, long then) {
  const double whole = std::floor(first);
  const itimerval when{{0, then},
                       {static_cast<time_t>(whole), static_cast<suseconds_t>((first - whole) * 1e6)}};
  setitimer(ITIMER_REAL, &when, nullptr);
}

extern "C" void ask_or_end(int signal) {
  const int saved = errno;
  if (!asked.load()) {
    by = static_cast<int>(signal == SIGALRM ? AskedBy::time_limit : AskedBy::signal);
    microseconds_when_asked = microseconds_of_work();
    asked = true;
    set_timer(look_every * 1e-6, look_every);
  } else if (signal == SIGALRM && (++rounds >= most_looks ||
                                   microseconds_of_work() - microseconds_when_asked.load() > work_allowed)) {
    if (doomed_file[0]) unlink(doomed_file);
    (void)!write(STDERR_FILENO, words, std::strlen(words));
    _exit(impossible);
  }
  errno = saved;
}

extern "C" void remove_and_end(int signal) {
  if (doomed_file[0]) unlink(doomed_file);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

/// Without SA_RESTART: a write that waits ends, and its caller looks.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;  // as nohup wants it
  action = {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

void remember(char* where, std::size_t room, const std::string& text) {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(where, text.data(), size);
  where[size] = 0;
}

}  // namespace

void watch_signals(const std::string& last_words) {
  remember(words, sizeof words, last_words);
  watching = true;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, ask_or_end);
  handle(SIGALRM, ask_or_end);
}

void limit_time(double seconds, const std::string& last_words) {
  remember(words, sizeof words, last_words);
  handle(SIGALRM, ask_or_end);
  set_timer(std::max(seconds, 1e-6), 0);
}

AskedBy asked_by() { return static_cast<AskedBy>(by.load()); }
const std::atomic<bool>& stop_flag() { return asked; }

void doom(const std::string& path) {
  doomed_file[0] = 0;
  if (path.size() < sizeof doomed_file) remember(doomed_file, sizeof doomed_file, path);
}
void remove_unfinished() {
  if (doomed_file[0]) unlink(doomed_file);
}
void remove_on_signals(const std::string& path) {
  doom(path);
  if (watching) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, remove_and_end);
}

}  // namespace articula::cli
