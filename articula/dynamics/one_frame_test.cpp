// Pose and Jacobian of one frame at q, which place no other bodies: against those after an update, which
// places all.
#include <gtest/gtest.h>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

constexpr Axes all_axes[] = {Axes::world, Axes::local, Axes::spatial};

std::vector<double> numbers(const FramePose<double>& x) {
  const auto& [R, p] = x;
  return {R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz, p.x, p.y, p.z};
}
std::vector<double> numbers(const FramePose<float>& x) {
  const auto& [R, p] = x;
  return {R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz, p.x, p.y, p.z};
}
template <class S>
std::vector<double> in_double(const std::vector<S>& x) {
  return {x.begin(), x.end()};
}

/// Every frame in turn, each twice in a row and once more after the next: with the last path and without.
template <class S>
void check_frames(const Model& model, std::span<const double> state, double tolerance, Worst& worst) {
  const std::vector<S> q(state.begin(), state.end());
  Kinematics<S> all(model), one(model);
  all.update(q);
  std::vector<S> J(6 * model.nv()), expected(J.size());
  const int count = static_cast<int>(model.frames().size());
  for (int i = 0; i < 3 * count; ++i) {
    const int frame = (i / 3 + i % 3 / 2) % count;
    SCOPED_TRACE(model.frames()[frame].name);
    EXPECT_LT(worst(relative_error(numbers(one.pose(frame, q)), numbers(all.pose(frame)), 1)), tolerance);
    for (const Axes axes : all_axes) {
      std::fill(J.begin(), J.end(), S(NAN));
      one.jacobian(frame, q, J, axes);
      all.jacobian(frame, expected, axes);
      EXPECT_LT(worst(relative_error(in_double(J), in_double(expected), 1)), tolerance);
      for (std::size_t k = 0; k < J.size(); ++k) {
        if (expected[k] == 0) {
          EXPECT_NEAR(J[k], 0, tolerance);
        }
      }
    }
  }
}

TEST(OneFrame, AgreesWithUpdate) {
  Worst worst("one frame against all"), worst_float("one frame against all, float");
  for_each_case([&](const Case& c) {
    check_frames<double>(c.model, c.state.q, 1e-14, worst);
    check_frames<float>(c.model, c.state.q, 1e-5, worst_float);
  });
}

/// Paths of more bodies than a register has lanes, and numbers of them that do not fill one.
TEST(OneFrame, OnLongChains) {
  Worst worst("one frame against all, chains");
  for (const int joints : {1, 7, 8, 9, 16, 33}) {
    for (const Base base : {Base::fixed, Base::free}) {
      const Model model(make_chain(joints), {.base = base});
      Rng rng(joints);
      check_frames<double>(model, random_state(rng, model).q, 1e-13, worst);
    }
  }
}

/// Angles that the packed sine leaves to libm, on a path and beside it.
TEST(OneFrame, AtLargeAngles) {
  Worst worst("one frame against all, large angles");
  const Model model(make_chain(11));
  Rng rng(1);
  std::vector<double> q = random_state(rng, model).q;
  q[2] = 1e7, q[9] = -3e12;
  check_frames<double>(model, q, 1e-13, worst);
}

/// The columns in world axes are summed from the frame inwards: the base's place does not enter.
TEST(OneFrame, FarFromTheOriginLosesNothing) {
  const Model model(make_chain(9), {.base = Base::free});
  Rng rng(1);
  std::vector<double> q = random_state(rng, model).q;
  std::vector<double> near(6 * model.nv()), far(near.size());
  Kinematics<> work(model);
  const int last = static_cast<int>(model.frames().size()) - 1;
  work.jacobian(last, q, near);
  for (int i = 4; i < 7; ++i) q[i] += 1e6;
  work.jacobian(last, q, far);
  EXPECT_EQ(near, far);
}

/// J against differences of the pose, rotation and position.
TEST(OneFrame, JacobianIsTheDerivativeOfThePose) {
  Worst worst("Jacobian against differences of poses");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv(), tool = c.model.frame("tool");
    Kinematics<> work(c.model);
    std::vector<double> J(6 * nv), difference(6 * nv), step(nv);
    work.jacobian(tool, c.state.q, J);
    const Mat3<double> R = work.pose(tool, c.state.q).rotation;
    for (int j = 0; j < nv; ++j) {
      const auto slope = [&](double h) {
        step[j] = h;
        const auto b = work.pose(tool, manifold_add(c.model, c.state.q, step));
        step[j] = -h;
        const auto a = work.pose(tool, manifold_add(c.model, c.state.q, step));
        step[j] = 0;
        const Mat3<double> W = (b.rotation - a.rotation) * star(R);  // w~ times 2 h, and a symmetric part
        const Vec3<double> w{(W.zy - W.yz) / 2, (W.xz - W.zx) / 2, (W.yx - W.xy) / 2};
        return Spatial<double>{w, b.position - a.position} * (1 / (2 * h));
      };
      const Spatial<double> d = (slope(1e-3) * 4 - slope(2e-3)) * (1.0 / 3);
      const double column[] = {d.w.x, d.w.y, d.w.z, d.v.x, d.v.y, d.v.z};
      for (int i = 0; i < 6; ++i) difference[i * nv + j] = column[i];
    }
    EXPECT_LT(worst(relative_error(J, difference, 1)), 1e-9);
  });
}

/// What update left is not touched by asking for a frame at another q, and is not made either.
TEST(OneFrame, LeavesTheUpdateAsItIs) {
  for_each_case([&](const Case& c) {
    const int count = static_cast<int>(c.model.frames().size());
    std::vector<double> J(6 * c.model.nv()), elsewhere = manifold_add(c.model, c.state.q, c.state.v);
    Kinematics<> work(c.model), untouched(c.model);
    work.jacobian(count - 1, elsewhere, J);
    EXPECT_THROW((void)work.pose(count - 1), ArgumentError);
    EXPECT_THROW((void)work.totals(), ArgumentError);
    work.update(c.state.q, c.state.v);
    untouched.update(c.state.q, c.state.v);
    for (int f = 0; f < count; ++f) {
      work.jacobian(f, elsewhere, J);
      (void)work.pose(f, elsewhere);
      for (int g = 0; g < count; ++g) {
        EXPECT_EQ(numbers(work.pose(g)), numbers(untouched.pose(g)));
        EXPECT_EQ(work.velocity(g).v.x, untouched.velocity(g).v.x);
        EXPECT_EQ(work.acceleration(g).v.y, untouched.acceleration(g).v.y);
      }
    }
    EXPECT_EQ(work.totals().kinetic, untouched.totals().kinetic);
    EXPECT_EQ(work.totals().potential, untouched.totals().potential);
  });
}

TEST(OneFrame, RefusesBadArguments) {
  const Model model(make_chain(3));
  const int count = static_cast<int>(model.frames().size());
  Kinematics<> work(model);
  const std::vector<double> q(3), few(2), many(4);
  std::vector<double> J(18, 7), short_J(17, 7);
  EXPECT_THROW(work.jacobian(0, few, J), ArgumentError);
  EXPECT_THROW(work.jacobian(0, many, J), ArgumentError);
  EXPECT_THROW(work.jacobian(0, q, short_J), ArgumentError);
  EXPECT_THROW(work.jacobian(-1, q, J), ArgumentError);
  EXPECT_THROW(work.jacobian(count, q, J), ArgumentError);
  EXPECT_EQ(J, std::vector<double>(18, 7));
  EXPECT_EQ(short_J, std::vector<double>(17, 7));
  EXPECT_THROW((void)work.pose(0, few), ArgumentError);
  EXPECT_THROW((void)work.pose(-1, q), ArgumentError);
  EXPECT_THROW((void)work.pose(count, q), ArgumentError);
  EXPECT_NO_THROW(work.jacobian(count - 1, q, J));
}

/// A frame of the world: no column, and its own pose; also after a frame that moves.
TEST(OneFrame, OnTheWorld) {
  const Model model(make_chain(3));
  const int base = model.frame("base");
  ASSERT_EQ(model.frames()[base].body, -1);
  Kinematics<> work(model);
  const std::vector<double> q{1, 2, 3}, none(18), identity{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  for (int times = 0; times < 2; ++times) {
    std::vector<double> J(18, 7);
    work.jacobian(base, q, J);
    EXPECT_EQ(J, none);
    EXPECT_EQ(numbers(work.pose(base, q)), identity);
    work.jacobian(static_cast<int>(model.frames().size()) - 1, q, J);
    EXPECT_NE(J, none);
  }
}

}  // namespace
}  // namespace articula::testing
