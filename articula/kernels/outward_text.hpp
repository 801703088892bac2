// The outward sweeps that every dynamics algorithm starts with: poses, velocities, accelerations, and the
// Newton-Euler force of each body. World axes, each body's quantities at its own joint origin O_k (JPL88 2).
//
// Three steps. Placing joints and `newton_euler` (or `turn_inertia`) need no neighbour and run on a register
// of bodies at a time; `move_body` is the recursion. They take turns, some bodies at a time: a long chain
// passes through the cache once, and a processor can run ahead from one step into the next.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/kernels/memory.hpp"
#include "articula/spatial/triple.hpp"

namespace articula::ARTICULA_ISA {

template <class S>
using One = S;

template <template <class> class T, class S>
ARTICULA_INLINE T<S> read(const S* p) {
  return gather<stride<S>, T<S>>(p);
}
template <class T, class S>
ARTICULA_INLINE void write(S* p, const T& t) {
  scatter<stride<S>>(t, p);
}
template <template <class> class T, class S>
ARTICULA_INLINE T<Wide<S>> read_wide(const S* p) {
  if constexpr (wide_bodies<S> == 1)
    return gather<stride<S>, T<S>>(p);
  else
    return gather_wide<stride<S>, T<Wide<S>>, Wide<S>>(p);
}
template <class S, class T>
ARTICULA_INLINE void write_wide(S* p, const T& t) {
  if constexpr (wide_bodies<S> == 1)
    scatter<stride<S>>(t, p);
  else
    scatter_wide<stride<S>, Wide<S>>(t, p);
}
/// Constants for the bodies of a wide step.
template <class S, template <class> class T, class R>
ARTICULA_INLINE auto constants_wide(const R* p) {
  if constexpr (wide_bodies<S> == 1)
    return gather<block, T<R>>(p);
  else
    return gather_wide<block, T<Wide<R>>, Wide<R>>(p);
}

/// w~ w~ + alpha_w~: the acceleration of a point r of the body is alpha_v + this times r.
template <class S>
ARTICULA_INLINE Mat3<S> acceleration_gradient(const Vec3<S>& w, const Vec3<S>& a) {
  const S xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z, xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {-(yy + zz), xy - a.z, xz + a.y, xy + a.z, -(xx + zz), yz - a.x, xz - a.y, yz + a.x, -(xx + yy)};
}

/// Ends a stage of a long step: numbers of `at` are in memory here, and what comes later is not begun before.
/// Where registers are few, compilers otherwise mix the stages, and most of their instructions then move
/// numbers between registers and the stack.
template <class S, class T>
ARTICULA_INLINE void settle(T& at) {
  if constexpr (few_registers<S>) asm volatile("" : : "r"(&at) : "memory");
}

// --- joints ------------------------------------------------------------------------------------------

/// E Rz, from the sine and cosine of the angle; `twisted`: where E = Rx, from those of its own angle.
template <class E, class W>
ARTICULA_INLINE Mat3<W> twisted(const E& sine, const E& cosine, const SinCos<W>& turn) {
  return {turn.cos, -turn.sin,       W(E(0)),         cosine * turn.sin, cosine * turn.cos,
          W(-sine), sine * turn.sin, sine * turn.cos, W(cosine)};
}
/// E Rz of one body's joint.
template <class S, class R>
ARTICULA_INLINE Mat3<S> axes_of_joint(const R* c, bool twist, const SinCos<S>& turn) {
  if (!twist) return turned_about_z(gather<block, Mat3<R>>(c + block * constant::E), turn);
  return twisted(c[block * (constant::E + 7)], c[block * (constant::E + 8)], turn);
}
/// E Rz of the joints of a wide step; twist: all of them have E = Rx.
template <class S, class R>
ARTICULA_INLINE Mat3<Wide<S>> joint_axes(const R* c, bool twist, const SinCos<Wide<S>>& turn) {
  if (!twist) return turned_about_z(constants_wide<S, Mat3>(c + block * constant::E), turn);
  return twisted(constants_wide<S, One>(c + block * (constant::E + 7)),
                 constants_wide<S, One>(c + block * (constant::E + 8)), turn);
}
template <class S, class R>
ARTICULA_INLINE Vec3<Wide<S>> joint_origin(const R* c) {
  const auto l = constants_wide<S, Vec3>(c + block * constant::l);
  return {Wide<S>(l.x), Wide<S>(l.y), Wide<S>(l.z)};
}
/// What joints that slide, or have a quaternion, do beside.
template <class S>
ARTICULA_INLINE void place_special(const Tree<Real<S>>& tree, int k, const S* q, Mat3<S>& X, Vec3<S>& l) {
  const BodyIndex& b = tree.index[k];
  const auto E = gather<block, Mat3<Real<S>>>(tree.constants_of(k) + block * constant::E);
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        using J = decltype(j);
        const S* const t = q + b.q;
        if constexpr (J::quaternion) X = E * rotation(Quaternion<S>{t[0], t[1], t[2], t[3]});
        if constexpr (J::slides)
          l = E * J::slide(t, tree.pitch[k]) +
              gather<block, Vec3<Real<S>>>(tree.constants_of(k) + block * constant::l);
      });
}

/// R X, with X = E Rz of a joint whose E is known to have zeros.
template <class S>
ARTICULA_INLINE Mat3<S> turned(const Mat3<S>& R, const Mat3<S>& X, Alignment alignment) {
  if (alignment == Alignment::any) return R * X;
  const Vec3<S> x = column_x(R), y = column_y(R), z = column_z(R);
  if (alignment == Alignment::twist)
    return from_columns(R * column_x(X), R * column_y(X), y * X.yz + z * X.zz);
  const bool parallel = alignment == Alignment::parallel;
  const Vec3<S> b = parallel ? y : z, c = parallel ? z : -y;
  return from_columns(x * X.xx - b * X.xy, x * X.xy + b * X.xx, c);
}

/// Axes of a body by columns.
template <class S>
struct Columns {
  OneVector<S> x, y, z;
};
template <class S>
ARTICULA_INLINE Mat3<S> matrix(const Columns<S>& R) {
  return from_columns<S>(vec3(R.x), vec3(R.y), vec3(R.z));
}
template <class S>
ARTICULA_INLINE Columns<S> columns(const Mat3<S>& R) {
  return {one_vector(R.xx, R.yx, R.zx), one_vector(R.xy, R.yy, R.zy), one_vector(R.xz, R.yz, R.zz)};
}
/// (a, b) turned about a x b.
template <class V, class A>
ARTICULA_INLINE void turn(V& a, V& b, const A& sine, const A& cosine) {
  const V turned = a * cosine + b * sine;
  b = b * cosine - a * sine;
  a = turned;
}
/// R E Rz, by what is known of E.
template <class C, class S, class V>
ARTICULA_INLINE void turn_columns(const C* c, Alignment alignment, const SinCos<S>& angle, V& x, V& y, V& z) {
  if (alignment == Alignment::any) {
    const auto E = gather<block, Mat3<C>>(c + block * constant::E);
    const auto times = [&](const auto& a) __attribute__((always_inline)) {
      return x * a.x + y * a.y + z * a.z;
    };
    const V E_x = times(column_x(E)), E_y = times(column_y(E)), E_z = times(column_z(E));
    x = E_x, y = E_y, z = E_z;
  } else if (alignment == Alignment::twist) {
    turn(y, z, c[block * (constant::E + 7)], c[block * (constant::E + 8)]);
  } else if (alignment == Alignment::perpendicular) {
    const V was_y = y;
    y = z, z = -was_y;
  }
  turn(x, y, angle.sin, angle.cos);
}

// --- motions -----------------------------------------------------------------------------------------

/// A body's motion, handed to the next one: its axes, acceleration gradient, w (in Upto::positions: body::o),
/// alpha.
template <class S>
struct Moving {
  Mat3<S> R, A;
  Vec3<S> w, alpha_w, alpha_v;
};

/// positions: also O_k from the first origin of its tree (body::o), for algorithms with one reference point
/// per tree.
enum class Upto { positions, velocities, accelerations };

/// The world's motion: it accelerates upward, alpha = (0, -g).
template <class S>
ARTICULA_INLINE Moving<S> world_motion(const Tree<Real<S>>& tree) {
  const S O(0);
  return {Mat3<S>::identity(),
          {O, O, O, O, O, O, O, O, O},
          {O, O, O},
          {O, O, O},
          {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
}
template <Upto level, class S>
ARTICULA_INLINE void write_motion(S* xk, const Moving<S>& at) {
  constexpr int s = stride<S>;
  write(xk + s * body::w, at.w);  // in Upto::positions: body::o
  if constexpr (level >= Upto::accelerations) {
    write(xk + s * body::alpha_w, at.alpha_w);
    write(xk + s * body::alpha_v, at.alpha_v);
  }
}
template <Upto level, class S>
ARTICULA_INLINE void read_motion(const S* xk, Moving<S>& at) {
  constexpr int s = stride<S>;
  at.R = read<Mat3>(xk + s * body::R);
  at.w = read<Vec3>(xk + s * body::w);
  if constexpr (level >= Upto::accelerations) {
    at.alpha_w = read<Vec3>(xk + s * body::alpha_w);
    at.alpha_v = read<Vec3>(xk + s * body::alpha_v);
    at.A = acceleration_gradient(at.w, at.alpha_w);
  }
}

/// From the inboard body's motion to that of body k, whose joint has put its axes and origin at X and l:
/// R(k) = R(k+1) X(k), V(k) = phi* V(k+1) + H* v, alpha(k) = phi* alpha(k+1) + H* a + a(k) (JPL88 2.27-2.32,
/// all joint kinds: docs/math.md 3). `a` null: joint accelerations zero. Leaves l in world axes.
template <Upto level, class S>
ARTICULA_INLINE void move_body(const Tree<Real<S>>& tree, int k, const S* v, const S* a, const Mat3<S>& X,
                               Vec3<S>& l, Moving<S>& at) {
  const BodyIndex& b = tree.index[k];
  const bool on_world = b.inboard == 0;
  Mat3<S> R = at.R, A = at.A;  // not in place: g++ keeps these in registers
  Vec3<S> w = at.w, alpha_w = at.alpha_w, alpha_v = at.alpha_v;
  if (on_world) {
    R = X;
  } else {
    l = R * l;
    R = turned(R, X, b.alignment);
  }
  if constexpr (level == Upto::positions) w = on_world ? Vec3<S>{S(0), S(0), S(0)} : w + l;
  if constexpr (level >= Upto::velocities) {
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{R, tree.pitch[k]};
          const Spatial<S> dV = star_times(H, v + b.v);
          const Vec3<S> w_inboard = w;
          constexpr bool turns = J::angle >= 0 || J::quaternion;
          if constexpr (turns) w = on_world ? dV.w : w + dV.w;
          if constexpr (level >= Upto::accelerations) {
            if (!on_world) {
              alpha_v += A * l;
              if constexpr (turns) alpha_w += cross(w_inboard, dV.w);
            }
            if constexpr (J::slides) alpha_v += cross(w_inboard + w, dV.v);
            if (a) {
              const Spatial<S> da = star_times(H, a + b.v);
              if constexpr (turns) alpha_w += da.w;
              if constexpr (J::slides) alpha_v += da.v;
            }
          }
        });
    if constexpr (level >= Upto::accelerations) A = acceleration_gradient(w, alpha_w);
  }
  at.R = R, at.A = A, at.w = w, at.alpha_w = alpha_w, at.alpha_v = alpha_v;
}

// --- inertias and forces -----------------------------------------------------------------------------

/// Inertia of the bodies of a wide step in world axes, as J = lambda Id + (u w* + w u*) (see Tree).
template <class S, class R>
ARTICULA_INLINE auto turned_moments(const Mat3<Wide<S>>& axes, const R* c) {
  return symmetric_product(axes * constants_wide<S, Vec3>(c + block * constant::u),
                           axes * constants_wide<S, Vec3>(c + block * constant::w));
}

/// f(k) = M alpha + b, written with the acceleration gradient A: F = m alpha_v + A mp, and the moment is the
/// axial vector of A Sigma plus mp x alpha_v, Sigma the second moment of mass. Equal to JPL88 (2.23): b = (w
/// x J w, m w x (w x p)).
template <bool keep_inertia, class S, class R>
ARTICULA_INLINE void newton_euler(const Mat3<Wide<S>>& axes, const Mat3<Wide<S>>& A,
                                  const Vec3<Wide<S>>& alpha_v, const R* c, S* xk) {
  constexpr int s = stride<S>;
  using W = Wide<S>;
  const auto mp = axes * constants_wide<S, Vec3>(c + block * constant::mp);
  const auto T = turned_moments<S>(axes, c);
  if constexpr (keep_inertia) {
    write_wide(xk + s * body::J, plus_diagonal(T, constants_wide<S, One>(c + block * constant::lambda)));
    write_wide(xk + s * body::mp, mp);
  }
  if constexpr (wide_bodies<S> == 1) settle<S>(A);
  const auto sigma = constants_wide<S, One>(c + block * constant::sigma);
  const Sym3<W> Sigma{sigma - T.xx, sigma - T.yy, sigma - T.zz, -T.xy, -T.xz, -T.yz};
  const Vec3<W> N{(A.zx * Sigma.xy + A.zy * Sigma.yy + A.zz * Sigma.yz) -
                      (A.yx * Sigma.xz + A.yy * Sigma.yz + A.yz * Sigma.zz),
                  (A.xx * Sigma.xz + A.xy * Sigma.yz + A.xz * Sigma.zz) -
                      (A.zx * Sigma.xx + A.zy * Sigma.xy + A.zz * Sigma.xz),
                  (A.yx * Sigma.xx + A.yy * Sigma.xy + A.yz * Sigma.xz) -
                      (A.xx * Sigma.xy + A.xy * Sigma.yy + A.xz * Sigma.yz)};
  const Spatial<W> f{N + cross(mp, alpha_v),
                     alpha_v * constants_wide<S, One>(c + block * constant::m) + A * mp};
  write_wide(xk + s * body::f, f);
}

/// M(k) in world axes, for algorithms that need no forces: at O_k, or at the first origin of its tree
/// (body::o).
template <bool at_first_origin, class S, class R>
ARTICULA_INLINE void turn_inertia(const Mat3<Wide<S>>& axes, const R* c, S* xk) {
  constexpr int s = stride<S>;
  const auto mass = constants_wide<S, One>(c + block * constant::m);
  Inertia<Wide<S>> M{
      Wide<S>(mass), axes * constants_wide<S, Vec3>(c + block * constant::mp),
      plus_diagonal(turned_moments<S>(axes, c), constants_wide<S, One>(c + block * constant::lambda))};
  if constexpr (at_first_origin) M = shifted(Phi<Wide<S>>{read_wide<Vec3>(xk + s * body::o)}, M);
  write_wide(xk + s * body::mp, M.mp);
  write_wide(xk + s * body::J, M.J);
}
template <class S>
ARTICULA_INLINE void turn_inertias(const Tree<Real<S>>& tree, S* x) {
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    S* const xk = slot(x, k, int(body::count));
    turn_inertia<false>(read_wide<Mat3>(xk + stride<S> * body::R), tree.constants_of(k), xk);
  }
}

/// The last step, on bodies whose motion is known: `placed(k, xk)` on those of a wide step, which are in
/// memory; `moved(k, at, xk)` on one.
struct NoStep {
  template <class S>
  ARTICULA_INLINE static void placed(const Tree<Real<S>>&, int, S*) {}
  template <class S>
  ARTICULA_INLINE static void moved(const Tree<Real<S>>&, int, const Moving<S>&, S*) {}
};
template <bool keep_inertia>
struct NewtonEuler {
  template <class S>
  ARTICULA_INLINE static void placed(const Tree<Real<S>>& tree, int k, S* xk) {
    constexpr int s = stride<S>;
    newton_euler<keep_inertia>(
        read_wide<Mat3>(xk + s * body::R),
        acceleration_gradient(read_wide<Vec3>(xk + s * body::w), read_wide<Vec3>(xk + s * body::alpha_w)),
        read_wide<Vec3>(xk + s * body::alpha_v), tree.constants_of(k), xk);
  }
  template <class S>
  ARTICULA_INLINE static void moved(const Tree<Real<S>>& tree, int k, const Moving<S>& at, S* xk) {
    newton_euler<keep_inertia>(at.R, at.A, at.alpha_v, tree.constants_of(k), xk);
  }
};
template <bool at_first_origin>
struct TurnInertias {
  template <class S>
  ARTICULA_INLINE static void placed(const Tree<Real<S>>& tree, int k, S* xk) {
    turn_inertia<at_first_origin>(read_wide<Mat3>(xk + stride<S> * body::R), tree.constants_of(k), xk);
  }
  template <class S>
  ARTICULA_INLINE static void moved(const Tree<Real<S>>& tree, int k, const Moving<S>& at, S* xk) {
    turn_inertia<at_first_origin>(at.R, tree.constants_of(k), xk);
  }
};

// --- the sweep ---------------------------------------------------------------------------------------

/// Sines and cosines of the joints' angles, into the first two numbers of their slots.
template <class S>
__attribute__((noinline)) void turn_joints(const Tree<Real<S>>& tree, const S* q, S* x) {
  const auto turn_all = [&](auto&& sines) __attribute__((always_inline)) {
    for (int k = 1; k < tree.slots(); ++k) {
      if (tree.angle[k] < 0) continue;
      const SinCos<S> turn = sines(q[tree.angle[k]] + tree.offset[k]);
      S* const xk = slot(x, k, int(body::count));
      xk[0] = turn.sin, xk[1] = turn.cos;
    }
  };
  ManySines<S> sines;
  turn_all(sines);
  if (!sines.hold()) turn_all([](const S& angle) { return sincos(angle); });
}

/// R(k) = R(k+1) E Rz and l in world axes for a joint that turns about z, row by row.
template <class S, class C>
ARTICULA_INLINE void turn_axes(const C* c, Alignment alignment, const SinCos<S>& turn, Mat3<S>& R,
                               Vec3<S>& l) {
  const auto origin = gather<block, Vec3<C>>(c + block * constant::l);
  const auto each_row = [&](auto&& row_of_E) __attribute__((always_inline)) {
    const auto one = [&](S & x, S & y, S & z, S & at) __attribute__((always_inline)) {
      at = x * origin.x + y * origin.y + z * origin.z;
      const Vec3<S> e = row_of_E(Vec3<S>{x, y, z});
      x = e.x * turn.cos + e.y * turn.sin, y = e.y * turn.cos - e.x * turn.sin, z = e.z;
    };
    one(R.xx, R.xy, R.xz, l.x);
    one(R.yx, R.yy, R.yz, l.y);
    one(R.zx, R.zy, R.zz, l.z);
  };
  switch (alignment) {
    case Alignment::parallel:
      return each_row([](const Vec3<S>& r) __attribute__((always_inline)) { return r; });
    case Alignment::perpendicular:
      return each_row([](const Vec3<S>& r) __attribute__((always_inline)) {
        return Vec3<S>{r.x, r.z, -r.y};
      });
    case Alignment::twist: {
      const C sine = c[block * (constant::E + 7)], cosine = c[block * (constant::E + 8)];
      return each_row([&](const Vec3<S>& r) __attribute__((always_inline)) {
        return Vec3<S>{r.x, r.y * cosine + r.z * sine, r.z * cosine - r.y * sine};
      });
    }
    default: {
      const auto E = gather<block, Mat3<C>>(c + block * constant::E);
      return each_row([&](const Vec3<S>& r) __attribute__((always_inline)) {
        return Vec3<S>{r.x * E.xx + r.y * E.yx + r.z * E.zx, r.x * E.xy + r.y * E.yy + r.z * E.zy,
                       r.x * E.xz + r.y * E.yz + r.z * E.zz};
      });
    }
  }
}
/// See move_body: for a revolute joint that is not on the world, in stages.
template <Upto level, class S>
ARTICULA_INLINE void move_revolute(const Tree<Real<S>>& tree, int k, const S* v, const S* a,
                                   const SinCos<S>& turn, Vec3<S>& l, Moving<S>& at) {
  const BodyIndex& b = tree.index[k];
  turn_axes(tree.constants_of(k), b.alignment, turn, at.R, l);
  if constexpr (level == Upto::accelerations) settle<S>(at);
  if constexpr (level == Upto::positions) at.w += l;
  if constexpr (level >= Upto::velocities) {
    if constexpr (level >= Upto::accelerations) at.alpha_v += at.A * l;
    const Vec3<S> z = column_z(at.R), dw = z * v[b.v];
    if constexpr (level >= Upto::accelerations) {
      at.alpha_w += cross(at.w, dw);
      if (a) at.alpha_w += z * a[b.v];
    }
    at.w += dw;
    if constexpr (level >= Upto::accelerations) at.A = acceleration_gradient(at.w, at.alpha_w);
  }
}

/// The same for all others.
template <Upto level, class S>
__attribute__((noinline)) void move_other_body(const Tree<Real<S>>& tree, int k, const S* q, const S* v,
                                               const S* a, const S* xk, Vec3<S>& l, Moving<S>& at) {
  const BodyIndex& b = tree.index[k];
  const auto* const c = tree.constants_of(k);
  const SinCos<S> turn = tree.angle[k] < 0 ? SinCos<S>{S(0), S(1)} : SinCos<S>{xk[0], xk[stride<S>]};
  Mat3<S> X = axes_of_joint<S>(c, b.alignment != Alignment::any, turn);
  const auto origin = gather<block, Vec3<Real<S>>>(c + block * constant::l);
  l = {S(origin.x), S(origin.y), S(origin.z)};
  if (b.kind != HingeKind::revolute) place_special(tree, k, q, X, l);
  move_body<level>(tree, k, v, a, X, l, at);
}

/// Moving with each 3-vector in one register, where they hold one: for one state, whose recursion has nothing else for
/// the lanes. In world axes all of it but cross products is the same for the three components, and what goes from body
/// to body is six registers.
template <class S>
struct MovingVectors {
  Columns<S> R;
  OneVector<S> w, alpha_w, alpha_v;
};
template <Upto level, class S>
ARTICULA_INLINE void read_motion(const S* xk, MovingVectors<S>& at) {
  constexpr int s = stride<S>;
  const auto vector = [&](int i) __attribute__((always_inline)) {
    return one_vector(xk[s * i], xk[s * (i + 1)], xk[s * (i + 2)]);
  };
  at.R = columns(read<Mat3>(xk + s * body::R));
  at.w = vector(body::w);
  if constexpr (level >= Upto::accelerations)
    at.alpha_w = vector(body::alpha_w), at.alpha_v = vector(body::alpha_v);
}
template <Upto level, class S>
ARTICULA_INLINE void write_motion(S* xk, const MovingVectors<S>& at) {
  constexpr int s = stride<S>;
  write(xk + s * body::R, matrix(at.R));
  write(xk + s * body::w, vec3(at.w));  // in Upto::positions: body::o
  if constexpr (level >= Upto::accelerations) {
    write(xk + s * body::alpha_w, vec3(at.alpha_w));
    write(xk + s * body::alpha_v, vec3(at.alpha_v));
  }
}
/// See move_body: for a revolute joint.
template <Upto level, class S>
ARTICULA_INLINE void move_revolute(const Tree<Real<S>>& tree, int k, const S* v, const S* a,
                                   const SinCos<S>& angle, OneVector<S>& l, MovingVectors<S>& at) {
  const BodyIndex& b = tree.index[k];
  const auto* const c = tree.constants_of(k);
  Columns<S>& R = at.R;
  l = R.x * c[block * constant::l] + R.y * c[block * (constant::l + 1)] + R.z * c[block * (constant::l + 2)];
  turn_columns(c, b.alignment, angle, R.x, R.y, R.z);
  if constexpr (level == Upto::positions) at.w = b.inboard == 0 ? one_vector(S(0), S(0), S(0)) : at.w + l;
  if constexpr (level >= Upto::velocities) {
    const OneVector<S> dw = R.z * v[b.v];
    if constexpr (level >= Upto::accelerations) {
      if (b.inboard != 0) {
        at.alpha_v = at.alpha_v + cross(at.alpha_w, l) + cross(at.w, cross(at.w, l));
        at.alpha_w = at.alpha_w + cross(at.w, dw);
      }
      if (a) at.alpha_w = at.alpha_w + R.z * a[b.v];
    }
    at.w = at.w + dw;
  }
}
/// The same for all others.
template <Upto level, class S>
__attribute__((noinline)) void move_other_body(const Tree<Real<S>>& tree, int k, const S* q, const S* v,
                                               const S* a, const S* xk, OneVector<S>& l,
                                               MovingVectors<S>& at) {
  Moving<S> one{matrix(at.R), {}, vec3(at.w), vec3(at.alpha_w), vec3(at.alpha_v)};
  if constexpr (level >= Upto::accelerations) one.A = acceleration_gradient(one.w, one.alpha_w);
  Vec3<S> to;
  move_other_body<level>(tree, k, q, v, a, xk, to, one);
  const auto vector = [](const Vec3<S>& x) __attribute__((always_inline)) {
    return one_vector(x.x, x.y, x.z);
  };
  l = vector(to);
  at = {columns(one.R), vector(one.w), vector(one.alpha_w), vector(one.alpha_v)};
}

/// Called after each body's motion is known; does nothing.
struct NoMore {
  template <class S, class V>
  ARTICULA_INLINE void operator()(int, const Columns<S>&, const V&) const {}
};

/// One body after the other, all three steps on each: for scalars whose lanes are not bodies. A function of
/// its own, like other sweeps for packs: what is inlined together competes for registers.
template <Upto level, class Step, bool keep_motion, class S, class More>
__attribute__((noinline)) void sweep_one_by_one(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                                                S* x, More& more) {
  turn_joints(tree, q, x);
  Moving<S> at = world_motion<S>(tree);
  write(slot(x, 0, int(body::count)) + body::R, at.R);
  write_motion<level>(slot(x, 0, int(body::count)), at);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    S* const xk = slot(x, k, int(body::count));
    Vec3<S> l;
    if (b.inboard != k - 1) read_motion<level>(slot(x, b.inboard, int(body::count)), at);
    if constexpr (level == Upto::accelerations) settle<S>(at);
    if (b.kind == HingeKind::revolute && b.inboard != 0)
      move_revolute<level>(tree, k, v, a, SinCos<S>{xk[0], xk[1]}, l, at);
    else
      move_other_body<level>(tree, k, q, v, a, xk, l, at);
    if constexpr (level == Upto::accelerations) settle<S>(at);
    write(xk + body::l, l);
    if (keep_motion || b.has_sides || b.kind != HingeKind::revolute) {
      write(xk + body::R, at.R);
      write_motion<level>(xk, at);
    } else {  // only z of a revolute joint's axes is asked for: registers take longest to be stored
      xk[body::R + 2] = at.R.xz, xk[body::R + 5] = at.R.yz, xk[body::R + 8] = at.R.zz;
    }
    Step::moved(tree, k, at, xk);
    more(k, columns(at.R), l);
  }
}

/// Chains of more bodies leave the second cache: lines of bodies so far ahead are then fetched while others
/// are at work. What is read of a body is spread over its block, too thin for the processor to guess.
inline constexpr int few_bodies = 1500, bodies_ahead = 64;
/// Fetches as many cache lines as one slot has numbers for: eight neighbouring calls fetch their whole block.
template <class S>
ARTICULA_INLINE void fetch_slot(const S* data, int index, int components) {
  const S* const p = data + long(index) * components;
#pragma GCC unroll 8
  for (int i = 0; i < components; i += int(64 / sizeof(S))) __builtin_prefetch(p + i, 0, 3);
}

/// All three steps, some bodies at a time. Step is the third; keep_motion: w and alpha are wanted afterwards.
template <Upto level, class Step, bool keep_motion, class S, class More>
ARTICULA_INLINE void sweep_bodies_outward(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a, S* x,
                                          More&& more) {
  constexpr int s = stride<S>, wide = wide_bodies<S>, together = 4 * block;
  if constexpr (wide == 1) {
    sweep_one_by_one<level, Step, keep_motion>(tree, q, v, a, x, more);
  } else {
    const bool far = tree.bodies > few_bodies;
    const S O(0);
    const auto g = tree.gravity;
    MovingVectors<S> last{columns(Mat3<S>::identity()), one_vector(O, O, O), one_vector(O, O, O),
                          one_vector(S(-g.x), S(-g.y), S(-g.z))};
    for (int begin = 0; begin < tree.slots(); begin += together) {
      const int end = begin + together < tree.slots() ? begin + together : tree.slots();
      for (int k = begin; k < end; k += wide) {
        S* const xk = slot(x, k, int(body::count));
        const int* const index = tree.angle + k;
        const auto angle = lanes_from<S, wide>([&](int j) __attribute__((always_inline)) {
          return index[j] < 0 ? S(0) : q[index[j]];
        });
        const auto turn = sincos(angle + Wide<S>::load(tree.offset + k));
        turn.sin.store(xk);
        turn.cos.store(xk + s);
      }
      // Part by part: a copy of the whole would keep g++ from holding it in registers.
      MovingVectors<S> at{{last.R.x, last.R.y, last.R.z}, last.w, last.alpha_w, last.alpha_v};
      if (begin == 0) write_motion<level>(slot(x, 0, int(body::count)), at);
      for (int k = begin == 0 ? 1 : begin; k < end; ++k) {
        const BodyIndex& b = tree.index[k];
        S* const xk = slot(x, k, int(body::count));
        if (b.inboard != k - 1) read_motion<level>(slot(x, b.inboard, int(body::count)), at);
        OneVector<S> l;
        if (b.kind == HingeKind::revolute) {
          move_revolute<level>(tree, k, v, a, SinCos<S>{xk[0], xk[s]}, l, at);
        } else {
          MovingVectors<S> apart = at;  // a copy: `at` itself must not leave the registers
          OneVector<S> its_l;
          move_other_body<level>(tree, k, q, v, a, xk, its_l, apart);
          l = its_l;
          at = {{apart.R.x, apart.R.y, apart.R.z}, apart.w, apart.alpha_w, apart.alpha_v};
        }
        write_motion<level>(xk, at);
        write(xk + s * body::l, vec3(l));
        more(k, at.R, l);
        if (far && k + bodies_ahead < tree.slots()) {
          fetch_slot(x, k + bodies_ahead, body::count);
          fetch_slot(tree.constants, k + bodies_ahead, constant::count);
        }
      }
      last = {{at.R.x, at.R.y, at.R.z}, at.w, at.alpha_w, at.alpha_v};
      for (int k = begin; k < end; k += wide) Step::placed(tree, k, slot(x, k, int(body::count)));
    }
  }
}

/// Axes, origins and motions of all bodies; more(k, axes, l) is told each.
template <Upto level, class S, class More = NoMore>
ARTICULA_INLINE void move_bodies(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a, S* x,
                                 More&& more = {}) {
  sweep_bodies_outward<level, NoStep, true>(tree, q, v, a, x, more);
}
/// Axes, origins, motions and accelerations of all bodies, and M alpha + b.
template <bool keep_inertia, bool keep_motion, class S>
ARTICULA_INLINE void move_and_load_bodies(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                                          S* x) {
  sweep_bodies_outward<Upto::accelerations, NewtonEuler<keep_inertia>, keep_motion>(tree, q, v, a, x,
                                                                                    NoMore{});
}
/// Axes, origins and motions of all bodies without accelerations, and M.
template <Upto level, bool at_first_origin, class S>
ARTICULA_INLINE void move_bodies_and_inertias(const Tree<Real<S>>& tree, const S* q, const S* v, S* x) {
  sweep_bodies_outward<level, TurnInertias<at_first_origin>, true>(tree, q, v, static_cast<const S*>(nullptr),
                                                                   x, NoMore{});
}

/// External forces on the bodies, world axes at each O_k, bodies in order.
template <class S>
ARTICULA_INLINE void subtract_wrenches(const Tree<Real<S>>& tree, const S* wrenches, S* x) {
  if (!wrenches) return;
  for (int k = 1; k < tree.slots(); ++k) {
    S* const f = slot(x, k, int(body::count)) + stride<S> * body::f;
    for (int i = 0; i < 6; ++i) f[stride<S> * i] = f[stride<S> * i] - wrenches[6 * (k - 1) + i];
  }
}

}  // namespace articula::ARTICULA_ISA
