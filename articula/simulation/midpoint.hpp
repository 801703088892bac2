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

class ImplicitMidpoint {
 public:
  explicit ImplicitMidpoint(const Manifold& manifold)
      : memory_(4 * manifold.nv() + 2 * manifold.nq()), nv_(manifold.nv()) {}
  /// Iterates to rounding. Throws IntegrationError, the state as before, where that does not converge: the
  /// step is too long or the system too stiff.
  void step(const System<double>& system, double t, double h, Out<double> q, Out<double> v);
  int iterations() const { return iterations_; }  // of the last step

 private:
  std::vector<double> memory_;
  std::size_t nv_;
  int iterations_ = 0;
};

}  // namespace articula
