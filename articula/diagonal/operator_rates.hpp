// The operators as dense matrices with their time derivatives (DIAG Table 1), the mass factor m with its own
// (DIAG 29), and the Coriolis term of the diagonalized equations entry by entry (DIAG 48): for study and for
// tests, O(n^3).
//
// World axes, each body's quantities at its joint origin O_k; body space stacked base to tip, six numbers per
// body, rotation first; joint space in velocity order. The inertial derivative is that of these numbers. The
// local one is what an observer on each body sees: the derivative of the components in the bodies' own axes,
// written in world axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "articula/dynamics/workspace.hpp"
#include "articula/operators/operator_state.hpp"

namespace articula {

struct OperatorRates {
  using Dense = operators::Dense;
  struct Operator {
    std::string name;
    Dense value, local, inertial;
  };
  /// E_phi, phi, H, M, P, D, G, tau_bar, E_psi, psi.
  std::vector<Operator> operators;
  const Operator& operator[](std::string_view name) const;

  Dense Omega;        // diag(w~, w~) of each body (DIAG 2)
  Dense Omega_delta;  // S[H* th'] of each joint: DIAG (4) for joints that slide too
  Dense lambda;    // P' + Omega_delta P + P Omega_delta* (DIAG 20): the rate of P seen from the inboard body
  Dense m, m_dot;  // M = m m*, m = [Id + H phi K] D^1/2 (DIAG 26); the same in any axes
  Dense axes;      // diag(R, R) of each body: takes its own components to world axes
};
/// ArgumentError for models with mimic joints, whose hinges share coordinates.
OperatorRates operator_rates(const Model& model, In<double> q, In<double> v);

/// C(q, nu) = c nu + bias, with c skew-symmetric; for i outboard of k
///
///   c(k,i) = D^-1/2(k) H(k) [ sum over m outboard of i of psi(k,m) P(m) Od*(m) psi*(i,m) ] H*(i) D^-1/2*(i)
///
/// DIAG (48) prints Od for Od*: the opposite sign, for revolute joints. Written with P+ = taubar P and phi
/// across joint m, this holds for joints with several freedoms too; these also have a skew block of their own
/// on the diagonal. bias = D^-1/2 H psi b holds what is left: b = S[V] M V - M (0, g).
struct CoriolisComponents {
  operators::Dense c;
  std::vector<double> bias, nu;
  /// C(q, xi) = c_xi xi + bias_xi. Off the diagonal (48) without its factors D^-1/2; on the diagonal the sum begins with
  /// m = i, which gives D'/2.
  operators::Dense c_xi;
  std::vector<double> bias_xi, xi;
};
CoriolisComponents coriolis_components(const Model& model, In<double> q, In<double> v);

}  // namespace articula
