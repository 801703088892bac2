// Closed chains in motion: constraints are held, energy is kept, errors leave the state as it was.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/rate_control.hpp"
#include "articula/simulation/recording.hpp"
#include "articula/simulation/task_control.hpp"

namespace articula {
namespace {

Scene swinging_four_bar() {
  Scene scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/four_bar.json"));
  scene.v.assign(scene.v.size(), 0);
  scene.v[0] = 4;
  scene.dynamics().impulse(scene.q, scene.v, scene.v);
  return scene;
}

TEST(ClosedSimulator, EveryIntegratorHoldsTheLoopAndAgrees) {
  std::vector<double> reference;
  for (const auto& [integrator, tolerance] : {std::pair{Integrator::rk45, 0.0},
                                              {Integrator::rk4, 1e-7},
                                              {Integrator::cvode, 1e-5},
                                              {Integrator::midpoint, 1e-4},
                                              {Integrator::variational, 1e-4},
                                              {Integrator::euler, 0.1},
                                              {Integrator::symplectic_euler, 0.1}}) {
    Scene scene = swinging_four_bar();
    Simulator sim(scene.dynamics(), integrator, {1e-10, 1e-10});
    sim.q = scene.q, sim.v = scene.v;
    const bool first_order = tolerance == 0.1;
    const int steps = first_order ? 20000 : 2000;
    for (int i = 1; i <= steps; ++i) sim.advance(double(i) / steps);
    EXPECT_EQ(sim.time, 1);
    EXPECT_LT(scene.dynamics().drift(sim.q, sim.v).position, 1e-11) << name_of(integrator);
    if (integrator == Integrator::rk45) reference = sim.q;
    for (std::size_t i = 0; i < sim.q.size(); ++i)
      EXPECT_NEAR(sim.q[i], reference[i], tolerance) << name_of(integrator);
  }
}

TEST(ClosedSimulator, KeepsEnergyAndRestoresRowsToTheBit) {
  for (const Integrator integrator : {Integrator::rk4, Integrator::rk45}) {
    Scene scene = swinging_four_bar();
    Simulator sim(scene.dynamics(), integrator);
    sim.q = scene.q, sim.v = scene.v;
    Recorder recorder(sim);
    Recording r{recorder.columns(), {}, {}};
    std::vector<double> row(r.columns.size());
    for (int i = 0; i <= 200; ++i) {
      if (i) sim.advance(i * 0.001);
      recorder.row(row);
      r.numbers.insert(r.numbers.end(), row.begin(), row.end());
    }
    const auto change = r.values(r.find("energy_change"));
    for (const double x : change) EXPECT_LT(std::abs(x), 1e-6);
    EXPECT_GT(r.values(r.find("drift_corrected"))[100], 0);
    recorder.restore(r.row(0), r.row(100));
    for (int i = 101; i <= 200; ++i) {
      sim.advance(i * 0.001);
      recorder.row(row);
    }
    for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], r.row(200)[i]) << r.columns[i].name;
  }
}

TEST(ClosedSimulator, ForceElementsActAndErrorsLeaveTheState) {
  Scene scene = swinging_four_bar();
  Simulator sim(scene.dynamics());
  sim.q = scene.q, sim.v = scene.v;
  JointDampers dampers(scene.model(), std::vector<double>(scene.model().nv(), 1.0));
  sim.add(dampers);
  const double before = std::abs(sim.v[0]);
  for (int i = 0; i < 5000; ++i) sim.step(1e-3);
  EXPECT_LT(std::abs(sim.v[0]), 0.1 * before);
  // A step much too long: the loop cannot be closed again, or the motion runs away.
  sim.v[0] = 1e9;
  scene.dynamics().impulse(sim.q, sim.v, sim.v);
  const auto q = sim.q, v = sim.v;
  const double time = sim.time;
  EXPECT_THROW(sim.step(100), Error);
  EXPECT_EQ(sim.q, q);
  EXPECT_EQ(sim.v, v);
  EXPECT_EQ(sim.time, time);
  std::atomic<bool> stop{true};
  sim.watch.stop = &stop;
  EXPECT_THROW(sim.step(1e-3), StoppedError);
  EXPECT_EQ(sim.q, q);
  sim.q.pop_back();
  EXPECT_THROW(sim.step(1e-3), ArgumentError);
}

/// M a + C v + g - J_f* w = tau + J* lambda, J a = -J' v, as one dense system; least norm where rows are redundant.
std::vector<double> dense_acceleration(ConstrainedDynamics& closed, In<double> q, In<double> v,
                                       In<double> tau, Wrenches<double> wrenches) {
  const Model& model = closed.model();
  const int n = model.nv(), m = closed.rows();
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix M(n, n), J(m, n);
  Eigen::VectorXd bias(n), rate(m);
  MassMatrix<> mass(model);
  InverseDynamics<> inverse(model);
  mass_matrix(mass, q, {M.data(), std::size_t(M.size())});
  bias_forces(inverse, q, v, {bias.data(), std::size_t(n)}, wrenches);
  closed.jacobian(q, {J.data(), std::size_t(J.size())});
  closed.bias(q, v, {rate.data(), std::size_t(m)});
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = M;
  K.topRightCorner(n, m) = -J.transpose();
  K.bottomLeftCorner(m, n) = J;
  Eigen::VectorXd right(n + m);
  right << Eigen::Map<const Eigen::VectorXd>(tau.data(), n) - bias, -rate;
  const Eigen::VectorXd x = K.completeOrthogonalDecomposition().solve(right);
  return {x.data(), x.data() + n};
}

TEST(ClosedSimulator, EverythingActsAsInTheDenseEquations) {
  for (const char* name : {"four_bar", "two_arms", "slider_crank"}) {
    Scene scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/" + name + ".json"));
    const Model& model = scene.model();
    const std::size_t nv = model.nv();
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (double& x : scene.v) x = normal(random);
    scene.dynamics().impulse(scene.q, scene.v, scene.v);
    std::vector<double> kp(nv), kd(nv), d(nv), reference = scene.q;
    for (std::size_t i = 0; i < nv; ++i) kp[i] = 20 + normal(random), kd[i] = 3, d[i] = 0.5 + 0.1 * double(i);
    PdControl pd(model, {kp, kd}, Reference(model, reference), true);
    JointDampers dampers(model, d);
    DryFriction friction(model, std::vector<double>(nv, 0.3));
    TabulatedWrench push(model, model.frames().back().name, Table({0}, {0.3, -0.2, 0.1, 2, -1, 4}, 6));
    Simulator sim(scene.dynamics());
    sim.q = scene.q, sim.v = scene.v, sim.tau = scene.tau;
    sim.add(pd), sim.add(dampers), sim.add(friction), sim.add(push);
    std::vector<double> a(nv), tau = scene.tau;
    for (ForceElement* element : std::initializer_list<ForceElement*>{&pd, &dampers, &friction})
      element->add_forces(0, sim.q, sim.v, tau);
    Kinematics<> at(model);
    at.update(sim.q, sim.v);
    std::vector<Spatial<double>> wrenches(model.body_count(), {{0, 0, 0}, {0, 0, 0}});
    push.add_wrenches(0, at, wrenches);
    sim.acceleration(a);
    const auto expected = dense_acceleration(scene.dynamics(), sim.q, sim.v, tau, wrenches);
    double size = 0, off = 0;
    for (std::size_t i = 0; i < nv; ++i)
      size = std::max(size, std::abs(expected[i])), off = std::max(off, std::abs(a[i] - expected[i]));
    EXPECT_LT(off, 1e-10 * size) << name;
    EXPECT_GT(size, 0.1) << name;
  }
}

TEST(ClosedSimulator, DampersTakeTheEnergyThatTheyShould) {
  Scene scene = swinging_four_bar();
  const Model& model = scene.model();
  const double d = 0.4;
  JointDampers dampers(model, std::vector<double>(model.nv(), d));
  Simulator sim(scene.dynamics());
  sim.q = scene.q, sim.v = scene.v;
  sim.add(dampers);
  const auto energy = [&] { return sim.totals().kinetic + sim.totals().potential; };
  const auto rate = [&] {
    double sum = 0;
    for (const double x : sim.v) sum -= d * x * x;
    EXPECT_NEAR(sim.power(), sum, 1e-12 * std::abs(sum));
    return sum;
  };
  // Simpson's rule over what the dampers do.
  const double before = energy(), h = 5e-4;
  double work = 0;
  for (int i = 0; i < 500; ++i) {
    const double first = rate();
    sim.step(h);
    const double middle = rate();
    sim.step(h);
    work += h / 3 * (first + 4 * middle + rate());
  }
  EXPECT_LT(work, -0.1);
  EXPECT_NEAR(energy() - before, work, 1e-7 * std::abs(work));
}

TEST(ClosedSimulator, SampledControllersHoldAndRowsRestore) {
  Scene scene = swinging_four_bar();
  const Model& model = scene.model();
  const auto nv = std::size_t(model.nv());
  PdControl pd(model, {std::vector<double>(nv, 30), std::vector<double>(nv, 4)}, Reference(model, scene.q));
  Simulator sim(scene.dynamics());
  sim.q = scene.q, sim.v = scene.v;
  sim.add_sampled(pd, 0.01);
  Recorder recorder(sim);
  Recording r{recorder.columns(), {}, {}};
  std::vector<double> row(r.columns.size());
  for (int i = 0; i <= 100; ++i) {
    if (i) sim.advance(i * 0.003);
    recorder.row(row);
    r.numbers.insert(r.numbers.end(), row.begin(), row.end());
  }
  EXPECT_EQ(r.values(r.find("sample.0"))[99], 29);
  recorder.restore(r.row(0), r.row(50));
  for (int i = 51; i <= 100; ++i) sim.advance(i * 0.003), recorder.row(row);
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], r.row(100)[i]) << r.columns[i].name;
}

TEST(ClosedSimulator, VariationalStepsKeepTheEnergyInTheLongRun) {
  // At steps of 5 ms: halving them quarters the error, which does not grow with time.
  const auto worst = [](double h, double begin, double end) {
    Scene scene = swinging_four_bar();
    Simulator sim(scene.dynamics(), Integrator::variational);
    sim.q = scene.q, sim.v = scene.v;
    const double first = sim.totals().kinetic + sim.totals().potential;
    double found = 0;
    for (int i = 1; i * h <= end + h / 2; ++i) {
      sim.advance(i * h);
      const double now = sim.totals().kinetic + sim.totals().potential;
      if (sim.time > begin) found = std::max(found, std::abs(now - first));
    }
    EXPECT_LT(scene.dynamics().drift(sim.q, sim.v).position, 1e-11);
    EXPECT_LT(scene.dynamics().drift(sim.q, sim.v).velocity, 1e-10);
    return found / sim.totals().kinetic;
  };
  const double early = worst(5e-3, 0, 5), late = worst(5e-3, 45, 50), finer = worst(2.5e-3, 0, 5);
  printf("  energy error, 5 ms: %.2g in 5 s, %.2g at 50 s; 2.5 ms: %.2g\n", early, late, finer);
  EXPECT_LT(late, 1.5 * early);
  EXPECT_NEAR(early / finer, 4, 1);
}

TEST(ClosedSimulator, NoControllerDrivesWhatIsHeld) {
  Scene scene(read_scene(std::string(ARTICULA_SOURCE_DIR) + "/models/two_arms.json"));
  const Model& model = scene.model();
  const auto nv = std::size_t(model.nv()), first = std::size_t(scene.object(0).v);
  std::vector<double> away(scene.q.size());
  integrate(model, scene.q, std::vector<double>(nv, 0.1), away);
  const Gains gains{std::vector<double>(nv, 10), std::vector<double>(nv, 1)};
  PdControl pd(model, gains, Reference(model, away), true);
  ComputedTorque computed(model, gains, Reference(model, away));
  GravityCompensation compensation(model);
  OperationalSpaceControl frame(model, model.frames()[std::size_t(scene.object_frame(0)) - 1].name, {}, away);
  TaskListControl tasks(
      model, {{{.task = pose_task(model, model.frames()[std::size_t(scene.object_frame(0)) - 1].name)}}},
      away);
  EXPECT_THROW(DecoupledRateControl(model, gains.kd, gains.kd), ArgumentError);
  for (ForceElement* element :
       std::initializer_list<ForceElement*>{&pd, &computed, &compensation, &frame, &tasks}) {
    std::vector<double> tau(nv);
    element->add_forces(0, scene.q, scene.v, tau);
    double most = 0;
    for (std::size_t i = 0; i < nv; ++i) {
      if (i >= first && i < first + 6)
        EXPECT_EQ(tau[i], 0);
      else
        most = std::max(most, std::abs(tau[i]));
    }
    EXPECT_GT(most, 0.01);
  }
}

TEST(ClosedSimulator, VariationalIsForPositions) {
  Scene scene = swinging_four_bar();
  Constraint spin = weld("spin", {0, {}}, {1, {}});
  spin.fixed = {false, false, true, false, false, false};
  ConstrainedDynamics work(scene.model(), {spin});
  EXPECT_THROW(Simulator(work, Integrator::variational), ArgumentError);
  EXPECT_NO_THROW(Simulator(work, Integrator::midpoint));
}

}  // namespace
}  // namespace articula
