#include "articula/batch/run_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "articula/error.hpp"

namespace articula {
namespace {

constexpr std::size_t leaf = 64;

/// Rows of three numbers: normal, a sum with it, and one with a long tail.
std::vector<double> rows_of(std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(1000, 0.01);
  std::exponential_distribution<double> tail(2);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = normal(random), y = tail(random);
    out.insert(out.end(), {x, 3 * x - y, std::exp(4 * y)});
  }
  return out;
}
/// By leaves, joined within blocks of so many, and then the blocks.
RunStatistics by_blocks(const std::vector<double>& rows, std::size_t leaves_of_block) {
  StatisticsTree all;
  const std::size_t count = rows.size() / 3, block = leaf * leaves_of_block;
  for (std::size_t begin = 0; begin < count; begin += block) {
    StatisticsTree tree;
    const std::size_t end = std::min(count, begin + block);
    for (std::size_t at = begin; at < end; at += leaf)
      tree.add({3, std::span(rows).subspan(3 * at, 3 * (std::min(end, at + leaf) - at)), 0}, 1);
    const RunStatistics made = tree.result(3);
    all.add(RunStatistics::of(made.text(), 3), (end - begin + leaf - 1) / leaf);  // as if from a file
  }
  return all.result(3);
}

TEST(RunStatistics, AreTheSameBitsForBlocksOfAnySize) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u, 64u * 13u, 5000u}) {
    const auto rows = rows_of(count);
    const std::string one = by_blocks(rows, 1024).text();
    for (const std::size_t leaves : {1u, 2u, 4u, 8u, 64u})
      EXPECT_EQ(by_blocks(rows, leaves).text(), one) << count;
  }
}

TEST(RunStatistics, MeanAndCovarianceAreThoseOfTheRows) {
  const std::size_t count = 20'000;
  const auto rows = rows_of(count);
  const RunStatistics s = by_blocks(rows, 16);
  EXPECT_EQ(s.count(), count);
  long double mean[3] = {}, products[3][3] = {};
  for (std::size_t k = 0; k < count; ++k)
    for (int i = 0; i < 3; ++i) mean[i] += rows[3 * k + i] / (long double)(count);
  for (std::size_t k = 0; k < count; ++k)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) products[i][j] += (rows[3 * k + i] - mean[i]) * (rows[3 * k + j] - mean[j]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(s.mean()[i], double(mean[i]), 1e-14 * std::abs(double(mean[i])));
    for (std::size_t j = 0; j < 3; ++j) {
      const double expected = double(products[i][j] / (count - 1));
      EXPECT_NEAR(s.covariance(i, j), expected,
                  1e-11 * std::sqrt(double(products[i][i] * products[j][j])) / count);
    }
  }
}

TEST(RunStatistics, QuantilesAreBetweenTheirBounds) {
  const std::size_t count = 100'000;
  const auto rows = rows_of(count);
  const RunStatistics s = by_blocks(rows, 32);
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<double> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = rows[3 * k + column];
    std::ranges::sort(values);
    for (const double q : {0.0, 1e-4, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0}) {
      const double exact = values[std::size_t(std::max(1.0, std::ceil(q * double(count)))) - 1];
      const auto found = s.digest(column).at(q);
      EXPECT_LE(found.least, exact) << q;
      EXPECT_GE(found.largest, exact) << q;
      // How far it is in ranks.
      const auto rank = [&](double x) {
        return double(std::ranges::lower_bound(values, x) - values.begin()) / count;
      };
      EXPECT_NEAR(rank(found.value), q, 0.003) << column << " " << q;
      EXPECT_LT(rank(found.largest) - rank(found.least), 0.06) << column << " " << q;
    }
    EXPECT_EQ(s.digest(column).at(0).value, values.front());
    EXPECT_EQ(s.digest(column).at(1).value, values.back());
    EXPECT_LT(s.digest(column).clusters().size(), 500u);
  }
}

TEST(RunStatistics, HistogramsCountExactly) {
  const std::size_t count = 10'000;
  const auto rows = rows_of(count);
  const RunStatistics s = by_blocks(rows, 4);
  for (std::size_t column = 0; column < 3; ++column) {
    const DyadicHistogram& h = s.histogram(column);
    std::vector<std::uint64_t> expected(h.counts().size());
    for (std::size_t k = 0; k < count; ++k)
      ++expected.at(std::size_t(std::floor((rows[3 * k + column] - h.begin()) / h.width())));
    EXPECT_EQ(h.counts(), expected);
    EXPECT_LE(expected.size(), std::size_t(DyadicHistogram::most));
    EXPECT_GT(expected.size(), std::size_t(DyadicHistogram::most / 2 - 2));
  }
  DyadicHistogram same;
  for (int i = 0; i < 5; ++i) same.add(-0.3);
  EXPECT_EQ(same.counts(), std::vector<std::uint64_t>{5});
  same.add(0);
  same.add(1e300);
  std::uint64_t sum = 0;
  for (const auto n : same.counts()) sum += n;
  EXPECT_EQ(sum, 7u);
}

TEST(RunStatistics, FailedRowsAreCountedApart) {
  const std::vector<double> rows{1, 2, NAN, 3, 5, 6};
  RunStatistics s(2, rows, 4);
  EXPECT_EQ(s.count(), 2u);
  EXPECT_EQ(s.failed(), 5u);
  EXPECT_EQ(s.mean()[0], 3);
  RunStatistics none(2);
  none.join(s);
  EXPECT_EQ(none.text(), s.text());
  EXPECT_NE(s.describe(std::vector<std::string>{"a", "b"}).find("\"mean\":3.0"), std::string::npos);
}

}  // namespace
TEST(RunStatistics, DamagedTextsAreRefused) {
  const std::string good = by_blocks(rows_of(10), 1).text();
  EXPECT_NO_THROW(RunStatistics::of(good, 3));
  EXPECT_THROW(RunStatistics::of(good, 2), ArgumentError);                  // of other columns
  EXPECT_THROW(RunStatistics::of("100000 1 0\n", 100'000), ArgumentError);  // 40 GB of moments
  EXPECT_THROW(RunStatistics::of(good.substr(0, good.size() / 2), 3), ArgumentError);
  EXPECT_THROW(RunStatistics::of(good + "1\n", 3), ArgumentError);
  const auto one = [](const std::string& histogram, const std::string& clusters) {
    return RunStatistics::of("1 2 0\n1\n0\n" + histogram + "\n" + clusters + "\n", 1);
  };
  EXPECT_NO_THROW(one("0 1 1 2", "1 2 1 1 1"));
  EXPECT_THROW(one("2000000000 1 1 2", "1 2 1 1 1"), ArgumentError);
  EXPECT_THROW(one("0 9223372036854775807 1 2", "1 2 1 1 1"), ArgumentError);
  EXPECT_THROW(one("0 1 65 2", "1 2 1 1 1"), ArgumentError);
  EXPECT_THROW(one("0 1 1 -2", "1 2 1 1 1"), ArgumentError);
  EXPECT_THROW(one("0 1 1 2", "1 2 1 3 1"), ArgumentError);  // its least is above its largest
  EXPECT_THROW(one("0 1 1 2", "1 nan 1"), ArgumentError);
  EXPECT_THROW(one("0 1 1 2", "1000000 2 1 1 1"), ArgumentError);
}

}  // namespace articula
