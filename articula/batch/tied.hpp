// Mechanisms with mimic joints, in lanes: in the model's own velocities the mass matrix is Gamma* M Gamma and
// bias forces are Gamma* (C v + g), v_full = Gamma v. Small and dense as such mechanisms are, a Cholesky
// factor of that matrix serves all their states alike, also where joints would have nothing to move were they
// not tied. Only for articula/batch/*.cpp.
#pragma once

#include "articula/batch/data.hpp"
#include "articula/kernels/tables.hpp"

namespace articula::batching {

/// Where the factor of Gamma* M Gamma is left; w.full_out[0] is scratch.
template <class S>
S* tied_factor(Worker<S>& w) {
  return numbers(w.full_out[2]);
}

/// The factor at q, in lanes and own coordinates; leaves q in full ones in w.full[0].
template <class D, class S>
void factor_tied(const D& d, Worker<S>& w, const S* q, S* smallest) {
  const std::size_t nv = d.model.nv();
  S* const full_q = numbers(w.full[0]);
  d.expand(Numbers::coordinates, q, full_q);
  d.table->mass_matrix(w.tree, full_q, w.m, numbers(w.full_out[0]));
  d.reduce(Numbers::matrix, nv * nv, numbers(w.full_out[0]), tied_factor(w));
  d.set->rollout->factor(nv, tied_factor(w), smallest);
}

/// a = M^-1 (tau - C v - g), arrays in lanes and own coordinates; tau, wrenches null: none.
/// With mimic joints, leaves q and v in full coordinates in w.full[0] and [1], and the factor.
template <class D, class S>
void accelerate(const D& d, Worker<S>& w, const S* q, const S* v, const S* tau, S* a, S* smallest,
                const S* wrenches = nullptr) {
  const std::size_t size = static_cast<std::size_t>(d.model.nv()) * d.table->lanes;
  if (!d.model.has_mimics()) {
    if (!tau) {
      std::fill_n(numbers(w.scratch[1]), size, S(0));
      tau = numbers(w.scratch[1]);
    }
    d.table->forward_dynamics(w.tree, q, v, tau, wrenches, w.m, a, smallest);
    return;
  }
  factor_tied(d, w, q, smallest);
  S *const full_v = numbers(w.full[1]), *const bias = numbers(w.full[2]), *const own = numbers(w.full[3]);
  d.expand(Numbers::velocities, v, full_v);
  d.table->inverse_dynamics(w.tree, numbers(w.full[0]), full_v, nullptr, wrenches, w.m, bias);
  d.reduce(Numbers::forces, d.model.nv(), bias, own);
  for (std::size_t i = 0; i < size; ++i) a[i] = (tau ? tau[i] : S(0)) - own[i];
  d.set->rollout->solve(d.model.nv(), tied_factor(w), 1, a);
}

/// The unit matrix in lanes.
template <class D, class S>
void put_identity(const D& d, S* matrix) {
  const std::size_t nv = d.model.nv(), lanes = d.table->lanes;
  std::fill_n(matrix, nv * nv * lanes, S(0));
  for (std::size_t i = 0; i < nv; ++i) std::fill_n(matrix + i * (nv + 1) * lanes, lanes, S(1));
}

/// Room for three full matrices per worker.
template <class D>
void make_tied_room(D& d) {
  const typename D::Output matrix = d.matrix("", {});
  d.make_room({matrix, matrix, matrix});
}

template <class S, class D>
void tied_forward_dynamics(D& d, std::span<const S> q, std::span<const S> v, std::span<const S> tau,
                           std::span<S> a, std::span<const S> wrenches) {
  make_tied_room(d);
  d.call("forward_dynamics",
         {d.own(d.q(q)), d.own(d.v("v", v)), d.own(d.v("tau", tau)), d.wrenches(wrenches)},
         {d.other("a", a, d.model.nv())}, [&](auto& w, const S* const* in, S* const* out) {
           accelerate(d, w, in[0], in[1], in[2], out[0], w.smallest, wrenches.empty() ? nullptr : in[3]);
         });
}

template <class S, class D>
void tied_inverse_mass_matrix(D& d, std::span<const S> q, std::span<S> matrix) {
  make_tied_room(d);
  const std::size_t nv = d.model.nv();
  d.call("inverse_mass_matrix", {d.own(d.q(q))}, {d.other("matrix", matrix, nv * nv)},
         [&](auto& w, const S* const* in, S* const* out) {
           factor_tied(d, w, in[0], w.smallest);
           put_identity(d, out[0]);
           d.set->rollout->solve(nv, tied_factor(w), nv, out[0]);
         });
}

/// da = M^-1 (dtau - dT), dT what dq and dv ask of the joint forces at the acceleration that tau gives.
template <class S, class D>
void tied_linearized_forward(D& d, std::span<const S> q, std::span<const S> v, std::span<const S> tau,
                             std::span<S> dq, std::span<S> dv, std::span<S> dtau) {
  make_tied_room(d);
  d.prepare_linearization();
  const std::size_t nv = d.model.nv(), size = nv * nv * d.table->lanes;
  d.call("linearized_forward", {d.own(d.q(q)), d.own(d.v("v", v)), d.own(d.v("tau", tau))},
         {d.other("dq", dq, nv * nv), d.other("dv", dv, nv * nv), d.other("dtau", dtau, nv * nv)},
         [&](auto& w, const S* const* in, S* const* out) {
           S *const a = numbers(w.scratch[0]), *const full_a = numbers(w.full[3]);
           accelerate(d, w, in[0], in[1], in[2], a, w.smallest);
           d.expand(Numbers::velocities, a, full_a);
           S* const full[] = {numbers(w.full_out[0]), numbers(w.full_out[1])};
           d.table->linearized_inverse(w.tree, numbers(w.full[0]), numbers(w.full[1]), full_a, w.lin, full[0],
                                       full[1], nullptr, {});
           for (int i = 0; i < 2; ++i) {
             d.reduce(Numbers::matrix, nv * nv, full[i], out[i]);
             for (std::size_t c = 0; c < size; ++c) out[i][c] = -out[i][c];
           }
           put_identity(d, out[2]);
           for (int i = 0; i < 3; ++i) d.set->rollout->solve(nv, tied_factor(w), nv, out[i]);
         });
}

template <class S, class D>
void tied_perturbed_forward(D& d, std::span<const S> q, std::span<const S> v, std::span<const S> tau,
                            std::span<const S> dq, std::span<const S> dv, std::span<const S> dtau,
                            std::span<S> da) {
  make_tied_room(d);
  d.prepare_linearization();
  const std::size_t nv = d.model.nv(), size = nv * d.table->lanes;
  d.call("perturbed_forward",
         {d.own(d.q(q)), d.own(d.v("v", v)), d.own(d.v("tau", tau)), d.own(d.v("dq", dq)),
          d.own(d.v("dv", dv)), d.own(d.v("dtau", dtau))},
         {d.other("da", da, nv)}, [&](auto& w, const S* const* in, S* const* out) {
           S* const a = numbers(w.scratch[0]);
           accelerate(d, w, in[0], in[1], in[2], a, w.smallest);
           S *const full_dq = numbers(w.full[2]), *const full_dv = numbers(w.full[3]),
                    *const full_a = numbers(w.full[4]), *const full_dT = numbers(w.full[5]);
           d.expand(Numbers::velocities, in[3], full_dq);
           d.expand(Numbers::velocities, in[4], full_dv);
           d.expand(Numbers::velocities, a, full_a);
           d.table->perturbed_inverse(w.tree, numbers(w.full[0]), numbers(w.full[1]), full_a, full_dq,
                                      full_dv, nullptr, w.lin, full_dT);
           d.reduce(Numbers::forces, nv, full_dT, out[0]);
           for (std::size_t i = 0; i < size; ++i) out[0][i] = in[5][i] - out[0][i];
           d.set->rollout->solve(nv, tied_factor(w), 1, out[0]);
         });
}

}  // namespace articula::batching
