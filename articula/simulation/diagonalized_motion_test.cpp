#include "articula/simulation/diagonalized_motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

double energy(const Model& model, DiagonalizedMotion& motion) {
  Kinematics<> kinematics(model);
  kinematics.update(motion.q());
  return motion.kinetic_energy() + kinematics.totals().potential;
}

struct Run {
  std::vector<double> q;
  double drift;  // of the energy, relative to the largest kinetic energy
};
Run run(const Model& model, MotionForm form, Integrator how, const testing::State& s, double h, int steps) {
  DiagonalizedMotion motion(model, form, s.q, s.v);
  const std::vector<double> tau(model.nv());
  const double start = energy(model, motion);
  double drift = 0, scale = motion.kinetic_energy();
  for (int i = 0; i < steps; ++i) {
    motion.step(h, how, tau);
    scale = std::max(scale, motion.kinetic_energy());
    drift = std::max(drift, std::abs(energy(model, motion) - start));
  }
  return {motion.q(), drift / scale};
}

/// Trees with joints that turn anyhow: q must stay on the manifold, and all three forms go the same way.
TEST(DiagonalizedMotion, AllFormsAreOfFourthOrderAndAgree) {
  for (int seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = 4;
    options.kinds = {JointKind::spherical, JointKind::revolute, JointKind::planar, JointKind::prismatic};
    options.mass_ratio = 3;
    const ModelSpec spec = random_spec(rng, options);
    SCOPED_TRACE(describe(spec));
    const Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    const testing::State s = random_state(rng, model);
    std::vector<double> ends[3];
    for (const MotionForm form : {MotionForm::rates, MotionForm::nu, MotionForm::xi}) {
      const auto coarse = run(model, form, Integrator::rk4, s, 2e-3, 50);
      const auto fine = run(model, form, Integrator::rk4, s, 1e-3, 100);
      const auto finest = run(model, form, Integrator::rk4, s, 5e-4, 200);
      std::vector<double> far(model.nv()), near(model.nv());
      difference(model, coarse.q, fine.q, far);
      difference(model, fine.q, finest.q, near);
      if (largest(near) > 1e-13) {
        EXPECT_GT(largest(far) / largest(near), 10) << "form " << int(form);
      }
      EXPECT_LT(finest.drift, 1e-8) << "form " << int(form);
      ends[int(form)] = finest.q;
    }
    for (int form = 1; form < 3; ++form) {
      std::vector<double> apart(model.nv());
      difference(model, ends[0], ends[form], apart);
      EXPECT_LT(largest(apart), 1e-9) << "form " << form;
    }
  }
}

/// Energy drift of the three forms with the same steps on the same robot, printed; all stay bounded and
/// comparable.
TEST(DiagonalizedMotion, EnergyDriftOfTheForms) {
  const Model model(make_chain(6), {.gravity = {0, 0, 0}});
  testing::State s;
  s.q = random(model, 3);
  for (int i = 0; i < model.nv(); ++i) s.v.push_back(std::sin(1.0 + i));
  const char* names[] = {"rates", "nu", "xi"};
  for (const Integrator how : {Integrator::symplectic_euler, Integrator::rk4}) {
    const bool euler = how == Integrator::symplectic_euler;
    for (const MotionForm form : {MotionForm::rates, MotionForm::nu, MotionForm::xi}) {
      const double drift = run(model, form, how, s, euler ? 1e-3 : 5e-3, euler ? 1000 : 200).drift;
      std::printf("  energy drift over 1 s, %s, %-5s: %.2e\n", euler ? "symplectic Euler" : "RK4",
                  names[int(form)], drift);
      EXPECT_LT(drift, euler ? 0.2 : 1e-3);
    }
  }
}

/// The passive controller takes energy out at every step until the mechanism rests.
TEST(DiagonalizedMotion, RateControllerBringsToRest) {
  const Model model(make_chain(4));
  std::vector<double> q = random(model, 5), v(model.nv(), 0.5), gains(model.nv(), 4.0), rest(model.nv()),
                      tau(model.nv());
  DiagonalizedMotion motion(model, MotionForm::nu, q, v);
  DiagonalizedDynamics work(model);
  const double start = motion.kinetic_energy();
  double before = start;
  for (int i = 0; i < 1000; ++i) {
    work.update(motion.q());
    decoupled_rate_control(work, motion.rates(), rest, gains, RateCompensation::gravity, tau);
    motion.step(1e-3, Integrator::rk4, tau);
    const double now = motion.kinetic_energy();
    EXPECT_LE(now, before * (1 + 1e-6)) << "step " << i;
    before = now;
  }
  const double sampled = std::pow(1 - 4.0 * 1e-3, 2 * 1000);  // |nu| falls by 1 - 4 h in a step: tau is held
  EXPECT_NEAR(before / start, sampled, 0.01 * sampled);
}

}  // namespace
}  // namespace articula
