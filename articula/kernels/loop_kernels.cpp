// Compiled once for each instruction set: see dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // `carried` is read only after a child has written it
#endif
#include "articula/kernels/linearized_constrained_text.hpp"
#include "articula/kernels/residual_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

using S = double;

static S start_open(const Tree<S>& tree, const S* q, const S* v, const S* tau, const S* wrenches,
                    const KernelMemory<S>& m, bool motion) {
  return start(tree, q, v, tau, wrenches, m, motion, DropP{});
}
static S start_keeping(const Tree<S>& tree, const S* q, const S* v, const S* tau, const S* wrenches,
                       const LinearizationMemory<S>& m, bool motion) {
  const KeepP<S> keep{tree, m};
  if (v) return start(tree, q, v, tau, wrenches, m.k, motion, keep);
  place_bodies(tree, q, m.k.x);
  return articulate<false, true>(tree, m.k, tau, keep);
}
static void move(const Tree<S>& tree, const S* v, const KernelMemory<S>& m) {
  origins_and_velocities(tree, v, m);
}

const LoopKernels& loop_kernels() {
  static constexpr LoopKernels table{start_open,
                                     move,
                                     rows,
                                     omega,
                                     open_accelerations,
                                     factor_omega,
                                     solve_omega,
                                     correct,
                                     jacobian,
                                     row_velocities,
                                     closed_chain_residual<S>,
                                     start_keeping,
                                     gather_carried,
                                     differentiate_loop,
                                     solve_loop,
                                     finish_loop};
  return table;
}

}  // namespace articula::ARTICULA_ISA
