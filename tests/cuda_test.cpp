// articula/cuda where there is no GPU: a stand-in for NVIDIA's driver and compiler (tests/cuda/stand_in.cpp) compiles the
// device programs for this processor and runs them by loops. tests/cuda/compare_main.cpp is for machines with a GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "articula/cuda/folding.hpp"
#include "articula/files/urdf.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/device_comparison.hpp"

namespace articula::testing {
namespace {

class Cuda : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    setenv("ARTICULA_CUDA_DRIVER", ARTICULA_STAND_IN, 1);
    setenv("ARTICULA_NVRTC", ARTICULA_STAND_IN, 1);
    setenv("ARTICULA_STAND_IN_COMPILER", ARTICULA_COMPILER, 1);
    setenv("ARTICULA_CUDA_CACHE", path("cache").c_str(), 1);
    unsetenv("ARTICULA_STAND_IN_FAILS");
  }
  void TearDown() override {
    for (const char* const name :
         {"ARTICULA_CUDA_DRIVER", "ARTICULA_NVRTC", "ARTICULA_CUDA_CACHE", "ARTICULA_STAND_IN_FAILS"})
      unsetenv(name);
    CommandLine::TearDown();
  }
  static Model pendulum() { return Model(one_joint_spec(JointKind::revolute)); }
  /// Gravity's force of one state, through the GPU's interface.
  static double gravity_force() {
    const Model model = pendulum();
    cuda::Batch<double> batch(model, {.memory = cuda::Where::host, .style = cuda::Style::rolled});
    const double q = 0.3;
    double tau = 0;
    batch.gravity_forces({&q, 1}, {&tau, 1});
    return tau;
  }
  static double expected_force() {
    const Model model = pendulum();
    Batch<double> batch(model);
    const double q = 0.3;
    double tau = 0;
    batch.gravity_forces({&q, 1}, {&tau, 1});
    return tau;
  }
  static std::string error_of(const char* failure) {
    setenv("ARTICULA_STAND_IN_FAILS", failure, 1);
    std::string said;
    try {
      gravity_force();
    } catch (const cuda::DeviceError& error) {
      said = error.what();
    }
    unsetenv("ARTICULA_STAND_IN_FAILS");
    return said;
  }
};

TEST_F(Cuda, SpecialisedProgramsOfABranchedTreeAgreeWithTheProcessor) {
  Rng rng(7);
  RandomOptions options;
  options.links = 2;
  options.kinds = {JointKind::revolute};
  ModelSpec spec = random_spec(rng, options);
  spec.joints[1].parent = spec.joints[0].parent;
  int count = 0;
  const auto on_difference = [&](const std::string& what, double difference, double rounding) {
    ++count;
    EXPECT_LE(difference, std::max(1e-12, 10 * rounding)) << what;
  };
  DeviceComparison<double> c(Model(spec), {.layout = Layout::columns}, 40, on_difference);
  c.compare(*find_algorithm("forward_dynamics"), false);    // limb by limb
  c.compare(*find_algorithm("linearized_forward"), false);  // by steps
  EXPECT_EQ(count, 2);
}

TEST_F(Cuda, ThreadsThatShareAStateAgreeWithTheProcessor) {
  Rng rng(8);
  RandomOptions options;
  options.links = 7;
  options.kinds = {JointKind::revolute};
  ModelSpec spec = random_spec(rng, options);
  // A trunk with a head and two arms of two links, and beside it a link on the world.
  const auto on = [&](int joint, int inboard) {
    spec.joints[joint].parent = inboard < 0 ? spec.joints[0].parent : spec.joints[inboard].child;
  };
  on(1, 0), on(2, 1), on(3, 0), on(4, 0), on(5, 4), on(6, -1);
  spec.joints[1].kind = spec.joints[4].kind = JointKind::prismatic;
  const Model model(spec);
  const cuda::Folding folding = cuda::fold(model, 2);
  EXPECT_EQ(folding.sides, 2);
  EXPECT_EQ(folding.slot.size(), 6u);
  EXPECT_EQ(cuda::fold(model, 4).sides, 1);  // no four limbs that are alike
  for (const Layout layout : {Layout::columns, Layout::rows}) {
    int count = 0;
    const auto on_difference = [&](const std::string& what, double difference, double rounding) {
      ++count;
      EXPECT_LE(difference, std::max(1e-12, 10 * rounding)) << what;
    };
    DeviceComparison<double> c(
        model, {.layout = layout, .style = cuda::Style::specialised, .tuning = cuda::Tuning{.sides = 2}}, 45,
        on_difference);
    c.compare(*find_algorithm("forward_dynamics"), false);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(c.device().prepare("forward_dynamics").sides, 2);
  }
}

TEST_F(Cuda, LimbsThatGoThroughLoopsAgreeWithTheProcessor) {
  Rng rng(9);
  RandomOptions options;
  options.links = 10;
  options.kinds = {JointKind::revolute};
  ModelSpec spec = random_spec(rng, options);
  // On a trunk of two links: a limb of three links, one of two that has a prismatic joint at its root, and a ball joint;
  // beside it two links on the world.
  const auto on = [&](int joint, int inboard) {
    spec.joints[joint].parent = inboard < 0 ? spec.joints[0].parent : spec.joints[inboard].child;
  };
  on(1, 0), on(2, 1), on(3, 2), on(4, 3), on(5, 1), on(6, 5), on(7, 0), on(8, -1), on(9, 8);
  spec.joints[0].kind = spec.joints[5].kind = JointKind::prismatic;
  spec.joints[7].kind = JointKind::spherical;
  spec.joints[3].placement.p = {0, 0, 0};
  for (const Base base : {Base::fixed, Base::free}) {
    const Model model(spec, {.base = base});
    ASSERT_TRUE(cuda::can_loop(model));
    EXPECT_EQ(cuda::limb_loops(model).size(), 3u);
    int count = 0;
    const auto on_difference = [&](const std::string& what, double difference, double rounding) {
      ++count;
      EXPECT_LE(difference, std::max(1e-12, 10 * rounding)) << what;
    };
    DeviceComparison<double> c(model,
                               {.layout = base == Base::fixed ? Layout::columns : Layout::rows,
                                .style = cuda::Style::specialised,
                                .tuning = cuda::Tuning{.threads = 32, .loops = true}},
                               45, on_difference);
    c.compare(*find_algorithm("forward_dynamics"), false);
    EXPECT_EQ(count, 1);
  }
}

TEST_F(Cuda, ProgramsThatTheCompilerLeftWithoutRegistersAreNotTaken) {
  const auto style = [] {
    cuda::Batch<double> batch(pendulum());
    return batch.prepare("gravity_forces").style;
  };
  EXPECT_EQ(style(), cuda::Style::specialised);
  setenv("ARTICULA_STAND_IN_LOCAL_BYTES", "9000", 1);
  EXPECT_EQ(style(), cuda::Style::rolled);
  unsetenv("ARTICULA_STAND_IN_LOCAL_BYTES");
}

TEST_F(Cuda, ProgramsAreChosenByTheModelsSize) {
  using cuda::Style;
  const auto model = [](const char* name, Base base) {
    return read_urdf(std::string(ARTICULA_SOURCE_DIR) + "/models/" + name + ".urdf", {.base = base});
  };
  const Model quadruped = model("quadruped", Base::free), humanoid = model("humanoid", Base::free);
  const auto style = [](const Model& m, const char* name, bool in_double) {
    return cuda::best_style(m, {.algorithm = name, .uses = {}, .results = {}}, in_double);
  };
  EXPECT_EQ(style(quadruped, "rollout", false), Style::specialised);
  EXPECT_EQ(style(quadruped, "rollout", true), Style::rolled);
  EXPECT_EQ(style(quadruped, "inverse_mass_matrix", true), Style::specialised);
  EXPECT_EQ(style(quadruped, "linearized_inverse", false), Style::rolled);
  EXPECT_EQ(style(humanoid, "forward_dynamics", true), Style::specialised);
  EXPECT_EQ(style(humanoid, "inverse_dynamics", false), Style::rolled);
  const cuda::Task accelerate{.algorithm = "forward_dynamics", .uses = {}, .results = {}};
  const auto tuning = [&](const Model& m, bool in_double) {
    return cuda::best_tuning(m, accelerate, Style::specialised, in_double);
  };
  EXPECT_EQ(tuning(humanoid, false).sides, 2);
  EXPECT_EQ(tuning(humanoid, true).sides, 1);
  EXPECT_TRUE(tuning(humanoid, true).loops);
  EXPECT_EQ(tuning(quadruped, false).sides, 1);
  EXPECT_EQ(tuning(quadruped, true).sides, 2);
  EXPECT_EQ(tuning(quadruped, true).blocks, 0);
}

TEST_F(Cuda, EveryFailureOfTheDeviceIsOneError) {
  EXPECT_NEAR(gravity_force(), expected_force(), 1e-14);
  const auto says = [](const std::string& said, const char* words) {
    EXPECT_NE(said.find(words), std::string::npos) << "expected '" << words << "' in: " << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 0) << said;
  };
  says(error_of("cuMemAlloc_v2=2"), "out of memory");
  says(error_of("cuMemHostAlloc=2"), "out of memory");
  says(error_of("cuLaunchKernel=719"), "launch failure");
  says(error_of("cuMemcpyDtoHAsync_v2=719"), "launch failure");
  says(error_of("cuModuleLoadData=209"), "no kernel image");
  says(error_of("cuDevicePrimaryCtxRetain=46"), "busy or unavailable");
  EXPECT_NEAR(gravity_force(), expected_force(), 1e-14);  // nothing is left behind
  fs::remove_all(path("cache"));
  says(error_of("nvrtcCompileProgram=6"), "could not compile gravity_forces for sm_90");
}

TEST_F(Cuda, DamagedEntriesOfTheCacheAreMadeAgain) {
  gravity_force();
  fs::path entry;
  for (const auto& file : fs::directory_iterator(path("cache"))) entry = file.path();
  const auto size = fs::file_size(entry);
  fs::resize_file(entry, size / 2);
  EXPECT_NEAR(gravity_force(), expected_force(), 1e-14);
  EXPECT_EQ(fs::file_size(entry), size);
}

TEST_F(Cuda, TwoProcessesFillOneCache) {
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    if (child == 0) _exit(std::abs(gravity_force() - expected_force()) < 1e-14 ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int entries = 0;
  for (const auto& file : fs::directory_iterator(path("cache")))
    entries += file.path().extension() == ".cubin";
  EXPECT_EQ(entries, 1);
}

TEST_F(Cuda, OperationalSpaceWithMimicJointsIsRefused) {
  const Model model(massless_followers_spec());
  ASSERT_TRUE(model.has_mimics());
  cuda::Batch<double> batch(model, {.memory = cuda::Where::host});
  const std::vector<double> q(model.nq()), v(model.nv());
  std::vector<double> omega(36);
  const int frame = 0;
  EXPECT_THROW(batch.operational_space({&frame, 1}, q, v, omega, {}, {}, {}, {}, {}), ArgumentError);
}

TEST_F(Cuda, EvalGivesTheProcessorsNumbers) {
  std::string states;
  for (int i = 0; i < 9; ++i)
    states += "{\"q\": [" + std::to_string(0.1 * i) + ", 0.2], \"v\": [0.1, 0.3], \"tau\": [0, 0]}\n";
  const Ran cpu = run({"eval", "double_pendulum", "forward_dynamics"}, states);
  const Ran gpu = run({"eval", "double_pendulum", "forward_dynamics", "--device", "cuda"}, states);
  ASSERT_EQ(gpu.code, 0) << gpu.err;
  const Json a = Json::parse(cpu.out)["results"], b = Json::parse(gpu.out)["results"];
  ASSERT_EQ(b.size(), 9u);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int k = 0; k < 2; ++k)
      EXPECT_NEAR(a[i]["forward_dynamics"][k].get<double>(), b[i]["forward_dynamics"][k].get<double>(),
                  1e-11);
}

/// All numbers of a table after its first line.
std::vector<double> numbers(const std::string& table) {
  std::vector<double> out;
  std::istringstream fields(table.substr(table.find('\n')));
  for (std::string line, field; std::getline(fields, line);)
    for (std::istringstream row(line); std::getline(row, field, ',');)
      out.push_back(std::atof(field.c_str()));
  return out;
}

/// More runs than a GPU takes at once, so that threads take turns, with masses of their own and without.
TEST_F(Cuda, MonteCarloGivesTheProcessorsNumbersOnAnyThreads) {
  constexpr std::size_t runs = 9001;
  for (const std::string masses : {"", R"(, "mass": {"*": {"uniform": [0.5, 2]}})"}) {
    const Words here{"simulate",        "double_pendulum",
                     "--monte-carlo",   std::to_string(runs),
                     "--duration",      "0.05",
                     "--step",          "0.01",
                     "--integrator",    "rk4",
                     "--distributions", write("d.json", R"({"q": {"*": {"normal": [0, 1]}})" + masses + "}")};
    const auto with = [](Words words, const Words& more) {
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    const Ran cpu = run(here), one = run(with(here, {"--device", "cuda", "--threads", "1"})),
              four = run(with(here, {"--device", "cuda", "--threads", "4"}));
    ASSERT_EQ(four.code, 0) << four.err;
    EXPECT_EQ(one.out, four.out);
    const std::vector<double> a = numbers(cpu.out), b = numbers(four.out);
    ASSERT_GT(a.size(), 10 * runs);
    ASSERT_EQ(a.size(), b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      worst = std::max(worst, std::abs(a[i] - b[i]) / (1 + std::abs(a[i])));
    EXPECT_LT(worst, 1e-10);
  }
}

TEST_F(Cuda, ShardsOfOneMachineHaveEachTheirOwnGpu) {
  std::string states;
  for (int i = 0; i < 9; ++i) states += "{\"q\": [" + std::to_string(0.1 * i) + ", 0.2]}\n";
  const std::string program = quoted(ARTICULA_PROGRAM);
  const std::string eval = program + " eval double_pendulum gravity_forces --device cuda --states " +
                           quoted(write("s.ndjson", states));
  const std::string simulate =
      program +
      " simulate double_pendulum --monte-carlo 3 --duration 0.05 --step 0.01 --integrator rk4 --device cuda";
  /// The GPUs that a command uses, of two.
  const auto used = [&](const std::string& variables, const std::string& command) {
    fs::remove(path("log"));
    const Ran ran =
        shell("env ARTICULA_STAND_IN_DEVICES=2 ARTICULA_STAND_IN_LOG=log " + variables + " " + command);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::string out = content(path("log"));
    std::erase(out, '\n');
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  EXPECT_EQ(used("", eval + " --out one.json"), "0");
  EXPECT_EQ(used("", eval + " --shard 0/2 --out e/"), "0");
  EXPECT_EQ(used("", eval + " --shard 1/2 --out e/"), "1");
  EXPECT_EQ(used("OMPI_COMM_WORLD_LOCAL_RANK=3", eval + " --shard 0/2 --out f/"), "1");
  const std::string mpi = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=";
  EXPECT_EQ(used(mpi + "0 OMPI_COMM_WORLD_LOCAL_RANK=1", simulate + " --out r/"), "1");
  EXPECT_EQ(used(mpi + "1 OMPI_COMM_WORLD_LOCAL_RANK=2", simulate + " --out r/"), "0");
  EXPECT_EQ(run({"merge", path("r")}).out, shell(simulate).out);
  EXPECT_EQ(run({"merge", path("e")}).out, content(path("one.json")));
}

TEST_F(Cuda, WithoutADriverThereIsOneClearError) {
  setenv("ARTICULA_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  expect_failure(1, {"eval", "double_pendulum", "forward_dynamics", "--device", "cuda"},
                 R"({"q": [0, 0], "v": [0, 0], "tau": [0, 0]})", {"no GPU"});
  expect_failure(1, {"bench", "double_pendulum", "--batch", "8", "--device", "cuda"}, "", {"no GPU"});
  expect_failure(1,
                 {"simulate", "double_pendulum", "--monte-carlo", "2", "--duration", "0.1", "--integrator",
                  "rk4", "--device", "cuda"},
                 "", {"no GPU"});
  expect_failure(2, {"simulate", "double_pendulum", "--duration", "0.1", "--device", "cuda"}, "",
                 {"--monte-carlo"});
  setenv("ARTICULA_CUDA_DRIVER", ARTICULA_STAND_IN, 1);
  setenv("ARTICULA_NVRTC", "/nowhere", 1);
  expect_failure(1, {"eval", "double_pendulum", "forward_dynamics", "--device", "cuda"},
                 R"({"q": [0, 0], "v": [0, 0], "tau": [0, 0]})", {"NVRTC", "ARTICULA_NVRTC"});
}

}  // namespace
}  // namespace articula::testing
