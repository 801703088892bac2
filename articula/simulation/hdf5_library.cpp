#include "articula/simulation/hdf5_library.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "articula/simulation/recording_arrays.hpp"

namespace articula::recording_files {

namespace {

/// A gigabyte more than now, a minute, no core file, no words; and its end with ours.
void bound_this_process() {
  if (const int none = open("/dev/null", O_WRONLY); none >= 0) dup2(none, STDERR_FILENO);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) signal(s, SIG_DFL);
  const auto lower = [](int what, rlim_t to) {
    rlimit r{};
    getrlimit(what, &r);
    r.rlim_cur = r.rlim_max == RLIM_INFINITY ? to : std::min(to, r.rlim_max);
    setrlimit(what, &r);
  };
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_CPU, 60);
  if (pages) lower(RLIMIT_AS, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 30));
}

/// What the process said, up to its end.
std::string listen(int fd) {
  std::string text;
  char some[4096];
  for (ssize_t n; (n = read(fd, some, sizeof some)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.append(some, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

std::string in_another_process(const std::function<void(std::ostream& say)>& work) {
  int said[2];
  if (pipe(said) != 0) return {};
  const pid_t process = fork();
  if (process == 0) {
    try {
      bound_this_process();
      std::ostringstream say;
      work(say);
      _exit(write_all(said[1], say.str()) ? 0 : 1);
    } catch (...) {  // nothing of ours goes on here
      _exit(1);
    }
  }
  close(said[1]);
  std::string text = process > 0 ? listen(said[0]) : std::string();
  close(said[0]);
  while (process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace articula::recording_files
