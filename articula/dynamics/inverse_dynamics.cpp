#include "articula/dynamics/inverse_dynamics.hpp"

#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
InverseDynamics<S>::InverseDynamics(const Model& model) : Workspace<S>(model, {.side = true}) {}

template <class S>
void InverseDynamics<S>::run(const char* function, std::span<const S> q, const S* v, const S* a,
                             std::span<S> tau, const S* wrenches) {
  this->check(function, "q", q.size(), this->model_.nq());
  this->check(function, "tau", tau.size(), this->model_.nv());
  kernels<S>().inverse_dynamics(this->tree(), this->full_q(q), v, a, wrenches, this->m_,
                                this->full_result(tau));
  this->reduce_forces(tau);
}
template <class S>
void InverseDynamics<S>::compute(In<S> q, In<S> v, In<S> a, Out<S> tau, Wrenches<S> wrenches) {
  this->check("inverse_dynamics", "v", v.size(), this->model_.nv());
  this->check("inverse_dynamics", "a", a.size(), this->model_.nv());
  run("inverse_dynamics", q, this->full_v(v), this->full_a(a), tau,
      this->check_wrenches("inverse_dynamics", wrenches));
}
template <class S>
void InverseDynamics<S>::compute_bias(In<S> q, In<S> v, Out<S> tau, Wrenches<S> wrenches) {
  this->check("bias_forces", "v", v.size(), this->model_.nv());
  run("bias_forces", q, this->full_v(v), nullptr, tau, this->check_wrenches("bias_forces", wrenches));
}
template <class S>
void InverseDynamics<S>::compute_gravity(In<S> q, Out<S> tau) {
  run("gravity_forces", q, nullptr, nullptr, tau, nullptr);
}

std::vector<double> inverse_dynamics(const Model& model, In<double> q, In<double> v, In<double> a) {
  InverseDynamics<> work(model);
  std::vector<double> tau(model.nv());
  inverse_dynamics(work, q, v, a, tau);
  return tau;
}
std::vector<double> bias_forces(const Model& model, In<double> q, In<double> v) {
  InverseDynamics<> work(model);
  std::vector<double> tau(model.nv());
  bias_forces(work, q, v, tau);
  return tau;
}
std::vector<double> gravity_forces(const Model& model, In<double> q) {
  InverseDynamics<> work(model);
  std::vector<double> tau(model.nv());
  gravity_forces(work, q, tau);
  return tau;
}

template class InverseDynamics<double>;
template class InverseDynamics<float>;

}  // namespace articula
