// The identities of the operator algebra, checked at a state.
#pragma once

#include <cstdint>

#include "articula/operators/program.hpp"

namespace articula::operators {

/// left = right, in the grammar of parse.hpp; H stands for H_full.
struct OperatorIdentity {
  const char *name, *source, *left, *right;
};
/// The identities of docs/math.md 2, JPL88 Appendix A (a.1-a.51) and OSC 3.3, for trees and joints with rotor
/// inertia. check_identities adds those of LIN.
std::span<const OperatorIdentity> identities();

struct IdentityResidual {
  std::string name, source;
  double residual;  // largest difference, relative to the largest number of the left side (at least 1)
};
/// By sweeps, on random vectors, in O(n). The state must have been updated.
std::vector<IdentityResidual> check_identities(OperatorState& state, std::uint64_t seed = 1);

}  // namespace articula::operators
