// One step of motion with what a file says: forces, controllers.
#pragma once

#include "articula/files/json_input.hpp"
#include "cli/mechanism_motion.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace articula::testing {

inline void move_with(nlohmann::json cli::MotionSetup::*file, std::string_view text) {
  const Model& model = fuzz_model();
  cli::MotionSetup setup;
  setup.integrator = Integrator::symplectic_euler;
  cli::read_initial("", model, {}, setup);
  setup.*file = parse_json(text, "fuzz", "expected JSON");
  cli::MechanismMotion motion(model, setup, {});
  motion.advance(1e-3);
  std::vector<double> row(motion.columns().size());
  motion.row(row);
}

}  // namespace articula::testing
