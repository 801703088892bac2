#include "articula/simulation/diagonalized_motion.hpp"

#include <numeric>

#include "articula/dynamics/mass_factor.hpp"

namespace articula {

DiagonalizedMotion::DiagonalizedMotion(const Model& model, MotionForm form, In<double> q, In<double> v)
    : model_(model),
      form_(form),
      manifold_(model),
      forward_(model),
      steps_(Integrator::rk4, manifold_),
      q_(q.begin(), q.end()),
      x_(v.begin(), v.end()) {
  if (form_ == MotionForm::rates) return;
  diagonal_.emplace(model);
  diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->rates_to_nu(v, x_);
  else
    diagonal_->rates_to_xi(v, x_);
}

void DiagonalizedMotion::rates_of(In<double> q, In<double> x, Out<double> v) {
  if (form_ == MotionForm::rates) {
    std::copy(x.begin(), x.end(), v.begin());
    return;
  }
  diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->nu_to_rates(x, v);
  else
    diagonal_->xi_to_rates(x, v);
}

void DiagonalizedMotion::step(double h, Integrator how, In<double> tau) {
  auto slope = [&](double, In<double> q, In<double> x, Out<double> x_dot) {
    if (form_ == MotionForm::rates)
      forward_dynamics(forward_, q, x, tau, x_dot);
    else if (form_ == MotionForm::nu)
      diagonal_->nu_dot(q, x, tau, x_dot);
    else
      diagonal_->xi_dot(q, x, tau, x_dot);
  };
  auto rates = [&](double, In<double> q, In<double> x, Out<double> v) { rates_of(q, x, v); };
  steps_.use(how);
  steps_.step({manifold_, slope, rates}, 0, h, q_, x_);
}

std::vector<double> DiagonalizedMotion::rates() {
  std::vector<double> v(x_.size());
  rates_of(q_, x_, v);
  return v;
}
double DiagonalizedMotion::kinetic_energy() {
  if (form_ == MotionForm::nu) return std::inner_product(x_.begin(), x_.end(), x_.begin(), 0.0) / 2;
  MassFactor<> factor(model_);
  const std::vector<double> v = rates();
  std::vector<double> Mv(v.size());
  factor.factor(q_);
  factor.multiply(v, Mv);
  return std::inner_product(v.begin(), v.end(), Mv.begin(), 0.0) / 2;
}

}  // namespace articula
