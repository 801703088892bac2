// The table of compiled kernels for the operational space of many states: see kernels.hpp.
#pragma once

#include "articula/dynamics/per_isa.hpp"
#include "articula/task_space/memory.hpp"

namespace articula {

template <class T>
struct TaskTable {
  using Model = Tree<T>;
  using M = TaskMemory<T>;
  /// Sweeps at a state; v null: at rest.
  void (*update)(const Model&, const T* q, const T* v, const M&, T* smallest);
  /// Omega of all frames, stacked; Omega g; and for v not null J v, J' v and Omega c.
  void (*terms)(const Model&, const T* v, const M&, T* omega, T* gravity, T* velocity, T* bias, T* coriolis);
  void (*forces)(const Model&, const M&, const T* F, T* tau);  // J* F
  void (*rates)(const Model&, const M&, const T* F, T* v);     // M^-1 J* F
  /// n x n; pivots: the smallest of each lane, not positive: the inverse is nothing.
  void (*invert)(int n, const T* A, T* scratch, T* inverse, T* pivots);
  void (*times)(int n, const T* A, const T* x, T* y);
};

ARTICULA_DECLARE_KERNELS(TaskTable<double>, tasks_in_double)
ARTICULA_DECLARE_KERNELS(TaskTable<float>, tasks_in_float)

template <class T>
const TaskTable<T>& task_batch_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(tasks_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(tasks_in_float)();
}

}  // namespace articula
