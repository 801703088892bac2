#include "articula/simulation/velocity_form.hpp"

#include <algorithm>

namespace articula {

VelocityForm::VelocityForm(const Model& model, MotionForm form) : form_(form) {
  if (form == MotionForm::rates)
    forward_.emplace(model);
  else
    diagonal_.emplace(model);
}

void VelocityForm::from_rates(In<double> q, In<double> v, Out<double> x) {
  if (diagonal_) diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->rates_to_nu(v, x);
  else if (form_ == MotionForm::xi)
    diagonal_->rates_to_xi(v, x);
  else
    std::copy(v.begin(), v.end(), x.begin());
}

void VelocityForm::to_rates(In<double> q, In<double> x, Out<double> v) {
  if (diagonal_) diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->nu_to_rates(x, v);
  else if (form_ == MotionForm::xi)
    diagonal_->xi_to_rates(x, v);
  else
    std::copy(x.begin(), x.end(), v.begin());
}

void VelocityForm::slope(In<double> q, In<double> x, In<double> tau, Out<double> x_dot,
                         Wrenches<double> wrenches) {
  if (form_ == MotionForm::nu)
    diagonal_->nu_dot(q, x, tau, x_dot, wrenches);
  else if (form_ == MotionForm::xi)
    diagonal_->xi_dot(q, x, tau, x_dot, wrenches);
  else
    forward_dynamics(*forward_, q, x, tau, x_dot, wrenches);
}

}  // namespace articula
