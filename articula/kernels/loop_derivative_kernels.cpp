// The residual's text once more, with dual numbers. Compiled once for each instruction set: see
// dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "articula/kernels/residual_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

const LoopDerivatives& loop_derivatives() {
  static constexpr LoopDerivatives table{closed_chain_residual<Directions>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
