// Mechanisms with known answers: four-bar, slider-crank, Stewart platform, gripper, things that roll;
// redundancy; energy in time.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/dense_constraints.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

Scene shipped(const std::string& name) {
  return Scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/" + name + ".json"));
}

/// A mechanism with one freedom theta, from its kinetic energy and potential alone: with I(theta) = 2 T at
/// unit rate, I th'' + I'/2 th'^2 + U' = Q.
double one_freedom(const std::function<double(double)>& inertia,
                   const std::function<double(double)>& potential, double theta, double rate, double Q) {
  const auto d = [&](const auto& f) {
    return derivative([&](double t) { return std::vector<double>{f(theta + t)}; }, 1e-2)[0];
  };
  return (Q - d(inertia) * rate * rate / 2 - d(potential)) / inertia(theta);
}

/// Angles (absolute) of coupler and rocker for the crank's, by the law of cosines; the rocker's points from
/// the coupler to the pivot.
struct FourBar {
  double crank = 0.2, coupler = 0.5, rocker = 0.4, ground = 0.45;
  std::array<double, 3> angles(double theta) const {
    const double x = ground - crank * std::cos(theta), z = -crank * std::sin(theta), D = std::hypot(x, z);
    const double c =
        std::atan2(z, x) + std::acos((coupler * coupler + D * D - rocker * rocker) / (2 * coupler * D));
    const double qx = crank * std::cos(theta) + coupler * std::cos(c),
                 qz = crank * std::sin(theta) + coupler * std::sin(c);
    return {theta, c, std::atan2(-qz, ground - qx)};
  }
  std::array<double, 3> rates(double theta) const {
    const auto d = derivative(
        [&](double t) {
          const auto a = angles(theta + t);
          return std::vector<double>(a.begin(), a.end());
        },
        1e-2);
    return {d[0], d[1], d[2]};
  }
  double inertia(double theta) const {
    const auto a = angles(theta), w = rates(theta);
    const double m[] = {0.4, 1.0, 0.8}, l[] = {crank, coupler, rocker};
    double vx = 0, vz = 0, twice = 0;
    for (int i = 0; i < 3; ++i) {
      const double sx = -std::sin(a[i]) * w[i] * l[i], sz = std::cos(a[i]) * w[i] * l[i];
      const double cx = vx + sx / 2, cz = vz + sz / 2;
      twice += m[i] * (cx * cx + cz * cz) + m[i] * (l[i] * l[i] / 12 + 1e-4) * w[i] * w[i];
      vx += sx, vz += sz;
    }
    return twice;
  }
  double potential(double theta) const {
    const auto a = angles(theta);
    const double m[] = {0.4, 1.0, 0.8}, l[] = {crank, coupler, rocker};
    double z = 0, U = 0;
    for (int i = 0; i < 3; ++i) {
      U += 9.81 * m[i] * (z + l[i] * std::sin(a[i]) / 2);
      z += l[i] * std::sin(a[i]);
    }
    return U;
  }
};

TEST(Mechanisms, FourBarAgainstItsOneEquation) {
  Scene scene = shipped("four_bar");
  const FourBar bar;
  Worst worst("four-bar against its own equation");
  for (const double theta : {0.3, 1.0, 2.0, 3.5, 5.0}) {
    const auto a = bar.angles(theta), w = bar.rates(theta);
    const double rate = 2.5, Q = 0.7;
    std::vector<double> q{a[0], a[1] - a[0], a[2] - a[1]},
        v{rate * w[0], rate * (w[1] - w[0]), rate * (w[2] - w[1])}, x(3);
    ASSERT_LT(scene.dynamics().drift(q, v).position, 1e-12);
    ASSERT_LT(scene.dynamics().drift(q, v).velocity, 1e-8);
    scene.dynamics().acceleration(q, v, std::vector<double>{Q, 0, 0}, x);
    const double expected = one_freedom([&](double t) { return bar.inertia(t); },
                                        [&](double t) { return bar.potential(t); }, theta, rate, Q);
    EXPECT_LT(worst(std::abs(x[0] - expected) / std::abs(expected)), 1e-6);
    // Over-determined in space: five rows, two of them say something.
    EXPECT_EQ(scene.dynamics().rank(), 2);
    const auto why = scene.dynamics().dependences();
    ASSERT_EQ(why.size(), 3u);
    for (const auto& line : why) EXPECT_NE(line.find("'rocker pivot'"), std::string::npos) << line;
    EXPECT_LT(scene.dynamics().residual(q, v, x), 1e-9);
    for (const double f : scene.dynamics().multipliers()) EXPECT_TRUE(std::isfinite(f));
  }
}

TEST(Mechanisms, SliderCrankAgainstItsOneEquation) {
  Scene scene = shipped("slider_crank");
  const double r = 0.1, l = 0.3;
  const auto rod = [&](double t) { return -std::asin(r * std::sin(t) / l); };
  const auto twice = [&](double t) {
    const double p = rod(t), w = -r * std::cos(t) / (l * std::cos(p));  // rod angle's rate
    const double x = -r * std::sin(t) - l * std::sin(p) * w;            // piston
    const double cx = -r * std::sin(t) - l / 2 * std::sin(p) * w,
                 cz = r * std::cos(t) + l / 2 * std::cos(p) * w;
    return 0.5 * r * r / 4 + 5e-4 + 0.6 * (cx * cx + cz * cz) + 4.5e-3 * w * w + 0.8 * x * x;
  };
  const auto potential = [&](double t) {
    return 9.81 * (0.5 * r / 2 * std::sin(t) + 0.6 * (r * std::sin(t) + l / 2 * std::sin(rod(t))));
  };
  for (const double t : {0.2, 0.8, 2.2, 4.0}) {
    const double p = rod(t), rate = 20, w = -r * std::cos(t) / (l * std::cos(p)) * rate;
    std::vector<double> q{t, p - t, -p}, v{rate, w - rate, -w}, a(3);
    scene.dynamics().acceleration(q, v, std::vector<double>{0.3, 0, 0}, a);
    const double expected = one_freedom(twice, potential, t, rate, 0.3);
    EXPECT_NEAR(a[0], expected, 1e-6 * std::abs(expected));
  }
}

/// Legs almost without mass carry forces along themselves only: the platform then obeys Newton and Euler with
/// six line forces.
TEST(Mechanisms, StewartPlatformWithLightLegs) {
  SceneSpec spec = read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/stewart.json");
  for (SceneArm& leg : spec.arms)
    for (LinkSpec& link : leg.spec.links) {
      link.mass.mass *= 1e-9;
      link.mass.inertia = {
          link.mass.inertia.xx * 1e-9, link.mass.inertia.yy * 1e-9, link.mass.inertia.zz * 1e-9, 0, 0, 0};
    }
  Scene scene(spec);
  ConstrainedDynamics& work = scene.dynamics();
  const double push[] = {30, 45, 20, 35, 10, 25};
  Vec3<double> F{0, 0, -9.81 * 10}, N{0, 0, 0};
  const Vec3<double> center{0, 0, 0.75};
  Kinematics<> k(scene.model());
  k.update(scene.q);
  for (int i = 0; i < 6; ++i) {
    scene.tau[scene.arm(i).v + 2] = push[i];
    const Pose& foot = spec.arms[i].base;
    const auto tip = k.pose(work.constraints()[i].a.frame);
    const Vec3<double> d = tip.position - foot.p, s = d * (1 / std::sqrt(dot(d, d)));
    F += s * push[i];
    N += cross(tip.position - center, s * push[i]);
  }
  std::vector<double> a(scene.model().nv());
  work.acceleration(scene.q, scene.v, scene.tau, a);
  EXPECT_EQ(work.rank(), 18);
  k.update(scene.q, scene.v, a);
  const Spatial<double> alpha = k.acceleration(scene.object_frame(0));
  const Vec3<double> w_dot{N.x / 0.4, N.y / 0.4, N.z / 0.7},
      at_center = alpha.v + cross(alpha.w, Vec3<double>{0, 0, 0.05});
  EXPECT_LT(relative_error(alpha.w, w_dot), 1e-6);
  EXPECT_LT(relative_error(at_center, F * 0.1), 1e-6);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(std::sqrt(dot(work.force(i).v, work.force(i).v)), push[i], 1e-5);
}

/// The jaws stay parallel, and their speed is the crank's: x' = L cos(theta) theta'.
TEST(Mechanisms, GripperJawsStayParallel) {
  Scene scene = shipped("gripper");
  const Model& model = scene.model();
  ConstrainedDynamics& work = scene.dynamics();
  std::vector<double> v(6);
  v[model.joints()[model.joint("fingers/left_crank")].v_index] = 1;
  work.impulse(scene.q, v, v);
  Kinematics<> k(model);
  std::vector<double> a(6), tau(6);
  tau[0] = 0.5;
  work.acceleration(scene.q, v, tau, a);
  k.update(scene.q, v, a);
  const int left = model.frame("fingers/left_tip"), right = model.frame("fingers/right_tip");
  EXPECT_LT(std::abs(k.velocity(left).w.y), 1e-12);
  EXPECT_LT(std::abs(k.acceleration(left).w.y), 1e-9);
  EXPECT_NEAR(k.velocity(left).v.x, 0.08 * std::cos(0.4) * v[0], 1e-12);
  EXPECT_NEAR(k.velocity(right).v.x, -k.velocity(left).v.x, 1e-12);
  EXPECT_NEAR(k.acceleration(right).v.x, -k.acceleration(left).v.x, 1e-9);
  // A block between the jaws: with no gravity and the crank pushed by T, each jaw presses with N, T = 2 N L
  // cos(theta).
  SceneSpec spec = scene.spec();
  spec.gravity = {0, 0, 0};
  spec.arms[0].tip = "left_tip";
  spec.objects.push_back({"block", {0.1, {0, 0, 0}, {1e-4, 1e-4, 1e-4, 0, 0, 0}}, {}, {}});
  const auto tip = k.pose(left).position, other = k.pose(right).position;
  spec.objects[0].pose.p = (tip + other) * 0.5;
  spec.grasps.push_back({SceneGrasp::Kind::soft_finger,
                         "left jaw",
                         "fingers",
                         "block",
                         {1, 0, 0},
                         {},
                         SceneLimits{0.5, 0.01, {1, 0, 0}}});
  spec.loops.push_back({"right jaw",
                        "ball",
                        {"fingers", "right_tip", {}},
                        {"block", "body", {Mat3<double>::identity(), (other - tip) * 0.5}},
                        0,
                        {},
                        {}});
  Scene held(spec);
  held.tau[0] = 0.5;
  std::vector<double> still(held.model().nv());
  held.dynamics().acceleration(held.q, held.v, held.tau, still);
  EXPECT_LT(largest(still), 1e-8);
  const ContactState s = held.dynamics().contact_state(0);
  EXPECT_NEAR(s.normal_force, 0.5 / (2 * 0.08 * std::cos(0.4)), 1e-9);
  EXPECT_TRUE(s.holds());
  held.tau[0] = -0.5;  // opening
  held.dynamics().acceleration(held.q, held.v, held.tau, still);
  EXPECT_TRUE(held.dynamics().contact_state(0).pulls);
}

Model one_body(const MassProperties& mass) {
  Assembly a;
  a.add_object("it", mass);
  return a.model();
}

/// A ball on a plane inclined by b rolls with g sin(b) / (1 + 2/5).
TEST(Mechanisms, BallRollsDownASlope) {
  const double r = 0.1, b = 0.3, m = 2;
  const Model model = one_body({m, {0, 0, 0}, {0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r, 0, 0, 0}});
  const Mat3<double> slope = rotation_from_rpy(0, b, 0);
  std::vector<double> q = neutral(model), v(6), a(6), tau(6);
  const Vec3<double> p = slope * Vec3<double>{0.3, -0.2, r};
  q[4] = p.x, q[5] = p.y, q[6] = p.z;
  ConstrainedDynamics work(
      model, {rolling_ball("floor", {-1, {slope, {0, 0, 0}}}, {model.frame("it/body"), {}}, r)});
  EXPECT_LT(work.drift(q, v).position, 1e-15);
  work.acceleration(q, v, tau, a);
  const Vec3<double> down = column_x(slope);
  EXPECT_NEAR(dot(down, Vec3<double>{a[3], a[4], a[5]}), 9.81 * std::sin(b) * 5 / 7, 1e-12);
  EXPECT_NEAR(a[1], 9.81 * std::sin(b) * 5 / 7 / r, 1e-10);
}

/// A thin disc whose axis u stays tilted by t from the vertical rolls in a circle, turning with W about the
/// vertical. With w = n u + W sin t m (m up the disc): dL/dt = W (C n - A W cos t) sin t y, and the force m
/// (r n W x + g z) at the contact has the moment -m r (r n W sin t + g cos t) y about the centre.
TEST(Mechanisms, DiscRollsSteadilyInACircle) {
  const double m = 1, r = 0.2, A = m * r * r / 4, C = m * r * r / 2, tilt = 1.1,
               W = 3;  // tilt of the axis from vertical
  const Model model = one_body({m, {0, 0, 0}, {A, A, C, 0, 0, 0}});
  const double n = (A * W - m * 9.81 * r / (W * std::sin(tilt))) * std::cos(tilt) / (C + m * r * r);
  const Mat3<double> R = rotation_from_rpy(0, tilt, 0);  // z of the body: (sin t, 0, cos t)
  std::vector<double> q = neutral(model), a(6), tau(6);
  const Quaternion<double> turn = quaternion(R);
  q[0] = turn.x, q[1] = turn.y, q[2] = turn.z, q[3] = turn.w, q[6] = r * std::sin(tilt);
  const Vec3<double> u = column_z(R), up{0, 0, 1};
  for (const double sign : {1.0, -1.0}) {
    // w = n u + W (up - (up.u) u): all of the precession normal to the axis.
    const Vec3<double> w = u * (sign * n) + (up - u * dot(up, u)) * W;
    const Vec3<double> e = up - u * dot(up, u), s = e * (-r / std::sqrt(dot(e, e)));  // centre to contact
    const Vec3<double> speed = cross(s, w);  // contact at rest: v + w x s = 0
    const Vec3<double> wb = star_times(R, w), vb = star_times(R, speed);
    const std::vector<double> v{wb.x, wb.y, wb.z, vb.x, vb.y, vb.z};
    ConstrainedDynamics work(model, {rolling_disc("floor", {-1, {}}, {model.frame("it/body"), {}}, r)});
    ASSERT_LT(work.drift(q, v).velocity, 1e-12);
    ASSERT_LT(work.drift(q, v).position, 1e-12);
    work.acceleration(q, v, tau, a);
    // In steady motion d/dt of w is W up x w.
    const Vec3<double> w_dot = R * Vec3<double>{a[0], a[1], a[2]}, steady = cross(up * W, w);
    if (sign > 0)
      EXPECT_LT(relative_error(w_dot, steady, 1e-3), 1e-9);
    else
      EXPECT_GT(relative_error(w_dot, steady, 1e-3), 1e-2);
  }
}

// --- in time -----------------------------------------------------------------------------------------
/// Runge-Kutta steps with projection after each.
void simulate(ConstrainedDynamics& work, std::vector<double>& q, std::vector<double>& v, double h, int steps,
              const std::function<void(int)>& each) {
  const Manifold manifold(work.model());
  FixedStep<> method(Integrator::rk4, manifold);
  const std::vector<double> tau(work.model().nv());
  const auto acceleration = [&](double, In<double> at, In<double> w, Out<double> a) {
    work.acceleration(at, w, tau, a);
  };
  const auto project = [&](double, Out<double> at, Out<double> w) {
    ASSERT_TRUE(work.project(at, w).converged);
  };
  const System<double> system{manifold, acceleration, {}, project};
  for (int s = 0; s < steps; ++s) {
    method.step(system, s * h, h, q, v);
    each(s);
  }
}

TEST(Mechanisms, PassiveFourBarKeepsItsEnergy) {
  Scene scene = shipped("four_bar");
  std::vector<double> q = scene.q, v{4, 0, 0};
  scene.dynamics().impulse(q, v, v);
  const auto energy = [&] {
    const auto t = totals(scene.model(), q, v);
    return t.kinetic + t.potential;
  };
  const double start = energy(), scale = totals(scene.model(), q, v).kinetic;
  double worst = 0, drift = 0;
  simulate(scene.dynamics(), q, v, 1e-3, 10000, [&](int step) {
    if (step % 50) return;
    worst = std::max(worst, std::abs(energy() - start) / scale);
    drift = std::max(drift, scene.dynamics().drift(q, v).position);
  });
  std::printf("  energy drift over 10 s: %.2g, constraints off by %.2g\n", worst, drift);
  EXPECT_LT(worst, 1e-6);
  EXPECT_LT(drift, 1e-10);
}

SceneSpec three_arms() {
  SceneSpec spec;
  spec.where = "three arms";
  const std::string model = std::string(ARTICULA_SOURCE_DIR) + "/models/arm7.urdf";
  for (int i = 0; i < 3; ++i) {
    SceneArm arm;
    arm.name = "arm" + std::to_string(i);
    arm.source = model;
    arm.spec = read_urdf_spec(model).spec;
    arm.base = {rotation_from_rpy(0, 0, 2 * M_PI / 3 * i),
                {std::cos(2 * M_PI / 3 * i) * -0.6, std::sin(2 * M_PI / 3 * i) * -0.6, 0}};
    arm.tip = "flange";
    arm.q = {0.2, 0.7, -0.1, 1.2, 0.3, -0.6, 0.4};
    spec.arms.push_back(arm);
    SceneGrasp g;
    g.kind = i == 0 ? SceneGrasp::Kind::rigid : i == 1 ? SceneGrasp::Kind::hinge : SceneGrasp::Kind::point;
    g.name = g.arm = arm.name;
    g.object = "object";
    spec.grasps.push_back(g);
  }
  spec.objects.push_back({"object",
                          {3, {0, 0, 0.05}, {0.08, 0.07, 0.06, 0, 0, 0}},
                          {Mat3<double>::identity(), {0, 0, 0.8}},
                          {}});
  return spec;
}

TEST(Mechanisms, ThreeArmsSwingAnObject) {
  Scene scene(three_arms());
  const Model& model = scene.model();
  std::vector<double> q = scene.q, v = random(model, 4);
  v.resize(model.nv());
  for (double& x : v) x *= 0.2;
  scene.dynamics().impulse(q, v, v);
  const auto energy = [&] {
    const auto t = totals(model, q, v);
    return t.kinetic + t.potential;
  };
  const double start = energy();
  double worst = 0, scale = totals(model, q, v).kinetic, momentum = 0;
  simulate(scene.dynamics(), q, v, 1e-3, 10000, [&](int step) {
    if (step % 100) return;
    scale = std::max(scale, totals(model, q, v).kinetic);
    worst = std::max(worst, std::abs(energy() - start));
    // The object's momentum balance: contact forces and weight are what changes it.
    std::vector<double> a(model.nv()), tau(model.nv());
    scene.dynamics().acceleration(q, v, tau, a);
    Kinematics<> k(model);
    k.update(q, v, a);
    const int object = scene.object_frame(0);
    const auto pose = k.pose(object);
    const Spatial<double> alpha = k.acceleration(object), V = k.velocity(object);
    const Vec3<double> c = pose.rotation * Vec3<double>{0, 0, 0.05};
    const Vec3<double> p_dot = (alpha.v + cross(alpha.w, c) + cross(V.w, cross(V.w, c))) * 3;
    Vec3<double> F{0, 0, -9.81 * 3};
    for (int i = 0; i < 3; ++i) F += scene.dynamics().force(i).v;
    momentum = std::max(momentum, relative_error(p_dot, F, 1));
  });
  std::printf("  energy drift over 10 s: %.2g of %.3g J; momentum balance %.2g\n", worst / scale, scale,
              momentum);
  EXPECT_LT(worst / scale, 1e-6);
  EXPECT_LT(momentum, 1e-9);
}

TEST(Mechanisms, AGraspMadeAndReleased) {
  SceneSpec spec = three_arms();
  Scene scene(spec);
  const Model& model = scene.model();
  ConstrainedDynamics& work = scene.dynamics();
  work.set_active(2, false);  // the third arm lets go
  std::vector<double> q = scene.q, v(model.nv());
  simulate(work, q, v, 1e-3, 100, [](int) {});
  // It takes hold again where it is now: velocities jump, the object's momentum changes by the impulses.
  work.grasp_here(2, q);
  EXPECT_LT(work.drift(q, v).position, 1e-12);
  EXPECT_GT(work.drift(q, v).velocity, 1e-3);
  const std::vector<double> before = v;
  work.impulse(q, v, v);
  EXPECT_LT(work.drift(q, v).velocity, 1e-12);
  Kinematics<> k0(model), k1(model);
  k0.update(q, before);
  k1.update(q, v);
  const int object = scene.object_frame(0);
  const Vec3<double> c = k0.pose(object).rotation * Vec3<double>{0, 0, 0.05};
  const Vec3<double> jump = (k1.velocity(object).v + cross(k1.velocity(object).w, c) - k0.velocity(object).v -
                             cross(k0.velocity(object).w, c)) *
                            3;
  Vec3<double> impulse{0, 0, 0};
  for (int i = 0; i < 3; ++i) impulse += work.force(i).v;
  EXPECT_LT(relative_error(jump, impulse), 1e-9);
  const double lost = totals(model, q, before).kinetic - totals(model, q, v).kinetic;
  EXPECT_GT(lost, 0);
}

TEST(Mechanisms, RedundantWeldsAreReported) {
  // The same body welded twice: the second weld follows from the first, and they share the load evenly.
  const Model model = one_body({2, {0, 0, 0}, {0.1, 0.1, 0.1, 0, 0, 0}});
  const int body = model.frame("it/body");
  ConstrainedDynamics work(model,
                           {weld("first", {-1, {}}, {body, {}}), weld("second", {-1, {}}, {body, {}})});
  std::vector<double> q = neutral(model), v(6), a(6), tau(6);
  work.acceleration(q, v, tau, a);
  EXPECT_EQ(work.rank(), 6);
  EXPECT_LT(largest(a), 1e-12);
  const auto why = work.dependences();
  ASSERT_EQ(why.size(), 6u);
  EXPECT_NE(why[0].find("'second' (rotation about x) follows from 'first' (rotation about x)"),
            std::string::npos)
      << why[0];
  EXPECT_NEAR(work.force(0).v.z, 9.81, 1e-12);
  EXPECT_NEAR(work.force(1).v.z, 9.81, 1e-12);
}

}  // namespace
}  // namespace articula::testing
