// A structure-preserving integrator for a Model: the midpoint rule in configuration and momentum, p = M v.
//
//   p = M(q half way) w,   p - p0 = h/2 [C(q, w)* w - g(q) + forces],   p1 = 2 p - p0,   q1 = q0 cay(h w)
//
// C* w is dL/dq and the turning of the momenta together, since dM/dt = C + C* (coriolis.hpp). Where all
// joints have coordinates that add, this is the implicit midpoint rule of Hamilton's equations: the
// variational integrator of the midpoint Lagrangian, symplectic, of second order, with an energy error that
// stays bounded. A free base's momentum is carried by the Cayley map of the adjoint representation as by the
// rule, so that a mechanism in free flight keeps its momentum, and a free body its energy too, to rounding.
#pragma once

#include <vector>

#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/simulation/system.hpp"

namespace articula {

class Variational {
 public:
  /// Joint forces at a state: everything but gravity. Empty: none.
  using Forces = FunctionRef<void(double t, In<double> q, In<double> v, Out<double> tau)>;

  explicit Variational(const Model& model);
  const Model& model() const { return factor_.model(); }
  /// No allocation. Throws IntegrationError, the state as before, where the iteration does not converge: the
  /// step is too long or the forces too stiff.
  void step(Forces forces, double t, double h, Out<double> q, Out<double> v);
  int iterations() const { return iterations_; }  // of the last step

 private:
  Manifold manifold_;
  MassFactor<double> factor_;
  Coriolis coriolis_;
  InverseDynamics<double> inverse_;
  std::vector<double> memory_, C_;
  int iterations_ = 0;
};

}  // namespace articula
