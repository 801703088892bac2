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

/// H, V and alpha for every velocity, outward.
template <class S>
ARTICULA_INLINE void direct_outward(const Tree<Real<S>>& tree, const S* v, const S* a,
                                    const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  move_spatially(
      tree, v, a, m,
      [&](int, const BodyIndex& b, const auto& H, const PhiStar<S>&, const auto& in, const Spatial<S>& V, S*)
          __attribute__((always_inline)) {
            using J = typename KindOf<std::remove_cvref_t<decltype(H)>>::type;
            const Spatial<S> V_sum = in.V + V;
            for_each_index<J::nv>([&](auto i) __attribute__((always_inline)) {
              S* const d = direct_of(m, b.v + i.value);
              write(d + s * direct::H, spatial(H.template row<i.value>()));
              write(d + s * direct::V, in.V);
              write(d + s * direct::V_sum, V_sum);
              write(d + s * direct::alpha, in.alpha);
            });
          });
}

/// f and Pr (4.12) for every velocity, inward; G; and the joint's own H S[H*] f.
template <bool turning, class S>
ARTICULA_INLINE void direct_inward(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                   const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
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
    const bool hands_over = b.handover != Handover::none;
    revolute_or_other(
        b.kind, [&](auto revolute) __attribute__((always_inline)) {
          const int N = revolute.value ? 1 : m.index[k].end - b.v;
          Vec3<S> u[revolute.value ? 1 : max_freedoms], uw[revolute.value ? 1 : max_freedoms];
          for (int i = 0; i < N; ++i) {
            S* const d = direct_of(m, b.v + i);
            const auto h = read<Spatial>(d + s * direct::H);
            write(d + s * direct::f, hands_over ? at.f : none);  // only what is inboard feels how f turns
            write_half(d + s * direct::Pr, at.P);
            if constexpr (turning) write_half(d + s * direct::Pw, at.W);
            if constexpr (revolute.value)
              u[i] = star_times(at.P.w, h.w);
            else
              u[i] = row_times(h, at.P);
            if constexpr (turning) uw[i] = row_times(h, at.W);
            if (!revolute.value && hands_over) {
              const Spatial<S> Hf = cross_force(h, at.f);
              for (int r = 0; r < N; ++r)
                m.own[6 * (b.v + r) + i] = dot(read<Spatial>(direct_of(m, b.v + r) + s * direct::H), Hf);
            }
            if constexpr (revolute.value) {
              write(d + s * direct::G, twice(u[i] * m.k.inv_D[6 * b.v]));
              if constexpr (turning) write(d + s * direct::Gw, uw[i] * m.k.inv_D[6 * b.v]);
            } else {
              write(d + s * direct::G, twice(u[i]));
              if constexpr (turning) write(d + s * direct::Gw, uw[i]);
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

/// Pd, Sd, Pdd, YA and YB, a register of velocities at a time.
template <bool turning, class S>
ARTICULA_INLINE void direct_columns(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m) {
  using W = Wide<S>;
  constexpr int s = stride<S>;
  for (int c = 0; c < tree.nv; c += wide_bodies<S>) {
    S* const d = direct_of(m, c);
    const auto h = read_wide<Spatial>(d + s * direct::H);
    const auto V = read_wide<Spatial>(d + s * direct::V);
    const auto P = read_wide<ArticulatedInertia>(d + s * direct::P);
    const HalfMatrix<W> Pr{read_wide<Mat3>(d + s * direct::Pr), read_wide<Mat3>(d + s * (direct::Pr + 9))};
    const Spatial<W> Pd = cross_motion(V, h), Sd = cross_motion(read_wide<Spatial>(d + s * direct::V_sum), h),
                     Pdd = cross_motion(read_wide<Spatial>(d + s * direct::alpha), h) + cross_motion(V, Pd);
    Spatial<W> YB = P * Pdd + Pr * twice(Pd.w) + cross_force(h, read_wide<Spatial>(d + s * direct::f));
    if constexpr (turning)
      YB +=
          HalfMatrix<W>{read_wide<Mat3>(d + s * direct::Pw), read_wide<Mat3>(d + s * (direct::Pw + 9))} * h.w;
    write_wide(d + s * direct::Pd, Pd);
    write_wide(d + s * direct::Sd, Sd);
    write_wide(d + s * direct::Pdd, Pdd);
    write_wide(d + s * direct::YA, P * Sd + Pr * twice(h.w));
    write_wide(d + s * direct::YB, YB);
  }
}

/// A register of rows, velocities i0 .. i0 + wide - 1 (those of bodies first .. last), through both sweeps.
/// put(c, M^-1, -da/dq, -da/dv) is told of every column c of bodies begin .. end - 1.
template <bool turning, class S, class Put>
ARTICULA_INLINE void direct_rows(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m, int i0,
                                 int first, int last, int begin, int end, const Put& put) {
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
  Spatial<W> up = zero;
  Vec3<W> up_r = none, up_w = none;
  for (int k = last, next = 0; k != 0; k = next) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    next = k > first ? k - 1 : b.inboard;
    Spatial<W> t = up;
    Vec3<W> tr = up_r, tw = up_w;
    if (b.has_sides) {
      t += gather<1, Spatial<W>>(T + 12 * k);
      tr += gather<1, Vec3<W>>(T + 12 * k + 6);
      if constexpr (turning) tw += gather<1, Vec3<W>>(T + 12 * k + 9);
    }
    up = Phi<S>{read<Vec3>(xk + s * body::l)} * t;
    up_r = tr, up_w = tw;
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
            W by_q = dot(read<Spatial>(d + s * direct::Pdd), t) + dot(read<Vec3>(d + s * direct::Pd), tr);
            if constexpr (turning) by_q = by_q + dot(h, tw);
            result[3 * c + 1] = by_q;
            result[3 * c + 2] = dot(read<Spatial>(d + s * direct::Sd), t) + dot(h, tr);
            if (b.handover == Handover::none) continue;
            up += gather<1, Spatial<S>>(m.k.K + 6 * c) * e[i];
            up_r += read<Vec3>(d + s * direct::G) * e[i];
            if constexpr (turning) up_w += read<Vec3>(d + s * direct::Gw) * e[i];
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
      scatter<1>(gather<1, Spatial<W>>(sum) + up, sum);
      scatter<1>(gather<1, Vec3<W>>(sum + 6) + up_r, sum + 6);
      if constexpr (turning) scatter<1>(gather<1, Vec3<W>>(sum + 9) + up_w, sum + 9);
    }
    up = zero, up_r = none, up_w = none;
  }
  // Outward: all bodies of the trees that these rows belong to, those of the way inward among them.
  Spatial<W> Z = zero;
  for (int k = begin; k < end; ++k) {
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

/// Rows i0 .. i0 + rows - 1 of the three matrices: those of bodies first .. last, whose trees are bodies
/// begin .. end - 1.
template <bool turning, class S>
ARTICULA_INLINE void direct_matrix_rows(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m, int i0,
                                        int rows, int first, int last, int begin, int end, S* dq, S* dv,
                                        S* dtau) {
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
        tree, m, i0, first, last, begin,
        end, [&](int c, const auto& x, const auto& by_q, const auto& by_v) __attribute__((always_inline)) {
          result[3 * c] = x, result[3 * c + 1] = by_q, result[3 * c + 2] = by_v;
        });
    put_rows(nv, m, rows, c0, c1, to);
  } else {
    direct_rows<turning>(
        tree, m, i0, first, last, begin,
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
        });
  }
}

/// Algorithm 6 at the accelerations `a` of factored_forward, called before at the same state. Row-major, full
/// coordinates.
template <class S>
void direct_forward(const Tree<Real<S>>& tree, const S* v, const S* a, const ExternalForces<S>& external,
                    const LinearizationMemory<S>& m, S* dq, S* dv, S* dtau) {
  constexpr int s = stride<S>, wide = wide_bodies<S>;
  direct_outward(tree, v, a, m);
  for (int k = 0; k < tree.slots(); k += wide) {
    S* const yk = y_of(m, k);
    const auto M = inertia_wide(tree, slot(m.k.x, k, int(body::count)), k);
    const auto V = read_wide<Spatial>(yk + s * motion::V);
    const auto r = ring(M, half_trace_wide<S>(tree, k), V);
    write_wide(yk + s * motion::N, r.N);
    write_wide(yk + s * motion::F, r.F);
    write_wide(yk + s * motion::f, body_force(M, r, V, read_wide<Spatial>(yk + s * motion::alpha)));
  }
  apply_external(tree, external, m, false);
  if (external.turning()) {
    direct_inward<true>(tree, external, m);
    direct_columns<true>(tree, m);
  } else {
    direct_inward<false>(tree, external, m);
    direct_columns<false>(tree, m);
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
      direct_matrix_rows<true>(tree, m, i0, rows, first, last, begin, end, dq, dv, dtau);
    else
      direct_matrix_rows<false>(tree, m, i0, rows, first, last, begin, end, dq, dv, dtau);
  }
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
