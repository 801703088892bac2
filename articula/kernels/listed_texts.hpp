// The list of algorithms that are structs (listed.hpp), for processors and GPUs. A new one is its text and one name in
// `Listed`.
#pragma once

#include "articula/kernels/center_of_mass_jacobian_text.hpp"
#include "articula/kernels/jacobian_rate_text.hpp"
#include "articula/kernels/joint_wrenches_text.hpp"
#include "articula/kernels/solve_directly_text.hpp"
#include "articula/kernels/torque_regressor_text.hpp"

namespace articula::ARTICULA_ISA {

template <class... A>
struct List {};
using Listed = List<JacobianRate, CenterOfMassJacobian, TorqueRegressor, SolveMassMatrix, JointWrenches>;

/// The one at that place.
template <int number, class = Listed>
struct ListedAt;
template <class First, class... Others>
struct ListedAt<0, List<First, Others...>> {
  using type = First;
};
template <int number, class First, class... Others>
struct ListedAt<number, List<First, Others...>> : ListedAt<number - 1, List<Others...>> {};

}  // namespace articula::ARTICULA_ISA
