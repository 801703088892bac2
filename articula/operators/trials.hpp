// Identities tried on random vectors: what the sources that do so share.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace articula::operators {

/// The largest absolute value; infinite if a number is not finite.
inline double largest(std::span<const double> x) {
  double most = 0;
  for (const double v : x) most = std::isfinite(v) ? std::max(most, std::abs(v)) : HUGE_VAL;
  return most;
}

inline std::vector<double> random_vector(std::mt19937_64& engine, int size) {
  std::vector<double> x(size);
  for (double& v : x) v = static_cast<double>(engine() >> 11) * 0x1p-52 - 1;
  return x;
}

}  // namespace articula::operators
