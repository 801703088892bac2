// Operational space of frames in a mechanism with closed chains: OSC's Lambda, c and g where M^-1 is that of the closed
// mechanism, A = M^-1 - M^-1 Jc* Omega_c^+ Jc M^-1 (Jc: the constraints' rows).
//
//   Lambda y'' + c + g = F,   tau = J* F        Omega = J A J*
//
// Directions that the constraints forbid have no inverse inertia: Omega is singular, and Lambda its inverse on what is
// left.
#pragma once

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/task_space/rank.hpp"

namespace articula {

struct ConstrainedTaskTerms {
  int rows = 0, rank = 0;                 // 6 per frame
  std::vector<double> omega, lambda;      // rows x rows
  std::vector<double> coriolis, gravity;  // c and g
  std::vector<double> jacobian_bar;       // nv x rows: A J* Lambda
};
/// In one O(n) solve per row (and two more). q and v must fit the constraints. Frames: world axes at their origins. Allocates.
ConstrainedTaskTerms constrained_operational_space(ConstrainedDynamics& work, In<double> q, In<double> v,
                                                   std::span<const int> frames,
                                                   const SingularityOptions& options = {
                                                       .rank_tolerance = 1e-9});

}  // namespace articula
