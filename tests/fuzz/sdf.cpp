// libFuzzer target for the SDF reader and writer, with mutations that know XML (tests/support/urdf_mutations.hpp): what is
// read is built, written and read again.
#include "articula/files/sdf.hpp"

#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/urdf_mutations.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const ModelText file{std::string(text), "fuzz.sdf", "/nowhere"};
  const LoadedModel loaded = parse_sdf(file);
  parse_sdf_visuals(file);
  const auto findings = find_problems(loaded);
  for (const Finding& finding : findings)
    if (finding.message.empty() || finding.severity == Finding::Severity::error) return;
  const Model model = loaded.build();  // what has no error can be built
  const LoadedModel again = parse_sdf({write_sdf(loaded.spec), "again.sdf", "/nowhere"});
  for (const Finding& finding : again.findings)
    if (finding.severity == Finding::Severity::error) std::abort();  // and what was written can be read
  if (again.spec.loops.empty() && Model(again.spec).nv() != model.nv()) std::abort();
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  articula::testing::Dice dice(seed);
  if (dice.chance(25)) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  text = articula::testing::mutate_elements(text, dice);
  const std::size_t length = std::min(most, text.size());
  std::memcpy(data, text.data(), length);
  return length;
}
