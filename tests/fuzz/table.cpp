// libFuzzer target for tables of joint forces, in CSV.
#include "cli/mechanism_motion.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  const Table table = cli::read_torques(file.path(), testing::fuzz_model());
}
