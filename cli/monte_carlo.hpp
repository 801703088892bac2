// Many runs of one simulation with drawn starts, masses and torques: one summary row per run.
#pragma once

#include <functional>
#include <string>

#include "articula/model/model.hpp"
#include "cli/mechanism_motion.hpp"
#include "cli/schedule.hpp"

namespace articula::cli {

struct MonteCarloOptions {
  int runs = 0;
  std::uint64_t seed = 1;
  int threads = 0;            // 0: all cores
  std::string distributions;  // file; empty: nothing is drawn
  std::string device = "cpu";
};

/// Runs them on all cores; the text (CSV) is the same for any number of threads. Failed runs are rows too,
/// with their error. `failed` receives how many. `constraints`: of closed chains, onto which drawn starts are moved.
std::string monte_carlo(const Model& model, const MotionSetup& setup,
                        const std::vector<Constraint>& constraints, const Grid& grid,
                        const MonteCarloOptions& options, int& failed);

}  // namespace articula::cli
