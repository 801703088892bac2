// Laws that hold for any mechanism: energy, momentum, and no dependence on where in the world it stands.
#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

/// d/dt at 0 of f(q(t), v(t)) for a motion with q' = v and v' = a at 0: central differences of the eighth
/// order.
template <class F>
auto rate(const Model& model, const State& s, const std::vector<double>& a, F&& f) {
  const auto at = [&](double h) {
    std::vector<double> step(s.v), v(s.v);
    for (std::size_t i = 0; i < v.size(); ++i) step[i] *= h, v[i] += h * a[i];
    return f(manifold_add(model, s.q, step), v);
  };
  // The step that suits the fastest motion there is.
  const double h = 0.02 / (1 + largest(s.v) + std::sqrt(largest(a)));
  const auto difference = [&](int n) { return at(n * h) - at(-n * h); };
  return (difference(1) * (4.0 / 5) + difference(2) * (-1.0 / 5) + difference(3) * (4.0 / 105) +
          difference(4) * (-1.0 / 280)) *
         (1 / h);
}

/// d/dt (kinetic + potential) = tau . v + power of the external forces.
TEST(Conservation, EnergyTheorem) {
  Worst worst("d/dt(kinetic + potential) against the power");
  for_each_case([&](const Case& c) {
    const State& s = c.state;
    const int nv = c.model.nv();
    const auto energy_rate = rate(c.model, s, s.a, [&](const auto& q, const auto& v) {
      const auto t = totals(c.model, q, v);
      return t.kinetic + t.potential;
    });
    InverseDynamics<> work(c.model);
    std::vector<double> tau(nv);
    inverse_dynamics(work, s.q, s.v, s.a, tau, s.wrenches);
    double power = 0, scale = 1;
    for (int i = 0; i < nv; ++i) power += tau[i] * s.v[i], scale += std::abs(tau[i] * s.v[i]);
    // what the wrenches do on their bodies, at the bodies' origins
    Kinematics<> motion(c.model);
    motion.update(s.q, s.v);
    for (int k = 0; k < c.model.body_count(); ++k) {
      const std::string& name = c.model.bodies()[k].name;
      const bool cross_piece = name.ends_with(".cross") || name.ends_with(".cross2");
      // a cross is no frame: leave its force out on both sides
      if (cross_piece) {
        std::vector<Spatial<double>> alone(s.wrenches.size(), Spatial<double>{{0, 0, 0}, {0, 0, 0}});
        alone[k] = s.wrenches[k];
        std::vector<double> with(nv), without(nv);
        bias_forces(work, s.q, s.v, without);
        bias_forces(work, s.q, s.v, with, alone);
        for (int i = 0; i < nv; ++i) power -= (with[i] - without[i]) * s.v[i];
        continue;
      }
      const double p = dot(motion.velocity(c.model.frame(name)), s.wrenches[k]);
      power += p;
      scale += std::abs(p);
    }
    EXPECT_LT(worst(std::abs(energy_rate - power) / scale), 1e-9);
  });
}

/// Only gravity acts on a floating mechanism, whatever its joints do inside.
TEST(Conservation, MomentumInFreeFlight) {
  Worst worst("d/dt momentum in free flight");
  for (int seed = 1; seed <= 60; ++seed) {
    Rng rng(500 + seed);
    RandomOptions options;
    options.links = rng.integer(1, 12);
    options.branching = seed % 2 ? Branching::tree : Branching::chain;
    options.mimic = seed % 3 == 0 ? 0.4 : 0;
    const Vec3<double> g = rng.vector(10);
    const Model model(random_spec(rng, options), {.base = Base::free, .gravity = g});
    State s = random_state(rng, model);
    for (int i = 0; i < 6; ++i) s.tau[i] = 0;
    const auto a = forward_dynamics(model, s.q, s.v, s.tau);
    const auto momentum_rate =
        rate(model, s, a, [&](const auto& q, const auto& v) { return totals(model, q, v).momentum; });
    const Spatial<double> expected{{0, 0, 0}, g * model.mass()};
    EXPECT_LT(worst(relative_error(momentum_rate, expected, model.mass())), 1e-7) << seed;
  }
}

/// Every quantity that does not name a place is the same one kilometre away, to two digits less than at home.
TEST(Conservation, FreeBaseFarFromTheOrigin) {
  Worst worst("error 1 km away over error at the origin");
  for (int seed = 1; seed <= 40; ++seed) {
    Rng rng(700 + seed);
    RandomOptions options;
    options.links = rng.integer(1, 15);
    options.branching = seed % 2 ? Branching::tree : Branching::deep;
    options.mimic = seed % 4 == 0 ? 0.4 : 0;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = Base::free});
    const int nv = model.nv();
    State s = random_state(rng, model);
    DenseDynamics dense(spec, Base::free);
    dense.update(s.q, s.v, s.a);
    const auto errors = [&](const State& at) {
      InverseDynamics<> work(model);
      Kinematics<> motion(model);
      motion.update(at.q, at.v, at.a);
      std::vector<double> tau(nv), J(6 * nv);
      inverse_dynamics(work, at.q, at.v, at.a, tau, at.wrenches);
      motion.jacobian(model.frame("tool"), J);
      const auto t = motion.totals();
      const auto frame = dense.frame("tool");
      const auto spatial = [](const Spatial<double>& x) {
        return std::vector<double>(numbers_of(x), numbers_of(x) + 6);
      };
      return std::vector<double>{
          relative_error(tau, to_std(dense.inverse_dynamics(at.a, at.wrenches))),
          relative_error(bias_forces(model, at.q, at.v), to_std(dense.bias)),
          relative_error(gravity_forces(model, at.q), to_std(dense.gravity)),
          relative_error(forward_dynamics(model, at.q, at.v, at.tau), to_std(dense.forward_dynamics(at.tau))),
          relative_error(mass_matrix(model, at.q), to_std(dense.mass_matrix)),
          relative_error(inverse_mass_matrix(model, at.q), to_std(dense.inverse_mass_matrix())),
          relative_error(centroidal_map(model, at.q), to_std(dense.centroidal_map)),
          relative_error(J, to_std(frame.jacobian)),
          relative_error(spatial(motion.velocity(model.frame("tool"))), to_std(LongMatrix(frame.velocity))),
          relative_error(spatial(motion.acceleration(model.frame("tool"))),
                         to_std(LongMatrix(frame.acceleration))),
          relative_error(spatial(t.momentum), to_std(LongMatrix(dense.momentum))),
          relative_error(std::vector{t.kinetic}, std::vector{static_cast<double>(dense.kinetic)})};
    };
    const auto here = errors(s);
    State far = s;
    far.q[4] += 1000, far.q[5] -= 1000, far.q[6] += 1000;
    const auto there = errors(far);
    for (std::size_t i = 0; i < here.size(); ++i)
      EXPECT_LT(worst(there[i] / std::max(here[i], 1e-16)), 100) << "quantity " << i << ", seed " << seed;
  }
}

/// 10^5 links, one after the other: the forces of a motion, to accelerations and back, relative to the
/// largest force. Anything worse than O(n) would not end.
TEST(Conservation, ChainOfOneHundredThousandLinks) {
  Worst worst("tau to a to tau on chains of 10^5 links");
  for (const Base base : {Base::fixed, Base::free}) {
    Rng rng(9);
    RandomOptions options;
    options.links = 100000;
    options.branching = Branching::chain;
    if (base == Base::fixed) options.kinds = {JointKind::revolute};
    const Model model(random_spec(rng, options), {.base = base});
    const State s = random_state(rng, model);
    InverseDynamics<> inverse(model);
    ForwardDynamics<> forward(model);
    std::vector<double> tau(model.nv()), a(model.nv()), again(model.nv());
    inverse_dynamics(inverse, s.q, s.v, s.a, tau, s.wrenches);
    forward_dynamics(forward, s.q, s.v, tau, a, s.wrenches);
    inverse_dynamics(inverse, s.q, s.v, a, again, s.wrenches);
    EXPECT_LT(worst(relative_error(again, tau)), 1e-11);
  }
}

}  // namespace
}  // namespace articula::testing
