// Round trips of the configuration space for every joint kind, at the angles where formulas lose digits, and
// the derivatives of integrate against finite differences.
#include "articula/model/configuration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "articula/model/chain.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/spatial/rigid_motion.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using testing::moving_joint_kinds;
using testing::one_joint_spec;
using testing::Rng;
constexpr double pi = std::numbers::pi;
const std::vector<double> delicate_angles{0,      1e-12,  1e-9,   1e-5, 0.99e-4, 1.01e-4,   0.1,       0.4999,
                                          0.5001, 0.9999, 1.0001, 2,    3,       pi - 1e-5, pi - 1e-9, pi};

/// A joint velocity that turns by `angle` about a random axis and slides by about `shift`.
std::vector<double> step_of(Rng& rng, JointKind kind, double angle, double shift) {
  const auto spread = [&](double size) {
    const Vec3<double> d = rng.direction() * size;
    return std::vector<double>{d.x, d.y, d.z};
  };
  switch (kind) {
    case JointKind::planar:
      return {angle, shift * rng.uniform(), shift * rng.uniform()};
    case JointKind::spherical:
      return spread(angle);
    case JointKind::free: {
      auto w = spread(angle);
      for (const double x : spread(shift)) w.push_back(x);
      return w;
    }
    default: {  // coordinates that add
      std::vector<double> step;
      for (int i = 0; i < nv_of(kind); ++i)
        step.push_back((is_angular(kind, i) ? angle : shift) * (i % 2 ? -1 : 1));
      return step;
    }
  }
}

std::vector<double> moved(const Model& model, std::span<const double> q, std::span<const double> dv) {
  std::vector<double> out(model.nq());
  integrate(model, q, dv, out);
  return out;
}
std::vector<double> between(const Model& model, std::span<const double> q0, std::span<const double> q1) {
  std::vector<double> out(model.nv());
  difference(model, q0, q1, out);
  return out;
}
double largest_gap(std::span<const double> a, std::span<const double> b) {
  double gap = 0;
  for (std::size_t i = 0; i < a.size(); ++i) gap = std::max(gap, std::abs(a[i] - b[i]));
  return gap;
}
/// The same with q and -q the same orientation.
double coordinate_gap(const Model& model, std::span<const double> a, std::span<const double> b) {
  std::vector<double> flipped(b.begin(), b.end());
  for (const Joint& joint : model.joints()) {
    if (joint.nq == joint.nv) continue;
    double dot = 0;
    for (int i = 0; i < 4; ++i) dot += a[joint.q_index + i] * b[joint.q_index + i];
    for (int i = 0; i < 4 && dot < 0; ++i) flipped[joint.q_index + i] *= -1;
  }
  return largest_gap(a, flipped);
}

TEST(Configuration, DifferenceInvertsIntegrateAtEveryAngle) {
  Rng rng(1);
  for (const JointKind kind : moving_joint_kinds()) {
    const Model model(one_joint_spec(kind));
    for (const double angle : delicate_angles) {
      for (const double shift : {0.0, 1e-9, 1.0}) {
        const auto q0 = random(model, rng.bits());
        const auto dv = step_of(rng, kind, angle, shift);
        const auto q1 = moved(model, q0, dv);
        const auto back = between(model, q0, q1);
        const std::string what(name_of(kind));
        // The coordinates come back everywhere; the velocity too, except that at pi its sign is not
        // determined.
        EXPECT_LT(coordinate_gap(model, q1, moved(model, q0, back)), 3e-15) << what << " angle " << angle;
        if (angle < pi) {
          EXPECT_LT(largest_gap(back, dv), 4e-15) << what << " angle " << angle << " shift " << shift;
        }
      }
    }
  }
}

TEST(Configuration, SmallAnglesKeepTheirDigits) {
  Rng rng(2);
  for (const JointKind kind : {JointKind::spherical, JointKind::free}) {
    const Model model(one_joint_spec(kind));
    const auto q0 = neutral(model);
    for (const double angle : {1e-300, 1e-100, 1e-30, 1e-9, 1e-5}) {
      const auto dv = step_of(rng, kind, angle, angle);
      EXPECT_LT(largest_gap(between(model, q0, moved(model, q0, dv)), dv), 1e-15 * angle) << angle;
    }
  }
}

TEST(Configuration, FarAwayLosesOnlyThePositionsOwnRounding) {
  const Model model(one_joint_spec(JointKind::free));
  Rng rng(3);
  for (const double angle : delicate_angles) {
    auto q0 = random(model, rng.bits());
    q0[4] += 1000;
    q0[5] -= 1000;
    const auto dv = step_of(rng, JointKind::free, angle, 1);
    const auto back = between(model, q0, moved(model, q0, dv));
    if (angle < pi) {
      EXPECT_LT(largest_gap(back, dv), 1e-12) << angle;
    }
  }
}

TEST(Configuration, FreeJointMovesAlongAScrewInBodyAxes) {
  // Known in closed form: turning by pi/2 about body z while going forward (body x) at radius 1.
  const Model model(one_joint_spec(JointKind::free));
  const double s = std::sqrt(0.5);
  const std::vector<double> q0{0, 0, s, s, 5, 6, 7};  // turned by pi/2 about z: body x is world y
  const std::vector<double> dv{0, 0, pi / 2, pi / 2, 0, 0.25};
  const std::vector<double> expected{0, 0, 1, 0, 5 - 1, 6 + 1, 7.25};
  EXPECT_LT(largest_gap(moved(model, q0, dv), expected), 1e-15);
  // The planar joint does the same in its plane.
  const Model planar(one_joint_spec(JointKind::planar));
  const std::vector<double> p0{pi / 2, 5, 6}, dp{pi / 2, pi / 2, 0}, planar_expected{pi, 4, 7};
  EXPECT_LT(largest_gap(moved(planar, p0, dp), planar_expected), 2e-15);
}

TEST(Configuration, ManyTurnsIntegrateExactly) {
  const Model model(one_joint_spec(JointKind::spherical));
  const auto q = moved(model, neutral(model), std::vector<double>{0, 0, 20 * pi + 0.5});
  EXPECT_NEAR(std::abs(q[2]), std::sin(0.25), 1e-14);
}

TEST(Configuration, PlanarAngleIsKeptUpToNearlyAWholeTurn) {
  const Model model(one_joint_spec(JointKind::planar));
  const std::vector<double> q0{3.0, 1, 2}, q1{-2.9, -1, 1};
  EXPECT_LT(largest_gap(moved(model, q0, between(model, q0, q1)), q1), 1e-13);
  // A whole turn more is the same place, and the way there stays finite.
  const std::vector<double> q2{3.0 + 2 * pi, -1, 1};
  auto there = moved(model, q0, between(model, q0, q2));
  EXPECT_NEAR(there[0], 3.0, 1e-14);
  EXPECT_LT(std::hypot(there[1] + 1, there[2] - 1), 1e-14);
}

/// Every kind in one model: blocks must land in the right places.
Model mixed_model(std::uint64_t seed, double mimic) {
  Rng rng(seed);
  testing::RandomOptions options;
  options.links = 25;
  options.mimic = mimic;
  return Model(testing::random_spec(rng, options), {.base = seed % 2 ? Base::free : Base::fixed});
}

TEST(Configuration, RandomTreesOverAllKindsRoundTrip) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Model model = mixed_model(seed, seed % 4 == 0 ? 0.3 : 0);
    const auto q0 = random(model, seed), q1 = random(model, seed + 1000);
    const auto dv = between(model, q0, q1);
    EXPECT_LT(coordinate_gap(model, q1, moved(model, q0, dv)), 1e-12) << "seed " << seed;

    std::vector<double> half(model.nq()), same(q0);
    interpolate(model, q0, q1, 0.5, half);
    auto half_step = dv;
    for (double& x : half_step) x /= 2;
    EXPECT_EQ(half, moved(model, q0, half_step));
    integrate(model, same, half_step, same);  // in place
    EXPECT_EQ(half, same);
    interpolate(model, q0, q1, 1, half);
    EXPECT_LT(coordinate_gap(model, q1, half), 1e-12);
    interpolate(model, q0, q1, 0, half);
    EXPECT_LT(largest_gap(q0, half), 1e-15);
  }
}

/// d/dt at 0 of f(t), from central differences at h, h/2 and h/4 (Richardson).
template <class F>
std::vector<double> richardson(F&& f, double h) {
  const auto central = [&](double step) {
    auto a = f(step);
    const auto b = f(-step);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / (2 * step);
    return a;
  };
  const auto d0 = central(h), d1 = central(h / 2), d2 = central(h / 4);
  auto out = d0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double e0 = (4 * d1[i] - d0[i]) / 3, e1 = (4 * d2[i] - d1[i]) / 3;
    out[i] = (16 * e1 - e0) / 15;
  }
  return out;
}

TEST(Configuration, DerivativesOfIntegrateMatchFiniteDifferences) {
  Rng rng(5);
  for (const JointKind kind : moving_joint_kinds()) {
    const Model model(one_joint_spec(kind));
    const int nv = model.nv();
    for (const double angle : {0.0, 1e-9, 1e-5, 0.02, 0.7, 0.9999, 1.0001, 2.5, pi - 1e-9, pi, 4.0}) {
      const auto q0 = random(model, rng.bits());
      const auto dv = step_of(rng, kind, angle, 2);
      const auto q1 = moved(model, q0, dv);
      std::vector<double> dq(nv * nv), dd(nv * nv);
      integrate_dq(model, dv, dq);
      integrate_dv(model, dv, dd);
      for (int column = 0; column < nv; ++column) {
        const auto by_q = richardson(
            [&](double h) {
              std::vector<double> e(nv);
              e[column] = h;
              return between(model, q1, moved(model, moved(model, q0, e), dv));
            },
            0.02);
        const auto by_dv = richardson(
            [&](double h) {
              auto x = dv;
              x[column] += h;
              return between(model, q1, moved(model, q0, x));
            },
            0.02);
        for (int row = 0; row < nv; ++row) {
          EXPECT_NEAR(dq[row * nv + column], by_q[row], 1e-11) << name_of(kind) << " angle " << angle;
          EXPECT_NEAR(dd[row * nv + column], by_dv[row], 1e-11) << name_of(kind) << " angle " << angle;
        }
      }
    }
  }
}

TEST(Configuration, RightJacobianHasNoStepWhereItsSeriesEnds) {
  Rng rng(6);
  const Vec3<double> d = rng.direction(), v = rng.vector();
  const auto a = right_jacobian(Spatial<double>{d * (1 - 1e-12), v});
  const auto b = right_jacobian(Spatial<double>{d * (1 + 1e-12), v});
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(numbers_of(a.B)[i], numbers_of(b.B)[i], 1e-11);
}

TEST(Configuration, DerivativesOfMixedModelsAreBlockDiagonal) {
  const Model model = mixed_model(7, 0.2);
  const int nv = model.nv();
  Rng rng(8);
  const auto q0 = random(model, 9);
  auto dv = testing::random_vector(rng, nv);
  std::vector<double> dq(nv * nv), dd(nv * nv), e = testing::random_vector(rng, nv);
  integrate_dq(model, dv, dq);
  integrate_dv(model, dv, dd);
  const auto q1 = moved(model, q0, dv);
  const auto by_q = richardson(
      [&](double h) {
        auto step = e;
        for (double& x : step) x *= h;
        return between(model, q1, moved(model, moved(model, q0, step), dv));
      },
      0.02);
  const auto by_dv = richardson(
      [&](double h) {
        auto x = dv;
        for (int i = 0; i < nv; ++i) x[i] += h * e[i];
        return between(model, q1, moved(model, q0, x));
      },
      0.02);
  for (int row = 0; row < nv; ++row) {
    double jq = 0, jd = 0;
    for (int column = 0; column < nv; ++column) {
      jq += dq[row * nv + column] * e[column];
      jd += dd[row * nv + column] * e[column];
    }
    EXPECT_NEAR(jq, by_q[row], 1e-11);
    EXPECT_NEAR(jd, by_dv[row], 1e-11);
  }
}

TEST(Configuration, RatesAreTheDerivativeAlongAVelocity) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Model model = mixed_model(seed, 0.2);
    Rng rng(seed);
    const auto q = random(model, seed), v = testing::random_vector(rng, model.nv());
    std::vector<double> rates(model.nq());
    coordinate_rates(model, q, v, rates);
    const auto measured = richardson(
        [&](double h) {
          auto step = v;
          for (double& x : step) x *= h;
          return moved(model, q, step);
        },
        0.02);
    EXPECT_LT(largest_gap(rates, measured), 1e-11);
  }
}

TEST(Configuration, RandomKeepsLimitsAndQuaternionsUnit) {
  ModelSpec spec = make_chain(4);
  spec.joints[0].limits.lower = 0.25, spec.joints[0].limits.upper = 0.5;
  spec.joints[1].limits.lower = 7;
  spec.joints[2].kind = JointKind::spherical;
  spec.joints[3].mimic = Mimic{spec.joints[0].name, -2, 1};
  spec.joints[3].limits.lower = 0.1, spec.joints[3].limits.upper = 0.4;  // so joint 0 within 0.3 .. 0.45
  const Model model(spec);
  ASSERT_EQ(model.nq(), 6);
  double lowest = 1, highest = 0, mean[4] = {0, 0, 0, 0};
  std::mt19937_64 engine(4);
  std::vector<double> q(6);
  for (int i = 0; i < 2000; ++i) {
    random(model, engine, q);
    lowest = std::min(lowest, q[0]);
    highest = std::max(highest, q[0]);
    EXPECT_GE(q[1], 7);
    double length = 0;
    for (int k = 0; k < 4; ++k) length += q[2 + k] * q[2 + k], mean[k] += q[2 + k] / 2000;
    EXPECT_NEAR(length, 1, 1e-15);
  }
  EXPECT_NEAR(lowest, 0.3, 1e-3);
  EXPECT_NEAR(highest, 0.45, 1e-3);
  for (const double m : mean) EXPECT_NEAR(m, 0, 0.06);
  EXPECT_EQ(random(model, 12), random(model, 12));
  EXPECT_NE(random(model, 12), random(model, 13));
}

TEST(Configuration, NormaliseMendsRoundingAndRefusesMore) {
  const Model model(one_joint_spec(JointKind::free));
  auto q = neutral(model);
  EXPECT_EQ(q, (std::vector<double>{0, 0, 0, 1, 0, 0, 0}));
  q[3] = 1 + 9e-7;
  normalise(model, q);
  EXPECT_EQ(q[3], 1);
  for (const double bad : {1 + 1.1e-6, 0.0, 2.0, std::nan("")}) {
    q[3] = bad;
    EXPECT_THROW(normalise(model, q), ArgumentError) << bad;
  }
}

TEST(Configuration, FloatsAgreeWithDoubles) {
  const Model model = mixed_model(11, 0.2);
  Rng rng(12);
  const auto q = random(model, 1), dv = testing::random_vector(rng, model.nv());
  const auto qf = testing::to_float(q), df = testing::to_float(dv);
  std::vector<float> out(model.nq()), back(model.nv());
  integrate(model, qf, df, out);
  EXPECT_LT(largest_gap(testing::to_double(out), moved(model, q, dv)), 2e-6);
  difference(model, qf, out, back);
  EXPECT_LT(largest_gap(testing::to_double(back), dv), 5e-6);
}

TEST(Configuration, WrongSizesSayWhichAndHowMany) {
  const Model model(one_joint_spec(JointKind::free));
  std::vector<double> q(7), v(5);
  try {
    integrate(model, q, v, q);
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("dv has 5 numbers"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("needs 6"), std::string::npos) << error.what();
  }
  EXPECT_THROW(difference(model, q, q, q), ArgumentError);
  EXPECT_THROW(integrate_dq(model, v, q), ArgumentError);
}

}  // namespace
}  // namespace articula
