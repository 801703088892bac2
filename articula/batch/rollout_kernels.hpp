// The kernels of integrator steps: B states in lanes, moved by accelerations that a borrowed function gives.
// And linear solves in lanes, for mechanisms with mimic joints.
#pragma once

#include <cstddef>

#include "articula/batch/stepper.hpp"
#include "articula/dynamics/per_isa.hpp"
#include "articula/simulation/manifold.hpp"

namespace articula {

/// a of states in lanes; `self` is whose it is.
template <class T>
struct LaneAcceleration {
  void* self;
  void (*call)(void* self, const T* q, const T* v, T* a);
};

template <class T>
struct RolloutTable {
  /// One step of h. memory: step_memory lanes. `finite` gets a number for each lane: not a number where the
  /// state is not finite any more.
  void (*step)(Stepper stepper, const Manifold::Pieces& pieces, double h, long nq, long nv,
               const LaneAcceleration<T>& acceleration, T* q, T* v, T* memory, T* finite);
  /// tau - damping v.
  void (*damped)(long nv, const T* tau, const T* damping, const T* v, T* out);
  /// The Cholesky factor of n x n, row by row, in place of the lower triangle; the reciprocals of its
  /// diagonal on the diagonal. smallest: pivot of each lane.
  void (*factor)(long n, T* matrix, T* smallest);
  /// Of `columns` right-hand sides, row by row: x = matrix^-1 x.
  void (*solve)(long n, const T* factor, long columns, T* x);
};
constexpr std::size_t step_memory(std::size_t nq, std::size_t nv) { return nq + 6 * nv; }

ARTICULA_DECLARE_KERNELS(RolloutTable<double>, rollout_in_double)
ARTICULA_DECLARE_KERNELS(RolloutTable<float>, rollout_in_float)

template <class T>
const RolloutTable<T>& rollout_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(rollout_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(rollout_in_float)();
}

}  // namespace articula
