// Compiled once for each instruction set: see dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // `carried` is read only after a child has written it
#endif
#include "articula/kernels/constrained_text.hpp"
#include "articula/kernels/residual_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

static void move(const Tree<double>& tree, const double* v, const KernelMemory<double>& m) {
  origins_and_velocities(tree, v, m);
}

const LoopKernels& loop_kernels() {
  static constexpr LoopKernels table{
      start,       move,    rows,     omega,          open_accelerations,           factor_omega,
      solve_omega, correct, jacobian, row_velocities, closed_chain_residual<double>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
