// libFuzzer target for the statistics in a block: joined with themselves, told, and the same after writing and reading.
#include "articula/batch/run_statistics.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const std::size_t columns = 2;
  RunStatistics read = RunStatistics::of(text, columns);
  const std::string written = read.text();
  if (RunStatistics::of(written, columns).text() != written) std::abort();
  StatisticsTree tree;
  tree.add(read, 1);
  tree.add(RunStatistics(columns, std::vector<double>{1, 2, 3, -4}, 0), 1);
  tree.add(read, 1);
  tree.result(columns).describe(std::vector<std::string>{"x", "y"});
}
