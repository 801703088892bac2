// The mass matrix by composite inertias: M(j,k) = H(j) phi(j,k) R(k) H*(k), R(k) the inertia of everything outboard
// of joint k (phi M phi* = R + ...: MATH.md 2). Everything is referred to one point of each tree, the origin of its
// first body, so that phi = Id (LIN 2) and a row is one product with the columns Hs*(j) of its supporting joints.
#pragma once

#include "articula/dynamics/outward.hpp"

namespace articula::ARTICULA_ISA {

/// Composite inertias and the columns Hs*, X = R Hs*.
template <class S>
void composite_inertias(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m) {
  constexpr int s = stride<S>;
  place_joints(tree, q, m.x);
  move_outward<Upto::positions>(tree, static_cast<const S*>(nullptr), static_cast<const S*>(nullptr), m.x);
  turn_inertias(tree, m.x);
  const S O(0);
  Vec3<S> o{O, O, O};
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    if (b.inboard == 0) {
      o = {O, O, O};
    } else {
      if (b.inboard != k - 1) o = gather<1, Vec3<S>>(m.o + 3 * b.inboard);
      o += read<Vec3>(xk + s * body::l);
    }
    scatter<1>(o, m.o + 3 * k);
    const Inertia<S> M{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + s * body::mp),
                       read<Sym3>(xk + s * body::J)};
    scatter<1>(shifted(Phi<S>{o}, M), m.R + 10 * k);
  }
  const long length = row_length(tree.nv);
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    const auto composite = gather<1, Inertia<S>>(m.R + 10 * k);
    const auto R = read<Mat3>(xk + s * body::R);
    const PhiStar<S> to_reference{-gather<1, Vec3<S>>(m.o + 3 * k)};
    visit(b.kind, [&](auto j) __attribute__((always_inline)) {
      using J = decltype(j);
      const HingeMap<J, S> H{R, tree.pitch[k]};
      for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
        const Spatial<S> h = to_reference * spatial(H.template row<i.value>());
        const int column = b.v + i.value;
        S* const Hs = m.Hs + row_margin + column;
        Hs[0] = h.w.x, Hs[length] = h.w.y, Hs[2 * length] = h.w.z;
        Hs[3 * length] = h.v.x, Hs[4 * length] = h.v.y, Hs[5 * length] = h.v.z;
        scatter<1>(composite * h, m.X + 6 * column);
      });
    });
    if (b.inboard != 0) scatter<1>(gather<1, Inertia<S>>(m.R + 10 * b.inboard) + composite, m.R + 10 * b.inboard);
  }
}

/// row[j] = Hs(j) . X for the velocities j of the joints that support body k, up to `end`; zero for all others below.
/// Runs of neighbouring joints are done a register at a time, from their end down; what falls below a run's start is
/// overwritten by the next run or by zeros.
template <class S>
ARTICULA_INLINE void supported_products(const Tree<Real<S>>& tree, const KernelMemory<S>& m, int k, int end,
                                        const S* X, S* row) {
  constexpr int wide = wide_bodies<S>;
  const long length = row_length(tree.nv);
  const S* const Hs = m.Hs + row_margin;
  while (true) {
    int first = k;  // the run of neighbours that ends with k
    while (tree.index[first].inboard == first - 1 && first > 1) --first;
    const int begin = tree.index[first].v;
    for (int j = end; j > begin; j -= wide) {
      if constexpr (wide == 1) {
        const S* h = Hs + (j - 1);
        row[j - 1] = (h[0] * X[0] + h[length] * X[1] + h[2 * length] * X[2]) +
                     (h[3 * length] * X[3] + h[4 * length] * X[4] + h[5 * length] * X[5]);
      } else {
        const S* h = Hs + (j - wide);
        using W = Wide<S>;
        const W sum = (W::load(h) * X[0] + W::load(h + length) * X[1] + W::load(h + 2 * length) * X[2]) +
                      (W::load(h + 3 * length) * X[3] + W::load(h + 4 * length) * X[4] +
                       W::load(h + 5 * length) * X[5]);
        sum.store(row + (j - wide));
      }
    }
    k = tree.index[first].inboard;
    end = 0;
    if (k > 0) {
      visit(tree.index[k].kind, [&](auto j) __attribute__((always_inline)) { end = tree.index[k].v + j.nv; });
    }
    for (int j = end; j < begin; ++j) row[j] = S(0);
    if (k == 0) return;
  }
}

/// Full symmetric, row-major, full coordinates.
template <class S>
void mass_matrix(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m, S* M) {
  composite_inertias(tree, q, m);
  const int nv = tree.nv;
  S* const row = m.row + row_margin;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    int joint_end = 0;
    visit(b.kind, [&](auto j) __attribute__((always_inline)) { joint_end = b.v + j.nv; });
    for (int i = b.v; i < joint_end; ++i) {
      supported_products(tree, m, k, i + 1, m.X + 6 * i, row);
      row[i] = row[i] + tree.armature[i];
      for (int j = 0; j <= i; ++j) {
        M[long(i) * nv + j] = row[j];
        M[long(j) * nv + i] = row[j];
      }
    }
  }
}

}  // namespace articula::ARTICULA_ISA
