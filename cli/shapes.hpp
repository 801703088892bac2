// Numbers as the JSON of results has them.
#pragma once

#include <span>
#include <vector>

#include "cli/output.hpp"

namespace articula::cli {

inline Json list(std::span<const double> x) { return std::vector<double>(x.begin(), x.end()); }
/// A matrix, row by row, as a list of rows.
inline Json rows(std::span<const double> matrix, std::size_t count) {
  Json out = Json::array();
  const std::size_t columns = count ? matrix.size() / count : 0;
  for (std::size_t i = 0; i < count; ++i) out.push_back(list(matrix.subspan(i * columns, columns)));
  return out;
}

}  // namespace articula::cli
