// libFuzzer target for the URDF reader, with mutations that know XML: see tests/support/urdf_mutations.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/support/urdf_mutations.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  articula::testing::exercise_urdf(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  articula::testing::Dice dice(seed);
  if (dice.chance(25)) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  if (dice.chance(3)) {
    const auto seeds = articula::testing::urdf_seeds();
    text = seeds[dice.below(seeds.size())];
  }
  text = articula::testing::mutate_elements(text, dice);
  const std::size_t length = std::min(most, text.size());
  std::memcpy(data, text.data(), length);
  return length;
}
