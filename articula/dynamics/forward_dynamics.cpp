#include "articula/dynamics/forward_dynamics.hpp"

#include <fmt/format.h>

#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
ForwardDynamics<S>::ForwardDynamics(const Model& model)
    : Workspace<S>(model, {.side = true, .factor = true, .keep_D = model.has_mimics(), .solve = true}) {
  if (!model.has_mimics()) return;
  mimic_factor_.emplace(model);
  mimic_bias_.resize(model.nv());
}

template <class S>
void ForwardDynamics<S>::compute(In<S> q, In<S> v, In<S> tau, Out<S> a, Wrenches<S> wrenches) {
  constexpr const char* name = "forward_dynamics";
  this->check(name, "q", q.size(), this->model_.nq());
  this->check(name, "v", v.size(), this->model_.nv());
  this->check(name, "tau", tau.size(), this->model_.nv());
  this->check(name, "a", a.size(), this->model_.nv());
  const S* const forces = this->check_wrenches(name, wrenches);
  if (mimic_factor_) {
    // tau - (C v + g - external) in the model's own coordinates, then a solve with the corrected factor.
    kernels<S>().inverse_dynamics(this->tree(), this->full_q(q), this->full_v(v), nullptr, forces, this->m_,
                                  this->result_);
    this->reduce_forces(std::span<S>(mimic_bias_));
    for (std::size_t i = 0; i < mimic_bias_.size(); ++i) mimic_bias_[i] = tau[i] - mimic_bias_[i];
    mimic_factor_->factor(q);
    mimic_factor_->solve(mimic_bias_, a);
    return;
  }
  const S smallest =
      kernels<S>().forward_dynamics(this->tree(), q.data(), v.data(), tau.data(), forces, this->m_, a.data());
  if (!(smallest > 0)) refuse(name, q);
}

template <class S>
void ForwardDynamics<S>::solve(In<S> q, In<S> tau, Out<S> x) {
  constexpr const char* name = "solve_mass_matrix";
  this->check(name, "q", q.size(), this->model_.nq());
  this->check(name, "tau", tau.size(), this->model_.nv());
  this->check(name, "x", x.size(), this->model_.nv());
  if (mimic_factor_) {
    mimic_factor_->factor(q);
    mimic_factor_->solve(tau, x);
  } else if (!(kernels<S>().solve_directly(this->tree(), q.data(), tau.data(), this->m_, x.data()) > 0)) {
    refuse(name, q);
  }
}

template <class S>
void ForwardDynamics<S>::refuse(const char* function, In<S> q) const {
  MassFactor<S>(this->model_).factor(q);  // names the joint
  throw ArgumentError(fmt::format("{}: the arguments are not finite numbers", function));
}

std::vector<double> forward_dynamics(const Model& model, In<double> q, In<double> v, In<double> tau) {
  ForwardDynamics<> work(model);
  std::vector<double> a(model.nv());
  forward_dynamics(work, q, v, tau, a);
  return a;
}

template class ForwardDynamics<double>;
template class ForwardDynamics<float>;

}  // namespace articula
