// Derivations: an expression, rewritten by the identities of the algebra until it takes as few sweeps as it can.
//
// The inverse of a mass operator, H phi M phi* H*, is not known here: it is found, as JPL88 finds it, by (a.48), which
// gives the factors [I + H phi K] D [I + H phi K]*, and the inversion lemma, by which [I + H phi K]^-1 = [I - H psi K].
#pragma once

#include <string>
#include <vector>

#include "articula/operators/program.hpp"

namespace articula::operators {

struct DerivationStep {
  std::string text;              // as papers write it
  std::string expression;        // in the grammar of parse.hpp
  std::string identity, source;  // that led here; none at the start
  double residual = 0;  // how far it is from the step before, relative to the largest number (at least 1)
};
struct Derivation {
  std::vector<DerivationStep> steps;
  NodePtr result;        // with common factors drawn out, as it is compiled
  bool checked = false;  // residuals are of numbers at the state
  // The steps' P, D, K and psi are those of the mechanism without rotors; the result is then the expression itself,
  // whose inv() is what the steps found.
  bool without_rotors = false;
};

/// `matrix`: all columns are wanted, so sweeps side by side are better than sweeps in series.
/// Throws ArgumentError if the algebra finds no O(n) form: an inverse remains. The state must have been updated; each
/// step is checked there on random vectors (inverses by dense matrices: only up to 600 numbers), SingularError if one does
/// not hold.
Derivation derive(OperatorState& state, const NodePtr& expression, bool matrix = false);

/// What derive() knows: left is replaced by right, in the grammar of parse.hpp; adjoints follow.
struct Rewriting {
  const char *name, *source, *left, *right;
  bool chains_only = false;
};
std::span<const Rewriting> rewritings();

}  // namespace articula::operators
