// A peer's joint velocities against ours: another order, and a free base's numbers along other axes. Both
// maps are orthogonal, so that forces change as velocities do. Plain C++17.
#pragma once

#include <algorithm>

#include "bench/contest.hpp"

namespace articula::bench {

/// How a peer writes the velocity of a free base; ours is (angular, linear), along body axes.
struct BaseVelocity {
  bool linear_first = false, angular_in_world = false, linear_in_world = false;
};

inline void cross(const double* a, const double* b, double* out) {
  const double x[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  std::copy(x, x + 3, out);
}
/// Row by row, from x y z w.
inline void rotation_of(const double* quaternion, double* R) {
  const double x = quaternion[0], y = quaternion[1], z = quaternion[2], w = quaternion[3];
  const double out[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                         2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                         2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
  std::copy(out, out + 9, R);
}

class Coordinates {
 public:
  using Vector = std::vector<double>;
  /// theirs[k]: where the velocities of body k's joint begin in the peer's.
  Coordinates(const PeerModel& model, std::vector<int> theirs, BaseVelocity base)
      : nv_(model.nv), base_(base), bodies_(model.bodies), theirs_(std::move(theirs)) {}

  /// Velocities or joint forces.
  Vector to_peer(const PeerState& s, const double* x) const { return map(s, x, true); }
  Vector from_peer(const PeerState& s, const double* x) const { return map(s, x, false); }
  Vector acceleration_to_peer(const PeerState& s) const {
    Vector x = s.a;
    add_turning(s, 1, x);
    return to_peer(s, x.data());
  }
  Vector acceleration_from_peer(const PeerState& s, const double* a) const {
    Vector x = from_peer(s, a);
    add_turning(s, -1, x);
    return x;
  }
  /// The peer's acceleration when ours is zero: what its bias forces leave out.
  Vector turning(const PeerState& s) const {
    Vector x(nv_);
    add_turning(s, 1, x);
    return to_peer(s, x.data());
  }
  /// nv x nv, row by row, a symmetric matrix or a derivative.
  Vector matrix_from_peer(const PeerState& s, const double* A) const {
    const Vector half = rows_from_peer(s, A, nv_);
    Vector out(half.size()), column(nv_);
    for (int j = 0; j < nv_; ++j) {
      for (int i = 0; i < nv_; ++i) column[i] = half[i * nv_ + j];
      column = from_peer(s, column.data());
      for (int i = 0; i < nv_; ++i) out[i * nv_ + j] = column[i];
    }
    return out;
  }
  /// rows x nv: a Jacobian.
  Vector rows_from_peer(const PeerState& s, const double* A, int rows) const {
    Vector out;
    for (int i = 0; i < rows; ++i) {
      const Vector row = from_peer(s, A + i * nv_);
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }

 private:
  Vector map(const PeerState& s, const double* x, bool forth) const {
    Vector out(nv_);
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      const PeerBody& b = bodies_[k];
      if (b.kind != PeerBody::Kind::free) {
        (forth ? out[theirs_[k]] : out[b.v]) = x[forth ? b.v : theirs_[k]];
        continue;
      }
      double R[9];
      rotation_of(s.q.data() + b.q, R);
      for (const bool linear : {false, true}) {
        const int ours = b.v + (linear ? 3 : 0), other = theirs_[k] + (linear != base_.linear_first ? 3 : 0);
        const double* const from = x + (forth ? ours : other);
        double* const to = out.data() + (forth ? other : ours);
        if (!(linear ? base_.linear_in_world : base_.angular_in_world))
          std::copy(from, from + 3, to);
        else
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) to[i] += (forth ? R[3 * i + j] : R[3 * j + i]) * from[j];
      }
    }
    return out;
  }
  /// sign times the acceleration of a base's origin that is no change of our numbers: w x v.
  void add_turning(const PeerState& s, double sign, Vector& x) const {
    if (!base_.linear_in_world) return;
    for (const PeerBody& b : bodies_) {
      if (b.kind != PeerBody::Kind::free) continue;
      double c[3];
      cross(s.v.data() + b.v, s.v.data() + b.v + 3, c);
      for (int i = 0; i < 3; ++i) x[b.v + 3 + i] += sign * c[i];
    }
  }
  int nv_;
  BaseVelocity base_;
  std::vector<PeerBody> bodies_;
  std::vector<int> theirs_;
};

}  // namespace articula::bench
