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

/// The largest difference, relative to the largest number (at least 1).
inline double relative_difference(std::span<const double> x, std::span<const double> y) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    most = std::isfinite(x[i] - y[i]) ? std::max(most, std::abs(x[i] - y[i])) : HUGE_VAL;
  return most / std::max(1.0, largest(x));
}

inline std::vector<double> random_vector(std::mt19937_64& engine, int size) {
  std::vector<double> x(size);
  for (double& v : x) v = static_cast<double>(engine() >> 11) * 0x1p-52 - 1;
  return x;
}

}  // namespace articula::operators
