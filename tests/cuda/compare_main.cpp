// On a machine with a GPU: cuda::Batch against the CPU's batch. Every algorithm with every joint kind, with mimic joints and
// with a free base, in double and float; the usual ones of the robots of this repository, of random trees and of each
// joint kind; the programs that the library specialises; layouts, the host's memory, CUDA graphs.
//
//   articula_gpu_test [--states N] [--processes N] [--only TEXT] [--brief | --chosen] MODELS_FOLDER
//
// Nearly all of its time is the compiler's: processes share the work, and what they compiled is in the user's cache then.
#include <fmt/format.h>

#include "tests/cuda/graph_capture.hpp"
#include "tests/support/device_comparison.hpp"
#include "tests/support/device_models.hpp"
#include "tests/support/processes.hpp"

namespace articula::testing {
namespace {

std::vector<Named> models(const std::string& folder) {
  std::vector<Named> all;
  for (const char* const name :
       {"humanoid", "quadruped", "arm7", "puma560", "double_pendulum", "planar_2r", "hand", "gripper_fingers",
        "four_bar_chain", "slider_crank_chain", "stewart_leg"})
    all.push_back(robot(folder, name));
  all.insert(all.begin() + 3, {{every_kind, tree_of_every_kind},
                               {with_mimics, [] { return random_tree(4, 0.5, Base::fixed); }}});
  for (int seed = 1; seed <= 3; ++seed)
    all.push_back({fmt::format("tree {}", seed),
                   [=] { return random_tree(seed, 0, seed == 3 ? Base::free : Base::fixed); }});
  for (const JointKind kind : moving_joint_kinds())
    all.push_back({fmt::format("one {}", name_of(kind)), [=] { return Model(one_joint_spec(kind)); }});
  return all;
}

struct Settings {
  std::size_t states = 300;
  int processes = 1;
  std::string only, models;
  bool brief = false;   // every algorithm of models that have all, in double, columns
  bool chosen = false;  // what the library specialises
};

/// What is compared of a model: every call or a few; in parts, so that processes can share it.
struct Extent {
  bool everything = false;
  int part = 0, parts = 1;
  std::vector<const char*> algorithms{};
  bool rollout = true;
};
const std::vector<const char*> usual{"forward_dynamics", "inverse_dynamics", "inverse_mass_matrix",
                                     "linearized_forward"};

/// Returns how many comparisons failed.
template <class S>
int compare(const Named& model, const Settings& settings, const cuda::BatchOptions& options, const char* how,
            const Extent& extent) {
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
    if (extent.everything) {
      c.everything(extent.part, extent.parts);
    } else {
      for (const char* const name : extent.algorithms) c.compare(*find_algorithm(name), false);
      if (extent.rollout) c.rollouts(Integrator::rk4);
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
  fmt::print(
      "{}{:20} in a CUDA graph: {}\n", failed ? "FAILED " : "", model.name,
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
  const auto add = [&]<class S>(S, cuda::BatchOptions options, const std::string& how, const Extent& extent) {
    jobs.push_back([=, &settings] { return compare<S>(model, settings, options, how.c_str(), extent); });
  };
  const std::string_view name = model.name;
  const bool all = name == every_kind || name == with_mimics || name == "quadruped" || name == "arm7";
  // Those that take longest to compile.
  if (!settings.brief && (name == "quadruped" || name == "arm7" || name == "humanoid")) {
    Extent special{.algorithms = {"forward_dynamics"}, .rollout = false};
    if (name != "humanoid")
      special.algorithms.insert(special.algorithms.end(), {"inverse_dynamics", "mass_matrix",
                                                           "inverse_mass_matrix", "linearized_forward"});
    add(1.0, {.layout = Layout::columns}, "the library's programs", special);
    add(1.0f, {.layout = Layout::columns}, "the library's programs", special);
  }
  if (settings.chosen) return jobs;
  // Rolled programs are soon compiled.
  const cuda::BatchOptions columns{.layout = Layout::columns, .style = cuda::Style::rolled};
  constexpr int parts = 8;
  for (int part = 0; all && part < parts; ++part) {
    const std::string how = fmt::format("all calls, part {}", part + 1);
    add(1.0, columns, how, {.everything = true, .part = part, .parts = parts});
    if (!settings.brief) add(1.0f, columns, how, {.everything = true, .part = part, .parts = parts});
  }
  if (settings.brief) return jobs;
  if (all && name != every_kind) return jobs;
  add(1.0, {.layout = Layout::rows, .memory = Where::host, .style = cuda::Style::rolled}, "rows, host",
      {.algorithms = usual});
  add(1.0f, {.layout = Layout::tiles, .style = cuda::Style::rolled}, "tiles", {.algorithms = usual});
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
    else if (option == "--chosen")
      settings.chosen = true;
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
    if (!settings.chosen && (model.name == "arm7" || model.name == "double_pendulum"))
      jobs.push_back([&] { return compare_graph(model); });
  for (const Named& model : all)
    for (auto& job : jobs_of(model, settings)) jobs.push_back(std::move(job));
  const bool failed = run_in_processes(settings.processes, jobs);
  fmt::print("{}\n", failed ? "FAILED" : "all agree");
  return failed ? 1 : 0;
}
