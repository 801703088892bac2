// Inverse of a symmetric positive semidefinite matrix that says which directions it has lost, and treats only
// those.
#pragma once

#include <span>
#include <vector>

namespace articula {

/// What happens near a singularity. Eigenvalues of Omega are inverse apparent inertias (1/kg and 1/(kg m^2)):
/// one that goes to zero is a direction in which the task can no longer be pushed.
struct SingularityOptions {
  /// Eigenvalues at or below this share of the largest one count as zero.
  double rank_tolerance = 1e-12;
  /// Off: the exact inverse on all directions that are not lost, zero on the others; it grows without bound
  /// on the way to a singularity, and jumps there. On: eigenvalues x below `activation` give x / (x^2 + d^2),
  /// d = activation (1 - (x / activation)^2), instead of 1 / x: never above 1.05 / activation, zero at x = 0,
  /// and with one continuous derivative where the damping sets in. Others are exact.
  bool damp = false;
  /// Zero: 0.05 / mass of the model, a direction that seems twenty times heavier than all of it.
  double activation = 0;
};

class RankSolve {
 public:
  RankSolve() = default;
  explicit RankSolve(int n);
  /// A: n x n, row by row; it must stay as it is while results are asked for. Cheap where the inverse itself
  /// proves that nothing is near to be lost.
  void solve(const double* A, const SingularityOptions& options);

  int size() const { return n_; }
  int rank() const { return rank_; }
  /// True if every eigenvalue got its exact inverse.
  bool exact() const { return exact_; }
  std::span<const double> inverse() const { return inverse_; }
  void times(const double* x, double* y) const;
  /// Ascending, with unit vectors, one after the other; computed when first asked for.
  std::span<const double> eigenvalues();
  std::span<const double> eigenvector(int i);
  /// How much of direction i is lost: 0 none, 1 all.
  double lost(int i);

 private:
  void decompose();
  double filtered(double x) const;
  int n_ = 0, rank_ = 0;
  bool exact_ = false, decomposed_ = false;
  double smallest_ = 0, activation_ = 0;  // eigenvalues above `smallest_` are not zero
  const double* A_ = nullptr;
  std::vector<double> inverse_, work_, vectors_, values_;
  std::vector<int> order_;
};

}  // namespace articula
