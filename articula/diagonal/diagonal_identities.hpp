// The equations that DIAG prints, checked at a state.
#pragma once

#include "articula/dynamics/workspace.hpp"
#include "articula/operators/identities.hpp"

namespace articula {

/// (29)-(49), with their misprints put right (docs/papers/DIAG.md), against the library's own recursions; on whole
/// matrices, O(n^3). They hold for joints with one freedom and no rotor inertia: nothing is checked of other models.
std::vector<operators::IdentityResidual> diagonal_identities(const Model& model, In<double> q, In<double> v);
/// Why nothing is; empty: all are.
std::string why_no_diagonal_identities(const Model& model);

}  // namespace articula
