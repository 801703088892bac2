// Steps and rollouts against the integrators for one state.
#include <gtest/gtest.h>

#include <cmath>

#include "articula/batch/batch.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/simulator.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

constexpr Integrator explicit_ones[] = {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4};
/// Of each joint's own numbers: a far-away base must not hide an error at a finger.
double joint_error(const Model& model, std::span<const double> a, std::span<const double> b,
                   bool velocities) {
  double worst = 0;
  for (const Joint& joint : model.joints()) {
    const int first = velocities ? joint.v_index : joint.q_index, n = velocities ? joint.nv : joint.nq;
    if (joint.mimics < 0)
      worst = std::max(worst, relative_error(a.subspan(first, n), b.subspan(first, n), 1));
  }
  return worst;
}

TEST(Rollout, StepsAreThoseOfTheSimulator) {
  Worst worst_q("rollout, q after a step"), worst_v("rollout, v after a step");
  Rng rng(1);
  for_each_case([&](const Case& c) {
    ModelSpec spec = c.model.spec();
    for (JointSpec& joint : spec.joints) joint.damping = rng.uniform(0, 0.1);
    const Model model(spec, {.base = c.model.base(), .gravity = c.model.gravity()});
    const std::size_t nq = model.nq(), nv = model.nv(), count = 9;
    if (nq == 0) return;
    Batch<> batch(model);
    const States s(rng, model, count);
    JointDampers dampers(model);
    std::vector<double> a(nv), a_lanes(count * nv);
    batch.forward_dynamics(s.q, s.v, s.tau, a_lanes);
    for (const Integrator integrator : explicit_ones) {
      for (const bool damping : {false, true}) {
        std::vector<double> q(s.q.size()), v(s.v.size());
        batch.step(s.q, s.v, s.tau, 1e-3, q, v, {integrator, damping});
        for (std::size_t i = 0; i < count; i += 4) {
          Simulator simulator(model, integrator);
          if (damping) simulator.add(dampers);
          const auto copy = [&](const std::vector<double>& all, std::size_t n, std::vector<double>& to) {
            to.assign(all.begin() + i * n, all.begin() + (i + 1) * n);
          };
          copy(s.q, nq, simulator.q), copy(s.v, nv, simulator.v), copy(s.tau, nv, simulator.tau);
          // Relative to the state, or to what the step changes: light links are flung away. And a step adds
          // nothing to what accelerations of ill-conditioned trees differ by.
          simulator.acceleration(a);
          const double scale = 1 + 1e-3 * largest(a);
          double apart = 0;
          for (std::size_t j = 0; j < nv; ++j) apart = std::max(apart, std::abs(a[j] - a_lanes[i * nv + j]));
          simulator.step(1e-3);
          EXPECT_LT(worst_q(joint_error(model, row(q, i, nq), simulator.q, false) / scale), 1e-13);
          EXPECT_LT(worst_v(joint_error(model, row(v, i, nv), simulator.v, true) / scale),
                    1e-13 + 2e-3 * apart);
        }
      }
    }
  });
}

/// Turns of every size beside each other in the lanes of one register: series and closed form.
TEST(Rollout, TurnsOfAnySizeInNeighbouringLanes) {
  Worst worst("rollout, turns of 0 to 20 radians");
  for (const JointKind kind : {JointKind::spherical, JointKind::free, JointKind::planar}) {
    ModelSpec spec = one_joint_spec(kind);
    const Model model(spec, {.gravity = {0, 0, 0}});
    Rng rng(3);
    States s(rng, model, 24);
    const std::size_t nq = model.nq(), nv = model.nv();
    const double sizes[] = {0, 1e-200, 1e-12, 1e-5, 0.1, 0.4999, 0.5001, 1, 3.1, 6.3, 20};
    for (std::size_t i = 0; i < s.count; ++i)
      for (std::size_t j = 0; j < nv; ++j) s.v[i * nv + j] *= sizes[i % std::size(sizes)];
    std::vector<double> q(s.q.size()), v(s.v.size()), expected(nq);
    Batch<> batch(model);
    batch.step(s.q, s.v, {}, 1, q, v, {.integrator = Integrator::euler});
    for (std::size_t i = 0; i < s.count; ++i) {
      integrate(model, row(s.q, i, nq), row(s.v, i, nv), expected);
      EXPECT_LT(worst(relative_error(row(q, i, nq), expected)), 3e-15) << i;
    }
  }
}

struct Paths {
  std::vector<double> q, v;
};
TEST(Rollout, IsItsStepsInBothLayoutsOnAnyThreads) {
  Rng rng(4);
  for (const double mimic : {0.0, 0.5}) {
    const Model model(random_spec(rng, {.links = 9, .mimic = mimic}), {.base = Base::free});
    const std::size_t nq = model.nq(), nv = model.nv(), steps = 6;
    for (const std::size_t count : {1, 7, 8, 9, 17}) {
      const States s(rng, model, count);
      const std::vector<double> tau = random_vector(rng, count * steps * nv);
      RolloutOptions options;
      options.step = 2e-3, options.steps = steps, options.damping = true;
      // Step by step, put together.
      Batch<> batch(model);
      Paths expected{std::vector<double>(count * steps * nq), std::vector<double>(count * steps * nv)};
      std::vector<double> q = s.q, v = s.v, now(count * nv);
      for (std::size_t k = 0; k < steps; ++k) {
        for (std::size_t i = 0; i < count; ++i)
          std::copy_n(tau.begin() + (i * steps + k) * nv, nv, now.begin() + i * nv);
        batch.step(q, v, now, options.step, q, v, options);
        for (std::size_t i = 0; i < count; ++i) {
          std::copy_n(q.begin() + i * nq, nq, expected.q.begin() + (i * steps + k) * nq);
          std::copy_n(v.begin() + i * nv, nv, expected.v.begin() + (i * steps + k) * nv);
        }
      }
      const auto same = [&](Batch<>& b, bool columns, std::size_t every) {
        options.every = every;
        const std::size_t times = steps / every;
        Paths p{std::vector<double>(count * times * nq), std::vector<double>(count * times * nv)};
        std::vector<double> fastest(count, -1);
        if (columns) {
          b.rollout(turned(s.q, count), turned(s.v, count), turned(tau, count), options, p.q, p.v, fastest);
          p.q = turned(p.q, times * nq), p.v = turned(p.v, times * nv);
        } else {
          b.rollout(s.q, s.v, tau, options, p.q, p.v, fastest);
        }
        for (std::size_t i = 0; i < count; ++i)
          EXPECT_EQ(fastest[i], largest(row(expected.v, i, steps * nv)));
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t t = 0; t < times; ++t) {
            const std::size_t at = i * steps + (t + 1) * every - 1;
            EXPECT_TRUE(std::ranges::equal(row(p.q, i * times + t, nq), row(expected.q, at, nq)));
            EXPECT_TRUE(std::ranges::equal(row(p.v, i * times + t, nv), row(expected.v, at, nv)));
          }
      };
      Batch<> columns(model, {.layout = Layout::columns});
      for (const std::size_t every : {1, 2, 6}) {
        same(batch, false, every);
        same(columns, true, every);
      }
      Threads threads(3);
      Batch<> on_threads(model, {.threads = &threads});
      same(on_threads, false, 3);
      // Either path alone; constant and no forces.
      std::vector<double> end(count * nv), none(count * nv);
      options.every = steps;
      batch.rollout(s.q, s.v, std::vector<double>(count * nv, 0.0), options, {}, end);
      batch.rollout(s.q, s.v, {}, options, {}, none);
      EXPECT_EQ(end, none);
    }
  }
}

/// A long motion agrees with the simulator's while it can: the arm is not chaotic for a tenth of a second.
TEST(Rollout, ManyStepsAgreeWithTheSimulator) {
  Rng rng(5);
  const Model model(make_chain(7));
  const States s(rng, model, 10);
  RolloutOptions options;
  options.steps = options.every = 100;
  std::vector<double> q(s.q.size()), v(s.v.size());
  Batch<>(model).rollout(s.q, s.v, s.tau, options, q, v);
  for (std::size_t i = 0; i < s.count; ++i) {
    Simulator simulator(model);
    simulator.q.assign(s.q.begin() + i * 7, s.q.begin() + (i + 1) * 7);
    simulator.v.assign(s.v.begin() + i * 7, s.v.begin() + (i + 1) * 7);
    simulator.tau.assign(s.tau.begin() + i * 7, s.tau.begin() + (i + 1) * 7);
    for (int k = 0; k < 100; ++k) simulator.step(1e-3);
    EXPECT_LT(relative_error(row(q, i, 7), simulator.q), 1e-10);
    EXPECT_LT(relative_error(row(v, i, 7), simulator.v), 1e-10);
  }
}

TEST(Rollout, ATrajectoryThatEndsDoesNotStopTheOthers) {
  const Model model(make_chain(3));
  Rng rng(6);
  for (const Layout layout : {Layout::rows, Layout::columns}) {
    const std::size_t count = 20, steps = 5, n = 3;
    States s(rng, model, count);
    std::vector<double> tau = random_vector(rng, count * steps * n);
    RolloutOptions options;
    options.steps = steps;
    std::vector<double> fastest(count);
    const auto roll = [&](std::vector<double>& q_path, std::vector<double>& v_path) {
      q_path.assign(count * steps * n, 0), v_path = q_path;
      Batch<> batch(model, {.layout = layout});
      const bool columns = layout == Layout::columns;
      std::string message;
      try {
        batch.rollout(columns ? turned(s.q, count) : s.q, columns ? turned(s.v, count) : s.v,
                      columns ? turned(tau, count) : tau, options, q_path, v_path, fastest);
      } catch (const NotFiniteError& error) {  // tau, or the start
        message = error.what();
      }
      if (columns) q_path = turned(q_path, steps * n), v_path = turned(v_path, steps * n);
      return message;
    };
    std::vector<double> q, v, good_q, good_v;
    EXPECT_EQ(roll(good_q, good_v), "");
    s.q[n * 13 + 1] = NAN;                                      // never begins
    tau[(9 * steps + 2) * n] = INFINITY;                        // in its third step
    for (std::size_t i = 16; i < count; ++i) s.v[n * i] = NAN;  // a whole tile of the widest registers
    const std::string message = roll(q, v);
    EXPECT_NE(message.find("state 9 ends at step 3"), std::string::npos) << message;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(std::isnan(fastest[i]), i == 9 || i == 13 || i >= 16);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t t = 0; t < steps; ++t)
        for (std::size_t j = 0; j < n; ++j) {
          const std::size_t at = (i * steps + t) * n + j;
          if (i == 13 || i >= 16 || (i == 9 && t >= 2)) {
            EXPECT_TRUE(std::isnan(q[at]) && std::isnan(v[at])) << i << " " << t;
          } else {
            EXPECT_EQ(q[at], good_q[at]) << i << " " << t;
            EXPECT_EQ(v[at], good_v[at]) << i << " " << t;
          }
        }
  }
}

TEST(Rollout, InFloat) {
  Rng rng(7);
  for (const double mimic : {0.0, 0.5}) {
    const Model model(random_spec(rng, {.links = 6, .mimic = mimic, .mass_ratio = 3}), {.base = Base::free});
    const States s(rng, model, 11);
    std::vector<float> q(s.q.size()), v(s.v.size());
    std::vector<double> expected_q(s.q.size()), expected_v(s.v.size());
    RolloutOptions options;
    options.steps = options.every = 3;
    Batch<float>(model).rollout(to_float(s.q), to_float(s.v), to_float(s.tau), options, q, v);
    Batch<>(model).rollout(s.q, s.v, s.tau, options, expected_q, expected_v);
    EXPECT_LT(relative_error(to_double(q), expected_q), 1e-5);
    EXPECT_LT(relative_error(to_double(v), expected_v), 1e-4);
  }
}

TEST(Rollout, BadArgumentsAreRefused) {
  const Model model(make_chain(3));
  Batch<> batch(model);
  std::vector<double> x(6), y(9), path(24, 7.0);
  const auto options = [](double step, std::size_t steps, std::size_t every) {
    RolloutOptions o;
    o.step = step, o.steps = steps, o.every = every;
    return o;
  };
  const auto refused = [&](In<double> q, In<double> v, In<double> tau, const RolloutOptions& o,
                           Out<double> qp, Out<double> vp, Out<double> fastest = {}) {
    try {
      batch.rollout(q, v, tau, o, qp, vp, fastest);
      ADD_FAILURE() << "accepted";
    } catch (const ArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find("rollout: "), std::string::npos);
    }
  };
  const RolloutOptions good = options(1e-3, 4, 1);
  std::vector<double> taken(24);
  EXPECT_NO_THROW(batch.rollout(x, x, {}, good, taken, {}));
  refused(y, x, {}, good, path, {});
  refused(x, y, {}, good, path, {});
  refused(x, x, y, good, path, {});
  refused(x, x, {}, good, y, {});
  refused(x, x, {}, good, {}, y);
  refused(x, x, {}, good, path, {}, x);
  for (const double h : {0.0, -1e-3, double(NAN), double(INFINITY)})
    refused(x, x, {}, options(h, 4, 1), path, {});
  refused(x, x, {}, options(1e-3, 0, 1), path, {});
  refused(x, x, {}, options(1e-3, 4, 0), path, {});
  refused(x, x, {}, options(1e-3, 4, 3), path, {});
  EXPECT_EQ(path, std::vector<double>(24, 7.0));
  EXPECT_THROW(batch.step(x, x, {}, 1e-3, {}, x), ArgumentError);
  EXPECT_THROW(batch.step(x, x, y, 1e-3, x, x), ArgumentError);
  EXPECT_NO_THROW(batch.rollout({}, {}, {}, good, {}, {}));
}

}  // namespace
}  // namespace articula::testing
