// The integrators: one list, from which names, choices and help follow.
#pragma once

#include <string>
#include <string_view>

namespace articula {

/// How an integrator goes from one time to another: by one step that asks for accelerations at known states, by one
/// step whose state is found by iteration, or by as many steps as its error control wants.
enum class Stepping { explicit_step, implicit_step, adaptive };

// A new explicit integrator is a line here and a text in kernels/fixed_step_text.hpp: simulators, batches, derivatives of
// steps and the command line then have it. Any other is a line here, its own file, and a line in simulation/method.cpp.
#define ARTICULA_INTEGRATORS(X)      \
  X(euler, explicit_step)            \
  X(symplectic_euler, explicit_step) \
  X(rk4, explicit_step)              \
  X(rk45, adaptive)                  \
  X(variational, implicit_step)      \
  X(midpoint, implicit_step)         \
  X(cvode, adaptive)

enum class Integrator {
#define ARTICULA_NAME(name, stepping) name,
  ARTICULA_INTEGRATORS(ARTICULA_NAME)
#undef ARTICULA_NAME
};

std::string_view name_of(Integrator integrator);
Stepping stepping_of(Integrator integrator);
/// Throws ArgumentError that lists the names.
Integrator integrator_named(std::string_view name);
/// "euler, symplectic_euler, ..": all, or those that step so.
std::string integrator_names();
std::string integrator_names(Stepping stepping);
/// Whether it controls its own error: `step` is then a distance to go, and tolerances matter.
inline bool is_adaptive(Integrator integrator) { return stepping_of(integrator) == Stepping::adaptive; }

}  // namespace articula
