// What cuda::Batch's calls share: loaded kernels, checks, and the way through the host's memory. Only for
// articula/cuda/*.cpp.
#pragma once

#include <vector>

#include "articula/batch/threads.hpp"
#include "articula/cuda/batch.hpp"

namespace articula::cuda {

/// A loaded program. Calls find theirs by comparing, without making anything.
struct Kernel {
  std::string name;
  std::vector<int> frames;
  Axes axes;
  bool wrenches, varied, speeds;
  Integrator integrator;
  std::string for_call;              // in the caller's words, where it is a step of another call
  std::vector<const Kernel*> steps;  // of a call that is made of several kernels, and has none itself
  Handle module = nullptr, function = nullptr;
  KernelUse use{};
  std::size_t failed = 0;  // its place in Data::failed
};
struct WantedKernel {
  std::string_view name;
  std::span<const int> frames{};
  Axes axes = Axes::world;
  bool wrenches = false, varied = false;
  bool speeds = false;  // rollouts: the largest one is asked for
  Integrator integrator = Integrator::rk4;
  std::string_view for_call{};
};

/// An argument or result: numbers of all states, n per state.
template <class T>
struct Numbers {
  const char* name;
  T* x;
  std::size_t n;
};

constexpr std::size_t most_kernels = 256;
constexpr int most_inputs = argument_count + 1;

template <class S>
struct Batch<S>::Data {
  Data(const Model& m, const BatchOptions& o);
  ~Data();

  const Kernel& kernel(const WantedKernel& wanted, const Algorithm* algorithm);
  void compile(Kernel& kernel, const Task& task);
  void load(Kernel& kernel, const Task& task, Style style);
  const Kernel& linearized_by_steps();
  void compute(const Algorithm& algorithm, const Call<S>& call);
  /// Launches or, for the host's memory, copies and launches piece by piece. args has everything but addresses of in and
  /// out, which are where their names say: `place` gives the address in args.
  struct Traffic {
    Numbers<const S> in[most_inputs];
    const S** in_place[most_inputs];
    int inputs = 0;
    Numbers<S> out[most_parts];
    S** out_place[most_parts];
    int outputs = 0;
    void take(const char* name, std::span<const S> x, std::size_t n, const S** place) {
      in[inputs] = {name, x.data(), n}, in_place[inputs++] = place;
    }
    void give(const char* name, std::span<S> x, std::size_t n, S** place) {
      out[outputs] = {name, x.data(), n}, out_place[outputs++] = place;
    }
  };
  void run(const Kernel& kernel, Arguments<S>& args, Traffic& traffic, std::size_t count);
  void run_on_host(const Kernel& kernel, Arguments<S>& args, Traffic& traffic, std::size_t count);
  void launch(const Kernel& kernel, const Arguments<S>& args, Handle stream);
  void launch_steps(const Kernel& kernel, const Arguments<S>& args, Handle stream);
  void rollout(const char* function, In<S> q, In<S> v, In<S> tau, const RolloutOptions& options,
               Out<S> q_path, Out<S> v_path, Out<S> fastest);
  /// host: the arguments of the call that has ended, where they can be read.
  void report(const Traffic* host = nullptr, std::size_t count = 0);
  std::size_t count_of(const char* function, std::size_t size_of_q) const;
  void require(const char* function, const char* name, std::size_t size, std::size_t count,
               std::size_t n) const;

  Model model;
  BatchOptions options;
  std::shared_ptr<const Context> context;
  std::vector<std::unique_ptr<Kernel>> kernels;
  Array<unsigned long long> failed;  // one for each kernel: see Arguments::failed
  std::vector<unsigned long long> failed_here;
  // Of states with masses of their own.
  std::size_t varied_count = 0;  // none: zero
  Array<S> inertias, armature;

  /// Room for one piece of a call on the host's memory.
  struct Lane {
    Handle stream = nullptr, done = nullptr;
    Array<S> device;
    S* pinned = nullptr;
    std::size_t size = 0;
    std::size_t first = 0, count = 0;  // what is under way; count zero: nothing
  };
  Lane lanes[3];
  void make_room(Lane& lane, std::size_t size);
  /// Between the caller's memory and a lane's, which one thread copies slower than the bus does.
  struct Copy {
    S* to;
    const S* from;
    std::size_t size;
  };
  std::vector<Copy> copies;
  std::unique_ptr<Threads> copiers;
  void copy();
};

}  // namespace articula::cuda
