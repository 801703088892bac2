// LIN Algorithm 6: the matrices M^-1 = da/dtau, da/dq and da/dv in O(n^2), without the mass matrix; and the
// products of the conventional route (Algorithm 4).
//
// The form used is LIN (4.13), generalised like Algorithm 2 (MATH.md 7), at each body's own O_k:
//
//   -da/dv = [Id - H psi K]* { D^-1 H psi YA + 2 Kr* phi* H* } + K* psi* Sd          YA = P Sd + 2 Pr H*
//   -da/dq = [Id - H psi K]* { D^-1 H psi YB + 2 Kr* phi* Pd } + K* psi* Pdd         YB = P Pdd + 2 Pr Pd +
//   H* x* f
//
// Row k of [Id - H psi K]* D^-1 H psi is Z(k, .): a solve with the unit vector k gives on its way inward
// t = psi K (row k of K* psi*) and tr (row k of [Id - H psi K]* 2 Kr* phi*), and on its way outward Z and
// M^-1, so that all three matrices are dot products along two sweeps that a register of rows makes at once:
//
//   -da/dv(k, c) = Z(k, c).YA(c) + t(c).Sd(c)  + tr(c).H*(c)
//   -da/dq(k, c) = Z(k, c).YB(c) + t(c).Pdd(c) + tr(c).Pd(c),  less M^-1(k, c) H(c) S[H*(c)] f: a joint's own
//   force
//                                                              does not turn with it (several freedoms)
//
// 40 n^2 products at most, against LIN (4.21)'s 36 n^2 with some 300 n more for its Upsilon, J and E: fewer
// up to n = 70.
#pragma once

#include <type_traits>

#include "articula/dynamics/transpose_text.hpp"
#include "articula/linearization/linearized_inverse_text.hpp"

namespace articula::ARTICULA_ISA {

/// A 6 x 3 matrix: Pr, whose other three columns are zero (LIN 4.12).
template <class S>
struct HalfMatrix {
  Mat3<S> w, v;
};
template <class S>
ARTICULA_INLINE HalfMatrix<S> half_matrix(const Ring<S>& r) {
  return {r.N, tilde(-r.F)};
}
template <class S>
ARTICULA_INLINE HalfMatrix<S> operator+(const HalfMatrix<S>& a, const HalfMatrix<S>& b) {
  return {a.w + b.w, a.v + b.v};
}
template <class S>
ARTICULA_INLINE Spatial<S> operator*(const HalfMatrix<S>& a, const Vec3<S>& x) {
  return {a.w * x, a.v * x};
}
template <class S>
ARTICULA_INLINE HalfMatrix<S> operator*(const Phi<S>& phi, const HalfMatrix<S>& a) {
  return {a.w + cross(phi.l, a.v), a.v};
}
/// x* a, a row of three.
template <class S>
ARTICULA_INLINE Vec3<S> row_times(const Spatial<S>& x, const HalfMatrix<S>& a) {
  return star_times(a.w, x.w) + star_times(a.v, x.v);
}
template <class S>
ARTICULA_INLINE Mat3<S> outer(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z};
}
template <class S>
ARTICULA_INLINE void subtract_outer(HalfMatrix<S>& a, const Spatial<S>& K, const Vec3<S>& u) {
  a.w = a.w - outer(K.w, u);
  a.v = a.v - outer(K.v, u);
}
/// x = D^-1 x from the kept factor of a joint with N freedoms.
template <class S, class X>
ARTICULA_INLINE void solve_D(const S* inv_D, int N, X* x) {
  for (int i = 1; i < N; ++i)
    for (int k = 0; k < i; ++k) x[i] = x[i] - x[k] * inv_D[6 * i + k];
  for (int i = N - 1; i >= 0; --i) {
    x[i] = x[i] * inv_D[6 * i + i];
    for (int k = i + 1; k < N; ++k) x[i] = x[i] - x[k] * inv_D[6 * k + i];
  }
}
/// Calls f(Index<1>) for revolute joints, whose H is half zeros, and f(Index<0>) for all others: two texts
/// are enough.
template <class F>
ARTICULA_INLINE void revolute_or_other(HingeKind kind, F&& f) {
  if (kind == HingeKind::revolute)
    f(Index<1>{});
  else
    f(Index<0>{});
}

template <class S>
ARTICULA_INLINE S* direct_of(const LinearizationMemory<S>& m, int c) {
  return slot(m.direct, c, int(direct::count));
}
template <class S>
ARTICULA_INLINE void write_half(S* p, const HalfMatrix<S>& a) {
  write(p, a.w);
  write(p + 9 * stride<S>, a.v);
}

/// A free joint between the world and all that moves, with no force that is held in the world's axes: uniform
/// gravity and a uniform velocity change how the whole falls, and nothing else. See direct_base().
template <bool turning, class R>
ARTICULA_INLINE bool falls_freely(const Tree<R>& tree, const BodyIndex& b) {
  return !turning && b.kind == HingeKind::free && b.inboard == 0 && b.v_end - b.v == tree.nv;
}

/// What a row h of H, carried by a body that moves with V and alpha, adds to velocities and accelerations.
/// V_sum: V and the velocity beyond the joint.
template <class S>
struct Rates {
  Spatial<S> Sd, Pdd;
  Vec3<S> Pd;  // twice the angular part
};
template <bool one_freedom, class S, class H>
ARTICULA_INLINE Rates<S> rates(const H& h, const Spatial<S>& V, const Spatial<S>& V_sum,
                               const Spatial<S>& alpha) {
  const Spatial<S> Pd = cross_motion(V, h);
  const Spatial<S> Pdd = cross_motion(alpha, h) + cross_motion(V, Pd);
  if constexpr (one_freedom)
    return {Pd + Pd, Pdd, twice(Pd.w)};  // V_sum = 2 V + h v
  else
    return {cross_motion(V_sum, h), Pdd, twice(Pd.w)};
}
/// YA (LIN 4.14)
template <class S, class H>
ARTICULA_INLINE Spatial<S> force_by_v(const H& h, const Spatial<S>& Sd, const ArticulatedInertia<S>& P,
                                      const HalfMatrix<S>& Pr) {
  return P * Sd + Pr * twice(angular(h));
}
/// YB, less what the turn of the force f adds.
template <class S>
ARTICULA_INLINE Spatial<S> force_by_q(const Spatial<S>& Pdd, const Vec3<S>& Pd,
                                      const ArticulatedInertia<S>& P, const HalfMatrix<S>& Pr) {
  return P * Pdd + Pr * Pd;
}
template <class S>
ARTICULA_INLINE S* gathered_of(const LinearizationMemory<S>& m, int c) {
  return slot(m.gathered, c, int(gathered::count));
}

/// The motion of each body, outward: its ring inertia and force, and the rates of its joint's velocities. For
/// one state those wait until a register of them can be made at once.
template <bool turning, class S>
__attribute__((noinline)) void direct_outward(const Tree<Real<S>>& tree, const S* v, const S* a,
                                              const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  constexpr bool wide = wide_bodies<S> != 1;
  const auto load = [&](const S* xk, S* yk, int k, const auto& V, const auto& alpha)
      __attribute__((always_inline)) {
    const auto M = inertia_wide(tree, xk, k);
    const auto r = ring(M, half_trace_wide<S>(tree, k), V);
    write_wide(yk + s * motion::N, r.N);
    write_wide(yk + s * motion::F, r.F);
    write_wide(yk + s * motion::f, body_force(M, r, V, alpha));
  };
  move_spatially<wide>(
      tree, v, a, m,
      [&](int k, const BodyIndex& b, const auto& H, const PhiStar<S>&, const auto& in, const Spatial<S>& V,
          const Spatial<S>& alpha, S* yk) __attribute__((always_inline)) {
        using J = typename KindOf<std::remove_cvref_t<decltype(H)>>::type;
        const Spatial<S> V_sum = in.V + V;
        for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
          const auto h = H.template row<i.value>();
          S* const d = direct_of(m, b.v + i.value);
          if constexpr (wide) {
            write(d + s * direct::H, spatial(h));
            S* const g = gathered_of(m, b.v + i.value);
            write(g + s * gathered::V, in.V);
            write(g + s * gathered::V_sum, V_sum);
            write(g + s * gathered::alpha, in.alpha);
          } else if (falls_freely<turning>(tree, b)) {  // all that is asked for
            if constexpr (J::kind == HingeKind::free && i.value < 3) {
              write(d + direct::H, h.h);
              write(d + direct::Sd, cross_motion(V_sum, h));
            }
          } else if constexpr (turns_only<J>) {
            const Rates<S> r = rates<J::nv == 1>(h, in.V, V_sum, in.alpha);
            write(d + direct::H, h.h);
            if constexpr (J::nv > 1) write(d + direct::H + 3, spatial(h).v), write(d + direct::Pd, r.Pd);
            write(d + direct::Sd, r.Sd);
            write(d + direct::Pdd, r.Pdd);
          } else {
            const Rates<S> r = rates<J::nv == 1>(spatial(h), in.V, V_sum, in.alpha);
            write(d + direct::H, spatial(h));
            write(d + direct::Sd, r.Sd);
            write(d + direct::Pdd, r.Pdd);
            write(d + direct::Pd, r.Pd);
          }
        });
        if constexpr (!wide) load(slot(m.k.x, k, int(body::count)), yk, k, V, alpha);
      });
  if constexpr (wide) {
    for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
      S* const yk = y_of(m, k);
      load(slot(m.k.x, k, int(body::count)), yk, k, read_wide<Spatial>(yk + s * motion::V),
           read_wide<Spatial>(yk + s * motion::alpha));
    }
  }
}

/// f and Pr (4.12) for every velocity, inward; G; and the joint's own H S[H*] f.
template <bool turning, class S>
__attribute__((noinline)) void direct_inward(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                             const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  constexpr bool wide = wide_bodies<S> != 1;
  constexpr int side = turning ? 42 : 24;
  const S O(0);
  struct Sums {
    Spatial<S> f;
    HalfMatrix<S> P, W;
  };
  const auto plus_kept = [](Sums & a, const S* p) __attribute__((always_inline)) {
    a.f += gather<1, Spatial<S>>(p);
    a.P = a.P + HalfMatrix<S>{gather<1, Mat3<S>>(p + 6), gather<1, Mat3<S>>(p + 15)};
    if constexpr (turning) a.W = a.W + HalfMatrix<S>{gather<1, Mat3<S>>(p + 24), gather<1, Mat3<S>>(p + 33)};
  };
  const Spatial<S> none{{O, O, O}, {O, O, O}};
  Sums at{};  // from body to body where the next one is the inboard one
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    const S* const yk = y_of(m, k);
    const auto f = read<Spatial>(yk + s * motion::f);
    const auto P = half_matrix(Ring<S>{read<Mat3>(yk + s * motion::N), read<Vec3>(yk + s * motion::F)});
    at.f = b.has_carry ? at.f + f : f;
    at.P = b.has_carry ? at.P + P : P;
    if constexpr (turning) {
      const auto W = half_matrix(held_in_world(external, k, Vec3<S>{O, O, O}));
      at.W = b.has_carry ? at.W + W : W;
    }
    if (b.has_sides) plus_kept(at, m.side + side * k);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    const bool hands_over = b.handover != Handover::none, falls = falls_freely<turning>(tree, b);
    // YA and YB, or what a register of them will be made of.
    const auto keep = [&](S * d, int c, const auto& h) __attribute__((always_inline)) {
      if constexpr (wide) {
        S* const g = gathered_of(m, c);
        write(g + s * gathered::f, hands_over ? at.f : none);  // only what is inboard feels how f turns
        write_half(g + s * gathered::Pr, at.P);
        if constexpr (turning) write_half(g + s * gathered::Pw, at.W);
      } else {
        const auto articulated = read<ArticulatedInertia>(direct_of(m, b.v) + direct::P);
        const auto Sd = read<Spatial>(d + direct::Sd);
        write(d + direct::YA, force_by_v(h, Sd, articulated, at.P));
        if (falls) return;
        constexpr bool revolute = std::is_same_v<std::remove_cvref_t<decltype(h)>, Turn<S>>;
        Spatial<S> YB = force_by_q(read<Spatial>(d + direct::Pdd),
                                   revolute ? Sd.w : read<Vec3>(d + direct::Pd), articulated, at.P);
        if (hands_over) YB += cross_force(h, at.f);
        if constexpr (turning) YB += at.W * angular(h);
        write(d + direct::YB, YB);
      }
    };
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          Vec3<S> u[revolute.value ? 1 : max_freedoms], uw[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            S* const d = direct_of(m, b.v + i);
            if constexpr (revolute.value) {
              const Turn<S> h{read<Vec3>(d + s * direct::H)};
              u[i] = star_times(at.P.w, h.h);
              write(d + s * direct::G, u[i] * m.k.inv_D[6 * b.v]);
              if constexpr (turning) {
                uw[i] = star_times(at.W.w, h.h);
                write(d + s * direct::Gw, uw[i] * m.k.inv_D[6 * b.v]);
              }
              keep(d, b.v, h);
            } else {
              if (falls) {
                if (i < 3) keep(d, b.v + i, Turn<S>{read<Vec3>(d + s * direct::H)});
                continue;
              }
              const auto h = read<Spatial>(d + s * direct::H);
              keep(d, b.v + i, h);
              u[i] = row_times(h, at.P);
              write(d + s * direct::G, u[i]);
              if constexpr (turning) {
                uw[i] = row_times(h, at.W);
                write(d + s * direct::Gw, uw[i]);
              }
              if (hands_over) {
                const Spatial<S> Hf = cross_force(h, at.f);
                for (int r = 0; r < N; ++r)
                  m.own[6 * (b.v + r) + i] = dot(read<Spatial>(direct_of(m, b.v + r) + s * direct::H), Hf);
              }
            }
          }
          if (hands_over) {
            at.f = phi * at.f;
            at.P = phi * at.P;
            if constexpr (turning) at.W = phi * at.W;
            for (int i = 0; i < N; ++i) {
              const auto K = gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i));
              subtract_outer(at.P, K, u[i]);
              if constexpr (turning) subtract_outer(at.W, K, uw[i]);
            }
          }
          if constexpr (!revolute.value) {
            if (falls) return;
            for (int c = direct::G; c < (turning ? direct::Gw + 3 : direct::G + 3); ++c) {  // D^-1
              S x[max_freedoms];
              for (int i = 0; i < N; ++i) x[i] = direct_of(m, b.v + i)[s * c];
              solve_D(m.k.inv_D + 6 * b.v, N, x);
              for (int i = 0; i < N; ++i) direct_of(m, b.v + i)[s * c] = x[i];
            }
          }
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.side + side * b.inboard;
    if (b.handover == Handover::add) plus_kept(at, sum);
    scatter<1>(at.f, sum);
    scatter<1>(at.P.w, sum + 6), scatter<1>(at.P.v, sum + 15);
    if constexpr (turning) scatter<1>(at.W.w, sum + 24), scatter<1>(at.W.v, sum + 33);
  }
}

/// Sd, Pdd, Pd, YA and YB, a register of velocities at a time; packs of states have them already.
template <bool turning, class S>
ARTICULA_INLINE void direct_columns(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m) {
  using W = Wide<S>;
  constexpr int s = stride<S>;
  for (int c = 0; c < tree.nv; c += wide_bodies<S>) {
    S* const d = direct_of(m, c);
    const S* const g = gathered_of(m, c);
    const auto h = read_wide<Spatial>(d + s * direct::H);
    const auto P = read_wide<ArticulatedInertia>(d + s * direct::P);
    const HalfMatrix<W> Pr{read_wide<Mat3>(g + s * gathered::Pr),
                           read_wide<Mat3>(g + s * (gathered::Pr + 9))};
    const Rates<W> r =
        rates<false>(h, read_wide<Spatial>(g + s * gathered::V), read_wide<Spatial>(g + s * gathered::V_sum),
                     read_wide<Spatial>(g + s * gathered::alpha));
    Spatial<W> YB = force_by_q(r.Pdd, r.Pd, P, Pr) + cross_force(h, read_wide<Spatial>(g + s * gathered::f));
    if constexpr (turning)
      YB +=
          HalfMatrix<W>{read_wide<Mat3>(g + s * gathered::Pw), read_wide<Mat3>(g + s * (gathered::Pw + 9))} *
          h.w;
    write_wide(d + s * direct::Sd, r.Sd);
    write_wide(d + s * direct::Pdd, r.Pdd);
    write_wide(d + s * direct::Pd, r.Pd);
    write_wide(d + s * direct::YA, force_by_v(h, r.Sd, P, Pr));
    write_wide(d + s * direct::YB, YB);
  }
}

/// Columns of a free joint on the world in a register of rows, where t and tr (halved) have come to it:
/// returns Z. Let a' be the base's linear acceleration in body axes less gravity's: M a' and what else the
/// velocities ask for know neither the base's axes nor its linear velocity, but a' itself is a + w x v - g.
/// So da = g x dq for a turn and - w x dv for a linear velocity, in the base's linear rows alone, but for
/// rotor inertia, which is there for a and not for a'; and nothing for a shift.
template <class S, class Put>
ARTICULA_INLINE Spatial<Solves<S>> direct_base(const Tree<Real<S>>& tree, const S* v,
                                               const LinearizationMemory<S>& m, int i0, int k,
                                               const Spatial<Solves<S>>& t, const Vec3<Solves<S>>& tr,
                                               const Put& put) {
  using W = Solves<S>;
  constexpr int s = stride<S>;
  const W O(Real<S>(0));
  const int c = tree.index[k].v;
  const auto R = read<Mat3>(slot(m.k.x, k, int(body::count)) + s * body::R);
  const auto unit = [&](int i) __attribute__((always_inline)) { return unit_solves<S>(c + i - i0); };
  const Vec3<W> Rw = star_times(R, t.w), Rv = star_times(R, t.v);
  W x[6] = {unit(0) - Rw.x, unit(1) - Rw.y, unit(2) - Rw.z, unit(3) - Rv.x, unit(4) - Rv.y, unit(5) - Rv.z};
  solve_D<Free>(m.k.inv_D + 6 * c, x);
  const Spatial<W> Z{R * Vec3<W>{x[0], x[1], x[2]}, R * Vec3<W>{x[3], x[4], x[5]}};
  Vec3<W> fall{O, O, O}, drift{O, O, O};
  if (i0 < c + 6 || tree.has_armature) {
    const Vec3<W> u{unit(3) - x[3] * tree.armature[c + 3], unit(4) - x[4] * tree.armature[c + 4],
                    unit(5) - x[5] * tree.armature[c + 5]};
    fall = cross(star_times(R, Vec3<S>{S(tree.gravity.x), S(tree.gravity.y), S(tree.gravity.z)}), u);
    drift = -cross(Vec3<S>{v[c], v[c + 1], v[c + 2]}, u);
  }
  const Vec3<W> ring = star_times(R, tr + tr);
  const auto column = [&](int i, const W& by_q, W by_v) __attribute__((always_inline)) {
    if (m.damping) by_v = by_v + x[i] * m.damping[c + i];
    put(c + i, x[i], by_q, by_v);
  };
  const auto by_turn = [&](int i) __attribute__((always_inline)) {
    const S* const d = direct_of(m, c + i);
    return dot(read<Spatial>(d + s * direct::Sd), t) + dot(read<Spatial>(d + s * direct::YA), Z);
  };
  column(0, fall.x, by_turn(0) + ring.x);
  column(1, fall.y, by_turn(1) + ring.y);
  column(2, fall.z, by_turn(2) + ring.z);
  column(3, O, drift.x);
  column(4, O, drift.y);
  column(5, O, drift.z);
  return Z;
}

/// A register of rows, velocities i0 .. i0 + wide - 1 (those of bodies first .. last), through both sweeps.
/// put(c, M^-1, -da/dq, -da/dv) is told of every column c of bodies begin .. end - 1.
template <bool turning, class S, class Put>
ARTICULA_INLINE void direct_rows(const Tree<Real<S>>& tree, const S* v, const LinearizationMemory<S>& m,
                                 int i0, int first, int last, int begin, int end, const Put& put) {
  using W = Solves<S>;
  constexpr int s = stride<S>;
  const W O(Real<S>(0));
  const Spatial<W> zero{{O, O, O}, {O, O, O}};
  const Vec3<W> none{O, O, O};
  W* const T = reinterpret_cast<W*>(m.t);
  W* const lambda = reinterpret_cast<W*>(m.k.lambda);
  W* const nu = reinterpret_cast<W*>(m.k.nu);
  W* const result = reinterpret_cast<W*>(m.result);
  const auto clear = [&](int k) __attribute__((always_inline)) {
    if (!tree.index[k].has_sides) return;
    scatter<1>(zero, T + 12 * k), scatter<1>(none, T + 12 * k + 6), scatter<1>(none, T + 12 * k + 9);
  };
  for (int k = first; k <= last; ++k) clear(k);
  for (int k = tree.index[first].inboard; k != 0; k = tree.index[k].inboard) clear(k);
  // Inward: all bodies of these rows, then the ones that support the first; no other supports any of them.
  // What goes to the next of them stays in registers.
  Spatial<W> t = zero;
  Vec3<W> tr = none, tw = none;  // tr is halved
  const auto plus_kept = [&](int k) __attribute__((always_inline)) {
    if (!tree.index[k].has_sides) return;
    t += gather<1, Spatial<W>>(T + 12 * k);
    tr += gather<1, Vec3<W>>(T + 12 * k + 6);
    if constexpr (turning) tw += gather<1, Vec3<W>>(T + 12 * k + 9);
  };
  const bool falls = falls_freely<turning>(tree, tree.index[begin]);
  const int stop = falls ? begin : 0;
  for (int k = last, next = 0; k != stop; k = next) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    next = k > first ? k - 1 : b.inboard;
    plus_kept(k);
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          W e[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            const int c = b.v + i;
            const S* const d = direct_of(m, c);
            const auto h = read<Vec3>(d + s * direct::H);
            e[i] = unit_solves<S>(c - i0) - dot(h, t.w);
            if constexpr (!revolute.value) e[i] = e[i] - dot(read<Vec3>(d + s * (direct::H + 3)), t.v);
            const auto Sd = read<Spatial>(d + s * direct::Sd);
            W by_q = dot(read<Spatial>(d + s * direct::Pdd), t) +
                     dot(revolute.value ? Sd.w : read<Vec3>(d + s * direct::Pd), tr);
            if constexpr (turning) by_q = by_q + dot(h, tw);
            result[3 * c + 1] = by_q;
            result[3 * c + 2] = dot(Sd, t) + dot(h, tr + tr);
          }
          if (b.handover != Handover::none) {
            t = Phi<S>{read<Vec3>(xk + s * body::l)} * t;
            for (int i = 0; i < N; ++i) {
              const S* const d = direct_of(m, b.v + i);
              t += gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i)) * e[i];
              tr += read<Vec3>(d + s * direct::G) * e[i];
              if constexpr (turning) tw += read<Vec3>(d + s * direct::Gw) * e[i];
            }
          }
          if constexpr (revolute.value)
            e[0] = e[0] * m.k.inv_D[6 * b.v];
          else
            solve_D(m.k.inv_D + 6 * b.v, N, e);
          for (int i = 0; i < N; ++i) nu[b.v + i] = e[i];
        });
    if (next == b.inboard) continue;
    if (b.inboard != 0) {  // the inboard body comes later, and has other children too
      W* const sum = T + 12 * b.inboard;
      scatter<1>(gather<1, Spatial<W>>(sum) + t, sum);
      scatter<1>(gather<1, Vec3<W>>(sum + 6) + tr, sum + 6);
      if constexpr (turning) scatter<1>(gather<1, Vec3<W>>(sum + 9) + tw, sum + 9);
    }
    t = zero, tr = none, tw = none;
  }
  // Outward: all bodies of the trees that these rows belong to, those of the way inward among them.
  Spatial<W> Z = zero;
  if (falls) {
    plus_kept(begin);
    Z = direct_base<S>(tree, v, m, i0, begin, t, tr, put);
    if (tree.index[begin].has_sides) scatter<1>(Z, lambda + 6 * begin);
  }
  for (int k = falls ? begin + 1 : begin; k < end; ++k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    const bool passed = k <= last && tree.index[first].v < b.v_end;
    if (b.inboard == 0)
      Z = zero;
    else if (b.inboard != k - 1)
      Z = gather<1, Spatial<W>>(lambda + 6 * b.inboard);
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          W x[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            x[i] = passed ? nu[b.v + i] : O;
            if (b.inboard != 0) x[i] = x[i] - dot(gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i)), Z);
          }
          if (b.inboard != 0) Z = star(Phi<S>{read<Vec3>(xk + s * body::l)}) * Z;
          for (int i = 0; i < N; ++i) {
            const S* const d = direct_of(m, b.v + i);
            Z.w += read<Vec3>(d + s * direct::H) * x[i];
            if constexpr (!revolute.value) Z.v += read<Vec3>(d + s * (direct::H + 3)) * x[i];
          }
          for (int i = 0; i < N; ++i) {
            const int c = b.v + i;
            const S* const d = direct_of(m, c);
            W by_q = dot(read<Spatial>(d + s * direct::YB), Z);
            W by_v = dot(read<Spatial>(d + s * direct::YA), Z);
            if (passed) by_q = by_q + result[3 * c + 1], by_v = by_v + result[3 * c + 2];
            if (!revolute.value && b.inboard != 0)
              for (int r = 0; r < N; ++r) by_q = by_q - x[r] * m.own[6 * (b.v + r) + i];
            if (m.damping) by_v = by_v + x[i] * m.damping[c];
            put(c, x[i], by_q, by_v);
          }
        });
    if (b.has_sides) scatter<1>(Z, lambda + 6 * k);
  }
}

/// Rows of the three matrices from m.result, where column c has (M^-1, -da/dq, -da/dv) at 3 c: columns
/// c0 .. c1 - 1.
template <class S>
ARTICULA_INLINE void put_rows(int nv, const LinearizationMemory<S>& m, int rows, int c0, int c1,
                              S* const (&to)[3]) {
  constexpr int wide = wide_bodies<S>;
  int first_row = 0, c = c0;
  // A square of registers at a time, turned. Where there are fewer columns than lanes, what a row puts
  // behind its end is made good by the next one; the last rows are left to the loop below.
  const bool few = nv < wide;
  if (few || (rows == wide && c1 - c0 >= wide)) {
    const int full_rows = few ? (nv * nv - wide) / nv + 1 : wide;
    for (int next = c0; next < c1; next += wide) {
      c = few || next + wide <= c1 ? next : c1 - wide;
#pragma GCC unroll 3
      for (int which = 0; which < 3; ++which) {
        Wide<S> square[wide];
#pragma GCC unroll 8
        for (int j = 0; j < wide; ++j) square[j] = Wide<S>::load(m.result + (3 * (c + j) + which) * wide);
        transpose(square);
#pragma GCC unroll 8
        for (int r = 0; r < wide; ++r)
          if (r < full_rows) (which == 0 ? square[r] : -square[r]).store(to[which] + long(r) * nv + c);
      }
    }
    if (!few || full_rows >= rows) return;
    first_row = full_rows > 0 ? full_rows : 0;
    c = c0;
  }
  for (; c < c1; ++c) {
    for (int r = first_row; r < rows; ++r) {
      to[0][long(r) * nv + c] = m.result[3 * wide * c + r];
      to[1][long(r) * nv + c] = -m.result[3 * wide * c + wide + r];
      to[2][long(r) * nv + c] = -m.result[3 * wide * c + 2 * wide + r];
    }
  }
}

/// What is done each time a column of some rows has been made: nothing.
struct NoTouch {
  ARTICULA_INLINE void operator()() const {}
};

/// Rows i0 .. i0 + rows - 1 of the three matrices: those of bodies first .. last, whose trees are bodies
/// begin .. end - 1.
template <bool turning, class S, class Touch>
__attribute__((noinline)) void direct_matrix_rows(const Tree<Real<S>>& tree, const S* v,
                                                  const LinearizationMemory<S>& m, int i0, int rows,
                                                  int first, int last, int begin, int end, S* dq, S* dv,
                                                  S* dtau, Touch& touch) {
  const int nv = tree.nv, c0 = tree.index[begin].v, c1 = m.index[end - 1].end;
  S* const to[3] = {dtau + long(i0) * nv, dq + long(i0) * nv, dv + long(i0) * nv};
  for (int r = 0; r < rows; ++r) {
    for (int which = 0; which < 3; ++which) {
      S* const row = to[which] + long(r) * nv;
      for (int c = 0; c < c0; ++c) row[c] = S(0);
      for (int c = c1; c < nv; ++c) row[c] = S(0);
    }
  }
  if constexpr (wide_bodies < S >> 1) {
    Wide<S>* const result = reinterpret_cast<Wide<S>*>(m.result);
    direct_rows<turning>(
        tree, v, m, i0, first, last, begin,
        end, [&](int c, const auto& x, const auto& by_q, const auto& by_v) __attribute__((always_inline)) {
          result[3 * c] = x, result[3 * c + 1] = by_q, result[3 * c + 2] = by_v;
        });
    put_rows(nv, m, rows, c0, c1, to);
  } else {
    direct_rows<turning>(
        tree, v, m, i0, first, last, begin,
        end, [&](int c, const auto& x, const auto& by_q, const auto& by_v) __attribute__((always_inline)) {
          const auto put = [&](S * p, const auto& numbers) __attribute__((always_inline)) {
            if constexpr (solves_at_once<S> == 1) {
              p[c] = numbers;
            } else {
#pragma GCC unroll 2
              for (int r = 0; r < solves_at_once<S>; ++r)
                if (r < rows) p[long(r) * nv + c] = numbers.at[r];
            }
          };
          put(to[0], x), put(to[1], -by_q), put(to[2], -by_v);
          touch();
        });
  }
}

/// Algorithm 6 at the accelerations `a` of factored_forward, called before at the same state. Row-major, full
/// coordinates.
template <class S, class Touch>
ARTICULA_INLINE void direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a,
                                    const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* dq,
                                    S* dv, S* dtau, Touch touch) {
  if (external.turning())
    direct_outward<true>(tree, v, a, m);
  else
    direct_outward<false>(tree, v, a, m);
  apply_external(tree, external, m, false);
  if (external.turning()) {
    direct_inward<true>(tree, external, m);
    if constexpr (wide_bodies<S> != 1) direct_columns<true>(tree, m);
  } else {
    direct_inward<false>(tree, external, m);
    if constexpr (wide_bodies<S> != 1) direct_columns<false>(tree, m);
  }
  const int nv = tree.nv, together = solves_at_once<S>, rows = nv < together ? nv : together;
  int first = 1, last = 1;  // bodies of the rows at hand
  for (int next = 0; next < nv; next += together) {
    const int i0 = next + rows > nv ? nv - rows : next;  // the last rows overlap those before
    while (m.index[first].end <= i0) ++first;
    while (m.index[last].end < i0 + rows) ++last;
    int begin = first, end = last + 1;
    while (tree.index[begin].inboard != 0) begin = tree.index[begin].inboard;
    while (end < tree.slots() && tree.index[end].inboard != 0) ++end;
    if (external.turning())
      direct_matrix_rows<true>(tree, v, m, i0, rows, first, last, begin, end, dq, dv, dtau, touch);
    else
      direct_matrix_rows<false>(tree, v, m, i0, rows, first, last, begin, end, dq, dv, dtau, touch);
  }
}

template <class S>
void direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a, const ExternalForces<S>& external,
                    const LinearizationMemory<S>& m, S* dq, S* dv, S* dtau) {
  direct_forward(tree, v, a, external, m, dq, dv, dtau, NoTouch{});
}

/// out = -A B for n x n matrices, row-major, four rows and a register of columns at a time, leaving out what
/// the tree makes zero in B (dT/dq or dT/dv). B must have wide - 1 readable numbers behind it. The last
/// columns come first: what they put behind a row's end is made good by the first ones; the last row goes
/// through m.row.
template <class S>
ARTICULA_INLINE void minus_product(int n, const S* A, const S* B, const LinearizationMemory<S>& m, S* out) {
  constexpr int wide = wide_bodies<S>;
  using W = Wide<S>;
  const auto rows = [&](auto count, int i, S* to) __attribute__((always_inline)) {
    constexpr int N = decltype(count)::value;
    for (int c = (n - 1) / wide * wide; c >= 0; c -= wide) {
      const int* const begin = m.block_rows + m.block_begin[c / block];
      const int* const end = m.block_rows + m.block_begin[c / block + 1];
      W sum[N];
#pragma GCC unroll 4
      for (int r = 0; r < N; ++r) sum[r] = W(Real<S>(0));
      for (const int* k = begin; k < end; ++k) {
        const W b = read_lanes(B + long(*k) * n + c);
#pragma GCC unroll 4
        for (int r = 0; r < N; ++r) sum[r] = sum[r] - b * A[long(i + r) * n + *k];
      }
#pragma GCC unroll 4
      for (int r = 0; r < N; ++r) write_lanes(to + long(r) * n + c, sum[r]);
    }
  };
  const auto fits = [&](int i) { return long(i) * n + padded(n) <= long(n) * n; };
  int i = 0;
  for (; i + 3 < n && fits(i + 3); i += 4) rows(Index<4>{}, i, out + long(i) * n);
  for (; i < n && fits(i); ++i) rows(Index<1>{}, i, out + long(i) * n);
  for (; i < n; ++i) {
    rows(Index<1>{}, i, m.row);
    for (int c = 0; c < n; ++c) out[long(i) * n + c] = m.row[c];
  }
}

/// Algorithm 4 at the accelerations `a` of factored_forward: dtau holds M^-1 after it. by_q and by_v are
/// scratch of n^2 with a register's margin behind each.
template <class S>
void conventional_forward(const Tree<Real<S>>& tree, const S* v, const S* a,
                          const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* by_q,
                          S* by_v, S* dq, S* dv, S* dtau) {
  invert_mass_matrix(tree, m.k, dtau);
  inverse_matrices(tree, v, a, external, m, static_cast<S*>(nullptr), by_q, by_v);
  minus_product(tree.nv, dtau, by_q, m, dq);
  minus_product(tree.nv, dtau, by_v, m, dv);
}

}  // namespace articula::ARTICULA_ISA
