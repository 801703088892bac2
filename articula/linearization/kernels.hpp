// The tables of compiled linearization kernels; see dynamics/kernels.hpp.
#pragma once

#include "articula/linearization/memory.hpp"
#include "articula/spatial/dual.hpp"

namespace articula {

template <class S>
struct LinearizationTable {
  using T = Tree<S>;
  using M = LinearizationMemory<S>;
  using E = ExternalForces<S>;
  void (*perturbed_inverse)(const T&, const S* q, const S* v, const S* a, const S* dq, const S* dv,
                            const S* da, const E&, const M&, S* dtau);
  S (*factored_forward)(const T&, const S* q, const S* v, const S* tau, const S* wrenches, const M&, S* a);
  void (*perturbed_forward)(const T&, const S* v, const S* a, const S* dq, const S* dv, const S* dtau,
                            const E&, const M&, S* right, S* da);
  void (*inverse_adjoint)(const T&, const S* q, const S* v, const S* a, const S* weights, bool placed,
                          const E&, const M&, S* by_q, S* by_v, S* by_a);
  void (*linearized_inverse)(const T&, const S* q, const S* v, const S* a, const E&, const M&, S* mass_matrix,
                             S* dq, S* dv);
  void (*direct_forward)(const T&, const S* v, const S* a, const E&, const M&, S* dq, S* dv, S* dtau);
  void (*conventional_forward)(const T&, const S* v, const S* a, const E&, const M&, S* by_q, S* by_v, S* dq,
                               S* dv, S* dtau);
};
/// Algorithm 1 with dual numbers.
struct SecondOrderTable {
  using D = Dual<double>;
  void (*perturbed_inverse)(const Tree<double>&, const D* q, const D* v, const D* a, const D* dq, const D* dv,
                            const D* da, const ExternalForces<D>&, const LinearizationMemory<D>&, D* dtau);
};

/// The tables for the instruction set in use; S is double or float.
template <class S>
const LinearizationTable<S>& linearization();
const SecondOrderTable& second_order();

}  // namespace articula
