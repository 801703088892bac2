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
};

}  // namespace articula
