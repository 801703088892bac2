// The table of compiled kernels of the diagonalized dynamics; see dynamics/per_isa.hpp. Double only.
#pragma once

#include "articula/diagonal/memory.hpp"
#include "articula/dynamics/per_isa.hpp"

namespace articula {

struct DiagonalKernels {
  using T = Tree<double>;
  using M = DiagonalMemory<double>;
  double (*factor)(const T&, const double* q, const M&);  // with the roots of D
  // in place
  void (*times_root)(const T&, const M&, double* x);
  void (*times_root_star)(const T&, const M&, double* x);
  void (*solve_root)(const T&, const M&, double* x);
  void (*solve_root_star)(const T&, const M&, double* x);
  // also leave V
  void (*rates_to_xi)(const T&, const M&, const double* theta_dot, double* xi);
  void (*xi_to_rates)(const T&, const M&, const double* xi, double* theta_dot);
  void (*forces_to_kappa)(const T&, const M&, const double* tau, double* kappa);
  void (*kappa_to_forces)(const T&, const M&, const double* kappa, double* tau);
  // after one of those that leave V
  void (*coriolis_of_xi)(const T&, const double* theta_dot, const double* xi, const double* wrenches,
                         const M&, double* C);
  void (*coriolis_of_nu)(const T&, const double* xi, const M&, double* C);  // in place of coriolis_of_xi's C
  double (*nu_dot)(const T&, const double* q, const double* nu, const double* tau, const double* wrenches,
                   const M&, double* nu_dot);
  double (*xi_dot)(const T&, const double* q, const double* xi, const double* tau, const double* wrenches,
                   const M&, double* xi_dot);
};

ARTICULA_DECLARE_KERNELS(DiagonalKernels, diagonal_kernels)
inline const DiagonalKernels& diagonal_kernels() { return ARTICULA_CHOOSE_KERNELS(diagonal_kernels)(); }

}  // namespace articula
