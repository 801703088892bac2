#include "articula/simulation/linearized_momenta.hpp"

namespace articula::step_derivatives {

namespace {
void times(const std::vector<double>& m, In<double> x, Out<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = 0;
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += m[i * x.size() + j] * x[j];
  }
}
}  // namespace

InMomenta::InMomenta(const Model& model, const Manifold& manifold)
    : rule(model),
      equations(manifold),
      weightless(model.with_gravity({0, 0, 0})),
      product(weightless),
      solution(weightless),
      second(weightless),
      coriolis(model),
      linearized(model),
      inverse(model),
      zero(model.nv()),
      unit(model.nv()),
      column(model.nv()),
      dampers(model),
      S(zero.size() * zero.size()),
      T(S),
      U(S) {}

void InMomenta::momentum(In<double> q, In<double> v, Point& p) {
  linearized_inverse(product, q, zero, v, p.by_q, S, p.by_x);
  times(p.by_x, v, p.y);
}
void InMomenta::velocity(In<double> q, In<double> momentum, Point& p) {
  linearized_forward(solution, q, zero, momentum, p.by_q, S, p.by_x);
  solution.acceleration(p.y);
}

void InMomenta::force(In<double> q, In<double> w, In<double> tau, const LinearizationOptions<double>& options,
                      Point& p) {
  const std::size_t n = w.size();
  mass_matrix_rate(coriolis, q, w, p.by_x);
  bias_forces(inverse, q, w, column, options.wrenches);
  times(p.by_x, w, p.y);
  for (std::size_t i = 0; i < n; ++i) p.y[i] += tau[i] - column[i];
  if (options.damping) dampers.add_forces(0, q, w, p.y);
  linearized_inverse(product, q, zero, w, S, T, U);
  for (std::size_t i = 0; i < n * n; ++i) p.by_x[i] += S[i];
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1;
    twice_perturbed_inverse(second, q, zero, w, {w, zero, zero}, {unit, zero, zero}, column);
    unit[j] = 0;
    for (std::size_t i = 0; i < n; ++i) p.by_q[i * n + j] = column[i];
  }
  linearized_inverse(linearized, q, w, zero, S, T, U, options);
  for (std::size_t i = 0; i < n * n; ++i) p.by_q[i] -= S[i], p.by_x[i] -= T[i];
}

void InMomenta::add_external(In<double> q, Wrenches<double> wrenches, Out<double> tau) {
  if (wrenches.empty()) return;
  bias_forces(inverse, q, zero, column, wrenches);
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] -= column[i];
  gravity_forces(inverse, q, column);
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += column[i];
}

}  // namespace articula::step_derivatives
