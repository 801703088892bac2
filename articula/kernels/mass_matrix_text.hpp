// The mass matrix by composite inertias: M(j,k) = H(j) phi(j,k) R(k) H*(k), R(k) the inertia of everything
// outboard of joint k (docs/math.md 2). Everything is referred to one point per tree, the origin of its first
// body, so that phi = Id (LIN 2) and a row is one product with the columns Hs*(j) of its supporting joints.
#pragma once

#include "articula/kernels/outward_text.hpp"
#include "articula/kernels/transpose_text.hpp"

namespace articula::ARTICULA_ISA {

/// Composite inertias R(k) about the first origin of each tree: sums over the bodies outboard, left in place.
template <class S>
ARTICULA_INLINE void sum_inertias(const Tree<Real<S>>& tree, const KernelMemory<S>& m) {
  constexpr int s = stride<S>;
  Inertia<S> carried{};
  S* root = m.roots;
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    S* const xk = slot(m.x, k, int(body::count));
    Inertia<S> R{S(tree.constants_of(k)[block * constant::m]), read<Vec3>(xk + s * body::mp),
                 read<Sym3>(xk + s * body::J)};
    if (b.has_carry) R += carried;
    if (b.has_sides) R += gather<1, Inertia<S>>(m.side + 10 * k);
    write(xk + s * body::total_m, R.m);
    if (b.has_carry || b.has_sides) {
      write(xk + s * body::mp, R.mp);
      write(xk + s * body::J, R.J);
    }
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

/// Hs* = (h, o x h): what turning about h at o gives at the reference point.
template <class S>
ARTICULA_INLINE Spatial<S> column_of(const Turn<S>& r, const Vec3<S>& o) {
  return {r.h, cross(o, r.h)};
}
template <class S>
ARTICULA_INLINE Spatial<S> column_of(const Slide<S>& r, const Vec3<S>&) {
  return spatial(r);
}
template <class S>
ARTICULA_INLINE Spatial<S> column_of(const Screw<S>& r, const Vec3<S>& o) {
  return {r.h, r.ph + cross(o, r.h)};
}

/// The columns Hs* and X = R Hs* of body k's joint.
template <class S>
ARTICULA_INLINE void put_columns(const Tree<Real<S>>& tree, int k, const KernelMemory<S>& m) {
  constexpr int s = stride<S>;
  const long length = row_length(tree.nv);
  const BodyIndex& b = tree.index[k];
  const S* xk = slot(m.x, k, int(body::count));
  const Inertia<S> R{xk[s * body::total_m], read<Vec3>(xk + s * body::mp), read<Sym3>(xk + s * body::J)};
  const auto axes = read<Mat3>(xk + s * body::R);
  const auto o = read<Vec3>(xk + s * body::o);
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        using J = decltype(j);
        const HingeMap<J, S> H{axes, tree.pitch[k]};
        for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
          const Spatial<S> h = column_of(H.template row<i.value>(), o), X = R * h;
          const int column = b.v + i.value;
          each_number(
              h, [&](const S& n, int c) __attribute__((always_inline)) { m.Hs[c * length + column] = n; });
          each_number(
              X, [&](const S& n, int c) __attribute__((always_inline)) { m.X[c * length + column] = n; });
        });
      });
}

/// Composite inertias R(k) and the columns Hs*, X = R Hs*, all about the first origin of each tree.
template <class S>
void composite_inertias(const Tree<Real<S>>& tree, const S* q, const KernelMemory<S>& m) {
  constexpr int s = stride<S>, wide = wide_bodies<S>;
  move_bodies_and_inertias<Upto::positions, true>(tree, q, static_cast<const S*>(nullptr), m.x);
  sum_inertias(tree, m);
  if constexpr (wide == 1) {
    for (int k = 1; k < tree.slots(); ++k) put_columns(tree, k, m);
  } else {
    // Blocks of revolute joints, a register of bodies at a time; lanes of other joints are put right after.
    const long length = row_length(tree.nv);
    for (int k = 0; k < tree.slots(); k += wide) {
      if (tree.first_column[k / block] == scattered) continue;
      const int column = tree.first_column[k / block] + k % block;
      const S* xk = slot(m.x, k, int(body::count));
      using W = Wide<S>;
      const Inertia<W> R{read_wide<One>(xk + s * body::total_m), read_wide<Vec3>(xk + s * body::mp),
                         read_wide<Sym3>(xk + s * body::J)};
      const Spatial<W> h = column_of(Turn<W>{column_z(read_wide<Mat3>(xk + s * body::R))},
                                     read_wide<Vec3>(xk + s * body::o)),
                       X = R * h;
      each_number(
          h, [&](const W& n, int c) __attribute__((always_inline)) { n.store(m.Hs + c * length + column); });
      each_number(
          X, [&](const W& n, int c) __attribute__((always_inline)) { n.store(m.X + c * length + column); });
    }
    for (int i = 0; i < tree.alone_count; ++i) put_columns(tree, tree.alone[i], m);
  }
}

/// out[j] = h . x(j) for j = 0 .. filled - 1, zero up to `length`, four at a time: up to three numbers more
/// are overwritten if `margin`. Components lie n apart.
template <bool margin, class S>
ARTICULA_INLINE void row_of_products(const S* h, const S* x, long n, long filled, long length, S* out) {
  const S h0 = h[0], h1 = h[n], h2 = h[2 * n], h3 = h[3 * n], h4 = h[4 * n], h5 = h[5 * n];
  const auto product = [&](auto x0, auto x1, auto x2, auto x3, auto x4, auto x5)
      __attribute__((always_inline)) {
    return (x0 * h0 + x1 * h1 + x2 * h2) + (x3 * h3 + x4 * h4 + x5 * h5);
  };
  long j = 0;
  if constexpr (margin && wide_bodies<S> != 1) {
    using W = Pack<S, 4>;
    const auto products = [&](const S* x) __attribute__((always_inline)) {
      return product(W::load(x), W::load(x + n), W::load(x + 2 * n), W::load(x + 3 * n), W::load(x + 4 * n),
                     W::load(x + 5 * n));
    };
    for (; j < filled - 3; j += 4) products(x + j).store(out + j);
    if (j < filled) {
      first_lanes(products(x + j), int(filled - j)).store(out + j);
      j += 4;
    }
    for (; j < length; j += 4) W(S(0)).store(out + j);
  } else {
    for (; j < length; ++j) {
      const S* const xj = x + j;
      out[j] = j < filled ? product(xj[0], xj[n], xj[2 * n], xj[3 * n], xj[4 * n], xj[5 * n]) : S(0);
    }
  }
}

/// The upper triangle. Bodies are numbered depth first, so the velocities outboard of joint k are neighbours:
/// row k is one run, from k to the end of its subtree, and zero after it.
template <class S>
ARTICULA_INLINE void upper_rows(const Tree<Real<S>>& tree, const KernelMemory<S>& m, long n, S* M) {
  const long nv = tree.nv, last = nv < 4 ? 0 : nv - 1;  // what follows the last row is not ours
  for (long i = 0; i < last; ++i)
    row_of_products<true>(m.Hs + i, m.X + i, n, tree.v_end[i] - i, nv - i, M + i * nv + i);
  for (long i = last; i < nv; ++i)
    row_of_products<false>(m.Hs + i, m.X + i, n, tree.v_end[i] - i, nv - i, M + i * nv + i);
  for (long i = 0; i < nv; ++i) M[i * nv + i] = M[i * nv + i] + tree.armature[i];
}

/// The upper triangle, row-major, full coordinates.
template <class S>
ARTICULA_INLINE void mass_matrix_in_world_axes(const Tree<Real<S>>& tree, const S* q,
                                               const KernelMemory<S>& m, S* M) {
  composite_inertias(tree, q, m);
  if (row_length(tree.nv) == short_row)  // known to the compiler
    upper_rows(tree, m, short_row, M);
  else
    upper_rows(tree, m, row_length(tree.nv), M);
}

}  // namespace articula::ARTICULA_ISA
