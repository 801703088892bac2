// LIN Algorithm 2: the matrices dT/dq, dT/dv and M = dT/da in O(n^2), generalised to joints with several
// freedoms and to trees (docs/math.md 7).
//
// Everything is referred to one inertial point per tree, the origin of its first body, so that phi = Id (LIN
// 2) and composite quantities are plain sums. Four kinds of steps alternate: sums along the tree, body by
// body; work on a register of bodies; work on a register of columns (velocities); and rows of the results,
// again by registers. Registers of columns that neither support a row's joint nor are supported by it are
// zero and never computed.
//
//   (1) Pd  = V+ x Hs*                              V+, alpha+: of the inboard body
//   (2) Sd  = (V+ + V) x Hs*
//   (3) Pdd = alpha+ x Hs* + V+ x Pd
//   (4) X   = R Hs*                                 R, Rr, f: of all that the joint carries
//   (5) Xr  = 2 Rr* Hs*
//   (6) XA  = 2 Rr Hs* + R Sd                       LIN (3.8)
//   (7) XB  = 2 Rr Pd + R Pdd + Hs* x* f            LIN (3.8)
//
// In row i, columns c at or outboard of i have
//
//   (8) M = Hs(i) X(c),     dT/dv = Hs(i) XA(c),                     dT/dq = Hs(i) XB(c)
//
// and columns c inboard of it
//
//   (9) M = Hs*(c).X(i),    dT/dv = Sd(c).X(i) + Hs*(c).Xr(i),       dT/dq = Pdd(c).X(i) + Pd(c).Xr(i)
#pragma once

#include <type_traits>

#include "articula/kernels/perturbation_text.hpp"

namespace articula::ARTICULA_ISA {

/// What else is done while the matrices are made: nothing. Batches pass FetchAhead (batch_kernels.cpp), which
/// fetches the cache lines that results will be written to.
struct NoTouch {
  ARTICULA_INLINE void operator()(int) const {}     // some time has gone by
  ARTICULA_INLINE void wrote(const void*) const {}  // a number of some row
};

/// A register of numbers side by side.
template <class S>
ARTICULA_INLINE Wide<S> read_lanes(const S* p) {
  if constexpr (wide_bodies<S> == 1)
    return *p;
  else
    return Wide<S>::load(p);
}
template <class S>
ARTICULA_INLINE void write_lanes(S* p, const Wide<S>& x) {
  if constexpr (wide_bodies<S> == 1)
    *p = x;
  else
    x.store(p);
}
template <class S>
ARTICULA_INLINE S* column_of(const LinearizationMemory<S>& m, int c) {
  return slot(m.columns, c, int(column::count));
}

/// Calls put(i, Hs*) for the velocities i of a joint, o being its origin from the reference point.
template <class S, class Put>
ARTICULA_INLINE void hinge_columns(const Tree<Real<S>>& tree, int k, const Mat3<S>& axes, const Vec3<S>& o,
                                   const Put& put) {
  const PhiStar<S> to_reference{-o};
  if (tree.index[k].kind == HingeKind::revolute) {
    put(0, to_reference * spatial(Turn<S>{column_z(axes)}));
    return;
  }
  Spatial<S> rows[max_freedoms];
  int freedoms = 0;
  visit(
      tree.index[k].kind, [&](auto j) __attribute__((always_inline)) {
        const HingeMap<decltype(j), S> H{axes, tree.pitch[k]};
        freedoms = j.nv;
        for_each_index<j.nv>([&](auto i) __attribute__((always_inline)) {
          rows[i.value] = spatial(H.template row<i.value>());
        });
      });
  for (int i = 0; i < freedoms; ++i) put(i, to_reference * rows[i]);
}

/// Hs* of every velocity, and V along the tree.
template <class S>
ARTICULA_INLINE void hinges_at_reference(const Tree<Real<S>>& tree, const S* v, const S* a,
                                         const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  using Vector = OneVector<S>;
  const auto read_vector = [](const S* p) __attribute__((always_inline)) {
    return one_vector(p[0], p[s], p[2 * s]);
  };
  const Vector O = one_vector(S(0), S(0), S(0));
  Vector o = O, V_w = O, V_v = O;
  const auto keep = [&](int k) __attribute__((always_inline)) {
    S* const yk = y_of(m, k);
    write(yk + s * motion::V, Spatial<S>{vec3(V_w), vec3(V_v)});
    write(yk + s * motion::o, vec3(o));
  };
  keep(0);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    if (b.inboard != k - 1) {
      const S* const yp = y_of(m, b.inboard);
      o = read_vector(yp + s * motion::o);
      V_w = read_vector(yp + s * motion::V), V_v = read_vector(yp + s * (motion::V + 3));
    }
    o = b.inboard == 0 ? O : o + read_vector(xk + s * body::l);
    const Spatial<S> V_in{vec3(V_w), vec3(V_v)};
    const auto put = [&](int c, const Vector& Hs_w, const Vector& Hs_v) __attribute__((always_inline)) {
      S* const at = column_of(m, c);
      V_w = V_w + Hs_w * v[c], V_v = V_v + Hs_v * v[c];
      write(at + s * column::Hs, Spatial<S>{vec3(Hs_w), vec3(Hs_v)});
      write(at + s * column::V, V_in);
      at[s * column::v] = v[c];
      at[s * column::a] = a[c];
    };
    if (b.kind == HingeKind::revolute) {
      const Vector z = one_vector(xk[s * (body::R + 2)], xk[s * (body::R + 5)], xk[s * (body::R + 8)]);
      put(b.v, z, cross(o, z));
    } else {
      hinge_columns(
          tree, k, read<Mat3>(xk + s * body::R),
          vec3(o), [&](int i, const Spatial<S>& Hs) __attribute__((always_inline)) {
            put(b.v + i, one_vector(Hs.w.x, Hs.w.y, Hs.w.z), one_vector(Hs.v.x, Hs.v.y, Hs.v.z));
          });
    }
    keep(k);
  }
}

/// Pd, then alpha along the tree, then Sd and Pdd.
template <class S>
ARTICULA_INLINE void hinge_rates(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m) {
  using W = Wide<S>;
  constexpr int s = stride<S>;
  for (int c = 0; c < tree.nv; c += wide_bodies<S>) {
    S* const at = column_of(m, c);
    const auto Hs = read_wide<Spatial>(at + s * column::Hs);
    const Spatial<W> Pd = cross_motion(read_wide<Spatial>(at + s * column::V), Hs);
    write_wide(at + s * column::Pd, Pd);
    write_wide(at + s * column::Sd, Pd + Pd);
    write_wide(at + s * column::Pdd,  // da, until Pdd itself is made below
               Hs * read_wide<One>(at + s * column::a) + Pd * read_wide<One>(at + s * column::v));
  }
  const S O(0);
  Spatial<S> alpha{{O, O, O}, {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
  write(y_of(m, 0) + s * motion::alpha, alpha);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    if (b.inboard != k - 1) alpha = read<Spatial>(y_of(m, b.inboard) + s * motion::alpha);
    const int end = m.index[k].end;
    const Spatial<S> alpha_in = alpha;
    for (int c = b.v; c < end; ++c) {
      S* const at = column_of(m, c);
      alpha += read<Spatial>(at + s * column::Pdd);
      write(at + s * column::alpha, alpha_in);
    }
    write(y_of(m, k) + s * motion::alpha, alpha);
    if (end == b.v + 1) continue;
    // Several freedoms: Hs*' is not Pd, the joint's own motion counts.
    const Spatial<S> own =
        read<Spatial>(y_of(m, k) + s * motion::V) - read<Spatial>(column_of(m, b.v) + s * column::V);
    for (int c = b.v; c < end; ++c) {
      S* const at = column_of(m, c);
      write(at + s * column::Sd,
            read<Spatial>(at + s * column::Sd) + cross_motion(own, read<Spatial>(at + s * column::Hs)));
    }
  }
  for (int c = 0; c < tree.nv; c += wide_bodies<S>) {
    S* const at = column_of(m, c);
    write_wide(
        at + s * column::Pdd,
        cross_motion(read_wide<Spatial>(at + s * column::alpha), read_wide<Spatial>(at + s * column::Hs)) +
            cross_motion(read_wide<Spatial>(at + s * column::V), read_wide<Spatial>(at + s * column::Pd)));
  }
}

/// Inertia, ring and force of a body, or a register of bodies, at the reference point.
template <class S>
ARTICULA_INLINE void body_at_reference(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m, int k,
                                       const Vec3<Wide<S>>& o, const Spatial<Wide<S>>& V,
                                       const Spatial<Wide<S>>& alpha) {
  constexpr int s = stride<S>;
  S* const yk = y_of(m, k);
  const auto M = shifted(Phi<Wide<S>>{o}, inertia_wide(tree, slot(m.k.x, k, int(body::count)), k));
  const auto r = ring(M, (M.J.xx + M.J.yy + M.J.zz) * Real<S>(0.5), V);
  write_wide(yk + s * motion::h, M.mp);
  write_wide(yk + s * motion::J, M.J);
  write_wide(yk + s * motion::N, r.N);
  write_wide(yk + s * motion::F, r.F);
  write_wide(yk + s * motion::f, body_force(M, r, V, alpha));
}
template <class S>
ARTICULA_INLINE void bodies_at_reference(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    const S* const yk = y_of(m, k);
    body_at_reference(tree, m, k, read_wide<Vec3>(yk + s * motion::o), read_wide<Spatial>(yk + s * motion::V),
                      read_wide<Spatial>(yk + s * motion::alpha));
  }
}
/// The three steps above at once, where lanes are states.
template <class S, class Touch>
__attribute__((noinline)) void move_at_reference(const Tree<Real<S>>& tree, const S* v, const S* a,
                                                 const LinearizationMemory<S>& m, Touch& touch) {
  const S O(0);
  Vec3<S> o{O, O, O};
  Spatial<S> V{{O, O, O}, {O, O, O}},
      alpha{{O, O, O}, {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
  const auto keep = [&](int k) __attribute__((always_inline)) {
    S* const yk = y_of(m, k);
    write(yk + motion::o, o), write(yk + motion::V, V), write(yk + motion::alpha, alpha);
  };
  keep(0);
  for (int k = 1; k < tree.slots(); ++k) {
    touch(8);
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    if (b.inboard != k - 1) {
      const S* const yp = y_of(m, b.inboard);
      o = read<Vec3>(yp + motion::o);
      V = read<Spatial>(yp + motion::V), alpha = read<Spatial>(yp + motion::alpha);
    }
    o = b.inboard == 0 ? Vec3<S>{O, O, O} : o + read<Vec3>(xk + body::l);
    const Spatial<S> V_in = V, alpha_in = alpha;
    hinge_columns(
        tree, k, read<Mat3>(xk + body::R),
        o, [&](int i, const Spatial<S>& Hs) __attribute__((always_inline)) {
          const int c = b.v + i;
          S* const at = column_of(m, c);
          const Spatial<S> Pd = cross_motion(V_in, Hs);
          V += Hs * v[c];
          alpha += Hs * a[c] + Pd * v[c];
          write(at + column::Hs, Hs);
          write(at + column::Sd, Pd + Pd);
          write(at + column::Pd, Pd);
          write(at + column::Pdd, cross_motion(alpha_in, Hs) + cross_motion(V_in, Pd));
        });
    if (const int end = m.index[k].end; end > b.v + 1) {  // as in hinge_rates
      const Spatial<S> own = V - V_in;
      for (int c = b.v; c < end; ++c) {
        S* const at = column_of(m, c);
        write(at + column::Sd,
              read<Spatial>(at + column::Sd) + cross_motion(own, read<Spatial>(at + column::Hs)));
      }
    }
    keep(k);
    body_at_reference(tree, m, k, o, V, alpha);
  }
}
/// Hs*, Sd, Pd and Pdd of every velocity; V, alpha, inertia, ring and force of every body (LIN 3.4).
template <class S, class Touch>
ARTICULA_INLINE void motion_at_reference(const Tree<Real<S>>& tree, const S* v, const S* a,
                                         const LinearizationMemory<S>& m, Touch& touch) {
  if constexpr (wide_bodies<S> == 1)
    move_at_reference(tree, v, a, m, touch);
  else
    hinges_at_reference(tree, v, a, m), hinge_rates(tree, m), bodies_at_reference(tree, m);
}
template <class S>
ARTICULA_INLINE void wrenches_at_reference(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                           const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  if (!external.any()) return;
  for (int k = 1; k < tree.slots(); ++k) {
    S* const yk = y_of(m, k);
    const Phi<S> phi{read<Vec3>(yk + s * motion::o)};
    write(yk + s * motion::f, read<Spatial>(yk + s * motion::f) - phi * all_wrenches_of(external, k));
  }
}

/// What joint k carries: sums over its body and all outboard of it. The mass is a constant of the model.
template <class S>
struct Composite {
  Vec3<S> h;
  Sym3<S> J;
  Ring<S> r;
  Spatial<S> f;
};
template <class S>
ARTICULA_INLINE void operator+=(Composite<S>& a, const Composite<S>& b) {
  a.h += b.h, a.J += b.J, a.r.N += b.r.N, a.r.F += b.r.F, a.f += b.f;
}
/// In the order of motion::h .. f and of column::h .. f.
template <int step, class S>
ARTICULA_INLINE Composite<S> read_composite(const S* p) {
  return {gather<step, Vec3<S>>(p),
          gather<step, Sym3<S>>(p + 3 * step),
          {gather<step, Mat3<S>>(p + 9 * step), gather<step, Vec3<S>>(p + 18 * step)},
          gather<step, Spatial<S>>(p + 21 * step)};
}
template <int step, class S>
ARTICULA_INLINE void write_composite(const Composite<S>& c, S* p) {
  scatter<step>(c.h, p);
  scatter<step>(c.J, p + 3 * step);
  scatter<step>(c.r.N, p + 9 * step);
  scatter<step>(c.r.F, p + 18 * step);
  scatter<step>(c.f, p + 21 * step);
}
inline constexpr int composite_count = 27;

/// The columns X, Xr, XA and XB of a velocity, or of a register of them: R and r of what the joint carries.
/// Returns XB less what external forces held in world axes add.
template <class S, class W>
ARTICULA_INLINE Spatial<W> result_column(S* at, const Inertia<W>& R, const Ring<W>& r, const Spatial<W>& f) {
  constexpr int s = stride<S>;
  const auto Hs = read_wide<Spatial>(at + s * column::Hs);
  write_wide(at + s * column::X, R * Hs);
  write_wide(at + s * column::Xr, twice(star_times(r, Hs)));
  write_wide(at + s * column::XA,
             times_angular(r, twice(Hs.w)) + R * read_wide<Spatial>(at + s * column::Sd));
  return times_angular(r, twice(read_wide<Vec3>(at + s * column::Pd))) +
         R * read_wide<Spatial>(at + s * column::Pdd) + cross_force(Hs, f);
}

/// m.own of a joint of several freedoms on a body: f is of all that it carries.
template <class S>
ARTICULA_INLINE void own_forces(const LinearizationMemory<S>& m, int first, int end, const Spatial<S>& f) {
  constexpr int s = stride<S>;
  for (int c = first; c < end; ++c) {
    const auto Hf = cross_force(read<Spatial>(column_of(m, c) + s * column::Hs), f);
    for (int i = first; i < end; ++i)
      m.own[6 * i + c - first] = dot(read<Spatial>(column_of(m, i) + s * column::Hs), Hf);
  }
}
/// LIN (3.7), and f(k), where lanes are states; with finish, the columns too.
template <bool finish, class S, class Touch>
__attribute__((noinline)) void composites(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                          Touch& touch) {
  constexpr int s = stride<S>;
  const S O(0);
  const Spatial<S> none{{O, O, O}, {O, O, O}};
  Composite<S> carried{};
  for (int k = tree.bodies; k >= 1; --k) {
    touch(8);
    const BodyIndex& b = tree.index[k];
    Composite<S> at = read_composite<s>(y_of(m, k) + s * motion::h);
    if (b.has_carry) at += carried;
    if (b.has_sides) at += read_composite<1>(m.side + composite_count * k);
    const int end = m.index[k].end;
    for (int c = b.v; c < end; ++c) {
      S* const to = column_of(m, c);
      if constexpr (finish) {
        const Inertia<S> R{S(m.mass[c]), at.h, at.J};
        write(to + column::XB, result_column(to, R, at.r, b.inboard == 0 ? none : at.f));
      } else {
        write_composite<s>(at, to + s * column::h);
        if (b.inboard == 0) write(to + s * column::f, none);  // only what is inboard feels how f turns
      }
    }
    if (b.inboard != 0 && end > b.v + 1) own_forces(m, b.v, end, at.f);
    if (b.handover == Handover::first || b.handover == Handover::add) {
      S* const sum = m.side + composite_count * b.inboard;
      if (b.handover == Handover::add) at += read_composite<1>(sum);
      write_composite<1>(at, sum);
    }
    carried = at;
  }
}
/// The same for one state: 27 numbers are too many to be carried in registers, and what body k + 1 hands over is in its
/// column already.
template <class S>
__attribute__((noinline)) void composites_by_columns(const Tree<Real<S>>& tree,
                                                     const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  const S O(0);
  const auto each = [](auto&& one) __attribute__((always_inline)) {
#pragma GCC unroll 27
    for (int i = 0; i < composite_count; ++i) one(i);
  };
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const own = y_of(m, k) + s * motion::h;
    S* const to = column_of(m, b.v) + s * column::h;
    if (b.has_carry) {
      const S* const carried = column_of(m, tree.index[k + 1].v) + s * column::h;
      each([&](int i) __attribute__((always_inline)) { to[s * i] = own[s * i] + carried[s * i]; });
    } else {
      each([&](int i) __attribute__((always_inline)) { to[s * i] = own[s * i]; });
    }
    if (b.has_sides) {
      const S* const side = m.side + composite_count * k;
      each([&](int i) __attribute__((always_inline)) { to[s * i] = to[s * i] + side[i]; });
    }
    S* const sum = m.side + composite_count * b.inboard;
    if (b.handover == Handover::first)
      each([&](int i) __attribute__((always_inline)) { sum[i] = to[s * i]; });
    else if (b.handover == Handover::add)
      each([&](int i) __attribute__((always_inline)) { sum[i] = sum[i] + to[s * i]; });
    if (b.inboard == 0)  // only what is inboard feels how f turns
      write(column_of(m, b.v) + s * column::f, Spatial<S>{{O, O, O}, {O, O, O}});
    const int end = m.index[k].end;
    for (int c = b.v + 1; c < end; ++c) {
      S* const copy = column_of(m, c) + s * column::h;
      each([&](int i) __attribute__((always_inline)) { copy[s * i] = to[s * i]; });
    }
    if (b.inboard != 0 && end > b.v + 1)
      own_forces(m, b.v, end, read<Spatial>(column_of(m, b.v) + s * column::f));
  }
}

/// The composite Ring of external forces held in world axes.
template <class S>
ARTICULA_INLINE void turning_composites(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                        const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  const S O(0);
  const Ring<S> none{{O, O, O, O, O, O, O, O, O}, {O, O, O}};
  for (int k = 0; k < tree.slots(); ++k) {
    const Ring<S> r = k == 0 ? none : held_in_world(external, k, read<Vec3>(y_of(m, k) + s * motion::o));
    scatter<1>(r.N, m.side + 12 * k), scatter<1>(r.F, m.side + 12 * k + 9);
  }
  for (int k = tree.bodies; k >= 1; --k) {
    const Ring<S> r{gather<1, Mat3<S>>(m.side + 12 * k), gather<1, Vec3<S>>(m.side + 12 * k + 9)};
    for (int c = tree.index[k].v; c < m.index[k].end; ++c) {
      write(column_of(m, c) + s * column::Wn, r.N);
      write(column_of(m, c) + s * column::Wf, r.F);
    }
    S* const sum = m.side + 12 * tree.index[k].inboard;
    scatter<1>(gather<1, Mat3<S>>(sum) + r.N, sum);
    scatter<1>(gather<1, Vec3<S>>(sum + 9) + r.F, sum + 9);
  }
}

/// The columns of all velocities.
template <bool turning, class S>
ARTICULA_INLINE void result_columns(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m) {
  using W = Wide<S>;
  constexpr int s = stride<S>;
  for (int c = 0; c < tree.nv; c += wide_bodies<S>) {
    S* const at = column_of(m, c);
    Inertia<W> R;
    if constexpr (wide_bodies<S> == 1)
      R.m = W(m.mass[c]);
    else
      R.m = W::load(m.mass + c);
    R.mp = read_wide<Vec3>(at + s * column::h);
    R.J = read_wide<Sym3>(at + s * column::J);
    const Ring<W> r{read_wide<Mat3>(at + s * column::N), read_wide<Vec3>(at + s * column::F)};
    auto XB = result_column(at, R, r, read_wide<Spatial>(at + s * column::f));
    if constexpr (turning) {
      const auto Hs = read_wide<Spatial>(at + s * column::Hs);
      const Ring<W> w{read_wide<Mat3>(at + s * column::Wn), read_wide<Vec3>(at + s * column::Wf)};
      XB += times_angular(w, Hs.w);
      write_wide(at + s * column::Xw, star_times(w, Hs));
    }
    write_wide(at + s * column::XB, XB);
  }
}

/// x with the lanes kept whose bit is set.
template <class T, int N>
ARTICULA_INLINE Pack<T, N> kept(const Pack<T, N>& x, unsigned bits) {
  using Mask = typename Pack<T, N>::Mask;
  using I = std::remove_cvref_t<decltype(Mask{}[0])>;
  Mask bit;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) bit[i] = I(1) << i;
  const Mask keep = ((bit & I(bits)) != 0);
  return Pack<T, N>((typename Pack<T, N>::Lanes)((Mask)x.x & keep));
}
/// Sum of x[i] times component i of a register of columns, in two chains.
template <int N, class S>
ARTICULA_INLINE Wide<S> product(const S* column, const S* x) {
  constexpr int s = stride<S>;
  const auto at = [&](int i) __attribute__((always_inline)) { return read_wide<One>(column + s * i); };
  Wide<S> first = at(0) * x[0], second = at(1) * x[1];
#pragma GCC unroll 6
  for (int i = 2; i < N; i += 2) {
    first = first + at(i) * x[i];
    if (i + 1 < N) second = second + at(i + 1) * x[i + 1];
  }
  return first + second;
}

template <class S>
struct ResultRows {
  S *M, *dq, *dv;  // M may be null
};
/// One row of each matrix, a register of columns at a time; the last may reach behind the row's end.
template <bool turning, class S>
ARTICULA_INLINE void result_row(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m, int k, int i,
                                const ResultRows<S>& row) {
  using W = Wide<S>;
  constexpr int s = stride<S>, wide = wide_bodies<S>;
  constexpr unsigned all = (1u << wide) - 1;
  const auto numbers = [&](int component, auto& x) __attribute__((always_inline)) {
    const S* const at = column_of(m, i) + s * component;
#pragma GCC unroll 6
    for (int c = 0; c < int(sizeof(x) / sizeof(S)); ++c) x[c] = at[s * c];
  };
  S h[6], x[6], xr[3], xw[3];
  numbers(column::Hs, h), numbers(column::X, x), numbers(column::Xr, xr);
  if constexpr (turning) numbers(column::Xw, xw);
  const ColumnIndex& index = m.index[k];
  for (int c = 0; c < tree.nv; c += wide) {
    const unsigned outboard = unsigned(index.outboard[c / block]) >> c % block & all;
    const unsigned inboard = unsigned(index.inboard[c / block]) >> c % block & all;
    const S* const at = column_of(m, c);
    W M(Real<S>(0)), dq = M, dv = M;
    if (outboard) {
      M = product<6>(at + s * column::X, h);
      dv = product<6>(at + s * column::XA, h);
      dq = product<6>(at + s * column::XB, h);
      if (outboard != all) M = kept(M, outboard), dv = kept(dv, outboard), dq = kept(dq, outboard);
    }
    if (inboard) {
      W M_in = product<6>(at + s * column::Hs, x);
      W dv_in = product<6>(at + s * column::Sd, x) + product<3>(at + s * column::Hs, xr);
      W dq_in = product<6>(at + s * column::Pdd, x) + product<3>(at + s * column::Pd, xr);
      if constexpr (turning) dq_in = dq_in + product<3>(at + s * column::Hs, xw);
      if (inboard != all)
        M_in = kept(M_in, inboard), dv_in = kept(dv_in, inboard), dq_in = kept(dq_in, inboard);
      M = M + M_in, dv = dv + dv_in, dq = dq + dq_in;
    }
    if (row.M) write_lanes(row.M + c, M);
    write_lanes(row.dq + c, dq);
    write_lanes(row.dv + c, dv);
  }
  if (index.end == tree.index[k].v + 1 || tree.index[k].inboard == 0) return;
  for (int c = tree.index[k].v; c < index.end; ++c)  // a joint's own force does not turn with it
    row.dq[c] = row.dq[c] - m.own[6 * i + c - tree.index[k].v];
}

/// Row by row, a register of columns at a time.
template <bool turning, class S>
ARTICULA_INLINE void result_rows(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m, S* M, S* dq,
                                 S* dv) {
  const int nv = tree.nv;
  const long length = padded(nv);
  // A row's last store reaches into the next row, which is stored after it; the last rows are made in m.row.
  for (int k = 1; k < tree.slots(); ++k) {
    for (int i = tree.index[k].v; i < m.index[k].end; ++i) {
      const long start = long(i) * nv;
      if (start + length <= long(nv) * nv) {
        result_row<turning>(tree, m, k, i, ResultRows<S>{M ? M + start : M, dq + start, dv + start});
      } else {
        result_row<turning>(tree, m, k, i, ResultRows<S>{m.row, m.row + length, m.row + 2 * length});
        for (int c = 0; c < nv; ++c) {
          if (M) M[start + c] = m.row[c];
          dq[start + c] = m.row[length + c];
          dv[start + c] = m.row[2 * length + c];
        }
      }
      if (M) M[start + i] = M[start + i] + tree.armature[i];
      if (m.damping) dv[start + i] = dv[start + i] + m.damping[i];
    }
  }
}
/// Where lanes are states: velocity c with each that supports it, whose numbers are read once for both
/// triangles, and zeros elsewhere. Matrix: S*, or what is indexed like it.
template <bool turning, class S, class Matrix, class Touch>
__attribute__((noinline)) void result_pairs(const Tree<Real<S>>& tree, const LinearizationMemory<S>& m,
                                            Matrix M, Matrix dq, Matrix dv, Touch& touch) {
  const S O(0);
  const long nv = tree.nv;
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const int end = m.index[k].end;
    for (int c = b.v; c < end; ++c) {
      const S* const at = column_of(m, c);
      const auto X = read<Spatial>(at + column::X), XA = read<Spatial>(at + column::XA),
                 XB = read<Spatial>(at + column::XB);
      const auto Xr = read<Vec3>(at + column::Xr);
      const auto zero = [&](long from, long to) __attribute__((always_inline)) {
        for (long i = from; i < to; ++i) {
          if (M) M[c * nv + i] = O;
          dq[c * nv + i] = O, dv[c * nv + i] = O;
        }
      };
      zero(b.v_end, nv);
      for (int i = b.v; i < end; ++i) {  // the joint's own: its force does not turn with it
        const auto Hs = read<Spatial>(column_of(m, i) + column::Hs);
        if (M) M[i * nv + c] = i == c ? dot(Hs, X) + tree.armature[c] : dot(Hs, X);
        S by_q = dot(Hs, XB);
        if (end > b.v + 1 && b.inboard != 0) by_q = by_q - m.own[6 * i + c - b.v];
        dq[i * nv + c] = by_q, dv[i * nv + c] = dot(Hs, XA);
      }
      if (m.damping) dv[c * nv + c] = dv[c * nv + c] + m.damping[c];
      long below = b.v;  // columns from here on are done
      for (int p = b.inboard; p != 0; p = tree.index[p].inboard) {
        zero(m.index[p].end, below);
        below = tree.index[p].v;
        for (int i = tree.index[p].v; i < m.index[p].end; ++i) {
          touch(3);
          const S* const in = column_of(m, i);
          const auto Hs = read<Spatial>(in + column::Hs);
          if (M) {
            const S x = dot(Hs, X);
            M[i * nv + c] = x, M[c * nv + i] = x;
          }
          dv[i * nv + c] = dot(Hs, XA);
          dq[i * nv + c] = dot(Hs, XB);
          dv[c * nv + i] = dot(read<Spatial>(in + column::Sd), X) + dot(Hs.w, Xr);
          S by_q = dot(read<Spatial>(in + column::Pdd), X) + dot(read<Vec3>(in + column::Pd), Xr);
          if constexpr (turning) by_q = by_q + dot(Hs.w, read<Vec3>(at + column::Xw));
          dq[c * nv + i] = by_q;
        }
      }
      zero(0, below);
    }
  }
}

/// Axes and inertias must be in m.k.x (place_bodies). M may be null. Row-major, full coordinates.
template <bool turning, class S, class Matrix, class Touch>
__attribute__((noinline)) void inverse_matrices(const Tree<Real<S>>& tree, const S* v, const S* a,
                                                const ExternalForces<S>& external,
                                                const LinearizationMemory<S>& m, Matrix M, Matrix dq,
                                                Matrix dv, Touch& touch) {
  constexpr bool lanes_are_states = wide_bodies<S> == 1;
  motion_at_reference(tree, v, a, m, touch);
  wrenches_at_reference(tree, external, m);
  if constexpr (lanes_are_states)
    composites<!turning>(tree, m, touch);
  else
    composites_by_columns(tree, m);
  if constexpr (turning) turning_composites(tree, external, m);
  if constexpr (turning || !lanes_are_states) result_columns<turning>(tree, m);
  if constexpr (lanes_are_states)
    result_pairs<turning>(tree, m, M, dq, dv, touch);
  else
    result_rows<turning>(tree, m, M, dq, dv);
}
template <class S, class Matrix, class Touch>
ARTICULA_INLINE void inverse_matrices(const Tree<Real<S>>& tree, const S* v, const S* a,
                                      const ExternalForces<S>& external, const LinearizationMemory<S>& m,
                                      Matrix M, Matrix dq, Matrix dv, Touch touch) {
  if (external.turning())
    inverse_matrices<true>(tree, v, a, external, m, M, dq, dv, touch);
  else
    inverse_matrices<false>(tree, v, a, external, m, M, dq, dv, touch);
}

template <class S>
void linearized_inverse(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a,
                        const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* M, S* dq,
                        S* dv) {
  place_bodies(tree, q, m.k.x);
  inverse_matrices(tree, v, a, external, m, M, dq, dv, NoTouch{});
}

}  // namespace articula::ARTICULA_ISA
