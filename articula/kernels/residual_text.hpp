// What must vanish in a closed chain, as functions of q, v and a with the multipliers held: the joint forces
// M a + C v + g - J* lambda - external forces, and the rows' accelerations. One outward and one inward sweep.
// Run with dual numbers in SIMD lanes it gives a block of the columns of their derivatives.
#pragma once

#include "articula/kernels/inverse_dynamics_text.hpp"
#include "articula/kernels/rows_text.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
void closed_chain_residual(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                           const double* wrenches, const double* lambda, const KernelMemory<S>& m,
                           const LoopMemory& loop, S* forces, S* rows) {
  constexpr int s = stride<S>;
  move_and_load_bodies<false, true>(tree, q, v, a, m.x);
  origins_and_velocities(tree, v, m);
  if (wrenches)
    for (int k = 1; k < tree.slots(); ++k)
      for (int i = 0; i < 6; ++i) {
        S& f = slot(m.x, k, int(body::count))[s * (body::f + i)];
        f = f - wrenches[6 * (k - 1) + i];
      }
  const auto press = [&](int at, const Spatial<S>& force, double by) {
    if (at == 0) return;
    S* const f = slot(m.x, at, int(body::count)) + s * body::f;
    write(f, read<Spatial>(f) - force * by);
  };
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    if (g.kind == RowsOf::joints) {
      S sum(0.0);
      for (int t = g.term_begin; t < g.term_end; ++t) {
        const JointTermAt& term = loop.terms[t];
        sum =
            sum + a[term.v] * term.slope_at(q[term.q]) + v[term.v] * v[term.v] * term.curvature_at(q[term.q]);
      }
      rows[g.first] = sum;
      continue;
    }
    each_row<true>(tree, m, g,
                   [&](int row, const Spatial<S>& fa, const Spatial<S>& fb, const S& acceleration) {
                     rows[g.first + row] = acceleration;
                     press(g.a.slot, fa, lambda[g.first + row]);
                     press(g.b.slot, fb, lambda[g.first + row]);
                   });
  }
  gather_forces(tree, m, forces);
  for (int i = 0; i < tree.nv; ++i) forces[i] = forces[i] + a[i] * tree.armature[i];
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0 || g.kind != RowsOf::joints) continue;
    for (int t = g.term_begin; t < g.term_end; ++t) {
      S& f = forces[loop.terms[t].v];
      f = f - loop.terms[t].slope_at(q[loop.terms[t].q]) * lambda[g.first];
    }
  }
}

}  // namespace articula::ARTICULA_ISA
