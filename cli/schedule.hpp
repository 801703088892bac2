// The times of a run.
#pragma once

#include "articula/simulation/grid.hpp"

namespace articula::cli {

/// When rows are written: every so many steps, and at the end.
struct Schedule {
  Grid grid;
  long every;  // steps between rows
};

}  // namespace articula::cli
