// inv() by the algebra's rules.
#pragma once

#include <algorithm>
#include <iterator>

#include "articula/operators/node.hpp"

namespace articula {
class Model;
}

namespace articula::operators {

constexpr bool symmetric(Symbol s) {
  return s == Symbol::M || s == Symbol::P || s == Symbol::D || s == Symbol::R || s == Symbol::Omega ||
         s == Symbol::rotor;
}

/// Operators that are others without rotor inertias.
constexpr bool counts_rotors(Symbol s) {
  using enum Symbol;
  constexpr Symbol all[] = {P,     D,     G,      K,      L,      tau,    tau_bar, psi,   E_psi,
                            Omega, rotor, P_ring, G_ring, K_ring, J_ring, root_D,  inv_D, inv_root_D};
  return std::find(std::begin(all), std::end(all), s) != std::end(all);
}

/// Every body has one outboard of it at most, and one hangs on the world.
bool is_chain(const Model& model);
bool has_rotors(const Model& model);

class Inverter {
 public:
  explicit Inverter(const Model& model);
  /// The inverse of n as a node without Kind::inverse. Throws ArgumentError if the algebra has none.
  NodePtr invert(const NodePtr& n) const;

 private:
  struct Rules;
  bool mimics_, has_rotors_;
};

}  // namespace articula::operators
