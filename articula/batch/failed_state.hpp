// What is told of many states when all are done, where some have no result. Only for articula/*/*.cpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "articula/batch/batch.hpp"

namespace articula {

namespace batching {

/// Where number i of a state is, in an argument of n numbers per state.
inline std::size_t place(Layout layout, std::size_t lanes, std::size_t count, std::size_t n,
                         std::size_t state, std::size_t i) {
  switch (layout) {
    case Layout::rows:
      return state * n + i;
    case Layout::columns:
      return i * count + state;
    default:
      return (state / lanes * n + i) * lanes + state % lanes;
  }
}

/// Of a state's n numbers, those from `first` on.
template <class S>
bool is_finite(const S* x, Layout layout, std::size_t lanes, std::size_t count, std::size_t n,
               std::size_t state, std::size_t first, std::size_t size) {
  for (std::size_t i = first; i < first + size; ++i)
    if (!std::isfinite(x[place(layout, lanes, count, n, state, i)])) return false;
  return true;
}

}  // namespace batching

/// NotFiniteError where the state's arguments are not finite, SingularError where they are.
[[noreturn]] void throw_failed_state(const char* function, std::size_t state, bool finite);
/// The same of a trajectory.
[[noreturn]] void throw_failed_step(const char* function, std::size_t state, std::size_t step, bool finite);

}  // namespace articula
