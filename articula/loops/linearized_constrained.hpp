// Linearized dynamics of closed chains: how accelerations and constraint forces change with q, v and tau.
//
// Derivatives by q are along the tangent space (linearized_inverse.hpp), in every direction, whether or not
// it fits the constraints. External forces keep their world components, at the bodies' joint origins.
#pragma once

#include "articula/kernels/tables.hpp"
#include "articula/loops/constrained_dynamics.hpp"

namespace articula {

/// nv x nv each, and rows x nv, row by row.
struct ConstrainedDerivatives {
  std::vector<double> da_dq, da_dv, da_dtau, df_dq, df_dv, df_dtau;
  std::vector<double> a;  // where it was linearized
};

/// Works on the constraints of a ConstrainedDynamics, which must outlive it, as they are active then. What
/// has to vanish, M a + C v + g - J* f - tau and J a + d/dt(J) v, is differentiated by dual numbers, eight
/// directions per sweep; M and Omega are those already factored: O(n^2), and products with the rows.
class LinearizedConstrained {
 public:
  explicit LinearizedConstrained(ConstrainedDynamics& work);
  LinearizedConstrained(const LinearizedConstrained&) = delete;
  LinearizedConstrained& operator=(const LinearizedConstrained&) = delete;

  /// Where constraints are redundant, da is still exact; df is then the change of least norm. Not with
  /// Baumgarte's stabilisation, nor with driven rows. Allocates.
  void compute(In<double> q, In<double> v, In<double> tau, ConstrainedDerivatives& out,
               Wrenches<double> wrenches = {});

 private:
  void set_directions(In<double> q, std::size_t first, std::size_t count);
  Model::FullVelocity source_of_velocity(std::size_t i) const;
  void differentiate(In<double> q, In<double> v, In<double> a, const double* external);
  void solve();
  void hand_out(ConstrainedDerivatives& out) const;

  ConstrainedDynamics& work_;
  AlignedArray<Directions> memory_;
  KernelMemory<Directions> m_;
  Directions *q_ = nullptr, *v_ = nullptr, *a_ = nullptr, *forces_ = nullptr, *rows_ = nullptr;
  std::vector<double> unit_, rates_, R1_, R2_, X_, J_star_, Y_, x_;
};

}  // namespace articula
