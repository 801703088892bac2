// LIN Algorithms 1 and 5 and their adjoints: perturbations of joint forces and of joint accelerations in
// O(n).
//
// LIN refers everything to one inertial point, where phi = Id. Its quantities are spatial tensors, so each
// body's may as well be referred to its own O_k and carried by phi: the numbers stay local on long chains,
// and H stays sparse. Joints with several freedoms: docs/math.md 7. With x = H* dq, y = H* dv, z = H* da of
// joint k and V+, alpha+ the inboard body's velocity and acceleration at O_k:
//
//   (1) gam(k)  = phi* gam(k+1) + y + V+ x x                                               perturbs V
//   (2) beta(k) = phi* beta(k+1) + z + (V+ + V) x y + alpha+ x x + V+ x (V+ x x)           perturbs alpha
//   (3) eta(k)  = M beta + 2 Mr gam + sum over outboard bodies of phi (eta + x x* f)       perturbs f
//   (4) dT      = H eta
//
// Of gam only the angular part is needed, since Mr has three zero columns.
//
// For Algorithm 5 the unknown da is left out of (2), and the sweep (3) is that of the factored mass matrix:
//
//   (5) e = dT - H eta,  what is handed over is phi (eta + x x* f) + K e
//   (6) da = [Id - H psi K]* D^-1 e
//
// Adjoint, for weights w on T with W(k) = phi* W(k+1) + H* w:
//
//   (7) b(k) = M W + sum of phi b
//   (8) g(k) = 2 Mr* W + sum of g                                                  angular; the rest is zero
//   (9) by a: H b
//       by v: H [g - (V+ + V) x* b]
//       by q: H [V+ x* (V+ x* b) - alpha+ x* b - V+ x* g - W+ x* f]
#pragma once

#include <type_traits>

#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/ring_text.hpp"

namespace articula::ARTICULA_ISA {

/// Axes, origins and inertias of all bodies at O_k.
template <class S>
ARTICULA_INLINE void place_bodies(const Tree<Real<S>>& tree, const S* q, S* x) {
  move_bodies_and_inertias<Upto::positions, false>(tree, q, static_cast<const S*>(nullptr), x);
}

template <class H>
struct KindOf;
template <class J, class S>
struct KindOf<HingeMap<J, S>> {
  using type = J;
};

/// The inboard body's motion at O_k; for a joint with one freedom also its rate Pd = V+ x H*.
template <class S, class Rate>
struct InboardMotion {
  Spatial<S> V, alpha;
  Rate Pd;
};
struct NoRate {};

/// V and alpha of every body at O_k. step is called for each joint on the way, so that other outward
/// recursions can go along.
template <bool keep_motion = true, class S, class Step>
ARTICULA_INLINE void move_spatially(const Tree<Real<S>>& tree, const S* v, const S* a,
                                    const LinearizationMemory<S>& m, Step&& step) {
  constexpr int s = stride<S>;
  const S O(0);
  const Spatial<S> zero{{O, O, O}, {O, O, O}};
  S* const y0 = y_of(m, 0);
  Spatial<S> V = zero, alpha{{O, O, O}, {S(-tree.gravity.x), S(-tree.gravity.y), S(-tree.gravity.z)}};
  write(y0 + s * motion::V, V);
  write(y0 + s * motion::alpha, alpha);
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    S* const yk = y_of(m, k);
    if (b.inboard != k - 1) {
      const S* const yp = y_of(m, b.inboard);
      V = read<Spatial>(yp + s * motion::V);
      alpha = read<Spatial>(yp + s * motion::alpha);
    }
    const auto axes = read<Mat3>(xk + s * body::R);
    const PhiStar<S> phi_star{read<Vec3>(xk + s * body::l)};
    const Spatial<S> V_in = phi_star * V, alpha_in = phi_star * alpha;
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{axes, tree.pitch[k]};
          if constexpr (J::nv == 1) {
            const auto h = unit_motion(H);
            const auto Pd = cross_motion(V_in, h);
            V = V_in + h * v[b.v];
            alpha = alpha_in + Pd * v[b.v] + h * a[b.v];
            step(k, b, H, phi_star, InboardMotion<S, decltype(Pd)>{V_in, alpha_in, Pd}, V, alpha, yk);
          } else {
            const auto xv = joint_motion(H, v + b.v);
            V = V_in + xv;
            alpha = alpha_in + cross_motion(V_in, xv) + joint_motion(H, a + b.v);
            step(k, b, H, phi_star, InboardMotion<S, NoRate>{V_in, alpha_in, {}}, V, alpha, yk);
          }
        });
    if (!keep_motion && !b.has_sides) continue;
    write(yk + s * motion::V, V);
    write(yk + s * motion::alpha, alpha);
  }
}

/// tr(J) / 2 about O_k: a constant of the body.
template <class S>
ARTICULA_INLINE Wide<S> half_trace_wide(const Tree<Real<S>>& tree, int k) {
  const auto* const c = tree.constants_of(k);
  return Wide<S>(constants_wide<S, One>(c + block * constant::lambda) +
                 constants_wide<S, One>(c + block * constant::sigma));
}
template <class S>
ARTICULA_INLINE Inertia<Wide<S>> inertia_wide(const Tree<Real<S>>& tree, const S* xk, int k) {
  constexpr int s = stride<S>;
  return {Wide<S>(constants_wide<S, One>(tree.constants_of(k) + block * constant::m)),
          read_wide<Vec3>(xk + s * body::mp), read_wide<Sym3>(xk + s * body::J)};
}

/// Takes external forces from f, and adds what the turn of world-held ones makes of eta.
template <class S>
ARTICULA_INLINE void apply_external(const Tree<Real<S>>& tree, const ExternalForces<S>& external,
                                    const LinearizationMemory<S>& m, bool perturbed) {
  constexpr int s = stride<S>;
  if (!external.any()) return;
  for (int k = 1; k < tree.slots(); ++k) {
    S* const yk = y_of(m, k);
    write(yk + s * motion::f, read<Spatial>(yk + s * motion::f) - all_wrenches_of(external, k));
    if (!perturbed || !external.turning()) continue;
    const Spatial<S> w = wrench_of(external, k);
    const auto turn = read<Vec3>(yk + s * motion::turn);
    Spatial<S> more = cross_force(Turn<S>{turn}, w);
    if (external.levers) more.w += lever_of(external, k) * turn;
    write(yk + s * motion::eta, read<Spatial>(yk + s * motion::eta) + more);
  }
}

/// (1), (2) and the bodies' own part of (3). da null: left out.
template <class S>
ARTICULA_INLINE void perturb_outward(const Tree<Real<S>>& tree, const S* v, const S* a, const S* dq,
                                     const S* dv, const S* da, const ExternalForces<S>& external,
                                     const LinearizationMemory<S>& m) {
  constexpr int s = stride<S>;
  const S O(0);
  Spatial<S> beta{{O, O, O}, {O, O, O}};
  Vec3<S> gam{O, O, O}, turn = gam;
  S* const y0 = y_of(m, 0);
  write(y0 + s * motion::gam, gam);
  write(y0 + s * motion::beta, beta);
  write(y0 + s * motion::turn, turn);
  move_spatially(
      tree, v, a, m,
      [&](int k, const BodyIndex& b, const auto& H, const PhiStar<S>& phi_star, const auto& in,
          const Spatial<S>& V, const Spatial<S>&, S* yk) __attribute__((always_inline)) {
        using J = typename KindOf<std::remove_cvref_t<decltype(H)>>::type;
        if (b.inboard != k - 1) {
          const S* const yp = y_of(m, b.inboard);
          gam = read<Vec3>(yp + s * motion::gam);
          beta = read<Spatial>(yp + s * motion::beta);
          if (external.turning()) turn = read<Vec3>(yp + s * motion::turn);
        }
        beta = phi_star * beta;
        // With u = V+ x x + 2 y, twice (1) adds u + V+ x x, and (2) adds V+ x u and, with several freedoms,
        // (V - V+) x y.
        const auto apply = [&](const auto& x, const auto& Vx, const auto& u) __attribute__((always_inline)) {
          gam = gam + (angular(u) + angular(Vx));
          beta = beta + cross_motion(in.alpha, x) + cross_motion(in.V, u);
          if (external.turning()) turn += angular(x);
          if constexpr (turns_only<J>) write(yk + s * (motion::gam + 3), x.h);
        };
        if constexpr (J::nv == 1) {
          const auto h = unit_motion(H);
          const auto Vx = in.Pd * dq[b.v];
          apply(h * dq[b.v], Vx, Vx + h * (dv[b.v] + dv[b.v]));
          if (da) beta = beta + h * da[b.v];
        } else {
          const auto x = joint_motion(H, dq + b.v), y = joint_motion(H, dv + b.v);
          const auto Vx = cross_motion(in.V, x);
          apply(x, Vx, Vx + y + y);
          beta = beta + cross_motion(V - in.V, y);
          if (da) beta = beta + joint_motion(H, da + b.v);
        }
        write(yk + s * motion::gam, gam);
        write(yk + s * motion::beta, beta);
        if (external.turning()) write(yk + s * motion::turn, turn);
      });
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    S* const yk = y_of(m, k);
    const auto M = inertia_wide(tree, slot(m.k.x, k, int(body::count)), k);
    const auto V = read_wide<Spatial>(yk + s * motion::V);
    const auto r = ring(M, half_trace_wide<S>(tree, k), V);
    write_wide(yk + s * motion::f, body_force(M, r, V, read_wide<Spatial>(yk + s * motion::alpha)));
    write_wide(yk + s * motion::eta, M * read_wide<Spatial>(yk + s * motion::beta) +
                                         times_angular(r, read_wide<Vec3>(yk + s * motion::gam)));
  }
  apply_external(tree, external, m, true);
}

/// (3) inward, then (4); for Algorithm 5 (forward): (5), with dtau = dT, leaving D^-1 e in nu.
template <bool forward, class S>
ARTICULA_INLINE void perturb_inward(const Tree<Real<S>>& tree, const S* dq, const S* dtau,
                                    const LinearizationMemory<S>& m, S* out) {
  constexpr int s = stride<S>;
  const S O(0);
  const Spatial<S> zero{{O, O, O}, {O, O, O}};
  Spatial<S> f_carried = zero, eta_carried = zero;
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    const S* const yk = y_of(m, k);
    Spatial<S> f = read<Spatial>(yk + s * motion::f), eta = read<Spatial>(yk + s * motion::eta);
    if (b.has_carry) f += f_carried, eta += eta_carried;
    if (b.has_sides)
      f += gather<1, Spatial<S>>(m.side + 12 * k), eta += gather<1, Spatial<S>>(m.side + 12 * k + 6);
    const auto axes = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          const HingeMap<J, S> H{axes, tree.pitch[k]};
          S T[J::nv];
          times(H, eta, T);
          if constexpr (forward) {
#pragma GCC unroll 6
            for (int i = 0; i < J::nv; ++i) T[i] = dtau[b.v + i] - T[i];
          }
          if (b.handover != Handover::none) {
            f_carried = phi * f;
            if constexpr (turns_only<J>)
              eta_carried = phi * (eta + cross_force(Turn<S>{read<Vec3>(yk + s * (motion::gam + 3))}, f));
            else
              eta_carried = phi * (eta + cross_force(joint_motion(H, dq + b.v), f));
            if constexpr (forward) {
#pragma GCC unroll 6
              for (int i = 0; i < J::nv; ++i)
                eta_carried += gather<1, Spatial<S>>(m.k.K + 6 * (b.v + i)) * T[i];
            }
          }
          if constexpr (forward) {
            solve_D<J>(m.k.inv_D + 6 * b.v, T);
            for (int i = 0; i < J::nv; ++i) m.k.nu[b.v + i] = T[i];
          } else {
            for (int i = 0; i < J::nv; ++i) out[b.v + i] = T[i];
          }
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.side + 12 * b.inboard;
    if (b.handover == Handover::add)
      f_carried += gather<1, Spatial<S>>(sum), eta_carried += gather<1, Spatial<S>>(sum + 6);
    scatter<1>(f_carried, sum);
    scatter<1>(eta_carried, sum + 6);
  }
}

/// Algorithm 1. da null: zero.
template <class S>
void perturbed_inverse(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a, const S* dq,
                       const S* dv, const S* da, const ExternalForces<S>& external,
                       const LinearizationMemory<S>& m, S* dtau) {
  place_bodies(tree, q, m.k.x);
  perturb_outward(tree, v, a, dq, dv, da, external, m);
  perturb_inward<false>(tree, dq, static_cast<const S*>(nullptr), m, dtau);
  if (da)
    for (int i = 0; i < tree.nv; ++i) dtau[i] = dtau[i] + da[i] * tree.armature[i];
  if (m.damping)
    for (int i = 0; i < tree.nv; ++i) dtau[i] = dtau[i] + dv[i] * m.damping[i];
}

/// What articulate() does with each P(k) for those that have m.direct.
template <class S>
struct KeepP {
  const Tree<Real<S>>& tree;
  const LinearizationMemory<S>& m;
  ARTICULA_INLINE void operator()(int k, const ArticulatedInertia<S>& P) const {
    if (!m.direct) return;
    const int c = tree.index[k].v, end = wide_bodies<S> == 1 ? c + 1 : m.index[k].end;
    for (int i = c; i < end; ++i) write(slot(m.direct, i, int(direct::count)) + stride<S> * direct::P, P);
  }
};

/// Forward dynamics that leaves all that the linearizations need: axes, inertias, K, D, and P for those that
/// have m.direct. A call of its own, so that `a` can be corrected for mimic joints before the linearization.
/// Returns the smallest pivot.
template <class S>
S factored_forward(const Tree<Real<S>>& tree, const S* q, const S* v, const S* tau, const S* wrenches,
                   const LinearizationMemory<S>& m, S* a) {
  move_and_load_bodies<true, false>(tree, q, v, static_cast<const S*>(nullptr), m.k.x);
  subtract_wrenches(tree, wrenches, m.k.x);
  const S smallest = articulate<true, true>(tree, m.k, tau, KeepP<S>{tree, m});
  smooth(tree, m.k, a);
  return smallest;
}

/// Algorithm 5 at the accelerations `a` of factored_forward, called before at the same state. `right` is
/// scratch (nv).
template <class S>
void perturbed_forward(const Tree<Real<S>>& tree, const S* v, const S* a, const S* dq, const S* dv,
                       const S* dtau, const ExternalForces<S>& external, const LinearizationMemory<S>& m,
                       S* right, S* da) {
  perturb_outward(tree, v, a, dq, dv, static_cast<const S*>(nullptr), external, m);
  const S* T = dtau;
  if (m.damping) {
    for (int i = 0; i < tree.nv; ++i) right[i] = dtau[i] - dv[i] * m.damping[i];
    T = right;
  }
  perturb_inward<true>(tree, dq, T, m, da);
  smooth(tree, m.k, da);
}

/// The adjoint of Algorithm 1: by_q = (dT/dq)* w, and so on. Positions must be there (`placed`), or are made
/// from q.
template <class S>
void inverse_adjoint(const Tree<Real<S>>& tree, const S* q, const S* v, const S* a, const S* weights,
                     bool placed, const ExternalForces<S>& external, const LinearizationMemory<S>& m, S* by_q,
                     S* by_v, S* by_a) {
  constexpr int s = stride<S>;
  const S O(0);
  if (!placed) place_bodies(tree, q, m.k.x);
  Spatial<S> W{{O, O, O}, {O, O, O}};
  write(y_of(m, 0) + s * motion::gam, W);
  move_spatially(
      tree, v, a, m,
      [&](int k, const BodyIndex& b, const auto& H, const PhiStar<S>& phi_star, const auto&,
          const Spatial<S>&, const Spatial<S>&, S* yk) __attribute__((always_inline)) {
        if (b.inboard != k - 1) W = read<Spatial>(y_of(m, b.inboard) + s * motion::gam);
        W = phi_star * W + joint_motion(H, weights + b.v);
        write(yk + s * motion::gam, W);
      });
  for (int k = 0; k < tree.slots(); k += wide_bodies<S>) {
    S* const yk = y_of(m, k);
    const auto M = inertia_wide(tree, slot(m.k.x, k, int(body::count)), k);
    const auto V = read_wide<Spatial>(yk + s * motion::V), Wk = read_wide<Spatial>(yk + s * motion::gam);
    const auto r = ring(M, half_trace_wide<S>(tree, k), V);
    write_wide(yk + s * motion::f, body_force(M, r, V, read_wide<Spatial>(yk + s * motion::alpha)));
    write_wide(yk + s * motion::beta, M * Wk);
    write_wide(yk + s * motion::eta, twice(star_times(r, Wk)));
  }
  apply_external(tree, external, m, false);
  struct Sums {
    Spatial<S> f, b;
    Vec3<S> g, turning;  // turning: like g, for external forces held in world axes
  };
  Sums carried{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* const xk = slot(m.k.x, k, int(body::count));
    const S* const yk = y_of(m, k);
    Sums at{read<Spatial>(yk + s * motion::f),
            read<Spatial>(yk + s * motion::beta),
            read<Vec3>(yk + s * motion::eta),
            {O, O, O}};
    if (external.turning()) {
      const Spatial<S> w = wrench_of(external, k), Wk = read<Spatial>(yk + s * motion::gam);
      at.turning = cross(w.w, Wk.w) + cross(w.v, Wk.v);
      if (external.levers) at.turning += star_times(lever_of(external, k), Wk.w);
    }
    const auto add = [&](const Sums& more) __attribute__((always_inline)) {
      at.f += more.f, at.b += more.b, at.g += more.g, at.turning += more.turning;
    };
    S* const sides = m.side + 18 * k;
    if (b.has_carry) add(carried);
    if (b.has_sides)
      add({gather<1, Spatial<S>>(sides), gather<1, Spatial<S>>(sides + 6), gather<1, Vec3<S>>(sides + 12),
           gather<1, Vec3<S>>(sides + 15)});
    const auto axes = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    const S* const yp = y_of(m, b.inboard);
    const Spatial<S> V_in = star(phi) * read<Spatial>(yp + s * motion::V);
    const Spatial<S> alpha_in = star(phi) * read<Spatial>(yp + s * motion::alpha);
    const Spatial<S> W_in = star(phi) * read<Spatial>(yp + s * motion::gam);
    const Spatial<S> V = read<Spatial>(yk + s * motion::V);
    Spatial<S> on_v = -cross_force(V_in + V, at.b);
    on_v.w += at.g;
    Spatial<S> on_q =
        cross_force(V_in, cross_force(V_in, at.b)) - cross_force(alpha_in, at.b) - cross_force(W_in, at.f);
    on_q.w += at.turning - cross(V_in.w, at.g);
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          const HingeMap<decltype(j), S> H{axes, tree.pitch[k]};
          times(H, on_q, by_q + b.v);
          times(H, on_v, by_v + b.v);
          times(H, at.b, by_a + b.v);
        });
    if (b.handover == Handover::none) continue;
    carried = {phi * at.f, phi * at.b, at.g, at.turning};
    if (b.handover == Handover::carry) continue;
    S* const sum = m.side + 18 * b.inboard;
    if (b.handover == Handover::add) {
      carried.f += gather<1, Spatial<S>>(sum), carried.b += gather<1, Spatial<S>>(sum + 6);
      carried.g += gather<1, Vec3<S>>(sum + 12), carried.turning += gather<1, Vec3<S>>(sum + 15);
    }
    scatter<1>(carried.f, sum), scatter<1>(carried.b, sum + 6);
    scatter<1>(carried.g, sum + 12), scatter<1>(carried.turning, sum + 15);
  }
  for (int i = 0; i < tree.nv; ++i) {
    by_a[i] = by_a[i] + weights[i] * tree.armature[i];
    if (m.damping) by_v[i] = by_v[i] + weights[i] * m.damping[i];
  }
}

}  // namespace articula::ARTICULA_ISA
