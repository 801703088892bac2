// M^-1 tau of a mechanism with mimic joints, for listed texts that tie them (Mimics::tied). In the model's own
// velocities, v_full = Gamma v, the mass matrix is Gamma* M Gamma: small and dense, and positive also where joints would
// have nothing to move were they not tied.
#pragma once

#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/cholesky_text.hpp"

namespace articula::ARTICULA_ISA {

/// x = (Gamma* M Gamma)^-1 tau; q in full coordinates. Returns the smallest pivot.
template <class S>
S solve_tied(const Tree<Real<S>>& tree, const S* q, const S* tau, const KernelMemory<S>& m, S* x) {
  const int n = tree.nv, own = tree.own_nv;
  S *const full = m.M, *const tied = m.M + n * n;
  mass_matrix<S>(tree, q, m, full);
  for (int i = 0; i < own * own; ++i) tied[i] = S(0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      S& to = tied[tree.source[i] * own + tree.source[j]];
      to = to + full[i * n + j] * (tree.multiplier[i] * tree.multiplier[j]);
    }
  const S smallest = cholesky_factor<S>(own, tied);
  for (int i = 0; i < own; ++i) x[i] = tau[i];
  cholesky_solve<S>(own, tied, 1, x);
  return smallest;
}

}  // namespace articula::ARTICULA_ISA
