// The Simulator: force elements against closed forms, sampling, limits, errors that leave the state alone.
#include "articula/simulation/simulator.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "articula/simulation/controllers.hpp"
#include "articula/simulation/rate_control.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

/// A mass of m kg on a slide along x, or a disc about z; no gravity.
Model slider(double lower = -10, double upper = 10, double damping = 0, double friction = 0) {
  ModelSpec spec;
  spec.name = "slider";
  spec.add_link({"ground"});
  spec.add_link({"mass", {2, {0, 0, 0}, {0.01, 0.01, 0.01, 0, 0, 0}}});
  JointSpec joint;
  joint.name = "slide", joint.kind = JointKind::prismatic, joint.parent = "ground", joint.child = "mass";
  joint.axis = {1, 0, 0};
  joint.limits.lower = lower, joint.limits.upper = upper;
  joint.damping = damping, joint.friction = friction;
  spec.add_joint(joint);
  return Model(spec, {.gravity = {0, 0, 0}});
}

TEST(Simulator, SpringsDampersAndFrictionFollowTheirClosedForms) {
  const Model model = slider(-10, 10, 1.5, 3);
  JointSprings springs(model, {50}, {0.2});
  JointDampers dampers(model);
  EXPECT_TRUE(dampers.any());
  for (const Integrator integrator :
       {Integrator::rk4, Integrator::rk45, Integrator::cvode, Integrator::variational}) {
    Simulator sim(model, integrator, {1e-11, 1e-12});
    sim.add(springs), sim.add(dampers);
    sim.q[0] = 1;
    const int steps = integrator == Integrator::variational ? 20000 : 1000;
    for (int i = 0; i < steps; ++i) sim.advance(double(i + 1) / steps);
    const double g = 1.5 / 4, w = std::sqrt(50. / 2 - g * g);
    const double x = 0.2 + 0.8 * std::exp(-g) * (std::cos(w) + g / w * std::sin(w));
    EXPECT_NEAR(sim.q[0], x, 3e-8) << name_of(integrator);
    EXPECT_NEAR(sim.stored_energy(), 25 * (x - 0.2) * (x - 0.2), 1e-6);
  }
  // Friction alone stops a sliding mass where v^2 / (2 f / m) says, but for the creep below `slip`.
  Simulator sim(model, Integrator::rk45, {1e-9, 1e-9});
  DryFriction friction(model, 1e-4);
  ASSERT_TRUE(friction.any());
  sim.add(friction);
  sim.v[0] = 3;
  sim.advance(5);
  EXPECT_NEAR(sim.q[0], 3 * 3 / (2 * 3 / 2.), 1e-3);
  EXPECT_LT(std::abs(sim.v[0]), 1e-4);
  EXPECT_LE(sim.power(), 0);
}

TEST(Simulator, EnergyChangesByThePower) {
  // Any model, any elements: d/dt (kinetic + potential) is power(), by differences along the motion.
  Worst worst("d/dt(energy) against power()");
  for_each_case([&](const Case& c) {
    if (c.model.nv() == 0 || c.dense.condition_number() > 1e6) return;
    Simulator sim(c.model, Integrator::rk4);
    sim.q = c.state.q, sim.v = c.state.v, sim.tau = c.state.tau;
    sim.wrenches = c.state.wrenches;
    JointDampers dampers(c.model, std::vector<double>(c.model.nv(), 0.1));
    sim.add(dampers);
    std::vector<double> a(c.model.nv());
    sim.acceleration(a);
    const double h = 1e-4 / (1 + std::sqrt(largest(a))), p = sim.power(), v0 = largest(a);
    const auto energy = [&](double to) {
      Simulator moved(c.model, Integrator::rk4);
      moved.q = sim.q, moved.v = sim.v, moved.tau = sim.tau, moved.wrenches = sim.wrenches;
      moved.add(dampers);
      moved.step(to);
      const auto t = moved.totals();
      return t.kinetic + t.potential;
    };
    const auto t0 = sim.totals();
    const double E0 = t0.kinetic + t0.potential;
    const double rate = (4 * energy(h) - energy(2 * h) - 3 * E0) / (2 * h);
    EXPECT_LT(worst(std::abs(rate - p) / (1 + std::abs(p) + v0 + std::abs(E0))), 1e-6);
  });
}

TEST(Simulator, ControllersReachWhatTheyAreTold) {
  const Model arm = shipped("arm7");
  const int n = arm.nv();
  std::vector<double> target(arm.nq());
  for (int i = 0; i < n; ++i) target[i] = 0.3 * (i % 3) - 0.2;
  {
    Simulator sim(arm, Integrator::rk4);
    ComputedTorque control(arm, {std::vector<double>(n, 100), std::vector<double>(n, 20)},
                           Reference(arm, target));
    sim.add(control);
    for (int i = 0; i < 2000; ++i) sim.step(1e-3);
    // Every joint is a critically damped loop of its own.
    for (int i = 0; i < n; ++i) EXPECT_NEAR(sim.q[i], target[i] * (1 - std::exp(-20.) * (1 + 20)), 1e-6) << i;
  }
  {
    Simulator sim(arm, Integrator::rk45);
    PdControl control(arm, {std::vector<double>(n, 200), std::vector<double>(n, 30)}, Reference(arm, target),
                      true);
    sim.add_sampled(control, 2e-3);
    sim.advance(6);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(sim.q[i], target[i], 1e-3) << i;
  }
  Simulator still(arm, Integrator::rk4);
  GravityCompensation float_on(arm);
  still.q = target;
  still.add(float_on);
  for (int i = 0; i < 100; ++i) still.step(1e-2);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(still.q[i], target[i], 1e-9);
}

/// A smooth reference is followed without error: its acceleration is fed forward.
TEST(Simulator, ComputedTorqueFeedsTheAccelerationForward) {
  const Model arm = shipped("arm7");
  const int n = arm.nv();
  const auto rows = [&](std::initializer_list<double> scales) {
    std::vector<double> out;
    for (const double scale : scales)
      for (int i = 0; i < n; ++i) out.push_back(scale * (0.3 * (i % 3) - 0.2));
    return Table({0, 0.4, 1}, out, n);
  };
  const Reference path(arm, rows({0, 1, -0.5}), rows({0, 2, 1}), rows({1, -3, 2}));
  std::vector<double> q(n), v(n), a(n), q2(n), v2(n), a2(n);
  for (const double t : {0.1, 0.39, 0.7}) {  // v and a are the rates
    const double h = 1e-5;
    path.at(t + h, q2, v2, a2);
    path.at(t - h, q, v, a);
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR((q2[i] - q[i]) / (2 * h), (v[i] + v2[i]) / 2, 1e-7);
      EXPECT_NEAR((v2[i] - v[i]) / (2 * h), (a[i] + a2[i]) / 2, 1e-6);
    }
  }
  path.at(0.4, q, v, a);
  EXPECT_NEAR(q[0], -0.2, 1e-15);
  EXPECT_NEAR(v[0], -0.4, 1e-14);
  EXPECT_NEAR(a[0], 0.6, 1e-13);
  ComputedTorque control(arm, {std::vector<double>(n, 100), std::vector<double>(n, 20)}, path);
  Simulator sim(arm, Integrator::rk4);
  sim.add(control);
  double worst = 0;
  for (int step = 1; step <= 1000; ++step) {
    sim.advance(step * 1e-3);
    path.at(sim.time, q, v, a);
    for (int i = 0; i < n && step < 1000; ++i) worst = std::max(worst, std::abs(sim.q[i] - q[i]));
  }
  EXPECT_LT(worst, 1e-9);
  const Model ball(one_joint_spec(JointKind::spherical));
  const Table three({0}, {0, 0, 0}, 3);
  EXPECT_THROW(Reference(ball, three, three, three), ArgumentError);
  EXPECT_THROW(Reference(arm, rows({0, 1, 2}), three, three), ArgumentError);
}

/// In (q, nu) and (q, xi) it is the same motion, with all that acts.
TEST(Simulator, MovesInDiagonalizedVelocitiesToo) {
  const Model arm = shipped("arm7");
  const int n = arm.nv();
  const auto run = [&](MotionForm form, Integrator integrator) {
    Simulator sim(arm, integrator, {1e-11, 1e-11}, form);
    JointDampers dampers(arm, std::vector<double>(n, 0.2));
    TabulatedWrench push(arm, "hand", Table({0}, {0, 0.1, 0, 1, 2, 3}, 6));
    PdControl control(arm, {std::vector<double>(n, 5), std::vector<double>(n, 1)},
                      Reference(arm, std::vector<double>(n, 0.3)));
    sim.add(dampers), sim.add(push), sim.add_sampled(control, 0.01);
    for (int i = 0; i < n; ++i) sim.q[i] = 0.1 * i, sim.v[i] = 0.3 - 0.1 * i;
    for (int step = 1; step <= 500; ++step) sim.advance(1e-3 * step);
    std::vector<double> out = sim.q;
    out.insert(out.end(), sim.v.begin(), sim.v.end());
    return out;
  };
  const std::vector<double> expected = run(MotionForm::rates, Integrator::rk45);
  for (const MotionForm form : {MotionForm::nu, MotionForm::xi})
    for (const Integrator integrator :
         {Integrator::rk4, Integrator::rk45, Integrator::cvode, Integrator::midpoint})
      EXPECT_LT(relative_error(run(form, integrator), expected),
                integrator == Integrator::midpoint ? 1e-3 : 1e-6)
          << name_of(integrator) << int(form);
  EXPECT_THROW(Simulator(arm, Integrator::variational, {}, MotionForm::nu), ArgumentError);
  Simulator stopped(arm, Integrator::rk45, {}, MotionForm::nu);
  EXPECT_THROW(stopped.stop_at_limits(), ArgumentError);
}

/// Each nu is a first-order loop.
TEST(Simulator, DecoupledRatesAreLoopsOfTheirOwn) {
  const Model arm = shipped("arm7");
  const int n = arm.nv();
  std::vector<double> gains(n), wanted(n), nu(n), nu0(n);
  for (int i = 0; i < n; ++i) gains[i] = 1 + i, wanted[i] = 0.1 * (i - 3);
  DecoupledRateControl control(arm, gains, wanted);
  Simulator sim(arm, Integrator::rk4);
  for (int i = 0; i < n; ++i) sim.q[i] = 0.1 * i, sim.v[i] = 0.3 - 0.1 * i;
  DiagonalizedDynamics diagonal(arm);
  diagonal.update(sim.q);
  diagonal.rates_to_nu(sim.v, nu0);
  sim.add(control);
  for (int step = 1; step <= 500; ++step) sim.advance(1e-3 * step);
  diagonal.update(sim.q);
  diagonal.rates_to_nu(sim.v, nu);
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(nu[i], wanted[i] + (nu0[i] - wanted[i]) * std::exp(-gains[i] * 0.5), 1e-9) << i;
  EXPECT_THROW(DecoupledRateControl(arm, {1.0}, wanted), ArgumentError);
  EXPECT_THROW(DecoupledRateControl(shipped("quadruped", {.base = Base::free}), gains, wanted),
               ArgumentError);
}

/// A sampled controller's force is one number between samples, whatever the integrator does inside.
TEST(Simulator, SampledElementsHoldBetweenSamples) {
  struct Count : ForceElement {
    void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override {
      times.push_back(t);
      tau[0] += -4 * q[0] - 1 * v[0];
    }
    std::vector<double> times;
  };
  const Model model = slider();
  for (const Integrator integrator :
       {Integrator::rk4, Integrator::rk45, Integrator::cvode, Integrator::euler}) {
    Count control;
    Simulator sim(model, integrator, {1e-12, 1e-12});
    sim.add_sampled(control, 0.1);
    sim.q[0] = 1;
    double x = 1, v = 0;
    for (int i = 1; i <= 30; ++i) sim.advance(i * 0.0333333333);
    ASSERT_EQ(control.times.size(), 10u) << name_of(integrator);
    for (int i = 0; i < 10; ++i) EXPECT_NEAR(control.times[i], 0.1 * i, 1e-12);
    for (int i = 0; i < 9; ++i) {
      const double a = (-4 * x - v) / 2;
      x += 0.1 * v + 0.005 * a, v += 0.1 * a;
    }
    const double a = (-4 * x - v) / 2, h = 30 * 0.0333333333 - 0.9;
    x += h * v + h * h / 2 * a, v += h * a;
    if (integrator != Integrator::euler) {
      EXPECT_NEAR(sim.q[0], x, 1e-8) << name_of(integrator);
      EXPECT_NEAR(sim.v[0], v, 1e-8);
    }
  }
}

TEST(Simulator, LimitsAsEventsBounceAndRest) {
  // A ball on a slope: constant force against the upper stop.
  const Model model = slider(-1, 1);
  {
    Simulator sim(model, Integrator::rk45, {1e-10, 1e-10});
    sim.stop_at_limits(0.5);
    sim.tau[0] = 4;  // 2 m/s^2
    std::vector<Simulator::Impact> all;
    for (int i = 1; i <= 400; ++i) {
      sim.advance(i * 0.01);
      all.insert(all.end(), sim.impacts().begin(), sim.impacts().end());
      EXPECT_LE(sim.q[0], 1 + 1e-11);
    }
    // From 0 it takes 1 s to the stop at 2 m/s; then 1 s up and down, then half of that, ..
    ASSERT_GE(all.size(), 4u);
    EXPECT_NEAR(all[0].time, 1, 1e-9);
    EXPECT_NEAR(all[0].speed, 2, 1e-8);
    EXPECT_NEAR(all[1].time, 2, 1e-8);
    EXPECT_NEAR(all[1].speed, 1, 1e-8);
    EXPECT_NEAR(all[2].time, 2.5, 1e-8);
    EXPECT_EQ(sim.q[0], 1);  // at rest since t = 3
    EXPECT_EQ(sim.v[0], 0);
    sim.tau[0] = -4;
    sim.advance(5);
    EXPECT_NEAR(sim.q[0], 0, 1e-8);
  }
  {  // stiff stops: within, and the loss takes energy
    Simulator sim(model, Integrator::rk4);
    StiffStops stops(model, 1e5, 0.5);
    sim.add(stops);
    sim.v[0] = 2;
    double deepest = 0;
    for (int i = 0; i < 20000; ++i) {
      sim.step(1e-4);
      deepest = std::max(deepest, std::abs(sim.q[0]) - 1);
    }
    EXPECT_GT(deepest, 0);
    EXPECT_LT(deepest, 2 * std::sqrt(2 / 1e5) * 1.01);
    EXPECT_LT(std::abs(sim.v[0]), 2);
  }
  Simulator fixed(model, Integrator::rk4);
  EXPECT_THROW(fixed.stop_at_limits(), ArgumentError);
  // Two joints: an impact of one moves the other as its inertia says; energy only falls.
  const Start start = double_pendulum();
  ModelSpec spec = start.model.spec();
  for (JointSpec& joint : spec.joints)
    if (joint.kind != JointKind::fixed)
      joint.kind = JointKind::revolute, joint.limits.lower = -0.8, joint.limits.upper = 0.8;
  const Model limited(spec);
  Simulator sim(limited, Integrator::rk45, {1e-10, 1e-10});
  sim.stop_at_limits(0);
  sim.q = {0.5, 0.5}, sim.v = {4, -3};
  const auto energy = [&] {
    const auto t = sim.totals();
    return t.kinetic + t.potential;
  };
  double last = energy();
  int impacts = 0;
  for (int i = 1; i <= 500; ++i) {
    sim.advance(i * 0.01);
    impacts += int(sim.impacts().size());
    EXPECT_LT(energy(), last + 1e-7);
    last = energy();
    for (const double x : sim.q) EXPECT_LT(std::abs(x), 0.8 + 1e-9);
  }
  EXPECT_GT(impacts, 2);
}

/// A spinning spherical pendulum pulled by a constant force at its mass centre, against the same force put in
/// as a gravity; and forces that change over time.
TEST(Simulator, WrenchesOverTime) {
  const Start start = spherical_pendulum();
  const Model weightless = start.model.with_gravity({0, 0, 0});
  ModelSpec spec = weightless.spec();
  FrameSpec centre;
  centre.name = "centre", centre.link = "body", centre.placement.p = {0.1, 0.05, -0.4};
  spec.add_frame(centre);
  const Model model(spec, {.gravity = {0, 0, 0}});
  TabulatedWrench pull(model, "centre", Table({0}, {0, 0, 0, 0, 0, -2 * 9.81}, 6));
  for (const Integrator integrator : {Integrator::rk4, Integrator::variational, Integrator::cvode}) {
    Simulator a(model, integrator), b(start.model, integrator);
    a.add(pull);
    a.q = b.q = start.q, a.v = b.v = start.v;
    for (int i = 0; i < 200; ++i) a.step(1e-3), b.step(1e-3);
    EXPECT_LT(distance(model, a.q, a.v, {"", b.model(), b.q, b.v}),
              integrator == Integrator::cvode ? 1e-5 : 1e-11)
        << name_of(integrator);
  }
  // A ramp on a slider: v = t^2 / (2 m).
  const Model one = slider();
  TabulatedForces ramp(one, Table({0, 2}, {0, 2}, 1));
  Simulator sim(one, Integrator::rk4);
  sim.add(ramp);
  for (int i = 0; i < 10; ++i) sim.step(0.1);
  EXPECT_NEAR(sim.v[0], 1 / 4., 1e-12);
}

TEST(Simulator, ErrorsLeaveTheStateAsItWas) {
  const Model arm = shipped("arm7");
  Simulator sim(arm, Integrator::rk4);
  sim.step(0.01);
  const auto q = sim.q, v = sim.v;
  const double t = sim.time;
  sim.tau[2] = NAN;
  try {
    sim.step(0.01);
    FAIL() << "a NaN torque passed";
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find(arm.joints()[2].name), std::string::npos) << error.what();
  }
  sim.tau[2] = 0;
  EXPECT_EQ(sim.q, q);
  EXPECT_EQ(sim.v, v);
  EXPECT_EQ(sim.time, t);
  sim.tau.resize(3);
  EXPECT_THROW(sim.step(0.01), ArgumentError);
  sim.tau.assign(7, 0);
  sim.q.resize(8);
  EXPECT_THROW(sim.step(0.01), ArgumentError);
  sim.q = q;
  EXPECT_THROW(sim.step(-1), ArgumentError);
  EXPECT_THROW(sim.step(NAN), ArgumentError);
  // Euler with a huge step runs away: reported, and the last finite state kept.
  Simulator wild(arm, Integrator::euler);
  wild.q.assign(7, 0.5);
  EXPECT_THROW(
      {
        for (int i = 0; i < 10000; ++i) wild.step(10);
      },
      Error);
  for (const double x : wild.v) EXPECT_TRUE(std::isfinite(x));
  EXPECT_THROW(integrator_named("rk5"), ArgumentError);
  EXPECT_THROW(JointSprings(arm, {1}, {0}), ArgumentError);
  EXPECT_THROW(Table({0, 0}, {1, 2}, 1), ArgumentError);
  EXPECT_THROW(Table({0, 1}, {1, NAN}, 1), ArgumentError);
  EXPECT_THROW(sim.add_sampled(*std::make_unique<GravityCompensation>(arm), 0), ArgumentError);
}

/// Nothing is remembered but what can be read: a second simulator, given the first one's state, makes the
/// same bits.
TEST(Simulator, ContinuesToTheSameBits) {
  const Start start = quadruped_in_flight();
  PdControl control(start.model,
                    {std::vector<double>(start.model.nv(), 20), std::vector<double>(start.model.nv(), 1)},
                    Reference(start.model, start.q));
  for (const Integrator integrator :
       {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4, Integrator::rk45,
        Integrator::variational, Integrator::midpoint, Integrator::cvode}) {
    Simulator one(start.model, integrator);
    one.q = start.q, one.v = start.v;
    one.add_sampled(control, 0.007);
    for (int i = 1; i <= 10; ++i) one.advance(i * 0.005);
    Simulator two(start.model, integrator);
    two.add_sampled(control, 0.007);
    two.time = one.time, two.q = one.q, two.v = one.v;
    two.set_next_step(one.next_step());
    two.sampled()[0].held = one.sampled()[0].held, two.sampled()[0].index = one.sampled()[0].index;
    for (int i = 11; i <= 20; ++i) one.advance(i * 0.005), two.advance(i * 0.005);
    EXPECT_EQ(one.q, two.q) << name_of(integrator);
    EXPECT_EQ(one.v, two.v) << name_of(integrator);
  }
}

}  // namespace
}  // namespace articula::testing
