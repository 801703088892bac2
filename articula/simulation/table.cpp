#include "articula/simulation/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/error.hpp"

namespace articula {

Table::Table(std::vector<double> times, std::vector<double> rows, int columns)
    : times_(std::move(times)), rows_(std::move(rows)), columns_(columns) {
  if (columns_ < 0 || rows_.size() != times_.size() * std::size_t(columns_))
    throw ArgumentError(
        fmt::format("Table: {} numbers for {} times and {} columns", rows_.size(), times_.size(), columns_));
  if (times_.empty()) throw ArgumentError("Table: has no rows");
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (!std::isfinite(times_[i]) || (i > 0 && !(times_[i] > times_[i - 1])))
      throw ArgumentError(
          fmt::format("Table: time {} of row {} does not come after the one before", times_[i], i));
    for (const double x : row(i))
      if (!std::isfinite(x))
        throw ArgumentError(fmt::format("Table: row {} (t = {}) has {}", i, times_[i], x));
  }
}

Table::Place Table::place(double t) const {
  const auto after = std::size_t(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin());
  if (after == 0) return {0, 0, 0};
  if (after == times_.size()) return {after - 1, after - 1, 0};
  return {after - 1, after, (t - times_[after - 1]) / (times_[after] - times_[after - 1])};
}

void Table::at(double t, std::span<double> out) const {
  const Place p = place(t);
  const auto a = row(p.before), b = row(p.after);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + p.share * (b[i] - a[i]);
}

}  // namespace articula
