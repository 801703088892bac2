// The program that a GPU runs: the kernels' texts, which the library carries inside itself, and the model as tables.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "articula/algorithms/algorithms.hpp"

namespace articula::cuda {

/// rolled: the model's tables are read while the program runs; small, and soon compiled. specialised: compiled for the
/// model, every loop over bodies unrolled: several times as fast for small models, and slow to compile.
enum class Style { rolled, specialised };

/// What a program computes, beside the model.
struct Task {
  std::string algorithm;  // a name of device_algorithms.hpp, or "rollout"
  std::vector<Argument> uses;
  struct Result {
    std::string key;
    Part part;         // its shape; `size` counts
    std::size_t size;  // numbers per state
  };
  std::vector<Result> results;
  std::vector<int> frames{};
  Axes axes = Axes::world;
  int listed = -1;
  bool wrenches = false, varied = false;
  bool speeds = false;  // rollouts: also the largest speed
  Layout layout = Layout::rows;
  Integrator integrator = Integrator::rk4;
};

/// How a program's threads share a multiprocessor.
struct Tuning {
  int threads = 128;  // of a block
  int blocks =
      0;  // that are to fit a multiprocessor at least, which limits registers; 0: the compiler's choice
  int sides = 1;  // threads that share a state, each with one of limbs that are alike (folding.hpp)
  bool loops =
      false;  // limbs that are serial chains of revolute joints go through one loop (device_loops.hpp)
};

struct Program {
  std::string text;                                        // the file to compile
  std::vector<std::pair<std::string, std::string>> files;  // what it includes, by name
  std::string algorithm;                                   // for messages
  std::vector<std::string> options;                        // of the compiler
  int threads;                                             // of a block
  int sides;                                               // threads that share a state
};

template <class S>
Program program_of(const Model& model, const Task& task, Style style, const Tuning& tuning = {});

/// What pays: specialised programs for models that are small enough for the algorithm.
Style best_style(const Model& model, const Task& task, bool in_double);
Tuning best_tuning(const Model& model, const Task& task, Style style, bool in_double);
/// Whether the linearized forward dynamics are better made of M^-1 and the linearized inverse dynamics, by a kernel each,
/// than by one kernel that has to keep all of both.
bool linearized_in_steps(const Model& model);

}  // namespace articula::cuda
