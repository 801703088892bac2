// What articula simulate promises when something goes wrong: two runs at once, signals, full disks, damaged files, other
// settings, motions without end. docs/reliability.md says it in words.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "tests/support/simulate_command.hpp"

namespace articula {
namespace {

namespace fs = testing::fs;
using testing::endless;
using testing::pendulum;
using testing::Ran;
using testing::Words;
using testing::operator+;
using Clock = std::chrono::steady_clock;

class Reliability : public testing::SimulateCommand {
 protected:
  /// Names in the folder that begin so.
  Words beginning_with(const std::string& name) const {
    Words out;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with(name)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string swinging() const { return write("i.json", R"({"q": [1.2, -0.7], "v": [0.3, 0.5]})"); }
};

TEST_F(Reliability, TwoRunsIntoOneFileNeverMix) {
  const Words one{"double_pendulum", "--duration", "2"}, other = one + Words{"--initial", swinging()};
  const std::string out = path("r.csv");
  ASSERT_EQ(run(one + Words{"--out", path("one.csv")}).code, 0);
  ASSERT_EQ(run(other + Words{"--out", path("other.csv")}).code, 0);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    const pid_t a = start(one + Words{"--out", out}), b = start(other + Words{"--out", out});
    const int code_a = wait_for(a), code_b = wait_for(b);
    ASSERT_TRUE((code_a == 0 || code_a == 2) && (code_b == 0 || code_b == 2)) << code_a << " " << code_b;
    ASSERT_TRUE(code_a == 0 || code_b == 0);
    refused += code_a + code_b == 2;
    const std::string rows = content(out);
    ASSERT_TRUE(rows == content(path("one.csv")) || rows == content(path("other.csv"))) << "pair " << i;
    ASSERT_EQ(beginning_with("r.csv"), Words{"r.csv"});
    fs::remove(out);
  }
  EXPECT_GT(refused, 0);  // they did meet
}

TEST_F(Reliability, StepsThatShrinkWithoutHeadwayAreAnError) {
  const std::string wild =
      write("c.json", R"({"type": "computed_torque", "kp": [100, 50], "kd": {"joint1": 5},
    "reference": {"times": [0, 1], "q": [[2147483648, 0], [1, 1]]}})");
  for (const char* integrator : {"rk45", "cvode"}) {
    const Ran ran = run({"double_pendulum", "--duration", "1", "--integrator", integrator, "--controllers",
                         wild, "--out", path("r.csv"), "--time-limit", "60"});
    EXPECT_EQ(ran.code, 1);
    for (const char* word : {integrator, "makes no headway at t = ", "the force at joint 'joint"})
      EXPECT_NE(ran.err.find(word), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(fs::exists(path("r.csv")));
    EXPECT_TRUE(fs::exists(path("r.csv.part")));
  }
}

TEST_F(Reliability, ASignalEndsAnyRunAtOnce) {
  const Words swing{"double_pendulum", "--initial", swinging(), "--duration", "1e6", "--every", "1e5"};
  const std::vector<Words> runs{
      swing + Words{"--integrator", "rk45", "--out", path("r.csv")},
      swing + Words{"--integrator", "cvode", "--out", path("r.csv")},
      swing + Words{"--integrator", "rk45", "--monte-carlo", "3", "--out", path("m.csv")},
      {"arm7", "--duration", "1e6", "--monte-carlo", "3", "--out", path("m.csv")},
      // A factorization of seconds, in which nothing of ours is called.
      {"chain:1500", "--duration", "1", "--integrator", "cvode", "--out", path("r.csv")}};
  std::mt19937 random(7);
  for (const Words& words : runs)
    for (const int signal : {SIGINT, SIGTERM}) {
      const pid_t child = start(words);
      std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 400));
      const auto asked = Clock::now();
      kill(child, signal);
      const int code = wait_for(child);
      // A tenth of a second on a machine with nothing else to do.
      EXPECT_LT(std::chrono::duration<double>(Clock::now() - asked).count(), 2) << words[0];
      EXPECT_TRUE(code == 1 || code == -signal) << code;
      EXPECT_EQ(beginning_with("r.csv.part."), Words{});
      EXPECT_LE(beginning_with("m.csv").size(), 1u);
    }
}

TEST_F(Reliability, LimitsOfTimeAndMemoryEndARunThatCanBeResumed) {
  const std::string out = path("r.csv");
  const Ran ran = run(endless + Words{"--out", out, "--time-limit", "0.3"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("--time-limit 0.3 s is over"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  const Recording r = read_recording(out, FileFormat::csv);
  const std::string duration = std::to_string(std::ceil(r.row(r.size() - 1)[0] + 0.5));
  const Words longer{"arm7", "--duration", duration, "--step", "0.001", "--every", "0.01"};
  EXPECT_EQ(run(longer + Words{"--out", out, "--resume"}).code, 0);
  EXPECT_EQ(content(out), run(longer).out);
  refuses(pendulum + Words{"--time-limit", "-1"}, "--time-limit");
  // The dense matrix of cvode is 4000 x 4000.
  const Words large{"chain:2000", "--duration", "0.01", "--integrator", "cvode"};
  for (const std::string most : {"20", "100", "200"})
    refuses(large + Words{"--memory-limit", most}, "--memory-limit " + most + " MB", 1);
}

TEST_F(Reliability, ASlowRunSaysWhy) {
  const std::string stiff = write("f.json", R"({"springs": {"joint1": {"stiffness": 1e11}}})");
  const Ran ran = run({"double_pendulum", "--initial", swinging(), "--duration", "1000", "--integrator",
                       "rk45", "--forces", stiff, "--time-limit", "6"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("stiff? try cvode"), std::string::npos) << ran.err;
}

TEST_F(Reliability, AFullDiskWhileHdf5IsWritten) {
  const std::string out = path("r.h5");
  const Words few{"double_pendulum", "--duration", "0.01"};
  // 10 rows are 4 kB of CSV, and more of HDF5.
  const Ran full = shell("trap '' XFSZ; ulimit -f 16; " + line(few + Words{"--out", out}));
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_NE(full.err.find("cannot be written"), std::string::npos) << full.err;
  EXPECT_EQ(beginning_with("r.h5"), Words{"r.h5.part"});
  EXPECT_EQ(run(few + Words{"--out", out, "--resume", "--duration", "0.02"}).code, 2);  // two durations
  EXPECT_EQ(run({"double_pendulum", "--duration", "0.02", "--out", out, "--resume"}).code, 0);
  EXPECT_EQ(run({"double_pendulum", "--duration", "0.02", "--out", path("whole.h5")}).code, 0);
  EXPECT_EQ(content(out), content(path("whole.h5")));
}

TEST_F(Reliability, ResumingWithOtherSettingsIsRefused) {
  const std::string initial = swinging(), other = write("o.json", R"({"q": [1, 1]})");
  const Words common{"double_pendulum", "--duration", "0.5", "--initial", initial, "--step", "0.01"};
  for (const std::string ending : {"csv", "npz", "h5"}) {
    const std::string out = path("r." + ending);
    ASSERT_EQ(run(common + Words{"--out", out}).code, 0);
    const std::string before = content(out);
    const auto again = [&](const std::string& start, const Words& more) {
      return Words{"double_pendulum", "--duration", "1", "--out", out, "--resume", "--initial", start} + more;
    };
    refuses(again(initial, {"--step", "0.01", "--gravity", "0", "0", "-1.6"}), "gravity");
    refuses(again(initial, {"--step", "0.01", "--integrator", "euler"}), "integrator");
    refuses(again(initial, {"--step", "0.01", "--integrator", "rk45"}), "integrator");
    refuses(again(initial, {"--step", "0.005", "--every", "0.01"}), "step");
    refuses(again(initial, {"--step", "0.01", "--every", "0.02"}), "--every");
    refuses(again(initial, {"--step", "0.01", "--forces", write("f.json", R"({"damping": 0.1})")}),
            "torque, force or controller");
    refuses(again(other, {"--step", "0.01"}), "q:joint1 begins at 1.2");
    EXPECT_EQ(content(out), before);
    EXPECT_FALSE(fs::exists(out + ".part"));
    EXPECT_EQ(run(again(initial, {"--step", "0.01"})).code, 0);
  }
}

TEST_F(Reliability, ThousandsOfNamesFitIntoHdf5) {
  const Ran ran = run({"chain:10000", "--duration", "0.001", "--out", path("c.h5")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_GT(read_recording(path("c.h5"), FileFormat::hdf5).columns.size(), 30000u);
}

TEST_F(Reliability, NamesWithLineEndsAreQuoted) {
  const std::string model = write("m.urdf", R"(<robot name="m"><link name="a"/>
    <joint name="two&#10;lines, &quot;x&quot; " type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>
    <link name="b"><inertial><mass value="1"/><origin xyz="0 0 1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>)");
  for (const char* ending : {"csv", "npz", "h5"}) {
    const std::string out = path(std::string("r.") + ending);
    EXPECT_EQ(run({model, "--duration", "0.1", "--out", out}).code, 0);
    EXPECT_EQ(read_recording(out, format_of(out)).columns[1].name, "q:two\nlines, \"x\" ");
    const Ran resumed = run({model, "--duration", "0.2", "--out", out, "--resume"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
  }
}

TEST_F(Reliability, AnEmptyPartSaysNothing) {
  for (const std::string part : {"", "time,q:joint1", "time\n"}) {
    const std::string out = path("r.csv");
    ASSERT_EQ(run({"double_pendulum", "--duration", "0.1", "--out", out}).code, 0);
    write("r.csv.part", part);
    const Ran resumed = run({"double_pendulum", "--duration", "0.2", "--out", out, "--resume"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(read_recording(out, FileFormat::csv).size(), 201u);
  }
}

TEST_F(Reliability, WhatAKilledRunLeftIsRemovedByTheNext) {
  const std::string out = path("r.h5");
  const Words words{"arm7", "--duration", "30", "--out", out};
  bool caught = false;
  for (int attempt = 0; attempt < 20 && !caught; ++attempt) {
    const pid_t child = start(words);
    int status = 0;
    while (!caught && waitpid(child, &status, WNOHANG) == 0) {
      caught = beginning_with("r.h5").size() > 1 && !fs::exists(out);  // FILE.part and something beside it
      if (caught) kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (caught) wait_for(child);
    caught = caught && beginning_with("r.h5").size() > 1 && !fs::exists(out);
    if (!caught) fs::remove(out), fs::remove(out + ".part");
  }
  if (!caught) GTEST_SKIP() << "the file is written too fast to be caught at it";
  EXPECT_EQ(run({"arm7", "--duration", "0.01", "--out", out}).code, 0);
  EXPECT_EQ(beginning_with("r.h5"), Words{"r.h5"});
}

}  // namespace
}  // namespace articula

#endif  // ARTICULA_PROGRAM
