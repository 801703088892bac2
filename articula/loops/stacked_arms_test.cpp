// JPL88 Part II, what its algorithms rest on: tips and object, arms stacked to one system, and Pi.
#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/random_scenes.hpp"

namespace articula::testing {
namespace {

// (b.7b): what more joint forces add to the tips' accelerations, J M^-1 dT, adds Pi J M^-1 dT to the contact forces.
TEST(ClosedChain, PiTakesTipAccelerationsToContactForces) {
  Rng rng(83);
  int checked = 0;
  for (int i = 0; i < 20; ++i) {
    const int l = 1 + i % 3;
    RandomScene s = random_scene(rng, l, 8 * l);
    ClosedChain chain(s.arms, s.object);
    const auto forces = [&] {
      chain.compute(ClosedChain::Algorithm::rccfd1, arm_states(s), s.held);
      std::vector<double> f;
      for (int arm = 0; arm < l; ++arm) {
        const Spatial<double> x = chain.force(arm);
        f.insert(f.end(), numbers_of(x), numbers_of(x) + 6);
      }
      return f;
    };
    const std::vector<double> before = forces();
    if (chain.rank() < 6 * l) continue;
    ++checked;
    const std::vector<double> Pi = chain.Pi();
    std::vector<double> moved;
    for (int arm = 0; arm < l; ++arm) {
      std::vector<double> dT = random_vector(rng, s.states[arm].tau.size()), x(6);
      for (std::size_t k = 0; k < dT.size(); ++k) s.states[arm].tau[k] += dT[k];
      operators::OperatorState state(s.arms[arm].model);
      state.update(s.states[arm].q);
      operators::Program(state,
                         operators::parse("star(B('" + s.arms[arm].tip +
                                          "'))*star(phi)*star(H)*inv(H*phi*M*star(phi)*star(H) + rotor)")
                             .node)
          .apply(dT, x);
      moved.insert(moved.end(), x.begin(), x.end());
    }
    const std::vector<double> after = forces();
    std::vector<double> change(after.size()), expected(after.size());
    for (std::size_t r = 0; r < after.size(); ++r) {
      change[r] = after[r] - before[r];
      for (std::size_t c = 0; c < after.size(); ++c) expected[r] += Pi[r * after.size() + c] * moved[c];
    }
    EXPECT_LT(relative_error(change, expected), 1e-7) << i;
  }
  EXPECT_GT(checked, 5);
}

// (2.5)-(2.9): V(0) = A V_C and alpha(0) = A alpha_C + a_C, A = col[phi*(C, O_i)], a_C = col[(0, w x (w x l))], where tips
// are held rigidly; V_C = (A*A)^-1 A* V(0).
TEST(ClosedChain, TipsMoveWithTheObject) {
  Rng rng(85);
  int rigid = 0;
  for (int i = 0; i < 10; ++i) {
    RandomScene s = random_scene(rng, 3, 24);
    const Model model = s.assembly.model();
    ConstrainedDynamics work(model, s.constraints);
    std::vector<double> v(model.nv()), a(model.nv());
    work.impulse(s.q, s.v, v);
    work.acceleration(s.q, v, s.tau, a);
    Kinematics<> k(model);
    k.update(s.q, v, a);
    const int C = model.frame("object/body");
    const Spatial<double> V_C = k.velocity(C), alpha_C = k.acceleration(C);
    dense::Matrix A(0, 6), V_0(0, 1);
    for (const GraspingArm& arm : s.arms) {
      if (arm.grasp != Grasp::rigid) continue;
      ++rigid;
      const int tip = model.frame(Assembly::name_of(arm.name, arm.tip));
      const Phi<double> phi{k.pose(tip).position - k.pose(C).position};
      const Vec3<double> a_C = cross(V_C.w, cross(V_C.w, phi.l));
      EXPECT_LT(relative_error(k.velocity(tip), star(phi) * V_C, 1), 1e-9);
      Spatial<double> expected = star(phi) * alpha_C;
      expected.v += a_C;
      EXPECT_LT(relative_error(k.acceleration(tip), expected, 1), 1e-9);
      dense::Matrix rows(6, 6);  // phi*(C, O_i)
      for (int c = 0; c < 6; ++c) {
        Spatial<double> unit{{0, 0, 0}, {0, 0, 0}};
        numbers_of(unit)[c] = 1;
        const Spatial<double> column = star(phi) * unit;
        for (int r = 0; r < 6; ++r) rows(r, c) = numbers_of(column)[r];
      }
      dense::Matrix more(A.rows() + 6, 6), moved(A.rows() + 6, 1);
      more.block(0, 0, A.rows(), 6) = A, more.block(A.rows(), 0, 6, 6) = rows;
      moved.part(0, A.rows()) = V_0;
      const Spatial<double> V = k.velocity(tip);
      for (int r = 0; r < 6; ++r) moved(A.rows() + r, 0) = numbers_of(V)[r];
      A = more, V_0 = moved;
    }
    if (A.rows() == 0) continue;
    const dense::Matrix found = dense::LU(star(A) * A).solve(star(A) * V_0);
    for (int r = 0; r < 6; ++r) EXPECT_NEAR(found(r, 0), numbers_of(V_C)[r], 1e-9);
  }
  EXPECT_GT(rigid, 3);
}

// (5.1)-(5.4), (5.13), (5.14): stacked, all arms are one system; its M^-1 = [I - H psi K]* D^-1 [I - H psi K] has a block
// for each, and FD3 of the whole is FD3 of each.
TEST(ClosedChain, StackedArmsAreOneSystem) {
  Rng rng(86);
  for (int i = 0; i < 6; ++i) {
    RandomScene s = random_scene(rng, 3, 18);
    const Model model = s.assembly.model();
    operators::OperatorState state(model);
    state.update(s.q, s.v);
    const operators::Dense inverse =
        operators::Program(state, operators::parse("star(I - H*psi*K)*inv(D)*(I - H*psi*K)").node).dense();
    std::vector<double> a(model.nv()), blocks(inverse.numbers.size());
    operators::Program(
        state, operators::parse("star(I - H*psi*K)*inv(D)*(tau - H*psi*(K*tau + M*star(phi)*(a_bias + "
                                "star(E)*a_g) + b_bias))")
                   .node)
        .evaluate({s.tau}, a);
    int at = 0;
    for (std::size_t arm = 0; arm < s.arms.size(); ++arm) {
      const Model& own = s.arms[arm].model;
      const int n = own.nv();
      std::vector<double> M(static_cast<std::size_t>(n) * n);
      MassFactor<> factor(own);
      factor.factor(s.states[arm].q);
      factor.inverse(M);
      for (int r = 0; r < n; ++r)
        std::copy_n(M.begin() + r * n, n, blocks.begin() + (at + r) * model.nv() + at);
      const auto expected = forward_dynamics(own, s.states[arm].q, s.states[arm].v, s.states[arm].tau);
      EXPECT_LT(relative_error(std::span(a).subspan(at, n), expected), 1e-9);
      at += n;
    }
    for (int r = 0; r < at; ++r)
      EXPECT_LT(relative_error(std::span(inverse.numbers).subspan(r * model.nv(), model.nv()),
                               std::span(blocks).subspan(r * model.nv(), model.nv())),
                1e-9);
  }
}

}  // namespace
}  // namespace articula::testing
