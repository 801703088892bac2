// How a step in time is made (Batch::step, Batch::rollout): the fixed-step integrators of
// articula/simulation/fixed_step.hpp.
#pragma once

namespace articula {

enum class Stepper {
  euler,             // q (+) h v and v + h a, both with what was before the step
  symplectic_euler,  // v + h a, then q (+) h v with the new v
  rk4,               // Runge-Kutta-Munthe-Kaas, order 4
};

}  // namespace articula
