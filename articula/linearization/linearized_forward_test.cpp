#include "articula/linearization/linearized_forward.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

constexpr Method every_method[] = {Method::direct, Method::conventional, Method::numerical, Method::printed};

struct Matrices {
  Vector dq, dv, dtau;
};
Matrices matrices(const Model& model, const State& s, const LinearizationOptions<double>& options = {}) {
  const std::size_t n = model.nv() * model.nv();
  Matrices m{Vector(n, NAN), Vector(n, NAN), Vector(n, NAN)};
  LinearizedForward<> work(model);
  linearized_forward(work, s.q, s.v, s.tau, m.dq, m.dv, m.dtau, options);
  return m;
}
Vector acceleration(const Model& model, const Vector& q, const Vector& v, const Vector& tau,
                    const std::vector<Spatial<double>>& wrenches) {
  ForwardDynamics<> work(model);
  Vector a(model.nv());
  forward_dynamics(work, q, v, tau, a, wrenches);
  return a;
}
// Errors of the inverse mass matrix grow with its condition number: they are stated relative to it.
double tolerance(const Case& c, double eps) {
  return c.model.nv() == 0 ? eps : eps * std::max(1.0, double(c.dense.condition_number()) * 1e-3);
}

TEST(LinearizedForward, MatchesDifferences) {
  Worst worst_q("da/dq against differences"), worst_v("da/dv"), worst_tau("da/dtau");
  for_each_case([&](const Case& c) {
    State s = c.state;
    keep_framed(c.model, s.wrenches);
    const Points points(c.model, s.wrenches);
    const std::size_t n = c.model.nv();
    const Vector M_inv = inverse_mass_matrix(c.model, s.q);
    for (int forces = 0; forces < 4; ++forces) {
      const std::vector<Spatial<double>> none, &wrenches = forces == 0 ? none : s.wrenches;
      const HeldIn held = forces == 2 ? HeldIn::body_axes : HeldIn::world_axes;
      const bool damping = forces == 1 || forces == 2;
      const Vector tau = with_damping(c.model, s.tau, s.v, damping ? -1 : 0);
      const Vector dq = columns(n, [&](const Vector& d) {
        return derivative(
            [&](double h) {
              const Vector q = manifold_add(c.model, s.q, scaled(d, h));
              return acceleration(c.model, q, s.v, tau,
                                  forces == 2   ? turned(c.model, s.q, q, wrenches)
                                  : forces == 3 ? moved(c.model, s.q, q, wrenches, points.r)
                                                : wrenches);
            },
            0.003);
      });
      const Vector dv = columns(n, [&](const Vector& d) {
        return derivative(
            [&](double h) {
              const Vector v = sum(s.v, d, h);
              return acceleration(c.model, s.q, v, with_damping(c.model, s.tau, v, damping ? -1 : 0),
                                  wrenches);
            },
            0.1);
      });
      for (const Method method : every_method) {
        const Matrices m = matrices(c.model, s,
                                    {.wrenches = wrenches,
                                     .held = held,
                                     .levers = points.levers_if(forces == 3),
                                     .damping = damping,
                                     .method = method});
        EXPECT_LT(worst_q(relative_error(m.dq, dq, 1)), tolerance(c, 1e-8))
            << forces << " method " << int(method);
        EXPECT_LT(worst_v(relative_error(m.dv, dv, 1)), tolerance(c, 1e-9))
            << forces << " method " << int(method);
        EXPECT_LT(worst_tau(relative_error(m.dtau, M_inv, 1)), tolerance(c, 1e-11))
            << " method " << int(method);
      }
    }
  });
}

// Algorithms 3, 4, 5 and 6 and the adjoint against each other, with armature, damping, mimic joints and
// external forces.
TEST(LinearizedForward, AlgorithmsAgree) {
  Worst worst46("Algorithm 4 against 6"), worst_printed("Algorithms 4 and 6 as printed against 6"),
      worst5("Algorithm 5 against 6"), worst3("Algorithm 3 against 6"), worst_adjoint("adjoint against 6");
  for_each_case([&](const Case& c) {
    const State& s = c.state;
    const Points points(c.model, s.wrenches);
    const std::size_t n = c.model.nv();
    Rng rng(7);
    const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), dtau = random_vector(rng, n),
                 w = random_vector(rng, n);
    for (int forces = 0; forces < 4; ++forces) {
      LinearizationOptions<double> options;
      if (forces > 0) options.wrenches = s.wrenches;
      options.held = forces == 2 ? HeldIn::body_axes : HeldIn::world_axes;
      options.damping = forces == 1 || forces == 2;
      options.levers = points.levers_if(forces == 3);
      options.method = Method::direct;
      const Matrices m6 = matrices(c.model, s, options);
      const double eps = tolerance(c, 1e-11);
      for (const Method method : {Method::numerical, Method::printed}) {
        options.method = method;
        const Matrices m = matrices(c.model, s, options);
        for (const auto part : {&Matrices::dq, &Matrices::dv, &Matrices::dtau})
          EXPECT_LT(worst_printed(relative_error(m.*part, m6.*part, 1)), 10 * eps)
              << "forces " << forces << " method " << int(method);
      }
      options.method = Method::conventional;
      const Matrices m4 = matrices(c.model, s, options);
      EXPECT_LT(worst46(relative_error(m4.dq, m6.dq, 1)), eps) << "forces " << forces;
      EXPECT_LT(worst46(relative_error(m4.dv, m6.dv, 1)), eps) << "forces " << forces;
      EXPECT_LT(worst46(relative_error(m4.dtau, m6.dtau, 1)), eps) << "forces " << forces;
      const Vector expected = sum(sum(product(m6.dq, dq), product(m6.dv, dv)), product(m6.dtau, dtau));
      LinearizedForward<> work(c.model);
      Vector da(n), by_q(n), by_v(n), by_tau(n);
      perturbed_forward(work, s.q, s.v, s.tau, dq, dv, dtau, da, options);
      EXPECT_LT(worst3(relative_error(da, expected, 1)), eps) << "forces " << forces;
      options.method = Method::direct;
      perturbed_forward(work, s.q, s.v, s.tau, dq, dv, dtau, da, options);
      EXPECT_LT(worst5(relative_error(da, expected, 1)), eps) << "forces " << forces;
      forward_gradient(work, s.q, s.v, s.tau, w, by_q, by_v, by_tau, options);
      EXPECT_LT(worst_adjoint(relative_error(by_q, star_product(m6.dq, w), 1)), eps) << "forces " << forces;
      EXPECT_LT(worst_adjoint(relative_error(by_v, star_product(m6.dv, w), 1)), eps) << "forces " << forces;
      EXPECT_LT(worst_adjoint(relative_error(by_tau, star_product(m6.dtau, w), 1)), eps)
          << "forces " << forces;
    }
  });
}

// M da/dq = -dtau/dq and M da/dv = -dtau/dv at the same accelerations: Algorithm 6 undoes Algorithm 2.
// Damping too.
TEST(LinearizedForward, UndoesTheInverse) {
  Worst worst("M da/dq + dtau/dq");
  for_each_case([&](const Case& c) {
    State s = c.state;
    const std::size_t n = c.model.nv();
    LinearizationOptions<double> options{.wrenches = s.wrenches, .damping = true, .method = Method::direct};
    LinearizedForward<> forward(c.model);
    Vector dq(n * n), dv(n * n), dtau(n * n), tq(n * n), tv(n * n), M(n * n);
    linearized_forward(forward, s.q, s.v, s.tau, dq, dv, dtau, options);
    forward.acceleration(s.a);
    LinearizedInverse<> inverse(c.model);
    linearized_inverse(inverse, s.q, s.v, s.a, tq, tv, M, options);
    Rng rng(3);
    const Vector d = random_vector(rng, n);
    EXPECT_LT(worst(relative_error(scaled(product(M, product(dq, d)), -1), product(tq, d), 1)),
              tolerance(c, 1e-11));
    EXPECT_LT(worst(relative_error(scaled(product(M, product(dv, d)), -1), product(tv, d), 1)),
              tolerance(c, 1e-11));
  });
}

// Mimic joints with nothing of their own to move: every result, against differences and among themselves.
TEST(LinearizedForward, MimicJointsWithoutInertiaOfTheirOwn) {
  for (const Base base : {Base::fixed, Base::free}) {
    const Model model(massless_followers_spec(), {.base = base});
    const std::size_t n = model.nv();
    Rng rng(5);
    const State s = random_state(rng, model);
    const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), dtau = random_vector(rng, n),
                 w = random_vector(rng, n);
    const LinearizationOptions<double> options{.wrenches = s.wrenches, .damping = true};
    const Matrices m = matrices(model, s, options);
    ForwardDynamics<> dynamics(model);
    const Vector expected = derivative([&](double e) {
      const Vector v = sum(s.v, dv, e);
      Vector a(n);
      forward_dynamics(dynamics, manifold_add(model, s.q, scaled(dq, e)), v,
                       with_damping(model, sum(s.tau, dtau, e), v, -1), a, s.wrenches);
      return a;
    });
    EXPECT_LT(relative_error(sum(sum(product(m.dq, dq), product(m.dv, dv)), product(m.dtau, dtau)), expected),
              1e-8);
    LinearizedForward<> work(model);
    Vector da(n), by_q(n), by_v(n), by_tau(n);
    perturbed_forward(work, s.q, s.v, s.tau, dq, dv, dtau, da, options);
    EXPECT_LT(relative_error(da, expected), 1e-8);
    forward_gradient(work, s.q, s.v, s.tau, w, by_q, by_v, by_tau, options);
    EXPECT_LT(relative_error(by_q, star_product(m.dq, w)), 1e-11);
    EXPECT_LT(relative_error(by_v, star_product(m.dv, w)), 1e-11);
    EXPECT_LT(relative_error(by_tau, star_product(m.dtau, w)), 1e-11);
  }
}

// Zero between different trees on the world.
TEST(LinearizedForward, PatternCoversAllThatIsNotZero) {
  std::size_t zeros = 0;
  for_each_case([&](const Case& c) {
    const std::vector<bool> pattern = forward_pattern(c.model);
    for (const Method method : every_method) {
      const Matrices m = matrices(c.model, c.state, {.wrenches = c.state.wrenches, .method = method});
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i]) continue;
        ++zeros;
        EXPECT_EQ(m.dq[i], 0);
        EXPECT_EQ(m.dv[i], 0);
        EXPECT_EQ(m.dtau[i], 0);
      }
    }
  });
  EXPECT_GT(zeros, 100u);
}

// A free base far from the world's origin loses nothing: each body is referred to its own joint origin.
TEST(LinearizedForward, FarFromTheOrigin) {
  Worst worst("1 km away against at the origin"), worst_differences("1 km away against differences");
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {.links = 8, .branching = Branching::tree}), {.base = Base::free});
    State s = random_state(rng, model);
    for (int i = 4; i < 7; ++i) s.q[i] = 0;
    for (const Method method : every_method) {
      const LinearizationOptions<double> options{.wrenches = s.wrenches, .method = method};
      const Matrices near = matrices(model, s, options);
      State there = s;
      there.q[4] = 1000, there.q[5] = -700, there.q[6] = 300;
      const Matrices far = matrices(model, there, options);
      EXPECT_LT(worst(relative_error(far.dq, near.dq)), 1e-12);
      EXPECT_LT(worst(relative_error(far.dv, near.dv)), 1e-12);
      EXPECT_LT(worst(relative_error(far.dtau, near.dtau)), 1e-12);
      const Vector d = random_vector(rng, model.nv());
      const Vector expected = derivative(
          [&](double h) {
            return acceleration(model, manifold_add(model, there.q, scaled(d, h)), s.v, s.tau, s.wrenches);
          },
          0.003);
      EXPECT_LT(worst_differences(relative_error(product(far.dq, d), expected, 1)), 1e-8);
    }
  }
}

TEST(LinearizedForward, InFloat) {
  Worst worst("float against double");
  for_each_case([&](const Case& c) {
    const Matrices m = matrices(c.model, c.state);
    const std::size_t n = c.model.nv();
    std::vector<float> dq(n * n), dv(n * n), dtau(n * n);
    LinearizedForward<float> work(c.model);
    for (const Method method : every_method) {
      linearized_forward(work, to_float(c.state.q), to_float(c.state.v), to_float(c.state.tau), dq, dv, dtau,
                         {.method = method});
      EXPECT_LT(worst(relative_error(to_double(dq), m.dq, 1)), tolerance(c, 1e-3));
      EXPECT_LT(worst(relative_error(to_double(dv), m.dv, 1)), tolerance(c, 1e-3));
      EXPECT_LT(worst(relative_error(to_double(dtau), m.dtau, 1)), tolerance(c, 1e-3));
    }
  });
}

TEST(LinearizedForward, ChecksSizes) {
  const Model model(one_joint_spec(JointKind::planar));
  LinearizedForward<> work(model);
  Vector q(3), v(3), tau(3), m(9), small(8);
  EXPECT_NO_THROW(linearized_forward(work, q, v, tau, m, m, m));
  EXPECT_THROW(linearized_forward(work, q, v, tau, m, m, small), ArgumentError);
  EXPECT_THROW(linearized_forward(work, Vector(2), v, tau, m, m, m), ArgumentError);
  EXPECT_THROW(perturbed_forward(work, q, v, tau, v, v, Vector(2), v), ArgumentError);
  EXPECT_THROW(forward_gradient(work, q, v, tau, v, v, v, small), ArgumentError);
}

}  // namespace
}  // namespace articula::testing
