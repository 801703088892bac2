// The outward sweeps that every dynamics algorithm starts with: poses, velocities, accelerations, and the
// Newton-Euler force of each body. World axes, each body's quantities at its own joint origin O_k (JPL88 2).
//
// Three steps. `place_joints` and `newton_euler` need no neighbour and run on a register of bodies at a time;
// `move_outward` is the recursion.
#pragma once

#include "articula/dynamics/isa.hpp"
#include "articula/dynamics/memory.hpp"

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

/// Each joint by itself: the outboard body's axes and origin in the inboard body's axes.
template <class S>
ARTICULA_INLINE void place_joints(const Tree<Real<S>>& tree, const S* q, S* x) {
  constexpr int wide = wide_bodies<S>;
  for (int k = 0; k < tree.slots(); k += wide) {
    const auto* c = tree.constants_of(k);
    S* const xk = slot(x, k, int(body::count));
    const auto E = constants_wide<S, Mat3>(c + block * constant::E);
    if constexpr (wide == 1) {
      const int i = tree.angle[k];
      const SinCos<S> turn = i < 0 ? SinCos<S>{S(0), S(1)} : sincos(q[i < 0 ? 0 : i]);
      write(xk + stride<S> * body::R, turned_about_z(E, turn));
      const auto l = gather<block, Vec3<Real<S>>>(c + block * constant::l);
      write(xk + stride<S> * body::l, Vec3<S>{S(l.x), S(l.y), S(l.z)});
    } else {
      const int* const index = tree.angle + k;
      const auto angle = lanes_from<S, wide>([&](int j) __attribute__((always_inline)) {
        return index[j] < 0 ? S(0) : q[index[j]];
      });
      write_wide(xk + stride<S> * body::R, turned_about_z(E, sincos(angle)));
      write_wide(xk + stride<S> * body::l, constants_wide<S, Vec3>(c + block * constant::l));
    }
  }
  for (int i = 0; i < tree.specials; ++i) {
    const int k = tree.special[i];
    const BodyIndex& b = tree.index[k];
    const auto E = gather<block, Mat3<Real<S>>>(tree.constants_of(k) + block * constant::E);
    S* const xk = slot(x, k, int(body::count));
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          if constexpr (J::quaternion) {
            const S* t = q + b.q;
            write(xk + stride<S> * body::R, E * rotation(Quaternion<S>{t[0], t[1], t[2], t[3]}));
          }
          if constexpr (J::slides) {
            const auto l = gather<block, Vec3<Real<S>>>(tree.constants_of(k) + block * constant::l);
            write(xk + stride<S> * body::l, E * J::slide(q + b.q, tree.pitch[k]) + l);
          }
        });
  }
}

enum class Upto { positions, velocities, accelerations };
/// positions: also O_k from the first origin of its tree (body::o), for algorithms with one reference point a
/// tree.

/// R(k) = R(k+1) X(k), V(k) = phi* V(k+1) + H* v, alpha(k) = phi* alpha(k+1) + H* a + a(k) (JPL88 2.27-2.32,
/// all joint kinds: MATH.md 3). `a` null: joint accelerations zero. The world accelerates upward: alpha = (0,
/// -g).
template <Upto level, class S>
ARTICULA_INLINE void move_outward(const Tree<Real<S>>& tree, const S* v, const S* a, S* x) {
  constexpr int s = stride<S>;
  const S O(0);
  Mat3<S> R = Mat3<S>::identity(), A{O, O, O, O, O, O, O, O, O};
  Vec3<S> w{O, O, O}, alpha_w = w, alpha_v{S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)};
  const auto put = [&](S * xk) __attribute__((always_inline)) {
    write(xk + s * body::R, R);
    write(xk + s * body::w, w);  // in Upto::positions: body::o
    if constexpr (level >= Upto::accelerations) {
      write(xk + s * body::alpha_w, alpha_w);
      write(xk + s * body::alpha_v, alpha_v);
    }
  };
  put(slot(x, 0, int(body::count)));
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    if (b.inboard != k - 1) {
      const S* xp = slot(x, b.inboard, int(body::count));
      R = read<Mat3>(xp + s * body::R);
      w = read<Vec3>(xp + s * body::w);
      if constexpr (level >= Upto::accelerations) {
        alpha_w = read<Vec3>(xp + s * body::alpha_w);
        alpha_v = read<Vec3>(xp + s * body::alpha_v);
        A = acceleration_gradient(w, alpha_w);
      }
    }
    S* const xk = slot(x, k, int(body::count));
    const Vec3<S> l = R * read<Vec3>(xk + s * body::l);
    R = R * read<Mat3>(xk + s * body::R);
    write(xk + s * body::l, l);
    if constexpr (level == Upto::positions) w = b.inboard == 0 ? Vec3<S>{O, O, O} : w + l;
    if constexpr (level >= Upto::velocities) {
      visit(
          b.kind, [&](auto j) __attribute__((always_inline)) {
            using J = decltype(j);
            const HingeMap<J, S> H{R, tree.pitch[k]};
            const Spatial<S> dV = star_times(H, v + b.v);
            const Vec3<S> w_inboard = w;
            constexpr bool turns = J::angle >= 0 || J::quaternion;
            if constexpr (turns) w += dV.w;
            if constexpr (level >= Upto::accelerations) {
              alpha_v += A * l;
              if constexpr (turns) alpha_w += cross(w_inboard, dV.w);
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
    put(xk);
  }
}

/// Inertia of the bodies of a wide step in world axes, as J = lambda Id + (u w* + w u*) (see Tree).
template <class S, class R>
ARTICULA_INLINE auto turned_moments(const Mat3<Wide<S>>& axes, const R* c) {
  return symmetric_product(axes * constants_wide<S, Vec3>(c + block * constant::u),
                           axes * constants_wide<S, Vec3>(c + block * constant::w));
}

/// f(k) = M alpha + b, written with the acceleration gradient A: F = m alpha_v + A mp, and the moment is the
/// axial vector of A Sigma plus mp x alpha_v, Sigma the second moment of mass. Equal to JPL88 (2.23): b = (w
/// x J w, m w x (w x p)).
template <bool keep_inertia, class S>
ARTICULA_INLINE void newton_euler(const Tree<Real<S>>& tree, S* x) {
  constexpr int s = stride<S>;
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    const auto* c = tree.constants_of(k);
    S* const xk = slot(x, k, int(body::count));
    const auto axes = read_wide<Mat3>(xk + s * body::R);
    const auto A =
        acceleration_gradient(read_wide<Vec3>(xk + s * body::w), read_wide<Vec3>(xk + s * body::alpha_w));
    const auto alpha_v = read_wide<Vec3>(xk + s * body::alpha_v);
    const auto mp = axes * constants_wide<S, Vec3>(c + block * constant::mp);
    const auto T = turned_moments<S>(axes, c);
    const auto sigma = constants_wide<S, One>(c + block * constant::sigma);
    using W = Wide<S>;
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
    if constexpr (keep_inertia) {
      write_wide(xk + s * body::J, plus_diagonal(T, constants_wide<S, One>(c + block * constant::lambda)));
      write_wide(xk + s * body::mp, mp);
    }
  }
}

/// M(k) in world axes, for algorithms that need no forces: at O_k, or at the first origin of its tree
/// (body::o).
template <bool at_first_origin, class S>
ARTICULA_INLINE void turn_inertias(const Tree<Real<S>>& tree, S* x) {
  constexpr int s = stride<S>;
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    const auto* c = tree.constants_of(k);
    S* const xk = slot(x, k, int(body::count));
    const auto axes = read_wide<Mat3>(xk + s * body::R);
    const auto mass = constants_wide<S, One>(c + block * constant::m);
    Inertia<Wide<S>> M{
        Wide<S>(mass), axes * constants_wide<S, Vec3>(c + block * constant::mp),
        plus_diagonal(turned_moments<S>(axes, c), constants_wide<S, One>(c + block * constant::lambda))};
    if constexpr (at_first_origin) M = shifted(Phi<Wide<S>>{read_wide<Vec3>(xk + s * body::o)}, M);
    write_wide(xk + s * body::mp, M.mp);
    write_wide(xk + s * body::J, M.J);
  }
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
