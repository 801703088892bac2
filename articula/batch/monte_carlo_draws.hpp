// What is drawn for the runs of a Monte Carlo, by their numbers. Internal.
#pragma once

#include <span>

#include "articula/batch/monte_carlo.hpp"

namespace articula {

/// Draws run i's numbers; throws where they make no mechanism. `draws` has them in any case.
MonteCarloStart draw_start(const Model& model, const MonteCarlo& what, std::int64_t i,
                           std::vector<double>& draws);

/// Torques of a run from a later interval on (MonteCarlo::hold): each interval has a stream of its own.
void draw_torques(const MonteCarlo& what, std::int64_t run, long interval, const MonteCarloStart& start,
                  std::span<double> tau);

}  // namespace articula
