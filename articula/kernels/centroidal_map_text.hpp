// The map from joint velocities to momentum about the centre of mass, from what composite_inertias leaves.
// One text for one state (mass_matrix.cpp) and for lanes of states (articula/batch).
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

/// put(full velocity, column) for every column. X(k) = R(k) Hs*(k) is the momentum that joint k gives, about
/// the first origin of its tree. m.roots has each tree's mass properties about that origin, and the origin,
/// last tree first.
template <class S, class Put>
ARTICULA_INLINE void centroidal_columns(const Tree<Real<S>>& tree, const KernelMemory<S>& m, Put&& put) {
  const S O(0);
  int trees = 0;
  for (int k = 1; k < tree.slots(); ++k) trees += tree.index[k].inboard == 0;
  // Places are taken from the last tree's origin: far from the world's own, nothing is lost.
  const auto root_origin = [&](int t) { return gather<1, Vec3<S>>(m.roots + 13 * t + 10); };
  Vec3<S> sum{O, O, O}, origin{O, O, O};
  S mass(0);
  for (int t = 0; t < trees; ++t) {
    const S* const r = m.roots + 13 * t;
    mass = mass + r[0];
    sum += gather<1, Vec3<S>>(r + 1) + (root_origin(t) - root_origin(0)) * r[0];
  }
  const Vec3<S> center = sum * reciprocal(mass);
  const long n = row_length(tree.nv);
  for (int k = 1; k < tree.slots(); ++k) {
    if (tree.index[k].inboard == 0) origin = root_origin(--trees) - root_origin(0);
    const int end = k + 1 < tree.slots() ? tree.index[k + 1].v : tree.nv;
    for (int i = tree.index[k].v; i < end; ++i) {
      const S* const X = m.X + i;
      put(i, Phi<S>{origin - center} * Spatial<S>{{X[0], X[n], X[2 * n]}, {X[3 * n], X[4 * n], X[5 * n]}});
    }
  }
}

}  // namespace articula
