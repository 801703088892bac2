// Running `articula simulate`.
#pragma once

#ifdef ARTICULA_PROGRAM

#include <signal.h>

#include <chrono>
#include <thread>

#include "articula/simulation/recording.hpp"
#include "tests/support/command_line.hpp"

namespace articula::testing {

/// articula simulate, as users script it.
class SimulateCommand : public CommandLine {
 protected:
  std::string line(const Words& words) const {
    std::string out = quoted(ARTICULA_PROGRAM) + " simulate";
    for (const auto& word : words) out += " " + quoted(word);
    return out;
  }
  Ran run(const Words& words) const { return shell(line(words)); }
  Recording recording(const Words& words) const {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return read_recording(write(".recording", ran.out), FileFormat::csv);
  }
  /// Fails with this exit code, and one line on stderr that has these words.
  void refuses(const Words& words, const std::string& expected, int code = 2) const {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << "'" << ran.err << "' has no '" << expected << "'";
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  /// Starts it; the process goes on.
  pid_t start(const Words& words) const {
    const pid_t child = fork();
    if (child == 0) {
      std::vector<std::string> all{ARTICULA_PROGRAM, "simulate"};
      all.insert(all.end(), words.begin(), words.end());
      std::vector<char*> argv;
      for (auto& word : all) argv.push_back(word.data());
      argv.push_back(nullptr);
      if (!freopen("/dev/null", "w", stderr)) _exit(126);
      heed_signals();
      execv(ARTICULA_PROGRAM, argv.data());
      _exit(127);
    }
    return child;
  }
  /// Starts it and comes back when the file has some rows.
  pid_t start(const Words& words, const std::string& watched) const {
    const pid_t child = start(words);
    std::error_code ignored;
    for (int i = 0; i < 2000; ++i) {
      if (fs::exists(watched, ignored) && fs::file_size(watched, ignored) > 20000) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return child;
  }
  /// Its exit code, or minus the signal that ended it. A process that does not end within a minute is killed.
  static int wait_for(pid_t child) {
    int status = 0;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
      if (i == 60'000) kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

const Words pendulum{"double_pendulum", "--duration", "1", "--step", "0.01"};
inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Goes on until it is stopped.
const Words endless{"arm7", "--duration", "100000", "--step", "0.001", "--every", "0.01"};

}  // namespace articula::testing

#endif
