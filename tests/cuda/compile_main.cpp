// Where there is no GPU: every program of cuda::Batch, compiled by NVIDIA's run-time compiler for each architecture; of the
// driver a stand-in is enough (tests/cuda/stand_in.cpp).
//
//   ARTICULA_CUDA_DRIVER=STAND_IN ARTICULA_NVRTC=.. articula_gpu_compile [--processes N] [--only TEXT]
//       [--architectures 80,90,100] MODELS_FOLDER
//
// All calls of a tree with every joint kind, rolled, and what the library specialises of an arm, for every architecture; for
// sm_90 also those of mimic joints and of robots with legs.
#include <fmt/format.h>

#include <chrono>
#include <sstream>

#include "articula/cuda/batch.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "tests/support/device_models.hpp"
#include "tests/support/processes.hpp"

namespace articula::testing {
namespace {

/// f() with the time that it took; returns whether it failed.
template <class F>
int timed(const std::string& what, const F& f) try {
  const auto begin = std::chrono::steady_clock::now();
  f();
  fmt::print("{}: {:.1f} s\n", what,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  std::fflush(stdout);
  return 0;
} catch (const std::exception& error) {
  fmt::print("FAILED {}: {}\n", what, error.what());
  std::fflush(stdout);
  return 1;
}

const cuda::BatchOptions columns{.layout = Layout::columns};

struct Jobs {
  std::string only;
  std::vector<std::function<int()>> all{};

  /// compile(batch, model) makes one program.
  template <class S, class F>
  void add(const Named& model, int architecture, const cuda::BatchOptions& options, const std::string& call,
           bool varied, const F& compile) {
    const std::string what = fmt::format("sm_{} {} {} {}{}", architecture, model.name,
                                         sizeof(S) == 8 ? "double" : "float", call, varied ? ", varied" : "");
    if (what.find(only) == std::string::npos) return;
    all.push_back([=] {
      setenv("ARTICULA_STAND_IN_CAPABILITY", std::to_string(architecture).c_str(), 1);
      return timed(what, [&] {
        const Model made = model.make();
        cuda::Batch<S> batch(made, options);
        if (varied) {
          const std::vector<double> own = inertial_parameters(made);
          batch.vary(std::vector<S>(own.begin(), own.end()));
        }
        compile(batch, made);
      });
    });
  }
  template <class S>
  void add_call(const Named& model, int architecture, const cuda::BatchOptions& options, const char* name,
                bool wrenches = false, bool varied = false) {
    const std::string call = std::string(name) + (wrenches ? " with wrenches" : "");
    add<S>(model, architecture, options, call, varied, [=](cuda::Batch<S>& batch, const Model& made) {
      const Algorithm* const a = find_algorithm(name);
      std::vector<int> frames;
      if (!a || a->frames != FramesNeeded::none) frames.push_back(static_cast<int>(made.frames().size()) - 1);
      batch.prepare(name, frames, wrenches);
    });
  }
  template <class S>
  void add_rollout(const Named& model, int architecture, const cuda::BatchOptions& options,
                   Integrator integrator, bool varied = false, bool fastest = false) {
    add<S>(model, architecture, options, "rollout " + std::string(name_of(integrator)), varied,
           [=](cuda::Batch<S>& batch, const Model&) { batch.prepare_rollout(integrator, fastest); });
  }

  /// All that DeviceComparison compares.
  template <class S>
  void add_everything(const Named& model, int architecture, bool mimics) {
    const cuda::BatchOptions options{.layout = Layout::columns, .style = cuda::Style::rolled};
    for (const Algorithm& a : algorithms()) {
      if (!a.many<S>() || (mimics && (!a.mimics || std::string_view(a.name) == "operational_space")))
        continue;
      add_call<S>(model, architecture, options, a.name);
      if (a.external_forces && !a.options_one_by_one) add_call<S>(model, architecture, options, a.name, true);
    }
    for (const char* const name : {"energies", "poses"}) add_call<S>(model, architecture, options, name);
    for (const Integrator i : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4})
      add_rollout<S>(model, architecture, options, i);
    for (const char* const name : {"forward_dynamics", "linearized_forward"})
      add_call<S>(model, architecture, options, name, false, true);
    add_rollout<S>(model, architecture, options, Integrator::rk4, true, true);
  }
  /// What the library itself chooses, for calls that it specialises.
  template <class S>
  void add_chosen(const Named& model, int architecture) {
    for (const char* const name : {"forward_dynamics", "inverse_dynamics", "mass_matrix",
                                   "inverse_mass_matrix", "linearized_forward", "forward_gradient"})
      add_call<S>(model, architecture, columns, name);
    add_rollout<S>(model, architecture, columns, Integrator::rk4);
  }
};

}  // namespace
}  // namespace articula::testing

int main(int argc, char** argv) {
  using namespace articula::testing;
  int processes = 1;
  std::string architectures = "80,90,100", models;
  Jobs jobs;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--processes" && i + 1 < argc)
      processes = std::stoi(argv[++i]);
    else if (option == "--only" && i + 1 < argc)
      jobs.only = argv[++i];
    else if (option == "--architectures" && i + 1 < argc)
      architectures = argv[++i];
    else
      models = option;
  }
  std::istringstream list(architectures);
  for (std::string one; std::getline(list, one, ',');) {
    const int architecture = std::stoi(one);
    // First those that take longest; the largest for one architecture.
    const Named arm = robot(models, "arm7");
    if (architecture == 90) {
      const Named quadruped = robot(models, "quadruped"), humanoid = robot(models, "humanoid");
      jobs.add_call<float>(humanoid, architecture, columns, "forward_dynamics");   // two threads for a state
      jobs.add_call<double>(humanoid, architecture, columns, "forward_dynamics");  // limbs in loops
      jobs.add_chosen<double>(quadruped, architecture);
      jobs.add_chosen<float>(quadruped, architecture);
    }
    jobs.add_chosen<double>(arm, architecture);
    jobs.add_chosen<float>(arm, architecture);
    const Named kinds{every_kind, tree_of_every_kind};
    jobs.add_everything<double>(kinds, architecture, false);
    jobs.add_everything<float>(kinds, architecture, false);
    if (architecture != 90) continue;
    const Named mimics{with_mimics, [] { return random_tree(4, 0.5, articula::Base::fixed); }};
    jobs.add_everything<double>(mimics, architecture, true);
    jobs.add_everything<float>(mimics, architecture, true);
  }
  const bool failed = run_in_processes(processes, jobs.all);
  fmt::print("{} programs: {}\n", jobs.all.size(), failed ? "FAILED" : "all compiled");
  return failed ? 1 : 0;
}
