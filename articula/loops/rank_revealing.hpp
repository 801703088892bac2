// Solves with a symmetric matrix that is positive semidefinite: which rows depend on which, and the solution
// of least norm.
#pragma once

#include <vector>

#include "articula/kernels/loop_memory.hpp"

namespace articula {

/// Rows are taken in the order of their remaining pivots, earlier rows first among equals. A row whose pivot falls below
/// the tolerance, as a part of its diagonal, is a combination of those before it. Memory is made once.
class RankRevealing {
 public:
  explicit RankRevealing(int largest);

  /// Of the upper triangle, row by row `stride` apart. Rows with a diagonal up to `rounding` are zero. Returns the rank.
  int factor(const double* matrix, int size, long stride, double tolerance, double rounding = 0);
  /// x of least norm among those that solve the independent rows exactly.
  void solve(double* x) const;
  int rank() const { return rank_; }

  /// Row = sum of coefficient times other rows; no terms: the row is zero by itself.
  struct Dependence {
    int row;
    std::vector<std::pair<int, double>> on;
  };
  std::vector<Dependence> dependences() const;

 private:
  double& L(int i, int j) { return L_[static_cast<std::size_t>(i) * largest_ + j]; }
  double L(int i, int j) const { return L_[static_cast<std::size_t>(i) * largest_ + j]; }
  int largest_, size_ = 0, rank_ = 0;
  std::vector<int> order_;  // order_[i]: the row in place i
  std::vector<double> L_, scale_, C_, G_;
  mutable std::vector<double> y_, w_;
};

}  // namespace articula
