// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // `carried` is read only after a child has written it
#endif
#include "articula/kernels/tables.hpp"
#include "articula/kernels/task_text.hpp"

namespace articula::ARTICULA_ISA {

static void coriolis_forces(const Tree<double>& tree, const KernelMemory<double>& m, double* tau) {
  gather_forces(tree, m, tau);
}

const TaskKernels& task_kernels() {
  static constexpr TaskKernels table{update_tasks<double>,    gather_tasks<double>,    spread_tasks<double>,
                                     task_forces<double>,     task_velocities<double>, coriolis_forces,
                                     invert_up_to_six<double>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
