// The table of compiled kernels for the diagonalized dynamics of many states: see kernels.hpp, and
// diagonal/kernels.hpp for what each does.
#pragma once

#include "articula/diagonal/memory.hpp"
#include "articula/dynamics/per_isa.hpp"

namespace articula {

template <class T>
struct DiagonalTable {
  using Model = Tree<T>;
  using M = DiagonalMemory<T>;
  void (*factor)(const Model&, const T* q, const M&, T* smallest);
  void (*times_root)(const Model&, const M&, T* x);
  void (*times_root_star)(const Model&, const M&, T* x);
  void (*solve_root)(const Model&, const M&, T* x);
  void (*solve_root_star)(const Model&, const M&, T* x);
  void (*rates_to_xi)(const Model&, const M&, const T* theta_dot, T* xi);
  void (*xi_to_rates)(const Model&, const M&, const T* xi, T* theta_dot);
  void (*forces_to_kappa)(const Model&, const M&, const T* tau, T* kappa);
  void (*kappa_to_forces)(const Model&, const M&, const T* kappa, T* tau);
  void (*coriolis_of_xi)(const Model&, const T* theta_dot, const T* xi, const T* wrenches, const M&, T* C);
  void (*coriolis_of_nu)(const Model&, const T* xi, const M&, T* C);
  void (*nu_dot)(const Model&, const T* q, const T* nu, const T* tau, const T* wrenches, const M&, T* rate,
                 T* smallest);
  void (*xi_dot)(const Model&, const T* q, const T* xi, const T* tau, const T* wrenches, const M&, T* rate,
                 T* smallest);
};

ARTICULA_DECLARE_KERNELS(DiagonalTable<double>, diagonal_in_double)
ARTICULA_DECLARE_KERNELS(DiagonalTable<float>, diagonal_in_float)

template <class T>
const DiagonalTable<T>& diagonal_batch_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(diagonal_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(diagonal_in_float)();
}

}  // namespace articula
