// The plain arrays that the closed-chain kernels work in, beside those of the dynamics kernels.
//
// Constraints come to the kernels as groups of one to six rows that act between the same two bodies. The rows
// of a group ride in the lanes of one register.
#pragma once

#include "articula/kernels/linearization_memory.hpp"

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

/// Components of a slot of LoopDerivativeMemory::hinges, one per velocity, in blocks; Spatial each (see
/// linearized_inverse_text.hpp).
namespace hinge_column {
enum : int { H = 0, Pd = 6, Pdd = 12, Sd = 18, count = 24 };
}
/// Columns of the results: by q, by v, by tau.
inline constexpr int result_blocks = 3;

/// Whether it is an impulse that is linearized; then 1 + restitution.
struct LoopAtRest {
  bool yes = false;
  double factor = 0;
};

/// Of the linearized closed chain, beside LoopMemory and LinearizationMemory. Rows of matrices are `length` numbers, or
/// three times that where all results stand side by side: nv and what fills the last register up.
template <class S>
struct LoopDerivativeMemory {
  long length = 0;
  const int* velocity = nullptr;  // of each pack of J
  S* hinges = nullptr;            // hinge_column::count per velocity, in blocks
  S* carried = nullptr;           // 6 per body: the constraints' forces, at O_k
  S* ends =
      nullptr;  // per group 24 packs: how its rows change with the pose, and with the velocity, of a and of b
  S* z = nullptr;  // 18 packs per step of the longest path
  S* J = nullptr;  // packs, as in LoopMemory::W: rows of the Jacobian
  S* G =
      nullptr;  // 4 times 6 rows: columns of the ends' relative motion, of a's, and forces that go with them
  S* C = nullptr;               // nv rows: how J* lambda changes with q beyond what turns with the bodies
  S* open[result_blocks] = {};  // nv x nv: da/dq, da/dv, M^-1 with the constraints' forces held
  S* by_q = nullptr;            // nv rows: da/dq with these forces as they are
  S* JM = nullptr;              // rows: J M^-1
  S* df = nullptr;              // rows, results side by side
  S* da = nullptr;              // nv rows, likewise

  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree, std::size_t groups, std::size_t packs,
            std::size_t longest, std::size_t rows) {
    const std::size_t nv = tree.nv, row = padded(tree.nv);  // room for any register
    give(hinges, hinge_column::count * row);
    give(carried, 6 * std::size_t(tree.bodies));
    give(ends, 24 * row_lanes * groups);
    give(z, 18 * row_lanes * longest);
    give(J, row_lanes * packs);
    give(G, 24 * row);
    give(C, nv * row);
    for (S*& matrix : open) give(matrix, nv * nv + block);
    give(by_q, nv * row);
    give(JM, rows * row);
    give(df, rows * result_blocks * row);
    give(da, nv * result_blocks * row);
  }
};

}  // namespace articula
