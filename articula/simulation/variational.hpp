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

/// What moves, seen in (q, p). Borrowed, as a System.
template <class S>
struct MomentumSystem {
  const Manifold& manifold;
  FunctionRef<void(In<S> q, In<S> v, Out<S> p)> momentum;            // M v
  FunctionRef<void(In<S> q, In<S> p, Out<S> v)> velocity;            // M^-1 p
  FunctionRef<void(double t, In<S> q, In<S> w, Out<S> rate)> force;  // C* w - g + forces
};

/// The rule's equations over one step: its unknown w is where `next` equals it. Used as MidpointEquations
/// are.
template <class S>
class VariationalEquations {
 public:
  explicit VariationalEquations(const Manifold& manifold);
  Out<S> unknown() { return w_; }
  In<S> next() const { return next_; }
  /// p0, and after `finish` p1.
  In<S> momentum() const { return p0_; }

  void begin(const MomentumSystem<S>& system, In<S> q, In<S> v);
  void evaluate(const MomentumSystem<S>& system, double t, double h, In<S> q, In<S> v);
  void finish(const MomentumSystem<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  void place(const MomentumSystem<S>& system, double h, In<S> q);
  std::vector<S> p0_, p_, w_, next_, u_, rate_, middle_, end_;
};

class Variational {
 public:
  /// Joint forces at a state: everything but gravity. Empty: none.
  using Forces = FunctionRef<void(double t, In<double> q, In<double> v, Out<double> tau)>;

  explicit Variational(const Model& model);
  const Model& model() const { return factor_.model(); }
  /// From (q, v) to (q, v): nothing else is kept from step to step; p0 = M(q) v and v1 = M(q1)^-1 p1. No
  /// allocation. Throws IntegrationError, the state as before, where the iteration does not converge: the
  /// step is too long or the forces too stiff.
  void step(Forces forces, double t, double h, Out<double> q, Out<double> v);
  int iterations() const { return iterations_; }  // of the last step
  /// w of the last step.
  In<double> mean_velocity() { return equations_.unknown(); }

 private:
  Manifold manifold_;
  MassFactor<double> factor_;
  Coriolis coriolis_;
  InverseDynamics<double> inverse_;
  VariationalEquations<double> equations_;
  std::vector<double> g_, C_;
  int iterations_ = 0;
};

}  // namespace articula
