// What joint kinds are made of, for all that goes over joints: the facts that spec.cpp lists, and the hinges'
// traits (hinges.hpp). A new kind is a struct there and an entry in each of the two lists.
#pragma once

#include <span>

#include "articula/model/hinges.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// Inboard to outboard; a fixed joint has none, a universal one two, with a massless cross between them.
std::span<const HingeKind> hinges_of(JointKind kind);
/// Does JointSpec::axis say something of it?
bool has_axis(JointKind kind);
/// Is this one of its velocities a turning, rad/s, not a sliding, m/s?
bool is_angular(JointKind kind, int velocity);

}  // namespace articula
