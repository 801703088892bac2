#include "articula/batch/diagonalized.hpp"

#include "articula/batch/data.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
struct DiagonalizedBatch<S>::Work {
  AlignedArray<Pack<S, most_lanes<S>>> arrays;
  DiagonalMemory<S> m;
};

template <class S>
DiagonalizedBatch<S>::DiagonalizedBatch(Batch<S>& batch) : batch_(&batch) {
  auto& d = *batch.data_;
  if (d.model.has_mimics())
    throw ArgumentError(fmt::format(
        "diagonalized dynamics: model '{}' has mimic joints, whose hinges share coordinates; the factor "
        "of the mass matrix needs one coordinate per hinge",
        d.model.name()));
  work_.resize(d.workers.size());
  for (std::size_t i = 0; i < work_.size(); ++i) {
    DiagonalMemory<Pack<S, most_lanes<S>>> m;
    work_[i].arrays = make_arrays(m, d.base());
    work_[i].m = retyped<S>(m);
    work_[i].m.k = d.workers[i].m;
  }
}
template <class S>
DiagonalizedBatch<S>::~DiagonalizedBatch() = default;
template <class S>
DiagonalizedBatch<S>::DiagonalizedBatch(DiagonalizedBatch&&) noexcept = default;

/// y = f(x) at q: f(memory, x, y), x in a place that it may change.
template <class S>
template <class F>
void DiagonalizedBatch<S>::map(const char* function, In<S> q, const char* name, In<S> x, Out<S> y,
                               const F& f) {
  auto& d = *batch_->data_;
  d.call_with_model_inertias(function, {d.q(q), d.v(name, x)}, {d.other("the result", y, d.model.nv())},
                             [&](auto& w, const S* const* in, S* const* out) {
                               const auto& m = work_[&w - d.workers.data()].m;
                               batch_->data_->set->diagonal->factor(d.base(), in[0], m, w.smallest);
                               S* const x = batching::numbers(w.in[1]);
                               if (in[1] != x) std::copy_n(in[1], d.model.nv() * d.table->lanes, x);
                               f(d.base(), m, x, out[0]);
                             });
}

template <class S>
void DiagonalizedBatch<S>::rates_to_xi(In<S> q, In<S> v, Out<S> xi) {
  map("rates_to_xi", q, "v", v, xi, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->rates_to_xi(tree, m, x, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::rates_to_nu(In<S> q, In<S> v, Out<S> nu) {
  map("rates_to_nu", q, "v", v, nu, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->rates_to_xi(tree, m, x, y);
    batch_->data_->set->diagonal->times_root_star(tree, m, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::xi_to_rates(In<S> q, In<S> xi, Out<S> v) {
  map("xi_to_rates", q, "xi", xi, v, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->xi_to_rates(tree, m, x, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::nu_to_rates(In<S> q, In<S> nu, Out<S> v) {
  map("nu_to_rates", q, "nu", nu, v, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->solve_root_star(tree, m, x);
    batch_->data_->set->diagonal->xi_to_rates(tree, m, x, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::forces_to_kappa(In<S> q, In<S> tau, Out<S> kappa) {
  map("forces_to_kappa", q, "tau", tau, kappa, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->forces_to_kappa(tree, m, x, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::forces_to_epsilon(In<S> q, In<S> tau, Out<S> epsilon) {
  map("forces_to_epsilon", q, "tau", tau, epsilon, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->forces_to_kappa(tree, m, x, y);
    batch_->data_->set->diagonal->solve_root(tree, m, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::kappa_to_forces(In<S> q, In<S> kappa, Out<S> tau) {
  map("kappa_to_forces", q, "kappa", kappa, tau, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->kappa_to_forces(tree, m, x, y);
  });
}
template <class S>
void DiagonalizedBatch<S>::epsilon_to_forces(In<S> q, In<S> epsilon, Out<S> tau) {
  map("epsilon_to_forces", q, "epsilon", epsilon, tau, [this](const auto& tree, const auto& m, S* x, S* y) {
    batch_->data_->set->diagonal->times_root(tree, m, x);
    batch_->data_->set->diagonal->kappa_to_forces(tree, m, x, y);
  });
}

namespace {
/// C(q, nu) or C(q, xi); x may be m.xi itself.
template <class S>
void coriolis_at(const DiagonalTable<S>& k, const Tree<S>& tree, const DiagonalMemory<S>& m, bool normalized,
                 const S* x, const S* wrenches, std::size_t lanes, S* C) {
  std::copy_n(x, tree.nv * lanes, m.xi);
  if (normalized) k.solve_root_star(tree, m, m.xi);
  k.xi_to_rates(tree, m, m.xi, m.theta_dot);
  k.coriolis_of_xi(tree, m.theta_dot, m.xi, wrenches, m, C);
  if (normalized) k.coriolis_of_nu(tree, m.xi, m, C);
}
/// From rows of six per velocity to nv x nv.
template <class S>
void block_diagonal(const Tree<S>& tree, const S* rows, std::size_t lanes, S* matrix) {
  const std::size_t nv = tree.nv;
  std::fill_n(matrix, nv * nv * lanes, S(0));
  for (int k = 1; k < tree.slots(); ++k) {
    const std::size_t v = tree.index[k].v, end = k < tree.bodies ? tree.index[k + 1].v : tree.nv;
    for (std::size_t i = v; i < end; ++i)
      for (std::size_t c = v; c <= i; ++c)
        for (std::size_t s = 0; s < lanes; ++s)
          matrix[(i * nv + c) * lanes + s] = matrix[(c * nv + i) * lanes + s] =
              rows[(6 * i + c - v) * lanes + s];
  }
}
}  // namespace

template <class S>
void DiagonalizedBatch<S>::coriolis(const char* function, bool normalized, In<S> q, In<S> x, Out<S> C,
                                    In<S> wrenches) {
  auto& d = *batch_->data_;
  d.call_with_model_inertias(function, {d.q(q), d.v(normalized ? "nu" : "xi", x), d.wrenches(wrenches)},
                             {d.other("C", C, d.model.nv())},
                             [&](auto& w, const S* const* in, S* const* out) {
                               const auto& m = work_[&w - d.workers.data()].m;
                               batch_->data_->set->diagonal->factor(d.base(), in[0], m, w.smallest);
                               coriolis_at(*d.set->diagonal, d.base(), m, normalized, in[1],
                                           wrenches.empty() ? nullptr : in[2], d.table->lanes, out[0]);
                             });
}
template <class S>
void DiagonalizedBatch<S>::coriolis_nu(In<S> q, In<S> nu, Out<S> C, In<S> wrenches) {
  coriolis("coriolis_nu", true, q, nu, C, wrenches);
}
template <class S>
void DiagonalizedBatch<S>::coriolis_xi(In<S> q, In<S> xi, Out<S> C, In<S> wrenches) {
  coriolis("coriolis_xi", false, q, xi, C, wrenches);
}

template <class S>
void DiagonalizedBatch<S>::D(In<S> q, Out<S> matrix) {
  auto& d = *batch_->data_;
  const std::size_t nv = d.model.nv();
  d.call_with_model_inertias("D", {d.q(q)}, {d.other("matrix", matrix, nv * nv)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               const auto& m = work_[&w - d.workers.data()].m;
                               batch_->data_->set->diagonal->factor(d.base(), in[0], m, w.smallest);
                               block_diagonal(d.base(), m.k.D, d.table->lanes, out[0]);
                             });
}

template <class S>
void DiagonalizedBatch<S>::terms(In<S> q, In<S> v, In<S> tau, const Terms& t, In<S> wrenches) {
  auto& d = *batch_->data_;
  const std::size_t nv = d.model.nv(), lanes = d.table->lanes;
  if (tau.empty() && !(t.epsilon.empty() && t.kappa.empty()))
    throw ArgumentError("terms: epsilon and kappa need tau, which is empty");
  auto forces = d.v("tau", tau);
  if (tau.empty()) forces.n = 0;
  d.call_with_model_inertias(
      "terms", {d.q(q), d.v("v", v), forces, d.wrenches(wrenches)},
      {d.if_wanted("nu", t.nu, nv), d.if_wanted("xi", t.xi, nv), d.if_wanted("epsilon", t.epsilon, nv),
       d.if_wanted("kappa", t.kappa, nv), d.if_wanted("coriolis_nu", t.coriolis_nu, nv),
       d.if_wanted("coriolis_xi", t.coriolis_xi, nv), d.if_wanted("D", t.D, nv * nv),
       d.if_wanted("D_dot", t.D_dot, nv * nv)},
      [&](auto& w, const S* const* in, S* const* out) {
        const auto& m = work_[&w - d.workers.data()].m;
        const auto& k = *batch_->data_->set->diagonal;
        const S* const external = wrenches.empty() ? nullptr : in[3];
        k.factor(d.base(), in[0], m, w.smallest);
        if (!t.nu.empty()) {
          k.rates_to_xi(d.base(), m, in[1], out[0]);
          k.times_root_star(d.base(), m, out[0]);
        }
        if (!t.xi.empty()) k.rates_to_xi(d.base(), m, in[1], out[1]);
        if (!t.epsilon.empty()) {
          k.forces_to_kappa(d.base(), m, in[2], out[2]);
          k.solve_root(d.base(), m, out[2]);
        }
        if (!t.kappa.empty()) k.forces_to_kappa(d.base(), m, in[2], out[3]);
        if (!t.coriolis_nu.empty() || !t.coriolis_xi.empty() || !t.D_dot.empty()) {
          S* const C = batching::numbers(w.scratch[0]);
          k.rates_to_xi(d.base(), m, in[1], m.xi);
          k.coriolis_of_xi(d.base(), in[1], m.xi, external, m, C);
          if (!t.coriolis_xi.empty()) std::copy_n(C, nv * lanes, out[5]);
          if (!t.coriolis_nu.empty()) {
            std::copy_n(C, nv * lanes, out[4]);
            k.coriolis_of_nu(d.base(), m.xi, m, out[4]);
          }
        }
        if (!t.D.empty()) block_diagonal(d.base(), m.k.D, lanes, out[6]);
        if (!t.D_dot.empty()) block_diagonal(d.base(), m.D_dot, lanes, out[7]);
      });
}

template <class S>
void DiagonalizedBatch<S>::motion(const char* function, bool normalized, In<S> q, In<S> x, In<S> tau,
                                  Out<S> rate, In<S> wrenches) {
  auto& d = *batch_->data_;
  const auto kernel =
      normalized ? batch_->data_->set->diagonal->nu_dot : batch_->data_->set->diagonal->xi_dot;
  d.call_with_model_inertias(
      function, {d.q(q), d.v(normalized ? "nu" : "xi", x), d.v("tau", tau), d.wrenches(wrenches)},
      {d.other("rate", rate, d.model.nv())}, [&](auto& w, const S* const* in, S* const* out) {
        kernel(d.base(), in[0], in[1], in[2], wrenches.empty() ? nullptr : in[3],
               work_[&w - d.workers.data()].m, out[0], w.smallest);
      });
}
template <class S>
void DiagonalizedBatch<S>::nu_dot(In<S> q, In<S> nu, In<S> tau, Out<S> rate, In<S> wrenches) {
  motion("nu_dot", true, q, nu, tau, rate, wrenches);
}
template <class S>
void DiagonalizedBatch<S>::xi_dot(In<S> q, In<S> xi, In<S> tau, Out<S> rate, In<S> wrenches) {
  motion("xi_dot", false, q, xi, tau, rate, wrenches);
}

template <class S>
void DiagonalizedBatch<S>::decoupled_rate_control(In<S> q, In<S> v, In<S> desired_nu, In<S> gains,
                                                  RateCompensation compensation, Out<S> tau) {
  auto& d = *batch_->data_;
  const std::size_t n = static_cast<std::size_t>(d.model.nv()) * d.table->lanes;
  d.call_with_model_inertias(
      "decoupled_rate_control", {d.q(q), d.v("v", v), d.v("desired_nu", desired_nu), d.v("gains", gains)},
      {d.other("tau", tau, d.model.nv())}, [&](auto& w, const S* const* in, S* const* out) {
        const auto& m = work_[&w - d.workers.data()].m;
        const auto& k = *batch_->data_->set->diagonal;
        S *const nu = batching::numbers(w.scratch[0]), *const eps = batching::numbers(w.scratch[1]);
        k.factor(d.base(), in[0], m, w.smallest);
        k.rates_to_xi(d.base(), m, in[1], nu);
        k.times_root_star(d.base(), m, nu);
        std::fill_n(out[0], n, S(0));  // at rest
        coriolis_at(*d.set->diagonal, d.base(), m, true, compensation == RateCompensation::all ? nu : out[0],
                    static_cast<const S*>(nullptr), d.table->lanes, eps);
        for (std::size_t i = 0; i < n; ++i) eps[i] += in[3][i] * (in[2][i] - nu[i]);
        k.times_root(d.base(), m, eps);
        k.kappa_to_forces(d.base(), m, eps, out[0]);
      });
}

template class DiagonalizedBatch<double>;
template class DiagonalizedBatch<float>;

}  // namespace articula
