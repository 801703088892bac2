// eval --shard, and merging into every format, by running the program.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cmath>
#include <random>
#include <sstream>

#include "articula/simulation/recording_arrays.hpp"
#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class ShardedEval : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "FLUX_TASK_RANK", "SLURM_PROCID",
          "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "PBS_ARRAYID"})
      unsetenv(name);
  }
  /// States of a double pendulum; every `wrench`-th with a force.
  std::string states(const std::string& name, int count, int wrench = 0, bool lines = false) const {
    std::string text = lines ? "" : "{\"states\": [";
    for (int i = 0; i < count; ++i) {
      text += fmt::format(R"({}{{"q": [{}, {}], "v": [{}, 0.5], "tau": [{}, 1]{}}})",
                          i && !lines ? ",\n" : "", std::sin(0.1 * i), 0.01 * i, std::cos(0.3 * i), i % 7,
                          wrench && i % wrench == 0 ? R"(, "wrenches": {"rod2": [0, 0, 0, 1, 0, 2]})" : "");
      if (lines) text += "\n";
    }
    return write(name, text + (lines ? "" : "]}"));
  }
  void make_parts(const Words& words, const std::string& folder, int count, const Words& more = {}) const {
    for (int i = count; i-- > 0;) {  // in any order
      const Ran ran =
          run(words + Words{"--shard", fmt::format("{}/{}", i, count), "--out", path(folder) + "/"} + more);
      EXPECT_EQ(ran.code, 0) << ran.err;
      EXPECT_EQ(ran.out, "");
    }
  }
  /// Parts, as many as these, make the bytes of one process in every format.
  void expect_same(const Words& words, std::initializer_list<int> counts) const {
    for (const std::string ending : {"json", "ndjson", "npz", "h5"}) {
      const Ran ran = run(words + Words{"--out", path("one." + ending)});
      EXPECT_EQ(ran.code, 0) << ran.err;
    }
    for (const int count : counts) {
      const std::string folder = fmt::format("r{}", count);
      make_parts(words, folder, count);
      for (const std::string ending : {"json", "ndjson", "npz", "h5"}) {
        const Ran merged = run({"merge", path(folder), "--out", path("all." + ending)});
        EXPECT_EQ(merged.code, 0) << merged.err;
        EXPECT_TRUE(content(path("all." + ending)) == content(path("one." + ending)))
            << ending << " " << count;
      }
      fs::remove_all(path(folder));
    }
  }
  static int many() { return 9 * 512 + 5; }  // the last stretch is too short to be computed together
};

TEST_F(ShardedEval, PartsMergeToTheBytesOfOneProcess) {
  const Words quantities{"eval",           "double_pendulum",    "forward_dynamics", "mass_matrix",
                         "kinetic_energy", "linearized_forward", "--states"};
  expect_same(quantities + Words{states("s.json", many(), 700)}, {1, 2, 3, 7, 40});
  expect_same(quantities + Words{states("s.ndjson", many(), 0, true)}, {3});
  expect_same({"eval", "double_pendulum", "operational_space", "pose", "--frame", "rod2", "--states",
               states("t.json", 600)},
              {2});
  // Arrays: those that rollouts make.
  write("d.json", R"({"q": {"*": {"uniform": [-1, 1]}}, "v": {"*": {"normal": [0, 1]}}})");
  for (const std::string file : {"d.npz", "d.h5"}) {
    ASSERT_EQ(run({"rollout", "double_pendulum", "--count", "120", "--duration", "0.2", "--step", "0.01",
                   "--every", "0.01", "--distributions", path("d.json"), "--out", path(file)})
                  .code,
              0);
    expect_same({"eval", "double_pendulum", "inverse_mass_matrix", "bias_forces", "--states", path(file)},
                {1, 3});
  }
}

TEST_F(ShardedEval, ClosedChainsAndAStateOfTheModel) {
  const auto bar = [](const char* name, const char* at, const std::string& inside) {
    return fmt::format(
        "<body name='{0}' pos='{1}'><joint name='{0}_j' axis='0 1 0'/><inertial pos='0.1 0 0.4' mass='2' "
        "diaginertia='0.2 0.2 0.1'/>{2}</body>",
        name, at, inside);
  };
  const std::string model = write(
      "bars.xml", "<mujoco model='bars'><worldbody>" + bar("left", "0 0 0", bar("top", "0 0 1", "")) +
                      bar("right", "1 0 0", "") +
                      "</worldbody><equality><connect name='pin' body1='top' body2='right' anchor='1 0 0'/>"
                      "</equality><keyframe><key name='leaning' qpos='0.2 -0.2 0.2' qvel='1 -1 1'/>"
                      "</keyframe></mujoco>");
  std::string text;
  for (int i = 0; i < 700; ++i)
    text += fmt::format("{{\"q\": [{0}, -{0}, {0}], \"v\": [0.1, 0, 0.3], \"tau\": [1, 0, {0}]}}\n",
                        0.001 * (i + 1));
  expect_same({"eval", model, "forward_dynamics", "--project", "--states", write("s.ndjson", text)}, {2});
  expect_same({"eval", model, "forward_dynamics", "--states", "leaning"}, {2});
}

TEST_F(ShardedEval, ThievesAndLaunchersToo) {
  const Words words{"eval", "double_pendulum", "mass_matrix", "--states", states("s.json", many())};
  const std::string one = run(words).out;
  const Ran alone = run(words + Words{"--shard", "1/3", "--steal", "--out", path("r/")});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(run({"merge", path("r")}).out == one);
  std::string line = quoted(ARTICULA_PROGRAM);
  for (const std::string& word : words + Words{"--out", path("m/")}) line += " " + quoted(word);
  EXPECT_EQ(shell("env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 " + line).code, 0);
  const Ran missing = run({"merge", path("m"), "--out", path("m.npz")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(fs::exists(path("m.npz")));
  EXPECT_EQ(json({"status", path("m"), "--json"})["parts"][1]["state"], "absent");
  EXPECT_NE(run({"status", path("m")}).out.find(fmt::format("of {} states", many())), std::string::npos);
  // The command that merge prints makes the rest.
  std::string command = missing.err.substr(missing.err.find('\n') + 1);
  command.pop_back();  // the line's end
  EXPECT_EQ(shell(command).code, 0) << command;
  EXPECT_TRUE(run({"merge", path("m")}).out == one);
}

TEST_F(ShardedEval, TornFilesAreMadeWhole) {
  const Words words{"eval", "double_pendulum", "mass_matrix", "--states", states("s.json", many())};
  const std::string one = run(words).out;
  make_parts(words, "r", 2);
  const std::string file = path("r/shard-000001.bin"), whole = content(file);
  std::mt19937 random(5);
  for (int i = 0; i < 6; ++i) {
    std::string torn = whole.substr(0, random() % whole.size());
    if (i % 3 == 1) torn += std::string(random() % 3000, '\0');
    if (i % 3 == 2) torn = whole, torn[random() % torn.size()] ^= 64;
    std::ofstream(file, std::ios::binary) << torn;
    const Ran damaged = run({"merge", path("r"), "--out", path("all.json")});
    EXPECT_EQ(damaged.code, 1) << damaged.err;
    EXPECT_FALSE(fs::exists(path("all.json")));
    make_parts(words, "r", 2);
    EXPECT_TRUE(run({"merge", path("r")}).out == one) << i;
  }
}

TEST_F(ShardedEval, RefusesWhatDoesNotFitTogether) {
  const std::string s = states("s.json", 600), folder = path("r/");
  const Words words{"eval", "double_pendulum", "mass_matrix", "--states", s};
  make_parts(words, "r", 2);
  const auto refuses = [&](const Words& other, const std::string& said) {
    expect_failure(2, other + Words{"--out", folder}, "", {said});
  };
  const auto with = [](Words w, std::size_t i, const std::string& word) { return w[i] = word, w; };
  refuses(with(words, 2, "bias_forces") + Words{"--shard", "0/2"}, "list of quantities is mass_matrix");
  refuses(words + Words{"bias_forces", "--shard", "0/2"}, "list of quantities");
  refuses(words + Words{"--shard", "0/3"}, "number of shards is 2");
  refuses(words + Words{"--gravity", "0", "0", "-1", "--shard", "0/2"}, "model's fingerprint");
  refuses(words + Words{"--damping", "--shard", "0/2"}, "--damping");
  refuses(with(words, 4, states("t.json", 601)) + Words{"--shard", "0/2"}, "file of states");
  refuses(with(words, 4, states("t.json", 600, 3)) + Words{"--shard", "0/2"}, "file of states");
  refuses(with(words, 4, "-") + Words{"--shard", "0/2"}, "--states FILE");
  refuses(with(words, 4, write("none.json", R"({"states": []})")) + Words{"--shard", "0/2"}, "no states");
  refuses(words + Words{"--format", "npz"}, "--format");
  refuses(words + Words{"--shard", "2/2"}, "--shard");
  refuses(words + Words{"--lease", "0"}, "--lease");
  refuses(words + Words{"--block", "9999999999999999999"}, "--block");
  refuses({"eval", "two_arms", "grasp", "--shard", "0/2"}, "grasp");
  expect_failure(2, words + Words{"--shard", "0/2"}, "", {"--out FOLDER/"});
  expect_failure(2, {"simulate", "double_pendulum", "--duration", "1", "--monte-carlo", "9", "--out", folder},
                 "", {"its kind is values"});
  // Two shards with one number.
  const int fd = open(path("r/shard-000000.bin").c_str(), O_RDWR);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  refuses(words + Words{"--shard", "0/2"}, "at work already");
  close(fd);
  // Another version.
  std::string manifest = content(path("r/run.json"));
  const std::size_t at = manifest.find("\"version of articula\": \"");
  ASSERT_NE(at, manifest.npos);
  write("r/run.json", manifest.substr(0, at + 24) + "9" + manifest.substr(at + 24));
  refuses(words + Words{"--shard", "0/2"}, "version of articula");
  write("r/run.json", manifest);
  for (const std::string name : {"all.csv", "all.npy"}) {
    expect_failure(2, {"merge", path("r"), "--out", path(name)}, "", {".ndjson"});
    EXPECT_FALSE(fs::exists(path(name)));
  }
  // A state that cannot be computed names its number in the file, and nothing of its block is kept.
  std::string text = content(s);
  text.replace(text.find("0.5", text.rfind("\"v\"")), 3, "1e300");
  expect_failure(1,
                 {"eval", "double_pendulum", "bias_forces", "--states", write("u.json", text), "--shard",
                  "1/2", "--out", path("u/")},
                 "", {"state 599"});
  EXPECT_EQ(run({"merge", path("u")}).code, 1);
}

TEST_F(ShardedEval, NoFolderIsTooHostile) {
  const Words words{"eval", "double_pendulum", "operational_space", "--frame",
                    "rod2", "--states",        states("s.json", 40)};
  make_parts(words, "r", 1);
  const std::string manifest = content(path("r/run.json")), blocks = content(path("r/shard-000000.bin"));
  std::mt19937 random(7);
  int codes[3] = {};
  const auto try_it = [&](const std::string& m, const std::string& b) {
    write("r/run.json", m), write("r/shard-000000.bin", b);
    for (const Words& command : {Words{"merge", path("r")}, Words{"merge", path("r"), "--out", path("x.npz")},
                                 Words{"status", path("r")}}) {
      const Ran ran = run(command);
      ASSERT_TRUE(ran.code >= 0 && ran.code <= 2) << ran.code << ran.err << m;
      ++codes[ran.code];
      if (ran.code == 2) EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    }
  };
  for (int i = 0; i < 40; ++i) {
    std::string m = manifest, b = blocks;
    (i % 2 ? m[random() % m.size()] : b[random() % std::min<std::size_t>(b.size(), 80)]) = char(random());
    try_it(m, b);
  }
  const auto replaced = [&](const std::string& from, const std::string& to) {
    const std::size_t at = manifest.find(from);
    EXPECT_NE(at, manifest.npos) << from;
    return std::string(manifest).replace(at, from.size(), to);
  };
  for (const char* count : {"-1", "0", "1e30", "4000000000000000000", "18446744073709551615", "\"x\"", "[]"})
    for (const std::string from : {"\"rows\": 40", "\"shards\": 1", "\"block\": 512"})
      try_it(replaced(from, from.substr(0, from.find(' ') + 1) + count), blocks);
  for (const char* shape : {R"(\"shape\":[-1])", R"(\"shape\":[99999,99999,99999])", R"(\"shape\":7)"})
    try_it(replaced(R"(\"shape\":[6,6])", shape), blocks);
  for (const char* kind : {"rows", "statistics", "trajectories", "other"})
    try_it(replaced("\"values\"", fmt::format("\"{}\"", kind)), blocks);
  EXPECT_GT(codes[2], 20);
  EXPECT_GT(codes[1], 10);
  try_it(manifest, blocks);
  EXPECT_EQ(run({"merge", path("r")}).out, run(words).out);
}

/// The numbers of an array of a file.
std::vector<double> numbers(const std::string& file, const std::string& name) {
  const std::vector<std::string_view> wanted{name};
  const recording_files::ArrayFile arrays(file, wanted);
  const auto found = arrays.arrays.find(name);
  if (found == arrays.arrays.end()) return {};
  std::vector<double> out(found->second.count);
  arrays.bytes->read(found->second.at, {reinterpret_cast<char*>(out.data()), out.size() * sizeof(double)});
  return out;
}

TEST_F(ShardedEval, RowsMergeIntoArrays) {
  write("d.json", R"({"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [-0.1, 2]}}})");
  const Words words{"simulate", "double_pendulum", "--duration",  "0.5", "--step", "0.01", "--monte-carlo",
                    "300",      "--distributions", path("d.json")};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(words + Words{"--shard", fmt::format("{}/3", i), "--out", path("r/")}).code, 0);
  const Ran rows = run(words);
  std::istringstream lines(rows.out);
  std::string line, word;
  std::getline(lines, line);
  std::vector<double> q, mass, failed_runs;
  for (int run = 0; std::getline(lines, line); ++run) {
    std::vector<std::string> cells;
    for (std::istringstream all(line); std::getline(all, word, ',');) cells.push_back(word);
    // run, failed, a draw of mass, two of q, time, q, ..
    mass.push_back(std::stod(cells[2]));
    q.push_back(std::stod(cells[6])), q.push_back(std::stod(cells[7]));
    if (cells[1] == "1") failed_runs.push_back(run);
  }
  ASSERT_GT(failed_runs.size(), 2u);
  for (const std::string ending : {"npz", "h5"}) {
    EXPECT_EQ(run({"merge", path("r"), "--out", path("all." + ending)}).code, 0);
    EXPECT_EQ(run(words + Words{"--out", path("one." + ending)}).code, 0);
    EXPECT_TRUE(content(path("all." + ending)) == content(path("one." + ending)));
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    EXPECT_TRUE(std::ranges::equal(numbers(path("all." + ending), "q"), q, same)) << ending;
    const auto draws = numbers(path("all." + ending), "draw");
    ASSERT_EQ(draws.size(), 900u);
    for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(draws[3 * i], mass[i]);
    EXPECT_EQ(numbers(path("all." + ending), "error_run"), failed_runs);
  }
  const Words statistics = words + Words{"--statistics"};
  EXPECT_EQ(run(statistics + Words{"--shard", "0/1", "--out", path("s/")}).code, 0);
  expect_failure(2, {"merge", path("s"), "--out", path("s.npz")}, "", {"statistics are JSON"});
  expect_failure(2, {"merge", path("r"), "--out", path("r.npy")}, "", {"give .npz"});
  EXPECT_FALSE(fs::exists(path("s.npz")) || fs::exists(path("r.npy")));
}

}  // namespace
}  // namespace articula::testing

#endif
