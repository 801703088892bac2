// Linearized dynamics of closed chains: how accelerations and constraint forces change with q, v and tau, and how
// velocities after an impulse, and the impulses, change with q and v.
//
// Derivatives by q are along the tangent space (linearized_inverse.hpp), in every direction, whether or not
// it fits the constraints. External forces keep their world components, at the bodies' joint origins.
#pragma once

#include "articula/linearization/workspace.hpp"
#include "articula/loops/constrained_dynamics.hpp"

namespace articula {

/// nv x nv each, and rows x nv, row by row.
struct ConstrainedDerivatives {
  std::vector<double> da_dq, da_dv, da_dtau, df_dq, df_dv, df_dtau;
  std::vector<double> a;  // where it was linearized
};
/// Likewise, of ConstrainedDynamics::impulse: v_out and the impulses, by q and by the velocity before.
struct ImpulseDerivatives {
  std::vector<double> dv_dq, dv_dv, df_dq, df_dv;
  std::vector<double> v;  // after it
};

/// Works on the constraints of a ConstrainedDynamics, which must outlive it, as they are active then. Sweeps in O(n^2)
/// with the factors of M and Omega that the dynamics leave, and products with the rows.
class LinearizedConstrained : LinearizationWorkspace<double> {
 public:
  explicit LinearizedConstrained(ConstrainedDynamics& work);
  LinearizedConstrained(const LinearizedConstrained&) = delete;
  LinearizedConstrained& operator=(const LinearizedConstrained&) = delete;

  /// Where constraints are redundant, da is still exact; df is then the change of least norm. Not with
  /// Baumgarte's stabilisation, nor with driven rows. Allocates if `out` has not the size.
  void compute(In<double> q, In<double> v, In<double> tau, ConstrainedDerivatives& out,
               Wrenches<double> wrenches = {});
  void impulse(In<double> q, In<double> v, ImpulseDerivatives& out, double restitution = 0);

 private:
  void differentiate(const double* q, const double* v, const double* a, const double* row_a,
                     const double* wrenches, const LoopAtRest& rest);
  void hand_out(int part, std::vector<double>& of_velocities, std::vector<double>& of_rows) const;

  ConstrainedDynamics& work_;
  LoopDerivativeMemory<double> d_;
  AlignedArray<double> arrays_, rest_;
  std::vector<int> velocity_;
  std::vector<double> x_;
};

}  // namespace articula
