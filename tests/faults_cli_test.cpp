// Every call of the system that a command makes fails once (tests/faults/faults.cpp): the result is whole, or absent
// with an error, and the next run makes it.
#include <gtest/gtest.h>

#if defined(ARTICULA_PROGRAM) && defined(ARTICULA_FAULTS)

#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

class Faults : public CommandLine {
 protected:
  /// Runs a command in which the n-th call of a kind fails.
  Ran with_fault(const std::string& command, const std::string& kind, long n) const {
    return shell("LD_PRELOAD='" ARTICULA_FAULTS "' ARTICULA_FAULT=" + kind + ":" + std::to_string(n) +
                 " '" ARTICULA_PROGRAM "' " + command);
  }
  /// How often a command makes each call.
  std::map<std::string, long> calls_of(const std::string& command) const {
    shell("LD_PRELOAD='" ARTICULA_FAULTS "' ARTICULA_FAULT_COUNTS=counts '" ARTICULA_PROGRAM "' " + command);
    std::istringstream lines(content(path("counts")));
    fs::remove(path("counts"));
    std::map<std::string, long> counts;
    std::string kind;
    for (long n; lines >> kind >> n;) counts[kind] = n;
    return counts;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (const std::string name = entry.path().filename(); name[0] != '.') names.push_back(name);
    return names;
  }

  /// Walks through all calls of `command`, which makes `result`. `again` makes it after a failure.
  int walk(const std::string& command, const std::string& again, const std::string& result) {
    EXPECT_EQ(shell("'" ARTICULA_PROGRAM "' " + command).code, 0);
    const std::string whole = content(path(result));
    EXPECT_FALSE(whole.empty());
    fs::remove(path(result));
    const auto before = files();
    int points = 0;
    for (const auto& [kind, count] : calls_of(command)) {
      fs::remove(path(result));
      const long stride = std::max(1L, count / most_points);
      for (long n = 1; n <= count; n += stride, ++points) {
        SCOPED_TRACE(command + ": " + kind + " " + std::to_string(n) + " of " + std::to_string(count));
        const Ran ran = with_fault(command, kind, n);
        EXPECT_TRUE(ran.code == 0 || ran.code == 1 || ran.code == 2) << ran.code << ran.err;
        if (ran.code != 0) {
          EXPECT_FALSE(fs::exists(path(result)));
          EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
          EXPECT_EQ(ran.err.rfind("articula: ", 0), 0u) << ran.err;
          const bool has_rows =
              fs::exists(path(result + ".part")) && !content(path(result + ".part")).empty();
          const Ran second = shell("'" ARTICULA_PROGRAM "' " + (has_rows ? again : command));
          EXPECT_EQ(second.code, 0) << second.err;
        }
        EXPECT_EQ(content(path(result)), whole) << ran.err;
        fs::remove(path(result));
        EXPECT_EQ(files(), before) << "something is left behind";
        for (const auto& name : files())
          if (std::find(before.begin(), before.end(), name) == before.end()) fs::remove(path(name));
      }
    }
    std::printf("%s: %d faults: whole or absent and made by the next run\n", command.c_str(), points);
    return points;
  }
  void shards_go_on(const std::string& some, const std::vector<std::string>& results) {
    ASSERT_EQ(shell("'" ARTICULA_PROGRAM "' " + some + "--out one").code, 0);
    const std::string command = some + "--shard 0/1 --out r/", whole = content(path("one"));
    int points = 0;
    for (const auto& [kind, count] : calls_of(command))
      for (long n = 1; n <= count; n += std::max(1L, count / most_points), ++points) {
        SCOPED_TRACE(kind + " " + std::to_string(n) + " of " + std::to_string(count));
        fs::remove_all(path("r"));
        const Ran ran = with_fault(command, kind, n);
        EXPECT_TRUE(ran.code == 0 || ran.code == 1 || ran.code == 2) << ran.code << ran.err;
        EXPECT_LE(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        if (ran.code != 0) EXPECT_EQ(shell("'" ARTICULA_PROGRAM "' " + command).code, 0) << ran.err;
        const Ran merged = shell("'" ARTICULA_PROGRAM "' merge r");
        EXPECT_EQ(merged.code, 0) << ran.err << merged.err;
        EXPECT_EQ(merged.out, whole) << ran.err;
      }
    EXPECT_GT(points, 40);
    for (const std::string& result : results)
      EXPECT_GT(walk("merge r --out " + result, "merge r --out " + result, result), 20);
  }
  // Of one kind; make faults: all.
  const long most_points =
      std::getenv("ARTICULA_FAULT_POINTS") ? std::atol(std::getenv("ARTICULA_FAULT_POINTS")) : 40;
};

TEST_F(Faults, EvaluationsAreWholeOrAbsent) {
  write("states.json", R"({"states": [{"q": [0.1, 0.2]}, {"q": [1, 2]}]})");
  for (const std::string result : {"r.json", "r.npz", "r.h5"}) {
    const std::string command = "eval double_pendulum mass_matrix --states states.json --out " + result;
    EXPECT_GT(walk(command, command, result), 40);
  }
}

TEST_F(Faults, SimulationsAreWholeOrGoOn) {
  const std::string command = "simulate double_pendulum --duration 0.05 --step 0.01 --out ";
  for (const std::string result : {"r.csv", "r.npz", "r.h5"})
    EXPECT_GT(walk(command + result, command + result + " --resume", result), 40);
}

TEST_F(Faults, TablesOfManyRunsAreWholeOrGoOn) {
  write("d.json", R"({"q": {"*": {"normal": [0, 0.1]}}})");
  const std::string command =
      "simulate double_pendulum --monte-carlo 4 --distributions d.json --threads 1 --duration 0.05 --step "
      "0.01 --out r.csv";
  EXPECT_GT(walk(command, command, "r.csv"), 40);
}

/// A shard is as far as it came, and goes on; what is merged is whole or absent.
TEST_F(Faults, ShardsGoOn) {
  write("d.json", R"({"q": {"*": {"normal": [0, 0.1]}}})");
  shards_go_on(
      "simulate double_pendulum --monte-carlo 40 --distributions d.json --threads 1 --duration 0.05 --step "
      "0.01 ",
      {"all.csv", "all.npz"});
}
TEST_F(Faults, ShardsOfEvaluationsGoOn) {
  write("states.json", R"({"states": [{"q": [0.1, 0.2]}, {"q": [1, 2]}]})");
  shards_go_on("eval double_pendulum mass_matrix --states states.json ", {"all.json", "all.h5"});
}

TEST_F(Faults, PlotsAreWholeOrAbsent) {
  const std::string command = "simulate double_pendulum --duration 0.05 --step 0.01 --plot r.svg";
  EXPECT_GT(walk(command, command, "r.svg"), 40);
}

TEST_F(Faults, PagesAreWholeOrAbsent) {
  const std::string command = "view planar_2r --out r.html";
  EXPECT_GT(walk(command, command, "r.html"), 40);
}

}  // namespace
}  // namespace articula::testing

#endif
