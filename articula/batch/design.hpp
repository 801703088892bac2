// Points of a box for a sweep, each by its number alone, so that any part of a sweep can be made anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace articula {

class Design {
 public:
  /// grid: every combination, the last axis running fastest. latin_hypercube: each axis has one point in each of as
  /// many equal parts. sobol: a Sobol sequence, shifted by the seed: each axis, and boxes of several, filled evenly.
  enum class Kind { grid, latin_hypercube, sobol };
  /// "grid", "latin_hypercube", "sobol"; throws ArgumentError.
  static Kind kind_named(std::string_view name);

  struct Axis {
    double least = 0, largest = 1;
    std::vector<double> values{};  // if there are any, one of these is chosen
  };
  /// `points`: of a grid, none are given: all. Throws ArgumentError.
  Design(Kind kind, std::vector<Axis> axes, std::uint64_t points, std::uint64_t seed);
  std::uint64_t size() const { return points_; }
  std::size_t axes() const { return axes_.size(); }
  void point(std::uint64_t number, std::span<double> out) const;

 private:
  double share(std::uint64_t number, std::size_t axis) const;  // from 0 to below 1
  std::uint64_t permuted(std::uint64_t number, std::size_t axis) const;

  Kind kind_;
  std::vector<Axis> axes_;
  std::uint64_t points_, seed_;
  std::vector<std::uint64_t> directions_;  // 52 for each axis
};

}  // namespace articula
