// LIN Algorithm 6: the matrices M^-1 = da/dtau, da/dq and da/dv in O(n^2), without the mass matrix; and the
// products of the conventional route (Algorithm 4).
//
// The form used is LIN (4.13), generalised like Algorithm 2 (docs/math.md 7), at each body's own O_k:
//
//   (1) YA     = P Sd + 2 Pr H*
//   (2) YB     = P Pdd + 2 Pr Pd + H* x* f
//   (3) -da/dv = [Id - H psi K]* { D^-1 H psi YA + 2 Kr* phi* H* } + K* psi* Sd
//   (4) -da/dq = [Id - H psi K]* { D^-1 H psi YB + 2 Kr* phi* Pd } + K* psi* Pdd
//
// Row k of [Id - H psi K]* D^-1 H psi is Z(k, .): a solve with the unit vector k gives on its way inward
// t = psi K (row k of K* psi*) and tr (row k of [Id - H psi K]* 2 Kr* phi*), and on its way outward Z and
// M^-1, so that all three matrices are dot products along two sweeps that a register of rows makes at once:
//
//   (5) -da/dv(k, c) = Z(k, c).YA(c) + t(c).Sd(c)  + tr(c).H*(c)
//   (6) -da/dq(k, c) = Z(k, c).YB(c) + t(c).Pdd(c) + tr(c).Pd(c)
//
// For joints with several freedoms (6) is less M^-1(k, c) H(c) S[H*(c)] f: a joint's own force does not turn
// with it.
//
// This takes 91/2 n^2 multiplications against the 36 n^2 of LIN (4.21), but none of the O(n) work for LIN's
// Upsilon, J and E: fewer operations on chains up to n = 52, and up to n = 28 with the forward dynamics that
// this text starts after (docs/counts.md).
#pragma once

#include <type_traits>

#include "articula/kernels/linearized_inverse_text.hpp"
#include "articula/kernels/transpose_text.hpp"
#include "articula/spatial/numbers.hpp"

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
/// x = D^-1 x for a joint with N freedoms, with the factor of D that articulate() has kept.
template <class S, class X>
ARTICULA_INLINE void solve_D(const S* inv_D, int N, X* x) {
  for (int i = 1; i < N; ++i)
    for (int k = 0; k < i; ++k) x[i] = x[i] - x[k] * inv_D[6 * i + k];
  for (int i = N - 1; i >= 0; --i) {
    x[i] = x[i] * inv_D[6 * i + i];
    for (int k = i + 1; k < N; ++k) x[i] = x[i] - x[k] * inv_D[6 * k + i];
  }
}
/// Calls f(Index<1>) for revolute joints, whose H is half zeros, and f(Index<0>) for all others. A text for
/// each kind of joint would gain nothing more.
template <class F>
ARTICULA_INLINE void revolute_or_other(HingeKind kind, F&& f) {
  if (kind == HingeKind::revolute)
    f(Index<1>{});
  else
    f(Index<0>{});
}

/// Many states, two rows at a time.
template <class S>
inline constexpr bool is_pack = wide_bodies<S> == 1 && solves_at_once<S> > 1;

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

/// Outward, for each body: motion, ring inertia, force, and the rates Sd, Pdd, Pd of its joint's columns. For
/// one state the rates are made later, a register of velocities at a time (direct_columns).
template <bool turning, class S, class Touch>
__attribute__((noinline)) void direct_outward(const Tree<Real<S>>& tree, const S* v, const S* a,
                                              const LinearizationMemory<S>& m, Touch& touch) {
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
        if constexpr (!wide) load(slot(m.k.x, k, int(body::count)), yk, k, V, alpha), touch(4);
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
template <bool turning, class S, class Touch>
__attribute__((noinline)) void direct_inward(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                             const LinearizationMemory<S>& m, Touch& touch) {
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
    touch(6);
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
    // YA and YB; for one state what direct_columns makes them of.
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

/// For one state: Sd, Pdd, Pd, YA and YB, a register of velocities at a time.
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

/// What the rows of other joints need of a free base (LinearizationMemory::base). For packs of states only,
/// where it costs less than a solve with D in every row.
template <class S>
__attribute__((noinline)) void direct_base_terms(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                                 int k) {
  const int c = tree.index[k].v;
  const auto R = read<Mat3>(slot(m.k.x, k, int(body::count)) + body::R);
  Spatial<S> columns[6];
  for (int i = 0; i < 6; ++i) {
    S x[6];
    for (int j = 0; j < 6; ++j) x[j] = i / 3 == j / 3 ? -numbers_of(R)[3 * (i % 3) + j % 3] : S(0);
    solve_D<Free>(m.k.inv_D + 6 * c, x);
    columns[i] = {R * Vec3<S>{x[0], x[1], x[2]}, R * Vec3<S>{x[3], x[4], x[5]}};
  }
  const Vec3<S>&w0 = columns[0].w, &w1 = columns[1].w, &v3 = columns[3].v, &v4 = columns[4].v;
  const ArticulatedInertia<S> L{{w0.x, w1.y, columns[2].w.z, w0.y, w0.z, w1.z},
                                from_columns(columns[3].w, columns[4].w, columns[5].w),
                                {v3.x, v4.y, columns[5].v.z, v3.y, v3.z, v4.z}};
  write(m.base + free_base::minus_Lambda, L);
  for (int i = 0; i < 3; ++i) {
    const S* const d = direct_of(m, c + i);
    write(m.base + free_base::by_turn + 6 * i,
          read<Spatial>(d + direct::Sd) + L * read<Spatial>(d + direct::YA));
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
  const bool own = !is_pack<S> || i0 < c + 6;
  const auto R = read<Mat3>(slot(m.k.x, k, int(body::count)) + s * body::R);
  const auto unit = [&](int i) __attribute__((always_inline)) { return unit_solves<S>(c + i - i0); };
  W x[6];
  Spatial<W> Z;
  Vec3<W> by_turn = star_times(R, tr + tr);
  if (own) {
    const Vec3<W> Rw = star_times(R, t.w), Rv = star_times(R, t.v);
    x[0] = unit(0) - Rw.x, x[1] = unit(1) - Rw.y, x[2] = unit(2) - Rw.z;
    x[3] = unit(3) - Rv.x, x[4] = unit(4) - Rv.y, x[5] = unit(5) - Rv.z;
    solve_D<Free>(m.k.inv_D + 6 * c, x);
    Z = {R * Vec3<W>{x[0], x[1], x[2]}, R * Vec3<W>{x[3], x[4], x[5]}};
    const auto turn = [&](int i) __attribute__((always_inline)) {
      const S* const d = direct_of(m, c + i);
      return dot(read<Spatial>(d + s * direct::Sd), t) + dot(read<Spatial>(d + s * direct::YA), Z);
    };
    by_turn += Vec3<W>{turn(0), turn(1), turn(2)};
  } else {
    Z = read<ArticulatedInertia>(m.base + s * free_base::minus_Lambda) * t;
    const Vec3<W> w = star_times(R, Z.w), u = star_times(R, Z.v);
    x[0] = w.x, x[1] = w.y, x[2] = w.z, x[3] = u.x, x[4] = u.y, x[5] = u.z;
    const auto turn = [&](int i) __attribute__((always_inline)) {
      return dot(read<Spatial>(m.base + s * (free_base::by_turn + 6 * i)), t);
    };
    by_turn += Vec3<W>{turn(0), turn(1), turn(2)};
  }
  Vec3<W> fall{O, O, O}, drift{O, O, O};
  if (i0 < c + 6 || tree.has_armature) {
    const Vec3<W> u{unit(3) - x[3] * tree.armature[c + 3], unit(4) - x[4] * tree.armature[c + 4],
                    unit(5) - x[5] * tree.armature[c + 5]};
    fall = cross(star_times(R, Vec3<S>{S(tree.gravity.x), S(tree.gravity.y), S(tree.gravity.z)}), u);
    drift = -cross(Vec3<S>{v[c], v[c + 1], v[c + 2]}, u);
  }
  const auto column = [&](int i, const W& by_q, W by_v) __attribute__((always_inline)) {
    if (m.damping) by_v = by_v + x[i] * m.damping[c + i];
    put(c + i, x[i], -by_q, -by_v);
  };
  column(0, fall.x, by_turn.x);
  column(1, fall.y, by_turn.y);
  column(2, fall.z, by_turn.z);
  column(3, O, drift.x);
  column(4, O, drift.y);
  column(5, O, drift.z);
  return Z;
}

/// A register of rows, velocities i0 .. i0 + rows - 1, on its way through both sweeps.
template <class S>
struct RowsAtOnce {
  int i0, rows;
  int first, last;  // their bodies
  int begin, end;   // those of their trees: begin .. end - 1
  Solves<S>* Z;     // 6 per carrier
  Solves<S>* kept;  // 3 per velocity, from the inward sweep: nu, and what t and tr give to -da/dq, -da/dv
  /// Whether the inward sweep came through any of bodies b .. e - 1, or began there.
  ARTICULA_INLINE bool meet(int b, int e) const { return first < e && b <= last; }
};

/// Inward: all bodies of these rows, then the ones that support the first; no other supports any of them.
/// What goes to the next of them stays in registers. A base that falls freely is finished here:
/// put(c, M^-1, da/dq, da/dv) is told of its columns.
template <bool turning, class S, class Put>
ARTICULA_INLINE void direct_rows_inward(const Tree<Real<S>>& tree, const S* v,
                                        const LinearizationMemory<S>& m, const RowsAtOnce<S>& at,
                                        const Put& put) {
  using W = Solves<S>;
  constexpr int s = stride<S>;
  const W O(Real<S>(0));
  const Spatial<W> zero{{O, O, O}, {O, O, O}};
  const Vec3<W> none{O, O, O};
  W* const T = reinterpret_cast<W*>(m.t);
  bool several = false;  // limbs: they meet in T
  for (int k = at.first + 1; k <= at.last; ++k) several = several || tree.index[k].inboard != k - 1;
  const auto clear = [&](int k) __attribute__((always_inline)) {
    if (!tree.index[k].has_sides) return;
    scatter<1>(zero, T + 12 * k), scatter<1>(none, T + 12 * k + 6), scatter<1>(none, T + 12 * k + 9);
  };
  if (several) {
    for (int k = at.first; k <= at.last; ++k) clear(k);
    for (int k = tree.index[at.first].inboard; k != 0; k = tree.index[k].inboard) clear(k);
  }
  Spatial<W> t = zero;
  Vec3<W> tr = none, tw = none;  // tr is halved
  const auto plus_kept = [&](int k) __attribute__((always_inline)) {
    if (!several || !tree.index[k].has_sides) return;
    t += gather<1, Spatial<W>>(T + 12 * k);
    tr += gather<1, Vec3<W>>(T + 12 * k + 6);
    if constexpr (turning) tw += gather<1, Vec3<W>>(T + 12 * k + 9);
  };
  const bool falls = falls_freely<turning>(tree, tree.index[at.begin]);
  const int stop = falls ? at.begin : 0;
  for (int k = at.last, next = 0; k != stop; k = next) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    next = k > at.first ? k - 1 : b.inboard;
    put.touch(3);
    plus_kept(k);
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          W e[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            const int c = b.v + i;
            const S* const d = direct_of(m, c);
            const auto h = read<Vec3>(d + s * direct::H);
            e[i] = unit_solves<S>(c - at.i0) - dot(h, t.w);
            if constexpr (!revolute.value) e[i] = e[i] - dot(read<Vec3>(d + s * (direct::H + 3)), t.v);
            const auto Sd = read<Spatial>(d + s * direct::Sd);
            W by_q = dot(read<Spatial>(d + s * direct::Pdd), t) +
                     dot(revolute.value ? Sd.w : read<Vec3>(d + s * direct::Pd), tr);
            if constexpr (turning) by_q = by_q + dot(h, tw);
            at.kept[3 * c + 1] = by_q;
            at.kept[3 * c + 2] = dot(Sd, t) + dot(h, tr + tr);
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
          for (int i = 0; i < N; ++i) at.kept[3 * (b.v + i)] = e[i];
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
  if (falls) {
    plus_kept(at.begin);
    scatter<1>(direct_base<S>(tree, v, m, at.i0, at.begin, t, tr, put), at.Z + 6 * m.carrier[at.begin]);
  }
}

/// Outward through bodies begin .. end - 1, whether they are on the way inward or not.
template <class S, class Put>
ARTICULA_INLINE void direct_rows_outward(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                         const RowsAtOnce<S>& at, int begin, int end, const Put& put) {
  using W = Solves<S>;
  constexpr int s = stride<S>;
  const W O(Real<S>(0));
  Spatial<W> Z{};
  for (int k = begin; k < end; ++k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    const bool passed = k <= at.last && tree.index[at.first].v < b.v_end;
    if (b.inboard == 0)
      Z = {{O, O, O}, {O, O, O}};
    else if (b.inboard != k - 1 || k == begin)
      Z = gather<1, Spatial<W>>(at.Z + 6 * m.carrier[b.inboard]);
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          W x[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            x[i] = passed ? at.kept[3 * (b.v + i)] : O;
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
            if (passed) by_q = by_q + at.kept[3 * c + 1], by_v = by_v + at.kept[3 * c + 2];
            if (!revolute.value && b.inboard != 0)
              for (int r = 0; r < N; ++r) by_q = by_q - x[r] * m.own[6 * (b.v + r) + i];
            if (m.damping) by_v = by_v + x[i] * m.damping[c];
            put(c, x[i], -by_q, -by_v);
          }
        });
    if (is_pack<S> ? m.carrier[k] >= 0 : b.has_sides) scatter<1>(Z, at.Z + 6 * m.carrier[k]);
  }
}

/// Rows of the three matrices from m.result, where column c has (M^-1, da/dq, da/dv) at 3 c: columns
/// c0 .. c1 - 1.
template <class S>
ARTICULA_INLINE void put_rows(int nv, const LinearizationMemory<S>& m, int rows, int c0, int c1,
                              S* const (&to)[3]) {
  constexpr int wide = wide_bodies<S>;
  int first_row = 0, c = c0;
  // A square of registers at a time, turned about its diagonal. Where there are fewer columns than lanes, a
  // row's store overwrites the beginning of the next row, which is stored after it; the last rows, behind
  // which nothing may be written, are left to the loop below.
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
          if (r < full_rows) square[r].store(to[which] + long(r) * nv + c);
      }
    }
    if (!few || full_rows >= rows) return;
    first_row = full_rows > 0 ? full_rows : 0;
    c = c0;
  }
  for (; c < c1; ++c) {
    for (int r = first_row; r < rows; ++r) {
      for (int which = 0; which < 3; ++which)
        to[which][long(r) * nv + c] = m.result[(3 * c + which) * wide + r];
    }
  }
}

/// One of a register of rows.
template <class S, class W>
ARTICULA_INLINE const S& row_of(const W& x, int r) {
  if constexpr (solves_at_once<S> == 1)
    return x;
  else
    return x.at[r];
}
/// The three matrices, and what is done while they are made.
template <class S, class Touch>
struct DirectMatrices {
  int nv;
  S *dtau, *dq, *dv;
  Touch& touch;
};
/// Takes columns of rows to the matrices; where lanes are rows, to where they will be turned.
template <class S, class Touch>
struct PutColumn {
  S *dtau, *dq, *dv;  // of the first row
  Solves<S>* kept;
  long nv;
  int rows;
  int below[solves_at_once<S>];  // by row: columns whose rows have M^-1 from here
  S* mirrored;                   // where: the first row's column
  Touch& touch;

  ARTICULA_INLINE PutColumn(const DirectMatrices<S, Touch>& to, const LinearizationMemory<S>& m,
                            const RowsAtOnce<S>& at)
      : dtau(to.dtau + long(at.i0) * to.nv),
        dq(to.dq + long(at.i0) * to.nv),
        dv(to.dv + long(at.i0) * to.nv),
        kept(at.kept),
        nv(to.nv),
        rows(at.rows),
        mirrored(to.dtau + at.i0),
        touch(to.touch) {
    if constexpr (is_pack<S>)
      for (int r = 0; r < solves_at_once<S>; ++r) below[r] = r < rows ? m.limb_begin[at.i0 + r] : 0;
  }
  template <class W>
  ARTICULA_INLINE void operator()(int c, const W& x, const W& by_q, const W& by_v) const {
    if constexpr (wide_bodies < S >> 1) {
      kept[3 * c] = x, kept[3 * c + 1] = by_q, kept[3 * c + 2] = by_v;
    } else {
      put(dtau, c, x);
      // A limb's rows give M^-1 to those before it, see limb_rows().
#pragma GCC unroll 2
      for (int r = 0; is_pack<S> && r < solves_at_once<S>; ++r)
        if (c < below[r]) mirrored[c * nv + r] = row_of<S>(x, r);
      by_state(c, by_q, by_v);
    }
  }
  template <class W>
  ARTICULA_INLINE void by_state(int c, const W& by_q, const W& by_v) const {
    put(dq, c, by_q), put(dv, c, by_v);
    touch(1);
  }
  template <class W>
  ARTICULA_INLINE void put(S* row, int c, const W& x) const {
#pragma GCC unroll 2
    for (int r = 0; r < solves_at_once<S>; ++r)
      if (r < rows) row[r * nv + c] = row_of<S>(x, r), touch.wrote(row + r * nv + c);
  }
};

/// A register of rows: zeros in other trees' columns, and both sweeps; of limbs that are not theirs only as
/// far as to what carries them.
template <bool turning, class S, class Touch>
__attribute__((noinline)) void direct_rows(const Tree<Real<S>>& tree, const S* v,
                                           const LinearizationMemory<S>& m, const RowsAtOnce<S>& rows,
                                           const DirectMatrices<S, Touch>& matrices) {
  const RowsAtOnce<S> at = rows;
  const int nv = matrices.nv, c0 = tree.index[at.begin].v, c1 = m.index[at.end - 1].end;
  const long start = long(at.i0) * nv;
  S* const to[3] = {matrices.dtau + start, matrices.dq + start, matrices.dv + start};
  for (int r = 0; r < at.rows; ++r) {
    for (S* const matrix : to) {
      S* const row = matrix + long(r) * nv;
      for (int c = 0; c < c0; ++c) row[c] = S(0);
      for (int c = c1; c < nv; ++c) row[c] = S(0);
    }
  }
  const PutColumn<S, Touch> put(matrices, m, at);
  direct_rows_inward<turning>(tree, v, m, at, put);
  int begin = falls_freely<turning>(tree, tree.index[at.begin]) ? at.begin + 1 : at.begin;
  if constexpr (is_pack<S>) {
    const Limb* limb = m.limbs;
    while (begin < at.end) {
      while (limb != m.limbs_end && (limb->first < begin || at.meet(limb->first, limb->end))) ++limb;
      int end = at.end, next = at.end;
      if (limb != m.limbs_end && limb->first < end) end = limb->first, next = limb->end;
      direct_rows_outward(tree, m, at, begin, end, put);
      begin = next;
    }
  } else {
    direct_rows_outward(tree, m, at, begin, at.end, put);
  }
  if constexpr (wide_bodies < S >> 1) put_rows(nv, m, at.rows, c0, c1, to);
}

/// Rows that are not a limb's own have Z = psi* Z(carrier) in it, so that (M^-1, da/dq, da/dv) of a column
/// are three times six numbers times the carrier's Z, whatever the row: 18 products instead of 27. They are
/// few enough to stay in the first cache while all rows pass.
template <class S, class Touch>
__attribute__((noinline)) void limb_columns(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                            const Limb& limb, Touch& touch) {
  S* columns = m.limb_columns + 18 * limb.v;
  const S O(0);
  for (int k = limb.first; k < limb.end; ++k) {
    for (int c = tree.index[k].v; c < m.index[k].end; ++c, columns += 18) {
      const S* const d = direct_of(m, c);
      Spatial<S> x{{O, O, O}, {O, O, O}}, by_q = -read<Spatial>(d + direct::YB),
                                          by_v = -read<Spatial>(d + direct::YA);
      for (int p = k; p >= limb.first; --p) {  // psi, and what the joint's own x adds
        touch(1);
        const BodyIndex& b = tree.index[p];
        revolute_or_other(
            b.kind, [&](auto revolute) __attribute__((always_inline)) {
              const int N = revolute.value ? 1 : m.index[p].end - b.v;
              S ux[revolute.value ? 1 : max_freedoms], uq[revolute.value ? 1 : max_freedoms],
                  uv[revolute.value ? 1 : max_freedoms];
              for (int i = 0; i < N; ++i) {
                const S* const h = direct_of(m, b.v + i) + direct::H;
                const auto along = [&](const Spatial<S>& y) __attribute__((always_inline)) {
                  const S u = dot(read<Vec3>(h), y.w);
                  return revolute.value ? u : u + dot(read<Vec3>(h + 3), y.v);
                };
                ux[i] = along(x), uq[i] = along(by_q), uv[i] = along(by_v);
                if (p != k) continue;
                if (!revolute.value) uq[i] = uq[i] + m.own[6 * (b.v + i) + c - b.v];
                if (b.v + i != c) continue;
                ux[i] = ux[i] + S(1);
                if (m.damping) uv[i] = uv[i] - m.damping[c];
              }
              const Phi<S> phi{read<Vec3>(slot(m.k.x, p, int(body::count)) + body::l)};
              x = phi * x, by_q = phi * by_q, by_v = phi * by_v;
              for (int i = 0; i < N; ++i) {
                const auto K = gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i));
                x -= K * ux[i], by_q -= K * uq[i], by_v -= K * uv[i];
              }
            });
      }
      scatter<1>(x, columns), scatter<1>(by_q, columns + 6), scatter<1>(by_v, columns + 12);
    }
  }
}
template <class S, class Touch>
__attribute__((noinline)) void limb_rows(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                         const RowsAtOnce<S>& at, const Limb& limb,
                                         const DirectMatrices<S, Touch>& to) {
  const PutColumn<S, Touch> put(to, m, at);
  const auto Z = gather<1, Spatial<Solves<S>>>(at.Z + 6 * m.carrier[tree.index[limb.first].inboard]);
  const S* columns = m.limb_columns + 18 * limb.v;
  const auto times_Z = [&](int i) __attribute__((always_inline)) {
    return dot(gather<1, Spatial<S>>(columns + i), Z);
  };
  // Rows before the limb have M^-1 from its rows, if all of them belong to its tree.
  if (at.i0 < limb.v && limb.v < tree.index[at.begin].v_end)
    for (int c = limb.v; c < limb.v_end; ++c, columns += 18) put.by_state(c, times_Z(6), times_Z(12));
  else
    for (int c = limb.v; c < limb.v_end; ++c, columns += 18) put(c, times_Z(0), times_Z(6), times_Z(12));
}

/// All rows, when the columns are known.
template <bool turning, class S, class Touch>
ARTICULA_INLINE void direct_matrices(const Tree<Real<S>>& tree, const S* v, const LinearizationMemory<S>& m,
                                     S* dq, S* dv, S* dtau, Touch& touch) {
  using W = Solves<S>;
  constexpr int together = solves_at_once<S>;
  const int nv = tree.nv;
  const DirectMatrices<S, Touch> matrices{nv, dtau, dq, dv, touch};
  if constexpr (is_pack<S>) {
    if (falls_freely<turning>(tree, tree.index[1])) direct_base_terms(tree, m, 1);
    for (const Limb* limb = m.limbs; limb != m.limbs_end; ++limb) limb_columns(tree, m, *limb, touch);
  }
  int first = 1, last = 1;  // bodies of the rows at hand
  for (int next = 0; next < nv;) {
    constexpr int most = is_pack<S> ? rows_in_turn : 1;
    RowsAtOnce<S> rows[most];
    int count = 0;
    for (; count < most && next < nv; ++count, next += together) {
      int i0 = next, n = nv - next < together ? nv - next : together;
      if (!is_pack<S> && nv > together && n < together)  // the last rows overlap those before
        i0 = nv - together, n = together;
      while (m.index[first].end <= i0) ++first;
      while (m.index[last].end < i0 + n) ++last;
      int begin = first, end = last + 1;
      while (tree.index[begin].inboard != 0) begin = tree.index[begin].inboard;
      while (end < tree.slots() && tree.index[end].inboard != 0) ++end;
      rows[count] = {i0,
                     n,
                     first,
                     last,
                     begin,
                     end,
                     reinterpret_cast<W*>(m.Z) + 6 * m.carriers * count,
                     reinterpret_cast<W*>(m.result)};
      direct_rows<turning>(tree, v, m, rows[count], matrices);
    }
    if constexpr (is_pack<S>)
      for (const Limb* limb = m.limbs; limb != m.limbs_end; ++limb)
        for (int i = 0; i < count; ++i)
          if (rows[i].begin < limb->first && limb->first < rows[i].end &&
              !rows[i].meet(limb->first, limb->end))
            limb_rows(tree, m, rows[i], *limb, matrices);
  }
}

/// Algorithm 6 at the accelerations `a` of factored_forward, called before at the same state. Row-major, full
/// coordinates.
template <class S, class Touch>
ARTICULA_INLINE void direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a,
                                    const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* dq,
                                    S* dv, S* dtau, Touch touch) {
  const auto run = [&](auto turning) __attribute__((always_inline)) {
    constexpr bool turns = decltype(turning)::value != 0;
    direct_outward<turns>(tree, v, a, m, touch);
    apply_external(tree, external, m, false);
    direct_inward<turns>(tree, external, m, touch);
    if constexpr (wide_bodies<S> != 1) direct_columns<turns>(tree, m);
    direct_matrices<turns>(tree, v, m, dq, dv, dtau, touch);
  };
  if (external.turning())
    run(Index<1>{});
  else
    run(Index<0>{});
}

template <class S>
void direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a, const ExternalForces<S>& external,
                    const LinearizationMemory<S>& m, S* dq, S* dv, S* dtau) {
  direct_forward(tree, v, a, external, m, dq, dv, dtau, NoTouch{});
}

/// out = -A B for n x n matrices, row-major, four rows and a register of columns at a time, leaving out what
/// the tree makes zero in B (dT/dq or dT/dv). B must have wide - 1 readable numbers behind it. The last
/// columns come first: their stores reach into the next row, whose first columns are stored later. The last
/// row goes through m.row.
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
  inverse_matrices(tree, v, a, external, m, static_cast<S*>(nullptr), by_q, by_v, NoTouch{});
  minus_product(tree.nv, dtau, by_q, m, dq);
  minus_product(tree.nv, dtau, by_v, m, dv);
}

}  // namespace articula::ARTICULA_ISA
