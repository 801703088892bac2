// The table of compiled kernels of the operational space; see dynamics/per_isa.hpp. Double only.
#pragma once

#include "articula/dynamics/per_isa.hpp"
#include "articula/task_space/memory.hpp"

namespace articula {

struct TaskKernels {
  using T = Tree<double>;
  using M = TaskMemory<double>;
  double (*update)(const T&, const double* q, const double* v, const M&);
  void (*gather)(const T&, const M&, const double* nu, double* out);
  void (*spread)(const T&, const M&, const double* F, double* nu);
  void (*forces)(const T&, const M&, const double* F, double* tau);
  void (*velocities)(const T&, const M&, const double* v, double* out);
  /// C v of the last update with v.
  void (*coriolis_forces)(const T&, const KernelMemory<double>&, double* tau);
  double (*invert_up_to_six)(int n, const double* A, double* inverse);
};

ARTICULA_DECLARE_KERNELS(TaskKernels, task_kernels)
inline const TaskKernels& task_kernels() { return ARTICULA_CHOOSE_KERNELS(task_kernels)(); }

}  // namespace articula
