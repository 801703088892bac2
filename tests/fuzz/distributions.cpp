// libFuzzer target for the distributions of many runs.
#include "cli/monte_carlo.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  cli::MotionSetup setup;
  setup.integrator = Integrator::symplectic_euler;
  cli::read_initial("", testing::fuzz_model(), {}, setup);
  int failed = 0;
  cli::monte_carlo(testing::fuzz_model(), setup, {}, {1e-3, 1e-3},
                   {.runs = 2, .seed = 1, .threads = 1, .distributions = file.path()}, failed);
}
