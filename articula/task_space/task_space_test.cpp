// Operational space against dense M, J and the definitions, in long double.
#include "articula/task_space/task_space.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/cases.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// A few tasks on random frames, with random rows in random axes.
std::vector<Task> random_tasks(Rng& rng, const Model& model, int count) {
  std::vector<Task> tasks;
  const int frames = static_cast<int>(model.frames().size());
  for (int i = 0; i < count; ++i) {
    Task task;
    task.frame = rng.integer(0, frames - 1);
    if (rng.chance(0.5)) task.axes = rng.integer(0, frames - 1);
    const int kind = rng.integer(0, 2), rows = kind == 0 ? 6 : rng.integer(1, 4);
    for (int r = 0; r < rows; ++r) {
      task.rows.push_back({});
      if (kind < 2)
        task.rows.back()[kind == 0 ? r : (r + 3) % 6] = 1;
      else
        for (double& x : task.rows.back()) x = rng.uniform();
    }
    tasks.push_back(task);
  }
  return tasks;
}

/// J (rows x nv) and J' v of tasks by the definitions: rows in axes R_A, y' = rows R_A* V, all from the dense
/// oracle.
struct DenseTasks {
  LongMatrix J;
  LongVector bias;
};
DenseTasks dense_tasks(const DenseDynamics& dense, const Model& model, const std::vector<Task>& tasks) {
  int rows = 0;
  for (const Task& task : tasks) rows += static_cast<int>(task.rows.size());
  DenseTasks out{LongMatrix::Zero(rows, dense.nv), LongVector::Zero(rows)};
  int at = 0;
  for (const Task& task : tasks) {
    const DenseFrame f = dense.frame(model.frames()[task.frame].name);
    Long33 R = Long33::Identity();
    Long3 w = Long3::Zero();
    if (task.axes != Task::world_axes) {
      const DenseFrame axes = dense.frame(model.frames()[task.axes].name);
      R = axes.R;
      w = axes.velocity.head(3);
    }
    const Long3 a_w = f.acceleration.head(3) - w.cross(Long3(f.velocity.head(3)));
    const Long3 a_v = f.acceleration.tail(3) - w.cross(Long3(f.velocity.tail(3)));
    for (const auto& row : task.rows) {
      const Long3 x = R * Long3(row[0], row[1], row[2]), y = R * Long3(row[3], row[4], row[5]);
      out.J.row(at) = x.transpose() * f.jacobian.topRows(3) + y.transpose() * f.jacobian.bottomRows(3);
      out.bias[at] = x.dot(a_w) + y.dot(a_v);
      ++at;
    }
  }
  return out;
}

std::vector<double> product(const LongMatrix& m, const std::vector<double>& x) {
  LongVector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i];
  return to_std(LongVector(m * y));
}

TEST(TaskSpace, DefinitionsOnEveryCase) {
  Worst worst_omega("Omega"), worst_bias("Omega c, Omega g"), worst_products("products");
  int checked = 0;
  for_each_case([&](const Case& c) {
    const Model& model = c.model;
    if (model.nv() == 0) return;
    Rng rng(checked++);
    const auto tasks = random_tasks(rng, model, rng.integer(1, 4));
    TaskSpace space(model, tasks);
    space.update(c.state.q, c.state.v);
    DenseDynamics dense = c.dense;
    dense.update(c.state.q, c.state.v);  // accelerations zero: frames' are J' v
    const DenseTasks d = dense_tasks(dense, model, tasks);
    const int rows = space.rows(), nv = model.nv();
    ASSERT_EQ(d.J.rows(), rows);
    const LongMatrix M_inverse = dense.inverse_mass_matrix(), X = M_inverse * d.J.transpose();
    const LongMatrix Omega = d.J * X;
    std::vector<double> square(rows * rows), y(rows), z(rows), tau(nv), matrix(rows * nv);
    const double scale = std::max(1e-6, double(Omega.cwiseAbs().maxCoeff()));
    space.omega(square);
    EXPECT_LT(worst_omega(relative_error(square, to_std(Omega), 1e-6)), 1e-10);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < i; ++j) EXPECT_EQ(square[i * rows + j], square[j * rows + i]);

    // c and g by themselves: Omega c = J M^-1 C v - J' v, Omega g = J M^-1 G
    const LongVector G = X.transpose() * dense.gravity,
                     C = X.transpose() * (dense.bias - dense.gravity) - d.bias;
    const double a_scale = 1 + double(G.cwiseAbs().maxCoeff() + C.cwiseAbs().maxCoeff());
    space.free_acceleration(y);
    EXPECT_LT(worst_bias(relative_error(y, to_std(LongVector(-G - C)), a_scale)), 1e-10);
    space.bias_acceleration(y);
    EXPECT_LT(relative_error(y, to_std(d.bias), 1), 1e-10);
    TaskSpace still(model, tasks);
    still.update(c.state.q);
    still.free_acceleration(y);
    EXPECT_LT(worst_bias(relative_error(y, to_std(LongVector(-G)), a_scale)), 1e-10);
    still.omega(square);
    EXPECT_LT(relative_error(square, to_std(Omega), 1e-6), 1e-10);

    // products
    const auto v = random_vector(rng, nv), F = random_vector(rng, rows), T = random_vector(rng, nv);
    space.jacobian(matrix);
    EXPECT_LT(worst_products(relative_error(matrix, to_std(d.J), 1)), 1e-10);
    space.times_jacobian(v, y);
    EXPECT_LT(worst_products(relative_error(y, product(d.J, v), 1)), 1e-10);
    space.times_jacobian_star(F, tau);
    EXPECT_LT(worst_products(relative_error(tau, product(d.J.transpose(), F), 1)), 1e-10);
    space.acceleration_of(T, y);
    const double X_scale = std::max(1.0, double(X.cwiseAbs().maxCoeff()));
    EXPECT_LT(worst_products(relative_error(y, product(X.transpose(), T), X_scale)), 1e-10);
    space.times_omega(F, y);
    EXPECT_LT(relative_error(y, product(Omega, F), scale), 1e-10);
    space.velocity(y);
    EXPECT_LT(relative_error(y, product(d.J, c.state.v), 1), 1e-10);

    // the whole model
    space.bias_forces(tau);
    EXPECT_LT(relative_error(tau, to_std(dense.bias), 1), 1e-10);
    space.gravity_forces(tau);
    EXPECT_LT(relative_error(tau, to_std(dense.gravity), 1), 1e-10);
    space.times_mass(v, tau);
    EXPECT_LT(relative_error(tau, product(dense.mass_matrix, v), 1), 1e-10);
    for (int i = 0; i < space.task_count(); ++i) {
      const DenseFrame f = dense.frame(model.frames()[tasks[i].frame].name);
      const auto pose = space.pose(i);
      EXPECT_LT((f.p - Long3(pose.position.x, pose.position.y, pose.position.z)).norm(), 1e-12);
      EXPECT_LT(std::abs(double(f.R(0, 1)) - pose.rotation.xy), 1e-12);
      const auto V = space.frame_velocity(i);
      EXPECT_LT((f.velocity - Eigen::Map<const Eigen::Matrix<double, 6, 1>>(&V.w.x).cast<Long>()).norm(),
                1e-10);
    }
  });
  EXPECT_GT(checked, 100);
}

/// Lambda, c, g, Jbar, N where the tasks are well conditioned: what they must equal.
TEST(TaskSpace, InversesWhereTheyExist) {
  Worst worst("Lambda, Jbar, N");
  int checked = 0, number = 0;
  for_each_case([&](const Case& c) {
    const Model& model = c.model;
    Rng rng(1000 + number++);
    const auto tasks = random_tasks(rng, model, 1 + number % 2);
    TaskSpace space(model, tasks);
    const int rows = space.rows(), nv = model.nv();
    if (nv < rows) return;
    space.update(c.state.q, c.state.v);
    DenseDynamics dense = c.dense;
    dense.update(c.state.q, c.state.v);
    const DenseTasks d = dense_tasks(dense, model, tasks);
    const LongMatrix X = dense.inverse_mass_matrix() * d.J.transpose(), Omega = d.J * X;
    const Eigen::SelfAdjointEigenSolver<LongMatrix> eigen(Omega);
    if (!(eigen.eigenvalues()[0] > 1e-5 * eigen.eigenvalues()[rows - 1])) return;
    ++checked;
    EXPECT_EQ(space.rank(), rows);
    EXPECT_TRUE(space.exact());
    const LongMatrix Lambda = Omega.inverse(), Jbar = X * Lambda;
    const LongMatrix N = LongMatrix::Identity(nv, nv) - d.J.transpose() * Jbar.transpose();
    std::vector<double> square(rows * rows), y(rows), z(rows), matrix(rows * nv), big(nv * nv), x(nv);
    // the inverse of a number with condition 1e5 has lost five digits of sixteen
    space.lambda(square);
    EXPECT_LT(worst(relative_error(square, to_std(Lambda))), 1e-10);
    space.jacobian_bar(matrix);
    EXPECT_LT(worst(relative_error(matrix, to_std(Jbar))), 1e-10);
    space.null_space(big);
    EXPECT_LT(worst(relative_error(big, to_std(N), 1)), 1e-9);
    space.coriolis(y);
    EXPECT_LT(
        relative_error(
            y, to_std(LongVector(Lambda * (X.transpose() * (dense.bias - dense.gravity) - d.bias))), 1e-3),
        1e-9);
    space.gravity(y);
    EXPECT_LT(relative_error(y, to_std(LongVector(Lambda * (X.transpose() * dense.gravity))), 1e-3), 1e-9);
    // as products
    const auto T = random_vector(rng, nv), u = random_vector(rng, rows);
    space.project_forces(T, x);
    EXPECT_LT(relative_error(x, product(N, T), 1), 1e-9);
    space.project_velocities(T, x);
    EXPECT_LT(relative_error(x, product(N.transpose(), T), 1), 1e-9);
    space.times_jacobian_bar(u, x);
    EXPECT_LT(relative_error(x, product(Jbar, u)), 1e-9);
    space.times_jacobian_bar_star(T, y);
    EXPECT_LT(relative_error(y, product(Jbar.transpose(), T)), 1e-9);
    // F = Lambda u + c + g gives y'' = u (OSC 4)
    space.motion_force(u, y);
    space.times_jacobian_star(y, x);
    ForwardDynamics<> forward(model);
    std::vector<double> a(nv);
    forward_dynamics(forward, c.state.q, c.state.v, x, a);
    space.times_jacobian(a, y);
    space.bias_acceleration(z);
    for (int i = 0; i < rows; ++i) y[i] += z[i];
    const double moved = 1 + largest(a);
    EXPECT_LT(relative_error(y, u, moved), 1e-10);
  });
  EXPECT_GT(checked, 40);
}

TEST(TaskSpace, FarFromTheOriginAndHeavyRatios) {
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = 8;
    options.mass_ratio = 1e6;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = Base::free});
    State s = random_state(rng, model);
    s.q[4] += 1000, s.q[5] -= 700;
    DenseDynamics dense(spec, Base::free);
    dense.update(s.q, s.v);
    const auto tasks = random_tasks(rng, model, 3);
    const DenseTasks d = dense_tasks(dense, model, tasks);
    const LongMatrix X = dense.inverse_mass_matrix() * d.J.transpose();
    TaskSpace space(model, tasks);
    space.update(s.q, s.v);
    std::vector<double> square(space.rows() * space.rows()), y(space.rows());
    space.omega(square);
    EXPECT_LT(relative_error(square, to_std(LongMatrix(d.J * X)), 1e-6), 1e-9);
    space.free_acceleration(y);
    EXPECT_LT(relative_error(y, to_std(LongVector(d.bias - X.transpose() * dense.bias)), 10), 1e-9);
  }
}

TEST(TaskSpace, Moves) {
  Rng rng(4);
  const Model model(random_spec(rng, {.links = 9}), {.base = Base::free});
  const State s = random_state(rng, model);
  const auto tasks = random_tasks(rng, model, 3);
  TaskSpace first(model, tasks);
  first.update(s.q, s.v);
  std::vector<double> a(first.rows() * first.rows()), b(a.size());
  first.lambda(a);
  TaskSpace second(std::move(first));
  second.lambda(b);
  EXPECT_EQ(a, b);
  second.update(s.q);
  second.omega(a);
  TaskSpace third(model, tasks[0]);
  third = std::move(second);
  third.update(s.q);
  third.omega(b);
  EXPECT_EQ(a, b);
  EXPECT_FALSE(third.rank_report().words.empty());
}

TEST(TaskSpace, AgreesWithTheMassFactorsFrames) {
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Model model(random_spec(rng, {.links = 20}), {.base = seed % 2 ? Base::free : Base::fixed});
    const auto q = random_configuration(rng, model);
    std::vector<Task> tasks;
    std::vector<int> frames;
    for (int i = 0; i < 5; ++i) {
      const int f = rng.integer(0, static_cast<int>(model.frames().size()) - 1);
      if (std::find(frames.begin(), frames.end(), f) != frames.end()) continue;
      frames.push_back(f);
      tasks.push_back(pose_task(model, model.frames()[f].name));
    }
    TaskSpace space(model, tasks);
    space.update(q);
    MassFactor<> factor(model);
    factor.factor(q);
    std::vector<double> a(36 * frames.size() * frames.size()), b(a.size());
    space.omega(a);
    factor.frame_inertia_inverse(frames, b);
    EXPECT_LT(relative_error(a, b, 1e-6), 1e-10);
  }
}

}  // namespace
}  // namespace articula
