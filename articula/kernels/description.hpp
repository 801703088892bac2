// How an algorithm is described: what it takes of a state, and what it gives.
#pragma once

namespace articula {

/// The vectors of a state, by the names that they have everywhere.
enum class Argument : unsigned char { q, v, a, tau, dq, dv, da, dtau, weights };
inline constexpr int argument_count = 9;

/// How long a result is in one direction. task: six per frame; parameters: ten per body (inertial_parameters.hpp).
enum class Extent : unsigned char { one, three, six, nv, task, bodies, parameters };
/// One array of a result: rows x columns, row by row; planes of them, one after the other.
struct Part {
  const char* key;  // its name where a result has several parts
  Extent rows = Extent::one, columns = Extent::one, planes = Extent::one;
  bool whole_number = false;
};

enum class FramesNeeded : unsigned char { none, one, several };

}  // namespace articula
