// The local-flatness condition of DIAG section 1 (Koditschek 1985, Spong 1992): whether coordinates Q(q) exist in which
// the kinetic energy is |Q'|^2 / 2, so that nu would be their rates. The mass matrix is a metric on configurations, and
// the condition is that its Riemann symbols of the first kind vanish. It is rarely satisfied: then nu are the rates of
// quasi-coordinates only.
#pragma once

#include <vector>

#include "articula/dynamics/workspace.hpp"

namespace articula {

struct MassCurvature {
  int n = 0;
  /// R(a, b, c, d), n^4 numbers, the last index first to change.
  std::vector<double> riemann{};
  double largest = 0;  // of their absolute values
  double scale = 0;    // the largest number of the mass matrix, or of the terms that they are sums of
  bool flat = true;    // largest <= tolerance * scale
  double operator()(int a, int b, int c, int d) const { return riemann[((a * n + b) * n + c) * n + d]; }
};
/// At q, exactly (by LIN Algorithm 2, not by differences), in O(n^5). ArgumentError for joints whose velocities are no
/// rates of coordinates (several freedoms), and for more than 40 velocities.
MassCurvature mass_curvature(const Model& model, In<double> q, double tolerance = 1e-10);

}  // namespace articula
