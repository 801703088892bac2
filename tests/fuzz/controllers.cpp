// libFuzzer target for controllers: the file, and one step of motion with them.
#include "tests/fuzz/motion.hpp"

using namespace articula;

ARTICULA_FUZZ(text) { testing::move_with(&cli::MotionSetup::controllers, text); }
