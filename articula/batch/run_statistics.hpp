// What many rows of numbers say together, without the rows: mean, covariance, extremes, quantiles, histograms.
//
// Rows are summarised in leaves of so many, and leaves are joined two by two, those of twice as many again, and so on,
// by their numbers alone: the result is the same bits whoever made which part, and in which order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace articula {

/// Quantiles by a merging t-digest (Dunning and Ertl 2019, scale function k1): clusters of neighbouring values, small at
/// the ends. Each keeps its extremes, so that every quantile comes with values between which it lies for certain.
class QuantileDigest {
 public:
  struct Cluster {
    double mean, weight, least, largest;
  };
  /// Sorted here.
  explicit QuantileDigest(std::vector<double> values = {});
  void join(const QuantileDigest& later);
  double weight() const { return weight_; }

  struct Quantile {
    double value, least, largest;  // the true one is between the last two
  };
  Quantile at(double q) const;
  const std::vector<Cluster>& clusters() const { return clusters_; }
  static QuantileDigest of(std::vector<Cluster> clusters);

 private:
  void compress();
  std::vector<Cluster> clusters_;
  double weight_ = 0;
};

/// Counts in bins whose width is a power of two, at multiples of it: the smallest with at most `most` bins, so that it
/// depends on the values alone, and joining is exact.
class DyadicHistogram {
 public:
  static constexpr std::int64_t most = 64;
  void add(double x);
  void join(const DyadicHistogram& other);
  /// 0: nothing was added.
  double width() const;
  double begin() const { return double(first_) * width(); }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  int exponent = 0;  // of the width
  std::int64_t first_ = 0;
  std::vector<std::uint64_t> counts_;

 private:
  void widen(int to);
  void cover(std::int64_t low, std::int64_t high);
};

class RunStatistics {
 public:
  explicit RunStatistics(std::size_t columns = 0);
  /// Rows of `columns` numbers; those with numbers that are not finite count as failed.
  RunStatistics(std::size_t columns, std::span<const double> rows, std::uint64_t failed);
  void join(const RunStatistics& later);

  std::uint64_t count() const { return count_; }
  std::uint64_t failed() const { return failed_; }
  const std::vector<double>& mean() const { return mean_; }
  /// Of a sample: divided by count - 1.
  double covariance(std::size_t i, std::size_t j) const;
  const QuantileDigest& digest(std::size_t column) const { return digests_[column]; }
  const DyadicHistogram& histogram(std::size_t column) const { return histograms_[column]; }

  /// To the last bit, and back. The latter throws ArgumentError where the text is none of so many columns.
  std::string text() const;
  static RunStatistics of(std::string_view text, std::size_t columns);
  /// As JSON.
  std::string describe(std::span<const std::string> columns) const;

 private:
  double& moment(std::size_t i, std::size_t j) { return moments_[i * (i + 1) / 2 + j]; }  // i >= j
  std::size_t columns_;
  std::uint64_t count_ = 0, failed_ = 0;
  std::vector<double> mean_, moments_;  // sums of products of differences from the mean
  std::vector<QuantileDigest> digests_;
  std::vector<DyadicHistogram> histograms_;
};

/// Joins consecutive parts, each of `leaves` leaves (a power of two, but for the last one), beginning at a multiple of
/// that.
class StatisticsTree {
 public:
  void add(RunStatistics part, std::uint64_t leaves);
  /// Of all; empties it. `columns`: where there are none.
  RunStatistics result(std::size_t columns);

 private:
  std::vector<std::pair<RunStatistics, std::uint64_t>> parts_;
};

}  // namespace articula
