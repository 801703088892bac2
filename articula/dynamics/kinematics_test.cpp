#include "articula/dynamics/kinematics.hpp"

#include <gtest/gtest.h>

#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

constexpr std::pair<Axes, DenseAxes> all_axes[] = {
    {Axes::world, DenseAxes::world}, {Axes::local, DenseAxes::local}, {Axes::spatial, DenseAxes::spatial}};

template <class S>
std::vector<double> numbers(const Spatial<S>& x) {
  return {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z};
}
template <class S>
std::vector<double> numbers(const Vec3<S>& x) {
  return {x.x, x.y, x.z};
}
template <class S>
std::vector<double> numbers(const Mat3<S>& m) {
  return {m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz};
}
std::vector<double> numbers(const LongMatrix& m) { return to_std(m); }

/// All frames of the model against the dense dynamics, to the accuracy of S.
template <class S>
void check_frames(const Case& c, double tolerance, Worst& worst) {
  const std::vector<S> q(c.state.q.begin(), c.state.q.end()), v(c.state.v.begin(), c.state.v.end()),
      a(c.state.a.begin(), c.state.a.end());
  Kinematics<S> work(c.model);
  work.update(q, v, a);
  for (std::size_t f = 0; f < c.model.frames().size(); ++f) {
    SCOPED_TRACE(c.model.frames()[f].name);
    const DenseFrame at = c.dense.frame(c.model.frames()[f].name);
    const FramePose<S> pose = work.pose(static_cast<int>(f));
    EXPECT_LT(worst(relative_error(numbers(pose.rotation), numbers(LongMatrix(at.R)), 1)), tolerance);
    EXPECT_LT(worst(relative_error(numbers(pose.position), numbers(LongMatrix(at.p)), 1)), tolerance);
    for (const auto& [axes, dense_axes] : all_axes) {
      const DenseFrame expected = c.dense.frame(c.model.frames()[f].name, dense_axes);
      EXPECT_LT(worst(relative_error(numbers(work.velocity(static_cast<int>(f), axes)),
                                     numbers(LongMatrix(expected.velocity)), 1)),
                tolerance);
      EXPECT_LT(worst(relative_error(numbers(work.acceleration(static_cast<int>(f), axes)),
                                     numbers(LongMatrix(expected.acceleration)), 1)),
                tolerance);
      std::vector<S> J(6 * c.model.nv(), NAN);
      work.jacobian(static_cast<int>(f), J, axes);
      EXPECT_LT(worst(relative_error(std::vector<double>(J.begin(), J.end()), numbers(expected.jacobian), 1)),
                tolerance);
      std::fill(J.begin(), J.end(), S(NAN));
      work.jacobian(static_cast<int>(f), q, J, axes);
      EXPECT_LT(worst(relative_error(std::vector<double>(J.begin(), J.end()), numbers(expected.jacobian), 1)),
                tolerance);
    }
  }
}

TEST(Kinematics, FramesAgreeWithDense) {
  Worst worst("poses, velocities, accelerations, Jacobians");
  for_each_case([&](const Case& c) { check_frames<double>(c, 1e-13, worst); });
}
TEST(Kinematics, FramesInFloat) {
  Worst worst("poses, velocities, accelerations, Jacobians, float");
  for_each_case([&](const Case& c) { check_frames<float>(c, 2e-5, worst); });
}

TEST(Kinematics, NumbersJointsAsStated) {
  for_each_case([&](const Case& c) {
    EXPECT_EQ(c.model.nq(), c.dense.nq);
    EXPECT_EQ(c.model.nv(), c.dense.nv);
    EXPECT_EQ(c.model.body_count(), c.dense.body_count);
    for (const Joint& joint : c.model.joints()) {
      if (joint.name == "root_joint") continue;
      EXPECT_EQ(joint.q_index, c.dense.q_index(joint.name));
      EXPECT_EQ(joint.v_index, c.dense.v_index(joint.name));
    }
  });
}

TEST(Kinematics, JacobianTimesVelocityIsVelocity) {
  Worst worst("J v against velocity");
  for_each_case([&](const Case& c) {
    const int nv = c.model.nv();
    Kinematics<> work(c.model);
    work.update(c.state.q, c.state.v);
    std::vector<double> J(6 * nv);
    for (std::size_t f = 0; f < c.model.frames().size(); ++f) {
      for (const auto& [axes, unused] : all_axes) {
        work.jacobian(static_cast<int>(f), J, axes);
        std::vector<double> Jv(6);
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < nv; ++j) Jv[i] += J[i * nv + j] * c.state.v[j];
        EXPECT_LT(worst(relative_error(Jv, numbers(work.velocity(static_cast<int>(f), axes)), 1)), 1e-13);
      }
    }
  });
}

/// After update(q, v) the acceleration is d/dt(J) v: here by the difference of J v along the motion, v held.
TEST(Kinematics, AccelerationWithoutJointAccelerationIsJdotV) {
  Worst worst("d/dt(J) v against differences");
  for_each_case([&](const Case& c) {
    Kinematics<> work(c.model);
    const int tool = c.model.frame("tool");
    const auto velocity_at = [&](double h, Axes axes) {
      std::vector<double> step = c.state.v;
      for (double& x : step) x *= h;
      work.update(manifold_add(c.model, c.state.q, step), c.state.v);
      return work.velocity(tool, axes);
    };
    for (const auto& [axes, unused] : all_axes) {
      const double h = 1e-3;
      const Spatial<double> one = (velocity_at(h, axes) - velocity_at(-h, axes)) * (1 / (2 * h));
      const Spatial<double> two = (velocity_at(2 * h, axes) - velocity_at(-2 * h, axes)) * (1 / (4 * h));
      const Spatial<double> difference = (one * 4 - two) * (1.0 / 3);
      work.update(c.state.q, c.state.v);
      EXPECT_LT(worst(relative_error(work.acceleration(tool, axes), difference, 1)), 1e-8);
    }
  });
}

TEST(Totals, AgreeWithDense) {
  Worst worst("energies, mass, centre of mass, momentum"), worst_float("the same, float");
  for_each_case([&](const Case& c) {
    const auto check = [&](const auto& t, double tolerance, Worst& worst) {
      const double scale = std::max(1.0, largest(std::span(c.state.v)));
      EXPECT_LT(
          worst(relative_error(std::vector<double>{t.kinetic}, std::vector{double(c.dense.kinetic)}, scale)),
          tolerance);
      EXPECT_LT(worst(relative_error(std::vector<double>{t.potential}, std::vector{double(c.dense.potential)},
                                     scale * 10)),
                tolerance);
      EXPECT_LT(worst(relative_error(std::vector<double>{t.mass}, std::vector{double(c.dense.mass)})),
                tolerance);
      EXPECT_LT(
          worst(relative_error(numbers(t.center_of_mass), numbers(LongMatrix(c.dense.center_of_mass)), 1)),
          tolerance);
      EXPECT_LT(worst(relative_error(numbers(t.momentum), numbers(LongMatrix(c.dense.momentum)), 1)),
                tolerance);
    };
    Kinematics<> work(c.model);
    work.update(c.state.q, c.state.v);
    check(work.totals(), 1e-13, worst);
    Kinematics<float> in_float(c.model);
    in_float.update(to_float(c.state.q), to_float(c.state.v));
    check(in_float.totals(), 2e-5, worst_float);
  });
}

}  // namespace
}  // namespace articula::testing
