// The grammar of the command line (docs/command_line.md, docs/operators.md):
//
//   sum     = product (("+" | "-") product)*
//   product = factor ("*" factor)*
//   factor  = number | name | "-" factor | "(" sum ")"
//           | "star(" sum ")" | "inv(" sum ")" | "B(" frame ("," frame)* ")"
//
// Names are those of operators (H phi psi M P D G K L tau_bar E_phi E_psi S R Omega E rotor Gamma H_full H_dot
// M_ring P_ring G_ring K_ring R_ring J_ring, I for the identity), of vectors of the state (a_bias b_bias a_g), and otherwise vectors given by name.
#pragma once

#include <string_view>

#include "articula/operators/node.hpp"

namespace articula::operators {

struct Parsed {
  NodePtr node;
  std::vector<std::string> vectors;  // input i is the vector of this name
};

/// Throws ArgumentError: one line with what is wrong, and where. `every_hinge`: H is H_full (see
/// OperatorState).
Parsed parse(std::string_view text, bool every_hinge = false);
/// All operator names, for messages.
std::string_view operator_names();

}  // namespace articula::operators
