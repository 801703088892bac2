// libFuzzer target for designs of many runs: the file, and the numbers of its first and last run.
#include "cli/sweep.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  cli::MotionSetup setup;
  setup.controllers = {{"type", "pd"}, {"kp", 10}, {"kd", {1, 2}}};
  const cli::Sweep sweep = cli::read_sweep(file.path(), testing::fuzz_model(), setup, 1);
  std::vector<double> numbers(sweep.drawn.size());
  for (const std::uint64_t run : {std::uint64_t{0}, sweep.design.size() - 1}) {
    sweep.numbers(run, numbers);
    sweep.put(numbers, setup);
  }
}
