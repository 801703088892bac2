// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
constexpr LinearizationTable<S> table_of{perturbed_inverse<S>,   factored_forward<S>,   perturbed_forward<S>,
                                         inverse_adjoint<S>,     linearized_inverse<S>, direct_forward<S>,
                                         conventional_forward<S>};

const LinearizationTable<double>& linearization_in_double() { return table_of<double>; }
const LinearizationTable<float>& linearization_in_float() { return table_of<float>; }

}  // namespace articula::ARTICULA_ISA
