// Room for the arrays of the diagonalized dynamics, for one state or for lanes of states.
#pragma once

#include "articula/kernels/diagonal_memory.hpp"
#include "articula/spatial/aligned.hpp"

namespace articula {

/// Hands out all arrays but those of DiagonalMemory::k, from one block of memory.
template <class S>
AlignedArray<S> diagonal_arrays(const Tree<Real<S>>& tree, DiagonalMemory<S>& m) {
  const std::size_t slots = tree.slots(), nv = tree.nv;
  AlignedArray<S> memory(27 * slots + 22 * nv);
  S* at = memory.data();
  const auto give = [&](std::size_t count, S*& pointer) {
    pointer = at;
    at += count;
  };
  give(21 * slots, m.P_plus);
  give(6 * nv, m.G);
  give(6 * slots, m.V);
  give(6 * nv, m.root);
  give(nv, m.inv_root);
  give(6 * nv, m.D_dot);
  give(nv, m.xi);
  give(nv, m.theta_dot);
  give(nv, m.force);
  return memory;
}

}  // namespace articula
