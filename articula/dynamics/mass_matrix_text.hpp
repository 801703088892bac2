// The mass matrix by composite inertias: M(j,k) = H(j) phi(j,k) R(k) H*(k), R(k) the inertia of everything
// outboard of joint k (phi M phi* = R + ...: MATH.md 2). Everything is referred to one point of each tree,
// the origin of its first body, so that phi = Id (LIN 2) and a row is one product with the columns Hs*(j) of
// its supporting joints.
#pragma once

#include "articula/dynamics/outward.hpp"

namespace articula::ARTICULA_ISA {

/// Composite inertias R(k) and the columns Hs*, X = R Hs*, all about the first origin of each tree.
template <class S>
void composite_inertias(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m) {
  constexpr int s = stride<S>;
  place_joints(tree, q, m.x);
  move_outward<Upto::positions>(tree, static_cast<const S*>(nullptr), static_cast<const S*>(nullptr), m.x);
  turn_inertias<true>(tree, m.x);
  const long length = row_length(tree.nv);
  Inertia<S> carried{};
  S* root = m.roots;
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.x, k, int(body::count));
    Inertia<S> R{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + s * body::mp),
                 read<Sym3>(xk + s * body::J)};
    if (b.has_carry) R += carried;
    if (b.has_sides) R += gather<1, Inertia<S>>(m.side + 10 * k);
    const auto axes = read<Mat3>(xk + s * body::R);
    const PhiStar<S> to_reference{-read<Vec3>(xk + s * body::o)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{axes, tree.pitch[k]};
          for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
            const Spatial<S> h = to_reference * spatial(H.template row<i.value>());
            const int column = b.v + i.value;
            const Spatial<S> X = R * h;
            each_number(
                h, [&](const S& n, int c) __attribute__((always_inline)) { m.Hs[c * length + column] = n; });
            each_number(
                X, [&](const S& n, int c) __attribute__((always_inline)) { m.X[c * length + column] = n; });
          });
        });
    if (b.handover == Handover::carry) {
      carried = R;
    } else if (b.handover == Handover::none) {
      scatter<1>(R, root);
      scatter<1>(read<Vec3>(xk + s * body::l), root + 10);
      root += 13;
    } else {
      if (b.handover == Handover::add) R += gather<1, Inertia<S>>(m.side + 10 * b.inboard);
      scatter<1>(R, m.side + 10 * b.inboard);
    }
  }
}

/// row[j] = Hs(i) . X(j) for j = begin .. end - 1 and zero up to nv, a register at a time: up to a register
/// beyond nv is overwritten, but nothing at or after `limit`.
template <class S>
ARTICULA_INLINE void row_of_products(const S* h, const S* X, int begin, int end, int nv, S* row,
                                     const S* limit) {
  constexpr int wide = wide_bodies<S>;
  const long length = row_length(nv);
  const auto sum = [&](const auto& at) __attribute__((always_inline)) {
    return (at(0) * h[0] + at(1) * h[length] + at(2) * h[2 * length]) +
           (at(3) * h[3 * length] + at(4) * h[4 * length] + at(5) * h[5 * length]);
  };
  for (int j = begin; j < nv; j += wide) {
    const S* const x = X + j;
    if constexpr (wide == 1) {
      row[j] = j < end ? sum([&](int c) __attribute__((always_inline)) { return x[c * length]; }) : S(0);
    } else {
      using W = Wide<S>;
      W products(S(0));
      if (j < end)
        products = first_lanes(
            sum([&](int c) __attribute__((always_inline)) { return W::load(x + c * length); }), end - j);
      if (row + j + wide <= limit) {
        products.store(row + j);
      } else {
        S lanes[wide];
        products.store(lanes);
        for (int c = 0; c < nv - j; ++c) row[j + c] = lanes[c];
      }
    }
  }
}

/// Full symmetric, row-major, full coordinates. Bodies are numbered depth first, so the velocities outboard
/// of joint k are neighbours: row k of the upper triangle is one run, from k to the end of its subtree, and
/// zero after it.
template <class S>
void mass_matrix(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m, S* M) {
  composite_inertias(tree, q, m);
  const int nv = tree.nv;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const int joint_end = k + 1 < tree.slots() ? tree.index[k + 1].v : nv;
    for (int i = b.v; i < joint_end; ++i) {
      S* const row = M + long(i) * nv;
      row_of_products(m.Hs + i, m.X, i, b.v_end, nv, row, M + long(nv) * nv);
      row[i] = row[i] + tree.armature[i];
    }
  }
  for (int i = 1; i < nv; ++i)
    for (int j = 0; j < i; ++j) M[long(i) * nv + j] = M[long(j) * nv + i];
}

}  // namespace articula::ARTICULA_ISA
