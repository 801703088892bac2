// No call after set-up allocates: measured by standing in for malloc itself, since counting operator new
// would miss what Eigen and C libraries take.
#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/operators/program.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "articula/simulation/rate_control.hpp"
#include "articula/simulation/simulator.hpp"
#include "articula/simulation/task_control.hpp"
#include "articula/task_space/control.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/motions.hpp"

// Sanitizers bring their own malloc, and only glibc has the names below.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ARTICULA_OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define ARTICULA_OTHER_MALLOC
#endif

#ifndef ARTICULA_OTHER_MALLOC

namespace {
// Of this thread; no constructor, so that malloc may use them at any time.
thread_local long allocations = 0;
}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : 12;  // ENOMEM
}
void free(void* p) {
  if (p) ++allocations;  // what is freed was allocated: neither belongs into a control loop
  __libc_free(p);
}
}

namespace articula::testing {
namespace {

template <class F>
long allocations_in(F&& call) {
  const long before = allocations;
  call();
  return allocations - before;
}

void* volatile seen;  // what nobody sees need not be allocated
void see_and_free(void* p) {
  seen = p;
  std::free(seen);
}

TEST(Allocation, TheCounterCounts) {
  EXPECT_GE(allocations_in([] { seen = ::operator new(4), ::operator delete(seen); }), 1);
  EXPECT_GE(allocations_in([] { see_and_free(std::aligned_alloc(64, 64)); }), 1);
  EXPECT_GE(allocations_in([] { Eigen::MatrixXd::Zero(20, 20).eval(); }), 1);
  EXPECT_EQ(allocations_in([] {}), 0);
}

template <class S>
void check(const Case& c) {
  const Model& model = c.model;
  const std::size_t nv = model.nv();
  const auto cast = [](const std::vector<double>& x) { return std::vector<S>(x.begin(), x.end()); };
  const auto q = cast(c.state.q), v = cast(c.state.v), a = cast(c.state.a), tau = cast(c.state.tau);
  std::vector<Spatial<S>> wrenches;
  for (const auto& f : c.state.wrenches)
    wrenches.push_back({{S(f.w.x), S(f.w.y), S(f.w.z)}, {S(f.v.x), S(f.v.y), S(f.v.z)}});
  InverseDynamics<S> inverse(model);
  ForwardDynamics<S> forward(model);
  MassMatrix<S> mass(model);
  MassFactor<S> factor(model);
  Kinematics<S> motion(model);
  std::vector<S> x(nv), matrix(nv * nv), J(6 * nv);
  const int tool = model.frame("tool");
  EXPECT_EQ(allocations_in([&] { inverse_dynamics(inverse, q, v, a, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { bias_forces(inverse, q, v, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { gravity_forces(inverse, q, x); }), 0);
  EXPECT_EQ(allocations_in([&] { forward_dynamics(forward, q, v, tau, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { mass_matrix(mass, q, matrix); }), 0);
  EXPECT_EQ(allocations_in([&] { centroidal_map(mass, q, J); }), 0);
  EXPECT_EQ(allocations_in([&] { inverse_mass_matrix(factor, q, matrix); }), 0);
  EXPECT_EQ(allocations_in([&] { factor.factor(q); }), 0);
  EXPECT_EQ(allocations_in([&] { factor.solve(tau, x); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q, v); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q, v, a); }), 0);
  EXPECT_EQ(allocations_in([&] { (void)motion.pose(tool); }), 0);
  EXPECT_EQ(allocations_in([&] { (void)motion.pose(tool, q); }), 0);
  for (const Axes axes : {Axes::world, Axes::local, Axes::spatial}) {
    EXPECT_EQ(allocations_in([&] { (void)motion.velocity(tool, axes); }), 0);
    EXPECT_EQ(allocations_in([&] { (void)motion.acceleration(tool, axes); }), 0);
    EXPECT_EQ(allocations_in([&] { motion.jacobian(tool, J, axes); }), 0);
    EXPECT_EQ(allocations_in([&] { motion.jacobian(tool, q, J, axes); }), 0);
  }
  EXPECT_EQ(allocations_in([&] { (void)motion.totals(); }), 0);
  EXPECT_EQ(allocations_in([&] { (void)model.frame("tool"); }), 0);

  LinearizedInverse<S> linear_inverse(model);
  LinearizedForward<S> linear_forward(model);
  std::vector<S> dq(nv * nv), dv(nv * nv), y(nv), z(nv);
  for (const Method method : {Method::direct, Method::conventional, Method::numerical, Method::printed}) {
    const LinearizationOptions<S> options{.wrenches = wrenches, .damping = true, .method = method};
    EXPECT_EQ(allocations_in([&] { linearized_inverse(linear_inverse, q, v, a, dq, dv, matrix, options); }),
              0);
    EXPECT_EQ(allocations_in([&] { perturbed_inverse(linear_inverse, q, v, a, v, a, tau, x, options); }), 0);
    EXPECT_EQ(allocations_in([&] { inverse_gradient(linear_inverse, q, v, a, tau, x, y, z, options); }), 0);
    EXPECT_EQ(allocations_in([&] { linearized_forward(linear_forward, q, v, tau, dq, dv, matrix, options); }),
              0);
    EXPECT_EQ(allocations_in([&] { perturbed_forward(linear_forward, q, v, tau, v, a, tau, x, options); }),
              0);
    EXPECT_EQ(allocations_in([&] { forward_gradient(linear_forward, q, v, tau, a, x, y, z, options); }), 0);
  }
  if constexpr (std::is_same_v<S, double>) {
    SecondOrder second(model);
    const Direction one{v, a, tau}, other{a, tau, v};
    EXPECT_EQ(allocations_in([&] { twice_perturbed_inverse(second, q, v, a, one, other, x); }), 0);
    EXPECT_EQ(allocations_in([&] { twice_perturbed_forward(second, q, v, tau, one, other, x); }), 0);
    StateSpace space(model);
    std::vector<double> A(4 * nv * nv), B(2 * nv * nv), q_next(q);
    EXPECT_EQ(allocations_in([&] { continuous_state_space(space, q, v, tau, A, B); }), 0);
    for (const Integrator step : {Integrator::euler, Integrator::symplectic_euler})
      EXPECT_EQ(allocations_in([&] { discrete_state_space(space, q, v, tau, 1e-3, step, A, B, q_next, x); }),
                0);
  }
}

void check_operators(const Case& c) {
  using namespace articula::operators;
  const Model& model = c.model;
  const auto &q = c.state.q, &v = c.state.v, &torque = c.state.tau;
  const std::size_t nv = model.nv();
  std::vector<double> x(nv), matrix(nv * nv), frames_matrix(144);
  NamedForwardDynamics named(model);
  for (const auto algorithm : {NamedForwardDynamics::Algorithm::fd1, NamedForwardDynamics::Algorithm::fd2,
                               NamedForwardDynamics::Algorithm::fd3, NamedForwardDynamics::Algorithm::fd4})
    EXPECT_EQ(allocations_in([&] { named.compute(algorithm, q, v, torque, x, c.state.wrenches); }), 0);
  Coriolis coriolis(model);
  EXPECT_EQ(allocations_in([&] { coriolis_matrix(coriolis, q, v, matrix); }), 0);
  EXPECT_EQ(allocations_in([&] { mass_matrix_rate(coriolis, q, v, matrix); }), 0);
  MassFactor<> factor(model);
  factor.factor(q);
  EXPECT_EQ(allocations_in([&] { factor.multiply(v, x); }), 0);
  EXPECT_EQ(allocations_in([&] { factor.solve_columns(v, x, 1); }), 0);
  if (!model.has_mimics()) {
    EXPECT_EQ(allocations_in([&] { factor.times_root(v, x); }), 0);
    EXPECT_EQ(allocations_in([&] { factor.solve_root_star(v, x); }), 0);
  }
  const int frames[] = {model.frame("tool"), 0};
  factor.frame_inertia_inverse(frames, frames_matrix);  // makes room
  EXPECT_EQ(allocations_in([&] { factor.frame_inertia_inverse(frames, frames_matrix); }), 0);

  OperatorState state(model);
  const auto T = input<JointSpace>(0);
  const auto a = a_bias + star(E) * a_g;
  Program bias(state, T - H * phi * (M * star(phi) * a + b_bias));
  Program inertia(state, star(H_full * phi * K * inv(D) * H_full * psi * P) * Gamma);
  Program reach(state, H * phi * (Omega + R) * tau_bar * B("tool"));
  std::vector<double> body(inertia.rows()), wrench(6);
  const std::span<const double> inputs[] = {torque};
  EXPECT_EQ(allocations_in([&] { state.update(q, v); }), 0);
  EXPECT_EQ(allocations_in([&] { bias.evaluate(inputs, x); }), 0);
  EXPECT_EQ(allocations_in([&] { inertia.apply(v, body); }), 0);
  EXPECT_EQ(allocations_in([&] { reach.apply(wrench, x); }), 0);
}

void check_diagonal(const Case& c) {
  if (c.model.has_mimics()) return;
  const auto &q = c.state.q, &v = c.state.v, &tau = c.state.tau;
  const std::size_t nv = c.model.nv();
  DiagonalizedDynamics work(c.model);
  std::vector<double> x(nv), y(nv), gains(nv, 2.0);
  if (nv == 0) return;
  EXPECT_EQ(allocations_in([&] { work.update(q); }), 0);
  EXPECT_EQ(allocations_in([&] { work.rates_to_nu(v, x); }), 0);
  EXPECT_EQ(allocations_in([&] { work.nu_to_rates(x, y); }), 0);
  EXPECT_EQ(allocations_in([&] { work.forces_to_kappa(tau, y); }), 0);
  EXPECT_EQ(allocations_in([&] { work.coriolis_nu(x, y); }), 0);
  EXPECT_EQ(allocations_in([&] { work.nu_dot(q, x, tau, y); }), 0);
  for (const auto all : {RateCompensation::gravity, RateCompensation::all})
    EXPECT_EQ(allocations_in([&] { decoupled_rate_control(work, v, x, gains, all, y); }), 0);
  EXPECT_EQ(allocations_in([&] { work.xi_dot(q, v, tau, y); }), 0);
}

void check_batch(const Case& c) {
  const Model& model = c.model;
  const auto &q = c.state.q, &v = c.state.v, &tau = c.state.tau;
  const std::size_t nv = model.nv();
  if (nv == 0) return;
  Batch<> batch(model);
  std::vector<double> x(nv), dq(nv * nv), dv(nv * nv), dtau(nv * nv);
  EXPECT_EQ(allocations_in([&] { batch.inverse_dynamics(q, v, v, x); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.forward_dynamics(q, v, tau, x); }), 0);
  batch.inverse_mass_matrix(q, dq);  // these make room when first asked for
  batch.linearized_forward(q, v, tau, dq, dv, dtau);
  EXPECT_EQ(allocations_in([&] { batch.inverse_mass_matrix(q, dq); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.linearized_forward(q, v, tau, dq, dv, dtau); }), 0);
  // Kinematics need no more room than the batch has; what needs more makes it once.
  std::vector<double> J(6 * nv), pose(12), six(6), omega(36), bar(6 * nv), y(nv), z(nv);
  const int tool = model.frame("tool");
  EXPECT_EQ(allocations_in([&] { batch.pose(tool, q, pose); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.jacobian(tool, q, J); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.frame_velocity(tool, q, v, six); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.momentum(q, v, six); }), 0);
  std::vector<double> wrenches(6 * model.body_count(), 0.1);
  const auto once_made = [](const auto& call) {
    call();
    EXPECT_EQ(allocations_in(call), 0);
  };
  once_made([&] { batch.coriolis_matrix(q, v, dq); });
  once_made([&] { batch.forward_gradient(q, v, tau, tau, x, y, z); });
  once_made([&] { batch.forward_dynamics(q, v, tau, x, wrenches); });
  OperationalSpaceBatch<> space(batch, std::vector{tool});
  once_made([&] { space.terms(q, v, {.omega = omega, .coriolis = six, .jacobian_bar = bar}); });
  once_made([&] { space.motion_force(q, v, six, {}, x); });
  if (!model.has_mimics()) {
    DiagonalizedBatch<> diagonal(batch);
    EXPECT_EQ(allocations_in([&] { diagonal.rates_to_nu(q, v, x); }), 0);
    EXPECT_EQ(allocations_in([&] { diagonal.nu_dot(q, v, tau, x); }), 0);
    once_made([&] { diagonal.terms(q, v, tau, {.nu = x, .kappa = y, .D = dq}); });
  }
  std::vector<double> q_path(2 * model.nq()), v_path(2 * nv);
  RolloutOptions options;
  options.steps = 4, options.every = 2, options.damping = true;
  batch.rollout(q, v, tau, options, q_path, v_path);
  EXPECT_EQ(allocations_in([&] { batch.rollout(q, v, tau, options, q_path, v_path); }), 0);
  const std::vector<double> inertias = inertial_parameters(model);
  batch.vary(inertias);
  batch.inverse_mass_matrix(q, dq);  // large matrices, now in lanes
  batch.linearized_forward(q, v, tau, dq, dv, dtau);
  EXPECT_EQ(allocations_in([&] { batch.vary(inertias); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.forward_dynamics(q, v, tau, x); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.inverse_mass_matrix(q, dq); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.linearized_forward(q, v, tau, dq, dv, dtau); }), 0);
  EXPECT_EQ(allocations_in([&] { batch.rollout(q, v, tau, options, q_path, v_path); }), 0);
}

/// Every query and controller of the operational space, at a state and at the neutral one, which is singular
/// for many models.
void check_task_space(const Case& c) {
  const Model& model = c.model;
  const std::size_t nv = model.nv();
  const std::string first = model.frames().front().name, last = model.frames().back().name;
  const std::vector<Task> tasks{pose_task(model, "tool", last), position_task(model, last),
                                line_task(model, first, {1, 2, 3}, "tool")};
  for (const bool damp : {false, true}) {
    TaskSpace space(model, tasks, {.damp = damp});
    TaskController control(model, {{tasks[0]}, {tasks[1], tasks[2]}}, {.damp = damp});
    const std::size_t rows = space.rows();
    std::vector<double> square(rows * rows), y(rows), F(rows), x(nv), tau(nv), wide(rows * nv), N(nv * nv),
        limits(nv, 5.0), q = c.state.q;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(allocations_in([&] { space.update(q); }), 0);
      EXPECT_EQ(allocations_in([&] { space.update(q, c.state.v); }), 0);
      EXPECT_EQ(allocations_in([&] {
                  space.omega(square), space.lambda(square), space.coriolis(y), space.gravity(y);
                  space.velocity(y), space.bias_acceleration(y), space.free_acceleration(y);
                  space.jacobian(wide), space.jacobian_bar(wide), space.null_space(N);
                  (void)space.rank(), (void)space.exact(), (void)space.pose(0), (void)space.frame_velocity(1);
                }),
                0);
      EXPECT_EQ(allocations_in([&] {
                  space.times_omega(F, y), space.times_lambda(F, y), space.times_jacobian(tau, y);
                  space.times_jacobian_star(F, x), space.times_jacobian_bar(F, x);
                  space.times_jacobian_bar_star(tau, y), space.project_forces(tau, x);
                  space.project_velocities(tau, x), space.acceleration_of(tau, y), space.motion_force(F, y);
                  space.gravity_forces(x), space.bias_forces(x), space.times_mass(tau, x);
                }),
                0);
      EXPECT_EQ(allocations_in([&] {
                  control.update(q, c.state.v);
                  control.follow(0, {});
                  control.press(0, 2, 5, 3);
                  control.hold_posture(c.state.q, 10, 5);
                  control.limit_torques({});
                  control.torques(x);
                  control.limit_torques(limits);
                  control.torques(x);
                  control.null_space_forces(tau);
                  control.torques(x);
                }),
                0);
      if (!model.has_mimics()) {
        SweptControl swept(model, last, 2, {.damp = damp});
        for (int tick = 0; tick < 2; ++tick)  // of four sweeps, then of two
          EXPECT_EQ(allocations_in([&] { swept.torques(q, c.state.v, {}, {}, {c.state.q}, x); }), 0);
      }
      neutral(model, q);
    }
  }
}

void check_loops(const Case& c) {
  const Model& model = c.model;
  const int tool = model.frame("tool");
  if (model.nv() == 0 || model.frames()[tool].body < 0) return;
  std::vector<double> q = c.state.q, v = c.state.v, a(model.nv());
  // Twice the same: redundant, so that both ways to solve are run.
  for (const bool twice : {false, true}) {
    std::vector<Constraint> constraints{ball("one", {-1, {}}, {tool, {}})};
    if (twice) constraints.push_back(ball("two", {-1, {}}, {tool, {}}));
    ConstrainedDynamics work(model, constraints, {.baumgarte_frequency = 1});
    EXPECT_EQ(allocations_in([&] { work.acceleration(q, v, c.state.tau, a, c.state.wrenches); }), 0);
    EXPECT_EQ(allocations_in([&] { work.impulse(q, v, a); }), 0);
    EXPECT_EQ(allocations_in([&] { (void)work.force(0); }), 0);
    EXPECT_EQ(allocations_in([&] { (void)work.drift(q, v); }), 0);
    EXPECT_EQ(allocations_in([&] { work.set_active(0, false); }), 0);
    EXPECT_EQ(allocations_in([&] { work.set_active(0, true); }), 0);
    EXPECT_EQ(allocations_in([&] { (void)work.project(q, v); }), 0);
    ConstrainedDynamics plain(model, constraints);
    LinearizedConstrained linear(plain);
    ConstrainedDerivatives d;
    ImpulseDerivatives e;
    linear.compute(q, v, c.state.tau, d);
    linear.impulse(q, v, e);
    EXPECT_EQ(allocations_in([&] { linear.compute(q, v, c.state.tau, d); }), 0);
    EXPECT_EQ(allocations_in([&] { linear.impulse(q, v, e); }), 0);
  }
}

void check_simulation(const Case& c) {
  const Model& model = c.model;
  if (model.nv() == 0 || c.dense.condition_number() > 1e8) return;
  const std::size_t nv = model.nv();
  PdControl control(model, {std::vector<double>(nv, 0.1), std::vector<double>(nv, 0.01)},
                    Reference(model, c.state.q), true);
  ComputedTorque torque(model, {std::vector<double>(nv, 0.1), std::vector<double>(nv, 0.01)},
                        Reference(model, c.state.q));
  JointDampers dampers(model, std::vector<double>(nv, 0.01));
  DryFriction friction(model, std::vector<double>(nv, 0.01));
  StiffStops stops(model, 1.0);
  TabulatedWrench wrench(model, "tool", Table({0, 1}, std::vector<double>(12, 0.1), 6));
  // CVODE's own C code allocates as it likes; it is not for control loops.
  for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::rk45, Integrator::variational, Integrator::midpoint}) {
    Simulator sim(model, integrator, {1e-3, 1e-3});
    sim.q = c.state.q;
    sim.add(dampers), sim.add(friction), sim.add(stops), sim.add(torque), sim.add(wrench);
    sim.add_sampled(control, 2e-6);
    EXPECT_EQ(allocations_in([&] {
                for (int i = 0; i < 4; ++i) sim.step(1e-6);
                (void)sim.totals();
                if (integrator != Integrator::euler) (void)sim.constraint_drift();
              }),
              0)
        << name_of(integrator);
  }
  std::vector<double> A(4 * nv * nv), B(2 * nv * nv), q = c.state.q, v(nv);
  for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::variational, Integrator::midpoint}) {
    LinearizedStep step(model, integrator);
    EXPECT_EQ(allocations_in([&] {
                step.compute(c.state.q, c.state.v, c.state.tau, 1e-6, A, B, q, v,
                             {.wrenches = c.state.wrenches, .held = HeldIn::body_axes, .damping = true});
              }),
              0)
        << name_of(integrator);
  }
}

// Motion in nu and xi, control in nu and in Euler angles, a smooth reference.
TEST(Allocation, NoneInOtherVelocitiesAndCoordinates) {
  const Model arm = shipped("arm7");
  const std::size_t nv = arm.nv();
  const Table rows({0, 1}, std::vector<double>(2 * nv, 0.1), arm.nv());
  ComputedTorque torque(arm, {std::vector<double>(nv, 1), std::vector<double>(nv, 1)},
                        Reference(arm, rows, rows, rows));
  DecoupledRateControl rates(arm, std::vector<double>(nv, 1), std::vector<double>(nv));
  ControlledTask task{.task = pose_task(arm, "hand"), .coordinates = std::make_shared<EulerAngles>("zyx")};
  task.wanted.y = {0.1, 0.2, 0.3, 0.4, 0.1, 0.5};
  TaskListControl tasks(arm, {{task}}, std::vector<double>(nv, 0.1));
  for (const MotionForm form : {MotionForm::nu, MotionForm::xi})
    for (const Integrator integrator : {Integrator::rk4, Integrator::rk45, Integrator::midpoint}) {
      Simulator sim(arm, integrator, {1e-3, 1e-3}, form);
      sim.q = {0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1};
      sim.add(torque), sim.add(rates), sim.add(tasks);
      EXPECT_EQ(allocations_in([&] { sim.step(1e-6); }), 0) << name_of(integrator);
    }
}

// Mimic joints without inertia of their own take another way.
TEST(Allocation, NoneWithMasslessFollowers) {
  const Model model(massless_followers_spec(), {.base = Base::free});
  const std::size_t nv = model.nv();
  Rng rng(3);
  const State s = random_state(rng, model);
  const LinearizationOptions<double> options{.wrenches = s.wrenches, .damping = true};
  std::vector<double> A(4 * nv * nv), B(2 * nv * nv), q(model.nq()), v(nv), X(nv * nv), Y(X), Z(X), x(nv),
      y(x), z(x);
  LinearizedForward<> forward(model);
  EXPECT_EQ(allocations_in([&] {
              linearized_forward(forward, s.q, s.v, s.tau, X, Y, Z, options);
              perturbed_forward(forward, s.q, s.v, s.tau, s.v, s.a, s.tau, x, options);
              forward_gradient(forward, s.q, s.v, s.tau, s.a, x, y, z, options);
            }),
            0);
  for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::variational, Integrator::midpoint}) {
    LinearizedStep step(model, integrator);
    EXPECT_EQ(allocations_in([&] { step.compute(s.q, s.v, s.tau, 1e-4, A, B, q, v, options); }), 0)
        << name_of(integrator);
  }
}

TEST(Allocation, NoneAfterSetUp) {
  for_each_case([](const Case& c) {
    check_task_space(c);
    check<double>(c);
    check<float>(c);
    check_operators(c);
    check_batch(c);
    check_diagonal(c);
    check_loops(c);
    check_simulation(c);
  });
}

}  // namespace
}  // namespace articula::testing

#endif
