// Closed chains in one inward and one outward sweep: RCCFD2 (JPL88 6.18), for a tree and rows of any kind.
//
//   (1) W = H psi B = [Id - H psi K] J*,  carried inward from the bodies that a group acts on      (6.12)
//   (2) Omega = J M^-1 J* = W* D^-1 W                                                              (6.7)
//   (3) Omega lambda = -(W* D^-1 e + bias),  e = T - H psi (..) from forward dynamics              (6.13)
//   (4) nu = D^-1 (e + W lambda),  then the outward sweep of forward dynamics                      (6.17)
//
// A held object is a free body of the tree, so that its part A M_C^-1 A* of Omega is among (2). Two groups
// meet only in the joints inboard of their closest common ancestor; groups that share no joint have no block
// in Omega. With D = L d L*, what is kept of W is L^-1 W: Omega is then a sum of products row by row, scaled
// by 1/d.
#pragma once

#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/rows_text.hpp"

namespace articula::ARTICULA_ISA {

using RowPack = Pack<double, row_lanes>;

/// Lanes of a group's rows in `ends` and `bias`; lanes past the last row stay zero.
template <bool moving>
void place_rows(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop) {
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0 || g.kind == RowsOf::joints) continue;
    double* const ends = loop.ends + 12 * row_lanes * i;
    double* const bias = loop.bias + row_lanes * i;
    each_row<moving>(
        tree, m, g,
        [&](int row, const Spatial<double>& fa, const Spatial<double>& fb, double value)
            __attribute__((always_inline)) {
              scatter<row_lanes>(fa, ends + row);
              scatter<row_lanes>(fb, ends + 6 * row_lanes + row);
              bias[row] = value;
            });
  }
}

/// The forces of one group's rows carried to the world: by psi, giving L^-1 H psi B; or by phi, giving
/// H phi B, the rows of the Jacobian. keep(step, freedoms, e) takes the result of each joint.
template <bool psi, class Keep>
ARTICULA_INLINE void carry_rows(const Tree<double>& tree, const KernelMemory<double>& m,
                                const LoopMemory& loop, int group, Keep&& keep) {
  const RowGroup& g = loop.groups[group];
  const double* const ends = loop.ends + 12 * row_lanes * group;
  const RowPack O(0.0);
  const Spatial<RowPack> zero{{O, O, O}, {O, O, O}};
  Spatial<RowPack> carried = zero;
  const PathStep* const path = loop.steps + g.step_begin;
  const int count = g.step_end - g.step_begin;
  for (int i = 0; i < count; ++i) {
    const PathStep& step = path[i];
    const BodyIndex& b = tree.index[step.slot];
    const double* xk = slot(m.x, step.slot, int(body::count));
    const auto R = read<Mat3>(xk + block * body::R);
    const Phi<double> phi{read<Vec3>(xk + block * body::l)};
    Spatial<RowPack> z = step.has_carry ? carried : zero;
    if (step.has_sides) z += gather_wide<row_lanes, Spatial<RowPack>, RowPack>(loop.z + 6 * row_lanes * i);
    if (step.a) z += gather_wide<row_lanes, Spatial<RowPack>, RowPack>(ends);
    if (step.b) z += gather_wide<row_lanes, Spatial<RowPack>, RowPack>(ends + 6 * row_lanes);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          constexpr int N = J::nv;
          const HingeMap<J, double> H{R, tree.pitch[step.slot]};
          RowPack e[N];
          for_each_index<N>([&](auto c) __attribute__((always_inline)) {
            e[c.value] = dot(H.template row<c.value>(), z);
          });
          for (int t = g.term_begin; t < g.term_end; ++t) {  // a coupling has one row
            const int c = loop.terms[t].v - b.v;
            if (c >= 0 && c < N) e[c].x[0] += loop.terms[t].slope;
          }
          if (step.give != PathStep::Give::none) {
            carried = phi * z;
            if constexpr (psi)
              for_each_index<N>([&](auto c) __attribute__((always_inline)) {
                carried -= gather<1, Spatial<double>>(m.K + 6 * (b.v + c.value)) * e[c.value];
              });
          }
          if constexpr (psi && N > 1) {
            const double* L = m.inv_D + 6 * b.v;
            for (int r = 1; r < N; ++r)
              for (int c = 0; c < r; ++c) e[r] = e[r] - e[c] * L[6 * r + c];
          }
          for (int c = 0; c < N; ++c) keep(step, b.v + c, c, e[c]);
        });
    if (step.give == PathStep::Give::none || step.give == PathStep::Give::carry) continue;
    double* const sum = loop.z + 6 * row_lanes * step.inboard;
    if (step.give == PathStep::Give::add) carried += gather_wide<row_lanes, Spatial<RowPack>, RowPack>(sum);
    scatter_wide<row_lanes, RowPack>(carried, sum);
  }
}

/// (1)
static void carry_all(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop) {
  for (int i = 0; i < loop.group_count; ++i) {
    if (loop.groups[i].rows == 0) continue;
    carry_rows<true>(
        tree, m, loop,
        i, [&](const PathStep& step, int, int c, const RowPack& e) __attribute__((always_inline)) {
          e.store(loop.W + row_lanes * (step.w + c));
        });
  }
}

/// f(rows as a compile-time number)
template <class F>
ARTICULA_INLINE void with_rows(int rows, F&& f) {
  switch (rows) {
    case 0:
      return;
    case 1:
      return f(Index<1>{});
    case 2:
      return f(Index<2>{});
    case 3:
      return f(Index<3>{});
    case 4:
      return f(Index<4>{});
    case 5:
      return f(Index<5>{});
    default:
      return f(Index<6>{});
  }
}

template <int N>
ARTICULA_INLINE void omega_block(const KernelMemory<double>& m, const LoopMemory& loop,
                                 const GroupPair& pair) {
  RowPack sum[N];
#pragma GCC unroll 6
  for (int r = 0; r < N; ++r) sum[r] = RowPack(0.0);
  for (int i = pair.begin; i < pair.end; ++i) {
    const SharedVelocity& s = loop.shared[i];
    const RowPack w = RowPack::load(loop.W + row_lanes * s.second) * m.inv_D[s.pivot];
    const double* const u = loop.W + row_lanes * s.first;
#pragma GCC unroll 6
    for (int r = 0; r < N; ++r) sum[r] = sum[r] + w * u[r];
  }
  double* const to =
      loop.Omega + static_cast<long>(loop.groups[pair.g].first) * loop.stride + loop.groups[pair.h].first;
#pragma GCC unroll 6
  for (int r = 0; r < N; ++r) sum[r].store(to + static_cast<long>(r) * loop.stride);
}

/// (2), the upper triangle. A block is stored with the empty lanes of its rows: the next block overwrites
/// them.
static void form_omega(const KernelMemory<double>& m, const LoopMemory& loop) {
  if (!loop.all_coupled)
    for (long i = 0; i < static_cast<long>(loop.rows) * loop.stride; ++i) loop.Omega[i] = 0;
  for (int i = 0; i < loop.pair_count; ++i) {
    const GroupPair& pair = loop.pairs[i];
    if (loop.groups[pair.h].rows == 0) continue;
    with_rows(
        loop.groups[pair.g].rows, [&](auto N) __attribute__((always_inline)) {
          omega_block<N.value>(m, loop, pair);
        });
  }
}

static void rows(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop,
                 bool moving) {
  if (moving)
    place_rows<true>(tree, m, loop);
  else
    place_rows<false>(tree, m, loop);
}
static void omega(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop,
                  bool moving) {
  rows(tree, m, loop, moving);
  carry_all(tree, m, loop);
  form_omega(m, loop);
}

/// W* D^-1 e + bias: the rows' accelerations in the open chain, D^-1 e being in m.nu.
static void open_accelerations(const Tree<double>& tree, const KernelMemory<double>& m,
                               const LoopMemory& loop, double* out) {
  for (int k = 1; k < tree.slots(); ++k) {  // n = L* nu
    const int v = tree.index[k].v, count = (k < tree.bodies ? tree.index[k + 1].v : tree.nv) - v;
    for (int i = 0; i < count; ++i) {
      double sum = m.nu[v + i];
      for (int c = i + 1; c < count; ++c) sum += m.inv_D[6 * (v + c) + i] * m.nu[v + c];
      loop.n[v + i] = sum;
    }
  }
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    RowPack sum = RowPack::load(loop.bias + row_lanes * i);
    for (int s = g.step_begin; s < g.step_end; ++s) {
      const PathStep& step = loop.steps[s];
      for (int c = 0; c < step.freedoms; ++c)
        sum = sum + RowPack::load(loop.W + row_lanes * (step.w + c)) * loop.n[step.v + c];
    }
    for (int r = 0; r < g.rows; ++r) out[g.first + r] = sum.x[r];
  }
}

/// Omega = U* d^-1 U, where rows of U are as long as they are coupled, and x = Omega^-1 right by the way.
/// False where a pivot falls below `tolerance` times its diagonal entry: the rows then depend on each other,
/// and x has no meaning. few: the number of packs that hold a whole row, for small Omega; each row is then
/// computed from column 0 on, and what lies before its diagonal is not used. 0: rows of any length.
template <int few>
ARTICULA_INLINE bool factor_rows(const LoopMemory& loop, double tolerance, const double* right, double* x) {
  const int m = loop.rows;
  const long stride = loop.stride;
  double* const F = loop.factor;
  const auto packs_of = [](int from, int end, auto&& f) __attribute__((always_inline)) {
    if constexpr (few > 0) {
      for_each_index<few>([&](auto p) __attribute__((always_inline)) { f(row_lanes * p.value); });
    } else {
      for (int p = from / row_lanes; p * row_lanes < end; ++p) f(row_lanes * p);
    }
  };
  double top = 0;
  for (int r = 0; r < m; ++r) {
    const double d = loop.Omega[r * stride + r];
    top = d > top ? d : top;
    x[r] = right[r];
    packs_of(
        r, loop.row_end[r], [&](int at) __attribute__((always_inline)) {
          RowPack::load(loop.Omega + r * stride + at).store(F + r * stride + at);
        });
  }
  const double least = top * dead_row;
  for (int j = 0; j < m; ++j) {
    const double* const row = F + j * stride;
    const double d = row[j];
    if (!(d > tolerance * loop.Omega[j * stride + j]) || d < least) return false;
    const double inv = 1 / d, xj = x[j];
    const int end = loop.row_end[j];
    loop.pivot[j] = inv;
    for (int i = j + 1; i < end; ++i) {
      const double f = row[i] * inv;
      if (few == 0 && f == 0) continue;
      x[i] -= f * xj;
      double* const to = F + i * stride;
      packs_of(
          i, end, [&](int at) __attribute__((always_inline)) {
            (RowPack::load(to + at) - RowPack::load(row + at) * f).store(to + at);
          });
    }
  }
  for (int j = m - 1; j >= 0; --j) {
    const double xj = x[j] * loop.pivot[j];
    x[j] = xj;
    for (int i = loop.row_begin[j]; i < j; ++i) x[i] -= F[i * stride + j] * xj;
  }
  return true;
}
static bool factor_omega(const LoopMemory& loop, double tolerance, const double* right, double* x) {
  if (loop.rows <= row_lanes) return factor_rows<1>(loop, tolerance, right, x);
  if (loop.rows <= 2 * row_lanes) return factor_rows<2>(loop, tolerance, right, x);
  return factor_rows<0>(loop, tolerance, right, x);
}

/// x = Omega^-1 x with the factor.
static void solve_omega(const LoopMemory& loop, double* x) {
  const long stride = loop.stride;
  for (int j = 0; j < loop.rows; ++j) {
    const double* const row = loop.factor + j * stride;
    const double y = x[j] * loop.pivot[j];
    for (int i = j + 1; i < loop.row_end[j]; ++i) x[i] -= row[i] * y;
  }
  for (int j = loop.rows - 1; j >= 0; --j) {
    const double xj = x[j] * loop.pivot[j];
    x[j] = xj;
    for (int i = loop.row_begin[j]; i < j; ++i) x[i] -= loop.factor[i * stride + j] * xj;
  }
}

/// (4), on top of what m.nu holds; out = the accelerations (or, with m.nu zero, M^-1 J* lambda).
static void correct(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop,
                    const double* lambda, double* out) {
  for (int v = 0; v < tree.nv; ++v) loop.n[v] = 0;
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    with_rows(
        g.rows, [&](auto N) __attribute__((always_inline)) {
          double l[N.value];
          for (int r = 0; r < N.value; ++r) l[r] = lambda[g.first + r];
          for (int s = g.step_begin; s < g.step_end; ++s) {
            const PathStep& step = loop.steps[s];
            for (int c = 0; c < step.freedoms; ++c) {
              const double* const w = loop.W + row_lanes * (step.w + c);
              double sum = 0;
#pragma GCC unroll 6
              for (int r = 0; r < N.value; ++r) sum += w[r] * l[r];
              loop.n[step.v + c] += sum;
            }
          }
        });
  }
  for (int k = 1; k < tree.slots(); ++k) {  // nu += L^-* d^-1 n
    const int v = tree.index[k].v, count = (k < tree.bodies ? tree.index[k + 1].v : tree.nv) - v;
    for (int i = count - 1; i >= 0; --i) {
      double x = loop.n[v + i] * m.inv_D[6 * (v + i) + i];
      for (int c = i + 1; c < count; ++c) x -= m.inv_D[6 * (v + c) + i] * loop.n[v + c];
      loop.n[v + i] = x;
      m.nu[v + i] += x;
    }
  }
  smooth(tree, m, out);
}

/// Rows x nv (full), row by row.
static void jacobian(const Tree<double>& tree, const KernelMemory<double>& m, const LoopMemory& loop,
                     double* J) {
  for (long i = 0; i < static_cast<long>(loop.rows) * tree.nv; ++i) J[i] = 0;
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    carry_rows<false>(
        tree, m, loop, i, [&](const PathStep&, int v, int, const RowPack& e) __attribute__((always_inline)) {
          for (int r = 0; r < g.rows; ++r) J[static_cast<long>(g.first + r) * tree.nv + v] = e.x[r];
        });
  }
}

/// J v from the velocities in m.V (and v itself, for couplings).
static void row_velocities(const KernelMemory<double>& m, const LoopMemory& loop, const double* v,
                           double* out) {
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    if (g.kind == RowsOf::joints) {
      double sum = 0;
      for (int t = g.term_begin; t < g.term_end; ++t) sum += loop.terms[t].slope * v[loop.terms[t].v];
      out[g.first] = sum;
      continue;
    }
    const double* const ends = loop.ends + 12 * row_lanes * i;
    const double *const Va = m.V + 6 * g.a.slot, *const Vb = m.V + 6 * g.b.slot;
    for (int r = 0; r < g.rows; ++r) {
      double sum = 0;
      for (int c = 0; c < 6; ++c)
        sum += ends[row_lanes * c + r] * Va[c] + ends[row_lanes * (6 + c) + r] * Vb[c];
      out[g.first + r] = sum;
    }
  }
}

/// Forward dynamics of the open chain up to D^-1 e, with the factor kept. keep(k, P) is told each P(k).
template <class Keep>
double start(const Tree<double>& tree, const double* q, const double* v, const double* tau,
             const double* wrenches, const KernelMemory<double>& m, bool motion, const Keep& keep) {
  move_and_load_bodies<true, true>(tree, q, v, static_cast<const double*>(nullptr), m.x);
  subtract_wrenches(tree, wrenches, m.x);
  if (motion) origins_and_velocities(tree, v, m);
  return articulate<true, true>(tree, m, tau, keep);
}

}  // namespace articula::ARTICULA_ISA
