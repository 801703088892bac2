// Systems that are no Model: constraints held by `project`, velocities that are not the rates of q, manifolds
// put together from parts.
#include "articula/simulation/system.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/simulation/dormand_prince.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/midpoint.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

/// A bead on a circle of radius 1 under gravity, in x and y: the constraint's force in the acceleration, the
/// drift taken out after each step. Against the angle's own equation.
TEST(System, ConstraintsAreHeldByProjection) {
  const Manifold plane = Manifold::flat(2), angle = Manifold::flat(1);
  auto bead = [](double, In<double> q, In<double> v, Out<double> a) {
    const double lambda = (v[0] * v[0] + v[1] * v[1] - 9.81 * q[1]) / (q[0] * q[0] + q[1] * q[1]);
    a[0] = -lambda * q[0], a[1] = -9.81 - lambda * q[1];
  };
  auto project = [](double, Out<double> q, Out<double> v) {
    const double r = std::hypot(q[0], q[1]);
    for (double& x : q) x /= r;
    const double along = q[0] * v[0] + q[1] * v[1];
    for (int i = 0; i < 2; ++i) v[i] -= along * q[i];
  };
  auto swing = [](double, In<double> q, In<double>, Out<double> a) { a[0] = -9.81 * std::sin(q[0]); };
  std::vector<double> theta{1.2}, omega{0.3};
  DormandPrince(angle, {1e-13, 1e-13}).advance({angle, swing}, 0, 2, theta, omega);

  const System<double> system{plane, bead, {}, project};
  const auto start = [](std::vector<double>& q, std::vector<double>& v) {
    q = {std::sin(1.2), -std::cos(1.2)}, v = {0.3 * std::cos(1.2), 0.3 * std::sin(1.2)};
  };
  std::vector<double> q, v;
  const auto check = [&](const char* name, double tolerance) {
    EXPECT_NEAR(std::hypot(q[0], q[1]), 1, 1e-15) << name;
    EXPECT_NEAR(q[0] * v[0] + q[1] * v[1], 0, 1e-14) << name;
    EXPECT_NEAR(q[0], std::sin(theta[0]), tolerance) << name;
    EXPECT_NEAR(q[1], -std::cos(theta[0]), tolerance) << name;
  };
  start(q, v);
  FixedStep<> rk4(Integrator::rk4, plane);
  for (int i = 0; i < 2000; ++i) rk4.step(system, i * 1e-3, 1e-3, q, v);
  check("rk4", 1e-9);
  start(q, v);
  FixedStep<> euler(Integrator::symplectic_euler, plane);
  for (int i = 0; i < 20000; ++i) euler.step(system, i * 1e-4, 1e-4, q, v);
  check("symplectic_euler", 1e-2);
  start(q, v);
  ImplicitMidpoint midpoint(plane);
  for (int i = 0; i < 2000; ++i) midpoint.step(system, i * 1e-3, 1e-3, q, v);
  check("midpoint", 1e-4);
  start(q, v);
  DormandPrince pair(plane, {1e-10, 1e-10});
  pair.advance(system, 0, 2, q, v);
  check("rk45", 1e-7);
}

/// Two mechanisms as one system: each moves as it does alone.
TEST(System, ManifoldsAppend) {
  const Start a = spherical_pendulum(), b = quadruped_in_flight();
  Manifold both(a.model);
  both.append(Manifold(b.model)).append(Manifold::flat(1));
  ASSERT_EQ(both.nq(), a.model.nq() + b.model.nq() + 1);
  ASSERT_EQ(both.nv(), a.model.nv() + b.model.nv() + 1);
  FreeMotion of_a(a.model), of_b(b.model);
  const std::size_t na = a.model.nv(), nb = b.model.nv(), qa = a.model.nq(), qb = b.model.nq();
  auto motion = [&](double t, In<double> q, In<double> v, Out<double> out) {
    of_a(t, q.first(qa), v.first(na), out.first(na));
    of_b(t, q.subspan(qa, qb), v.subspan(na, nb), out.subspan(na, nb));
    out[na + nb] = 1;
  };
  std::vector<double> q = a.q, v = a.v;
  q.insert(q.end(), b.q.begin(), b.q.end()), q.push_back(0);
  v.insert(v.end(), b.v.begin(), b.v.end()), v.push_back(0);
  FixedStep<> rk4(Integrator::rk4, both);
  for (int i = 0; i < 100; ++i) rk4.step({both, motion}, i * 1e-3, 1e-3, q, v);
  const Start end_a = reference(a, 0.1), end_b = reference(b, 0.1);
  EXPECT_LT(distance(a.model, {q.begin(), q.begin() + long(qa)}, {v.begin(), v.begin() + long(na)}, end_a),
            1e-8);
  EXPECT_LT(
      distance(b.model, {q.begin() + long(qa), q.end() - 1}, {v.begin() + long(na), v.end() - 1}, end_b),
      1e-8);
  EXPECT_NEAR(q.back(), 0.005, 1e-12);
}

}  // namespace
}  // namespace articula::testing
