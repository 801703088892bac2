// Whether numbers are finite: asked where a call has failed, to tell wrong arguments from a result that does not exist.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "articula/spatial/numbers.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula {

/// Of ranges of numbers.
template <class... Range>
bool are_finite(const Range&... x) {
  const auto finite = [](auto number) { return std::isfinite(number); };
  return (std::all_of(std::begin(x), std::end(x), finite) && ...);
}
inline bool are_finite(std::span<const Spatial<double>> vectors) {
  return std::all_of(vectors.begin(), vectors.end(),
                     [](const Spatial<double>& x) { return are_finite(std::span(numbers_of(x), 6)); });
}

}  // namespace articula
