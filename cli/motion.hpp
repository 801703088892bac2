// What `articula simulate` moves: something with columns, that advances in time. A mechanism is one
// (mechanism_motion.hpp); whatever else moves needs only these few functions.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "articula/simulation/recording.hpp"
#include "articula/simulation/watch.hpp"

namespace articula::cli {

class Motion {
 public:
  virtual ~Motion() = default;
  /// "time" first, then q:.., v:.., kinetic_energy, potential_energy and the rest.
  virtual const std::vector<Column>& columns() const = 0;
  virtual void advance(double time) = 0;
  virtual void row(std::span<double> out) = 0;
  /// To the state that a row holds, so that going on gives the same bits.
  virtual void restore(std::span<const double> first, std::span<const double> row) = 0;
  /// Looks on at every evaluation.
  virtual Watch& watch() = 0;
  /// Kept with the recording: model, integrator, ..
  virtual std::vector<std::pair<std::string, std::string>> about() const = 0;
};

}  // namespace articula::cli
