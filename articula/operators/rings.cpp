// LIN's operators at a state: H*' and the ring quantities, each body's at its own joint origin. LIN has all of them at
// one inertial point, where phi = Id; they move from point to point as H* and M do.
#define ARTICULA_ISA operators_baseline
#include "articula/kernels/ring_text.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/operators/joints_at_state.hpp"
#include "articula/operators/operator_state.hpp"

namespace articula::operators {

namespace {
Spatial<double> column(const double* columns, int c) { return gather<1, Spatial<double>>(columns + 6 * c); }
}  // namespace

/// V = phi* H* th' (LIN 2.11), H*' = V x H* (2.12), M_ring (2.8), R_ring (3.7).
void OperatorState::compute_rates() {
  for (int k = 1; k < tree().slots(); ++k) {
    const BodyIndex& b = tree().index[k];
    with_hinge(tree(), m_, k, [&](const auto& H, auto j) {
      Spatial<double> V = star_times(H, full_v_ + b.v);
      if (b.inboard) V += articula::star(shift_to(m_, k)) * column(V_, b.inboard);
      scatter<1>(V, V_ + 6 * k);
      for_each_index<decltype(j)::nv>([&](auto i) {
        const Spatial<double> h = spatial(H.template row<i.value>());
        scatter<1>(cross_motion(V, h), H_dot_ + 6 * (b.v + i.value));
      });
      const Inertia<double> M = isa::body_inertia(tree(), static_cast<const double*>(m_.x), k);
      const isa::Ring<double> ring = isa::ring(M, (M.J.xx + M.J.yy + M.J.zz) / 2, V);
      const Vec3<double> units[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for (int c = 0; c < 3; ++c) scatter<1>(isa::times_angular(ring, units[c]), M_ring_ + 18 * k + 6 * c);
    });
  }
  std::copy_n(M_ring_, 18 * tree().slots(), R_ring_);
  for (int k = tree().slots() - 1; k > 0; --k) {
    double* const to = R_ring_ + 18 * tree().index[k].inboard;
    for (int c = 0; c < 3 && tree().index[k].inboard; ++c)
      scatter<1>(column(to, c) + shift_to(m_, k) * column(R_ring_ + 18 * k, c), to + 6 * c);
  }
}

/// alpha = phi* (H* th'' + H*' th' + E* a_g) and H*'' = alpha x H* + V x H*' (LIN 2.13); f = phi (M alpha + M_ring V),
/// and S[H*] f (3.1).
void OperatorState::compute_second_rates() {
  for (int k = 1; k < tree().slots(); ++k) {
    const BodyIndex& b = tree().index[k];
    with_hinge(tree(), m_, k, [&](const auto& H, auto j) {
      Spatial<double> alpha =
          articula::star(shift_to(m_, k)) * (b.inboard ? column(alpha_, b.inboard) : column(a_g_, 0));
      alpha += star_times(H, full_a_ + b.v);
      for (int i = 0; i < j.nv; ++i) alpha += column(H_dot_, b.v + i) * full_v_[b.v + i];
      scatter<1>(alpha, alpha_ + 6 * k);
      for_each_index<decltype(j)::nv>([&](auto i) {
        const Spatial<double> h = spatial(H.template row<i.value>());
        scatter<1>(cross_motion(alpha, h) + cross_motion(column(V_, k), column(H_dot_, b.v + i.value)),
                   H_ddot_ + 6 * (b.v + i.value));
      });
    });
  }
  double* const f_of = alpha_;  // in its place
  for (int k = 1; k < tree().slots(); ++k) {
    Spatial<double> f = isa::body_inertia(tree(), static_cast<const double*>(m_.x), k) * column(alpha_, k);
    for (int c = 0; c < 3; ++c) f += column(M_ring_ + 18 * k, c) * V_[6 * k + c];
    scatter<1>(f, f_of + 6 * k);
  }
  for (int k = tree().slots() - 1; k > 0; --k)
    if (const int to = tree().index[k].inboard)
      scatter<1>(column(f_of, to) + shift_to(m_, k) * column(f_of, k), f_of + 6 * to);
  for (int k = 1; k < tree().slots(); ++k)
    with_hinge(tree(), m_, k, [&](const auto& H, auto j) {
      for_each_index<decltype(j)::nv>([&](auto i) {
        scatter<1>(cross_force(spatial(H.template row<i.value>()), column(f_of, k)),
                   H_f_ + 6 * (tree().index[k].v + i.value));
      });
    });
}

/// P_ring = E_psi P_ring E_phi* + M_ring, G_ring = P_ring* H* D^-1 (LIN 4.12), J_ring (4.22). The columns that are not
/// zero do not see the phi* on their right.
void OperatorState::compute_rings() {
  std::copy_n(M_ring_, 18 * tree().slots(), P_ring_);
  for (int k = tree().slots() - 1; k > 0; --k) {
    const BodyIndex& b = tree().index[k];
    const double* const ring = P_ring_ + 18 * k;
    with_hinge(tree(), m_, k, [&](const auto& H, auto j) {
      constexpr int n = decltype(j)::nv;
      double* const gain = G_ring_ + 6 * b.v;
      std::fill_n(gain, 6 * n, 0.0);
      for (int c = 0; c < 3; ++c) {
        double along[n];
        times(H, column(ring, c), along);
        if (b.inboard) {
          Spatial<double> z = column(ring, c);
          for (int i = 0; i < n; ++i) z -= column(G_, b.v + i) * along[i];
          double* const to = P_ring_ + 18 * b.inboard + 6 * c;
          scatter<1>(column(to, 0) + shift_to(m_, k) * z, to);
        }
        isa::solve_D<decltype(j)>(m_.inv_D + 6 * b.v, along);
        for (int i = 0; i < n; ++i) gain[6 * i + c] = along[i];
      }
    });
  }
  for (int k = 1; k < tree().slots(); ++k) {
    const BodyIndex& b = tree().index[k];
    with_hinge(tree(), m_, k, [&](const auto& H, auto j) {
      for (int c = 0; c < 3; ++c) {  // tau_bar* (phi* J(k+1)) + H* G_ring*
        Spatial<double> z{};
        if (b.inboard) z = articula::star(shift_to(m_, k)) * column(J_ring_ + 18 * b.inboard, c);
        double along[decltype(j)::nv];
        for (int i = 0; i < j.nv; ++i) along[i] = G_ring_[6 * (b.v + i) + c] - dot(column(G_, b.v + i), z);
        scatter<1>(z + star_times(H, along), J_ring_ + 18 * k + 6 * c);
      }
    });
  }
}

}  // namespace articula::operators
