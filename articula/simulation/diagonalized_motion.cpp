#include "articula/simulation/diagonalized_motion.hpp"

#include <numeric>

#include "articula/dynamics/mass_factor.hpp"

namespace articula {

DiagonalizedMotion::DiagonalizedMotion(const Model& model, MotionForm form, In<double> q, In<double> v)
    : model_(model),
      form_(model, form),
      manifold_(model),
      steps_(Integrator::rk4, manifold_),
      q_(q.begin(), q.end()),
      x_(v.begin(), v.end()) {
  form_.from_rates(q, v, x_);
}

void DiagonalizedMotion::step(double h, Integrator how, In<double> tau) {
  auto slope = [&](double, In<double> q, In<double> x, Out<double> x_dot) { form_.slope(q, x, tau, x_dot); };
  auto rates = [&](double, In<double> q, In<double> x, Out<double> v) { form_.to_rates(q, x, v); };
  steps_.use(how);
  steps_.step({manifold_, slope, rates}, 0, h, q_, x_);
}

std::vector<double> DiagonalizedMotion::rates() {
  std::vector<double> v(x_.size());
  form_.to_rates(q_, x_, v);
  return v;
}
double DiagonalizedMotion::kinetic_energy() {
  if (form_.form() == MotionForm::nu) return std::inner_product(x_.begin(), x_.end(), x_.begin(), 0.0) / 2;
  MassFactor<> factor(model_);
  const std::vector<double> v = rates();
  std::vector<double> Mv(v.size());
  factor.factor(q_);
  factor.multiply(v, Mv);
  return std::inner_product(v.begin(), v.end(), Mv.begin(), 0.0) / 2;
}

}  // namespace articula
