#include "articula/batch/data.hpp"

namespace articula {

using batching::numbers;

template <class S>
Batch<S>::Batch(const Model& model, const BatchOptions& options)
    : data_(std::make_unique<Data>(model, options)) {}
template <class S>
Batch<S>::~Batch() = default;
template <class S>
Batch<S>::Batch(Batch&&) noexcept = default;
template <class S>
const Model& Batch<S>::model() const {
  return data_->model;
}

template <class S>
void Batch<S>::inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau) {
  Data& d = *data_;
  d.call("inverse_dynamics", {d.q(q), d.v("v", v), d.v("a", a)}, {d.forces("tau", tau)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table.inverse_dynamics(d.tree, in[0], in[1], in[2], nullptr, w.m, out[0]);
         });
}
template <class S>
void Batch<S>::bias_forces(In<S> q, In<S> v, Out<S> tau) {
  Data& d = *data_;
  d.call("bias_forces", {d.q(q), d.v("v", v)}, {d.forces("tau", tau)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table.inverse_dynamics(d.tree, in[0], in[1], nullptr, nullptr, w.m, out[0]);
         });
}
template <class S>
void Batch<S>::gravity_forces(In<S> q, Out<S> tau) {
  Data& d = *data_;
  d.call("gravity_forces", {d.q(q)}, {d.forces("tau", tau)}, [&](auto& w, const S* const* in, S* const* out) {
    S* const rest = numbers(w.scratch[0]);
    std::fill_n(rest, static_cast<std::size_t>(d.tree.nv) * d.table.lanes, S(0));
    d.table.inverse_dynamics(d.tree, in[0], rest, nullptr, nullptr, w.m, out[0]);
  });
}
template <class S>
void Batch<S>::forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a) {
  Data& d = *data_;
  const auto nv = static_cast<std::size_t>(d.model.nv());
  if (d.model.has_mimics()) {
    d.call_one_by_one("forward_dynamics", {d.q(q), d.v("v", v), d.v("tau", tau)}, {d.other("a", a, nv)},
                      [&](int w, const auto* in, const auto* out) {
                        d.workers[w].forward->compute(in[0], in[1], in[2], out[0], {});
                      });
    return;
  }
  d.call("forward_dynamics", {d.q(q), d.v("v", v), d.v("tau", tau)}, {d.other("a", a, nv)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table.forward_dynamics(d.tree, in[0], in[1], in[2], nullptr, w.m, out[0], w.smallest);
         });
}
template <class S>
void Batch<S>::mass_matrix(In<S> q, Out<S> matrix) {
  Data& d = *data_;
  if (d.large()) {
    const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
    d.call_one_by_one(
        "mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
        [&](int w, const auto* in, const auto* out) { d.one(d.workers[w].mass).compute(in[0], out[0]); });
    return;
  }
  d.call(
      "mass_matrix", {d.q(q)}, {d.matrix("matrix", matrix)},
      [&](auto& w, const S* const* in, S* const* out) { d.table.mass_matrix(d.tree, in[0], w.m, out[0]); });
}
template <class S>
void Batch<S>::inverse_mass_matrix(In<S> q, Out<S> matrix) {
  Data& d = *data_;
  const auto square = static_cast<std::size_t>(d.model.nv()) * d.model.nv();
  if (d.model.has_mimics() || d.large()) {
    d.call_one_by_one("inverse_mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
                      [&](int w, const auto* in, const auto* out) {
                        d.one(d.workers[w].factor).factor(in[0]);
                        d.one(d.workers[w].factor).inverse(out[0]);
                      });
    return;
  }
  d.call("inverse_mass_matrix", {d.q(q)}, {d.other("matrix", matrix, square)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.table.inverse_mass_matrix(d.tree, in[0], w.m, out[0], w.smallest);
         });
}
template <class S>
void Batch<S>::energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential) {
  Data& d = *data_;
  d.call("energies", {d.q(q), d.v("v", v)},
         {d.other("kinetic", kinetic, 1), d.other("potential", potential, 1)},
         [&](auto& w, const S* const* in, S* const* out) {
           const Tree<S>& tree = d.tree;
           d.table.kinematics(tree, in[0], in[1], nullptr, w.m);
           d.table.energies(tree, w.m, out[0], out[1]);
           for (int i = 0; tree.has_armature && i < tree.nv; ++i)
             for (int s = 0; s < d.table.lanes; ++s) {
               const S v = in[1][i * d.table.lanes + s];
               out[0][s] += tree.armature[i] * v * v / 2;
             }
         });
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> pose) {
  Data& d = *data_;
  d.call_one_by_one("pose", {d.q(q)}, {d.other("pose", pose, 12)},
                    [&](int w, const auto* in, const auto* out) {
                      d.workers[w].kinematics->update(in[0]);
                      const FramePose<S> at = d.workers[w].kinematics->pose(frame);
                      std::copy_n(&at.rotation.xx, 9, out[0].data());
                      std::copy_n(&at.position.x, 3, out[0].data() + 9);
                    });
}
template <class S>
void Batch<S>::jacobian(int frame, In<S> q, Out<S> jacobian) {
  Data& d = *data_;
  d.call_one_by_one("jacobian", {d.q(q)},
                    {d.other("jacobian", jacobian, static_cast<std::size_t>(6) * d.model.nv())},
                    [&](int w, const auto* in, const auto* out) {
                      d.workers[w].kinematics->update(in[0]);
                      d.workers[w].kinematics->jacobian(frame, out[0], Axes::world);
                    });
}
template <class S>
void Batch<S>::for_each_state(std::size_t count, const std::function<void(int, std::size_t)>& f) {
  data_->on_threads(count, [&](int worker, std::size_t state) { f(worker, state); });
}

template class Batch<double>;
template class Batch<float>;

}  // namespace articula
