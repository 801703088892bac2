// simulate --shard, merge and status, by running the program: parts are the whole, whatever happens to them.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <random>

#include "tests/support/simulate_command.hpp"

namespace articula::testing {
namespace {

class ShardedCommand : public SimulateCommand {
 protected:
  void SetUp() override {
    SimulateCommand::SetUp();
    // A test may itself be started by one of these.
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "FLUX_TASK_RANK", "SLURM_PROCID",
          "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "PBS_ARRAYID"})
      unsetenv(name);
  }
  Words runs(const std::string& count = "300") const {
    const std::string d =
        write("d.json", R"({"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [-0.1, 2]}}})");
    return pendulum + Words{"--monte-carlo", count, "--seed", "5", "--distributions", d};
  }
  /// The words with another value after an option.
  static Words with(Words words, const std::string& option, const std::string& value) {
    *std::next(std::ranges::find(words, option)) = value;
    return words;
  }
  Ran merge(const std::string& folder, const std::string& out) const {
    return CommandLine::run({"merge", path(folder), "--out", path(out)});
  }
};

TEST_F(ShardedCommand, PartsMergeToTheBytesOfOneRun) {
  ASSERT_EQ(run(runs() + Words{"--out", path("one.csv")}).code, 0);
  const std::string one = content(path("one.csv"));
  for (const int count : {1, 2, 3, 7, 40}) {
    const std::string folder = "r" + std::to_string(count);
    // In any order, with any number of threads.
    for (int i = count; i-- > 0;) {
      const Ran ran =
          run(runs() + Words{"--shard", std::to_string(i) + "/" + std::to_string(count), "--threads",
                             std::to_string(1 + i % 3), "--out", path(folder) + "/"});
      EXPECT_EQ(ran.code, 0) << ran.err;
      EXPECT_EQ(ran.out, "");
    }
    const Ran merged = merge(folder, "all.csv");
    EXPECT_EQ(merged.code, 0) << merged.err;
    EXPECT_EQ(content(path("all.csv")), one) << count;
  }
  // One after the other, where steps are not all alike: an integrator that chooses its own.
  const Words alone = runs("37") + Words{"--integrator", "rk45"};
  for (const char* part : {"0/2", "1/2"})
    EXPECT_EQ(run(alone + Words{"--shard", part, "--out", path("a/")}).code, 0);
  EXPECT_EQ(CommandLine::run({"merge", path("a")}).out, run(alone).out);
}

TEST_F(ShardedCommand, MissingPartsAreNamedWithTheCommandsThatMakeThem) {
  const std::string folder = path("a b") + "/";
  EXPECT_EQ(run(runs() + Words{"--shard", "0/3", "--out", folder}).code, 0);
  const Ran missing = merge("a b", "all.csv");
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(fs::exists(path("all.csv")));
  EXPECT_EQ(missing.out, "");
  std::istringstream lines(missing.err);
  std::string line;
  std::getline(lines, line);
  EXPECT_NE(line.find("2 shards"), std::string::npos) << line;
  int commands = 0;
  for (; std::getline(lines, line); ++commands) EXPECT_EQ(shell(line).code, 0) << line;
  EXPECT_EQ(commands, 2);
  EXPECT_EQ(merge("a b", "all.csv").code, 0);
  EXPECT_EQ(content(path("all.csv")), run(runs()).out);
}

TEST_F(ShardedCommand, LaunchersShareTheRunsOut) {
  const std::string one = run(runs()).out, command = line(runs() + Words{"--out", path("r/")});
  for (const char* variables : {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4", "PMI_RANK=1 PMI_SIZE=4",
                                "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4",
                                "JOB_COMPLETION_INDEX=3 ARTICULA_SHARDS=4"}) {
    const Ran ran = shell(std::string("env ") + variables + " " + command);
    EXPECT_EQ(ran.code, 0) << ran.err;
  }
  EXPECT_EQ(CommandLine::run({"merge", path("r")}).out, one);
  // A file is no folder: every process would make all of it.
  const Ran file = shell("env PMI_RANK=1 PMI_SIZE=4 " + line(runs() + Words{"--out", path("all.csv")}));
  EXPECT_EQ(file.code, 0);
  EXPECT_NE(file.err.find("--out FOLDER/ shares them out"), std::string::npos) << file.err;
  EXPECT_EQ(content(path("all.csv")), one);
  const Ran unclear = shell("env JOB_COMPLETION_INDEX=3 " + command);
  EXPECT_EQ(unclear.code, 2);
  EXPECT_NE(unclear.err.find("ARTICULA_SHARDS"), std::string::npos) << unclear.err;
}

TEST_F(ShardedCommand, RefusesWhatDoesNotFitTogether) {
  const std::string folder = path("r") + "/";
  const auto part = [&](const Words& words, const std::string& shard = "1/2") {
    return words + Words{"--shard", shard, "--out", folder};
  };
  EXPECT_EQ(run(part(runs(), "0/2")).code, 0);
  refuses(part(runs("301")), "number of runs is 300, here it is 301");
  refuses(part(with(runs(), "--seed", "6")), "--seed is 5");
  refuses(part(runs(), "1/3"), "number of shards is 2");
  refuses(part(with(runs(), "--step", "0.02")), "step is 0.01");
  refuses(part(runs() + Words{"--gravity", "0", "0", "-1.62"}), "gravity");
  refuses(part(runs() + Words{"--initial", write("i.json", R"({"q": [1, 2]})")}), "--initial");
  refuses(part(runs() + Words{"--forces", write("f.json", R"({"damping": 0.5})")}), "--forces");
  // The same name and joints, another mass.
  std::string other = content(std::string(ARTICULA_SOURCE_DIR) + "/models/double_pendulum.urdf");
  const std::size_t at = other.find("<mass value=\"1");
  ASSERT_NE(at, other.npos);
  other.insert(at + 14, "1");
  Words words = runs();
  words[0] = write("double_pendulum.urdf", other);
  refuses(part(words), "model's fingerprint");
  write("d2.json", R"({"q": {"*": {"normal": [0, 0.4]}}})");
  refuses(pendulum + Words{"--monte-carlo", "300", "--seed", "5", "--distributions", path("d2.json"),
                           "--shard", "1/2", "--out", folder},
          "--distributions");
  for (const char* wrong : {"2/2", "-1/2", "1", "1/0", "x/y", "1/2/3", "0/1000001", "0x1/2", ""})
    if (*wrong) refuses(runs() + Words{"--shard", wrong, "--out", folder}, "--shard");
  refuses(runs() + Words{"--shard", "0/2"}, "--out FOLDER/");
  refuses(runs() + Words{"--shard", "0/2", "--out", write("file.csv", "x")}, "--out FOLDER/");
  refuses(runs() + Words{"--shard", "0/2", "--out", path("no/such/")}, "cannot be made");
  refuses(pendulum + Words{"--shard", "0/2", "--out", folder}, "--monte-carlo");
  refuses(runs() + Words{"--lease", "0", "--out", folder}, "--lease");
  fs::create_directory(path("home"));
  write("home/letter.txt", "");
  refuses(runs() + Words{"--out", path("home")}, "letter.txt");
  expect_failure(2, {"merge", path("none")}, "", {"none"});
  expect_failure(2, {"merge", path("home")}, "", {"run.json"});
  expect_failure(2, {"status", path("home")}, "", {"run.json"});
  write("home/run.json", R"({"format": 99})");
  expect_failure(2, {"merge", path("home")}, "", {"format 99"});
  write("home/run.json", "{");
  expect_failure(2, {"merge", path("home")}, "", {"run.json", "not JSON"});
}

TEST_F(ShardedCommand, SweepsAreMadeInParts) {
  const std::string control = write("c.json", R"({"controllers": [{"type": "pd", "kp": 20, "kd": 2}]})");
  const auto sweep = [&](const std::string& text) {
    return pendulum + Words{"--controllers", control, "--sweep", write("s.json", text)};
  };
  const Words grid = sweep(R"({"design": "grid", "axes": {"q:joint1": [0.1, 0.2, 0.3], "mass:*": [1, 2],
    "controllers:/controllers/0/kp": {"least": 10, "largest": 30, "steps": 3}, "gravity:z": [-9.81], "damping:joint2": [0.5]}})");
  const Ran one = run(grid);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 19);
  EXPECT_NE(one.out.find("draw:controllers:/controllers/0/kp"), std::string::npos);
  for (const char* part : {"0/2", "1/2"})
    EXPECT_EQ(run(grid + Words{"--shard", part, "--out", path("r/")}).code, 0);
  EXPECT_EQ(CommandLine::run({"merge", path("r")}).out, one.out);
  // The last of them is that motion alone, with its numbers.
  std::string row = one.out.substr(0, one.out.size() - 1);
  row = row.substr(row.rfind('\n') + 1);
  EXPECT_EQ(row.rfind("17,0,0.3,2,2,30,-9.81,0.5,1,", 0), 0u) << row;
  const Ran alone =
      run(pendulum + Words{"--controllers", write("c2.json", R"({"type": "pd", "kp": 30, "kd": 2})"),
                           "--sweep", write("s2.json", R"({"axes": {"q:joint1": [0.3], "mass:*": [2]}})")});
  std::string end = alone.out.substr(0, alone.out.size() - 1);
  end = end.substr(end.rfind('\n') + 1);
  EXPECT_EQ(row.substr(row.find(",0.5,1,") + 7), end.substr(end.find(",2,2,1,") + 7));
  for (const char* design : {"latin_hypercube", "sobol"}) {
    const Words some = sweep(std::string(R"({"design": ")") + design +
                             R"(", "points": 50, "axes": {"q:joint1": {"least": -1, "largest": 1}}})");
    const Ran ran = run(some);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 51);
  }
  refuses(sweep("{"), "--sweep");
  refuses(sweep(R"({"axes": {"q:joint9": [1]}})"), "joint9");
  refuses(sweep(R"({"axes": {"w:joint1": [1]}})"), "known: q, v, mass");
  refuses(sweep(R"({"axes": {"q:joint1": "x"}})"), "list of numbers");
  refuses(sweep(R"({"axes": {"q:joint1": ["x"]}})"), "--sweep");
  refuses(sweep(R"({"axes": {"controllers:/controllers/1/kp": [1]}})"), "no number at");
  refuses(sweep(R"({"axes": {"controllers:kp": [1]}})"), "--sweep");
  refuses(sweep(R"({"axes": {"q:joint1": {"least": 0, "largest": 1}}})"), "needs values");
  refuses(sweep(R"({"design": "dice", "axes": {"q:joint1": [1]}})"), "dice");
  refuses(sweep(R"({"grid": 1, "axes": {"q:joint1": [1]}})"), "\"grid\" is not known");
  refuses(grid + Words{"--monte-carlo", "3"}, "--sweep");
}

TEST_F(ShardedCommand, RolloutsAreTrajectories) {
  const std::string d =
      write("d.json", R"({"q": {"*": {"normal": [0, 0.5]}}, "torque": {"joint1": {"normal": [0, 1]}},
                                           "mass": {"rod2": {"uniform": [0.5, 2]}}})");
  const Words words{"rollout",         "double_pendulum",
                    "--duration",      "0.5",
                    "--step",          "0.01",
                    "--every",         "0.1",
                    "--count",         "50",
                    "--distributions", d,
                    "--hold",          "0.03"};
  const Ran one = CommandLine::run(words);
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.rfind("run,time,q:joint1,q:joint2,v:joint1,v:joint2,tau:joint1,tau:joint2\n", 0), 0u);
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 1 + 50 * 6);
  for (const char* part : {"0/3", "1/3", "2/3"})
    EXPECT_EQ(CommandLine::run(words + Words{"--shard", part, "--out", path("r/")}).code, 0);
  EXPECT_EQ(CommandLine::run({"merge", path("r")}).out, one.out);
  // One after the other, which friction makes them go, even where there is none: the same torques, the same motion.
  const Ran alone = CommandLine::run(words + Words{"--friction"});
  std::istringstream a(one.out), b(alone.out);
  int rows = 0, changes = 0;
  std::vector<double> last;
  for (std::string x, y; std::getline(a, x) && std::getline(b, y); ++rows) {
    if (rows == 0) continue;
    std::istringstream p(x), q(y);
    std::vector<double> numbers;
    for (std::string s, t; std::getline(p, s, ',') && std::getline(q, t, ',');) {
      numbers.push_back(std::stod(s));
      EXPECT_NEAR(std::stod(s), std::stod(t), 1e-9) << x << "\n" << y;
    }
    ASSERT_EQ(numbers.size(), 8u);
    EXPECT_EQ(numbers[7], 0);
    changes += !last.empty() && last[0] == numbers[0] && last[6] != numbers[6];
    last = numbers;
  }
  EXPECT_EQ(rows, 301);
  EXPECT_EQ(changes, 250);  // drawn anew between any two rows
  // Given starts: those of a recording.
  EXPECT_EQ(run(pendulum + Words{"--initial", write("i.json", R"({"q": [1, 2]})"), "--every", "0.25", "--out",
                                 path("s.npz")})
                .code,
            0);
  const Ran given = CommandLine::run({"rollout", "double_pendulum", "--duration", "0.25", "--step", "0.01",
                                      "--every", "0.25", "--states", path("s.npz")});
  ASSERT_EQ(given.code, 0) << given.err;
  const Recording r = read_recording(path("s.npz"), FileFormat::npz);
  std::istringstream lines(given.out);
  std::string text;
  std::getline(lines, text);
  for (std::size_t i = 0; i < 5; ++i) {  // each ends where the next begins
    double run = 0, time = 0, q = 0;
    for (const double expected : {0.0, 0.25}) {
      std::getline(lines, text);
      ASSERT_EQ(std::sscanf(text.c_str(), "%lf,%lf,%lf", &run, &time, &q), 3);
      EXPECT_EQ(time, expected);
      EXPECT_EQ(run, double(i));
      if (expected == 0 || i < 4) EXPECT_NEAR(q, r.row(i + (expected > 0))[1], 1e-12);
    }
  }
  expect_failure(2, {"rollout", "double_pendulum", "--duration", "1"}, "", {"--count"});
  expect_failure(2, {"rollout", "arm7", "--duration", "1", "--states", path("s.npz")}, "",
                 {"array q", "expected"});
  expect_failure(
      2, {"rollout", "double_pendulum", "--duration", "1", "--states", path("s.npz"), "--count", "99"}, "",
      {"5 states"});
  expect_failure(2, words + Words{"--shard", "0/2", "--out", path("r/")}, "", {"number of shards"});
}

TEST_F(ShardedCommand, StatisticsNeedNoRows) {
  const Words words = runs("5000") + Words{"--statistics"};
  const Ran one = run(words);
  EXPECT_EQ(one.code, 0) << one.err;
  for (const std::string count : {"1", "2", "5"}) {
    for (int i = 0; i < std::stoi(count); ++i)
      EXPECT_EQ(
          run(words + Words{"--shard", std::to_string(i) + "/" + count, "--out", path("s" + count + "/")})
              .code,
          0);
    EXPECT_EQ(CommandLine::run({"merge", path("s" + count)}).out, one.out) << count;
  }
  EXPECT_EQ(one.out, run(words + Words{"--threads", "1"}).out);
  // What the rows say.
  const Json all = Json::parse(one.out);
  const std::string rows = run(runs("5000")).out;
  std::istringstream lines(rows);
  std::string line, word;
  std::getline(lines, line);
  std::istringstream names(line);
  int column = 0, at = 0, failed = 0, count = 0;
  for (; std::getline(names, word, ',') && word != "q:joint2"; ++at) column = at + 1;
  double sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream words_of(line);
    for (int i = 0; i <= column; ++i) {
      std::getline(words_of, word, ',');
      if (i == 1 && word == "1") {
        ++failed;
        break;
      }
      if (i == column) sum += std::stod(word), ++count;
    }
  }
  EXPECT_EQ(all["failed"], failed);
  EXPECT_EQ(all["runs"], 5000);
  EXPECT_NEAR(all["columns"]["q:joint2"]["mean"].get<double>(), sum / count, 1e-12);
  refuses(runs("5000") + Words{"--shard", "0/2", "--out", path("s2/")}, "its kind is statistics");
}

TEST_F(ShardedCommand, KilledAtAnyMomentItGoesOn) {
  const Words words =
      runs("10000") + Words{"--block", "16", "--threads", "1"};  // long enough to be killed on any machine
  const std::string one = run(runs("10000")).out;
  std::mt19937 random(3);
  int killed = 0;
  for (int shard = 0; shard < 2; ++shard)
    for (int tries = 0;; ++tries) {
      ASSERT_LT(tries, 200);
      const pid_t child = start(words + Words{"--shard", std::to_string(shard) + "/2", "--out", path("r/")});
      if (tries < 12) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 60));
        kill(child, SIGKILL);
      }
      const int code = wait_for(child);
      if (code == 0) break;
      EXPECT_EQ(code, -SIGKILL);
      ++killed;
    }
  EXPECT_GT(killed, 2);
  const Ran merged = CommandLine::run({"merge", path("r")});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(merged.out, one);
}

TEST_F(ShardedCommand, TwoOfOneNumberAreRefusedAndASignalEndsAShard) {
  const Words longer{"arm7",    "--duration", "100",   "--monte-carlo", "200",
                     "--shard", "0/2",        "--out", path("r/")};
  const pid_t child = start(longer);
  for (int i = 0; i < 2000 && !fs::exists(path("r/shard-000000.json")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  refuses(longer, "at work already");
  const Json status = json({"status", path("r"), "--json"});
  EXPECT_EQ(status["rows"], 200);
  EXPECT_EQ(status["parts"][0]["state"], "running");
  EXPECT_EQ(status["parts"][1]["state"], "absent");
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 1);
  EXPECT_EQ(json({"status", path("r"), "--json"})["parts"][0]["state"], "stopped");
  EXPECT_NE(CommandLine::run({"status", path("r")}).out.find("shard 0/2: stopped"), std::string::npos);
}

TEST_F(ShardedCommand, AFullDiskLosesNothing) {
  const Words part = runs() + Words{"--block", "16", "--shard", "0/1", "--out", path("r/")};
  // A limit on file sizes stands for the disk: 64 blocks of 512 or 1024 bytes.
  const Ran full = shell("trap '' XFSZ; ulimit -f 64; " + line(part));
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_NE(full.err.find("cannot be written"), std::string::npos) << full.err;
  EXPECT_EQ(std::count(full.err.begin(), full.err.end(), '\n'), 1) << full.err;
  EXPECT_GT(json({"status", path("r"), "--json"})["done"].get<int>(), 10);
  EXPECT_EQ(merge("r", "all.csv").code, 1);
  EXPECT_EQ(run(part).code, 0);
  EXPECT_EQ(merge("r", "all.csv").code, 0);
  EXPECT_EQ(content(path("all.csv")), run(runs()).out);
}

TEST_F(ShardedCommand, ThievesFinishWhatOthersNeverBegan) {
  const Words words = runs("1000") + Words{"--block", "16", "--steal", "--out", path("r/")};
  std::vector<pid_t> children;
  for (const char* part : {"0/4", "2/4"}) children.push_back(start(words + Words{"--shard", part}));
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(CommandLine::run({"merge", path("r")}).out, run(runs("1000")).out);
}

}  // namespace
}  // namespace articula::testing

#endif
