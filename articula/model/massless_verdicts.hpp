// What massless_joints.cpp and massless_mimics.cpp share.
#pragma once

#include <vector>

#include "articula/model/posture.hpp"

namespace articula {

inline constexpr double unit_roundoff = 1.2e-16;
/// A pivot that is this many roundings of the numbers it is the difference of counts as zero.
inline constexpr double roundings_that_are_zero = 1000;

/// Of one row of a posture: is D zero there?
struct Verdict {
  bool massless = false, bodies_have_inertia = false, is_negative = false;
  double scale = 0;  // what D is made of at most, by whatever algorithm: its rounding is relative to that
};

/// A mimic joint may be massless by itself: what counts is the motion of all that follow one source. Keeps a
/// verdict only on the source's row, and only if the motion of the whole group has no inertia.
void judge_mimic_groups(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture,
                        std::vector<Verdict>& verdicts);

}  // namespace articula
