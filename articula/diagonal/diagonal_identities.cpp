#include "articula/diagonal/diagonal_identities.hpp"

#include <algorithm>
#include <cmath>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/diagonal/operator_rates.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

namespace {

using dense::Matrix;

Matrix matrix(const operators::Dense& d) { return dense::view(d.numbers, d.rows, d.columns); }

/// What the equations are made of. root = D^1/2, one number for each joint.
struct Parts {
  Parts(const Model& model, In<double> q, In<double> v);

  Matrix H, phi, psi, M, P, G, tau_bar, E_psi, P_dot, Od, lambda, one;
  Matrix root, inv_root, m, m_dot, l, F, F_dot;  // F = [Id + H phi K]
  Matrix th, V, V_cross, b, xi, nu;              // V_cross = S[V] (33); b = S[V] M V - M (0, g)
  Matrix skew;                                   // E_psi lambda - lambda E_psi* - Od P + P Od*
  Matrix quadratic;                              // th'* M_th th'
  Matrix gravity, C_nu, C_xi;                    // by the library's recursions
};

Parts::Parts(const Model& model, In<double> q, In<double> v) {
  const OperatorRates rates = operator_rates(model, q, v);
  const auto value = [&](const char* name) { return matrix(rates[name].value); };
  H = value("H"), phi = value("phi"), psi = value("psi"), M = value("M"), P = value("P"), G = value("G");
  tau_bar = value("tau_bar"), E_psi = value("E_psi"), P_dot = matrix(rates["P"].local);
  Od = matrix(rates.Omega_delta), lambda = matrix(rates.lambda), one = Matrix::identity(phi.rows());
  m = matrix(rates.m), m_dot = matrix(rates.m_dot), l = dense::LU(m).inverse();
  const int n = H.rows();
  const Matrix D = value("D"), D_dot = matrix(rates["D"].local);
  root = inv_root = Matrix(n, n);
  Matrix root_dot(n, n);
  for (int i = 0; i < n; ++i) {
    root(i, i) = std::sqrt(D(i, i)), inv_root(i, i) = 1 / root(i, i);
    root_dot(i, i) = D_dot(i, i) / 2 * inv_root(i, i);
  }
  F = m * inv_root;
  F_dot = (m_dot - F * root_dot) * inv_root;
  th = Matrix::column(v);
  V = star(phi) * star(H) * th;
  V_cross = Matrix(V.rows(), V.rows());
  Matrix g(V.rows(), 1);
  for (int at = 0; at < V.rows(); at += 6) {
    const Spatial<double> x = dense::spatial(V.part(at, 6));
    const Matrix w = dense::matrix(tilde(x.w)), u = dense::matrix(tilde(x.v));
    V_cross.block(at, at, 3, 3) = w, V_cross.block(at, at + 3, 3, 3) = u,
                             V_cross.block(at + 3, at + 3, 3, 3) = w;
    g.part(at + 3, 3) = dense::column(model.gravity());
  }
  b = V_cross * (M * V) - M * g;
  xi = star(F) * th, nu = star(m) * th;
  skew = E_psi * lambda - lambda * star(E_psi) - Od * P + P * star(Od);
  gravity = Matrix::column(gravity_forces(model, q));
  quadratic =
      2 * ((m_dot * star(m) + m * star(m_dot)) * th - (Matrix::column(bias_forces(model, q, v)) - gravity));
  DiagonalizedDynamics own(model);
  own.update(q);
  C_nu = C_xi = Matrix(n, 1);
  own.coriolis_nu(nu.numbers(), C_nu.numbers());
  own.coriolis_xi(xi.numbers(), C_xi.numbers());
}

struct Checks {
  std::vector<operators::IdentityResidual> found{};
  void put(const char* name, const char* source, const Matrix& left, const Matrix& right) {
    found.push_back({name, source, dense::largest(left - right) / std::max(1.0, dense::largest(right))});
  }
};

/// (29)-(36): rates of the mass factor and of xi, with any accelerations a.
void check_rates(const Parts& p, const Matrix& a, Checks& checks) {
  const Matrix &H = p.H, &phi = p.phi, &P = p.P, &Od = p.Od, &V = p.V;
  const Matrix left = H * phi, right = star(H) * p.inv_root, both = p.one + p.tau_bar;
  const Matrix phi_K_H = phi * (p.one - p.tau_bar) - (p.one - p.tau_bar);  // (phi - I) G H
  checks.put("m' = H phi [Od phi P + (Id + tau_bar) P' / 2] H* D^-1/2", "DIAG (29)",
             left * (Od * phi * P + 0.5 * (both * p.P_dot)) * right, p.m_dot);
  checks.put("m' = H phi [Od (phi - I) P + (Id + tau_bar) lambda / 2] H* D^-1/2", "DIAG (30)",
             left * (Od * (phi - p.one) * P + 0.5 * (both * p.lambda)) * right, p.m_dot);
  checks.put("m' nu = H phi [Od phi K H P + (Od P + P Od* + E_psi lambda - lambda E_psi*) / 2] V",
             "DIAG (31)", left * ((Od * phi_K_H * P + 0.5 * (p.skew + 2 * (Od * P))) * V), p.m_dot * p.nu);
  checks.put("th'* M_th th' = 2 H phi [Od (Id + phi K H) P - S[V] M] V", "DIAG (32), (33)",
             2 * (left * ((Od * (p.one + phi_K_H) * P - p.V_cross * p.M) * V)), p.quadratic);
  checks.put("xi' = D^-1 H P' tau_bar* V + D^-1 H P phi* Od* V + G* phi* H* th''", "DIAG (35), (36)",
             p.inv_root * p.inv_root * H * ((p.P_dot * star(p.tau_bar) + P * star(phi) * star(Od)) * V) +
                 star(p.G) * star(phi) * star(H) * a,
             star(p.F_dot) * p.th + star(p.F) * a);
}

/// (40)-(49): the Coriolis terms.
void check_coriolis(const Parts& p, const CoriolisComponents& parts, Checks& checks) {
  const Matrix whitened = p.inv_root * p.H * p.psi, smoothed = star(whitened);
  checks.put("C(th, nu) = l (m' nu - th'* M_th th' / 2) + l g", "DIAG (40), (41)",
             p.l * (p.m_dot * p.nu - 0.5 * p.quadratic + p.gravity), p.C_nu);
  checks.put(
      "C(th, nu) = D^-1/2 H psi {(E_psi lambda - lambda E_psi* - Od P + P Od*) psi* H* D^-1/2 nu + 2 b} / 2",
      "DIAG (42)", 0.5 * (whitened * (p.skew * (smoothed * p.nu) + 2 * p.b)), p.C_nu);
  checks.put("C(th, xi) = H psi [lambda H* xi - Od P V + b]", "DIAG (44), (45)",
             p.H * p.psi * (p.lambda * star(p.H) * p.xi - p.Od * (p.P * p.V) + p.b), p.C_xi);
  checks.put("C(th, xi) = D^1/2 C(th, nu) + H lambda H* xi / 2", "DIAG (46)",
             p.root * p.C_nu + 0.5 * (p.H * p.lambda * star(p.H) * p.xi), p.C_xi);
  checks.put("V* (E_psi lambda - lambda E_psi* - Od P + P Od*) V = 0", "DIAG (47)",
             star(p.V) * (p.skew * p.V), Matrix(1, 1));
  checks.put("C(th, nu) = c nu + bias, entry by entry", "DIAG (48)",
             matrix(parts.c) * p.nu + Matrix::column(parts.bias), p.C_nu);
  checks.put("C(th, xi) = c xi + bias, entry by entry", "DIAG (48), Fig. 1",
             matrix(parts.c_xi) * p.xi + Matrix::column(parts.bias_xi), p.C_xi);
  checks.put("V = psi* H* D^-1/2 nu", "DIAG (49)", smoothed * p.nu, p.V);
}

}  // namespace

std::string why_no_diagonal_identities(const Model& model) {
  const Tree<double>& tree = model.tree<double>();
  if (tree.nv == 0) return "no joint moves";
  if (model.has_mimics()) return "the model has mimic joints";
  if (tree.nv != tree.bodies) return "a joint has several freedoms";
  if (std::any_of(tree.armature, tree.armature + tree.nv, [](double x) { return x != 0; }))
    return "the model has rotor inertias";
  return "";
}

std::vector<operators::IdentityResidual> diagonal_identities(const Model& model, In<double> q, In<double> v) {
  if (!why_no_diagonal_identities(model).empty()) return {};
  const int n = model.nv();
  std::vector<double> a(n), T(n);
  for (int i = 0; i < n; ++i) a[i] = std::sin(i + 1);
  Checks checks;
  operators::OperatorState state(model);
  state.update(q, v);
  const char* const torques = "H*(phi*R + R*star(phi - I))*(star(H)*a + a_bias + star(E)*a_g) + H*phi*b_bias";
  operators::Program(state, operators::parse(torques).node).evaluate({a}, T);
  checks.put("T = H (phi R + R (phi - I)*) (H* th'' + a + E* a_g) + H phi b", "DIAG (38), (39)",
             Matrix::column(T), Matrix::column(inverse_dynamics(model, q, v, a)));
  const Parts parts(model, q, v);
  check_rates(parts, Matrix::column(a), checks);
  check_coriolis(parts, coriolis_components(model, q, v), checks);
  return checks.found;
}

}  // namespace articula
