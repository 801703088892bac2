// The configuration space of what is simulated, as integrators see it: pieces that add, turn or move rigidly.
//
// Unlike a Model's (configuration.hpp, whose conventions these are) it can be put together from several
// models, and works with dual numbers too. q (+) u is q exp(u) for turning pieces, u in the moving body's
// axes.
#pragma once

#include <cstddef>
#include <vector>

#include "articula/spatial/spatial.hpp"

namespace articula {

class Model;

class Manifold {
 public:
  Manifold() = default;
  explicit Manifold(const Model& model);
  /// n coordinates that add.
  static Manifold flat(int n);
  /// This one's coordinates, then the other's.
  Manifold& append(const Manifold& other);

  int nq() const { return nq_; }
  int nv() const { return nv_; }

  /// out = q (+) u, quaternions at unit length; `out` may be q.
  template <class S>
  void integrate(const S* q, const S* u, S* out) const;

  /// u' of the chart q = q0 (+) u when q moves with velocity w: w + [u, w]/2 + [u, [u, w]]/12, which is
  /// enough for methods of the fourth order (Munthe-Kaas). `out` may be w.
  template <class S>
  void chart_rate_to_fourth_order(const S* u, const S* w, S* out) const;
  /// chart_rate without truncation, for turns |u| < 2 pi.
  void chart_rate(const double* u, const double* w, double* out) const;
  /// The largest turn in u.
  double largest_turn(const double* u) const;

  /// end = q cay(u), and the point half way: cay is the Cayley map of the adjoint representation, under which
  /// the midpoint rule keeps the momentum of a free body exactly. Symmetric: from the end by -u through the
  /// same middle.
  template <class S>
  void cayley(const S* q, const S* u, S* middle, S* end) const;

  /// dq/dt for velocity w; quaternions are four numbers, of any length.
  void coordinate_rates(const double* q, const double* w, double* q_dot) const;
  /// The other way: the velocity of coordinates that move at q_dot, quaternions of unit length.
  void velocities_of(const double* q, const double* q_dot, double* w) const;
  void normalise(double* q) const;
  /// A length for each velocity by which an error of u is judged: |q| of pieces that add, else at least 1.
  void scales(const double* q, double* scale) const;

  enum class Kind : unsigned char { flat, rotation, motion, plane };
  struct Piece {
    Kind kind;
    int q, v, count;  // count: of a flat piece
  };
  /// The pieces as plain memory, for texts that are compiled for each instruction set (articula/batch).
  struct Pieces {
    const Piece *first, *last;
    ARTICULA_INLINE const Piece* begin() const { return first; }
    ARTICULA_INLINE const Piece* end() const { return last; }
  };
  Pieces pieces() const { return {pieces_.data(), pieces_.data() + pieces_.size()}; }

 private:
  void add(Kind kind, int count);
  std::vector<Piece> pieces_;
  int nq_ = 0, nv_ = 0;
};

}  // namespace articula
