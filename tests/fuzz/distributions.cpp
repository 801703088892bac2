// libFuzzer target for the distributions of many runs.
#include "cli/monte_carlo.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  cli::MotionSetup setup;
  setup.integrator = Integrator::symplectic_euler;
  cli::read_initial("", testing::fuzz_model(), {}, setup);
  cli::MonteCarloOptions options;
  options.threads = 1, options.distributions = file.path();
  cli::MonteCarloTable(testing::fuzz_model(), setup, {}, {{1e-3, 1e-3}, 1}, options)
      .rows(
          0, 2, [](std::string_view) {}, nullptr);
}
