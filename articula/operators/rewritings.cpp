#include "articula/operators/derive.hpp"

namespace articula::operators {

std::span<const Rewriting> rewritings() {
  static constexpr Rewriting all[] = {
      {"phi M phi* = phi P + P phi* - P + phi K D K* phi*", "JPL88 (a.48), (a.13)", "phi*M*star(phi)",
       "phi*P + P*star(phi) - P + phi*K*D*star(K)*star(phi)"},
      {"psi M phi* = psi P + P phi* - P", "JPL88 (a.46), OSC (54)", "psi*M*star(phi)",
       "psi*P + P*star(phi) - P"},
      {"psi M_ring phi* = psi P_ring + P_ring phi* - P_ring", "LIN (4.12), (A.2)", "psi*M_ring*star(phi)",
       "psi*P_ring + P_ring*star(phi) - P_ring"},
      {"P_ring* H* D^-1 = G_ring", "LIN (4.12)", "star(P_ring)*star(H)*inv(D)", "G_ring"},
      {"phi G_ring = G_ring + phi K_ring", "LIN (4.12)", "phi*G_ring", "G_ring + phi*K_ring"},
      {"P H* = G D", "JPL88 (a.2)", "P*star(H)", "G*D"},
      {"H G = I - rotor D^-1", "JPL88 (a.1), (a.2)", "H*G", "I - rotor*inv(D)"},
      {"phi G = G + phi K", "JPL88 (a.13)", "phi*G", "G + phi*K"},
      {"root_D root_D* = D", "DIAG (22)", "root_D*star(root_D)", "D"},
      {"root_D^-1 D = root_D*", "DIAG (22)", "inv(root_D)*D", "star(root_D)"},
      {"D D^-1 = I", "JPL88 (a.1)", "D*inv(D)", "I"},
      {"K H = E_phi - E_psi", "JPL88 (4.7), OSC (28)", "K*H", "E_phi - E_psi"},
      {"psi K H phi = phi - psi", "JPL88 (a.18), OSC (52)", "psi*K*H*phi", "phi - psi"},
      {"phi K H psi = phi - psi", "JPL88 (a.26), OSC (52)", "phi*K*H*psi", "phi - psi"},
      {"phi E_phi = phi - I", "JPL88 (a.9)", "phi*E_phi", "phi - I"},
      {"E_phi phi = phi - I", "JPL88 (a.11)", "E_phi*phi", "phi - I"},
      {"psi E_psi = psi - I", "JPL88 (a.8)", "psi*E_psi", "psi - I"},
      {"E_psi psi = psi - I", "JPL88 (a.10)", "E_psi*psi", "psi - I"},
      {"H* D^-1 H = Omega - E_psi* Omega E_psi", "OSC (57)", "star(H)*inv(D)*H",
       "Omega - star(E_psi)*Omega*E_psi", true},
  };
  return all;
}

}  // namespace articula::operators
