// Operational-space inertia and bias (OSC 4; docs/math.md 6) for any set of frames of a tree.
//
//   (1) outward   poses, velocities, and f = M phi* a + b                              (OSC 46-48)
//   (2) inward    P, D, K and nu = -D^-1 H psi (P a + b), all bodies                   (OSC 37, 66)
//   (3) inward    X = psi B, e = H X, six columns in lanes, along the way of each frame only:
//
//         Omega(0) = B* psi* H* D^-1 H psi B = sum of e* D^-1 e                        (OSC 4.1)
//         B* psi* H* nu                      = sum of e* nu                            (OSC 65)
//         B* psi* W* a_g                     = (X at the world)* a_g                   (OSC 4.3)
//
// A sum of positive terms: nothing cancels, and Omega(0) is never indefinite, however near a singularity.
// Where ways of several frames meet, at body c, they end and six new columns start from Id:
// Omega(i,j) = X_i* Omega(c) X_j, c the closest common ancestor. So every body is walked once.
#pragma once

#include "articula/kernels/inverse_dynamics_text.hpp"
#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/task_memory.hpp"

namespace articula::ARTICULA_ISA {

/// How many registers hold the lanes of a row. Lanes of states hold one column each, and there are six.
template <class S>
constexpr int lane_parts = wide_bodies<S> == 1 ? 6 : task_lanes / wide_bodies<S>;

template <class S>
ARTICULA_INLINE Wide<S> load_part(const S* p) {
  if constexpr (wide_bodies<S> == 1)
    return *p;
  else
    return Wide<S>::load(p);
}
template <class S>
ARTICULA_INLINE void store_part(const Wide<S>& x, S* p) {
  if constexpr (wide_bodies<S> == 1)
    *p = x;
  else
    x.store(p);
}

/// Lane `lane` of the lanes of part p.
template <class S>
ARTICULA_INLINE Wide<S> unit_lane(int lane, int p) {
  constexpr int w = wide_bodies<S>;
  lane -= w * p;
  if constexpr (w == 1)
    return S(lane == 0 ? 1 : 0);
  else
    return Wide<S>::load(unit_window<S>.at + (lane < 0 || lane >= w ? 0 : w - lane));
}
/// phi(O_k, frame): six columns.
template <class S>
ARTICULA_INLINE Spatial<Wide<S>> start_columns(const Vec3<S>& r, int p) {
  const Vec3<Wide<S>> force{unit_lane<S>(3, p), unit_lane<S>(4, p), unit_lane<S>(5, p)};
  return {Vec3<Wide<S>>{unit_lane<S>(0, p), unit_lane<S>(1, p), unit_lane<S>(2, p)} + cross(r, force), force};
}

/// (3) along one segment, body by body; with_bias: also the sum of e* nu.
template <bool with_bias, class S>
struct SegmentSweep {
  static constexpr int parts = lane_parts<S>, w = wide_bodies<S>;
  using W = Wide<S>;
  Spatial<W> X[parts];
  W sum[parts];
  S *e, *n;  // where the next rows go

  ARTICULA_INLINE SegmentSweep(const TaskMemory<S>& m, int s)
      : e(m.e + task_lanes * m.segment[s].e), n(m.n + task_lanes * m.segment[s].e) {
    const S O(0);
    const Vec3<S> r = s < m.frames ? gather<1, Vec3<S>>(m.r + 3 * s) : Vec3<S>{O, O, O};
    for (int p = 0; p < parts; ++p) {
      X[p] = start_columns(r, p);
      sum[p] = W(O);
    }
  }
  ARTICULA_INLINE void step(const Tree<Real<S>>& tree, const TaskMemory<S>& m, int k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    const auto R = read<Mat3>(xk + stride<S> * body::R);
    const Phi<S> phi{read<Vec3>(xk + stride<S> * body::l)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          constexpr int N = J::nv;
          const HingeMap<J, S> H{R, tree.pitch[k]};
          W nu[parts][N];
          for (int p = 0; p < parts; ++p) {
            const Spatial<W> Xp = X[p];
            Spatial<W> next = Xp;
            if (b.inboard != 0) next = phi * Xp;
            for_each_index<N>([&](auto i) __attribute__((always_inline)) {
              const W ei = dot(H.template row<i.value>(), Xp);
              store_part<S>(ei, e + task_lanes * i.value + w * p);
              nu[p][i.value] = ei;
              if (b.inboard != 0) next -= gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i.value)) * ei;
              if constexpr (with_bias) sum[p] = sum[p] + ei * m.k.nu[b.v + i.value];
            });
            X[p] = next;
            solve_D<J>(m.k.inv_D + 6 * b.v, nu[p]);
            for (int i = 0; i < N; ++i) store_part<S>(nu[p][i], n + task_lanes * i + w * p);
          }
          if (b.inboard == 0) {  // W: only the forces matter, a_g has no rotation
            const ArticulatedInertia<S> P{
                {}, gather<1, Mat3<S>>(m.P_root + 15 * k), gather<1, Sym3<S>>(m.P_root + 15 * k + 9)};
            for_each_index<N>([&](auto i) __attribute__((always_inline)) {
              const Vec3<S> U = (P * H.template row<i.value>()).v;
              for (int p = 0; p < parts; ++p) X[p].v -= U * nu[p][i.value];
            });
            for (int p = 0; p < parts; ++p) X[p].w = {W(S(0)), W(S(0)), W(S(0))};
          }
          e += task_lanes * N;
          n += task_lanes * N;
        });
  }
  /// Also the sum of e* D^-1 e, in a loop of its own: there it stays in registers.
  ARTICULA_INLINE void finish(const Tree<Real<S>>& tree, const TaskMemory<S>& m, int s) {
    const Vec3<S> up{S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)};
    for (int p = 0; p < parts; ++p) {
      S* const T = m.T + task_block * s + w * p;
      each_number(
          X[p], [&](const W& x, int c)
                    __attribute__((always_inline)) { store_part<S>(x, T + task_lanes * c); });
      store_part<S>(sum[p], m.a + task_lanes * s + w * p);
      if (m.segment[s].inboard < 0) store_part<S>(dot(up, X[p].v), m.g + task_lanes * s + w * p);
      const S* const first = m.e + task_lanes * m.segment[s].e;
      const S* const nus = m.n + task_lanes * m.segment[s].e + w * p;
      W A[6];
#pragma GCC unroll 6
      for (int c = 0; c < 6; ++c) A[c] = W(S(0));
      for (long at = 0; at < e - first; at += task_lanes) {
        const W nu = load_part<S>(nus + at);
#pragma GCC unroll 6
        for (int c = 0; c < 6; ++c) A[c] = A[c] + nu * first[at + c];
      }
#pragma GCC unroll 6
      for (int c = 0; c < 6; ++c) store_part<S>(A[c], m.Omega + task_block * s + task_lanes * c + w * p);
    }
  }
};

/// out += A* B of blocks.
template <class S>
ARTICULA_INLINE void add_star_product(const S* A, const S* B, S* out) {
  constexpr int w = wide_bodies<S>;
  using W = Wide<S>;
  for (int p = 0; p < lane_parts<S>; ++p)
    for (int i = 0; i < 6; ++i) {
      W sum = load_part<S>(out + task_lanes * i + w * p);
      for (int c = 0; c < 6; ++c)
        sum = sum + load_part<S>(B + task_lanes * c + w * p) * A[task_lanes * c + i];
      store_part<S>(sum, out + task_lanes * i + w * p);
    }
}
/// out = A B of blocks.
template <class S>
ARTICULA_INLINE void block_product(const S* A, const S* B, S* out) {
  constexpr int w = wide_bodies<S>;
  using W = Wide<S>;
  for (int p = 0; p < lane_parts<S>; ++p)
    for (int i = 0; i < 6; ++i) {
      W sum = W(S(0));
      for (int c = 0; c < 6; ++c)
        sum = sum + load_part<S>(B + task_lanes * c + w * p) * A[task_lanes * i + c];
      store_part<S>(sum, out + task_lanes * i + w * p);
    }
}
/// out += A* x.
template <class S>
ARTICULA_INLINE void add_star_times(const S* A, const S* x, S* out) {
  for (int i = 0; i < 6; ++i)
    for (int c = 0; c < 6; ++c) out[i] = out[i] + A[task_lanes * c + i] * x[c];
}

/// What the segments give when put together, world first.
template <bool with_bias, class S>
ARTICULA_INLINE void join_segments(const TaskMemory<S>& m) {
  alignas(64) S scratch[task_block];
  for (int s = m.segments - 1; s >= 0; --s) {
    const int inboard = m.segment[s].inboard;
    const S* const T = m.T + task_block * s;
    S* const g = m.g + task_lanes * s;
    if (inboard < 0) continue;
    for (int i = 0; i < task_lanes; ++i) g[i] = S(0);
    block_product(m.Omega + task_block * inboard, T, scratch);
    add_star_product(T, scratch, m.Omega + task_block * s);
    add_star_times(T, m.g + task_lanes * inboard, g);
    if constexpr (with_bias) add_star_times(T, m.a + task_lanes * inboard, m.a + task_lanes * s);
  }
  const int frames = m.frames;
  if (frames == 1) return;  // blocks and Omega are one
  // psi B of each frame at every meeting point inboard of it
  for (int i = 0; i < frames; ++i) {
    const S* before = m.T + task_block * i;
    for (int s = m.segment[i].inboard, last = i; s >= 0; last = s, s = m.segment[s].inboard) {
      S* const to = m.to + long(task_block) * (long(i) * m.segments + s);
      if (last == i)
        for (int c = 0; c < task_block; ++c) to[c] = before[c];
      else
        block_product(m.T + task_block * last, before, to);
      before = to;
    }
  }
  for (int i = 0; i < frames; ++i)
    for (int j = i; j < frames; ++j) {
      S* const block_ij = m.blocks + long(task_block) * (long(i) * frames + j);
      const int c = m.meeting[i * frames + j];
      if (i == j) {
        for (int x = 0; x < task_block; ++x) block_ij[x] = m.Omega[task_block * i + x];
        continue;
      }
      for (int x = 0; x < task_block; ++x) block_ij[x] = S(0);
      if (c >= 0) {
        block_product(m.Omega + task_block * c, m.to + long(task_block) * (long(j) * m.segments + c),
                      scratch);
        add_star_product(m.to + long(task_block) * (long(i) * m.segments + c), scratch, block_ij);
      }
      S* const block_ji = m.blocks + long(task_block) * (long(j) * frames + i);
      for (int x = 0; x < 6; ++x)
        for (int y = 0; y < 6; ++y) block_ji[task_lanes * y + x] = block_ij[task_lanes * x + y];
    }
}

/// (2) and (3). (Doing both body by body in one loop was tried, and is slower: too few registers.)
template <bool moving, class S>
ARTICULA_INLINE S sweep_inward_with_tasks(const Tree<Real<S>>& tree, const TaskMemory<S>& m) {
  for (int i = 0; i < m.frames; ++i)
    scatter<1>(read<Mat3>(slot(m.k.x, m.segment[i].start, int(body::count)) + stride<S> * body::R) *
                   gather<1, Vec3<S>>(m.offset + 3 * i),
               m.r + 3 * i);
  const auto keep_root = [&](int k, const ArticulatedInertia<S>& P) __attribute__((always_inline)) {
    if (tree.index[k].inboard != 0) return;
    scatter<1>(P.B, m.P_root + 15 * k);
    scatter<1>(P.C, m.P_root + 15 * k + 9);
  };
  const S smallest = articulate<moving, true>(tree, m.k, m.zeros, keep_root);
  for (int s = 0; s < m.segments; ++s) {
    SegmentSweep<moving, S> sweep(m, s);
    const TaskSegment& segment = m.segment[s];
    for (int at = 0; at < segment.bodies; ++at) sweep.step(tree, m, m.path[segment.path + at]);
    sweep.finish(tree, m, s);
  }
  join_segments<moving>(m);
  return smallest;
}

/// All of it at a state; v null: at rest, and without the terms of velocity. Returns the smallest pivot of D.
template <class S>
S update_tasks(const Tree<Real<S>>& tree, const S* q, const S* v, const TaskMemory<S>& m) {
  const S* const none = nullptr;
  if (!v) {
    move_bodies_and_inertias<Upto::positions, false>(tree, q, none, m.k.x);
    return sweep_inward_with_tasks<false>(tree, m);
  }
  Tree<Real<S>> weightless = tree;
  weightless.gravity = {0, 0, 0};
  move_and_load_bodies<true, true>(weightless, q, v, none, m.k.x);
  return sweep_inward_with_tasks<true>(tree, m);
}

/// J M^-1 tau from nu = D^-1 [Id - H psi K] tau: six per frame.
template <class S>
void gather_tasks(const Tree<Real<S>>& tree, const TaskMemory<S>& m, const S* nu, S* out) {
  for (int s = m.segments - 1; s >= 0; --s) {
    const TaskSegment& segment = m.segment[s];
    S sum[6] = {};
    const S* e = m.e + task_lanes * segment.e;
    for (int at = 0; at < segment.bodies; ++at) {
      const int k = m.path[segment.path + at];
      visit(
          tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
            for (int i = 0; i < decltype(j)::nv; ++i, e += task_lanes)
              for (int c = 0; c < 6; ++c) sum[c] = sum[c] + e[c] * nu[tree.index[k].v + i];
          });
    }
    if (segment.inboard >= 0) add_star_times(m.T + task_block * s, m.f + 6 * segment.inboard, sum);
    for (int c = 0; c < 6; ++c) m.f[6 * s + c] = sum[c];
  }
  for (int i = 0; i < 6 * m.frames; ++i) out[i] = m.f[i];
}

/// nu = D^-1 H psi B F, all velocities; M^-1 J* F = [Id - H psi K]* nu. F: six per frame.
template <class S>
void spread_tasks(const Tree<Real<S>>& tree, const TaskMemory<S>& m, const S* F, S* nu) {
  for (int i = 0; i < tree.nv; ++i) nu[i] = S(0);
  for (int i = 0; i < 6 * m.segments; ++i) m.f[i] = i < 6 * m.frames ? F[i] : S(0);
  for (int s = 0; s < m.segments; ++s) {
    const TaskSegment& segment = m.segment[s];
    const S* const f = m.f + 6 * s;
    const S* n = m.n + task_lanes * segment.e;
    for (int at = 0; at < segment.bodies; ++at) {
      const BodyIndex& b = tree.index[m.path[segment.path + at]];
      visit(
          b.kind, [&](auto j) __attribute__((always_inline)) {
            for (int i = 0; i < decltype(j)::nv; ++i, n += task_lanes) {
              S sum(0);
              for (int c = 0; c < 6; ++c) sum = sum + n[c] * f[c];
              nu[b.v + i] = sum;
            }
          });
    }
    if (segment.inboard < 0) continue;
    const S* const T = m.T + task_block * s;
    for (int i = 0; i < 6; ++i)
      for (int c = 0; c < 6; ++c)
        m.f[6 * segment.inboard + i] = m.f[6 * segment.inboard + i] + T[task_lanes * i + c] * f[c];
  }
}

/// J* F = H phi B F (OSC 39), along the ways of the frames.
template <class S>
void task_forces(const Tree<Real<S>>& tree, const TaskMemory<S>& m, const S* F, S* tau) {
  for (int i = 0; i < tree.nv; ++i) tau[i] = S(0);
  for (int i = 0; i < 6 * m.segments; ++i) m.f[i] = S(0);
  for (int s = 0; s < m.segments; ++s) {
    const TaskSegment& segment = m.segment[s];
    Spatial<S> f = gather<1, Spatial<S>>(m.f + 6 * s);
    if (s < m.frames) f = Phi<S>{gather<1, Vec3<S>>(m.r + 3 * s)} * gather<1, Spatial<S>>(F + 6 * s);
    for (int at = 0; at < segment.bodies; ++at) {
      const int k = m.path[segment.path + at];
      const BodyIndex& b = tree.index[k];
      const S* xk = slot(m.k.x, k, int(body::count));
      const auto R = read<Mat3>(xk + stride<S> * body::R);
      visit(
          b.kind, [&](auto j) __attribute__((always_inline)) {
            times(HingeMap<decltype(j), S>{R, tree.pitch[k]}, f, tau + b.v);
          });
      f = Phi<S>{read<Vec3>(xk + stride<S> * body::l)} * f;
    }
    if (segment.inboard >= 0)
      scatter<1>(gather<1, Spatial<S>>(m.f + 6 * segment.inboard) + f, m.f + 6 * segment.inboard);
  }
}

/// J v = B* phi* H* v (OSC 41), six per frame, world axes at its origin.
template <class S>
void task_velocities(const Tree<Real<S>>& tree, const TaskMemory<S>& m, const S* v, S* out) {
  const S O(0);
  for (int s = m.segments - 1; s >= 0; --s) {
    const TaskSegment& segment = m.segment[s];
    Spatial<S> V{{O, O, O}, {O, O, O}};
    if (segment.inboard >= 0) V = gather<1, Spatial<S>>(m.f + 6 * segment.inboard);
    for (int at = segment.bodies - 1; at >= 0; --at) {
      const int k = m.path[segment.path + at];
      const BodyIndex& b = tree.index[k];
      const S* xk = slot(m.k.x, k, int(body::count));
      const auto R = read<Mat3>(xk + stride<S> * body::R);
      V = star(Phi<S>{read<Vec3>(xk + stride<S> * body::l)}) * V;
      visit(
          b.kind, [&](auto j) __attribute__((always_inline)) {
            V += star_times(HingeMap<decltype(j), S>{R, tree.pitch[k]}, v + b.v);
          });
    }
    scatter<1>(V, m.f + 6 * s);
    if (s < m.frames) scatter<1>(star(Phi<S>{gather<1, Vec3<S>>(m.r + 3 * s)}) * V, out + 6 * s);
  }
}

/// The inverse of a symmetric positive definite matrix of N rows, row by row. Returns the smallest pivot;
/// where it is not positive the inverse has no meaning.
template <int N, class S>
S invert_small(const S* A, S* inverse) {
  constexpr int w = wide_bodies<S>;
  using W = Wide<S>;
  S D[N][N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) D[i][j] = A[N * i + j];
  SmallFactor<S, N> factor;
  const S smallest = factor.factor(D);
  alignas(64) S rows[N][task_lanes];
  for (int p = 0; p * w < N; ++p) {
    W x[N];
    for (int i = 0; i < N; ++i) x[i] = unit_lane<S>(i, p);
    factor.solve(x);
    for (int i = 0; i < N; ++i) store_part<S>(x[i], rows[i] + p * w);
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) inverse[N * i + j] = inverse[N * j + i] = rows[i][j];
  return smallest;
}
/// invert_small for any number of rows n; `L` is scratch of n x n.
template <class S>
S invert_any(long n, const S* A, S* L, S* inverse) {
  S smallest = A[0];
  for (long j = 0; j < n; ++j) {  // L d L*: 1/d on the diagonal, L d above it
    S d = A[n * j + j];
    for (long k = 0; k < j; ++k) d = d - L[n * j + k] * L[n * k + j];
    smallest = smaller(smallest, d);
    L[n * j + j] = reciprocal(d);
    for (long i = j + 1; i < n; ++i) {
      S r = A[n * i + j];
      for (long k = 0; k < j; ++k) r = r - L[n * i + k] * L[n * k + j];
      L[n * j + i] = r;
      L[n * i + j] = r * L[n * j + j];
    }
  }
  for (long c = 0; c < n; ++c) {  // columns of the inverse, from the diagonal down
    inverse[n * c + c] = S(1);
    for (long i = c + 1; i < n; ++i) {
      S x(0);
      for (long k = c; k < i; ++k) x = x - L[n * i + k] * inverse[n * k + c];
      inverse[n * i + c] = x;
    }
    for (long i = n - 1; i >= c; --i) {
      S x = inverse[n * i + c] * L[n * i + i];
      for (long k = i + 1; k < n; ++k) x = x - L[n * k + i] * inverse[n * k + c];
      inverse[n * i + c] = inverse[n * c + i] = x;
    }
  }
  return smallest;
}
template <class S>
S invert_up_to_six(int n, const S* A, S* inverse) {
  switch (n) {
    case 1:
      return invert_small<1>(A, inverse);
    case 2:
      return invert_small<2>(A, inverse);
    case 3:
      return invert_small<3>(A, inverse);
    case 4:
      return invert_small<4>(A, inverse);
    case 5:
      return invert_small<5>(A, inverse);
    default:
      return invert_small<6>(A, inverse);
  }
}

}  // namespace articula::ARTICULA_ISA
