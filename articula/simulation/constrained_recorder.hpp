// The rows of a closed chain in motion, as Recorder (recording.hpp) has those of a tree.
#pragma once

#include "articula/dynamics/kinematics.hpp"
#include "articula/simulation/constrained_simulator.hpp"
#include "articula/simulation/recording.hpp"

namespace articula {

/// Time, q, v, energies, how far constraints are off and were before projection, the constraints' forces
/// ("force:NAME.ROW"), whether one-sided contacts hold ("holds:NAME"), joint forces, and what the integrator remembers.
class ConstrainedRecorder {
 public:
  explicit ConstrainedRecorder(ConstrainedSimulator& simulator);
  const std::vector<Column>& columns() const { return columns_; }
  /// The simulator's state as a row. The first one sets the energy that energy_change counts from.
  void row(std::span<double> out);
  /// Puts a simulator where a row says, to the last bit; `first` is the recording's first row.
  void restore(std::span<const double> first, std::span<const double> row);

 private:
  void check(const char* function, std::size_t size) const;
  ConstrainedSimulator& simulator_;
  Kinematics<> kinematics_;
  std::vector<Column> columns_;
  std::vector<double> a_;
  double first_energy_ = 0;
  bool started_ = false;
};

}  // namespace articula
