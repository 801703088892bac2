#include "articula/diagonal/diagonalized_motion.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

DiagonalizedMotion::DiagonalizedMotion(const Model& model, MotionForm form, In<double> q, In<double> v)
    : model_(model), form_(form), forward_(model), q_(q.begin(), q.end()), x_(v.begin(), v.end()) {
  if (form_ == MotionForm::rates) return;
  diagonal_.emplace(model);
  diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->rates_to_nu(v, x_);
  else
    diagonal_->rates_to_xi(v, x_);
}

void DiagonalizedMotion::rates_of(const std::vector<double>& q, const std::vector<double>& x,
                                  std::vector<double>& v) {
  v.resize(x.size());
  if (form_ == MotionForm::rates) {
    v = x;
    return;
  }
  diagonal_->update(q);
  if (form_ == MotionForm::nu)
    diagonal_->nu_to_rates(x, v);
  else
    diagonal_->xi_to_rates(x, v);
}
void DiagonalizedMotion::slope(const std::vector<double>& q, const std::vector<double>& x, In<double> tau,
                               std::vector<double>& v, std::vector<double>& x_dot) {
  x_dot.resize(x.size());
  if (form_ == MotionForm::rates)
    forward_dynamics(forward_, q, x, tau, x_dot);
  else if (form_ == MotionForm::nu)
    diagonal_->nu_dot(q, x, tau, x_dot);
  else
    diagonal_->xi_dot(q, x, tau, x_dot);
  rates_of(q, x, v);
}

void DiagonalizedMotion::step(double h, MotionStep how, In<double> tau) {
  const std::size_t n = x_.size();
  std::vector<double> v[4], x_dot[4], move(n), at = q_, x = x_;
  /// at = from (+) sum of weights times the slopes' rates.
  const auto along = [&](const std::vector<double>& from, std::initializer_list<double> weights) {
    std::fill(move.begin(), move.end(), 0);
    int stage = 0;
    for (const double w : weights) {
      for (std::size_t i = 0; w != 0 && i < n; ++i) move[i] += h * w * v[stage][i];
      ++stage;
    }
    integrate(model_, from, move, at);
  };
  const auto velocities = [&](double weight, int stage) {
    for (std::size_t i = 0; i < n; ++i) x[i] = x_[i] + h * weight * x_dot[stage][i];
  };
  slope(q_, x_, tau, v[0], x_dot[0]);
  if (how == MotionStep::symplectic_euler) {
    velocities(1, 0);
    rates_of(q_, x, v[0]);
    along(q_, {1});
    q_ = at, x_ = x;
    return;
  }
  along(q_, {0.5});
  const std::vector<double> second = at;
  velocities(0.5, 0);
  slope(at, x, tau, v[1], x_dot[1]);
  along(q_, {0, 0.5});
  velocities(0.5, 1);
  slope(at, x, tau, v[2], x_dot[2]);
  along(second, {-0.5, 0, 1});
  velocities(1, 2);
  slope(at, x, tau, v[3], x_dot[3]);
  along(q_, {3 / 12., 2 / 12., 2 / 12., -1 / 12.});
  along(std::vector<double>(at), {-1 / 12., 2 / 12., 2 / 12., 3 / 12.});
  q_ = at;
  for (std::size_t i = 0; i < n; ++i)
    x_[i] += h / 6 * (x_dot[0][i] + 2 * x_dot[1][i] + 2 * x_dot[2][i] + x_dot[3][i]);
}

std::vector<double> DiagonalizedMotion::rates() {
  std::vector<double> v;
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
