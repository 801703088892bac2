#include "articula/linearization/second_order.hpp"

#include <gtest/gtest.h>

#include "articula/linearization/linearized_inverse.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

// Against differences of Algorithms 1 and 5 along the second direction, with external forces of both kinds.
TEST(SecondOrder, MatchesDifferencesOfFirstOrder) {
  Worst worst_inverse("second derivative of tau"), worst_forward("second derivative of a");
  for_each_case([&](const Case& c) {
    State s = c.state;
    keep_framed(c.model, s.wrenches);
    const Points points(c.model, s.wrenches);
    const std::size_t n = c.model.nv();
    Rng rng(11);
    Vector d[6];
    for (Vector& x : d) x = random_vector(rng, n);
    const Direction first{d[0], d[1], d[2]}, second{d[3], d[4], d[5]};
    SecondOrder work(c.model);
    LinearizedInverse<> inverse(c.model);
    LinearizedForward<> forward(c.model);
    for (int forces = 0; forces < 4; ++forces) {
      LinearizationOptions<double> options;
      if (forces > 0) options.wrenches = s.wrenches;
      options.held = forces == 2 ? HeldIn::body_axes : HeldIn::world_axes;
      options.damping = forces == 1;
      options.levers = points.levers_if(forces == 3);
      options.method = Method::direct;
      const auto along = [&](double h, bool of_tau) {
        const Vector q = manifold_add(c.model, s.q, scaled(second.dq, h)), v = sum(s.v, second.dv, h);
        std::vector<Spatial<double>> wrenches = s.wrenches;
        LinearizationOptions<double> moved_options = options;
        if (forces == 2) wrenches = turned(c.model, s.q, q, s.wrenches);
        std::vector<Mat3<double>> levers;
        if (forces == 3) {
          wrenches = moved(c.model, s.q, q, s.wrenches, points.r);
          levers = points.moved_levers(c.model, s.q, q, s.wrenches);
          moved_options.levers = levers;
        }
        if (forces > 0) moved_options.wrenches = wrenches;
        Vector out(n);
        if (of_tau)
          perturbed_inverse(inverse, q, v, sum(s.a, second.last, h), d[0], d[1], d[2], out, moved_options);
        else
          perturbed_forward(forward, q, v, sum(s.tau, second.last, h), d[0], d[1], d[2], out, moved_options);
        return out;
      };
      Vector result(n);
      twice_perturbed_inverse(work, s.q, s.v, s.a, first, second, result, options);
      EXPECT_LT(
          worst_inverse(relative_error(result, derivative([&](double h) { return along(h, true); }), 1)),
          1e-8);
      twice_perturbed_forward(work, s.q, s.v, s.tau, first, second, result, options);
      const double condition = n == 0 ? 1 : std::max(1.0, double(c.dense.condition_number()) * 1e-3);
      EXPECT_LT(worst_forward(
                    relative_error(result, derivative([&](double h) { return along(h, false); }, 0.003), 1)),
                1e-7 * condition)
          << forces;
    }
  });
}

// For joints that commute with themselves the two directions may change places.
TEST(SecondOrder, IsSymmetricWhereMotionsCommute) {
  Rng rng(5);
  const Model model(
      random_spec(rng, {.links = 9,
                        .kinds = {JointKind::revolute, JointKind::prismatic, JointKind::universal,
                                  JointKind::helical, JointKind::cylindrical}}));
  const State s = random_state(rng, model);
  const std::size_t n = model.nv();
  Vector d[6], one(n), other(n);
  for (Vector& x : d) x = random_vector(rng, n);
  SecondOrder work(model);
  twice_perturbed_inverse(work, s.q, s.v, s.a, {d[0], d[1], d[2]}, {d[3], d[4], d[5]}, one);
  twice_perturbed_inverse(work, s.q, s.v, s.a, {d[3], d[4], d[5]}, {d[0], d[1], d[2]}, other);
  EXPECT_LT(relative_error(one, other), 1e-12);
}

}  // namespace
}  // namespace articula::testing
