#include "articula/linearization/linearized_forward.hpp"

#include <algorithm>
#include <cmath>

#define ARTICULA_ISA linearization_baseline
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/kernels/printed_forward_text.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
struct LinearizedForward<S>::Tied {
  explicit Tied(const Model& model)
      : dynamics(model), factor(model), forces(model.nv()), a(model.nv()), mu(model.nv()) {}
  ForwardDynamics<S> dynamics;
  MassFactor<S> factor;
  std::vector<S> forces, a, mu;
};

namespace text = linearization_baseline;

template <class S>
struct LinearizedForward<S>::Printed {
  explicit Printed(const Tree<S>& tree) : columns(tree.nv), bodies(tree.slots()) {}
  text::PrintedMemory<S> memory() { return {columns.data(), bodies.data()}; }
  std::vector<PrintedColumn<S>> columns;
  std::vector<PrintedBody<S, text::HalfMatrix<S>>> bodies;
};

template <class S>
LinearizedForward<S>::LinearizedForward(const Model& model)
    : LinearizationWorkspace<S>(
          model, {.side = true, .factor = true, .keep_D = true, .wide_solve = true, .composite = true},
          {.columns = true, .direct = true}),
      mimics_(model) {
  const std::size_t n = this->tree().nv;
  a_full_ = AlignedArray<S>(n);
  right_ = AlignedArray<S>(n);
  scratch_ = AlignedArray<S>(2 * n * n + 2 * block);
  tau_full_ = AlignedArray<S>(n);
  printed_ = std::make_unique<Printed>(this->tree());
  if (mimics_.count() == 0) return;
  full_ = AlignedArray<S>(3 * n * n);
  if (MassFactor<S>(model).needs_ties()) tied_ = std::make_unique<Tied>(model);
}
template <class S>
LinearizedForward<S>::~LinearizedForward() = default;
template <class S>
LinearizedForward<S>::LinearizedForward(LinearizedForward&&) noexcept = default;
template <class S>
LinearizedForward<S>& LinearizedForward<S>::operator=(LinearizedForward&&) noexcept = default;

template <class S>
ExternalForces<S> LinearizedForward<S>::start(const char* function, In<S> q, In<S> v, In<S> tau,
                                              const LinearizationOptions<S>& options) {
  this->check(function, "q", q.size(), this->model_.nq());
  this->check(function, "v", v.size(), this->model_.nv());
  this->check(function, "tau", tau.size(), this->model_.nv());
  const ExternalForces<S> external = this->external(function, options);
  const Tree<S>& tree = this->tree();
  q_at_ = this->full_q(q);
  v_at_ = this->full_v(v);
  if (tied_) {
    start_tied(q, v, tau, options);
    return external;
  }
  const S* forces = this->full_tau(tau);
  if (this->lin_.damping) {
    for (int i = 0; i < tree.nv; ++i) tau_full_[i] = forces[i] - this->lin_.damping[i] * v_at_[i];
    forces = tau_full_.data();
  }
  const S smallest = kernel_set().in<S>().linearization->factored_forward(
      tree, q_at_, v_at_, forces, external.wrenches, this->lin_, a_full_.data());
  if (!(smallest > 0)) throw_singular(this->model_, function, this->m_.inv_D);
  if (mimics_.count() == 0) return external;
  for (int row = 0; row < mimics_.count(); ++row) {
    mimics_.unit_force(row, right_.data());
    kernels<S>().solve(tree, this->m_, right_.data(), mimics_.response(row));
  }
  mimics_.factor(function);
  mimics_.apply(a_full_.data());
  return external;
}

template <class S>
void LinearizedForward<S>::start_tied(In<S> q, In<S> v, In<S> tau, const LinearizationOptions<S>& options) {
  const auto map = this->model_.full_velocities();
  std::copy(tau.begin(), tau.end(), tied_->forces.begin());
  if (this->lin_.damping)
    for (std::size_t i = 0; i < map.size(); ++i)
      tied_->forces[map[i].source] -= static_cast<S>(map[i].multiplier) * this->lin_.damping[i] * v_at_[i];
  forward_dynamics(tied_->dynamics, q, v, tied_->forces, tied_->a, options.wrenches);
  tied_->factor.factor(q);
  for (std::size_t i = 0; i < map.size(); ++i)
    a_full_[i] = static_cast<S>(map[i].multiplier) * tied_->a[map[i].source];
}

template <class S>
void LinearizedForward<S>::reduce_responses(S* full, bool by_tau, std::span<S> out) {
  const std::size_t n = this->tree().nv, nv = this->model_.nv();
  const auto map = this->model_.full_velocities();
  for (std::size_t c = 0; c < nv; ++c) {
    // The joint force tau(c) acts on the source alone; q(c) and v(c) move every joint that follows it.
    for (std::size_t i = 0; i < n; ++i) right_[i] = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (static_cast<std::size_t>(map[j].source) != c) continue;
      if (by_tau && static_cast<int>(j) != mimics_.full_index_of(static_cast<int>(c))) continue;
      const S factor = by_tau ? S(1) : static_cast<S>(map[j].multiplier);
      for (std::size_t i = 0; i < n; ++i) right_[i] += factor * full[i * n + j];
    }
    mimics_.apply(right_.data());
    for (std::size_t i = 0; i < nv; ++i) out[i * nv + c] = right_[mimics_.full_index_of(static_cast<int>(i))];
  }
}

template <class S>
void LinearizedForward<S>::matrices(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau,
                                    const LinearizationOptions<S>& options) {
  constexpr const char* name = "linearized_forward";
  this->check_square(name, "dq", dq.size());
  this->check_square(name, "dv", dv.size());
  this->check_square(name, "dtau", dtau.size());
  const ExternalForces<S> external = start(name, q, v, tau, options);
  const Tree<S>& tree = this->tree();
  const std::size_t square = static_cast<std::size_t>(tree.nv) * tree.nv;
  const bool mimics = mimics_.count() > 0;
  if (tied_) {
    S *const M = full_.data(), *const by_q = M + square, *const by_v = by_q + square;
    kernel_set().in<S>().linearization->linearized_inverse(tree, q_at_, v_at_, a_full_.data(), external,
                                                           this->lin_, M, by_q, by_v);
    const std::span<S> reduced(scratch_.data(), dq.size());
    const auto respond = [&](const S* full, std::span<S> out) {
      this->reduce_matrix(full, reduced);
      tied_->factor.solve_columns(reduced, out, this->model_.nv());
      for (S& x : out) x = -x;
    };
    respond(by_q, dq);
    respond(by_v, dv);
    tied_->factor.inverse(dtau);
    return;
  }
  S* const to[3] = {mimics ? full_.data() : dq.data(), mimics ? full_.data() + square : dv.data(),
                    mimics ? full_.data() + 2 * square : dtau.data()};
  // Algorithm 6 in the form used here was faster from one joint on, on every instruction set
  // (docs/linearization.md).
  if (options.method == Method::conventional)
    kernel_set().in<S>().linearization->conventional_forward(
        tree, v_at_, a_full_.data(), external, this->lin_, scratch_.data(), scratch_.data() + square + block,
        to[0], to[1], to[2]);
  else if (options.method == Method::numerical)
    text::numerical_forward(tree, q_at_, v_at_, static_cast<const S*>(a_full_.data()), external, this->lin_,
                            scratch_.data(), scratch_.data() + square + block, to[0], to[1], to[2]);
  else if (options.method == Method::printed)
    text::printed_direct_forward(tree, v_at_, static_cast<const S*>(a_full_.data()), external, this->lin_,
                                 printed_->memory(), to[0], to[1], to[2]);
  else
    kernel_set().in<S>().linearization->direct_forward(tree, v_at_, a_full_.data(), external, this->lin_,
                                                       to[0], to[1], to[2]);
  if (!mimics) return;
  reduce_responses(to[0], false, dq);
  reduce_responses(to[1], false, dv);
  reduce_responses(to[2], true, dtau);
}

template <class S>
void LinearizedForward<S>::perturb(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da,
                                   const LinearizationOptions<S>& options) {
  constexpr const char* name = "perturbed_forward";
  const std::size_t nv = this->model_.nv();
  this->check(name, "dq", dq.size(), nv);
  this->check(name, "dv", dv.size(), nv);
  this->check(name, "dtau", dtau.size(), nv);
  this->check(name, "da", da.size(), nv);
  const ExternalForces<S> external = start(name, q, v, tau, options);
  const Tree<S>& tree = this->tree();
  const S* const dq_full = this->full_velocity(0, dq);
  const S* const dv_full = this->full_velocity(1, dv);
  if (options.method == Method::conventional || options.method == Method::numerical || tied_) {
    kernel_set().in<S>().linearization->perturbed_inverse(
        tree, q_at_, v_at_, a_full_.data(), dq_full, dv_full, nullptr, external, this->lin_, right_.data());
    perturb_conventionally(dtau, da);
    return;
  }
  const S* const dtau_full = this->full_tau(dtau);
  S* const to = this->full_result(da);
  kernel_set().in<S>().linearization->perturbed_forward(tree, v_at_, a_full_.data(), dq_full, dv_full,
                                                        dtau_full, external, this->lin_, right_.data(), to);
  if (mimics_.count() == 0) return;
  mimics_.apply(to);
  mimics_.take_own(to, da);
}

/// Algorithm 3's other steps: M da = dtau - (what dq and dv alone need), by a Cholesky factor of M.
template <class S>
void LinearizedForward<S>::perturb_conventionally(In<S> dtau, Out<S> da) {
  const std::size_t n = this->tree().nv, nv = this->model_.nv();
  S* const M_full = scratch_.data();
  S* const other = M_full + n * n;
  kernels<S>().mass_matrix(this->tree(), q_at_, this->m_, M_full);
  S* M = M_full;
  if (mimics_.count() > 0) {
    M = other;
    this->reduce_matrix(M_full, std::span<S>(M, nv * nv));
    this->reduce(right_.data(), da);
    for (std::size_t i = 0; i < nv; ++i) da[i] = dtau[i] - da[i];
  } else {
    for (std::size_t i = 0; i < nv; ++i) da[i] = dtau[i] - right_[i];
  }
  for (std::size_t j = 0; j < nv; ++j) {
    for (std::size_t i = j; i < nv; ++i) {
      S sum = M[i * nv + j];
      for (std::size_t k = 0; k < j; ++k) sum -= M[i * nv + k] * M[j * nv + k];
      M[i * nv + j] = i == j ? std::sqrt(sum) : sum / M[j * nv + j];
    }
  }
  for (std::size_t i = 0; i < nv; ++i) {
    for (std::size_t k = 0; k < i; ++k) da[i] -= M[i * nv + k] * da[k];
    da[i] /= M[i * nv + i];
  }
  for (std::size_t i = nv; i-- > 0;) {
    for (std::size_t k = i + 1; k < nv; ++k) da[i] -= M[k * nv + i] * da[k];
    da[i] /= M[i * nv + i];
  }
}

template <class S>
void LinearizedForward<S>::gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v,
                                    Out<S> by_tau, const LinearizationOptions<S>& options) {
  constexpr const char* name = "forward_gradient";
  const std::size_t nv = this->model_.nv(), n = this->tree().nv;
  this->check(name, "weights", weights.size(), nv);
  this->check(name, "by_q", by_q.size(), nv);
  this->check(name, "by_v", by_v.size(), nv);
  this->check(name, "by_tau", by_tau.size(), nv);
  const ExternalForces<S> external = start(name, q, v, tau, options);
  // w . da = (M^-1 w) . (dtau - what dq and dv need): one solve, then the adjoint of Algorithm 1, M being
  // symmetric.
  S* const mu = this->full_result(by_tau);
  const bool mimics = mimics_.count() > 0;
  if (tied_) {
    tied_->factor.solve(weights, tied_->mu);
    const auto map = this->model_.full_velocities();
    for (std::size_t i = 0; i < n; ++i) mu[i] = static_cast<S>(map[i].multiplier) * tied_->mu[map[i].source];
    std::copy(tied_->mu.begin(), tied_->mu.end(), by_tau.begin());
  } else {
    kernels<S>().solve(this->tree(), this->m_, this->full_tau(weights), mu);
  }
  if (mimics && !tied_) {
    mimics_.apply(mu);
    mimics_.take_own(mu, by_tau);
  }
  S* const q_out = mimics ? full_.data() : by_q.data();
  S* const v_out = mimics ? full_.data() + n : by_v.data();
  kernel_set().in<S>().linearization->inverse_adjoint(this->tree(), q_at_, v_at_, a_full_.data(), mu, !tied_,
                                                      external, this->lin_, q_out, v_out, right_.data());
  if (mimics) {
    this->reduce(q_out, by_q);
    this->reduce(v_out, by_v);
  }
  for (std::size_t i = 0; i < nv; ++i) by_q[i] = -by_q[i], by_v[i] = -by_v[i];
}

template <class S>
void LinearizedForward<S>::acceleration(Out<S> a) const {
  this->check("acceleration", "a", a.size(), this->model_.nv());
  if (mimics_.count() > 0)
    mimics_.take_own(a_full_.data(), a);
  else
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a_full_[i];
}

template class LinearizedForward<double>;
template class LinearizedForward<float>;

}  // namespace articula
