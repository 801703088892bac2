// How the rows of a constraint change with the motion of its two ends: the rows' own text (rows_text.hpp) with dual
// numbers, six directions at once. The linearized closed chain (linearized_constrained_text.hpp) carries the results
// through the tree.
#pragma once

#include "articula/kernels/constrained_text.hpp"
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/spatial/dual.hpp"

namespace articula::ARTICULA_ISA {

using LoopDerivatives = LoopDerivativeMemory<double>;
/// A number and its derivatives along six directions.
using Six = Dual<double, RowPack>;

/// Directions 0 .. 2 (a rotation, an angular velocity) or 3 .. 5 (a shift, a velocity).
static Vec3<RowPack> six_directions(int first) {
  Vec3<RowPack> e{RowPack(0.0), RowPack(0.0), RowPack(0.0)};
  e.x.x[first] = 1, e.y.x[first + 1] = 1, e.z.x[first + 2] = 1;
  return e;
}
ARTICULA_INLINE Vec3<Six> with_derivatives(const Vec3<double>& a, const Vec3<RowPack>& d) {
  return {{a.x, d.x}, {a.y, d.y}, {a.z, d.z}};
}

/// Where an end is and how it moves, from y: V and alpha at O_k. As place_end, which has them from x.
static EndAt<double> end_in_motion(const LinearizationMemory<double>& m, const GroupEnd& end) {
  constexpr int s = stride<double>;
  EndAt<double> e;
  const double* const y = y_of(m, end.slot);
  const auto V = read<Spatial>(y + s * motion::V), alpha = read<Spatial>(y + s * motion::alpha);
  if (end.slot == 0) {
    e.R = end.R, e.r = e.p = end.r;
  } else {
    const auto R = read<Mat3>(slot(m.k.x, end.slot, int(body::count)) + s * body::R);
    e.R = R * end.R, e.r = R * end.r;
    e.p = gather<1, Vec3<double>>(m.k.p + 3 * end.slot) + e.r;
  }
  e.w = V.w, e.v = V.v + cross(V.w, e.r);
  e.alpha = alpha.w;  // and the acceleration of a point, which is not alpha.v: that is of what passes there
  e.A = alpha.v + cross(alpha.w, e.r) + cross(e.w, e.v);
  return e;
}
static EndAt<Six> held(const EndAt<double>& e) {
  return {lifted<Six>(e.R), lifted<Six>(e.r),     lifted<Six>(e.p), lifted<Six>(e.w),
          lifted<Six>(e.v), lifted<Six>(e.alpha), lifted<Six>(e.A)};
}
/// Moved, with its velocity and acceleration. Forces are then at the place where it was.
static EndAt<Six> displaced(const EndAt<double>& e) {
  const Vec3<RowPack> turn = six_directions(0), shift = six_directions(3);
  const auto turned = [&](const Vec3<double>& a) { return with_derivatives(a, cross(turn, a)); };
  return {from_columns(turned(column_x(e.R)), turned(column_y(e.R)), turned(column_z(e.R))),
          with_derivatives({0, 0, 0}, shift),
          with_derivatives(e.p, shift),
          turned(e.w),
          turned(e.v),
          turned(e.alpha),
          turned(e.A)};
}
/// With other velocities, V + gam. What LIN calls the perturbation of alpha, and (4) counts by f, is without gam x V.
static EndAt<Six> accelerated(const EndAt<double>& e) {
  const Vec3<RowPack> turn = six_directions(0), shift = six_directions(3);
  EndAt<Six> out = held(e);
  out.w = with_derivatives(e.w, turn);
  out.v = with_derivatives(e.v, shift);
  out.alpha = with_derivatives(e.alpha, cross(turn, e.w));
  out.A = with_derivatives(e.A, cross(turn, e.v + e.v));
  return out;
}

/// Of each row of a group: acceleration, and force on b.
struct SixRow {
  Six acceleration;
  Spatial<Six> force;
};
__attribute__((noinline)) static void six_rows(const RowGroup& g, const EndAt<Six>& a, const EndAt<Six>& b,
                                               SixRow* out) {
  each_row_between<true>(
      g, a, b,
      [&](int row, const Spatial<Six>&, const Spatial<Six>& fb, const Six& acceleration)
          __attribute__((always_inline)) {
            out[row] = {acceleration, fb};
          });
}
ARTICULA_INLINE Spatial<double> along_six(const Six& x) {
  return {{x.d.x[0], x.d.x[1], x.d.x[2]}, {x.d.x[3], x.d.x[4], x.d.x[5]}};
}

/// Of one group, at b's point: its force on b, and how that changes when b is moved (component, direction).
struct GroupForce {
  Spatial<double> W;
  Spatial<RowPack> D;
  Vec3<double> from_a, from_b;  // from the bodies' O_k to that point
};
/// h and g of (4) into m.ends, as forces at the ends' O_k. At rest nothing asks for g.
static GroupForce differentiate_rows(const LinearizationMemory<double>& lin, const LoopMemory& loop,
                                     const double* lambda, int group, bool rest, const LoopDerivatives& m) {
  const RowGroup& g = loop.groups[group];
  const EndAt<double> a = end_in_motion(lin, g.a), b = end_in_motion(lin, g.b);
  const EndAt<Six> a_held = held(a);
  SixRow rows[6];
  double* const to = m.ends + 24 * row_lanes * group;
  const auto put = [&](int which, int row, const Spatial<double>& f) __attribute__((always_inline)) {
    scatter<row_lanes>(f, to + 6 * row_lanes * which + row);
  };
  const RowPack O(0.0);
  GroupForce out{{{0, 0, 0}, {0, 0, 0}}, {{O, O, O}, {O, O, O}}, a.r + (b.p - a.p), b.r};
  six_rows(g, a_held, displaced(b), rows);
  for (int r = 0; r < g.rows; ++r) {
    const double l = lambda[g.first + r];
    const Spatial<Six>& f = rows[r].force;
    out.W += Spatial<double>{{f.w.x.x, f.w.y.x, f.w.z.x}, {f.v.x.x, f.v.y.x, f.v.z.x}} * l;
    out.D += Spatial<RowPack>{{f.w.x.d, f.w.y.d, f.w.z.d}, {f.v.x.d, f.v.y.d, f.v.z.d}} * l;
    const Spatial<double> h = along_six(rows[r].acceleration);
    put(0, r, -(Phi<double>{out.from_a} * h));
    put(1, r, Phi<double>{out.from_b} * h);
  }
  if (rest) return out;
  six_rows(g, a_held, accelerated(b), rows);
  for (int r = 0; r < g.rows; ++r) put(3, r, Phi<double>{b.r} * along_six(rows[r].acceleration));
  if (g.a.slot == 0) return out;
  six_rows(g, accelerated(a), held(b), rows);
  for (int r = 0; r < g.rows; ++r) put(2, r, Phi<double>{a.r} * along_six(rows[r].acceleration));
  return out;
}

}  // namespace articula::ARTICULA_ISA
