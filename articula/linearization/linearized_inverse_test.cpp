#include "articula/linearization/linearized_inverse.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

struct Matrices {
  Vector dq, dv, da;
};
Matrices matrices(const Model& model, const State& s, const LinearizationOptions<double>& options = {}) {
  const std::size_t n = model.nv() * model.nv();
  Matrices m{Vector(n, NAN), Vector(n, NAN), Vector(n, NAN)};
  LinearizedInverse<> work(model);
  linearized_inverse(work, s.q, s.v, s.a, m.dq, m.dv, m.da, options);
  return m;
}
Vector torque(const Model& model, const Vector& q, const Vector& v, const Vector& a,
              const std::vector<Spatial<double>>& wrenches) {
  InverseDynamics<> work(model);
  Vector tau(model.nv());
  inverse_dynamics(work, q, v, a, tau, wrenches);
  return tau;
}

// dtau/dq and dtau/dv along the manifold against differences of inverse_dynamics, and dtau/da against the
// mass matrix, with no external forces, with such that keep their world components (at the joint origins, and
// at points of the bodies), and with such that turn with their bodies.
TEST(LinearizedInverse, MatchesDifferences) {
  Worst worst_q("dtau/dq against differences"), worst_v("dtau/dv"), worst_a("dtau/da");
  for_each_case([&](const Case& c) {
    State s = c.state;
    keep_framed(c.model, s.wrenches);
    const Points points(c.model, s.wrenches);
    const std::size_t n = c.model.nv();
    const Vector M = mass_matrix(c.model, s.q);
    for (int forces = 0; forces < 4; ++forces) {
      const std::vector<Spatial<double>> none, &wrenches = forces == 0 ? none : s.wrenches;
      const HeldIn held = forces == 2 ? HeldIn::body_axes : HeldIn::world_axes;
      const bool damping = forces == 1;
      const Matrices m = matrices(
          c.model, s,
          {.wrenches = wrenches, .held = held, .levers = points.levers_if(forces == 3), .damping = damping});
      const Vector dq = columns(n, [&](const Vector& d) {
        return derivative([&](double h) {
          const Vector q = manifold_add(c.model, s.q, scaled(d, h));
          return torque(c.model, q, s.v, s.a,
                        forces == 2   ? turned(c.model, s.q, q, wrenches)
                        : forces == 3 ? moved(c.model, s.q, q, wrenches, points.r)
                                      : wrenches);
        });
      });
      const Vector dv = columns(n, [&](const Vector& d) {
        return derivative(
            [&](double h) {
              const Vector v = sum(s.v, d, h);
              return with_damping(c.model, torque(c.model, s.q, v, s.a, wrenches), v, damping ? 1 : 0);
            },
            0.1);
      });
      EXPECT_LT(worst_q(relative_error(m.dq, dq, 1)), 1e-8) << "forces " << forces;
      EXPECT_LT(worst_v(relative_error(m.dv, dv, 1)), 1e-10) << "forces " << forces;
      EXPECT_LT(worst_a(relative_error(m.da, M, 1)), 1e-13) << "forces " << forces;
    }
  });
}

// Algorithm 1 against Algorithm 2, and the adjoint against both.
TEST(LinearizedInverse, VectorsMatchMatrices) {
  Worst worst("Algorithm 1 against 2"), worst_adjoint("adjoint against Algorithm 2");
  for_each_case([&](const Case& c) {
    const State& s = c.state;
    const Points points(c.model, s.wrenches);
    const std::size_t n = c.model.nv();
    Rng rng(7);
    const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), da = random_vector(rng, n),
                 w = random_vector(rng, n);
    for (int forces = 0; forces < 4; ++forces) {
      LinearizationOptions<double> options;
      if (forces > 0) options.wrenches = s.wrenches;
      options.held = forces == 2 ? HeldIn::body_axes : HeldIn::world_axes;
      options.damping = forces == 1;
      options.levers = points.levers_if(forces == 3);
      const Matrices m = matrices(c.model, s, options);
      LinearizedInverse<> work(c.model);
      Vector dtau(n), by_q(n), by_v(n), by_a(n);
      perturbed_inverse(work, s.q, s.v, s.a, dq, dv, da, dtau, options);
      const Vector expected = sum(sum(product(m.dq, dq), product(m.dv, dv)), product(m.da, da));
      EXPECT_LT(worst(relative_error(dtau, expected, 1)), 1e-11) << "forces " << forces;
      inverse_gradient(work, s.q, s.v, s.a, w, by_q, by_v, by_a, options);
      EXPECT_LT(worst_adjoint(relative_error(by_q, star_product(m.dq, w), 1)), 1e-11) << "forces " << forces;
      EXPECT_LT(worst_adjoint(relative_error(by_v, star_product(m.dv, w), 1)), 1e-11) << "forces " << forces;
      EXPECT_LT(worst_adjoint(relative_error(by_a, star_product(m.da, w), 1)), 1e-11) << "forces " << forces;
    }
  });
}

// The pattern names all that is not zero, and is itself not full where there are branches.
TEST(LinearizedInverse, PatternCoversAllThatIsNotZero) {
  std::size_t zeros = 0;
  for_each_case([&](const Case& c) {
    const Matrices m = matrices(c.model, c.state, {.wrenches = c.state.wrenches});
    const std::vector<bool> pattern = inverse_pattern(c.model);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i]) continue;
      ++zeros;
      EXPECT_EQ(m.dq[i], 0);
      EXPECT_EQ(m.dv[i], 0);
      EXPECT_EQ(m.da[i], 0);
    }
  });
  EXPECT_GT(zeros, 1000u);
}

// A free base far from the world's origin loses nothing: everything is referred to the base.
TEST(LinearizedInverse, FarFromTheOrigin) {
  Worst worst("1 km away against at the origin");
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {.links = 8, .branching = Branching::tree}), {.base = Base::free});
    State s = random_state(rng, model);
    for (int i = 4; i < 7; ++i) s.q[i] = 0;
    const Matrices near = matrices(model, s);
    s.q[4] = 1000, s.q[5] = -700, s.q[6] = 300;
    const Matrices far = matrices(model, s);
    EXPECT_LT(worst(relative_error(far.dq, near.dq)), 1e-15);
    EXPECT_LT(worst(relative_error(far.dv, near.dv)), 1e-15);
  }
}

TEST(LinearizedInverse, InFloat) {
  Worst worst("float against double");
  for_each_case([&](const Case& c) {
    const Matrices m = matrices(c.model, c.state);
    const std::size_t n = c.model.nv();
    std::vector<float> dq(n * n), dv(n * n), da(n * n);
    LinearizedInverse<float> work(c.model);
    linearized_inverse(work, to_float(c.state.q), to_float(c.state.v), to_float(c.state.a), dq, dv, da);
    EXPECT_LT(worst(relative_error(to_double(dq), m.dq, 1)), 2e-5);
    EXPECT_LT(worst(relative_error(to_double(dv), m.dv, 1)), 2e-5);
    EXPECT_LT(worst(relative_error(to_double(da), m.da, 1)), 2e-5);
  });
}

TEST(LinearizedInverse, ChecksSizes) {
  const Model model(one_joint_spec(JointKind::planar));
  LinearizedInverse<> work(model);
  Vector q(3), v(3), a(3), m(9), small(8);
  EXPECT_NO_THROW(linearized_inverse(work, q, v, a, m, m, m));
  EXPECT_THROW(linearized_inverse(work, v, v, a, m, m, small), ArgumentError);
  EXPECT_THROW(linearized_inverse(work, Vector(2), v, a, m, m, m), ArgumentError);
  EXPECT_THROW(perturbed_inverse(work, q, v, a, v, v, Vector(2), v), ArgumentError);
  EXPECT_THROW(inverse_gradient(work, q, v, a, v, v, v, small), ArgumentError);
}

}  // namespace
}  // namespace articula::testing
