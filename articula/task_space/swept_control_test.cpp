// Operational-space control in few sweeps (OSC 5), against TaskController, which takes all it uses of now.
#include "articula/task_space/swept_control.hpp"

#include <gtest/gtest.h>

#include "articula/model/configuration.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = std::vector<double>;

struct Case {
  Model model;
  std::string frame;
  State state;
  MotionTarget target;
  MotionGains gains{40, 9, 30, 8};
  Vector posture;

  Vector exact(const Vector& q, const Vector& v) const {
    TaskController control(model, {{pose_task(model, frame)}});
    Vector tau(model.nv());
    control.update(q, v);
    control.follow(0, target, gains);
    control.hold_posture(posture, 3, 5);
    control.torques(tau);
    return tau;
  }
  Vector tick(SweptControl& control, const Vector& q, const Vector& v) const {
    Vector tau(model.nv());
    control.torques(q, v, target, gains, {posture, 3, 5}, tau);
    return tau;
  }
};
Case random_case(int seed) {
  Rng rng(seed);
  const Model model(random_spec(rng, {.links = 9, .mass_ratio = 10}),
                    {.base = seed % 3 ? Base::fixed : Base::free});
  Case out{model, "", testing::random_state(rng, model), {}, {40, 9, 30, 8}, {}};
  out.frame = model.frames()[rng.integer(0, static_cast<int>(model.frames().size()) - 1)].name;
  out.target = {rotation(rng.quaternion()), rng.vector(0.5)};
  out.posture = testing::random_state(rng, model).q;
  return out;
}

TEST(SweptControl, FourSweepsAreTheTaskController) {
  int moved = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    const Case c = random_case(seed);
    if (c.model.nv() == 0 || c.model.has_mimics()) continue;
    SCOPED_TRACE(c.frame + ", seed " + std::to_string(seed));
    const Vector exact = c.exact(c.state.q, c.state.v);
    for (const int sweeps : {4, 3, 2}) {
      SweptControl control(c.model, c.frame, sweeps);
      // The first tick takes all four; the second finds the delayed terms current.
      EXPECT_LT(relative_error(c.tick(control, c.state.q, c.state.v), exact, 1), 1e-9);
      EXPECT_EQ(control.last_sweeps(), 4);
      EXPECT_LT(relative_error(c.tick(control, c.state.q, c.state.v), exact, 1), 1e-9);
      EXPECT_EQ(control.last_sweeps(), sweeps);
    }
    ++moved;
  }
  EXPECT_GT(moved, 40);
}

/// The largest error along a smooth motion from the state, ticks h apart.
double delay_error(const Case& c, int sweeps, double h) {
  SweptControl control(c.model, c.frame, sweeps);
  Vector q = c.state.q, next(q.size()), v = c.state.v, step(v.size());
  double worst = 0;
  for (double t = 0; t < 0.0401; t += h) {
    worst = std::max(worst, relative_error(c.tick(control, q, v), c.exact(q, v), 1));
    for (std::size_t i = 0; i < v.size(); ++i) step[i] = h * v[i];
    integrate(c.model, q, step, next);
    q = next;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = c.state.v[i] * (1 + 2 * (t + h));
  }
  return worst;
}

TEST(SweptControl, DelayIsOfFirstOrder) {
  int looked = 0;
  for (int seed = 1; seed <= 30 && looked < 6; ++seed) {
    const Case c = random_case(seed);
    if (c.model.nv() < 5 || c.model.has_mimics()) continue;
    SCOPED_TRACE(c.frame + ", seed " + std::to_string(seed));
    EXPECT_LT(delay_error(c, 4, 1e-3), 1e-8);
    for (const int sweeps : {3, 2}) {
      const double coarse = delay_error(c, sweeps, 5e-4), fine = delay_error(c, sweeps, 2.5e-4);
      EXPECT_GT(coarse, 1e-6);  // it is delayed
      EXPECT_NEAR(coarse / fine, 2, 0.1);
    }
    ++looked;
  }
  EXPECT_EQ(looked, 6);
}

TEST(SweptControl, ForgetsTheTickBefore) {
  const Case c = random_case(1);
  Rng rng(7);
  const State other = testing::random_state(rng, c.model);
  SweptControl control(c.model, c.frame, 2);
  c.tick(control, other.q, other.v);
  EXPECT_GT(relative_error(c.tick(control, c.state.q, c.state.v), c.exact(c.state.q, c.state.v), 1), 1e-3);
  control.reset();
  EXPECT_LT(relative_error(c.tick(control, c.state.q, c.state.v), c.exact(c.state.q, c.state.v), 1), 1e-9);
}

TEST(SweptControl, RefusesWhatItCannot) {
  const Case c = random_case(1);
  EXPECT_THROW(SweptControl(c.model, c.frame, 1), ArgumentError);
  EXPECT_THROW(SweptControl(c.model, "nowhere"), ArgumentError);
  SweptControl control(c.model, c.frame);
  Vector tau(c.model.nv() + 1);
  EXPECT_THROW(control.torques(c.state.q, c.state.v, {}, {}, {c.posture}, tau), ArgumentError);
}

}  // namespace
}  // namespace articula
