// The rows of a constraint: what force each one puts on its two bodies, and its bias acceleration.
//
// A row says that some component of the motion of end b relative to end a is zero, in axes that a carries.
// Its velocity is fa* V(a) + fb* V(b) with fa, fb the forces (moment, force) of a unit multiplier at the
// bodies' O_k, and its acceleration fa* alpha(a) + fb* alpha(b) + what follows from velocities: `bias`, which
// uses the accelerations in x. With joint accelerations zero there it is d/dt(J) v, with the true ones the
// row's acceleration. JPL88 (a.6)-(a.10) are the grasps among these rows: end a is the arm's tip, end b the
// object.
#pragma once

#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/loop_memory.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
ARTICULA_INLINE Vec3<S> lifted(const Vec3<double>& a) {
  return {S(a.x), S(a.y), S(a.z)};
}
template <class S>
ARTICULA_INLINE Mat3<S> lifted(const Mat3<double>& m) {
  return {S(m.xx), S(m.xy), S(m.xz), S(m.yx), S(m.yy), S(m.yz), S(m.zx), S(m.zy), S(m.zz)};
}

/// A frame on a body: axes, place from O_k and in the world, velocity and acceleration. The world accelerates
/// by -g, as everything in x does.
template <class S>
struct EndAt {
  Mat3<S> R;
  Vec3<S> r, p, w, v, alpha, A;
};
template <bool moving, class S>
ARTICULA_INLINE EndAt<S> place_end(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const GroupEnd& end) {
  constexpr int s = stride<S>;
  const S O(0);
  const Vec3<S> zero{O, O, O};
  if (end.slot == 0) {
    const Vec3<S> r = lifted<S>(end.r);
    return {lifted<S>(end.R),
            r,
            r,
            zero,
            zero,
            zero,
            {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
  }
  const S* xk = slot(m.x, end.slot, int(body::count));
  const auto R = read<Mat3>(xk + s * body::R);
  EndAt<S> e;
  e.R = R * end.R;
  e.r = R * end.r;
  e.p = gather<1, Vec3<S>>(m.p + 3 * end.slot) + e.r;
  if constexpr (moving) {
    e.w = read<Vec3>(xk + s * body::w);
    e.v = gather<1, Vec3<S>>(m.V + 6 * end.slot + 3) + cross(e.w, e.r);
    e.alpha = read<Vec3>(xk + s * body::alpha_w);
    e.A = read<Vec3>(xk + s * body::alpha_v) + acceleration_gradient(e.w, e.alpha) * e.r;
  }
  return e;
}

template <class S>
ARTICULA_INLINE Vec3<S> axis_at(const Mat3<S>& R, int i) {
  return i == 0 ? column_x(R) : i == 1 ? column_y(R) : column_z(R);
}

/// From the centre of what rolls to the point that touches the plane, and its rate. A ball: -radius n. A disc
/// with axis u: -radius m, m the part of n in its plane.
template <bool moving, class S>
ARTICULA_INLINE void touching_point(const RowGroup& g, const EndAt<S>& a, const EndAt<S>& b, Vec3<S>& s,
                                    Vec3<S>& s_dot) {
  const Vec3<S> n = column_z(a.R);
  if (g.kind == RowsOf::rolling_ball) {
    s = n * S(-g.length);
    if constexpr (moving) s_dot = cross(a.w, s);
    return;
  }
  const Vec3<S> u = column_z(b.R);
  const S c = dot(n, u);
  const Vec3<S> y = n - u * c;
  const S inv = reciprocal(square_root(dot(y, y)));
  const Vec3<S> e = y * inv;
  s = e * S(-g.length);
  if constexpr (moving) {
    const Vec3<S> n_dot = cross(a.w, n), u_dot = cross(b.w, u);
    const Vec3<S> y_dot = n_dot - u * (dot(n_dot, u) + dot(n, u_dot)) - u_dot * c;
    s_dot = (y_dot - e * dot(e, y_dot)) * (inv * S(-g.length));
  }
}

/// put(row, force on a, force on b, bias) for each row of a group between frames that are at a and b. Without
/// `moving` the bias is zero.
template <bool moving, class S, class Put>
ARTICULA_INLINE void each_row_between(const RowGroup& g, const EndAt<S>& a, const EndAt<S>& b, Put&& put) {
  const S O(0);
  const Vec3<S> zero{O, O, O};
  const Vec3<S> r = b.p - a.p;
  if (g.kind == RowsOf::distance) {
    const S inv = reciprocal(square_root(dot(r, r)));
    const Vec3<S> n = r * inv;
    S bias = O;
    if constexpr (moving) {  // n.(A_b - A_a) + d/dt(n).(v_b - v_a)
      const Vec3<S> u = b.v - a.v;
      const S along = dot(n, u);
      bias = dot(n, b.A - a.A) + (dot(u, u) - along * along) * inv;
    }
    put(0, Spatial<S>{-cross(a.r, n), -n}, Spatial<S>{cross(b.r, n), n}, bias);
    return;
  }
  if (g.kind != RowsOf::frames) {  // rolling: the material points that touch have the same velocity
    Vec3<S> s, s_dot, A = zero, u = zero;
    touching_point<moving>(g, a, b, s, s_dot);
    const Vec3<S> c = r + s;
    if constexpr (moving) {
      u = b.v - a.v + cross(b.w, s) - cross(a.w, c);
      A = b.A - a.A + cross(b.alpha, s) + cross(b.w, s_dot) - cross(a.alpha, c) -
          cross(a.w, b.v + s_dot - a.v) - cross(a.w, u);
    }
    for (int i = 0; i < g.rows; ++i) {
      const Vec3<S> n = axis_at(a.R, g.freedom[i] - 3);
      put(i, Spatial<S>{-cross(a.r + c, n), -n}, Spatial<S>{cross(b.r + s, n), n}, dot(n, A));
    }
    return;
  }
  Vec3<S> A = zero, alpha = zero;
  if constexpr (moving) {
    // Of b relative to a, in axes that a carries: A' = A_b - A_a - alpha_a x r - w_a x (w_a x r) - 2 w_a x u.
    const Vec3<S> wr = cross(a.w, r), u = b.v - a.v - wr, dw = b.w - a.w;
    A = b.A - a.A - cross(a.alpha, r) - cross(a.w, wr + u + u);
    alpha = b.alpha - a.alpha - cross(a.w, dw);
  }
  for (int i = 0; i < g.rows; ++i) {
    const int f = g.freedom[i];
    if (f < 3) {
      const Vec3<S> n = axis_at(a.R, f);
      put(i, Spatial<S>{-n, zero}, Spatial<S>{n, zero}, dot(n, alpha));
    } else {
      const Vec3<S> n = axis_at(a.R, f - 3);
      put(i, Spatial<S>{-cross(a.r + r, n), -n}, Spatial<S>{cross(b.r, n), n}, dot(n, A));
    }
  }
}

template <bool moving, class S, class Put>
ARTICULA_INLINE void each_row(const Tree<Real<S>>& tree, const KernelMemory<S>& m, const RowGroup& g,
                              Put&& put) {
  each_row_between<moving>(g, place_end<moving>(tree, m, g.a), place_end<moving>(tree, m, g.b), put);
}

}  // namespace articula::ARTICULA_ISA
