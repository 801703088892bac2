// Algorithm 1's text once more, with dual numbers: second derivatives along a direction. Compiled once for
// each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/perturbation_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

const SecondOrderTable& second_order_kernels() {
  static constexpr SecondOrderTable table{perturbed_inverse<Dual<double>>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
