// C(th, nu) by DIAG's own recursion for (42), as its section 6 prints it, for joints with one freedom; what is used is
// coriolis_of_nu (diagonal_text.hpp), by (46). docs/math.md 8:
//
//   X = Od P                 lambda(k) = psi(k,k-1) lambda(k-1) psi*(k,k-1) + X + X*
//   y(k) = psi(k,k-1) [y(k-1) + lambda(k-1) V(k-1)] + 2 b + (X* - X) V(k) - lambda(k) psi*(k+1,k) V(k+1)
//   C(th, nu)(k) = D^-1/2 H y / 2
#pragma once

#include "articula/kernels/diagonal_text.hpp"

namespace articula::ARTICULA_ISA {

/// With V as rates_and_xi left it, and P+, G, D and their roots of the configuration. Bodies on the world have neither
/// X, for H Od = 0 and Od* V = 0 there, nor V(k+1).
template <class S>
void coriolis_of_nu_printed(const Tree<Real<S>>& tree, const S* theta_dot, const S* wrenches,
                            const DiagonalMemory<S>& m, S* C) {
  constexpr int s = stride<S>;
  const auto half = Real<S>(0.5);
  ArticulatedInertia<S> carried_lambda{};
  Spatial<S> carried_y{};
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    const S* xk = slot(m.k.x, k, int(body::count));
    const auto V = gather<1, Spatial<S>>(m.V + 6 * k);
    const auto mp = read<Vec3>(xk + s * body::mp);
    const Vec3<S> c = cross(V.w, V.v) - tree.gravity;  // b as in coriolis_of_xi
    Spatial<S> y{cross(V.w, read<Sym3>(xk + s * body::J) * V.w) + cross(mp, c),
                 c * tree.constants_of(k)[block * constant::m] + cross(V.w, cross(V.w, mp))};
    if (wrenches) y -= gather<1, Spatial<S>>(wrenches + 6 * (k - 1));
    y += y;
    const bool tip = !b.has_carry && !b.has_sides;
    ArticulatedInertia<S> lambda{};
    if (b.has_carry) {
      lambda = carried_lambda;
      y += carried_y;
    }
    if (b.has_sides) {
      const auto sum = gather<1, ArticulatedInertia<S>>(m.k.side + side_count * k);
      if (b.has_carry)
        lambda += sum;
      else
        lambda = sum;
      y += gather<1, Spatial<S>>(m.k.side + side_count * k + 21);
    }
    const auto R = read<Mat3>(xk + s * body::R);
    const Phi<S> phi{read<Vec3>(xk + s * body::l)};
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          using J = decltype(j);
          if constexpr (J::nv == 1) {
            const HingeMap<J, S> H{R, tree.pitch[k]};
            const auto h = H.template row<0>();
            Spatial<S> G{};
            if (b.handover != Handover::none) {
              G = gather<1, Spatial<S>>(m.G + 6 * b.v);
              auto P = gather<1, ArticulatedInertia<S>>(m.P_plus + 21 * k);
              subtract_rank_one(P, G, G * -m.k.D[6 * b.v]);  // P = P+ + G D G*
              const Spatial<S> joint = star_times(H, theta_dot + b.v);
              if (tip)
                lambda = joint_rate<J>(joint, P);
              else
                lambda += joint_rate<J>(joint, P);
              y -= P * cross_motion(joint, V) + cross_force(joint, P * V);  // (X* - X) V
              Spatial<S> inboard = V - joint;                               // V+, then tau_bar* V+
              add(inboard, h, -dot(G, inboard));
              y -= lambda * inboard;
            }
            const S Hy = dot(h, y);
            C[b.v] = Hy * half * m.inv_root[b.v];
            if (b.handover == Handover::none) return;
            y += lambda * V;  // to be carried by psi = phi tau_bar
            carried_y = phi * (y - G * dot(h, y));
            Spatial<S> W = lambda * h;  // tau_bar lambda tau_bar* = lambda - W G* - G W* + G (H lambda H*) G*
            W -= G * (dot(h, W) * half);
            subtract_both(lambda, W, G);
            carried_lambda = shifted(phi, lambda);
          }
        });
    if (b.handover == Handover::none || b.handover == Handover::carry) continue;
    S* const sum = m.k.side + side_count * b.inboard;
    if (b.handover == Handover::add) {
      carried_lambda += gather<1, ArticulatedInertia<S>>(sum);
      carried_y += gather<1, Spatial<S>>(sum + 21);
    }
    scatter<1>(carried_lambda, sum);
    scatter<1>(carried_y, sum + 21);
  }
}

}  // namespace articula::ARTICULA_ISA
