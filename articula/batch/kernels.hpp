// The tables of compiled kernels for many states: the texts of one state with a SIMD register as the number,
// one state a lane. Arrays are those of one state with every number widened to `lanes` neighbouring ones.
#pragma once

#include <cstdint>

#include "articula/dynamics/per_isa.hpp"
#include "articula/linearization/kernels.hpp"

namespace articula {

/// The most lanes of any instruction set: arrays are made for so many.
inline constexpr int most_lanes = 8;

/// Where results will be written, for three arrays: `lines` lines of each, `step` bytes apart, to be fetched
/// while others are made. near: bytes to what the same array gets soon.
struct Ahead {
  std::uintptr_t at[3] = {};
  std::uintptr_t step = 0, near = 0;
  long lines = 0;
  bool few = false;  // enough to fetch one at a time
};

template <class T>
struct BatchTable {
  int lanes;
  /// Between numbers state by state (n each, `stride` from one state to the next, `used` states) and lanes.
  /// Lanes beyond get the last state.
  void (*gather)(const T* states, long n, long stride, int used, T* lanes);
  void (*scatter)(const T* lanes, long n, long stride, int used, T* states);
  /// The same with numbers of one kind together, `stride` from one kind to the next.
  void (*gather_columns)(const T* states, long n, long stride, int used, T* lanes);
  void (*scatter_columns)(const T* lanes, long n, long stride, int used, T* states);
  using M = KernelMemory<T>;
  using L = LinearizationMemory<T>;
  using Model = Tree<T>;
  void (*inverse_dynamics)(const Model&, const T* q, const T* v, const T* a, const T* wrenches, const M&,
                           T* tau);
  /// smallest: the smallest pivot of each state's D.
  void (*forward_dynamics)(const Model&, const T* q, const T* v, const T* tau, const T* wrenches, const M&,
                           T* a, T* smallest);
  void (*mass_matrix)(const Model&, const T* q, const M&, T* matrix);
  void (*inverse_mass_matrix)(const Model&, const T* q, const M&, T* matrix, T* smallest);
  void (*kinematics)(const Model&, const T* q, const T* v, const T* a, const M&);
  void (*energies)(const Model&, const M&, T* kinetic, T* potential);  // after kinematics
  void (*linearized_inverse)(const Model&, const T* q, const T* v, const T* a, const L&, T* dq, T* dv, T* da,
                             const Ahead&);
  void (*linearized_forward)(const Model&, const T* q, const T* v, const T* tau, const L&, T* a, T* dq, T* dv,
                             T* dtau, T* smallest, const Ahead&);
  void (*perturbed_inverse)(const Model&, const T* q, const T* v, const T* a, const T* dq, const T* dv,
                            const T* da, const L&, T* dtau);
  void (*perturbed_forward)(const Model&, const T* q, const T* v, const T* tau, const T* dq, const T* dv,
                            const T* dtau, const L&, T* a, T* right, T* da, T* smallest);
  void (*inverse_gradient)(const Model&, const T* q, const T* v, const T* a, const T* weights, const L&,
                           T* by_q, T* by_v, T* by_a);
  void (*forward_gradient)(const Model&, const T* q, const T* v, const T* tau, const T* weights, const L&,
                           T* a, T* scratch, T* by_q, T* by_v, T* by_tau, T* smallest);
  /// Constants from constant::mp on, body by body, to where a tree of lanes has them.
  void (*spread_inertias)(const T* inertias, int bodies, T* constants);
};

ARTICULA_DECLARE_KERNELS(BatchTable<double>, batch_in_double)
ARTICULA_DECLARE_KERNELS(BatchTable<float>, batch_in_float)
// The same with a tree of lanes: Tree's constants, pitch, armature and offset, and LinearizationMemory's mass
// and damping, are arrays of lanes like the states'.
ARTICULA_DECLARE_KERNELS(BatchTable<double>, varied_in_double)
ARTICULA_DECLARE_KERNELS(BatchTable<float>, varied_in_float)

template <class T>
const BatchTable<T>& batch_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(batch_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(batch_in_float)();
}
template <class T>
const BatchTable<T>& varied_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(varied_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(varied_in_float)();
}

}  // namespace articula
