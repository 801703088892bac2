// States from outside: {"states": [{"q": [..], "v": [..], ...}, ...]}, a single state, or one such state per line.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "articula/files/json_input.hpp"
#include "articula/files/read_model.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

using Input = Argument;
inline constexpr int input_count = argument_count;

/// A force on a link: world axes, at the frame's origin.
struct FrameWrench {
  int frame;
  Spatial<double> wrench;
};

struct State {
  std::array<std::vector<double>, input_count> vectors;  // empty: not given
  std::vector<FrameWrench> wrenches;
  std::map<std::string, std::vector<double>> named;  // further vectors that were asked for
  bool given = true;                                 // false: StateReading::neutral_if_absent
  const std::vector<double>& operator[](Input input) const { return vectors[static_cast<int>(input)]; }
};

/// For each input the quantity that needs it, or nothing.
using Needs = std::array<std::string_view, input_count>;

/// What a subcommand may want beside the four vectors.
struct StateReading {
  std::vector<std::string> named{};     // further vectors, of any size
  bool neutral_if_absent = false;       // nothing on stdin: one state, neutral and at rest
  std::string option = "--states";      // for messages
  std::span<const NamedState> known{};  // a path that is no file may name one of these; what it lacks is zero
};

/// States in their order, `at_once` of them or, in the end, fewer; theirs is the room of the ones before.
using UseStates = std::function<void(std::span<const State>)>;

/// The states of a file (- for stdin; .npz, .npy and HDF5, told apart by content, only by name), checked: JSON, sizes, numbers, what is needed, unit quaternions. As they are
/// read, in memory that does not depend on their number.
/// Throws InputError or ModelError that names the file, the state's index, the vector and the sizes.
void stream_states(const std::string& path, const Model& model, const Needs& needs, std::size_t at_once,
                   const UseStates& use, const StateReading& reading = {});
/// All of them.
std::vector<State> read_states(const std::string& path, const Model& model, const Needs& needs,
                               const StateReading& reading = {});

/// Forces on links as one per body at its joint origin; `kinematics` must be at the state's q.
void body_wrenches(const State& state, const Kinematics<>& kinematics, std::vector<Spatial<double>>& out);
/// Their levers about the joint origins, r F* summed over a body's forces, as the linearizations take them.
void body_levers(const State& state, const Kinematics<>& kinematics, std::vector<Mat3<double>>& out);

}  // namespace articula::cli
