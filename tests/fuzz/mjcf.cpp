// libFuzzer target for the MJCF reader and writer, with mutations that know XML: see tests/support/urdf_mutations.hpp.
#include "articula/files/mjcf.hpp"

#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/urdf_mutations.hpp"

using namespace articula;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// What is read and sound can be built; what is written of it is read again, with as many freedoms.
ARTICULA_FUZZ(text) {
  const ModelText model{std::string(text), "fuzz", "/nowhere"};
  const LoadedModel loaded = parse_mjcf(model);
  parse_mjcf_visuals(model);
  const auto problems = find_problems(loaded);
  const auto is_error = [](const Finding& f) { return f.severity == Finding::Severity::error; };
  if (std::any_of(problems.begin(), problems.end(), is_error)) return;
  const Model built = loaded.build();
  for (const NamedState& state : loaded.states)
    if (int(state.q.size()) != built.nq() || int(state.v.size()) != built.nv()) std::abort();
  std::string written;
  try {
    written = write_mjcf(loaded.spec);
  } catch (const ModelError&) {  // what MJCF cannot say
    return;
  }
  const LoadedModel again = parse_mjcf({written, "written", "/nowhere"});
  if (again.build().nv() != built.nv()) std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  testing::Dice dice(seed);
  if (dice.chance(25)) return LLVMFuzzerMutate(data, size, most);
  const std::string text =
      testing::mutate_elements(std::string(reinterpret_cast<const char*>(data), size), dice);
  const std::size_t length = std::min(most, text.size());
  std::memcpy(data, text.data(), length);
  return length;
}
