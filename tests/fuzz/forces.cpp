// libFuzzer target for force elements: the file, and one step of motion with them.
#include "articula/files/json_input.hpp"
#include "cli/tree_motion.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const Model& model = testing::fuzz_model();
  cli::TreeSetup setup;
  setup.integrator = Integrator::symplectic_euler;
  cli::read_initial("", model, setup);
  setup.forces = parse_json(text, "fuzz", "expected JSON");
  cli::TreeMotion motion(model, setup);
  motion.advance(1e-3);
  std::vector<double> row(motion.columns().size());
  motion.row(row);
}
