#include "articula/diagonal/diagonalized_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

DiagonalizedDynamics::DiagonalizedDynamics(const Model& model)
    : Workspace<double>(model, {.side = true, .factor = true, .keep_D = true}) {
  if (model.has_mimics())
    throw ArgumentError(fmt::format(
        "diagonalized dynamics: model '{}' has mimic joints, whose hinges share coordinates; the factor "
        "of the mass matrix needs one coordinate per hinge",
        model.name()));
  extra_ = make_arrays(d_, tree());
  d_.k = m_;
  control_ = AlignedArray<double>(2 * static_cast<std::size_t>(tree().nv));
}

void DiagonalizedDynamics::update(In<double> q) {
  check("diagonalized dynamics: update", "q", q.size(), model_.nq());
  updated_ = false;
  if (!(kernel_set().diagonal->factor(tree(), q.data(), d_) > 0))
    throw_singular(model_, "diagonalized dynamics", m_.inv_D);
  updated_ = true;
}
void DiagonalizedDynamics::require_update(const char* function) const {
  if (!updated_) throw ArgumentError(fmt::format("{}: no configuration yet; call update(q) first", function));
}
void DiagonalizedDynamics::check_pair(const char* function, std::size_t from, const char* name,
                                      std::size_t to) const {
  require_update(function);
  check(function, name, from, model_.nv());
  check(function, "the result", to, model_.nv());
}

void DiagonalizedDynamics::rates_to_xi(In<double> v, Out<double> xi) {
  check_pair("rates_to_xi", v.size(), "v", xi.size());
  std::copy(v.begin(), v.end(), d_.theta_dot);
  kernel_set().diagonal->rates_to_xi(tree(), d_, d_.theta_dot, xi.data());
}
void DiagonalizedDynamics::rates_to_nu(In<double> v, Out<double> nu) {
  check_pair("rates_to_nu", v.size(), "v", nu.size());
  rates_to_xi(v, nu);
  kernel_set().diagonal->times_root_star(tree(), d_, nu.data());
}
void DiagonalizedDynamics::xi_to_rates(In<double> xi, Out<double> v) {
  check_pair("xi_to_rates", xi.size(), "xi", v.size());
  std::copy(xi.begin(), xi.end(), d_.xi);
  kernel_set().diagonal->xi_to_rates(tree(), d_, d_.xi, v.data());
}
void DiagonalizedDynamics::nu_to_rates(In<double> nu, Out<double> v) {
  check_pair("nu_to_rates", nu.size(), "nu", v.size());
  std::copy(nu.begin(), nu.end(), d_.xi);
  kernel_set().diagonal->solve_root_star(tree(), d_, d_.xi);
  kernel_set().diagonal->xi_to_rates(tree(), d_, d_.xi, v.data());
}
void DiagonalizedDynamics::forces_to_kappa(In<double> tau, Out<double> kappa) {
  check_pair("forces_to_kappa", tau.size(), "tau", kappa.size());
  kernel_set().diagonal->forces_to_kappa(tree(), d_, tau.data(), kappa.data());
}
void DiagonalizedDynamics::forces_to_epsilon(In<double> tau, Out<double> epsilon) {
  check_pair("forces_to_epsilon", tau.size(), "tau", epsilon.size());
  kernel_set().diagonal->forces_to_kappa(tree(), d_, tau.data(), epsilon.data());
  kernel_set().diagonal->solve_root(tree(), d_, epsilon.data());
}
void DiagonalizedDynamics::kappa_to_forces(In<double> kappa, Out<double> tau) {
  check_pair("kappa_to_forces", kappa.size(), "kappa", tau.size());
  kernel_set().diagonal->kappa_to_forces(tree(), d_, kappa.data(), tau.data());
}
void DiagonalizedDynamics::epsilon_to_forces(In<double> epsilon, Out<double> tau) {
  check_pair("epsilon_to_forces", epsilon.size(), "epsilon", tau.size());
  std::copy(epsilon.begin(), epsilon.end(), d_.force);
  kernel_set().diagonal->times_root(tree(), d_, d_.force);
  kernel_set().diagonal->kappa_to_forces(tree(), d_, d_.force, tau.data());
}

void DiagonalizedDynamics::coriolis(const char* function, bool normalized, In<double> x, Out<double> C,
                                    Wrenches<double> wrenches) {
  check_pair(function, x.size(), normalized ? "nu" : "xi", C.size());
  const double* const forces = check_wrenches(function, wrenches);
  std::copy(x.begin(), x.end(), d_.xi);
  if (normalized) kernel_set().diagonal->solve_root_star(tree(), d_, d_.xi);
  kernel_set().diagonal->xi_to_rates(tree(), d_, d_.xi, d_.theta_dot);
  kernel_set().diagonal->coriolis_of_xi(tree(), d_.theta_dot, d_.xi, forces, d_, C.data());
  if (normalized) kernel_set().diagonal->coriolis_of_nu(tree(), d_.xi, d_, C.data());
}
void DiagonalizedDynamics::coriolis_nu(In<double> nu, Out<double> C, Wrenches<double> wrenches) {
  coriolis("coriolis_nu", true, nu, C, wrenches);
}
void DiagonalizedDynamics::coriolis_xi(In<double> xi, Out<double> C, Wrenches<double> wrenches) {
  coriolis("coriolis_xi", false, xi, C, wrenches);
}

void DiagonalizedDynamics::block_diagonal(const double* rows, Out<double> matrix) const {
  const int nv = tree().nv;
  std::fill(matrix.begin(), matrix.end(), 0);
  for (int k = 1; k < tree().slots(); ++k) {
    const int v = tree().index[k].v, end = k < tree().bodies ? tree().index[k + 1].v : nv;
    for (int i = v; i < end; ++i)
      for (int c = v; c <= i; ++c)
        matrix[static_cast<std::size_t>(i) * nv + c] = matrix[static_cast<std::size_t>(c) * nv + i] =
            rows[6 * i + c - v];
  }
}
void DiagonalizedDynamics::D(Out<double> matrix) const {
  require_update("D");
  check("D", "the matrix", matrix.size(), static_cast<std::size_t>(model_.nv()) * model_.nv());
  block_diagonal(m_.D, matrix);
}
DiagonalizedDynamics::Terms DiagonalizedDynamics::terms(In<double> v, Wrenches<double> wrenches) {
  const std::size_t nv = model_.nv();
  Terms t;
  for (auto* x : {&t.nu, &t.xi, &t.coriolis_nu, &t.coriolis_xi}) x->resize(nv);
  rates_to_xi(v, t.xi);
  rates_to_nu(v, t.nu);
  coriolis_nu(t.nu, t.coriolis_nu, wrenches);
  coriolis_xi(t.xi, t.coriolis_xi, wrenches);
  t.D.resize(nv * nv);
  t.D_dot.resize(nv * nv);
  D(t.D);
  block_diagonal(d_.D_dot, t.D_dot);
  return t;
}

void DiagonalizedDynamics::motion(const char* function, bool normalized, In<double> q, In<double> x,
                                  In<double> tau, Out<double> rate, Wrenches<double> wrenches) {
  check(function, "q", q.size(), model_.nq());
  check(function, normalized ? "nu" : "xi", x.size(), model_.nv());
  check(function, "tau", tau.size(), model_.nv());
  check(function, "the result", rate.size(), model_.nv());
  const double* const forces = check_wrenches(function, wrenches);
  updated_ = false;
  const auto kernel = normalized ? kernel_set().diagonal->nu_dot : kernel_set().diagonal->xi_dot;
  if (!(kernel(tree(), q.data(), x.data(), tau.data(), forces, d_, rate.data()) > 0))
    throw_singular(model_, function, m_.inv_D);
}
void DiagonalizedDynamics::nu_dot(In<double> q, In<double> nu, In<double> tau, Out<double> rate,
                                  Wrenches<double> wrenches) {
  motion("nu_dot", true, q, nu, tau, rate, wrenches);
  updated_ = true;
}
void DiagonalizedDynamics::xi_dot(In<double> q, In<double> xi, In<double> tau, Out<double> rate,
                                  Wrenches<double> wrenches) {
  motion("xi_dot", false, q, xi, tau, rate,
         wrenches);  // leaves no roots of D: update() is still needed for nu
}

void decoupled_rate_control(DiagonalizedDynamics& work, In<double> v, In<double> desired_nu, In<double> gains,
                            RateCompensation compensation, Out<double> tau) {
  const std::size_t nv = work.model().nv();
  for (const auto& [name, size] : {std::pair{"v", v.size()}, std::pair{"desired_nu", desired_nu.size()},
                                   std::pair{"gains", gains.size()}, std::pair{"tau", tau.size()}})
    if (size != nv)
      throw ArgumentError(fmt::format("decoupled_rate_control: {} has {} numbers, model '{}' needs {}", name,
                                      size, work.model().name(), nv));
  const std::span<double> nu(work.control_.data(), nv), eps(work.control_.data() + nv, nv);
  work.rates_to_nu(v, nu);
  if (compensation == RateCompensation::all) {
    work.coriolis_nu(nu, eps);
  } else {
    std::fill(tau.begin(), tau.end(), 0.0);  // at rest
    work.coriolis_nu(tau, eps);
  }
  for (std::size_t i = 0; i < nv; ++i) eps[i] += gains[i] * (desired_nu[i] - nu[i]);
  work.epsilon_to_forces(eps, tau);
}

}  // namespace articula
