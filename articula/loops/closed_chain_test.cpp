// The paper's system: arms that hold an object. RCCFD1, 2 and 3 against each other, against the general code
// path, and against the full KKT system in long double.
#include "articula/loops/closed_chain.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/dense_constraints.hpp"
#include "tests/support/random_scenes.hpp"

namespace articula::testing {
namespace {

TEST(ClosedChain, RandomScenesAgainstKKT) {
  Worst general("ConstrainedDynamics against KKT"), printed("RCCFD1 against KKT"),
      among("RCCFD1-3 among each other"), one_system("the coupled form against RCCFD1"),
      forces("contact forces");
  Rng rng(81);
  int checked = 0, coupled = 0, largest_n = 0;
  for (int i = 0; i < 40; ++i) {
    const int l = 1 + i % 8;
    RandomScene s = random_scene(rng, l, i % 10 == 7 ? 94 : rng.integer(6 * l, 8 * l));
    const Model model = s.assembly.model();
    SCOPED_TRACE("scene " + std::to_string(i) + ": " + std::to_string(l) +
                 " arms, n = " + std::to_string(model.nv()));
    ASSERT_EQ(static_cast<std::size_t>(model.nv()), s.v.size());
    ConstrainedDynamics work(model, s.constraints);
    std::vector<double> v(model.nv()), a(model.nv());
    work.impulse(s.q, s.v, v);  // the paper's algorithms assume that velocities fit
    set_velocity(s, model, v);
    DenseDynamics dense(s.assembly.spec(), Base::fixed);
    dense.update(s.q, s.v);
    const DenseRows rows = dense_rows(dense, model, s.constraints);
    const LongMatrix Omega = rows.J * dense.inverse_mass_matrix() * rows.J.transpose();
    const LongVector scale = Omega.diagonal().cwiseSqrt().cwiseInverse();
    const Long least =
        Eigen::SelfAdjointEigenSolver<LongMatrix>(scale.asDiagonal() * Omega * scale.asDiagonal())
            .eigenvalues()[0];
    if (!(least > 1e-5L)) continue;  // nearly redundant: answers then differ by conditioning, not by method
    ++checked;
    largest_n = std::max(largest_n, model.nv());
    LongVector force = dense.external_forces(s.wrenches) - dense.bias;
    for (int k = 0; k < dense.nv; ++k) force[k] += s.tau[k];
    const DenseSolution right = dense_kkt(dense, rows, force);
    const std::vector<double> expected = to_std(right.a);
    work.acceleration(s.q, s.v, s.tau, a, s.wrenches);
    EXPECT_LT(general(relative_error(a, expected)), 1e-9);
    EXPECT_LT(work.residual(s.q, s.v, a), 1e-9 * (1 + largest(a)));

    ClosedChain chain(s.arms, s.object);
    std::vector<double> first, first_forces;
    Kinematics<> k(model);
    k.update(s.q, s.v, a);
    for (const auto algorithm : {ClosedChain::Algorithm::rccfd1, ClosedChain::Algorithm::rccfd2,
                                 ClosedChain::Algorithm::rccfd3, ClosedChain::Algorithm::coupled}) {
      const bool is_coupled = algorithm == ClosedChain::Algorithm::coupled;
      try {
        chain.compute(algorithm, arm_states(s), s.held);
      } catch (const SingularError&) {  // RCCFD1 to 3 have an answer there too
        ASSERT_TRUE(is_coupled);
        continue;
      }
      coupled += is_coupled;
      std::vector<double> joints, contact;
      for (int arm = 0; arm < l; ++arm) {
        joints.insert(joints.end(), chain.acceleration(arm).begin(), chain.acceleration(arm).end());
        const Spatial<double> f = chain.force(arm);
        contact.insert(contact.end(), numbers_of(f), numbers_of(f) + 6);
        EXPECT_LT(forces(relative_error(f, work.force(arm), 1)), 1e-8);
      }
      if (!is_coupled)
        EXPECT_LT(printed(relative_error(joints, std::span(expected).first(joints.size()))), 1e-9);
      EXPECT_LT(relative_error(chain.object_acceleration(), k.acceleration(model.frame("object/body")), 1),
                1e-8);
      if (first.empty()) {
        first = joints, first_forces = contact;
      } else {
        if (is_coupled)  // its condition is that of the system squared
          EXPECT_LT(one_system(relative_error(joints, first)), 1e-7);
        else
          EXPECT_LT(among(relative_error(joints, first)), 1e-10);
        EXPECT_LT(relative_error(contact, first_forces), 1e-9);
      }
    }
  }
  EXPECT_GT(checked, 20);
  EXPECT_GT(coupled, 5);
  EXPECT_GE(largest_n, 90);
}

TEST(ClosedChain, ContactRatesAreRelativeAccelerations) {
  Rng rng(82);
  for (int i = 0; i < 8; ++i) {
    RandomScene s = random_scene(rng, 3, 24);
    const Model model = s.assembly.model();
    ConstrainedDynamics work(model, s.constraints);
    std::vector<double> v(model.nv()), a(model.nv());
    work.impulse(s.q, s.v, v);
    set_velocity(s, model, v);
    work.acceleration(s.q, s.v, s.tau, a, s.wrenches);
    if (work.redundant()) continue;
    Kinematics<> k(model);
    k.update(s.q, s.v, a);
    ClosedChain chain(s.arms, s.object);
    chain.compute(ClosedChain::Algorithm::rccfd2, arm_states(s), s.held);
    for (int arm = 0; arm < 3; ++arm) {
      // alpha- - alpha+ = H* W' + H*' W: its rotation turned into tip axes is d/dt of the relative angular
      // velocity there.
      const int tip = model.frame(Assembly::name_of(s.arms[arm].name, s.arms[arm].tip));
      const Spatial<double> object = k.acceleration(model.frame("object/body")), hand = k.acceleration(tip);
      const Vec3<double> dw = s.held.velocity.w - k.velocity(tip).w;
      const Vec3<double> rate = object.w - hand.w - cross(k.velocity(tip).w, dw);
      double square = 0, expected = dot(rate, rate);
      for (const double w : chain.contact_rates(arm)) square += w * w;
      EXPECT_NEAR(std::sqrt(square), std::sqrt(expected), 1e-7 * (1 + std::sqrt(expected)));
    }
  }
}

TEST(ClosedChain, BadScenesAreNamed) {
  const Model arm(make_chain(6, 1));
  const MassProperties object{1, {0, 0, 0}, {0.1, 0.1, 0.1, 0, 0, 0}};
  EXPECT_THROW(ClosedChain({}, object), ArgumentError);
  EXPECT_THROW(ClosedChain({{"a", arm, "no_such_link"}}, object), ArgumentError);
  EXPECT_THROW(ClosedChain({{"a", arm, "link_6"}}, MassProperties{}), ArgumentError);
  ClosedChain chain({{"a", arm, "link_6"}}, object);
  const std::vector<double> six(6), five(5);
  const ArmState wrong{six, five, six};
  EXPECT_THROW(chain.compute(ClosedChain::Algorithm::rccfd1, {&wrong, 1}, {}), ArgumentError);
  Assembly assembly;
  EXPECT_THROW(assembly.add_object("cup", {}), ArgumentError);
}

/// An arm stretched out straight has no motion along itself: Omega (of its own) loses rank; the object's part
/// keeps the closed chain's whole. Two such arms pulling against each other lose it for good.
TEST(ClosedChain, SingularArms) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  const MassProperties rod{1, {0.25, 0, 0}, {0.01, 0.03, 0.03, 0, 0, 0}};
  const Vec3<double> axes[] = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  for (int i = 0; i < 6; ++i) {
    const std::string name = "l" + std::to_string(i + 1);
    spec.add_link({.name = name, .mass = rod});
    spec.add_joint({.name = "j" + std::to_string(i + 1),
                    .parent = i ? "l" + std::to_string(i) : "base",
                    .child = name,
                    .placement = {.p = {i ? 0.5 : 0.0, 0, 0}},
                    .axis = axes[i]});
  }
  Assembly assembly;
  assembly.add("left", spec);
  assembly.add("right", spec, {rotation_from_rpy(0, 0, M_PI), {5.2, 0, 0}});
  const MassProperties object{1, {0, 0, 0}, {0.1, 0.1, 0.1, 0, 0, 0}};
  assembly.add_object("bar", object);
  const Model model = assembly.model();
  std::vector<double> q(model.nq()), v(model.nv()), tau(model.nv()), a(model.nv());
  q[12 + 3] = 1, q[12 + 4] = 2.6;
  std::vector<Constraint> constraints;
  for (const char* arm : {"left", "right"}) {
    Constraint c =
        grasp(arm, Grasp::rigid, model.frame(Assembly::name_of(arm, "l6")), model.frame("bar/body"));
    attach(model, c, q);
    constraints.push_back(c);
  }
  ConstrainedDynamics work(model, constraints);
  for (int i = 0; i < model.nv(); ++i) tau[i] = 0.1 * i - 0.3;
  for (int i = 12; i < 18; ++i) tau[i] = 0;
  work.acceleration(q, v, tau, a);
  EXPECT_LT(work.rank(), 12);
  EXPECT_FALSE(work.dependences().empty());
  for (const double x : a) EXPECT_TRUE(std::isfinite(x));
  EXPECT_LT(work.residual(q, v, a), 1e-9);
  // The unique accelerations: against KKT in long double.
  DenseDynamics dense(assembly.spec(), Base::fixed);
  dense.update(q, v);
  LongVector force = -dense.bias;
  for (int i = 0; i < model.nv(); ++i) force[i] += tau[i];
  const DenseSolution right = dense_kkt(dense, dense_rows(dense, model, constraints), force);
  EXPECT_LT(relative_error(a, to_std(right.a)), 1e-9);
  // The paper's texts give the same, with Omega's rank.
  const Model arm(spec), other([&] {
    Assembly only;
    only.add("right", spec, {rotation_from_rpy(0, 0, M_PI), {5.2, 0, 0}});
    return only.spec();
  }());
  ClosedChain chain({{"left", arm, "l6"}, {"right", other, "right/l6"}}, object);
  const std::vector<double> zeros(6);
  const ArmState states[] = {{zeros, zeros, std::span(tau).first(6)},
                             {zeros, zeros, std::span(tau).subspan(6, 6)}};
  for (const auto algorithm :
       {ClosedChain::Algorithm::rccfd1, ClosedChain::Algorithm::rccfd2, ClosedChain::Algorithm::rccfd3}) {
    chain.compute(algorithm, states, {.pose = {Mat3<double>::identity(), {2.6, 0, 0}}});
    EXPECT_EQ(chain.rank(), work.rank());
    EXPECT_LT(relative_error(chain.acceleration(0), std::span(a).first(6)), 1e-8);
    EXPECT_LT(relative_error(chain.acceleration(1), std::span(a).subspan(6, 6)), 1e-8);
    EXPECT_LT(relative_error(chain.force(0), work.force(0), 1), 1e-8);  // of least norm
  }
}

}  // namespace
}  // namespace articula::testing
