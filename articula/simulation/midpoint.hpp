// The implicit midpoint rule on the manifold: symmetric, second order, for any system.
//
//   w = (v0 + v1)/2,   v1 = v0 + h a(t + h/2, q half way, w),   q1 = q0 cay(h w)
//
// For a free body it keeps energy and momentum to rounding (the rule keeps quadratic invariants of p' = ad*_w
// p, and the Cayley map of the adjoint representation carries p as the rule does). For mechanisms the energy
// error stays small because the rule is reversible; variational.hpp is the one to take where there is a
// Model.
#pragma once

#include <vector>

#include "articula/simulation/system.hpp"

namespace articula {

/// The rule's equations over one step: its unknown, the mean velocity w, is where `next` equals it. What
/// solves them (ImplicitMidpoint) and what differentiates them (linearized_step.hpp) share this text.
template <class S>
class MidpointEquations {
 public:
  explicit MidpointEquations(const Manifold& manifold);
  Out<S> unknown() { return x_; }
  In<S> next() const { return next_; }

  /// Called once per step, before the unknown is evaluated.
  void begin(const System<S>& system, In<S> q, In<S> v);
  /// `next` of the unknown.
  void evaluate(const System<S>& system, double t, double h, In<S> q, In<S> v);
  /// The state at the end, from the unknown and its last evaluation.
  void finish(const System<S>& system, double t, double h, Out<S> q, Out<S> v);

 private:
  void place(const System<S>& system, double t, double h, In<S> q);
  std::vector<S> x_, next_, u_, a_, middle_, end_;
};

class ImplicitMidpoint {
 public:
  explicit ImplicitMidpoint(const Manifold& manifold) : equations_(manifold) {}
  /// Iterates to rounding. Throws IntegrationError, the state as before, where that does not converge: the
  /// step is too long or the system too stiff.
  void step(const System<double>& system, double t, double h, Out<double> q, Out<double> v);
  int iterations() const { return iterations_; }  // of the last step
  /// w of the last step.
  In<double> mean_velocity() { return equations_.unknown(); }

 private:
  MidpointEquations<double> equations_;
  int iterations_ = 0;
};

}  // namespace articula
