#include "articula/spatial/sincos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

/// |got - exact| in units in the last place of the rounded exact value. The reduction has 2^-119 n of pi/2
/// left over, which shows at the few numbers below 1.6e6 that are nearest to a multiple of pi/2: 2e-31 is
/// taken as equal there.
template <class T>
double ulps(T got, long double exact, T x) {
  const T rounded = std::abs(static_cast<T>(exact));
  if (rounded == 0) return got == 0 ? 0 : INFINITY;
  const T ulp = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return static_cast<double>(std::abs(got - exact) /
                             std::max(ulp, static_cast<T>(std::abs(x) > 1 ? 2e-31 : 0)));
}

template <class T, int N>
double worst_error(const std::vector<T>& angles) {
  double worst = 0;
  for (std::size_t i = 0; i + N <= angles.size(); i += N) {
    const auto t = sincos(Pack<T, N>::load(&angles[i]));
    for (int lane = 0; lane < N; ++lane) {
      const long double x = angles[i + lane];
      worst = std::max({worst, ulps<T>(t.sin[lane], std::sin(x), angles[i + lane]),
                        ulps<T>(t.cos[lane], std::cos(x), angles[i + lane])});
    }
  }
  return worst;
}

/// Everything from tiny to the end of the packed reduction, and near multiples of pi/2, where digits cancel.
template <class T>
std::vector<T> angles(int count) {
  Rng rng(1);
  std::vector<T> out;
  while (static_cast<int>(out.size()) < count) {
    out.push_back(static_cast<T>(rng.uniform(-10, 10)));
    out.push_back(static_cast<T>(rng.uniform() * std::exp2(rng.integer(-60, 20))));
    const double multiple = rng.integer(-1000000, 1000000) * (std::numbers::pi / 2);
    out.push_back(static_cast<T>(multiple));
    out.push_back(static_cast<T>(multiple + rng.uniform() * std::exp2(-rng.integer(0, 40))));
  }
  return out;
}

TEST(SinCos, PacksAreWithinOneUnitInTheLastPlace) {
  const auto in_double = angles<double>(1000000);
  Worst worst("packed sine and cosine, units in the last place");
  EXPECT_LT(worst(worst_error<double, 8>(in_double)), 1);
  const auto fewer = angles<double>(100000);
  EXPECT_LT(worst(worst_error<double, 4>(fewer)), 1);
  EXPECT_LT(worst(worst_error<double, 2>(fewer)), 1);
}

TEST(SinCos, FloatPacksAreWithinOneUnitInTheLastPlace) {
  const auto in_float = angles<float>(100000);
  Worst worst("packed sine and cosine, float, units in the last place");
  EXPECT_LT(worst(worst_error<float, 8>(in_float)), 1);
  EXPECT_LT(worst(worst_error<float, 4>(in_float)), 1);
}

TEST(SinCos, SpecialAngles) {
  using std::numbers::pi;
  const double denormal = std::numeric_limits<double>::denorm_min();
  std::vector<double> special{0.0,    -0.0,    1e-300,    -1e-300, denormal, 1e-8,     pi / 4,   pi / 2,
                              pi,     -pi / 2, 1e5,       -1e5,    1e6,      1.6e6,    1.5999e6, 1.7e6,
                              1e15,   1e22,    -1e22,     1e300,   2 * pi,   3 * pi,   710.0,    -710.0,
                              0x1p20, 1e-20,   0.7853981, 1.5707,  1.5709,   2.3561945};
  while (special.size() % 8) special.push_back(1.0);
  for (std::size_t i = 0; i < special.size(); i += 2) {
    const auto t = sincos(Pack<double, 2>::load(&special[i]));
    for (int lane = 0; lane < 2; ++lane) {
      const double x = special[i + lane];
      EXPECT_LT(ulps<double>(t.sin[lane], std::sin(static_cast<long double>(x)), x), 1) << x;
      EXPECT_LT(ulps<double>(t.cos[lane], std::cos(static_cast<long double>(x)), x), 1) << x;
    }
  }
  EXPECT_LT((worst_error<double, 4>(special)), 1);
  EXPECT_LT((worst_error<double, 8>(special)), 1);
}

/// A lane that is not finite must not disturb its neighbours.
TEST(SinCos, NotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const double x[8] = {inf, 1, -inf, 2, std::nan(""), 3, 1e22, 4};
  const auto t = sincos(Pack<double, 8>::load(x));
  for (int lane = 0; lane < 8; ++lane) {
    if (!std::isfinite(x[lane])) {
      EXPECT_TRUE(std::isnan(t.sin[lane]));
      EXPECT_TRUE(std::isnan(t.cos[lane]));
    } else {
      EXPECT_LT(ulps<double>(t.sin[lane], std::sin(static_cast<long double>(x[lane])), x[lane]), 1);
      EXPECT_LT(ulps<double>(t.cos[lane], std::cos(static_cast<long double>(x[lane])), x[lane]), 1);
    }
  }
}

/// A lane's result depends on that lane alone: the same number gives the same bits anywhere.
TEST(SinCos, EveryLaneIsTheSame) {
  Rng rng(2);
  for (int n = 0; n < 1000; ++n) {
    double x[8];
    for (double& y : x) y = rng.uniform(-100, 100);
    const auto eight = sincos(Pack<double, 8>::load(x));
    for (int lane = 0; lane < 8; ++lane) {
      const auto alone = sincos(Pack<double, 2>(x[lane]));
      EXPECT_EQ(eight.sin[lane], alone.sin[1]);
      EXPECT_EQ(eight.cos[lane], alone.cos[0]);
    }
  }
}

}  // namespace
}  // namespace articula::testing
