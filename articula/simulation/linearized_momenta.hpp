// What the derivative of a variational step asks for: momenta, velocities and forces, linearized; internal.
#pragma once

#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/simulation/forces.hpp"
#include "articula/simulation/variational.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula::step_derivatives {

/// y(q, x, tau) at a point where a step asks for it, and its derivatives, nv x nv.
struct Point {
  explicit Point(std::size_t n) : y(n), by_q(n * n), by_x(n * n), by_tau(n * n) {}
  std::vector<double> y;
  std::vector<double> by_q, by_x, by_tau;
};

/// Without gravity, linearized inverse dynamics at rest is that of a -> M a, and linearized forward dynamics that of
/// p -> M^-1 p.
struct InMomenta {
  InMomenta(const Model& model, const Manifold& manifold);
  void momentum(In<double> q, In<double> v, Point& p);
  void velocity(In<double> q, In<double> momentum, Point& p);
  /// C* w = dM/dt w - C w, so that C* w - g + forces = dM/dt w - (bias - external forces) + tau, and
  /// dM/dt w = d(M x)/dq w at x = w. Its derivative by q is the second one of M x, with x and w held.
  void force(In<double> q, In<double> w, In<double> tau, const LinearizationOptions<double>& options,
             Point& p);
  /// External forces as joint forces: bias forces at rest with them are g - J* f.
  void add_external(In<double> q, Wrenches<double> wrenches, Out<double> tau);

  Variational rule;
  VariationalEquations<StepDual> equations;
  const Model weightless;
  LinearizedInverse<> product;
  LinearizedForward<> solution;
  SecondOrder second;
  Coriolis coriolis;
  LinearizedInverse<> linearized;
  InverseDynamics<> inverse;
  std::vector<double> zero, unit, column;
  JointDampers dampers;
  std::vector<double> S, T, U;  // nv x nv
};

}  // namespace articula::step_derivatives
