// Feeds the URDF reader with mutations of sound files: mutated_urdf [inputs] [seed] [more.urdf ...]. The same
// inputs for the same arguments, so that a failure can be repeated; needs no fuzzing library. Aborts at the
// first contradiction (see exercise_urdf); build it with sanitizers to find the rest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/urdf_mutations.hpp"

using articula::testing::Dice;

namespace {

std::string raw_bytes(Dice& dice) {
  std::string out(dice.below(300), '\0');
  for (char& c : out) c = dice.chance(30) ? "<>/=\"' \nrobotlink"[dice.below(17)] : char(dice.next());
  return dice.chance(50) ? "<robot name=\"r\">" + out : out;
}

/// Mutations of mutations, so that changes come together that one round would not make.
std::string make_input(const std::vector<std::string>& small, const std::vector<std::string>& large,
                       Dice& dice) {
  if (dice.chance(5)) return raw_bytes(dice);
  const auto& seeds = large.empty() || !dice.chance(4) ? small : large;
  std::string text = seeds[dice.below(seeds.size())];
  for (std::size_t rounds = 1 + dice.below(3); rounds > 0; --rounds)
    text = dice.chance(80) ? mutate_elements(text, dice) : mutate_bytes(text, dice);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long inputs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
  const unsigned long seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const std::vector<std::string> small = articula::testing::urdf_seeds();
  std::vector<std::string> large;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "mutated_urdf: %s cannot be opened\n", argv[i]);
      return 2;
    }
    large.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const auto& text : small) articula::testing::exercise_urdf(text);
  for (const auto& text : large) articula::testing::exercise_urdf(text);
  double slowest = 0;
  unsigned long outcomes[4] = {};
  for (unsigned long i = 0; i < inputs; ++i) {
    Dice dice(seed * 1000003 + i);
    const std::string text = make_input(small, large, dice);
    const auto start = std::chrono::steady_clock::now();
    ++outcomes[int(articula::testing::exercise_urdf(text))];
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    slowest = std::max(slowest, seconds);
  }
  std::printf(
      "%lu inputs: %lu no URDF, %lu with errors in the file, %lu in the model, %lu sound; slowest %.1f ms\n",
      inputs, outcomes[0], outcomes[1], outcomes[2], outcomes[3], 1e3 * slowest);
  return 0;
}
