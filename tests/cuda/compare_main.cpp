// On a machine with a GPU: every algorithm, every joint kind, the models of this repository and random trees, against the
// CPU's batch. One process for each part of the models compiles and compares; `make gpu-test` runs it.
//
//   articula_gpu_test [--states N] [--processes N] [--only TEXT] [--brief] MODELS_FOLDER
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "articula/files/urdf.hpp"
#include "tests/cuda/graph_capture.hpp"
#include "tests/support/device_comparison.hpp"

namespace articula::testing {
namespace {

struct Named {
  std::string name;
  std::function<Model()> make;
};

std::vector<Named> models(const std::string& folder) {
  std::vector<Named> all;
  for (const char* const robot :
       {"humanoid", "quadruped", "arm7", "puma560", "double_pendulum", "planar_2r", "hand", "gripper_fingers",
        "four_bar_chain", "slider_crank_chain", "stewart_leg"})
    all.push_back({robot, [=] {
                     const bool free = !std::strcmp(robot, "quadruped") || !std::strcmp(robot, "humanoid");
                     return read_urdf(folder + "/" + robot + ".urdf",
                                      {.base = free ? Base::free : Base::fixed});
                   }});
  for (const JointKind kind : moving_joint_kinds())
    all.push_back({fmt::format("one {}", name_of(kind)), [=] { return Model(one_joint_spec(kind)); }});
  for (int seed = 1; seed <= 4; ++seed)
    all.push_back({fmt::format("tree {}", seed), [=] {
                     Rng rng(seed);
                     RandomOptions options;
                     options.links = rng.integer(4, 9);
                     options.mass_ratio = 10;
                     options.mimic = seed == 4 ? 0.5 : 0;
                     return Model(random_spec(rng, options), {.base = seed == 3 ? Base::free : Base::fixed});
                   }});
  return all;
}

struct Settings {
  std::size_t states = 300;
  int processes = 1;
  std::string only, models;
  bool brief = false;  // columns alone
};

/// Those whose programs the library specialises; of large models, fewer, as these take longest to compile.
std::vector<const char*> few_algorithms(const Named& model) {
  if (model.make().nv() > 8) return {"forward_dynamics", "inverse_dynamics"};
  return {"forward_dynamics",    "inverse_dynamics",   "mass_matrix",
          "inverse_mass_matrix", "linearized_forward", "linearized_inverse"};
}

/// Returns how many comparisons failed.
template <class S>
int compare(const Named& model, const Settings& settings, const cuda::BatchOptions& options, const char* how,
            bool everything) {
  int failures = 0, count = 0;
  double worst = 0;
  std::string worst_name;
  const double limit = sizeof(S) == sizeof(double) ? 1e-12 : 2e-5;
  const std::size_t states = options.layout == Layout::tiles ? settings.states / 32 * 32 : settings.states;
  const auto on_difference = [&](const std::string& what, double difference, double rounding) {
    ++count;
    if (difference > worst)
      worst = difference, worst_name = fmt::format("{} (rounding {:.1e})", what, rounding);
    // Where rounding of the arguments alone moves results by more than that, no two programs agree.
    if (difference <= std::max(limit, 10 * rounding)) return;
    ++failures;
    fmt::print("FAILED {} {} {} {}: {:.2g} from the CPU's batch, rounding {:.2g}\n", model.name,
               sizeof(S) == 8 ? "double" : "float", how, what, difference, rounding);
  };
  try {
    DeviceComparison<S> c(model.make(), options, states, on_difference);
    if (everything) {
      c.everything();
    } else {
      for (const char* const name : few_algorithms(model)) c.compare(*find_algorithm(name), false);
      if (options.layout == Layout::tiles) c.compare(*find_algorithm("forward_dynamics"), true);
      c.rollouts(Integrator::rk4);
    }
  } catch (const std::exception& error) {
    ++failures;
    fmt::print("FAILED {} {} {}: {}\n", model.name, sizeof(S) == 8 ? "double" : "float", how, error.what());
  }
  fmt::print("{:20} {:6} {:24} {:3} comparisons, worst {:.1e} {}\n", model.name,
             sizeof(S) == 8 ? "double" : "float", how, count, worst, worst_name);
  std::fflush(stdout);
  return failures;
}

/// Returns whether it failed.
int compare_graph(const Named& model) try {
  const double difference = difference_through_a_graph(model.make(), 300);
  const bool failed = difference > 1e-11;
  fmt::print("{}{:20} in a CUDA graph: {}\n", failed ? "FAILED " : "", model.name,
             difference < 0 ? "this driver has none" : fmt::format("{:.1e} from the CPU's batch", difference));
  std::fflush(stdout);
  return failed;
} catch (const std::exception& error) {
  fmt::print("FAILED {} in a CUDA graph: {}\n", model.name, error.what());
  return 1;
}

/// What there is to compare, as jobs for several processes.
std::vector<std::function<int()>> jobs_of(const Named& model, const Settings& settings) {
  using cuda::Where;
  std::vector<std::function<int()>> jobs;
  const auto add = [&]<class S>(S, cuda::BatchOptions options, const char* how, bool everything) {
    jobs.push_back([=, &settings] { return compare<S>(model, settings, options, how, everything); });
  };
  // Rolled programs are soon compiled; what the library would take is below.
  add(1.0, {.layout = Layout::columns, .style = cuda::Style::rolled}, "columns", true);
  add(1.0f, {.layout = Layout::columns, .style = cuda::Style::rolled}, "columns", true);
  if (settings.brief) return jobs;
  add(1.0, {.layout = Layout::rows}, "rows", false);
  add(1.0f, {.layout = Layout::tiles}, "tiles", false);
  add(1.0, {.layout = Layout::columns, .memory = Where::host}, "columns, host", false);
  add(1.0f, {.layout = Layout::rows, .memory = Where::host}, "rows, host", false);
  return jobs;
}

}  // namespace
}  // namespace articula::testing

int main(int argc, char** argv) {
  using namespace articula::testing;
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--states" && i + 1 < argc)
      settings.states = std::stoul(argv[++i]);
    else if (option == "--processes" && i + 1 < argc)
      settings.processes = std::stoi(argv[++i]);
    else if (option == "--brief")
      settings.brief = true;
    else if (option == "--only" && i + 1 < argc)
      settings.only = argv[++i];
    else
      settings.models = option;
  }
  std::vector<Named> all = models(settings.models);
  if (!settings.only.empty())
    std::erase_if(all, [&](const Named& n) { return n.name.find(settings.only) == std::string::npos; });
  std::vector<std::function<int()>> jobs;
  for (const Named& model : all)
    if (model.name == "arm7" || model.name == "double_pendulum")
      jobs.push_back([&] { return compare_graph(model); });
  for (const Named& model : all)
    for (auto& job : jobs_of(model, settings)) jobs.push_back(std::move(job));
  // Taken one after the other by whoever is free.
  auto* const next = new (mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::size_t>(0);
  const auto work = [&] {
    int failures = 0;
    for (std::size_t i; (i = (*next)++) < jobs.size();) failures += jobs[i]();
    return failures;
  };
  std::vector<pid_t> children;
  for (int p = 1; p < settings.processes; ++p) {
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
  fmt::print("{}\n", failed ? "FAILED" : "all agree");
  return failed ? 1 : 0;
}
