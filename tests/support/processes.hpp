// Jobs that several processes share.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>
#include <vector>

namespace articula::testing {

/// Runs jobs, each of which returns how many failures it had, taken one after the other by whoever is free. Returns
/// whether any failed.
inline bool run_in_processes(int processes, const std::vector<std::function<int()>>& jobs) {
  auto* const next = new (mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::size_t>(0);
  const auto work = [&] {
    int failures = 0;
    for (std::size_t i; (i = (*next)++) < jobs.size();) failures += jobs[i]();
    return failures;
  };
  std::vector<pid_t> children;
  for (int p = 1; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) _exit(work() ? 1 : 0);
    children.push_back(child);
  }
  bool failed = work() > 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed = failed || status != 0;
  }
  return failed;
}

}  // namespace articula::testing
