// The plain arrays that the closed-chain kernels work in, beside those of the dynamics kernels.
//
// Constraints come to the kernels as groups of one to six rows that act between the same two bodies. The rows
// of a group ride in the lanes of one register.
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

inline constexpr int row_lanes = 8;
/// A row of Omega with less than this of the largest diagonal entry is zero: no joint moves it.
inline constexpr double dead_row = 1e-18;

enum class RowsOf : unsigned char { frames, distance, rolling_ball, rolling_disc, joints };

/// A frame fixed in a body, in the body's internal axes from O_k; slot 0: in the world.
struct GroupEnd {
  int slot = 0;
  Mat3<double> R = Mat3<double>::identity();
  Vec3<double> r{0, 0, 0};
};

struct RowGroup {
  RowsOf kind = RowsOf::frames;
  int rows = 0;                      // zero: not active
  int first = 0;                     // its first row among all active ones
  int freedom[6]{};                  // of each row: rotation about, then translation along, the axes of end a
  GroupEnd a, b;                     // rows speak of b relative to a
  double length = 0;                 // distance, or radius of what rolls
  int step_begin = 0, step_end = 0;  // bodies inboard of either end, tips first
  int term_begin = 0, term_end = 0;  // of a joint coupling
};

/// A body that a group's forces pass on their way to the world.
struct PathStep {
  int slot;
  int w;            // where its rows of W are, in packs
  int v, freedoms;  // of its joint
  bool a, b, has_carry, has_sides;
  enum class Give : unsigned char { none, carry, first, add } give;
  int inboard;  // step of the inboard body, from the group's first
};

/// A term of a joint coupling's row: a polynomial in the coordinate q, without constant. Its slope there times full
/// velocity v is its part of the row's velocity.
struct JointTermAt {
  int q, v;
  double slope;          // at the q that was last worked on; of a straight line always the same
  double polynomial[4];  // of q, q^2, q^3, q^4

  template <class S>
  S value_at(const S& x) const {
    return (((x * polynomial[3] + S(polynomial[2])) * x + S(polynomial[1])) * x + S(polynomial[0])) * x;
  }
  template <class S>
  S slope_at(const S& x) const {
    return ((x * (4 * polynomial[3]) + S(3 * polynomial[2])) * x + S(2 * polynomial[1])) * x +
           S(polynomial[0]);
  }
  /// The slope's own.
  template <class S>
  S curvature_at(const S& x) const {
    return (x * (12 * polynomial[3]) + S(6 * polynomial[2])) * x + S(2 * polynomial[1]);
  }
};

/// A velocity that the forces of two groups both pass: where it is in W for each, and its pivot in inv_D.
struct SharedVelocity {
  int first, second, pivot;
};
struct GroupPair {
  int g, h, begin, end;
};

struct LoopMemory {
  const RowGroup* groups = nullptr;
  int group_count = 0;
  const PathStep* steps = nullptr;
  const JointTermAt* terms = nullptr;
  const GroupPair* pairs = nullptr;
  int pair_count = 0;
  bool all_coupled = false;
  const SharedVelocity* shared = nullptr;
  int rows = 0, stride = 0;  // of Omega: active rows, and the distance between them
  // Rows coupled to row j, fill-in included: none before row_begin, none from row_end on.
  const int *row_begin = nullptr, *row_end = nullptr;
  double* ends = nullptr;    // 12 packs per group: the forces of its rows on a and on b, at their O_k
  double* bias = nullptr;    // 1 pack per group: d/dt of the rows' velocities without joint accelerations
  double* W = nullptr;       // packs: L^-1 H psi B, D = L d L*
  double* z = nullptr;       // 6 packs per step of the longest path
  double* Omega = nullptr;   // rows x stride, upper triangle
  double* factor = nullptr;  // rows x stride: U of Omega = U* d^-1 U
  double* pivot = nullptr;   // 1 / d, by row
  double* n = nullptr;       // by velocity: L* D^-1 e
};

}  // namespace articula
