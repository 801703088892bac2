// Compiled once for each instruction set (CMakeLists.txt). Nothing here may be shared between them: the texts
// live in the namespace ARTICULA_ISA, the small functions under them are always inlined.
#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/path_text.hpp"
#include "articula/kernels/solve_directly_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
constexpr KernelTable<S> table{inverse_dynamics<S>,
                               forward_dynamics<S>,
                               mass_matrix<S>,
                               composite_inertias<S>,
                               factor_mass_matrix<S>,
                               solve_mass_matrix<S>,
                               invert_mass_matrix<S>,
                               velocities<S>,
                               kinematics<S>,
                               totals<S>,
                               pose_at<S>,
                               jacobian_at<S>,
                               solve_directly<S>};

const KernelTable<double>& dynamics_in_double() { return table<double>; }
const KernelTable<float>& dynamics_in_float() { return table<float>; }

}  // namespace articula::ARTICULA_ISA
