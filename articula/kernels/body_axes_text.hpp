// Inverse dynamics in each body's own axes, at its joint origin O_k, and what forward dynamics shares with it.
//
// Nobody asks these two for positions, so that what other algorithms turn into world axes stays where it is:
// inertias are constants, a revolute joint's H is (z, 0), and P H* is a column of P.
//
// phi of these sweeps is [Id l~; 0 Id] and then E Rz, in steps that skip what is known to be zero or one: E is a
// turn about x (Alignment), and of l most robots have one component or none (BodyIndex::has_l).
#pragma once

#include "articula/kernels/inverse_dynamics_text.hpp"

namespace articula::ARTICULA_ISA {

/// Components of a slot of KernelMemory::x in these algorithms. What the sweeps read of a revolute joint's body is
/// together, eight numbers.
namespace own {
enum : int {
  f = 0,         // Spatial: M alpha + b less external force
  sine = 6,      // of the joint's angle
  cosine = 7,    //
  X = 6,         // Mat3: of joints that are not revolute, instead: their axes in the inboard body's
  l = 15,        // Vec3: and their origin
  w = 18,        // Vec3, Vec3, Vec3: the motion of bodies with several outboard ones
  alpha_w = 21,  //
  alpha_v = 24,  //
  R = 27,        // Mat3: body axes in the world, where there are external forces
  count = 36,
};
}
static_assert(int(own::count) <= int(body::count));

template <class S>
struct OwnMotion {
  Vec3<S> w, alpha_w, alpha_v;  // alpha = d/dt (w, v_O), less gravity
};

// --- joints ------------------------------------------------------------------------------------------

/// Rz a and Rz* a.
template <class S>
ARTICULA_INLINE Vec3<S> turned(const SinCos<S>& t, const Vec3<S>& a) {
  return {t.cos * a.x - t.sin * a.y, t.sin * a.x + t.cos * a.y, a.z};
}
template <class S>
ARTICULA_INLINE Vec3<S> turned_back(const SinCos<S>& t, const Vec3<S>& a) {
  return {t.cos * a.x + t.sin * a.y, t.cos * a.y - t.sin * a.x, a.z};
}
/// Whether body k's joint is a revolute one with E = Rz(a) Rx(t): what all are, unless a model was built without turning
/// its axes (BuildOptions).
ARTICULA_INLINE bool goes_by_turns(const BodyIndex& b) {
  return b.kind == HingeKind::revolute && b.twist != Alignment::any;
}
/// E = Rz(a) Rx(t) of a revolute joint (Tree): t and, if `beside` another body's joint chose the inboard axes, a.
template <class C>
ARTICULA_INLINE SinCos<C> twist_of(const C* c) {
  return {c[block * (constant::E + 7)], c[block * (constant::E + 8)]};
}
template <class C>
ARTICULA_INLINE SinCos<C> turn_beside(const C* c) {
  return {c[block * (constant::E + 3)], c[block * constant::E]};
}
/// E a and E* a.
template <Alignment twist, bool beside, class S, class C>
ARTICULA_INLINE Vec3<S> from_joint(const C* c, const Vec3<S>& a) {
  Vec3<S> x = a;
  if constexpr (twist == Alignment::perpendicular) {
    x = {a.x, -a.z, a.y};
  } else if constexpr (twist == Alignment::twist) {
    const SinCos<C> t = twist_of(c);
    x = {a.x, a.y * t.cos - a.z * t.sin, a.z * t.cos + a.y * t.sin};
  }
  if constexpr (!beside) return x;
  const SinCos<C> t = turn_beside(c);
  return {x.x * t.cos - x.y * t.sin, x.y * t.cos + x.x * t.sin, x.z};
}
template <Alignment twist, bool beside, class S, class C>
ARTICULA_INLINE Vec3<S> to_joint(const C* c, const Vec3<S>& a) {
  Vec3<S> x = a;
  if constexpr (beside) {
    const SinCos<C> t = turn_beside(c);
    x = {a.x * t.cos + a.y * t.sin, a.y * t.cos - a.x * t.sin, a.z};
  }
  if constexpr (twist == Alignment::parallel) return x;
  if constexpr (twist == Alignment::perpendicular) return {x.x, x.z, -x.y};
  const SinCos<C> t = twist_of(c);
  return {x.x, x.y * t.cos + x.z * t.sin, x.z * t.cos - x.y * t.sin};
}
/// f(E) of a revolute joint, its kind known when f is compiled.
template <Alignment t, bool b>
struct JointAxes {
  static constexpr Alignment twist = t;
  static constexpr bool beside = b;
};
template <class F>
ARTICULA_INLINE void with_joint_axes(const BodyIndex& b, F&& f) {
  if (b.alignment == Alignment::any) {
    if (b.twist == Alignment::perpendicular) return f(JointAxes<Alignment::perpendicular, true>{});
    if (b.twist == Alignment::parallel) return f(JointAxes<Alignment::parallel, true>{});
    return f(JointAxes<Alignment::twist, true>{});
  }
  if (b.twist == Alignment::perpendicular) return f(JointAxes<Alignment::perpendicular, false>{});
  if (b.twist == Alignment::parallel) return f(JointAxes<Alignment::parallel, false>{});
  return f(JointAxes<Alignment::twist, false>{});
}
template <class S>
ARTICULA_INLINE SinCos<S> turn_of(const S* xk) {
  return {xk[stride<S> * own::sine], xk[stride<S> * own::cosine]};
}

/// phi f = (moment + l x force, force), and phi* (w, v) = (w, v + w x l).
template <class S, class C>
ARTICULA_INLINE void shift_force(const BodyIndex& b, const C* l, Spatial<S>& f) {
  if (b.has_l & 1) f.w.y = f.w.y - f.v.z * l[0], f.w.z = f.w.z + f.v.y * l[0];
  if (b.has_l & 2) f.w.z = f.w.z - f.v.x * l[block], f.w.x = f.w.x + f.v.z * l[block];
  if (b.has_l & 4) f.w.x = f.w.x - f.v.y * l[2 * block], f.w.y = f.w.y + f.v.x * l[2 * block];
}
template <class S, class C>
ARTICULA_INLINE void shift_motion(const BodyIndex& b, const C* l, Spatial<S>& x) {
  if (b.has_l & 1) x.v.y = x.v.y + x.w.z * l[0], x.v.z = x.v.z - x.w.y * l[0];
  if (b.has_l & 2) x.v.z = x.v.z + x.w.x * l[block], x.v.x = x.v.x - x.w.z * l[block];
  if (b.has_l & 4) x.v.x = x.v.x + x.w.y * l[2 * block], x.v.y = x.v.y - x.w.x * l[2 * block];
}
/// alpha_v += [w~ w~ + alpha_w~] l, a column for each component of l.
template <class S, class C>
ARTICULA_INLINE void shift_acceleration(const BodyIndex& b, const C* l, OwnMotion<S>& at) {
  const Vec3<S>&w = at.w, &a = at.alpha_w;
  if (b.has_l & 1) at.alpha_v += Vec3<S>{-(w.y * w.y + w.z * w.z), w.x * w.y + a.z, w.x * w.z - a.y} * l[0];
  if (b.has_l & 2)
    at.alpha_v += Vec3<S>{w.x * w.y - a.z, -(w.x * w.x + w.z * w.z), w.y * w.z + a.x} * l[block];
  if (b.has_l & 4)
    at.alpha_v += Vec3<S>{w.x * w.z + a.y, w.y * w.z - a.x, -(w.x * w.x + w.y * w.y)} * l[2 * block];
}

// Numbers of a matrix A under Rz A Rz*: those of a row or column that it meets on one side; the 2 x 2 block that it
// meets on both sides, whose skew part stays; and the same where the block is symmetric.
template <class S, class C>
ARTICULA_INLINE void turn_pair(const SinCos<C>& t, S& x, S& y) {
  const S turned_x = x * t.cos - y * t.sin;
  y = x * t.sin + y * t.cos;
  x = turned_x;
}
template <class S, class C>
ARTICULA_INLINE void turn_block(const SinCos<C>& t, S& xx, S& xy, S& yx, S& yy) {
  const S g = (xx - yy) * t.sin + (xy + yx) * t.cos, turned_xy = g * t.cos - yx;
  xx = xx - g * t.sin;
  yy = yy + g * t.sin;
  yx = g * t.cos - xy;
  xy = turned_xy;
}
template <class S, class C>
ARTICULA_INLINE void turn_symmetric(const SinCos<C>& t, S& xx, S& yy, S& xy) {
  const S g = (xx - yy) * t.sin + (xy + xy) * t.cos;
  xx = xx - g * t.sin;
  yy = yy + g * t.sin;
  xy = g * t.cos - xy;
}
/// After a quarter turn about x, or as it is.
template <bool quarter, class S>
ARTICULA_INLINE Sym3<S> perhaps_turned(const Sym3<S>& a) {
  if constexpr (quarter)
    return {a.xx, a.zz, a.yy, -a.xz, a.xy, -a.yz};
  else
    return a;
}

// --- outward -----------------------------------------------------------------------------------------

/// Sines and cosines of the joints' angles, into their slots.
template <class S>
ARTICULA_INLINE void turn_own_joints(const Tree<Real<S>>& tree, const S* q, S* x) {
  constexpr int wide = wide_bodies<S>;
  if constexpr (wide == 1) {
    turn_joints(tree, q, x + own::sine);
  } else {
    for (int k = 0; k < tree.slots(); k += wide) {
      const int* const index = tree.angle + k;
      const auto angle = lanes_from<S, wide>([&](int j) __attribute__((always_inline)) {
        return index[j] < 0 ? S(0) : q[index[j]];
      });
      const auto turn = sincos(angle + Wide<S>::load(tree.offset + k));
      S* const xk = slot(x, k, int(own::count));
      turn.sin.store(xk + stride<S> * own::sine);
      turn.cos.store(xk + stride<S> * own::cosine);
    }
  }
}

template <class S>
ARTICULA_INLINE OwnMotion<S> own_world(const Tree<Real<S>>& tree) {
  const S O(0);
  return {{O, O, O}, {O, O, O}, {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
}

/// From the inboard body's motion to that of body k with a revolute joint: alpha(k) = phi* alpha(k+1) + H* a + a(k)
/// (JPL88 2.27-2.32). `a` null: joint accelerations zero. Not moving: all is at rest, and gravity alone is turned.
template <bool moving, class S>
ARTICULA_INLINE void move_own_revolute(const Tree<Real<S>>& tree, int k, const S* v, const S* a, const S* xk,
                                       OwnMotion<S>& at) {
  const BodyIndex& b = tree.index[k];
  const auto* const c = tree.constants_of(k);
  if (moving && b.inboard != 0) shift_acceleration(b, c + block * constant::l, at);
  const SinCos<S> t = turn_of(xk);
  with_joint_axes(
      b, [&](auto E) __attribute__((always_inline)) {
        if (moving && b.inboard != 0) {
          at.w = turned_back(t, to_joint<E.twist, E.beside>(c, at.w));
          at.alpha_w = turned_back(t, to_joint<E.twist, E.beside>(c, at.alpha_w));
        }
        at.alpha_v = turned_back(t, to_joint<E.twist, E.beside>(c, at.alpha_v));
      });
  if constexpr (!moving) return;
  const S rate = v[b.v];
  at.alpha_w.x = at.alpha_w.x + at.w.y * rate;
  at.alpha_w.y = at.alpha_w.y - at.w.x * rate;
  if (a) at.alpha_w.z = at.alpha_w.z + a[b.v];
  at.w.z = at.w.z + rate;
}
/// X and l of every other kind.
template <class S>
ARTICULA_INLINE void place_own_other(const Tree<Real<S>>& tree, int k, const S* q, const S* xk, Mat3<S>& X,
                                     Vec3<S>& l) {
  const auto* const c = tree.constants_of(k);
  const SinCos<S> t = tree.angle[k] < 0 ? SinCos<S>{S(0), S(1)} : turn_of(xk);
  X = axes_of_joint<S>(c, tree.index[k].alignment != Alignment::any, t);
  const auto origin = gather<block, Vec3<Real<S>>>(c + block * constant::l);
  l = {S(origin.x), S(origin.y), S(origin.z)};
  place_special(tree, k, q, X, l);
}
/// The same for all other kinds; leaves X and l in its slot.
template <bool moving, class S>
__attribute__((noinline)) void move_own_other(const Tree<Real<S>>& tree, int k, const S* q, const S* v,
                                              const S* a, S* xk, OwnMotion<S>& at) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  Mat3<S> X;
  Vec3<S> l;
  place_own_other(tree, k, q, xk, X, l);
  write(xk + s * own::X, X);
  write(xk + s * own::l, l);
  if (moving && b.inboard != 0) at.alpha_v += acceleration_gradient(at.w, at.alpha_w) * l;
  at = {star_times(X, at.w), star_times(X, at.alpha_w), star_times(X, at.alpha_v)};
  if constexpr (!moving) return;
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        using J = decltype(j);
        const auto H = own_hinge<J, S>(tree.pitch[k]);
        const Spatial<S> dV = star_times(H, v + b.v);
        const Vec3<S> w_inboard = at.w;
        at.w += dV.w;
        at.alpha_w += cross(w_inboard, dV.w);
        if constexpr (J::slides) at.alpha_v += cross(w_inboard + at.w, dV.v);
        if (a) {
          const Spatial<S> da = star_times(H, a + b.v);
          at.alpha_w += da.w;
          at.alpha_v += da.v;
        }
      });
}

/// f = M alpha + b, b = (w x J w, w x (w x mp)) (JPL88 2.23).
template <bool moving, class S, class R>
ARTICULA_INLINE Spatial<S> force_on_body(const Inertia<R>& M, const OwnMotion<S>& at) {
  if constexpr (!moving) return {cross(M.mp, at.alpha_v), at.alpha_v * M.m};
  const Vec3<S>& w = at.w;
  return M * Spatial<S>{at.alpha_w, at.alpha_v} + Spatial<S>{cross(w, M.J * w), cross(w, cross(w, M.mp))};
}
template <class R>
ARTICULA_INLINE Inertia<R> own_inertia(const R* c) {
  return {c[block * constant::m], gather<block, Vec3<R>>(c + block * constant::mp),
          gather<block, Sym3<R>>(c + block * constant::J)};
}

/// R* times the external forces on the bodies, which are in world axes at each O_k.
template <class S>
__attribute__((noinline)) void subtract_own_wrenches(const Tree<Real<S>>& tree, const S* wrenches, S* x) {
  constexpr int s = stride<S>;
  for (int k = 1; k < tree.slots(); ++k, wrenches += 6) {
    const BodyIndex& b = tree.index[k];
    S* const xk = slot(x, k, int(own::count));
    Mat3<S> R = goes_by_turns(b)
                    ? axes_of_joint<S>(tree.constants_of(k), b.alignment != Alignment::any, turn_of(xk))
                    : read<Mat3>(xk + s * own::X);
    if (b.inboard != 0) R = read<Mat3>(slot(x, b.inboard, int(own::count)) + s * own::R) * R;
    write(xk + s * own::R, R);
    const auto external = gather<1, Spatial<S>>(wrenches);
    write(xk + s * own::f,
          read<Spatial>(xk + s * own::f) - Spatial<S>{star_times(R, external.w), star_times(R, external.v)});
  }
}

/// Motions of all bodies, and f = M alpha + b less external forces.
template <bool moving, class S>
__attribute__((noinline)) void load_own_bodies(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                                               const S* wrenches, S* x) {
  constexpr int s = stride<S>;
  turn_own_joints(tree, q, x);
  OwnMotion<S> at = own_world<S>(tree);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    S* const xk = slot(x, k, int(own::count));
    if (b.inboard == 0) {
      at = own_world<S>(tree);
    } else if (b.inboard != k - 1) {
      const S* const from = slot(x, b.inboard, int(own::count));
      at.alpha_v = read<Vec3>(from + s * own::alpha_v);
      if constexpr (moving)
        at.w = read<Vec3>(from + s * own::w), at.alpha_w = read<Vec3>(from + s * own::alpha_w);
    }
    if (goes_by_turns(b)) {
      move_own_revolute<moving>(tree, k, v, a, xk, at);
    } else {
      OwnMotion<S> apart = at;  // a copy: `at` itself must not leave the registers
      move_own_other<moving>(tree, k, q, v, a, xk, apart);
      at = {apart.w, apart.alpha_w, apart.alpha_v};
    }
    if (b.has_sides) {
      write(xk + s * own::w, at.w);
      write(xk + s * own::alpha_w, at.alpha_w);
      write(xk + s * own::alpha_v, at.alpha_v);
    }
    write(xk + s * own::f, force_on_body<moving>(own_inertia(tree.constants_of(k)), at));
  }
  if (wrenches) subtract_own_wrenches(tree, wrenches, x);
}

/// Whether inverse and forward dynamics are made in body axes.
template <class S>
ARTICULA_INLINE bool in_body_axes(const Tree<Real<S>>& tree) {
  return wide_bodies<S> == 1 ? tree.suits_body_axes : tree.turns_little;
}

// --- inverse dynamics --------------------------------------------------------------------------------

template <class S>
__attribute__((noinline)) void pass_other_force(const Tree<Real<S>>& tree, int k, const S* xk, Spatial<S>& f,
                                                S* tau) {
  constexpr int s = stride<S>;
  const BodyIndex& b = tree.index[k];
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        times(own_hinge<decltype(j), S>(tree.pitch[k]), f, tau + b.v);
      });
  const auto X = read<Mat3>(xk + s * own::X);
  f = Phi<S>{read<Vec3>(xk + s * own::l)} * Spatial<S>{X * f.w, X * f.v};
}

/// f(k) = sum over outboard bodies of phi f, and its own; T = H f.
template <class S>
__attribute__((noinline)) void gather_own_forces(const Tree<Real<S>>& tree, const KernelMemory<S>& m,
                                                 S* tau) {
  const S O(0);
  Spatial<S> f{{O, O, O}, {O, O, O}};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.x, k, int(own::count));
    const auto* const c = tree.constants_of(k);
    const auto its_own = read<Spatial>(xk + stride<S> * own::f);
    f = b.has_carry ? f + its_own : its_own;
    if (b.has_sides) f += gather<1, Spatial<S>>(m.side + 6 * k);
    if (goes_by_turns(b)) {
      tau[b.v] = f.w.z;
      if (b.handover == Handover::none) continue;
      const SinCos<S> t = turn_of(xk);
      with_joint_axes(
          b, [&](auto E) __attribute__((always_inline)) {
            f = {from_joint<E.twist, E.beside>(c, turned(t, f.w)),
                 from_joint<E.twist, E.beside>(c, turned(t, f.v))};
          });
      shift_force(b, c + block * constant::l, f);
    } else {
      Spatial<S> apart = f;  // a copy: `f` itself must not leave the registers
      pass_other_force(tree, k, xk, apart, tau);
      f = {apart.w, apart.v};
    }
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.side + 6 * b.inboard;
    if (b.handover == Handover::add) f += gather<1, Spatial<S>>(sum);
    scatter<1>(f, sum);
  }
}

/// In the axes that forward dynamics takes: what one does, the other then undoes to rounding. v null: at rest, where a
/// is null too; nothing but places is then swept outward.
template <class S>
ARTICULA_INLINE void inverse_dynamics(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                                      const S* wrenches, const KernelMemory<S>& m, S* tau) {
  if (in_body_axes<S>(tree)) {
    if (v)
      load_own_bodies<true>(tree, q, v, a, wrenches, m.x);
    else
      load_own_bodies<false>(tree, q, v, a, wrenches, m.x);
    gather_own_forces(tree, m, tau);
  } else {
    if (v)
      move_and_load_bodies<false, false>(tree, q, v, a, m.x);
    else
      sweep_bodies_outward<Upto::positions, WeighBodies, false>(tree, q, v, a, m.x, NoMore{});
    subtract_wrenches(tree, wrenches, m.x);
    gather_forces(tree, m, tau);
  }
  if (a && tree.has_armature)
    for (int i = 0; i < tree.nv; ++i) tau[i] = tau[i] + a[i] * tree.armature[i];
}

}  // namespace articula::ARTICULA_ISA
