#include "articula/batch/data.hpp"
#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/batch/tied.hpp"

namespace articula {

using batching::numbers;

void throw_failed_state(const char* function, std::size_t state, bool finite) {
  constexpr const char* rest = "its results are NaN, all other states are done";
  if (!finite)
    throw NotFiniteError(
        fmt::format("{}: the arguments of state {} are not finite numbers; {}", function, state, rest),
        state);
  throw SingularError(
      fmt::format("{}: in state {} some joint has nothing to move, or its numbers are not finite; {}",
                  function, state, rest));
}
void throw_singular_state(const char* function, std::size_t state) {
  throw_failed_state(function, state, true);
}
void throw_failed_step(const char* function, std::size_t state, std::size_t step, bool finite) {
  constexpr const char* rest = "it is NaN from there on, all other states are done";
  if (!finite)
    throw NotFiniteError(fmt::format("{}: state {} ends at step {}: its arguments are not finite numbers; {}",
                                     function, state, step, rest),
                         state);
  throw SingularError(fmt::format(
      "{}: state {} ends at step {}: some joint has nothing to move, or its numbers are not finite; {}",
      function, state, step, rest));
}

template <class S>
Batch<S>::Batch(const Model& model, const BatchOptions& options)
    : data_(std::make_unique<Data>(model, options)) {}
template <class S>
Batch<S>::~Batch() = default;
template <class S>
Batch<S>::Batch(Batch&&) noexcept = default;
template <class S>
Batch<S>& Batch<S>::operator=(Batch&&) noexcept = default;
template <class S>
const Model& Batch<S>::model() const {
  return data_->model;
}
template <class S>
int Batch<S>::lanes() const {
  return data_->table->lanes;
}

template <class S>
void Batch<S>::inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches) {
  Data& d = *data_;
  constexpr const char* name = "inverse_dynamics";
  const std::initializer_list<typename Data::Input> from{d.q(q), d.v("v", v), d.v("a", a),
                                                         d.wrenches(wrenches)};
  if (d.one_by_one(q))
    return d.call_one_by_one(name, from, {d.forces("tau", tau)},
                             [](OneState<S>& one, const auto* in, const auto* out) {
                               one.inverse_dynamics(in[0], in[1], in[2], out[0], in[3]);
                             });
  d.call(name, from, {d.forces("tau", tau)}, [&](auto& w, const S* const* in, S* const* out) {
    d.table->inverse_dynamics(w.tree, in[0], in[1], in[2], wrenches.empty() ? nullptr : in[3], w.m, out[0]);
  });
}
template <class S>
void Batch<S>::bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches) {
  Data& d = *data_;
  constexpr const char* name = "bias_forces";
  const std::initializer_list<typename Data::Input> from{d.q(q), d.v("v", v), d.wrenches(wrenches)};
  if (d.one_by_one(q))
    return d.call_one_by_one(name, from, {d.forces("tau", tau)},
                             [](OneState<S>& one, const auto* in, const auto* out) {
                               one.bias_forces(in[0], in[1], out[0], in[2]);
                             });
  d.call(name, from, {d.forces("tau", tau)}, [&](auto& w, const S* const* in, S* const* out) {
    d.table->inverse_dynamics(w.tree, in[0], in[1], nullptr, wrenches.empty() ? nullptr : in[2], w.m, out[0]);
  });
}
template <class S>
void Batch<S>::gravity_forces(In<S> q, Out<S> tau) {
  Data& d = *data_;
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "gravity_forces", {d.q(q)}, {d.forces("tau", tau)},
        [](OneState<S>& one, const auto* in, const auto* out) { one.gravity_forces(in[0], out[0]); });
  d.call("gravity_forces", {d.q(q)}, {d.forces("tau", tau)}, [&](auto& w, const S* const* in, S* const* out) {
    d.table->inverse_dynamics(w.tree, in[0], nullptr, nullptr, nullptr, w.m, out[0]);
  });
}
template <class S>
void Batch<S>::forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches) {
  Data& d = *data_;
  const std::initializer_list<typename Data::Input> from{d.q(q), d.v("v", v), d.v("tau", tau),
                                                         d.wrenches(wrenches)};
  const std::initializer_list<typename Data::Output> to{d.other("a", a, d.model.nv())};
  if (d.one_by_one(q) || (d.model.has_mimics() && d.matrices_one_by_one(q))) {
    d.call_one_by_one("forward_dynamics", from, to, [](OneState<S>& one, const auto* in, const auto* out) {
      one.forward_dynamics(in[0], in[1], in[2], out[0], in[3]);
    });
    return;
  }
  if (d.model.has_mimics()) return batching::tied_forward_dynamics(d, q, v, tau, a, wrenches);
  d.call("forward_dynamics", from, to, [&](auto& w, const S* const* in, S* const* out) {
    d.table->forward_dynamics(w.tree, in[0], in[1], in[2], wrenches.empty() ? nullptr : in[3], w.m, out[0],
                              w.smallest);
  });
}
template <class S>
void Batch<S>::mass_matrix(In<S> q, Out<S> matrix) {
  Data& d = *data_;
  if (d.matrices_one_by_one(q)) {
    const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
    d.call_one_by_one(
        "mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
        [](OneState<S>& one, const auto* in, const auto* out) { one.mass_matrix(in[0], out[0]); });
    return;
  }
  d.call(
      "mass_matrix", {d.q(q)}, {d.matrix("matrix", matrix)},
      [&](auto& w, const S* const* in, S* const* out) { d.table->mass_matrix(w.tree, in[0], w.m, out[0]); });
}
template <class S>
void Batch<S>::inverse_mass_matrix(In<S> q, Out<S> matrix) {
  Data& d = *data_;
  const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
  if (d.matrices_one_by_one(q)) {
    d.call_one_by_one(
        "inverse_mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
        [](OneState<S>& one, const auto* in, const auto* out) { one.inverse_mass_matrix(in[0], out[0]); });
    return;
  }
  if (d.model.has_mimics()) return batching::tied_inverse_mass_matrix(d, q, matrix);
  d.call("inverse_mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table->inverse_mass_matrix(w.tree, in[0], w.m, out[0], w.smallest);
         });
}
template <class S>
void Batch<S>::operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega, Out<S> lambda,
                                 Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar, Out<S> rank) {
  Data& d = *data_;
  if (!d.space || !std::ranges::equal(frames, d.frames_of_space)) {
    d.space = std::make_unique<OperationalSpaceBatch<S>>(*this, frames);
    d.frames_of_space.assign(frames.begin(), frames.end());
  }
  d.space->batch_ = this;  // a batch can be moved
  d.space->terms(q, v,
                 {.omega = omega,
                  .lambda = lambda,
                  .coriolis = coriolis,
                  .gravity = gravity,
                  .jacobian_bar = jacobian_bar,
                  .rank = rank});
}
template <class S>
void Batch<S>::diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu,
                            Out<S> xi, Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches) {
  Data& d = *data_;
  if (!d.diagonalized) d.diagonalized = std::make_unique<DiagonalizedBatch<S>>(*this);
  d.diagonalized->batch_ = this;
  d.diagonalized->terms(q, v, tau,
                        {.nu = nu,
                         .xi = xi,
                         .epsilon = epsilon,
                         .kappa = kappa,
                         .coriolis_nu = coriolis_nu,
                         .coriolis_xi = coriolis_xi,
                         .D = D},
                        wrenches);
}
template <class S>
void Batch<S>::for_each_state(std::size_t count, const std::function<void(int, std::size_t)>& f) {
  data_->on_threads(count, [&](int worker, std::size_t state) { f(worker, state); });
}

template class Batch<double>;
template class Batch<float>;

}  // namespace articula
