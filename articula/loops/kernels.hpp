// The table of compiled closed-chain kernels; see dynamics/kernels.hpp.
#pragma once

#include "articula/dynamics/per_isa.hpp"
#include "articula/loops/memory.hpp"
#include "articula/spatial/dual.hpp"

namespace articula {

/// Eight directions at once.
using Directions = Dual<Pack<double, row_lanes>>;

struct LoopKernels {
  using T = Tree<double>;
  using M = KernelMemory<double>;
  double (*start)(const T&, const double* q, const double* v, const double* tau, const double* wrenches,
                  const M&, bool motion);
  void (*move)(const T&, const double* v, const M&);
  void (*rows)(const T&, const M&, const LoopMemory&, bool moving);
  void (*omega)(const T&, const M&, const LoopMemory&, bool moving);
  void (*open_accelerations)(const T&, const M&, const LoopMemory&, double* out);
  bool (*factor)(const LoopMemory&, double tolerance, const double* right, double* x);
  void (*solve)(const LoopMemory&, double* x);
  void (*correct)(const T&, const M&, const LoopMemory&, const double* lambda, double* out);
  void (*jacobian)(const T&, const M&, const LoopMemory&, double* J);
  void (*row_velocities)(const M&, const LoopMemory&, const double* v, double* out);
  void (*residual)(const T&, const double* q, const double* v, const double* a, const double* wrenches,
                   const double* lambda, const M&, const LoopMemory&, double* forces, double* rows);
};
struct LoopDerivatives {
  void (*residual)(const Tree<double>&, const Directions* q, const Directions* v, const Directions* a,
                   const double* wrenches, const double* lambda, const KernelMemory<Directions>&,
                   const LoopMemory&, Directions* forces, Directions* rows);
};

ARTICULA_DECLARE_KERNELS(LoopKernels, loop_kernels)
inline const LoopKernels& loop_kernels() { return ARTICULA_CHOOSE_KERNELS(loop_kernels)(); }
ARTICULA_DECLARE_KERNELS(LoopDerivatives, loop_derivatives)
inline const LoopDerivatives& loop_derivatives() { return ARTICULA_CHOOSE_KERNELS(loop_derivatives)(); }

}  // namespace articula
