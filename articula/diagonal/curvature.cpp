#include "articula/diagonal/curvature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

namespace {

constexpr int most = 40;

void check(const Model& model, In<double> q) {
  const std::size_t nq = model.nq();
  if (q.size() != nq)
    throw ArgumentError(fmt::format("mass_curvature: q has {} numbers, model '{}' needs nq = {}", q.size(),
                                    model.name(), nq));
  for (const Joint& joint : model.joints())
    if (joint.nv > 1)
      throw ArgumentError(fmt::format(
          "mass_curvature: joint '{}' has {} freedoms; its velocities are no rates of coordinates",
          joint.name, joint.nv));
  if (model.nv() > most)
    throw ArgumentError(fmt::format("mass_curvature: model '{}' has {} velocities; at most {}", model.name(),
                                    model.nv(), most));
}

/// Christoffel symbols of the first kind, G(a,b,c) v_b v_c being the velocity terms of tau_a, and their gradients, from
/// inverse dynamics and its linearization at v = e_b + e_c.
struct Symbols {
  Symbols(const Model& model, In<double> q) : n(model.nv()), first(n * n * n), gradient(n * n * n * n) {
    LinearizedInverse<double> linear(model);
    InverseDynamics<> inverse(model);
    std::vector<double> v(n), zero(n), tau(n), dq(n * n), dv(n * n), da(n * n);
    const auto at = [&](double sign, int b, int c) {
      linearized_inverse<double>(linear, q, v, zero, dq, dv, da);
      bias_forces(inverse, q, v, tau);
      for (int a = 0; a < n; ++a) {
        G(a, b, c) += sign * tau[a];
        for (int d = 0; d < n; ++d) dG(a, b, c, d) += sign * dq[a * n + d];
      }
    };
    const auto moving = [&](int i, int j) {
      std::fill(v.begin(), v.end(), 0.0);
      if (i >= 0) v[i] += 1;
      if (j >= 0) v[j] += 1;
    };
    for (int b = 0; b < n; ++b)
      for (int c = b; c < n; ++c) {  // f(e_b + e_c) - f(e_b) - f(e_c) + f(0), without gravity in it, is 2 G
        moving(b, c), at(0.5, b, c);
        moving(b, -1), at(-0.5, b, c);
        moving(c, -1), at(-0.5, b, c);
        moving(-1, -1), at(0.5, b, c);
        for (int a = 0; a < n && c != b; ++a) {
          G(a, c, b) = G(a, b, c);
          for (int d = 0; d < n; ++d) dG(a, c, b, d) = dG(a, b, c, d);
        }
      }
  }
  double& G(int a, int b, int c) { return first[(a * n + b) * n + c]; }
  double& dG(int a, int b, int c, int d) { return gradient[((a * n + b) * n + c) * n + d]; }
  int n;
  std::vector<double> first, gradient;
};

}  // namespace

MassCurvature mass_curvature(const Model& model, In<double> q, double tolerance) {
  check(model, q);
  Symbols s(model, q);
  const int n = s.n;
  MassCurvature out;
  out.n = n;
  out.riemann.resize(static_cast<std::size_t>(n) * n * n * n);
  if (n == 0) return out;
  // Symbols of the second kind, up(b,c) = M^-1 G(.,b,c).
  const std::vector<double> M = mass_matrix(model, q);
  out.scale = dense::largest(dense::view(M, n, n));
  const dense::Cholesky mass(dense::view(M, n, n));
  const dense::Matrix up = mass.solve(dense::view(s.first, n, n * n));
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      for (int c = 0; c < n; ++c)
        for (int d = 0; d < n; ++d) {
          double products = 0;
          for (int e = 0; e < n; ++e)
            products += up(e, b * n + c) * s.G(e, a, d) - up(e, b * n + d) * s.G(e, a, c);
          const double plus = s.dG(a, b, d, c), minus = s.dG(a, b, c, d), R = plus - minus + products;
          out.riemann[((a * n + b) * n + c) * n + d] = R;
          out.largest = std::max(out.largest, std::abs(R));
          out.scale = std::max({out.scale, std::abs(plus), std::abs(products)});
        }
  out.flat = out.largest <= tolerance * out.scale;
  return out;
}

}  // namespace articula
