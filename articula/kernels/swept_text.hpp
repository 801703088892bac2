// Operational-space control in as few sweeps as the tick before allows (OSC 4.2, 5; docs/operational_space.md).
// Link axes, as in the paper: phi(k+1,k) then needs the joint's own coordinate only, and a tick can begin at the
// tips.
//
//   outward   V, a, b, and f_p = M alpha_p + b, alpha_p what the posture wants                     (OSC 46-48)
//   inward    P, D, G,   T_p = H phi f_p,   eps = T_p - H z,   z = psi (P a + b + K T_p)            (OSC 37, 66)
//   outward   Omega (OSC 58), alpha_0 = what T_p alone accelerates (OSC 67, 73), and the pose; then
//
//               F = Lambda (u - beta_0'),   beta_0' = alpha_0 at the frame                          (OSC 4)
//
//   inward    T = T_p + H phi B F                                                                  (OSC 39)
//
// Four sweeps. The first one's results may be those of the tick before, since the third finds a and b on its way:
// three sweeps. F too, as the second passes all that the fourth does: two.
#pragma once

#include "articula/kernels/omega_text.hpp"

namespace articula::ARTICULA_ISA {

/// A body in its own axes, at O_k.
template <class S>
struct SweptBody {
  Inertia<S> M;
  bool on_way = false;  // between the frame and the world
  Mat3<S> X;            // its axes in the inboard body's
  Vec3<S> l;            // from O_k+1, in the inboard body's axes
  Spatial<S> V, a, alpha_p, alpha_0;
  ArticulatedInertia<S> Omega;
  Mat3<S> R;  // in the world
  Vec3<S> p;
  // The body's own, M, b, f_p, as an outward sweep leaves them, perhaps of the tick before; then with what the outboard
  // bodies hand over.
  ArticulatedInertia<S> P;
  Spatial<S> z, T_p;
  Spatial<S> F;  // of the frame
};
template <class S>
struct Swept {
  SweptBody<S>* body;  // by slot; the world: at rest, alpha = (0, -g), Omega zero
  Spatial<S>* G;       // by velocity
  S *inv_D, *nu;       // by velocity: 6, 1
  const S* posture;    // by velocity: the accelerations that the posture wants
};

template <class S>
ARTICULA_INLINE Spatial<S> turned(const Mat3<S>& X, const Spatial<S>& x) {
  return {X * x.w, X * x.v};
}
template <class S>
ARTICULA_INLINE ArticulatedInertia<S> turned(const Mat3<S>& X, const ArticulatedInertia<S>& P) {
  const Mat3<S> back = star(X);
  return {symmetric(X * (P.J * back)), X * (P.B * back), symmetric(X * (P.C * back))};
}
/// phi* x, in the axes of body k.
template <class S>
ARTICULA_INLINE Spatial<S> from_inboard(const SweptBody<S>& k, const Spatial<S>& x) {
  return turned(star(k.X), star(Phi<S>{k.l}) * x);
}
/// phi f, in the axes of its inboard body.
template <class S>
ARTICULA_INLINE Spatial<S> to_inboard(const SweptBody<S>& k, const Spatial<S>& f) {
  return Phi<S>{k.l} * turned(k.X, f);
}

/// The sweeps that begin a tick place the joints.
template <class S>
ARTICULA_INLINE void place_joint(const Tree<Real<S>>& tree, int k, const S* q, SweptBody<S>& at) {
  const BodyIndex& b = tree.index[k];
  const auto* const c = tree.constants_of(k);
  const SinCos<S> turn =
      tree.angle[k] < 0 ? SinCos<S>{S(0), S(1)} : sincos(q[tree.angle[k]] + tree.offset[k]);
  at.X = axes_of_joint<S>(c, b.alignment != Alignment::any, turn);
  at.l = gather<block, Vec3<S>>(c + block * constant::l);
  if (b.kind != HingeKind::revolute) place_special(tree, k, q, at.X, at.l);
}

/// V, a, and what the next inward sweep begins with, of a body from its inboard one.
template <class J, class S>
ARTICULA_INLINE void velocity_terms(const HingeMap<J, S>& H, const S* v, const S* posture,
                                    const SweptBody<S>& inboard, SweptBody<S>& at) {
  const Spatial<S> V = from_inboard(at, inboard.V), dV = star_times(H, v);
  const Vec3<S> w = V.w + dV.w, l = star_times(at.X, at.l);
  at.V = V + dV;
  at.a = {cross(V.w, dV.w), cross(V.w, cross(V.w, l)) + cross(V.w + w, dV.v)};
  at.alpha_p = from_inboard(at, inboard.alpha_p) + star_times(H, posture) + at.a;
  at.P = articulated(at.M);
  at.z = {cross(w, at.M.J * w), cross(w, cross(w, at.M.mp))};  // b
  at.T_p = at.M * at.alpha_p + at.z;                           // f_p
}

/// The first sweep (`solved` false, which places the joints) or the third.
template <bool solved, class S>
void sweep_out(const Tree<Real<S>>& tree, const S* q, const S* v, const Swept<S>& m) {
  const Mat3<S> own = Mat3<S>::identity();
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const SweptBody<S>& inboard = m.body[b.inboard];
    SweptBody<S>& at = m.body[k];
    if constexpr (!solved) place_joint(tree, k, q, at);
    visit(b.kind, [&](auto j) {
      using J = decltype(j);
      const HingeMap<J, S> H{own, tree.pitch[k]};
      velocity_terms(H, v + b.v, m.posture + b.v, inboard, at);
      if (!solved || !at.on_way) return;
      at.R = inboard.R * at.X;
      at.p = inboard.p + inboard.R * at.l;
      const Spatial<S> alpha = from_inboard(at, inboard.alpha_0);
      Spatial<S> G[J::nv];
      S rate[J::nv];
      for (int i = 0; i < J::nv; ++i) {
        G[i] = m.G[b.v + i];
        rate[i] = m.nu[b.v + i] - dot(G[i], alpha);
      }
      at.alpha_0 = alpha + star_times(H, rate) + at.a;
      at.Omega = turned(star(at.X), shifted_outward(Phi<S>{at.l}, inboard.Omega));
      add_joint<J>(H, m.inv_D + 6 * b.v, G, at.Omega);
    });
  }
}

/// P, D, G and nu at a joint, and T_p; what its inboard body gets of them.
template <class J, class S>
ARTICULA_INLINE S articulate_joint(const Tree<Real<S>>& tree, int k, const HingeMap<J, S>& H,
                                   const Swept<S>& m, S* tau) {
  constexpr int N = J::nv;
  const BodyIndex& b = tree.index[k];
  SweptBody<S>&at = m.body[k], &inboard = m.body[b.inboard];
  Spatial<S> U[N], G[N];
  S D[N][N], e[N];
  for_each_index<N>([&](auto i) {
    const auto h = H.template row<i.value>();
    U[i.value] = at.P * h;
    for (int c = 0; c <= i.value; ++c) D[i.value][c] = dot(h, U[c]);
    const S armature = tree.armature[b.v + i.value];
    D[i.value][i.value] = D[i.value][i.value] + armature;
    tau[b.v + i.value] = dot(h, at.T_p) + armature * m.posture[b.v + i.value];
    e[i.value] = tau[b.v + i.value] - dot(h, at.z);
  });
  SmallFactor<S, N> factor;
  const S smallest = factor.factor(D);
  solve_columns(factor, U, G);
  for (int i = 0; i < N; ++i) {
    subtract_rank_one(at.P, G[i], U[i]);
    at.z += G[i] * e[i];
    m.G[b.v + i] = G[i];
    for (int c = 0; c < i; ++c) m.inv_D[6 * (b.v + i) + c] = factor.L[i][c];
    m.inv_D[6 * (b.v + i) + i] = factor.inv_d[i];
  }
  factor.solve(e);
  for (int i = 0; i < N; ++i) m.nu[b.v + i] = e[i];
  if (b.inboard == 0) return smallest;
  inboard.P += shifted(Phi<S>{at.l}, turned(at.X, at.P));
  inboard.z += to_inboard(at, at.z);
  inboard.T_p += to_inboard(at, at.T_p);
  return smallest;
}

/// T += H phi B F at a body on the way, whose F its inboard one gets.
template <class S>
ARTICULA_INLINE void pass_force(const Tree<Real<S>>& tree, int k, const Swept<S>& m, S* tau) {
  const BodyIndex& b = tree.index[k];
  const SweptBody<S>& at = m.body[k];
  visit(b.kind, [&](auto j) {
    using J = decltype(j);
    S more[J::nv];
    times(HingeMap<J, S>{Mat3<S>::identity(), tree.pitch[k]}, at.F, more);
    for (int i = 0; i < J::nv; ++i) tau[b.v + i] = tau[b.v + i] + more[i];
  });
  m.body[b.inboard].F = to_inboard(at, at.F);
}

/// The second sweep. `begins`: the first one was left out; `with_force`: it does the fourth one's work, with the F of
/// the frame's body as it is. Returns the smallest pivot of all D.
template <bool begins, bool with_force, class S>
S sweep_in(const Tree<Real<S>>& tree, const S* q, const Swept<S>& m, S* tau) {
  const Mat3<S> own = Mat3<S>::identity();
  S smallest(1e30);
  for (int k = tree.bodies; k >= 1; --k) {
    SweptBody<S>& at = m.body[k];
    if constexpr (begins) place_joint(tree, k, q, at);
    at.z += at.P * at.a;
    visit(tree.index[k].kind, [&](auto j) {
      const HingeMap<decltype(j), S> H{own, tree.pitch[k]};
      smallest = smaller(smallest, articulate_joint(tree, k, H, m, tau));
    });
    if constexpr (with_force)
      if (at.on_way) pass_force(tree, k, m, tau);
  }
  return smallest;
}
/// The fourth sweep.
template <class S>
void sweep_force(const Tree<Real<S>>& tree, int tip, const Swept<S>& m, S* tau) {
  for (int k = tip; k != 0; k = tree.index[k].inboard) pass_force(tree, k, m, tau);
}

}  // namespace articula::ARTICULA_ISA
