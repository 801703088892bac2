// Matrices in programs that know the model: each column or row by a sweep of its own whose bodies are known, and given
// away number by number, so that no matrix is ever kept.
#pragma once

#include "articula/cuda/device_tied.hpp"

namespace articula::device {

#ifdef ARTICULA_SPECIALISED
inline constexpr bool column_by_column = !has_mimics && !varied;
constexpr int body_of(int velocity) {
  int k = bodies;
  while (tree_index[k].v > velocity) --k;
  return k;
}
constexpr int root_of(int k) {
  while (tree_index[k].inboard != 0) k = tree_index[k].inboard;
  return k;
}
/// One past the last body of a root's tree.
constexpr int end_of(int root) {
  int k = root + 1;
  while (k <= bodies && tree_index[k].inboard != 0) ++k;
  return k;
}

/// See invert_mass_matrix.
ARTICULA_INLINE void inverse_columns(const Context& x, const Memory& m, Number smallest) {
  const Number bad = smallest > 0 ? Number(0) : Number(__builtin_nan(""));
  for_each_index<nv>([&](auto c) __attribute__((always_inline)) {
    constexpr int k = body_of(c.value);
    solve<false, Number, Number>(
        x.tree, m, k, k, m.nu,
        m.lambda, [&](int i) __attribute__((always_inline)) { return Number(i == c.value ? 1 : 0); },
        [&](int i, const Number& a) __attribute__((always_inline)) {
          if (i > c.value) return;
          x.given[0](i * nv + c.value, a + bad);
          if (i != c.value) x.given[0](c.value * nv + i, a + bad);
        });
  });
}

/// Takes columns of one row of the three matrices.
struct GiveColumn {
  const Context& x;
  Number bad;
  int row;
  NoTouch touch;
  ARTICULA_INLINE void operator()(int c, const Number& inverse, const Number& by_q,
                                  const Number& by_v) const {
    x.given[0](row * nv + c, by_q + bad), x.given[1](row * nv + c, by_v + bad);
    x.given[2](row * nv + c, inverse + bad);
  }
};
/// See direct_forward.
ARTICULA_INLINE void direct_rows_one_by_one(const Context& x, const Linearization& lin, const Number* a,
                                            Number smallest) {
  const Number* const v = x[Argument::v];
  NoTouch touch;
  direct_outward<false>(x.tree, v, a, lin, touch);
  direct_inward<false>(x.tree, ExternalForces<Number>{}, lin, touch);
  for_each_index<nv>([&](auto i) __attribute__((always_inline)) {
    constexpr int k = body_of(i.value), begin = root_of(k), end = end_of(begin);
    constexpr bool falls = tree_index[begin].kind == HingeKind::free &&
                           tree_index[begin].v_end - tree_index[begin].v == nv;  // falls_freely
    const RowsAtOnce<Number> row{i.value, 1, k, k, begin, end, lin.Z, lin.result};
    const GiveColumn put{x, smallest > 0 ? Number(0) : Number(__builtin_nan("")), i.value, touch};
    for (int c = 0; c < tree_index[begin].v; ++c) put(c, 0, 0, 0);
    for (int c = tree_index[begin].v_end; c < nv; ++c) put(c, 0, 0, 0);
    direct_rows_inward<false>(x.tree, v, lin, row, put);
    direct_rows_outward(x.tree, lin, row, falls ? begin + 1 : begin, end, put);
  });
}
#else
inline constexpr bool column_by_column = false;
void inverse_columns(const Context& x, const Memory& m, Number smallest);
void direct_rows_one_by_one(const Context& x, const Linearization& lin, const Number* a, Number smallest);
#endif

}  // namespace articula::device
