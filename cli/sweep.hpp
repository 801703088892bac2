// --sweep FILE: what is varied from run to run, and how.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "articula/batch/design.hpp"
#include "articula/batch/monte_carlo.hpp"
#include "cli/mechanism_motion.hpp"

namespace articula::cli {

struct Sweep {
  std::vector<Drawn> drawn;
  std::vector<std::size_t> axis_of;   // of each of them
  std::vector<std::string> pointers;  // of each: into forces or controllers; empty: not there
  Design design;

  /// One number for each of `drawn`.
  void numbers(std::uint64_t run, std::span<double> out) const;
  /// The setup with a run's numbers in its forces and controllers.
  void put(std::span<const double> numbers, MotionSetup& setup) const;
};
/// {"design": "grid", "axes": {"q:JOINT": [0, 0.5], "controllers:/kp": {"least": 1, "largest": 100, "steps": 5}}}, and
/// "points" where it is no grid. Throws InputError.
Sweep read_sweep(const std::string& path, const Model& model, const MotionSetup& setup, std::uint64_t seed);

}  // namespace articula::cli
