// The numbers in which the integrators' texts are differentiated (linearized_step.hpp).
#pragma once

#include "articula/spatial/dual.hpp"

namespace articula {

inline constexpr int step_directions = 8;
using StepDual = Dual<double, Several<double, step_directions>>;

}  // namespace articula
