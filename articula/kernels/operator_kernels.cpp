// Compiled once for each instruction set: see dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // `carried` is read only after a child has written it
#endif
#include "articula/kernels/tables.hpp"

#include "articula/kernels/bias_terms_text.hpp"
#include "articula/kernels/coriolis_text.hpp"
#include "articula/kernels/fd1_to_fd4_text.hpp"
#include "articula/kernels/omega_text.hpp"
#include "articula/kernels/sweeps_text.hpp"

namespace articula::ARTICULA_ISA {

using S = double;

template <class S>
void sweep(const Tree<S>& tree, const KernelMemory<S>& m, const Sweep<S>& s) {
  if (s.outward)
    sweep_outward(tree, m, s);
  else
    sweep_inward(tree, m, s);
}

template <class S>
constexpr SweepKernels<S> sweep_table{sweep<S>, omegas<S>, solve_columns<S>};

static void place(const Tree<S>& tree, const S* q, const S* v, const KernelMemory<S>& m, S* a, S* b) {
  const S* const none = nullptr;
  if (v)
    move_bodies_and_inertias<Upto::velocities, false>(tree, q, v, m.x);
  else
    move_bodies_and_inertias<Upto::positions, false>(tree, q, none, m.x);
  if (v) bias_terms(tree, v, m.x, a, b);
}

static S articulate_all(const Tree<S>& tree, const KernelMemory<S>& m, S* P) {
  if (!P) return articulate<false, true>(tree, m, static_cast<const S*>(nullptr));
  return articulate<false, true>(
      tree, m, static_cast<const S*>(nullptr),
      [&](int k, const ArticulatedInertia<S>& Pk)
          __attribute__((always_inline)) { scatter<1>(Pk, P + 21 * k); });
}

const SweepKernels<double>& sweeps_in_double() { return sweep_table<double>; }
const SweepKernels<float>& sweeps_in_float() { return sweep_table<float>; }
const OperatorKernels& operator_kernels() {
  static constexpr OperatorKernels table{
      {forward_dynamics_fd1<S>, forward_dynamics_fd2<S>, forward_dynamics_fd3<S>, forward_dynamics_fd4<S>},
      coriolis_matrix<S>,
      place,
      articulate_all,
      gains<S>,
      composites<S>};
  return table;
}

}  // namespace articula::ARTICULA_ISA
