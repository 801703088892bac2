// The plain arrays that the diagonalized dynamics work in, beside those of the dynamics kernels.
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

template <class S>
struct DiagonalMemory {
  KernelMemory<S> k;       // x, side, K, D, inv_D
  S* P_plus = nullptr;     // taubar P, 21 per slot; not for bodies on the world, where nothing is inboard
  S* G = nullptr;          // 6 per velocity; likewise
  S* V = nullptr;          // 6 per slot: (w, v) of O_k, world axes
  S* root = nullptr;       // D^1/2, the lower Cholesky factor of D, row by row, 6 per velocity
  S* inv_root = nullptr;   // one over its diagonal, 1 per velocity
  S* D_dot = nullptr;      // dD/dt, lower triangle, row by row, 6 per velocity
  S* xi = nullptr;         // 1 per velocity
  S* theta_dot = nullptr;  // 1 per velocity
  S* force = nullptr;      // 1 per velocity

  /// All but k.
  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree) {
    const std::size_t slots = tree.slots(), nv = tree.nv;
    give(P_plus, 21 * slots);
    give(G, 6 * nv);
    give(V, 6 * slots);
    give(root, 6 * nv);
    give(inv_root, nv);
    give(D_dot, 6 * nv);
    give(xi, nv);
    give(theta_dot, nv);
    give(force, nv);
  }
};

}  // namespace articula
