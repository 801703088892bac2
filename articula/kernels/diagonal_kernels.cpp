// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/diagonal_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

using S = double;

static S factor_with_roots(const Tree<S>& tree, const S* q, const DiagonalMemory<S>& m) {
  const S smallest = diagonal_factor(tree, q, m);
  factor_roots(tree, m);
  return smallest;
}

const DiagonalKernels& diagonal_kernels() {
  static constexpr DiagonalKernels table{
      factor_with_roots,          times_root<S>,         times_root_star<S>,     solve_root<S>,
      solve_root_star<S>,         rates_and_xi<true, S>, rates_and_xi<false, S>, forces_and_kappa<true, S>,
      forces_and_kappa<false, S>, coriolis_of_xi<S>,     coriolis_of_nu<S>,      diagonal_motion<true, S>,
      diagonal_motion<false, S>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
