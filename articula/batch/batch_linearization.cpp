#include "articula/batch/data.hpp"
#include "articula/batch/tied.hpp"

namespace articula {

using batching::numbers;

template <class S>
void Batch<S>::linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da) {
  Data& d = *data_;
  if (d.matrices_one_by_one(q)) {
    const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
    d.call_one_by_one("linearized_inverse", {d.q(q), d.v("v", v), d.v("a", a)},
                      {d.other("dq", dq, square), d.other("dv", dv, square), d.other("da", da, square)},
                      [](OneState<S>& one, const auto* in, const auto* out) {
                        one.linearized_inverse(in[0], in[1], in[2], out[0], out[1], out[2]);
                      });
    return;
  }
  d.prepare_linearization();
  const std::initializer_list<typename Data::Output> to{d.matrix("dq", dq), d.matrix("dv", dv),
                                                        d.matrix("da", da)};
  d.call("linearized_inverse", {d.q(q), d.v("v", v), d.v("a", a)}, to,
         [&](auto& w, const S* const* in, S* const* out) {
           d.table->linearized_inverse(w.tree, in[0], in[1], in[2], w.lin, out[0], out[1], out[2],
                                       d.look_ahead(w, to, q.size() / d.model.nq()));
         });
}
template <class S>
void Batch<S>::linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau) {
  Data& d = *data_;
  const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
  const std::initializer_list<typename Data::Output> to{d.other("dq", dq, square), d.other("dv", dv, square),
                                                        d.other("dtau", dtau, square)};
  if (d.matrices_one_by_one(q)) {
    d.call_one_by_one("linearized_forward", {d.q(q), d.v("v", v), d.v("tau", tau)}, to,
                      [](OneState<S>& one, const auto* in, const auto* out) {
                        one.linearized_forward(in[0], in[1], in[2], out[0], out[1], out[2]);
                      });
    return;
  }
  if (d.model.has_mimics()) return batching::tied_linearized_forward(d, q, v, tau, dq, dv, dtau);
  d.prepare_linearization();
  d.call("linearized_forward", {d.q(q), d.v("v", v), d.v("tau", tau)}, to,
         [&](auto& w, const S* const* in, S* const* out) {
           d.table->linearized_forward(w.tree, in[0], in[1], in[2], w.lin, numbers(w.scratch[0]), out[0],
                                       out[1], out[2], w.smallest,
                                       d.look_ahead(w, to, q.size() / d.model.nq()));
         });
}
template <class S>
void Batch<S>::perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau) {
  Data& d = *data_;
  const std::initializer_list<typename Data::Input> from{d.q(q),        d.v("v", v),   d.v("a", a),
                                                         d.v("dq", dq), d.v("dv", dv), d.v("da", da)};
  if (d.vectors_one_by_one(q)) {
    d.call_one_by_one("perturbed_inverse", from, {d.forces("dtau", dtau)},
                      [](OneState<S>& one, const auto* in, const auto* out) {
                        one.perturbed_inverse(in[0], in[1], in[2], in[3], in[4], in[5], out[0]);
                      });
    return;
  }
  d.prepare_linearization();
  d.call("perturbed_inverse", from, {d.forces("dtau", dtau)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table->perturbed_inverse(w.tree, in[0], in[1], in[2], in[3], in[4], in[5], w.lin, out[0]);
         });
}
template <class S>
void Batch<S>::perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da) {
  Data& d = *data_;
  const std::initializer_list<typename Data::Input> from{d.q(q),        d.v("v", v),   d.v("tau", tau),
                                                         d.v("dq", dq), d.v("dv", dv), d.v("dtau", dtau)};
  const std::initializer_list<typename Data::Output> to{
      d.other("da", da, static_cast<std::size_t>(d.model.nv()))};
  if (d.vectors_one_by_one(q) || (d.model.has_mimics() && d.matrices_one_by_one(q))) {
    d.call_one_by_one("perturbed_forward", from, to, [](OneState<S>& one, const auto* in, const auto* out) {
      one.perturbed_forward(in[0], in[1], in[2], in[3], in[4], in[5], out[0]);
    });
    return;
  }
  if (d.model.has_mimics()) return batching::tied_perturbed_forward(d, q, v, tau, dq, dv, dtau, da);
  d.prepare_linearization();
  d.call("perturbed_forward", from, to, [&](auto& w, const S* const* in, S* const* out) {
    d.table->perturbed_forward(w.tree, in[0], in[1], in[2], in[3], in[4], in[5], w.lin, numbers(w.scratch[0]),
                               numbers(w.scratch[1]), out[0], w.smallest);
  });
}
template <class S>
void Batch<S>::inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v,
                                Out<S> by_a) {
  Data& d = *data_;
  const std::initializer_list<typename Data::Input> from{d.q(q), d.v("v", v), d.v("a", a),
                                                         d.v("weights", weights)};
  const std::initializer_list<typename Data::Output> to{d.forces("by_q", by_q), d.forces("by_v", by_v),
                                                        d.forces("by_a", by_a)};
  if (d.vectors_one_by_one(q)) {
    d.call_one_by_one("inverse_gradient", from, to, [](OneState<S>& one, const auto* in, const auto* out) {
      one.inverse_gradient(in[0], in[1], in[2], in[3], out[0], out[1], out[2]);
    });
    return;
  }
  d.prepare_linearization();
  d.call("inverse_gradient", from, to, [&](auto& w, const S* const* in, S* const* out) {
    d.table->inverse_gradient(w.tree, in[0], in[1], in[2], in[3], w.lin, out[0], out[1], out[2]);
  });
}
template <class S>
void Batch<S>::forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v,
                                Out<S> by_tau) {
  Data& d = *data_;
  const std::size_t nv = d.model.nv();
  const std::initializer_list<typename Data::Input> from{d.q(q), d.v("v", v), d.v("tau", tau),
                                                         d.v("weights", weights)};
  const std::initializer_list<typename Data::Output> to{d.other("by_q", by_q, nv), d.other("by_v", by_v, nv),
                                                        d.other("by_tau", by_tau, nv)};
  if (d.model.has_mimics() || d.vectors_one_by_one(q)) {
    d.call_one_by_one("forward_gradient", from, to, [](OneState<S>& one, const auto* in, const auto* out) {
      one.forward_gradient(in[0], in[1], in[2], in[3], out[0], out[1], out[2]);
    });
    return;
  }
  d.prepare_linearization();
  d.call("forward_gradient", from, to, [&](auto& w, const S* const* in, S* const* out) {
    d.table->forward_gradient(w.tree, in[0], in[1], in[2], in[3], w.lin, numbers(w.scratch[0]),
                              numbers(w.scratch[1]), out[0], out[1], out[2], w.smallest);
  });
}

template void Batch<double>::linearized_inverse(In<double> q, In<double> v, In<double> a, Out<double> dq,
                                                Out<double> dv, Out<double> da);
template void Batch<float>::linearized_inverse(In<float> q, In<float> v, In<float> a, Out<float> dq,
                                               Out<float> dv, Out<float> da);
template void Batch<double>::linearized_forward(In<double> q, In<double> v, In<double> tau, Out<double> dq,
                                                Out<double> dv, Out<double> dtau);
template void Batch<float>::linearized_forward(In<float> q, In<float> v, In<float> tau, Out<float> dq,
                                               Out<float> dv, Out<float> dtau);
template void Batch<double>::perturbed_inverse(In<double> q, In<double> v, In<double> a, In<double> dq,
                                               In<double> dv, In<double> da, Out<double> dtau);
template void Batch<float>::perturbed_inverse(In<float> q, In<float> v, In<float> a, In<float> dq,
                                              In<float> dv, In<float> da, Out<float> dtau);
template void Batch<double>::perturbed_forward(In<double> q, In<double> v, In<double> tau, In<double> dq,
                                               In<double> dv, In<double> dtau, Out<double> da);
template void Batch<float>::perturbed_forward(In<float> q, In<float> v, In<float> tau, In<float> dq,
                                              In<float> dv, In<float> dtau, Out<float> da);
template void Batch<double>::inverse_gradient(In<double> q, In<double> v, In<double> a, In<double> weights,
                                              Out<double> by_q, Out<double> by_v, Out<double> by_a);
template void Batch<float>::inverse_gradient(In<float> q, In<float> v, In<float> a, In<float> weights,
                                             Out<float> by_q, Out<float> by_v, Out<float> by_a);
template void Batch<double>::forward_gradient(In<double> q, In<double> v, In<double> tau, In<double> weights,
                                              Out<double> by_q, Out<double> by_v, Out<double> by_tau);
template void Batch<float>::forward_gradient(In<float> q, In<float> v, In<float> tau, In<float> weights,
                                             Out<float> by_q, Out<float> by_v, Out<float> by_tau);

}  // namespace articula
