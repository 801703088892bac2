#include "articula/task_space/rank.hpp"

#include <algorithm>
#include <cmath>

#include "articula/kernels/tables.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

RankSolve::RankSolve(int n) : n_(n) {
  const std::size_t size = static_cast<std::size_t>(n) * n;
  for (auto* x : {&inverse_, &work_, &vectors_}) x->resize(size);
  values_.resize(2 * n);
  order_.resize(n);
}

namespace {
/// The inverse of an n x n positive definite matrix by its Cholesky factor, in `work`. False: it has none.
bool invert(int n, const double* A, double* L, double* inverse) {
  if (n <= 6) return kernel_set().tasks->invert_up_to_six(n, A, inverse) > 0;
  const auto at = [&](int i, int j) { return static_cast<std::size_t>(i) * n + j; };
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = A[at(i, j)];
      for (int c = 0; c < j; ++c) sum -= L[at(i, c)] * L[at(j, c)];
      if (i == j && !(sum > 0)) return false;
      L[at(i, j)] = i == j ? std::sqrt(sum) : sum / L[at(j, j)];
    }
  // L^-1 in place of the upper triangle, transposed; then L^-* L^-1
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = i == j;
      for (int c = j; c < i; ++c) sum -= L[at(i, c)] * inverse[at(j, c)];
      inverse[at(j, i)] = sum / L[at(i, i)];
    }
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      double sum = 0;
      for (int c = j; c < n; ++c) sum += inverse[at(i, c)] * inverse[at(j, c)];
      L[at(i, j)] = sum;  // the strict lower triangle of L is no longer read for these rows
    }
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) inverse[at(i, j)] = inverse[at(j, i)] = L[at(i, j)];
  return true;
}
}  // namespace

void RankSolve::solve(const double* A, const SingularityOptions& options) {
  A_ = A;
  decomposed_ = false;
  activation_ = options.damp ? options.activation : 0;
  double trace = 0, inverse_trace = 0;
  for (int i = 0; i < n_; ++i) trace += A[static_cast<std::size_t>(i) * n_ + i];
  if (n_ > 0 && invert(n_, A, work_.data(), inverse_.data())) {
    for (int i = 0; i < n_; ++i) inverse_trace += inverse_[static_cast<std::size_t>(i) * n_ + i];
    // No eigenvalue is above trace(A), nor below 1 / (a norm of A^-1): its trace, or closer, that of
    // Frobenius.
    smallest_ = options.rank_tolerance * trace;
    const double needed = std::max(activation_, smallest_);
    bool far = inverse_trace * needed < 1;
    if (!far) {
      double squares = 0;
      for (const double x : inverse_) squares += x * x;
      far = squares * needed * needed < 1;
    }
    if (far) {
      rank_ = n_;
      exact_ = true;
      return;
    }
  }
  decompose();
  const double largest = n_ > 0 ? std::max(0.0, values_[n_ - 1]) : 0;
  smallest_ = options.rank_tolerance * largest;
  rank_ = 0;
  exact_ = true;
  std::fill(inverse_.begin(), inverse_.end(), 0.0);
  for (int i = 0; i < n_; ++i) {
    const double x = values_[i];
    if (x > smallest_) ++rank_;
    const double f = filtered(x);
    if (!(x > std::max(smallest_, activation_))) exact_ = false;
    if (f == 0) continue;
    const auto v = eigenvector(i);
    for (int r = 0; r < n_; ++r)
      for (int c = 0; c < n_; ++c) inverse_[static_cast<std::size_t>(r) * n_ + c] += f * v[r] * v[c];
  }
}

double RankSolve::filtered(double x) const {
  if (!(x > 0)) return 0;
  if (x < activation_) {
    const double share = x / activation_, d = activation_ * (1 - share * share);
    return x / (x * x + d * d);
  }
  return x > smallest_ ? 1 / x : 0;
}
double RankSolve::lost(int i) {
  decompose();
  return 1 - std::clamp(filtered(values_[i]) * values_[i], 0.0, 1.0);
}

void RankSolve::decompose() {
  if (decomposed_) return;
  decomposed_ = true;
  std::copy_n(A_, work_.size(), work_.begin());
  double* const unsorted = values_.data() + n_;
  dense::symmetric_eigen(n_, work_.data(), vectors_.data(), unsorted);
  for (int i = 0; i < n_; ++i) order_[i] = i;
  std::sort(order_.begin(), order_.end(), [&](int i, int j) { return unsorted[i] < unsorted[j]; });
  for (int i = 0; i < n_; ++i) values_[i] = unsorted[order_[i]];
}
std::span<const double> RankSolve::eigenvalues() {
  decompose();
  return {values_.data(), static_cast<std::size_t>(n_)};
}
std::span<const double> RankSolve::eigenvector(int i) {
  decompose();
  return {vectors_.data() + static_cast<std::size_t>(order_[i]) * n_, static_cast<std::size_t>(n_)};
}
void RankSolve::times(const double* x, double* y) const {
  for (int i = 0; i < n_; ++i) {
    y[i] = 0;
    for (int c = 0; c < n_; ++c) y[i] += inverse_[static_cast<std::size_t>(i) * n_ + c] * x[c];
  }
}

}  // namespace articula
