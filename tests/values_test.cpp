// Workspaces are values: they move, and where a copy would share memory it does not compile.
#include <gtest/gtest.h>

#include <type_traits>

#include "articula/algorithms/algorithms.hpp"
#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

template <class... W>
constexpr bool move_only = ((!std::is_copy_constructible_v<W> && !std::is_copy_assignable_v<W> &&
                             std::is_nothrow_move_constructible_v<W>)&&...);
static_assert(
    move_only<InverseDynamics<>, ForwardDynamics<>, MassMatrix<>, MassFactor<>, Kinematics<>, Coriolis,
              NamedForwardDynamics, LinearizedForward<>, LinearizedInverse<>, StateSpace, TaskSpace,
              TaskController, DiagonalizedDynamics, Batch<>, DiagonalizedBatch<>, OperationalSpaceBatch<>,
              OneState<>, Evaluator<>, ForwardDynamics<float>, Batch<float>>);

/// One per thread, in a vector that grows: every workspace gives what a fresh one gives.
TEST(Values, WorkspacesInAVectorThatGrows) {
  testing::Rng rng(5);
  for (const double mimic : {0.0, 0.5}) {
    testing::RandomOptions options;
    options.mimic = mimic;
    const Model model(testing::random_spec(rng, options));
    const auto q = random(model, 1);
    std::vector<double> v(model.nv()), tau(model.nv());
    for (double& x : v) x = rng.uniform();
    for (double& x : tau) x = rng.uniform();
    const std::size_t nv = model.nv();

    std::vector<ForwardDynamics<>> forward;
    std::vector<Kinematics<>> kinematics;
    std::vector<MassFactor<>> factors;
    std::vector<LinearizedForward<>> linearized;
    std::vector<Coriolis> coriolis;
    for (int i = 0; i < 5; ++i) {  // the first four move
      forward.emplace_back(model);
      kinematics.emplace_back(model);
      kinematics.back().update(q, v);
      factors.emplace_back(model);
      factors.back().factor(q);
      linearized.emplace_back(model);
      coriolis.emplace_back(model);
    }
    std::vector<double> a(nv), b(nv), A(nv * nv), B(nv * nv), C(nv * nv), D(nv * nv);
    const int last = static_cast<int>(model.frames().size()) - 1;
    for (int i = 0; i < 5; ++i) {
      forward_dynamics(forward[i], q, v, tau, b);
      EXPECT_EQ(b, forward_dynamics(model, q, v, tau));
      EXPECT_EQ(kinematics[i].velocity(last).w.x, kinematics[4].velocity(last).w.x);
      factors[i].solve(tau, a);
      factors[4].solve(tau, b);
      EXPECT_EQ(a, b);
      linearized_forward(linearized[i], q, v, tau, A, B, C);
      linearized_forward(linearized[4], q, v, tau, D, B, C);
      EXPECT_EQ(A, D);
      coriolis_matrix(coriolis[i], q, v, A);
      EXPECT_EQ(A, coriolis_matrix(model, q, v));
    }
    forward[0] = std::move(forward[4]);  // and over one that has memory already
    forward_dynamics(forward[0], q, v, tau, a);
    EXPECT_EQ(a, forward_dynamics(model, q, v, tau));
  }
}

TEST(Values, ABatchMovesWithItsViews) {
  testing::Rng rng(6);
  const Model model(testing::random_spec(rng));
  const std::size_t nv = model.nv(), count = 9;
  std::vector<double> q, v(count * nv), lambda(count * 36), omega(lambda), six(count * 6),
      bar(count * nv * 6), rank(count), again(lambda), other(count * 6);
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = random(model, i);
    q.insert(q.end(), one.begin(), one.end());
  }
  for (double& x : v) x = rng.uniform();
  const int frame = static_cast<int>(model.frames().size()) - 1;
  Batch<> batch(model);
  batch.operational_space(std::span(&frame, 1), q, v, omega, lambda, six, other, bar, rank);
  Batch<> moved(std::move(batch));
  moved.operational_space(std::span(&frame, 1), q, v, omega, again, six, other, bar, rank);
  EXPECT_EQ(lambda, again);
}

/// A batch keeps the kernels that it was made with, whatever set is in use when it is called.
TEST(Values, ABatchKeepsItsInstructionSet) {
  const auto sets = instruction_sets();
  if (sets.size() < 2)
    GTEST_SKIP() << "this build has one instruction set: ARTICULA_INSTRUCTION_SETS=all has more";
  const std::string before = instruction_set();
  testing::Rng rng(7);
  const Model model(testing::random_spec(rng));
  const std::size_t nv = model.nv(), count = 16;
  std::vector<double> q, v(count * nv), expected(count * nv * nv), C(expected);
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = random(model, i);
    q.insert(q.end(), one.begin(), one.end());
  }
  for (double& x : v) x = rng.uniform();
  use_instruction_set(sets.back());
  Batch<> batch(model);
  batch.coriolis_matrix(q, v, expected);
  use_instruction_set(sets.front());
  batch.coriolis_matrix(q, v, C);
  use_instruction_set(before);
  EXPECT_EQ(C, expected);
}

}  // namespace
}  // namespace articula
