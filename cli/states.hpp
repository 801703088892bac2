// States as JSON: {"states": [{"q": [..], "v": [..], ...}, ...]} or a single state.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "articula/dynamics/kinematics.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// The vectors of a state, by the names that they have in the file.
enum class Input { q, v, a, tau };
inline constexpr int input_count = 4;
std::string_view name_of(Input input);

/// A force on a link: world axes, at the frame's origin.
struct FrameWrench {
  int frame;
  Spatial<double> wrench;
};

struct State {
  std::array<std::vector<double>, input_count> vectors;  // empty: not given
  std::vector<FrameWrench> wrenches;
  const std::vector<double>& operator[](Input input) const { return vectors[static_cast<int>(input)]; }
};

/// For each input the quantity that needs it, or nothing.
using Needs = std::array<std::string_view, input_count>;

/// All states of a file (- for stdin), checked: JSON, sizes, numbers, what is needed, unit quaternions.
/// Throws InputError that names the file, the state's index, the vector and the sizes.
std::vector<State> read_states(const std::string& path, const Model& model, const Needs& needs);

/// Forces on links as one a body at its joint origin; `kinematics` must be at the state's q.
void body_wrenches(const State& state, const Kinematics<>& kinematics, std::vector<Spatial<double>>& out);

}  // namespace articula::cli
