#include "articula/dynamics/per_isa.hpp"
#include "articula/linearization/kernels.hpp"

namespace articula {

ARTICULA_DECLARE_KERNELS(LinearizationTable<double>, linearization_in_double)
ARTICULA_DECLARE_KERNELS(LinearizationTable<float>, linearization_in_float)
ARTICULA_DECLARE_KERNELS(SecondOrderTable, second_order_table)

template <>
const LinearizationTable<double>& linearization<double>() {
  return ARTICULA_CHOOSE_KERNELS(linearization_in_double)();
}
template <>
const LinearizationTable<float>& linearization<float>() {
  return ARTICULA_CHOOSE_KERNELS(linearization_in_float)();
}
const SecondOrderTable& second_order() { return ARTICULA_CHOOSE_KERNELS(second_order_table)(); }

}  // namespace articula
