// Algorithm 1's text once more, with dual numbers: second derivatives along a direction. Compiled once for
// each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/linearization/kernels.hpp"
#include "articula/linearization/perturbation_text.hpp"

namespace articula::ARTICULA_ISA {

const SecondOrderTable& second_order_table() {
  static constexpr SecondOrderTable table{perturbed_inverse<Dual<double>>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
