// Numbers over time, between rows by straight lines; before the first row and after the last one held.
#pragma once

#include <span>
#include <vector>

namespace articula {

class Table {
 public:
  Table() = default;
  /// rows: times.size() x columns, row by row. Throws ArgumentError for sizes that do not fit, times that do
  /// not rise, and numbers that are not finite.
  Table(std::vector<double> times, std::vector<double> rows, int columns);

  int columns() const { return columns_; }
  const std::vector<double>& times() const { return times_; }
  std::span<const double> row(std::size_t i) const {
    return {rows_.data() + i * columns_, std::size_t(columns_)};
  }
  void at(double t, std::span<double> out) const;
  /// Rows i and i + 1 around t, and how far between them it is; i + 1 is i at the ends.
  struct Place {
    std::size_t before, after;
    double share;
  };
  Place place(double t) const;

 private:
  std::vector<double> times_, rows_;
  int columns_ = 0;
};

}  // namespace articula
