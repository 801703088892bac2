// Sizes of a state, checked at every step; internal.
#pragma once

#include <cstddef>

#include "articula/model/manifold.hpp"

namespace articula {

/// `made_for`: velocities of the manifold that the integrator was made for. Throws ArgumentError.
void check_state(const char* function, const Manifold& manifold, std::size_t made_for, std::size_t nq,
                 std::size_t nv);

}  // namespace articula
