// Kernels of the operator algebra, the mass factor's products, FD1-FD4 and the Coriolis matrix; double only.
#pragma once

#include "articula/dynamics/per_isa.hpp"
#include "articula/dynamics/sweeps.hpp"

namespace articula {

/// Scratch of FD1-FD4, beside KernelMemory.
struct NamedScratch {
  double *T, *a, *b, *P, *alpha;  // 1 a velocity; 6 a body; 6 a body; 21 a slot; 6 a body
};
/// Scratch of coriolis_matrix: see coriolis_text.hpp.
struct CoriolisScratch {
  double *o, *V, *R, *Rr, *Hs, *dHs;
};

template <class S>
struct SweepKernels {
  void (*sweep)(const Tree<S>&, const KernelMemory<S>&, const Sweep<S>&);
  void (*omegas)(const Tree<S>&, const KernelMemory<S>&, S* Omega);
  void (*solve_columns)(const Tree<S>&, const KernelMemory<S>&, const S* T, int columns, S* X);
};

struct NamedKernels {
  SweepKernels<double> in_double;
  SweepKernels<float> in_float;
  using NamedForwardDynamics = double (*)(const Tree<double>&, const double* q, const double* v,
                                          const double* T, const double* wrenches,
                                          const KernelMemory<double>&, const NamedScratch&, double* a);
  NamedForwardDynamics fd[4];
  void (*coriolis_matrix)(const Tree<double>&, const double* q, const double* v, const KernelMemory<double>&,
                          const CoriolisScratch&, double* C);

  /// Poses, inertias in x; with v also angular velocities, and the bias terms a and b.
  void (*place)(const Tree<double>&, const double* q, const double* v, const KernelMemory<double>&, double* a,
                double* b);
  /// K, D and P (21 a slot; null: not kept) from x. Returns the smallest pivot of D.
  double (*articulate)(const Tree<double>&, const KernelMemory<double>&, double* P);
  void (*gains)(const Tree<double>&, const KernelMemory<double>&, const double* P, double* G);
  void (*composites)(const Tree<double>&, const KernelMemory<double>&, double* R);
};

ARTICULA_DECLARE_KERNELS(NamedKernels, named_kernels)
inline const NamedKernels& named_kernels() { return ARTICULA_CHOOSE_KERNELS(named_kernels)(); }
template <class S>
const SweepKernels<S>& sweep_kernels() {
  if constexpr (sizeof(S) == sizeof(double))
    return named_kernels().in_double;
  else
    return named_kernels().in_float;
}

}  // namespace articula
