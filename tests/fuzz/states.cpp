// libFuzzer target for states.
#include "cli/states.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  cli::Needs needs;
  needs[0] = "fuzz";
  for (const auto& state : cli::read_states(file.path(), testing::fuzz_model(), needs, {.named = {"x"}}))
    if (static_cast<int>(state[cli::Input::q].size()) != testing::fuzz_model().nq()) std::abort();
}
