#include "articula/loops/rank_revealing.hpp"

#include <algorithm>
#include <cmath>

namespace articula {

RankRevealing::RankRevealing(int largest)
    : largest_(largest),
      order_(largest),
      L_(static_cast<std::size_t>(largest) * largest),
      scale_(largest),
      C_(static_cast<std::size_t>(largest) * largest),
      G_(static_cast<std::size_t>(largest) * largest),
      y_(largest),
      w_(largest) {}

int RankRevealing::factor(const double* matrix, int size, long stride, double tolerance, double rounding) {
  size_ = size;
  double top = 0;
  for (int i = 0; i < size; ++i) top = std::max(top, matrix[i * stride + i]);
  const auto at = [&](int i, int j) { return matrix[std::min(i, j) * stride + std::max(i, j)]; };
  for (int i = 0; i < size; ++i) {
    const double d = at(i, i);
    order_[i] = i;
    scale_[i] = d > std::max(dead_row * top, rounding) ? 1 / std::sqrt(d) : 0;
  }
  // y_: remaining pivots, by row, of the scaled matrix: by them rows are judged. They are taken in the order of the
  // matrix's own, so that no row is told by one that is 1e9 times smaller: C stays small, and C C* keeps its digits.
  for (int i = 0; i < size; ++i) y_[i] = scale_[i] > 0 ? 1 : 0;
  const auto own_pivot = [&](int row) { return y_[row] > tolerance ? y_[row] * at(row, row) : 0; };
  rank_ = 0;
  for (int j = 0; j < size; ++j) {
    int best = j;
    for (int i = j + 1; i < size; ++i)
      if (own_pivot(order_[i]) > own_pivot(order_[best]) * (1 + 1e-6)) best = i;
    if (!(y_[order_[best]] > tolerance)) break;
    std::rotate(order_.begin() + j, order_.begin() + best,
                order_.begin() + best + 1);  // keeps the others' order
    const int p = order_[j];
    // The pivot afresh, not as it was updated: no digits are lost that are still there.
    double pivot = 1;
    for (int c = 0; c < j; ++c) pivot -= L(p, c) * L(p, c);
    if (!(pivot > tolerance)) {
      y_[p] = 0;
      std::rotate(order_.begin() + j, order_.begin() + j + 1, order_.begin() + size);
      bool more = false;
      for (int i = j; i < size; ++i) more |= y_[order_[i]] > tolerance;
      if (!more) break;
      --j;
      continue;
    }
    const double root = std::sqrt(pivot);
    L(p, j) = root;
    for (int i = j + 1; i < size; ++i) {
      const int r = order_[i];
      double sum = at(r, p) * scale_[r] * scale_[p];
      for (int c = 0; c < j; ++c) sum -= L(r, c) * L(p, c);
      L(r, j) = sum / root;
      y_[r] -= L(r, j) * L(r, j);
    }
    ++rank_;
  }
  std::sort(order_.begin() + rank_, order_.begin() + size);
  // Row d = sum of C(d, j) times row order_[j]: C L_kept = L_d, then without the scales.
  const int dropped = size - rank_;
  for (int d = 0; d < dropped; ++d) {
    const int row = order_[rank_ + d];
    double* const c = C_.data() + static_cast<std::size_t>(d) * largest_;
    if (scale_[row] == 0) {
      std::fill(c, c + rank_, 0.0);
      continue;
    }
    for (int j = rank_ - 1; j >= 0; --j) {
      double sum = L(row, j);
      for (int k = j + 1; k < rank_; ++k) sum -= c[k] * L(order_[k], j);
      c[j] = sum / L(order_[j], j);
    }
    for (int j = 0; j < rank_; ++j) c[j] *= scale_[order_[j]] / scale_[row];
  }
  // Id + C C*, factored: for the projection away from the null space spanned by N = (-C*, Id).
  for (int i = 0; i < dropped; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : 0;
      for (int k = 0; k < rank_; ++k)
        sum +=
            C_[static_cast<std::size_t>(i) * largest_ + k] * C_[static_cast<std::size_t>(j) * largest_ + k];
      for (int k = 0; k < j; ++k)
        sum -=
            G_[static_cast<std::size_t>(i) * largest_ + k] * G_[static_cast<std::size_t>(j) * largest_ + k];
      G_[static_cast<std::size_t>(i) * largest_ + j] =
          i == j ? std::sqrt(sum) : sum / G_[static_cast<std::size_t>(j) * largest_ + j];
    }
  return rank_;
}

void RankRevealing::solve(double* x) const {
  const int dropped = size_ - rank_;
  for (int i = 0; i < rank_; ++i) {
    double sum = x[order_[i]] * scale_[order_[i]];
    for (int c = 0; c < i; ++c) sum -= L(order_[i], c) * y_[c];
    y_[i] = sum / L(order_[i], i);
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    double sum = y_[i];
    for (int c = i + 1; c < rank_; ++c) sum -= L(order_[c], i) * y_[c];
    y_[i] = sum / L(order_[i], i);
  }
  for (int i = 0; i < rank_; ++i) y_[i] *= scale_[order_[i]];
  // y - N (N* N)^-1 N* y, y being zero in the dropped rows.
  for (int d = 0; d < dropped; ++d) {
    double sum = 0;
    for (int j = 0; j < rank_; ++j) sum -= C_[static_cast<std::size_t>(d) * largest_ + j] * y_[j];
    for (int c = 0; c < d; ++c) sum -= G_[static_cast<std::size_t>(d) * largest_ + c] * w_[c];
    w_[d] = sum / G_[static_cast<std::size_t>(d) * largest_ + d];
  }
  for (int d = dropped - 1; d >= 0; --d) {
    for (int c = d + 1; c < dropped; ++c) w_[d] -= G_[static_cast<std::size_t>(c) * largest_ + d] * w_[c];
    w_[d] /= G_[static_cast<std::size_t>(d) * largest_ + d];
  }
  for (int j = 0; j < rank_; ++j) {
    double value = y_[j];
    for (int d = 0; d < dropped; ++d) value += C_[static_cast<std::size_t>(d) * largest_ + j] * w_[d];
    x[order_[j]] = value;
  }
  for (int d = 0; d < dropped; ++d) x[order_[rank_ + d]] = -w_[d];
}

std::vector<RankRevealing::Dependence> RankRevealing::dependences() const {
  std::vector<Dependence> out;
  for (int d = 0; d < size_ - rank_; ++d) {
    Dependence found{order_[rank_ + d], {}};
    for (int j = 0; j < rank_; ++j) {
      const double c = C_[static_cast<std::size_t>(d) * largest_ + j];
      // Whether it matters is judged with the rows at unit size.
      const double scale = scale_[found.row] > 0 ? scale_[found.row] / scale_[order_[j]] : 0;
      if (std::abs(c * scale) > 1e-6) found.on.emplace_back(order_[j], c);
    }
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace articula
