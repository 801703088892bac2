#include "articula/batch/design.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "articula/error.hpp"

namespace articula {
namespace {

using Kind = Design::Kind;

std::vector<std::vector<double>> points_of(const Design& design) {
  std::vector<std::vector<double>> out(design.size(), std::vector<double>(design.axes()));
  for (std::uint64_t i = 0; i < design.size(); ++i) design.point(i, out[i]);
  return out;
}
std::vector<Design::Axis> unit(std::size_t axes) { return std::vector<Design::Axis>(axes); }

TEST(Designs, AGridHasEveryCombination) {
  const Design grid(Kind::grid, {{0, 1, {1, 2}}, {0, 1, {10, 20, 30}}}, 0, 1);
  EXPECT_EQ(points_of(grid),
            (std::vector<std::vector<double>>{{1, 10}, {1, 20}, {1, 30}, {2, 10}, {2, 20}, {2, 30}}));
  EXPECT_THROW(Design(Kind::grid, {{0, 1, {}}}, 0, 1), ArgumentError);
  EXPECT_THROW(Design(Kind::grid, {{0, 1, {1}}}, 5, 1), ArgumentError);
  EXPECT_THROW(Design(Kind::sobol, {{1, 0, {}}}, 5, 1), ArgumentError);
  EXPECT_THROW(Design(Kind::sobol, {{0, NAN, {}}}, 5, 1), ArgumentError);
  EXPECT_THROW(Design(Kind::sobol, {}, 5, 1), ArgumentError);
  EXPECT_THROW(Design(Kind::sobol, unit(1), 0, 1), ArgumentError);
  EXPECT_THROW(Design::kind_named("random"), ArgumentError);
}

TEST(Designs, ALatinHypercubeHasOnePointInEachPart) {
  for (const std::uint64_t count : {1u, 2u, 3u, 17u, 64u, 1000u}) {
    const Design design(Kind::latin_hypercube, {{-1, 3, {}}, {5, 6, {}}, {0, 1, {}}}, count, 9);
    const auto points = points_of(design);
    for (std::size_t k = 0; k < 3; ++k) {
      std::set<int> parts;
      for (const auto& p : points) {
        const double share = k == 0 ? (p[0] + 1) / 4 : k == 1 ? p[1] - 5 : p[2];
        parts.insert(int(share * double(count)));
      }
      EXPECT_EQ(parts.size(), count) << k;
      EXPECT_EQ(*parts.begin(), 0);
      EXPECT_EQ(*parts.rbegin(), int(count) - 1);
    }
  }
  const Design one(Kind::latin_hypercube, unit(2), 100, 1), other(Kind::latin_hypercube, unit(2), 100, 2);
  EXPECT_NE(points_of(one), points_of(other));
}

TEST(Designs, ASobolSequenceFillsEveryAxisEvenly) {
  const Design design(Kind::sobol, unit(40), 4096, 3);
  const auto points = points_of(design);
  for (std::size_t k = 0; k < 40; ++k)
    for (const int count : {16, 256, 4096}) {
      std::set<int> parts;
      for (int i = 0; i < count; ++i) parts.insert(int(points[std::size_t(i)][k] * count));
      EXPECT_EQ(parts.size(), std::size_t(count)) << k;
    }
  // An integral over eight axes: nearer than as many random points come.
  const Design eight(Kind::sobol, unit(8), 4096, 3);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  double sobol = 0, by_chance = 0;
  for (const auto& p : points_of(eight)) {
    double f = 1, g = 1;
    for (const double x : p) f *= 1 + 0.5 * (x - 0.5), g *= 1 + 0.5 * (uniform(random) - 0.5);
    sobol += f / 4096, by_chance += g / 4096;
  }
  EXPECT_LT(std::abs(sobol - 1), 5e-4);
  EXPECT_LT(std::abs(sobol - 1), std::abs(by_chance - 1));
}

TEST(Designs, ValuesAreChosenEvenly) {
  const Design design(Kind::sobol, {{0, 1, {1, 2, 4}}, {0, 1, {}}}, 3000, 5);
  int counts[5] = {};
  for (const auto& p : points_of(design)) ++counts[int(p[0])];
  for (const int i : {1, 2, 4}) EXPECT_NEAR(counts[i], 1000, 5);
}

}  // namespace
}  // namespace articula
