// What a kernel is launched with, the same bytes on both sides.
#pragma once

#include "articula/kernels/description.hpp"

namespace articula::cuda {

inline constexpr int most_parts = 8;
/// States in a tile of Layout::tiles: the threads of a warp, which then read neighbouring numbers.
inline constexpr int warp = 32;

template <class Number>
struct Arguments {
  const Number* in[argument_count] = {};  // by Argument
  const Number* wrenches = nullptr;
  Number* out[most_parts] = {};
  long count = 0;
  long first = 0;                        // number of the first state, where a call is cut into pieces
  unsigned long long* failed = nullptr;  // least number of a state that is singular; rollouts: (state, step)
  // Masses of each state (Batch::vary), in tiles: constants from constant::mp on, and armatures.
  const Number *inertias = nullptr, *armature = nullptr;
  // Rollouts.
  double step = 0;
  long steps = 0, every = 0;
  int forces_each_step = 0, damping = 0;
};

/// Steps of a rollout share a word with the state's number.
inline constexpr int step_bits = 24;

}  // namespace articula::cuda
