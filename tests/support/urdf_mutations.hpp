// For the fuzzers of the URDF reader: what is done with each input, and how inputs are made from sound files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace articula::testing {

/// Reads the text, looks for problems, builds the model for both kinds of base if there is no error, writes
/// it back and reads that again. Prints what went wrong and aborts if any of this contradicts what the
/// functions promise.
enum class Outcome {
  refused,
  unreadable,
  unsound,
  sound
};  // no URDF; errors of the reader; of find_problems; none
Outcome exercise_urdf(const std::string& text);

/// Small files that between them use everything that URDF has.
std::vector<std::string> urdf_seeds();

/// The same numbers on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : std::size_t(next() % n); }
  bool chance(int percent) { return below(100) < std::size_t(percent); }

 private:
  std::uint64_t state_;
};

/// One to a few changes of the document: elements and attributes deleted, doubled, exchanged, moved, renamed,
/// nested; names and numbers changed. Text that is no XML comes back with its bytes changed.
std::string mutate_elements(const std::string& text, Dice& dice);
/// Bytes changed, removed, doubled or put in, without regard to structure.
std::string mutate_bytes(const std::string& text, Dice& dice);

}  // namespace articula::testing
