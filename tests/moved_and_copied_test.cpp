// Values in use: what is moved or copied gives what it gave before, its source destroyed first. Which classes move and
// which copy: tests/values_test.cpp.
#include <gtest/gtest.h>

#include <memory>

#include "articula/batch/closed_rollout.hpp"
#include "articula/batch/design.hpp"
#include "articula/batch/run_statistics.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/scene.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/loops/inverse_kinematics.hpp"
#include "articula/loops/rank_revealing.hpp"
#include "articula/loops/scene.hpp"
#include "articula/report/model_view.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/diagonalized_motion.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "articula/simulation/method.hpp"
#include "articula/simulation/rate_control.hpp"
#include "articula/simulation/task_control.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/swept_control.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

using Vector = std::vector<double>;

/// Used before too, so that whatever is made at first use is there.
template <class W, class Use, class... Made>
void expect_moves(const Use& use, const Made&... made) {
  auto first = std::make_unique<W>(made...);
  const auto expected = use(*first);
  auto second = std::make_unique<W>(std::move(*first));
  first.reset();
  const auto found = use(*second);
  EXPECT_EQ(found, expected);
  if constexpr (std::is_move_assignable_v<W>) {
    W third(made...);
    third = std::move(*second);  // over memory of its own
    second.reset();
    EXPECT_EQ(use(third), expected);
  }
}
template <class W, class Use, class... Made>
void expect_copies(const Use& use, const Made&... made) {
  auto first = std::make_unique<W>(made...);
  use(*first);
  auto copy = std::make_unique<W>(*first);
  const auto expected = use(*first);  // the second time, as the copy's next is
  first.reset();
  EXPECT_EQ(use(*copy), expected);
  expect_moves<W>(use, made...);
}

struct Arm {
  Model model = shipped("arm7");
  Vector q = Vector(7, 0.4), v = Vector(7, 0.2), tau = Vector(7, 0.1);
  int flange = model.frame("flange");
};

TEST(MovedAndCopied, WorkspacesOfOneState) {
  const Arm arm;
  expect_moves<SecondOrder>(
      [&](SecondOrder& work) {
        Vector a(7), b(7);
        const Direction first{arm.v, arm.tau, arm.q}, second{arm.tau, arm.q, arm.v};
        twice_perturbed_inverse(work, arm.q, arm.v, arm.tau, first, second, a);
        twice_perturbed_forward(work, arm.q, arm.v, arm.tau, first, second, b);
        a.insert(a.end(), b.begin(), b.end());
        return a;
      },
      arm.model);
  expect_moves<StateSpace>(
      [&](StateSpace& work) {
        Vector A(14 * 14), B(14 * 7), q(7), v(7);
        discrete_state_space(work, arm.q, arm.v, arm.tau, 1e-3, Integrator::symplectic_euler, A, B, q, v);
        return A;
      },
      arm.model);
  expect_moves<NamedForwardDynamics>(
      [&](NamedForwardDynamics& work) {
        Vector a(7);
        forward_dynamics_fd2(work, arm.q, arm.v, arm.tau, a);
        return a;
      },
      arm.model);
  expect_moves<DiagonalizedDynamics>(
      [&](DiagonalizedDynamics& work) {
        Vector nu(7);
        work.update(arm.q);
        work.rates_to_nu(arm.v, nu);
        return nu;
      },
      arm.model);
}

TEST(MovedAndCopied, TaskSpaceAndControllers) {
  const Arm arm;
  const MotionTarget target{.position = {0.3, 0.1, 0.5}};
  const std::vector<std::vector<Task>> levels{{pose_task(arm.model, "flange")}};
  expect_moves<TaskSpace>(
      [&](TaskSpace& space) {
        Vector lambda(36);
        space.update(arm.q, arm.v);
        space.lambda(lambda);
        for (const double x : space.rank_report().inverse_inertias) lambda.push_back(x);
        return lambda;
      },
      arm.model, levels[0][0]);
  expect_moves<TaskController>(
      [&](TaskController& control) {
        Vector tau(7);
        control.update(arm.q, arm.v);
        control.follow(0, target);
        control.hold_posture(arm.q, 1, 2);
        control.torques(tau);
        return tau;
      },
      arm.model, levels);
  expect_moves<SweptControl>(
      [&](SweptControl& control) {
        Vector tau(7);
        control.reset();
        for (int tick = 0; tick < 3; ++tick)
          control.torques(arm.q, arm.v, target, {}, {.wanted = arm.q, .stiffness = 1}, tau);
        return tau;
      },
      arm.model, "flange", 2);
  const auto forces = [&](ForceElement& element) {
    Vector tau(7);
    element.add_forces(0, arm.q, arm.v, tau);
    return tau;
  };
  const Gains gains{Vector(7, 10), Vector(7, 1)};
  expect_moves<PdControl>(forces, arm.model, gains, Reference(arm.model, Vector(7)), true);
  expect_moves<ComputedTorque>(forces, arm.model, gains, Reference(arm.model, Vector(7)));
  expect_moves<GravityCompensation>(forces, arm.model);
  expect_moves<DecoupledRateControl>(forces, arm.model, Vector(7, 1), Vector(7, 0.1));
  expect_moves<OperationalSpaceControl>(forces, arm.model, "flange", target, arm.q);
  expect_moves<TaskListControl>(
      forces, arm.model, std::vector<std::vector<ControlledTask>>{{{.task = levels[0][0], .target = target}}},
      arm.q);
  expect_copies<JointSprings>(forces, arm.model, Vector(7, 3), Vector(7));
  expect_copies<JointDampers>(forces, arm.model, Vector(7, 3));
  expect_copies<DryFriction>(forces, arm.model, Vector(7, 3));
  expect_copies<StiffStops>(forces, arm.model);
  expect_copies<TabulatedForces>(forces, arm.model, Table({0, 1}, Vector(14, 2), 7));
}

TEST(MovedAndCopied, Motion) {
  const Arm arm;
  ForwardDynamics<> forward(arm.model);
  const Manifold manifold(arm.model);
  const auto acceleration = [&](double, In<double> q, In<double> v, Out<double> a) {
    forward_dynamics(forward, q, v, arm.tau, a);
  };
  const auto forces = [&](double, In<double>, In<double>, Out<double> tau) {
    std::copy(arm.tau.begin(), arm.tau.end(), tau.begin());
  };
  const System<double> system{.manifold = manifold, .acceleration = acceleration, .forces = forces};
  const auto end_of = [&](auto&& advance) {
    Vector q = arm.q, v = arm.v;
    advance(q, v);
    q.insert(q.end(), v.begin(), v.end());
    return q;
  };
  for (const Integrator how : {Integrator::rk4, Integrator::rk45, Integrator::variational, Integrator::cvode})
    expect_moves<IntegrationMethod>(
        [&](IntegrationMethod& method) {
          if (method.adaptive_pair())
            method.adaptive_pair()->restart(), method.adaptive_pair()->set_next_step(1e-3);
          return end_of([&](Vector& q, Vector& v) { method.advance(system, 0, 0.01, q, v); });
        },
        how, arm.model, Tolerances{});
  expect_copies<FixedStep<>>(
      [&](FixedStep<>& method) {
        return end_of([&](Vector& q, Vector& v) { method.step(system, 0, 0.01, q, v); });
      },
      Integrator::rk4, manifold);
  expect_copies<ImplicitMidpoint>(
      [&](ImplicitMidpoint& method) {
        return end_of([&](Vector& q, Vector& v) { method.step(system, 0, 0.01, q, v); });
      },
      manifold);
  expect_copies<DormandPrince>(
      [&](DormandPrince& method) {
        method.restart(), method.set_next_step(1e-3);
        return end_of([&](Vector& q, Vector& v) {
          method.advance(system, 0, 0.01, q, v);
          method.at((method.step_begin() + method.step_end()) / 2, q, v);
        });
      },
      manifold);
  expect_moves<VelocityForm>(
      [&](VelocityForm& form) {
        Vector x(7), rate(7);
        form.from_rates(arm.q, arm.v, x);
        form.slope(arm.q, x, arm.tau, rate);
        return rate;
      },
      arm.model, MotionForm::nu);
  expect_moves<LinearizedStep>(
      [&](LinearizedStep& step) {
        Vector A(14 * 14), B(14 * 7), q(7), v(7);
        step.compute(arm.q, arm.v, arm.tau, 1e-3, A, B, q, v);
        return A;
      },
      arm.model, Integrator::midpoint);
  auto motion = std::make_unique<DiagonalizedMotion>(arm.model, MotionForm::nu, arm.q, arm.v);
  DiagonalizedMotion alone(arm.model, MotionForm::nu, arm.q, arm.v);
  motion->step(1e-3, Integrator::rk4, arm.tau), alone.step(1e-3, Integrator::rk4, arm.tau);
  DiagonalizedMotion moved(std::move(*motion));
  motion.reset();
  moved.step(1e-3, Integrator::rk4, arm.tau), alone.step(1e-3, Integrator::rk4, arm.tau);
  EXPECT_EQ(moved.q(), alone.q());
}

TEST(MovedAndCopied, ClosedChains) {
  const SceneSpec spec = read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/four_bar.json");
  expect_moves<Scene>(
      [](Scene& scene) {
        Vector a(scene.v.size());
        scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
        a.push_back(scene.omega_rank(scene.q, scene.v));
        return a;
      },
      spec);
  Scene scene(spec);
  const Model& model = scene.model();
  Threads threads(2);
  expect_moves<ClosedRollout>(
      [&](ClosedRollout& rollout) {
        Vector q, v;
        for (int i = 0; i < 3; ++i) {
          q.insert(q.end(), scene.q.begin(), scene.q.end());
          v.insert(v.end(), scene.v.begin(), scene.v.end());
        }
        Vector q_end(q.size()), v_end(v.size());
        RolloutOptions options;
        options.steps = options.every = 4;
        rollout.rollout(q, v, {}, options, q_end, v_end);
        return v_end;
      },
      model, scene.constraints(), &threads);
  expect_moves<InverseKinematics>(
      [&](InverseKinematics& kinematics) {
        Vector q = scene.q, wanted = q;
        wanted[0] += 0.1;
        kinematics.set_joint(0, wanted, q);
        return q;
      },
      model, scene.constraints());
  const Arm arm;
  expect_moves<ModelView>(
      [&](ModelView& view) { return view.state_json(Vector(view.sliders().size(), 0.1), arm.flange); },
      arm.model, std::span<const LinkShapes>{});
  expect_moves<ClosedChain>(
      [&](ClosedChain& chain) {
        const ArmState state{arm.q, arm.v, arm.tau};
        Kinematics<> kinematics(arm.model);
        kinematics.update(arm.q, arm.v);
        const auto pose = kinematics.pose(arm.flange);
        chain.compute(ClosedChain::Algorithm::rccfd1, {&state, 1},
                      {{pose.rotation, pose.position}, kinematics.velocity(arm.flange)});
        return Vector(chain.acceleration(0).begin(), chain.acceleration(0).end());
      },
      std::vector<GraspingArm>{{.name = "arm", .model = arm.model, .tip = "flange"}},
      MassProperties{1, {0, 0, 0}, {0.01, 0.01, 0.01, 0, 0, 0}});
}

TEST(MovedAndCopied, NumbersAndTables) {
  const Vector A{4, 1, 0, 1, 3, 1, 0, 1, 2};
  expect_copies<RankSolve>(
      [&](RankSolve& solve) {
        solve.solve(A.data(), {});
        Vector out(solve.inverse().begin(), solve.inverse().end());
        out.insert(out.end(), solve.eigenvalues().begin(), solve.eigenvalues().end());
        return out;
      },
      3);
  expect_copies<RankRevealing>(
      [&](RankRevealing& factor) {
        Vector x{1, 2, 3};
        factor.factor(A.data(), 3, 3, 1e-12);
        factor.solve(x.data());
        return x;
      },
      3);
  const auto solved = [](const auto& factor) {
    const dense::Matrix x = factor.solve(dense::Matrix::column({1, 2, 3}));
    return Vector(x.numbers().begin(), x.numbers().end());
  };
  expect_copies<dense::Cholesky>(solved, dense::view(A, 3, 3));
  expect_copies<dense::LU>(solved, dense::view(A, 3, 3));
  expect_copies<dense::Matrix>(
      [](const dense::Matrix& x) { return Vector(x.numbers().begin(), x.numbers().end()); },
      dense::view(A, 3, 3));
  expect_copies<AlignedArray<double>>(
      [](AlignedArray<double>& x) {
        x[2] = 5;
        return Vector(x.data(), x.data() + x.size());
      },
      3);
  expect_copies<PerFreedom>(
      [](PerFreedom& x) {
        x[1] = 5;
        return Vector{x[0], x[1], x[5]};
      },
      2.0);
  expect_copies<Table>(
      [](const Table& table) {
        Vector x(2);
        table.at(0.3, x);
        return x;
      },
      Vector{0, 1}, Vector{1, 2, 3, 4}, 2);
  const Arm arm;
  expect_copies<Manifold>(
      [&](const Manifold& manifold) {
        Vector q(7);
        manifold.integrate(arm.q.data(), arm.v.data(), q.data());
        return q;
      },
      arm.model);
  expect_copies<Reference>(
      [](const Reference& reference) {
        Vector q(7), v(7), a(7);
        reference.at(0.5, q, v, a);
        return q;
      },
      arm.model, arm.q);
  expect_copies<Model>([&](const Model& model) { return mass_matrix(model, arm.q); }, arm.model);
  expect_copies<RunStatistics>([](const RunStatistics& x) { return x.text(); }, 2, Vector{1, 2, 3, 5, 6, 7},
                               1);
  expect_copies<QuantileDigest>([](const QuantileDigest& x) { return x.at(0.5).value; }, Vector{3, 1, 2});
  expect_copies<Design>(
      [](const Design& design) {
        Vector x(2);
        design.point(3, x);
        return x;
      },
      Design::Kind::sobol, std::vector<Design::Axis>(2), 8, 1);
}

}  // namespace
}  // namespace articula::testing
