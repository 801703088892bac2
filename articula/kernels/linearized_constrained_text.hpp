// How the accelerations and the multipliers of a closed chain change with q, v and tau, by sweeps in O(n^2) and products
// with the rows; and the same of impulses.
//
// What must vanish is T(q, v, a) - J* lambda - tau and J a + d/dt(J) v. With R1, R2 its derivatives where a and lambda
// are held,
//
//   (1) M da + R1 = J* dlambda,   J da + R2 = 0
//   (2) Omega dlambda = -J U - R2,  da = U + (J M^-1)* dlambda,   U = -M^-1 R1
//
// U is LIN's Algorithm 6 with the constraints' forces among the external ones, as if each turned with its body, and
// what (3) adds. Let W be the force of a group on b, and -W on a, at b's point; x the displacement of a body (a twist
// at that point), and D how W changes when b alone moves. Then dW = x(a) x* W + D (x(b) - x(a)), so that with G(b),
// G(a) the Jacobians at that point and G = G(b) - G(a)
//
//   (3) d(J* lambda)/dq = what turns with the bodies + G* (D - [. x* W]) G - G(a)* [. x* W] G
//
// The acceleration of a row is a function of pose, V and alpha of both ends. A joint of b's path displaces b by its H*,
// which carries V and alpha along, and adds to V and alpha what linearized_inverse_text.hpp calls Pd and Pdd; its velocity
// adds H* and Sd. If both ends are displaced alike a row does not change. With h, g the row's derivatives by the pose of b
// and by the velocities of the ends, and f those by alpha, which are its forces, all of them carried inward by phi:
//
//   (4) J = f H*,   by v: g H* + f Sd,   by q: h H* + g Pd + f Pdd
//
// h, g and D belong to one group: they are made of the rows' own text with dual numbers, six directions at once.
//
// Impulses: M (v+ - v) = J* lambda, J (v+ + e v) = 0 is the same at rest and without gravity, a being v+ - v in the first
// and v+ + e v in the second.
#pragma once

#include "articula/kernels/row_derivatives_text.hpp"

namespace articula::ARTICULA_ISA {

using Rest = LoopAtRest;

/// The forces of constraints on the bodies, at their O_k.
static void gather_carried(const Tree<double>& tree, const LoopMemory& loop, const double* lambda,
                           const LoopDerivatives& m) {
  for (int i = 0; i < 6 * tree.bodies; ++i) m.carried[i] = 0;
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0 || g.kind == RowsOf::joints) continue;
    for (const int b : {0, 1}) {
      const int body = b ? g.b.slot : g.a.slot;
      if (body == 0) continue;
      const double* const f = loop.ends + (12 * i + 6 * b) * row_lanes;
      for (int c = 0; c < 6; ++c)
        for (int r = 0; r < g.rows; ++r)
          m.carried[6 * (body - 1) + c] += f[row_lanes * c + r] * lambda[g.first + r];
    }
  }
}

/// H*, Pd, Pdd and Sd of every velocity, a register of them at a time, from what direct_outward() leaves.
static void hinge_motions(const Tree<double>& tree, const LinearizationMemory<double>& lin,
                          const LoopDerivatives& m) {
  constexpr int s = stride<double>;
  for (int c = 0; c < tree.nv; c += wide_bodies<double>) {
    const double* const from = gathered_of(lin, c);
    double* const to = slot(m.hinges, c, int(hinge_column::count));
    const auto h = read_wide<Spatial>(direct_of(lin, c) + s * direct::H);
    const auto V = read_wide<Spatial>(from + s * gathered::V);
    const auto Pd = cross_motion(V, h);
    write_wide(to + s * hinge_column::H, h);
    write_wide(to + s * hinge_column::Pd, Pd);
    write_wide(to + s * hinge_column::Pdd,
               cross_motion(read_wide<Spatial>(from + s * gathered::alpha), h) + cross_motion(V, Pd));
    write_wide(to + s * hinge_column::Sd, cross_motion(read_wide<Spatial>(from + s * gathered::V_sum), h));
  }
}

/// (4) of one group: J, and -R2 into m.df. P: a pack that holds its rows.
template <class P>
__attribute__((noinline)) void carry_derivatives(const LinearizationMemory<double>& lin,
                                                 const LoopMemory& loop, int group, const Rest& rest,
                                                 const LoopDerivatives& m) {
  constexpr int s = stride<double>, six = 6 * row_lanes;
  struct Functionals {
    Spatial<P> f, g, h;
  };
  const RowGroup& group_rows = loop.groups[group];
  const double *const forces = loop.ends + 2 * six * group, *const changes = m.ends + 4 * six * group;
  const P O(0.0);
  const Spatial<P> none{{O, O, O}, {O, O, O}};
  const auto load = [](const double* p) __attribute__((always_inline)) {
    return gather_wide<row_lanes, Spatial<P>, P>(p);
  };
  Functionals carried{none, none, none};
  const PathStep* const path = loop.steps + group_rows.step_begin;
  const int count = group_rows.step_end - group_rows.step_begin;
  for (int i = 0; i < count; ++i) {
    const PathStep& step = path[i];
    Functionals z = step.has_carry ? carried : Functionals{none, none, none};
    if (step.has_sides) {
      const double* const sum = m.z + 3 * six * i;
      z.f += load(sum), z.g += load(sum + six), z.h += load(sum + 2 * six);
    }
    if (step.a) z.f += load(forces), z.h += load(changes), z.g += load(changes + 2 * six);
    if (step.b) z.f += load(forces + six), z.h += load(changes + six), z.g += load(changes + 3 * six);
    for (int c = 0; c < step.freedoms; ++c) {
      const double* const at = slot(m.hinges, step.v + c, int(hinge_column::count));
      const auto H = read<Spatial>(at + s * hinge_column::H), Pdd = read<Spatial>(at + s * hinge_column::Pdd);
      const P J = dot(H, z.f);
      J.store(m.J + row_lanes * (step.w + c));
      P by_q = dot(H, z.h) + dot(Pdd, z.f), by_v = J * rest.factor;
      if (!rest.yes) {
        by_q = by_q + dot(read<Spatial>(at + s * hinge_column::Pd), z.g);
        by_v = dot(H, z.g) + dot(read<Spatial>(at + s * hinge_column::Sd), z.f);
      }
      double* const to = m.df + group_rows.first * result_blocks * m.length + step.v + c;
      for (int r = 0; r < group_rows.rows; ++r)
        to[r * result_blocks * m.length] = -by_q.x[r], to[(r * result_blocks + 1) * m.length] = -by_v.x[r];
    }
    if (step.give == PathStep::Give::none) continue;
    const Phi<double> phi{read<Vec3>(slot(lin.k.x, step.slot, int(body::count)) + s * body::l)};
    carried = {phi * z.f, phi * z.g, phi * z.h};
    if (step.give == PathStep::Give::carry) continue;
    double* const sum = m.z + 3 * six * step.inboard;
    if (step.give == PathStep::Give::add)
      carried.f += load(sum), carried.g += load(sum + six), carried.h += load(sum + 2 * six);
    scatter_wide<row_lanes, P>(carried.f, sum);
    scatter_wide<row_lanes, P>(carried.g, sum + six);
    scatter_wide<row_lanes, P>(carried.h, sum + 2 * six);
  }
}

/// The row of a coupling: slopes, and how they change.
static void coupling_derivatives(const LoopMemory& loop, const RowGroup& g, const double* q, const double* v,
                                 const double* a, double lambda, const Rest& rest, const LoopDerivatives& m) {
  using D = Dual<double>;
  double* const row = m.df + g.first * result_blocks * m.length;
  for (int i = g.step_begin; i < g.step_end; ++i)
    for (int c = 0; c < loop.steps[i].freedoms; ++c) {
      double J = 0;
      for (int t = g.term_begin; t < g.term_end; ++t)
        if (loop.terms[t].v == loop.steps[i].v + c) J += loop.terms[t].slope;
      RowPack e(0.0);
      e.x[0] = J;
      e.store(m.J + row_lanes * (loop.steps[i].w + c));
    }
  for (int t = g.term_begin; t < g.term_end; ++t) {
    const JointTermAt& term = loop.terms[t];
    const D curvature = term.curvature_at(D(q[term.q], 1));
    const double rate = v[term.v];
    row[term.v] -= a[term.v] * curvature.x + rate * rate * curvature.d;
    row[m.length + term.v] -= rest.yes ? rest.factor * term.slope : 2 * rate * curvature.x;
    m.C[term.v * m.length + term.v] += lambda * curvature.x;
  }
}

/// (3) of one group, added to C.
static void force_derivatives(const Tree<double>& tree, const LinearizationMemory<double>& lin,
                              const RowGroup& g, const GroupForce& force, const LoopDerivatives& m) {
  using W = Wide<double>;
  constexpr int s = stride<double>;
  const long length = m.length;
  double *const G = m.G, *const Ga = m.G + 6 * length, *const T = m.G + 12 * length,
                *const Ta = m.G + 18 * length;
  for (long i = 0; i < 12 * length; ++i) G[i] = 0;
  const auto walk = [&](int body, Vec3<double> lever, auto&& each) {
    for (int k = body; k != 0; k = tree.index[k].inboard) {
      for (int c = tree.index[k].v; c < lin.index[k].end; ++c) each(c, lever);
      lever += read<Vec3>(slot(lin.k.x, k, int(body::count)) + s * body::l);
    }
  };
  const auto column = [&](int c, const Vec3<double>& lever) {
    return star(Phi<double>{lever}) *
           read<Spatial>(slot(m.hinges, c, int(hinge_column::count)) + s * hinge_column::H);
  };
  walk(g.b.slot, force.from_b, [&](int c, const Vec3<double>& lever) {
    const auto x = column(c, lever);
    each_number(x, [&](double number, int i) { G[i * length + c] = number; });
  });
  walk(g.a.slot, force.from_a, [&](int c, const Vec3<double>& lever) {
    const auto x = column(c, lever);
    each_number(x, [&](double number, int i) { Ga[i * length + c] = number, G[i * length + c] -= number; });
  });
  // D - [. x* W] and [. x* W], direction by direction
  const Spatial<RowPack> turning =
      cross_force(Spatial<RowPack>{six_directions(0), six_directions(3)}, force.W);
  const bool inside = g.a.slot != 0;
  const auto times_G = [&](const Spatial<RowPack>& E, double* to) {
    each_number(
        E, [&](const RowPack& row, int i) __attribute__((always_inline)) {
          for (long c = 0; c < length; c += wide_bodies<double>) {
            W sum = W::load(G + c) * row.x[0];
#pragma GCC unroll 6
            for (int k = 1; k < 6; ++k) sum = sum + W::load(G + k * length + c) * row.x[k];
            sum.store(to + i * length + c);
          }
        });
  };
  times_G(force.D - turning, T);
  if (inside) times_G(turning, Ta);
  const auto add = [&](int row, const double* columns, const double* forces, double sign) {
    double x[6];
    for (int i = 0; i < 6; ++i) x[i] = sign * columns[i * length + row];
    double* const to = m.C + row * length;
    for (long c = 0; c < length; c += wide_bodies<double>) {
      W sum = W::load(to + c);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) sum = sum + W::load(forces + i * length + c) * x[i];
      sum.store(to + c);
    }
  };
  walk(g.b.slot, force.from_b, [&](int c, const Vec3<double>&) { add(c, G, T, 1); });
  walk(g.a.slot, force.from_a, [&](int c, const Vec3<double>&) { add(c, G, T, 1), add(c, Ga, Ta, -1); });
}

/// Rows of numbers.
struct Rows {
  double* at;
  long step;
  double* operator[](long r) const { return at + r * step; }
};
/// out = init + sign A* B for R rows of out: A has them side by side, one line of `step` numbers for each of B's rows,
/// which row_of(k) finds. A register or two of columns at a time; the last may reach behind `columns`.
template <int R, class RowOf>
ARTICULA_INLINE void add_product(const Rows& init, const double* A, long step, int inner, const RowOf& row_of,
                                 double sign, int columns, const Rows& out) {
  using W = Wide<double>;
  constexpr int wide = wide_bodies<double>;
  const auto some = [&](auto N, int c) __attribute__((always_inline)) {
    W sum[R][N.value];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int j = 0; j < N.value; ++j) sum[r][j] = W::load(init[r] + c + wide * j) * sign;
    for (int k = 0; k < inner; ++k) {
      const double* const from = row_of(k) + c;
      W b[N.value];
#pragma GCC unroll 2
      for (int j = 0; j < N.value; ++j) b[j] = W::load(from + wide * j);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int j = 0; j < N.value; ++j) sum[r][j] = sum[r][j] + b[j] * A[k * step + r];
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int j = 0; j < N.value; ++j) (sum[r][j] * sign).store(out[r] + c + wide * j);
  };
  int c = 0;
  for (; c + wide < columns; c += 2 * wide) some(Index<2>{}, c);
  if (c < columns) some(Index<1>{}, c);
}
/// out = init + A* B, all rows.
static void add_product(int rows, const Rows& init, const Rows& A, int inner, const Rows& B, int columns,
                        const Rows& out) {
  const auto row_of = [&](int k) __attribute__((always_inline)) { return B[k]; };
  const auto from = [](const Rows& x, int r) { return Rows{x[r], x.step}; };
  int r = 0;
  for (; r + 4 <= rows; r += 4)
    add_product<4>(from(init, r), A.at + r, A.step, inner, row_of, 1, columns, from(out, r));
  for (; r + 2 <= rows; r += 2)
    add_product<2>(from(init, r), A.at + r, A.step, inner, row_of, 1, columns, from(out, r));
  if (r < rows) add_product<1>(from(init, r), A.at + r, A.step, inner, row_of, 1, columns, from(out, r));
}
/// out -= J B, B by velocity, for the rows of one group.
static void subtract_rows_times(const LoopMemory& loop, const RowGroup& g, const Rows& B, int columns,
                                const Rows& out, const LoopDerivatives& m) {
  const PathStep* step = loop.steps + g.step_begin;
  const PathStep* const end = loop.steps + g.step_end;
  // The path's velocities, whatever their joints: a coupling may have many.
  const int first = step->w, count = end[-1].w + end[-1].freedoms - first;
  with_rows(
      g.rows, [&](auto N) __attribute__((always_inline)) {
        add_product<N.value>(
            out, m.J + row_lanes * first, row_lanes,
            count, [&](int k) __attribute__((always_inline)) { return B[m.velocity[first + k]]; }, -1,
            columns, out);
      });
}

/// All but the solve with Omega: m.df = -J U - R2, and J M^-1. m.open must be there, and what direct_outward() leaves at
/// the accelerations `a` of the rows, which for impulses (where v is zero) are others.
static void differentiate_loop(const Tree<double>& tree, const LinearizationMemory<double>& lin,
                               const LoopMemory& loop, const double* q, const double* v, const double* a,
                               const double* lambda, const Rest& rest, const LoopDerivatives& m) {
  const int nv = tree.nv;
  const long length = m.length, long_row = result_blocks * length;
  if (rest.yes) {
    Tree<double> weightless = tree;
    weightless.gravity = {0, 0, 0};
    NoTouch touch;
    direct_outward<false>(weightless, v, a, lin, touch);
    for (int i = 0; i < nv; ++i)
      for (int c = 0; c < nv; ++c) m.open[1][i * nv + c] = i == c;
  }
  origins_and_velocities(tree, static_cast<const double*>(nullptr), lin.k);
  hinge_motions(tree, lin, m);
  for (long i = 0; i < nv * length; ++i) m.C[i] = 0;
  for (long i = 0; i < loop.rows * long_row; ++i) m.df[i] = 0;
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    if (g.kind == RowsOf::joints) {
      coupling_derivatives(loop, g, q, v, a, lambda[g.first], rest, m);
      continue;
    }
    const GroupForce force = differentiate_rows(lin, loop, lambda, i, rest.yes, m);
    if (g.rows <= 4)
      carry_derivatives<Pack<double, 4>>(lin, loop, i, rest, m);
    else
      carry_derivatives<RowPack>(lin, loop, i, rest, m);
    force_derivatives(tree, lin, g, force, m);
  }
  const Rows open_q{m.open[0], nv}, open_v{m.open[1], nv}, inverse{m.open[2], nv}, by_q{m.by_q, length};
  add_product(nv, open_q, inverse, nv, {m.C, length}, nv, by_q);
  for (int i = 0; i < loop.group_count; ++i) {
    const RowGroup& g = loop.groups[i];
    if (g.rows == 0) continue;
    const Rows df{m.df + g.first * long_row, long_row}, by_tau{df.at + 2 * length, long_row};
    subtract_rows_times(loop, g, by_q, nv, df, m);
    if (!rest.yes) subtract_rows_times(loop, g, open_v, nv, {df.at + length, long_row}, m);
    subtract_rows_times(loop, g, inverse, nv, by_tau, m);
    for (int r = 0; r < g.rows; ++r) {
      double* const JM = m.JM + (g.first + r) * length;
      for (long c = 0; c < length; c += wide_bodies<double>)
        (-Wide<double>::load(by_tau[r] + c)).store(JM + c);
    }
  }
}

/// m.df = Omega^-1 m.df, with the factor: solve_omega() on registers of columns.
static void solve_loop(const LoopMemory& loop, const LoopDerivatives& m) {
  using W = Wide<double>;
  constexpr int wide = wide_bodies<double>;
  const long stride = loop.stride, long_row = result_blocks * m.length;
  const auto some = [&](auto N, long c) __attribute__((always_inline)) {
    const auto at = [&](int row, int j) __attribute__((always_inline)) {
      return m.df + row * long_row + c + wide * j;
    };
    const auto update = [&](int row, int begin, int end, const double* factor, long step, auto&& put)
        __attribute__((always_inline)) {
      W sum[N.value];
#pragma GCC unroll 4
      for (int j = 0; j < N.value; ++j) sum[j] = W(0.0);
      for (int i = begin; i < end; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N.value; ++j) sum[j] = sum[j] + W::load(at(i, j)) * factor[i * step];
#pragma GCC unroll 4
      for (int j = 0; j < N.value; ++j) put(W::load(at(row, j)), sum[j] * loop.pivot[row]).store(at(row, j));
    };
    for (int i = 0; i < loop.rows; ++i)
      update(
          i, loop.row_begin[i], i, loop.factor + i,
          stride, [&](const W& x, const W& sum) __attribute__((always_inline)) {
            return x * loop.pivot[i] - sum;
          });
    for (int i = loop.rows - 1; i >= 0; --i)
      update(
          i, i + 1, loop.row_end[i], loop.factor + i * stride,
          1, [&](const W& x, const W& sum) __attribute__((always_inline)) { return x - sum; });
  };
  long c = 0;
  for (; c + 4 * wide <= long_row; c += 4 * wide) some(Index<4>{}, c);
  for (; c + 2 * wide <= long_row; c += 2 * wide) some(Index<2>{}, c);
  if (c < long_row) some(Index<1>{}, c);
}

/// m.da = U + (J M^-1)* df.
static void finish_loop(const Tree<double>& tree, const LoopMemory& loop, const LoopDerivatives& m) {
  const int nv = tree.nv;
  const long length = m.length, long_row = result_blocks * length;
  const Rows U[result_blocks] = {{m.by_q, length}, {m.open[1], nv}, {m.open[2], nv}};
  for (int i = 0; i < result_blocks; ++i)
    add_product(nv, U[i], {m.JM, length}, loop.rows, {m.df + i * length, long_row}, nv,
                {m.da + i * length, long_row});
}

}  // namespace articula::ARTICULA_ISA
