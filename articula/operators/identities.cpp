#include "articula/operators/identities.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "articula/operators/inverses.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/trials.hpp"

namespace articula::operators {

// JPL88 writes Phi = phi S, Psi = psi S and a block-diagonal L; here K = S L, so Phi L = phi K and Psi L =
// psi K. Its tildes are phi - I and psi - I. Where joints have rotor inertia, D has it too, and so have the
// right sides.
std::span<const OperatorIdentity> identities() {
  static constexpr OperatorIdentity all[] = {
      {"D = H P H* + rotor", "JPL88 (a.1)", "D", "H*P*star(H) + rotor"},
      {"G D = P H*", "JPL88 (a.2)", "G*D", "P*star(H)"},
      {"Phi L = phi K", "JPL88 (a.6)", "phi*S*L", "phi*K"},
      {"Psi L = psi K", "JPL88 (a.7)", "psi*S*L", "psi*K"},
      {"psi - I = psi E_psi", "JPL88 (a.8)", "psi - I", "psi*E_psi"},
      {"phi - I = phi E_phi", "JPL88 (a.9), OSC (55)", "phi - I", "phi*E_phi"},
      {"psi - I = E_psi psi", "JPL88 (a.10)", "psi - I", "E_psi*psi"},
      {"phi - I = E_phi phi", "JPL88 (a.11), OSC (55)", "phi - I", "E_phi*phi"},
      {"K = E_phi G", "JPL88 (a.12), OSC (27)", "K", "E_phi*G"},
      {"phi K = (phi - I) G", "JPL88 (a.13)", "phi*K", "(phi - I)*G"},
      {"phi = psi (I + K H phi)", "JPL88 (a.14)", "phi", "psi*(I + K*H*phi)"},
      {"psi = (I - psi K H) phi", "JPL88 (a.15)", "psi", "(I - psi*K*H)*phi"},
      {"Phi = Psi (I + L H Phi)", "JPL88 (a.16)", "phi*S", "psi*S*(I + L*H*phi*S)"},
      {"Psi = (I - Psi L H) Phi", "JPL88 (a.17)", "psi*S", "(I - psi*S*L*H)*phi*S"},
      {"phi - psi = psi K H phi", "JPL88 (a.18), OSC (52)", "phi - psi", "psi*K*H*phi"},
      {"phi = (I + phi K H) psi", "JPL88 (a.22)", "phi", "(I + phi*K*H)*psi"},
      {"psi = phi (I - K H psi)", "JPL88 (a.23)", "psi", "phi*(I - K*H*psi)"},
      {"Phi = (I + Phi L H) Psi", "JPL88 (a.24)", "phi*S", "(I + phi*S*L*H)*psi*S"},
      {"Psi = Phi (I - L H Psi)", "JPL88 (a.25)", "psi*S", "phi*S*(I - L*H*psi*S)"},
      {"phi K H psi = psi K H phi", "JPL88 (a.26), OSC (52)", "phi*K*H*psi", "psi*K*H*phi"},
      {"Phi L H Psi = Psi L H Phi", "JPL88 (a.27)", "phi*S*L*H*psi*S", "psi*S*L*H*phi*S"},
      {"phi - psi = phi K H psi", "JPL88 (a.28), OSC (52)", "phi - psi", "phi*K*H*psi"},
      {"H phi = (I + H phi K) H psi", "JPL88 (a.32)", "H*phi", "(I + H*phi*K)*H*psi"},
      {"H Phi = (I + H Phi L) H Psi", "JPL88 (a.33)", "H*phi*S", "(I + H*phi*S*L)*H*psi*S"},
      {"H Psi = H Phi (I - L H Psi)", "JPL88 (a.34)", "H*psi*S", "H*phi*S*(I - L*H*psi*S)"},
      {"H psi = (I - H psi K) H phi", "JPL88 (a.35), (5.4), OSC (53)", "H*psi", "(I - H*psi*K)*H*phi"},
      {"H Psi = (I - H Psi L) H Phi", "JPL88 (a.36)", "H*psi*S", "(I - H*psi*S*L)*H*phi*S"},
      {"H Phi = H Psi (I + L H Phi)", "JPL88 (a.37)", "H*phi*S", "H*psi*S*(I + L*H*phi*S)"},
      {"H Phi L H Psi = H Psi L H Phi", "JPL88 (a.38)", "H*phi*S*L*H*psi*S", "H*psi*S*L*H*phi*S"},
      {"phi K = psi K (I + H phi K)", "JPL88 (a.39)", "phi*K", "psi*K*(I + H*phi*K)"},
      {"psi K = (I - psi K H) phi K", "JPL88 (a.40)", "psi*K", "(I - psi*K*H)*phi*K"},
      {"psi K = phi K (I - H psi K)", "JPL88 (a.41)", "psi*K", "phi*K*(I - H*psi*K)"},
      {"phi K = (I + phi K H) psi K", "JPL88 (a.42)", "phi*K", "(I + phi*K*H)*psi*K"},
      {"phi K H psi K = psi K H phi K", "JPL88 (a.43)", "phi*K*H*psi*K", "psi*K*H*phi*K"},
      {"phi M phi* = R + (phi - I) R + R (phi - I)*", "JPL88 (a.45), docs/math.md 2", "phi*M*star(phi)",
       "R + (phi - I)*R + R*star(phi - I)"},
      {"psi M phi* = P + (psi - I) P + P (phi - I)*", "JPL88 (a.46), OSC (54)", "psi*M*star(phi)",
       "P + (psi - I)*P + P*star(phi - I)"},
      {"psi M phi* = psi P + P (phi - I)*", "OSC (54), docs/math.md 2", "psi*M*star(phi)",
       "psi*P + P*star(phi - I)"},
      {"psi (M + K rotor K*) psi* = P + (psi - I) P + P (psi - I)*", "JPL88 (a.47)",
       "psi*(M + K*rotor*star(K))*star(psi)", "P + (psi - I)*P + P*star(psi - I)"},
      {"phi M phi* = P + (phi - I) P + P (phi - I)* + (phi - I) P H* D^-1 H P (phi - I)*", "JPL88 (a.48)",
       "phi*M*star(phi)", "P + (phi - I)*P + P*star(phi - I) + (phi - I)*P*star(H)*inv(D)*H*P*star(phi - I)"},
      {"P = E_phi P E_phi* + M - K D K*", "JPL88 (a.49)", "P", "E_phi*P*star(E_phi) + M - K*D*star(K)"},
      {"phi (M - K D K*) phi* = P + (phi - I) P + P (phi - I)*", "JPL88 (a.48), (a.49)",
       "phi*(M - K*D*star(K))*star(phi)", "P + (phi - I)*P + P*star(phi - I)"},
      {"[I - H psi K]* D^-1 H psi M phi* = [I - H psi K]* D^-1 H (psi - I) P + K* psi* tau_bar* + G*",
       "JPL88 (a.50)", "star(I - H*psi*K)*inv(D)*H*psi*M*star(phi)",
       "star(I - H*psi*K)*inv(D)*H*(psi - I)*P + star(K)*star(psi)*star(tau_bar) + star(G)"},
      {"[I - H psi K]* D^-1 H P phi* = K* psi* tau_bar* + G*", "JPL88 (a.51)",
       "star(I - H*psi*K)*inv(D)*H*P + star(I - H*psi*K)*inv(D)*H*P*star(phi - I)",
       "star(K)*star(psi)*star(tau_bar) + star(G)"},
      {"H phi M phi* H* + rotor = [I + H phi K] D [I + H phi K]*", "JPL88 (4.11), OSC (49)",
       "H*phi*M*star(phi)*star(H) + rotor", "(I + H*phi*K)*D*star(I + H*phi*K)"},
      {"[I + H phi K] [I - H psi K] = I", "JPL88 (4.14), OSC (50)", "(I + H*phi*K)*(I - H*psi*K)", "I"},
      {"[I - H psi K] [I + H phi K] = I", "JPL88 (4.14), OSC (50)", "(I - H*psi*K)*(I + H*phi*K)", "I"},
      {"[I - H psi K] (H phi M phi* H* + rotor) [I - H psi K]* = D", "JPL88 (4.16), OSC (51)",
       "(I - H*psi*K)*(H*phi*M*star(phi)*star(H) + rotor)*star(I - H*psi*K)", "D"},
      {"root_D root_D* = D", "DIAG (22)", "root_D*star(root_D)", "D"},
      {"phi (I - E_phi) = I", "OSC (23)", "phi*(I - E_phi)", "I"},
      {"psi (I - E_psi) = I", "OSC (29)", "psi*(I - E_psi)", "I"},
      {"E_psi = E_phi - K H", "JPL88 (4.7), OSC (28), (33)", "E_psi", "E_phi - K*H"},
      {"tau_bar = I - G H", "OSC (28)", "tau_bar", "I - G*H"},
      {"P = E_psi P E_phi* + M", "JPL88 (4.5), OSC (24)", "P", "E_psi*P*star(E_phi) + M"},
      {"P = E_psi P E_psi* + K rotor K* + M", "OSC (24)", "P", "E_psi*P*star(E_psi) + K*rotor*star(K) + M"},
      {"R = E_phi R E_phi* + M", "JPL88 (a.44)", "R", "E_phi*R*star(E_phi) + M"},
      {"H tau_bar P = rotor G*", "JPL88 (a.47)", "H*tau_bar*P", "rotor*star(G)"},
      {"psi* H* D^-1 H psi M phi* = psi* H* D^-1 H psi P + phi* - psi*", "OSC (63)",
       "star(psi)*star(H)*inv(D)*H*psi*M*star(phi)",
       "star(psi)*star(H)*inv(D)*H*psi*P + star(phi) - star(psi)"},
      {"(I - H* D^-1 H psi P) E* = tau_bar* E*", "OSC (59)", "(I - star(H)*inv(D)*H*psi*P)*star(E)",
       "star(tau_bar)*star(E)"},
      {"M^-1 H phi = [I - H psi K]* D^-1 H psi", "OSC (60)", "star(I - H*psi*K)*inv(D)*(I - H*psi*K)*H*phi",
       "star(I - H*psi*K)*inv(D)*H*psi"},
  };
  return all;
}

namespace {

/// LIN's own, for a state with velocities.
constexpr OperatorIdentity ring_identities[] = {
    {"P_ring = E_psi P_ring E_phi* + M_ring", "LIN (4.12)", "P_ring", "E_psi*P_ring*star(E_phi) + M_ring"},
    {"G_ring D = P_ring* H*", "LIN (4.12)", "G_ring*D", "star(P_ring)*star(H)"},
    {"K_ring = E_phi G_ring", "LIN (4.12)", "K_ring", "E_phi*G_ring"},
    {"psi M_ring phi* = psi P_ring + P_ring phi* - P_ring", "LIN (A.2)", "psi*M_ring*star(phi)",
     "psi*P_ring + P_ring*star(phi) - P_ring"},
    {"[I - H psi K] H phi = H psi", "LIN Lemma 4.5", "(I - H*psi*K)*H*phi", "H*psi"},
    {"[I - H psi K]* D^-1 H psi M phi* = [I - H psi K]* D^-1 H psi P + K* psi*", "LIN Lemma 4.5",
     "star(I - H*psi*K)*inv(D)*H*psi*M*star(phi)", "star(I - H*psi*K)*inv(D)*H*psi*P + star(K)*star(psi)"},
    {"2 [I - H psi K]* D^-1 H psi (M phi* H*' + M_ring phi* H*) = [I - H psi K]* (D^-1 H psi Y_A + 2 K_ring* "
     "phi* H*) + "
     "2 K* psi* H*', Y_A = 2 (P_ring H* + P H*')",
     "LIN Lemmas 4.6, 4.7 (4.11), (4.13), (4.14)",
     "2*star(I - H*psi*K)*inv(D)*H*psi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))",
     "star(I - H*psi*K)*(2*inv(D)*H*psi*(P_ring*star(H) + P*star(H_dot)) + 2*star(K_ring)*star(phi)*star(H)) "
     "+ "
     "2*star(K)*star(psi)*star(H_dot)"},
    {"phi M_ring phi* = phi R_ring + R_ring (phi - I)*", "LIN (A.1), (3.7)", "phi*M_ring*star(phi)",
     "phi*R_ring + R_ring*star(phi - I)"},
    {"H phi M phi* H* = H (phi R + R (phi - I)*) H*", "LIN Lemma 3.2 (3.6)", "H*phi*M*star(phi)*star(H)",
     "H*(phi*R + R*star(phi - I))*star(H)"},
    {"H phi (M phi* H*' + M_ring phi* H*) = H phi (R_ring H* + R H*') + H (R_ring (phi - I)* H* + R (phi - "
     "I)* H*')",
     "LIN Lemma 3.2 (3.6)", "H*phi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))",
     "H*phi*(R_ring*star(H) + R*star(H_dot)) + H*(R_ring*star(phi - I)*star(H) + R*star(phi - "
     "I)*star(H_dot))"},
    {"psi* H* G_ring* (phi - I)* = J_ring phi* - psi* J_ring", "LIN (A.5), (4.22)",
     "star(psi)*star(H)*star(G_ring)*star(phi - I)", "J_ring*star(phi) - star(psi)*J_ring"},
};

/// With accelerations too. Y_B = 2 P_ring H*' + P H*'' + H_f (LIN 4.14).
constexpr OperatorIdentity second_identities[] = {
    {"H phi (H_f + 2 M_ring phi* H*' + M phi* H*'') = H phi (H_f + 2 R_ring H*' + R H*'') + H (2 R_ring (phi "
     "- "
     "I)* H*' + R (phi - I)* H*'')",
     "LIN Lemmas 3.1, 3.2 (3.2), (3.6)",
     "H*phi*(H_f + 2*M_ring*star(phi)*star(H_dot) + M*star(phi)*star(H_ddot))",
     "H*phi*(H_f + 2*R_ring*star(H_dot) + R*star(H_ddot)) + H*(2*R_ring*star(phi - I)*star(H_dot) + "
     "R*star(phi - I)*star(H_ddot))"},
    {"[I - H psi K]* D^-1 H psi (H_f + 2 M_ring phi* H*' + M phi* H*'') = [I - H psi K]* (D^-1 H psi Y_B + 2 "
     "K_ring* phi* H*') + K* psi* H*''",
     "LIN Lemmas 4.6, 4.7 (4.11), (4.13)",
     "star(I - H*psi*K)*inv(D)*H*psi*(H_f + 2*M_ring*star(phi)*star(H_dot) + M*star(phi)*star(H_ddot))",
     "star(I - H*psi*K)*(inv(D)*H*psi*(2*P_ring*star(H_dot) + P*star(H_ddot) + H_f) + "
     "2*star(K_ring)*star(phi)*star(H_dot)) + star(K)*star(psi)*star(H_ddot)"},
};
constexpr OperatorIdentity chain_second_identity = {
    "B_C = U psi Y_B + K* psi* E_B + Q* phi* H*', E_B = H*'' - Omega Y_B + 2 J_ring H*'",
    "LIN Lemma 4.9 (4.21)",
    "star(I - H*psi*K)*inv(D)*H*psi*(H_f + 2*M_ring*star(phi)*star(H_dot) + M*star(phi)*star(H_ddot))",
    "(inv(D)*H - star(K)*Omega*E_psi)*psi*(2*P_ring*star(H_dot) + P*star(H_ddot) + H_f) + "
    "star(K)*star(psi)*(star(H_ddot) - Omega*(2*P_ring*star(H_dot) + P*star(H_ddot) + H_f) + "
    "2*J_ring*star(H_dot)) + 2*star(K_ring - star(J_ring)*K)*star(phi)*star(H_dot)"};

/// LIN Lemma 4.9 with U = D^-1 H - K* Omega E_psi and L = D^-1 + K* Omega K (4.22), for a chain; Omega is LIN's
/// Upsilon. In trees bodies on different branches have more (docs/math.md 2).
constexpr OperatorIdentity chain_ring_identities[] = {
    {"[I - H psi K]* D^-1 H psi = U psi - K* psi* Omega, U = D^-1 H - K* Omega E_psi", "LIN (A.23), (4.22)",
     "star(I - H*psi*K)*inv(D)*H*psi", "(inv(D)*H - star(K)*Omega*E_psi)*psi - star(K)*star(psi)*Omega"},
    {"M^-1 = L - K* psi* U* - U psi K, L = D^-1 + K* Omega K", "LIN Lemma 4.9 (4.21)",
     "star(I - H*psi*K)*inv(D)*(I - H*psi*K)",
     "inv(D) + star(K)*Omega*K - star(K)*star(psi)*star(inv(D)*H - star(K)*Omega*E_psi) - (inv(D)*H - "
     "star(K)*Omega*E_psi)*psi*K"},
    {"A_C = U psi Y_A + K* psi* E_A + Q* phi* H*, E_A = 2 H*' - Omega Y_A + 2 J_ring H*, Q = 2 (K_ring - "
     "J_ring* K)",
     "LIN Lemma 4.9 (4.21)",
     "2*star(I - H*psi*K)*inv(D)*H*psi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))",
     "2*(inv(D)*H - star(K)*Omega*E_psi)*psi*(P_ring*star(H) + P*star(H_dot)) + "
     "2*star(K)*star(psi)*(star(H_dot) - "
     "Omega*(P_ring*star(H) + P*star(H_dot)) + J_ring*star(H)) + 2*star(K_ring - "
     "star(J_ring)*K)*star(phi)*star(H)"},
};

double residual_of(OperatorState& state, const OperatorIdentity& identity, std::mt19937_64& engine) {
  const NodePtr left = parse(identity.left, true).node, right = parse(identity.right, true).node;
  Program one(state, left), difference(state, sum(left, right, -1));
  std::vector<double> value(one.rows()), d(one.rows());
  double residual = 0;
  for (int trial = 0; trial < 3; ++trial) {
    const auto x = random_vector(engine, one.columns());
    one.apply(x, value);
    difference.apply(x, d);
    residual = std::max(residual, largest(d) / std::max(1.0, largest(value)));
  }
  return residual;
}

/// psi* H* D^-1 H psi, block (i, j) = psi*(c,i) Omega(c) psi(c,j), c the closest common ancestor of bodies i
/// and j: columns of a few bodies j, all i.
double omega_residual(OperatorState& state, std::mt19937_64& engine) {
  const int n = state.bodies();
  const auto& bodies = state.model().bodies();
  Program full(state, parse("star(psi)*star(H)*inv(D)*H*psi", true).node);
  std::vector<double> x(6 * n), y(6 * n), expected(6 * n);
  std::vector<bool> on_path(n);
  const auto times = [](const Dense& m, bool starred, const double* v, double* out) {
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int c = 0; c < 6; ++c) sum += (starred ? m(c, r) : m(r, c)) * v[c];
      out[r] = sum;
    }
  };
  double residual = 0;
  for (int trial = 0; trial < std::min(n, 8); ++trial) {
    const int j = static_cast<int>(engine() % n);
    auto u = random_vector(engine, 6);
    std::fill(x.begin(), x.end(), 0.0);
    std::copy_n(u.begin(), 6, x.begin() + 6 * j);
    full.apply(x, y);
    std::fill(on_path.begin(), on_path.end(), false);
    std::fill(expected.begin(), expected.end(), 0.0);
    for (int c = j; c >= 0; c = bodies[c].inboard) {  // Omega(c) psi(c,j) x, from j to the base
      on_path[c] = true;
      times(state.block(Symbol::Omega, c), false, u.data(), expected.data() + 6 * c);
      double moved[6];
      times(state.block(Symbol::psi, c), false, u.data(), moved);
      u.assign(moved, moved + 6);
    }
    for (int k = 0; k < n; ++k)  // elsewhere: psi*(k+1,k) times the value inboard
      if (!on_path[k] && bodies[k].inboard >= 0)
        times(state.block(Symbol::psi, k), true, expected.data() + 6 * bodies[k].inboard,
              expected.data() + 6 * k);
    double worst = 0;
    for (int i = 0; i < 6 * n; ++i) worst = std::max(worst, std::abs(y[i] - expected[i]));
    residual = std::max(residual, worst / std::max(1.0, largest(y)));
  }
  return residual;
}

}  // namespace

std::vector<IdentityResidual> check_identities(OperatorState& state, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<IdentityResidual> results;
  const auto put = [&](const OperatorIdentity& i) {
    results.push_back({i.name, i.source, residual_of(state, i, engine)});
  };
  for (const OperatorIdentity& i : identities()) put(i);
  if (state.has_velocities())
    for (const OperatorIdentity& i : ring_identities) put(i);
  if (state.has_accelerations())
    for (const OperatorIdentity& i : second_identities) put(i);
  if (is_chain(state.model())) {
    put({"psi* H* D^-1 H psi = Omega + (psi - I)* Omega + Omega (psi - I)",
         "OSC (56), LIN Lemma 4.8 (4.20), (A.3), docs/math.md 2", "star(psi)*star(H)*inv(D)*H*psi",
         "Omega + star(psi - I)*Omega + Omega*(psi - I)"});
    put({"Omega = E_psi* Omega E_psi + H* D^-1 H", "OSC (57), LIN (4.19)", "Omega",
         "star(E_psi)*Omega*E_psi + star(H)*inv(D)*H"});
    if (state.has_velocities())
      for (const OperatorIdentity& i : chain_ring_identities) put(i);
    if (state.has_accelerations()) put(chain_second_identity);
  }
  if (state.bodies() > 0)
    results.push_back(
        {"psi* H* D^-1 H psi (i, j) = psi*(c,i) Omega(c) psi(c,j), c the closest common ancestor",
         "docs/math.md 2, 6", omega_residual(state, engine)});
  return results;
}

}  // namespace articula::operators
