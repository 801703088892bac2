#include "articula/linearization/linearized_inverse.hpp"

#include <algorithm>
#include <utility>

#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
LinearizedInverse<S>::LinearizedInverse(const Model& model)
    : LinearizationWorkspace<S>(model, {.side = true}, {.columns = true}) {
  const std::size_t n = this->tree().nv;
  if (model.has_mimics()) full_ = AlignedArray<S>(3 * n * n);
}

template <class S>
void LinearizedInverse<S>::check_state(const char* function, In<S> q, In<S> v, In<S> a) const {
  this->check(function, "q", q.size(), this->model_.nq());
  this->check(function, "v", v.size(), this->model_.nv());
  this->check(function, "a", a.size(), this->model_.nv());
}

template <class S>
void LinearizedInverse<S>::matrices(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da,
                                    const LinearizationOptions<S>& options) {
  constexpr const char* name = "linearized_inverse";
  check_state(name, q, v, a);
  this->check_square(name, "dq", dq.size());
  this->check_square(name, "dv", dv.size());
  this->check_square(name, "da", da.size());
  const ExternalForces<S> external = this->external(name, options);
  if (full_.size() == 0) {
    kernel_set().in<S>().linearization->linearized_inverse(
        this->tree(), q.data(), v.data(), a.data(), external, this->lin_, da.data(), dq.data(), dv.data());
    return;
  }
  const std::size_t n = this->tree().nv;
  S *const M = full_.data(), *const by_q = M + n * n, *const by_v = by_q + n * n;
  kernel_set().in<S>().linearization->linearized_inverse(
      this->tree(), this->full_q(q), this->full_v(v), this->full_a(a), external, this->lin_, M, by_q, by_v);
  this->reduce_matrix(by_q, dq);
  this->reduce_matrix(by_v, dv);
  this->reduce_matrix(M, da);
}
template <class S>
void LinearizedInverse<S>::perturb(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau,
                                   const LinearizationOptions<S>& options) {
  constexpr const char* name = "perturbed_inverse";
  const std::size_t nv = this->model_.nv();
  check_state(name, q, v, a);
  this->check(name, "dq", dq.size(), nv);
  this->check(name, "dv", dv.size(), nv);
  this->check(name, "da", da.size(), nv);
  this->check(name, "dtau", dtau.size(), nv);
  const ExternalForces<S> external = this->external(name, options);
  kernel_set().in<S>().linearization->perturbed_inverse(
      this->tree(), this->full_q(q), this->full_v(v), this->full_a(a), this->full_velocity(0, dq),
      this->full_velocity(1, dv), this->full_velocity(2, da), external, this->lin_, this->full_result(dtau));
  this->reduce_forces(dtau);
}
template <class S>
void LinearizedInverse<S>::gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v,
                                    Out<S> by_a, const LinearizationOptions<S>& options) {
  constexpr const char* name = "inverse_gradient";
  const std::size_t nv = this->model_.nv(), n = this->tree().nv;
  check_state(name, q, v, a);
  this->check(name, "weights", weights.size(), nv);
  this->check(name, "by_q", by_q.size(), nv);
  this->check(name, "by_v", by_v.size(), nv);
  this->check(name, "by_a", by_a.size(), nv);
  const ExternalForces<S> external = this->external(name, options);
  const bool mimics = full_.size() != 0;
  S *const g = full_.data(), *const q_out = mimics ? g : by_q.data(),
           *const v_out = mimics ? g + n : by_v.data(), *const a_out = mimics ? g + 2 * n : by_a.data();
  kernel_set().in<S>().linearization->inverse_adjoint(this->tree(), this->full_q(q), this->full_v(v),
                                                      this->full_a(a), this->full_velocity(0, weights), false,
                                                      external, this->lin_, q_out, v_out, a_out);
  if (!mimics) return;
  this->reduce(q_out, by_q);
  this->reduce(v_out, by_v);
  this->reduce(a_out, by_a);
}

namespace {
std::vector<int> slots_of_velocities(const Tree<double>& tree) {
  std::vector<int> slot_of(tree.nv);
  for (int k = 1; k < tree.slots(); ++k)
    visit(tree.index[k].kind, [&](auto j) {
      for (int i = 0; i < j.nv; ++i) slot_of[tree.index[k].v + i] = k;
    });
  return slot_of;
}
/// related(i, j): slots, in full coordinates; then in the model's own.
template <class Related>
std::vector<bool> pattern(const Model& model, Related&& related) {
  const Tree<double>& tree = model.tree<double>();
  const std::vector<int> slot_of = slots_of_velocities(tree);
  const auto map = model.full_velocities();
  const std::size_t nv = model.nv();
  std::vector<bool> out(nv * nv);
  for (int i = 0; i < tree.nv; ++i)
    for (int j = 0; j < tree.nv; ++j)
      if (related(tree, slot_of[i], slot_of[j])) out[map[i].source * nv + map[j].source] = true;
  return out;
}
}  // namespace

std::vector<bool> inverse_pattern(const Model& model) {
  return pattern(model, [](const Tree<double>& tree, int i, int j) {
    if (i < j) std::swap(i, j);
    while (i > j) i = tree.index[i].inboard;  // inboard bodies have lower numbers
    return i == j;
  });
}
std::vector<bool> forward_pattern(const Model& model) {
  const Tree<double>& tree = model.tree<double>();
  // Trees by their first bodies. A mimic joint couples its tree to its source's: they are one.
  std::vector<int> group(tree.slots());
  for (int k = 1; k < tree.slots(); ++k) group[k] = tree.index[k].inboard ? group[tree.index[k].inboard] : k;
  const auto map = model.full_velocities();
  std::vector<int> own(model.nv());  // the body that moves by each velocity of the model itself
  const std::vector<int> slot_of = slots_of_velocities(tree);
  for (const Joint& joint : model.joints())
    if (joint.mimics < 0)
      for (int i = 0; i < joint.nv; ++i) own[joint.v_index + i] = slot_of[model.full_velocity_of(joint) + i];
  for (int i = 0; i < tree.nv; ++i) {
    const int one = group[slot_of[i]], other = group[own[map[i].source]];
    if (one != other) std::replace(group.begin(), group.end(), one, other);
  }
  return pattern(model, [&](const Tree<double>&, int i, int j) { return group[i] == group[j]; });
}

template class LinearizedInverse<double>;
template class LinearizedInverse<float>;

}  // namespace articula
