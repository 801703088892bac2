// Each integrator's order on each kind of motion, what the structure-preserving ones keep, and agreement with
// the model's own manifold.
#include <gtest/gtest.h>

#include <functional>

#include "articula/dynamics/kinematics.hpp"
#include "articula/simulation/cvode.hpp"
#include "articula/simulation/dormand_prince.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/midpoint.hpp"
#include "articula/simulation/variational.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

using StepFunction = std::function<void(const System<double>&, double, double, Out<double>, Out<double>)>;
struct Method {
  const char* name;
  int order;
  std::function<StepFunction(const Model&, const Manifold&)> make;
};

template <class I>
StepFunction stepper(std::shared_ptr<I> integrator) {
  return [integrator](const System<double>& s, double t, double h, Out<double> q, Out<double> v) {
    integrator->step(s, t, h, q, v);
  };
}
StepFunction fixed_step(Integrator integrator, const Manifold& manifold) {
  return stepper(std::make_shared<FixedStep<>>(integrator, manifold));
}
const std::vector<Method>& methods() {
  static const std::vector<Method> all{
      {"euler", 1, [](const Model&, const Manifold& m) { return fixed_step(Integrator::euler, m); }},
      {"symplectic_euler", 1,
       [](const Model&, const Manifold& m) { return fixed_step(Integrator::symplectic_euler, m); }},
      {"rk4", 4, [](const Model&, const Manifold& m) { return fixed_step(Integrator::rk4, m); }},
      {"midpoint", 2,
       [](const Model&, const Manifold& m) { return stepper(std::make_shared<ImplicitMidpoint>(m)); }},
      {"variational", 2,
       [](const Model& model, const Manifold&) -> StepFunction {
         return [v = std::make_shared<Variational>(model)](const System<double>&, double t, double h,
                                                           Out<double> q,
                                                           Out<double> x) { v->step({}, t, h, q, x); };
       }},
      // Fixed steps: a loose tolerance lets every step pass, and the longest is given.
      {"rk45", 5,
       [](const Model&, const Manifold& m) -> StepFunction {
         return [d = std::make_shared<DormandPrince>(m, Tolerances{1e6, 1e6})](
                    const System<double>& s, double t, double h, Out<double> q, Out<double> v) {
           d->set_next_step(h);
           d->advance(s, t, t + h, q, v);
         };
       }},
  };
  return all;
}

/// Error at `duration` with n steps.
double error(const Start& start, const Method& method, double duration, int n, const Start& end) {
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const System<double> system{manifold, motion};
  const StepFunction step = method.make(start.model, manifold);
  std::vector<double> q = start.q, v = start.v;
  const double h = duration / n;
  for (int i = 0; i < n; ++i) step(system, i * h, h, q, v);
  return distance(start.model, q, v, end);
}

TEST(Integrators, HaveTheirOrderOnEveryMotion) {
  for (const Start& start : motions()) {
    const double duration = start.duration;
    const Start end = reference(start, duration);
    for (const Method& method : methods()) {
      // Halve until two halvings agree: the asymptotic range, above rounding.
      const int first = int(duration) * (method.order == 1   ? 1600
                                         : method.order == 2 ? 200
                                         : method.order == 4 ? 40
                                                             : 16);
      double order = 0, before = error(start, method, duration, first, end);
      for (int n = 2 * first; n <= 32 * first; n *= 2) {
        const double now = error(start, method, duration, n, end);
        if (now < 1e-12) break;
        const double last = order;
        order = std::log2(before / now);
        before = now;
        if (std::abs(order - last) < 0.05) break;
      }
      EXPECT_NEAR(order, method.order, 0.1) << method.name << ", " << start.name;
      std::printf("[ order ] %-26s %-17s %.3f\n", start.name.c_str(), method.name, order);
    }
  }
}

struct Kept {
  double energy, angular;  // largest relative change
};
Kept kept(const Start& start, const StepFunction& step, const System<double>& system, double duration,
          double h, int every, bool about_origin) {
  std::vector<double> q = start.q, v = start.v;
  const auto at = [&] {
    const auto t = totals(start.model, q, v);
    const auto shift = about_origin ? cross(t.center_of_mass, t.momentum.v) : Vec3<double>{0, 0, 0};
    return std::pair(t.kinetic + t.potential, t.momentum.w + shift);
  };
  const auto [E0, L0] = at();
  Kept worst{0, 0};
  const long n = std::lround(duration / h);
  for (long i = 0; i < n; ++i) {
    step(system, double(i) * h, h, q, v);
    if (i % every && i + 1 != n) continue;
    const auto [E, L] = at();
    worst.energy = std::max(worst.energy, std::abs(E - E0) / std::abs(E0));
    worst.angular = std::max(worst.angular, relative_error(L, L0));
  }
  return worst;
}

TEST(Integrators, AsymmetricTopKeepsEnergyAndAngularMomentum) {
  for (const double h : {1e-2, 2e-3})
    for (const char* name : {"midpoint", "variational"}) {
      const Start start = free_body();
      const Manifold manifold(start.model);
      FreeMotion motion(start.model);
      const System<double> system{manifold, motion};
      for (const Method& method : methods()) {
        if (std::string(method.name) != name) continue;
        const Kept k = kept(start, method.make(start.model, manifold), system, 1000, h, 500, false);
        std::printf("[ top ] %s, h = %g: energy %.1e, angular momentum %.1e\n", name, h, k.energy, k.angular);
        EXPECT_LT(k.energy, 1e-11) << name << " " << h;
        EXPECT_LT(k.angular, 1e-11) << name << " " << h;
      }
    }
}

/// Momentum of a whole mechanism in free flight without gravity, about the world's origin (the mass centre's
/// own path has the integrator's error), and its energy without drift.
TEST(Integrators, VariationalKeepsMomentumOfAQuadruped) {
  Start start = quadruped_in_flight();
  start.model = start.model.with_gravity({0, 0, 0});
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const Kept k = kept(start, methods()[4].make(start.model, manifold), {manifold, motion}, 5, 2e-3, 20, true);
  std::printf("[ quadruped ] energy %.1e, angular momentum %.1e\n", k.energy, k.angular);
  EXPECT_LT(k.angular, 1e-12);
  EXPECT_LT(k.energy, 1e-3);
}

/// A chaotic double pendulum for a long time: the energy error of the variational integrator does not grow.
TEST(Integrators, VariationalEnergyErrorStaysBounded) {
  Start start = double_pendulum();
  start.q = {2.5, 1};
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const System<double> system{manifold, motion};
  const auto largest = [&](double duration) {
    return kept(start, methods()[4].make(start.model, manifold), system, duration, 5e-3, 5, true).energy;
  };
  const double early = largest(20), late = largest(400);
  std::printf("[ chaotic pendulum ] energy error: 20 s %.1e, 400 s %.1e\n", early, late);
  EXPECT_LT(late, 2 * early);
}

TEST(Integrators, ManifoldAgreesWithTheModels) {
  Worst plain("Manifold::integrate against the model's"), chart("chart_rate against differences"),
      series("truncated chart rate at small turns"), middle("the Cayley map's middle");
  for_each_case([&](const Case& c) {
    const Manifold m(c.model);
    ASSERT_EQ(m.nq(), c.model.nq());
    ASSERT_EQ(m.nv(), c.model.nv());
    Rng rng(3);
    const std::vector<double> u = random_vector(rng, m.nv()), w = random_vector(rng, m.nv());
    std::vector<double> out(m.nq()), expected(m.nq());
    m.integrate(c.state.q.data(), u.data(), out.data());
    integrate(c.model, c.state.q, u, expected);
    EXPECT_LT(plain(relative_error(out, expected, 1)), 3e-15);
    // q (+) (u + e u') is q (+) u moved by e w.
    std::vector<double> rate(m.nv()), moved(u), back(m.nv()), step(w);
    m.chart_rate(u.data(), w.data(), rate.data());
    const double e = 1e-5;
    for (int i = 0; i < m.nv(); ++i) moved[i] += e * rate[i], step[i] *= e;
    integrate(c.model, c.state.q, moved, out);
    integrate(c.model, expected, step, expected);
    difference(c.model, expected, out, back);
    EXPECT_LT(chart(largest(back)), 1e-8);
    std::vector<double> small(u), short_rate(m.nv());
    for (double& x : small) x *= 1e-3;
    m.chart_rate(small.data(), w.data(), rate.data());
    m.chart_rate_to_fourth_order(small.data(), w.data(), short_rate.data());
    EXPECT_LT(series(relative_error(short_rate, rate, 1)), 1e-14);
    // Back by -u through the same middle.
    std::vector<double> half(m.nq()), end(m.nq()), half_again(m.nq()), begin(m.nq()), less(u);
    for (double& x : less) x = -x;
    m.cayley(c.state.q.data(), u.data(), half.data(), end.data());
    m.cayley(end.data(), less.data(), half_again.data(), begin.data());
    difference(c.model, half, half_again, back);
    double there = largest(back);
    difference(c.model, c.state.q, begin, back);
    EXPECT_LT(middle(std::max(there, largest(back))), 1e-11);
  });
}

TEST(Integrators, DoublePendulumForTenSecondsAgainstATightReference) {
  const Start start = double_pendulum();
  const Start end = reference(start, 10);
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const System<double> system{manifold, motion};
  // The reference itself: CVODE and RK4 with tiny steps agree with it.
  std::vector<double> q = start.q, v = start.v;
  FixedStep<> rk4(Integrator::rk4, manifold);
  for (int i = 0; i < 100000; ++i) rk4.step(system, i * 1e-4, 1e-4, q, v);
  const double by_rk4 = distance(start.model, q, v, end);
  EXPECT_LT(by_rk4, 1e-10);
  std::printf("[ double pendulum, 10 s ] rk4 at 0.1 ms: %.1e\n", by_rk4);
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    q = start.q, v = start.v;
    DormandPrince pair(manifold, {tolerance, tolerance});
    pair.advance(system, 0, 10, q, v);
    const double e = distance(start.model, q, v, end);
    std::printf("[ double pendulum, 10 s ] rk45 at %.0e: %.1e, %ld evaluations\n", tolerance, e,
                pair.evaluations());
    EXPECT_LT(e, 1e3 * tolerance);
  }
  q = start.q, v = start.v;
  Cvode cvode(manifold, {1e-10, 1e-12});
  cvode.advance(system, 0, 10, q, v);
  const double e = distance(start.model, q, v, end);
  std::printf("[ double pendulum, 10 s ] cvode at 1e-10: %.1e, %ld evaluations\n", e, cvode.evaluations());
  EXPECT_LT(e, 1e-5);
}

TEST(Integrators, DenseOutputAndEvents) {
  // A single pendulum through the bottom: the event's time against a tight bisection by whole integrations.
  const Start start = spherical_pendulum();
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const System<double> system{manifold, motion};
  DormandPrince pair(manifold, {1e-10, 1e-10});
  std::vector<double> q = start.q, v = start.v, q_dense(4), v_dense(3);
  auto height = [&](double, In<double> at, In<double>) { return at[0]; };
  const Event event{height};
  double t = 0, worst = 0;
  std::optional<FoundEvent> found;
  while (!found && t < 5) {
    const double before = t;
    t = pair.step(system, t, 5, q, v);
    const double middle = (before + t) / 2;
    pair.at(middle, q_dense, v_dense);
    worst = std::max(worst, distance(start.model, q_dense, v_dense, reference(start, middle)));
    found = find_event(pair, {&event, 1}, q_dense, v_dense);
  }
  ASSERT_TRUE(found);
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(std::abs(q_dense[0]), 1e-11);
  EXPECT_LT(distance(start.model, q_dense, v_dense, reference(start, found->time)), 1e-8);
  std::printf("[ event ] at %.12f s; dense output within %.1e\n", found->time, worst);
  EXPECT_THROW(pair.at(t + 1, q_dense, v_dense), ArgumentError);
}

TEST(Integrators, RefuseWrongSizesAndReportWhatDoesNotConverge) {
  const Start start = double_pendulum();
  const Manifold manifold(start.model);
  FreeMotion motion(start.model);
  const System<double> system{manifold, motion};
  std::vector<double> q = start.q, v = start.v, three(3);
  EXPECT_THROW(FixedStep<>(Integrator::rk4, manifold).step(system, 0, 0.1, three, v), ArgumentError);
  EXPECT_THROW(FixedStep<>(Integrator::euler, manifold).step(system, 0, 0.1, q, three), ArgumentError);
  EXPECT_THROW(FixedStep<>(Integrator::symplectic_euler, Manifold::flat(5)).step(system, 0, 0.1, q, v),
               ArgumentError);
  EXPECT_THROW(ImplicitMidpoint(manifold).step(system, 0, 0.1, three, v), ArgumentError);
  EXPECT_THROW(DormandPrince(manifold, {0, 1}), ArgumentError);
  EXPECT_THROW(Cvode(manifold, {1e-3, NAN}), ArgumentError);
  auto stiff = [](double, In<double>, In<double> x, Out<double> a) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = -1e6 * x[i];
  };
  const System<double> hard{manifold, stiff};
  EXPECT_THROW(ImplicitMidpoint(manifold).step(hard, 0, 0.1, q, v), IntegrationError);
  EXPECT_EQ(v, start.v);
  EXPECT_EQ(q, start.q);
  auto poison = [](double, In<double>, In<double>, Out<double> a) { a[0] = a[1] = NAN; };
  const System<double> bad{manifold, poison};
  EXPECT_THROW(DormandPrince(manifold).advance(bad, 0, 1, q, v), IntegrationError);
  EXPECT_THROW(Cvode(manifold).advance(bad, 0, 1, q, v), IntegrationError);
  EXPECT_THROW(ImplicitMidpoint(manifold).step(bad, 0, 0.1, q, v), IntegrationError);
  EXPECT_EQ(v, start.v);
  auto throws = [](double, In<double>, In<double>, Out<double>) { throw SingularError("nothing moves"); };
  EXPECT_THROW(Cvode(manifold).advance({manifold, throws}, 0, 1, q, v), SingularError);
  // Stiff, and done: the velocities die at once.
  Cvode cvode(manifold);
  cvode.advance(hard, 0, 1, q, v);
  EXPECT_LT(std::abs(v[0]) + std::abs(v[1]), 1e-6);
  EXPECT_LT(cvode.steps(), 1000);
}

}  // namespace
}  // namespace articula::testing
