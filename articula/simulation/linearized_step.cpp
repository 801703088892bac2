#include "articula/simulation/linearized_step.hpp"

#include <fmt/format.h>

#include "articula/dynamics/forward_dynamics_text.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/spatial/dual.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {

using D = Dual<double>;

struct LinearizedStep::Work {
  Work(const Model& m, ExplicitMethod how)
      : model(m),
        method(how),
        manifold(m),
        tree(m.tree<double>()),
        x(static_cast<std::size_t>(tree.slots()) * body::count),
        side(static_cast<std::size_t>(tree.slots()) * side_count),
        K(6 * static_cast<std::size_t>(tree.nv) + 1),
        nu(static_cast<std::size_t>(tree.nv) + 1),
        lambda(6 * static_cast<std::size_t>(tree.slots())),
        q(m.nq() + 1),
        v(m.nv() + 1),
        tau(m.nv() + 1),
        euler(manifold),
        symplectic(manifold),
        rk4(manifold),
        rates(m.nq() + 1),
        unit(m.nv() + 1) {
    memory.x = x.data(), memory.side = side.data(), memory.K = K.data(), memory.nu = nu.data(),
    memory.lambda = lambda.data();
  }

  void step(double h) {
    const auto acceleration = [this](double, In<D> at, In<D> rate, Out<D> a) {
      portable::forward_dynamics<D>(tree, at.data(), rate.data(), tau.data(), static_cast<const D*>(nullptr),
                                    memory, a.data());
    };
    const System<D> system{manifold, acceleration};
    const Out<D> q_span(q.data(), model.nq()), v_span(v.data(), model.nv());
    if (method == ExplicitMethod::euler)
      euler.step(system, 0, h, q_span, v_span);
    else if (method == ExplicitMethod::symplectic_euler)
      symplectic.step(system, 0, h, q_span, v_span);
    else
      rk4.step(system, 0, h, q_span, v_span);
  }

  const Model model;
  const ExplicitMethod method;
  const Manifold manifold;
  const Tree<double>& tree;
  std::vector<D> x, side, K, nu, lambda, q, v, tau;
  KernelMemory<D> memory;
  ExplicitEuler<D> euler;
  SymplecticEuler<D> symplectic;
  RungeKutta4<D> rk4;
  std::vector<double> rates, unit;
};

LinearizedStep::LinearizedStep(const Model& model, ExplicitMethod method) {
  if (model.has_mimics())
    throw ArgumentError(fmt::format("LinearizedStep: model '{}' has mimic joints", model.name()));
  work_ = std::make_unique<Work>(model, method);
}
LinearizedStep::~LinearizedStep() = default;
LinearizedStep::LinearizedStep(LinearizedStep&&) noexcept = default;

void LinearizedStep::compute(In<double> q, In<double> v, In<double> tau, double h, Out<double> A,
                             Out<double> B, Out<double> q_next, Out<double> v_next) {
  Work& w = *work_;
  const std::size_t nq = w.model.nq(), nv = w.model.nv();
  const auto check = [&](const char* name, std::size_t size, std::size_t expected) {
    if (size != expected)
      throw ArgumentError(fmt::format("LinearizedStep::compute: {} has {} numbers, model '{}' needs {}", name,
                                      size, w.model.name(), expected));
  };
  check("q", q.size(), nq), check("v", v.size(), nv), check("tau", tau.size(), nv);
  check("A", A.size(), 4 * nv * nv), check("B", B.size(), 2 * nv * nv);
  check("q_next", q_next.size(), nq), check("v_next", v_next.size(), nv);
  for (std::size_t column = 0; column < 3 * nv; ++column) {
    const std::size_t kind = column / nv, i = column % nv;
    std::fill(w.unit.begin(), w.unit.end(), 0.0);
    std::fill(w.rates.begin(), w.rates.end(), 0.0);
    w.unit[i] = 1;
    if (kind == 0) w.manifold.coordinate_rates(q.data(), w.unit.data(), w.rates.data());
    for (std::size_t j = 0; j < nq; ++j) w.q[j] = {q[j], w.rates[j]};
    for (std::size_t j = 0; j < nv; ++j) {
      w.v[j] = {v[j], kind == 1 ? w.unit[j] : 0};
      w.tau[j] = {tau[j], kind == 2 ? w.unit[j] : 0};
    }
    w.step(h);
    // The tangent vector of the new configuration's derivative.
    for (std::size_t j = 0; j < nq; ++j) q_next[j] = w.q[j].x, w.rates[j] = w.q[j].d;
    w.manifold.velocities_of(q_next.data(), w.rates.data(), w.unit.data());
    double* const out = kind == 2 ? B.data() : A.data();
    const std::size_t columns = kind == 2 ? nv : 2 * nv, at = kind == 2 ? i : column;
    for (std::size_t j = 0; j < nv; ++j) {
      out[j * columns + at] = w.unit[j];
      out[(nv + j) * columns + at] = w.v[j].d;
      v_next[j] = w.v[j].x;
    }
  }
  if (nv == 0) std::copy(q.begin(), q.end(), q_next.begin());
}

}  // namespace articula
