// The integrators by name.
#pragma once

#include <string_view>

namespace articula {

enum class Integrator { euler, symplectic_euler, rk4, rk45, variational, midpoint, cvode };
std::string_view name_of(Integrator integrator);
/// Throws ArgumentError that lists the names.
Integrator integrator_named(std::string_view name);
/// Whether it controls its own error: `step` is then a distance to go, and tolerances matter.
bool is_adaptive(Integrator integrator);

}  // namespace articula
