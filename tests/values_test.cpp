// Every class is a value or says at compile time that it is none: workspaces move, and where a copy would share memory
// it does not compile. tools/check_layers.py holds these lists to the classes of the installed headers; in use:
// tests/moved_and_copied_test.cpp.
#include <gtest/gtest.h>

#include <type_traits>

#include "articula/algorithms/algorithms.hpp"
#include "articula/batch/block_file.hpp"
#include "articula/batch/closed_rollout.hpp"
#include "articula/batch/design.hpp"
#include "articula/batch/diagonalized.hpp"
#include "articula/batch/monte_carlo.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/batch/run_folder.hpp"
#include "articula/batch/run_statistics.hpp"
#include "articula/cuda/array.hpp"
#include "articula/cuda/batch.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/loops/assembly.hpp"
#include "articula/loops/closed_chain.hpp"
#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/loops/inverse_kinematics.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/fingerprint.hpp"
#include "articula/operators/acceleration_covariance.hpp"
#include "articula/operators/program.hpp"
#include "articula/report/model_view.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/diagonalized_motion.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "articula/simulation/rate_control.hpp"
#include "articula/simulation/recording.hpp"
#include "articula/simulation/recording_arrays.hpp"
#include "articula/simulation/simulator.hpp"
#include "articula/simulation/task_control.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/task_space/control.hpp"
#include "articula/task_space/swept_control.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

/// Own memory that they point into.
template <class... W>
constexpr bool move_only = ((!std::is_copy_constructible_v<W> && !std::is_copy_assignable_v<W> &&
                             std::is_nothrow_move_constructible_v<W>)&&...);
static_assert(move_only<InverseDynamics<>, ForwardDynamics<>, MassMatrix<>, MassFactor<>, Kinematics<>,
                        Coriolis, NamedForwardDynamics, LinearizedForward<>, LinearizedInverse<>,
                        LinearizationWorkspace<double>, SecondOrder, StateSpace, TaskSpace, TaskController,
                        SweptControl, DiagonalizedDynamics, OneState<>, Evaluator<>, ForwardDynamics<float>>);
static_assert(move_only<Batch<>, DiagonalizedBatch<>, OperationalSpaceBatch<>, Batch<float>, ClosedRollout,
                        cuda::Batch<>, cuda::Batch<float>, cuda::Array<double>>);
static_assert(move_only<ClosedChain, InverseKinematics, Scene, LinearizedStep, IntegrationMethod, Variational,
                        Cvode, VelocityForm, DiagonalizedMotion, ModelView>);
static_assert(move_only<PdControl, ComputedTorque, GravityCompensation, DecoupledRateControl,
                        OperationalSpaceControl, TaskListControl>);

/// Share nothing, or what they share is not theirs and never changes.
template <class... W>
constexpr bool copyable = ((std::is_copy_constructible_v<W> && std::is_nothrow_move_constructible_v<W>)&&...);
static_assert(
    copyable<Model, PerFreedom, Manifold, Fingerprint, Assembly, AlignedArray<double>, dense::Matrix,
             dense::Part, dense::Cholesky, dense::LU, dense::PivotedQR, dense::SymmetricEigen, RankSolve,
             RankRevealing, PathRoom<double>, MimicCorrection<double>, EulerAngles>);
static_assert(copyable<operators::Expression<operators::JointSpace, operators::JointSpace>>);
static_assert(copyable<Table, Reference, JointSprings, JointDampers, DryFriction, StiffStops, TabulatedForces,
                       TabulatedWrench, FixedStep<>, DormandPrince, MidpointEquations<double>,
                       ImplicitMidpoint, VariationalEquations<double>, Watch, FunctionRef<void()>>);
static_assert(copyable<Design, MonteCarlo, GatheredBlocks, QuantileDigest, DyadicHistogram, RunStatistics,
                       StatisticsTree>);
/// Borrows its simulator.
static_assert(copyable<Recorder> && !std::is_copy_assignable_v<Recorder>);

/// Others point to them, or they hold what the system has given: they stay where they are made.
template <class... W>
constexpr bool neither = ((!std::is_copy_constructible_v<W> && !std::is_move_constructible_v<W>)&&...);
static_assert(neither<ConstrainedDynamics, LinearizedConstrained, ClosedChainInverse, Simulator,
                      operators::OperatorState, operators::Program, operators::AccelerationCovariance>);
static_assert(
    neither<Threads, BlockReader, BlockWriter, recording_files::FileBytes, cuda::Context, cuda::Use>);
/// Bases: only what is derived can be made.
static_assert(neither<Workspace<double>, ForceElement, WrenchElement, TaskCoordinates, MonteCarloMotion>);

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

/// A batch keeps the kernels that it was made with, whatever set is in use when it is called: every algorithm.
TEST(Values, ABatchKeepsItsInstructionSet) {
  const auto sets = instruction_sets();
  if (sets.size() < 2)
    GTEST_SKIP() << "this build has one instruction set: ARTICULA_INSTRUCTION_SETS=all has more";
  const std::string before = instruction_set();
  testing::Rng rng(7);
  const Model model(testing::random_spec(rng));
  constexpr std::size_t count = 16;
  std::array<std::vector<double>, argument_count> given;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = random(model, i);
    given[0].insert(given[0].end(), one.begin(), one.end());
  }
  for (int k = 1; k < argument_count; ++k) {
    given[k].resize(count * static_cast<std::size_t>(model.nv()));
    for (double& x : given[k]) x = rng.uniform();
  }
  use_instruction_set(sets.back());
  Batch<> batch(model);
  const int last = static_cast<int>(model.frames().size()) - 1;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.many<double>()) continue;
    SCOPED_TRACE(algorithm.name);
    const std::size_t frames = algorithm.frames == FramesNeeded::none ? 0 : 1;
    Call<double> call;
    for (int k = 0; k < argument_count; ++k) call.in[k] = given[k];
    call.frames = std::span(&last, frames);
    call.listed = algorithm.listed;
    const auto results = [&] {
      std::vector<std::vector<double>> numbers;
      for (const Part& part : algorithm.parts) numbers.emplace_back(count * size_of(model, part, frames));
      std::vector<std::span<double>> out(numbers.begin(), numbers.end());
      call.out = out;
      algorithm.many<double>()(batch, call);
      return numbers;
    };
    use_instruction_set(sets.back());
    const auto expected = results();
    use_instruction_set(sets.front());
    EXPECT_EQ(results(), expected);
  }
  use_instruction_set(before);
}

}  // namespace
}  // namespace articula
