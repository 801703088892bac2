// Compiled once for each instruction set (CMakeLists.txt). Nothing here may be shared between them: the texts
// live in the namespace ARTICULA_ISA, the small functions under them are always inlined.
#include "articula/dynamics/inverse_dynamics_text.hpp"
#include "articula/dynamics/kernels.hpp"
#include "articula/dynamics/kinematics_text.hpp"
#include "articula/dynamics/mass_factor_text.hpp"
#include "articula/dynamics/mass_matrix_text.hpp"
#include "articula/dynamics/path_text.hpp"

#define ARTICULA_STRING_OF(x) #x
#define ARTICULA_STRING(x) ARTICULA_STRING_OF(x)

namespace articula::ARTICULA_ISA {

template <class S>
constexpr KernelTable<S> table{ARTICULA_STRING(ARTICULA_ISA),
                               inverse_dynamics<S>,
                               forward_dynamics<S>,
                               mass_matrix<S>,
                               composite_inertias<S>,
                               factor_mass_matrix<S>,
                               solve_mass_matrix<S>,
                               invert_mass_matrix<S>,
                               kinematics<S>,
                               totals<S>,
                               pose_at<S>,
                               jacobian_at<S>};

const KernelTable<double>& table_double() { return table<double>; }
const KernelTable<float>& table_float() { return table<float>; }

}  // namespace articula::ARTICULA_ISA
