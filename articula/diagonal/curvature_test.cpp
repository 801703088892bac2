#include "articula/diagonal/curvature.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

ModelSpec links(std::initializer_list<std::pair<JointKind, Vec3<double>>> joints, double mass,
                double inertia) {
  ModelSpec spec;
  spec.name = "made";
  spec.links.push_back({.name = "base"});
  for (const auto& [kind, axis] : joints) {
    const std::string last = spec.links.back().name, name = "link" + std::to_string(spec.links.size());
    spec.links.push_back(
        {.name = name, .mass = {.mass = mass, .inertia = {inertia, inertia, inertia, 0, 0, 0}}});
    JointSpec joint;
    joint.name = "to_" + name, joint.kind = kind, joint.parent = last, joint.child = name, joint.axis = axis;
    spec.joints.push_back(joint);
  }
  return spec;
}

// A sliding mass on a turning arm: M = diag(c + m r^2, m). For ds^2 = dr^2 + f^2 dth^2 the Gaussian curvature is
// -f''/f; here f^2 = c/m + r^2.
TEST(MassCurvature, SlidingMassOnATurningArm) {
  const double m = 2, J = 0.3, r = 0.7, c = 2 * J;  // both links turn
  const Model model(links({{JointKind::revolute, {0, 0, 1}}, {JointKind::prismatic, {1, 0, 0}}}, m, J));
  const double q[] = {0.4, r};
  const MassCurvature k = mass_curvature(model, q);
  const std::vector<double> M = mass_matrix(model, q);
  EXPECT_NEAR(M[0], c + m * r * r, 1e-12);
  const double f2 = c / m + r * r, gaussian = -(c / m) / (f2 * f2) / m;
  EXPECT_NEAR(k(0, 1, 0, 1), gaussian * (M[0] * M[3] - M[1] * M[2]), 1e-12);
  EXPECT_FALSE(k.flat);
}

TEST(MassCurvature, GantriesAreFlat) {
  const Model model(links({{JointKind::prismatic, {1, 0, 0}},
                           {JointKind::prismatic, {0.6, 0.8, 0}},
                           {JointKind::prismatic, {0, 0, 1}},
                           {JointKind::revolute, {0, 0, 1}}},
                          2, 0.3));
  const double q[] = {0.1, 0.2, 0.3, 0.4};
  EXPECT_TRUE(mass_curvature(model, q).flat);
}

TEST(MassCurvature, HasTheSymmetriesOfRiemann) {
  for (int seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = 4;
    options.kinds = {JointKind::revolute, JointKind::prismatic, JointKind::helical};
    options.mass_ratio = 5;
    const Model model(random_spec(rng, options));
    const State s = random_state(rng, model);
    const MassCurvature R = mass_curvature(model, s.q);
    const int n = model.nv();
    const double eps = 1e-11 * std::max(1.0, R.scale);
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b)
        for (int c = 0; c < n; ++c)
          for (int d = 0; d < n; ++d) {
            EXPECT_NEAR(R(a, b, c, d), -R(b, a, c, d), eps);
            EXPECT_NEAR(R(a, b, c, d), -R(a, b, d, c), eps);
            EXPECT_NEAR(R(a, b, c, d), R(c, d, a, b), eps);
            EXPECT_NEAR(R(a, b, c, d) + R(a, c, d, b) + R(a, d, b, c), 0, eps);
          }
  }
}

TEST(MassCurvature, RefusesWhatHasNoCoordinates) {
  const Model model(one_joint_spec(JointKind::spherical));
  EXPECT_THROW(mass_curvature(model, std::vector<double>{0, 0, 0, 1}), ArgumentError);
}

}  // namespace
}  // namespace articula
