#include "articula/task_space/textbook_task_space.hpp"

#include <fmt/format.h>

#include <Eigen/LU>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"

namespace articula {

TextbookTaskSpace textbook_task_space(const Model& model, const Task& task, In<double> q, In<double> v) {
  check_task(model, task, 0);
  const int n = model.nv();
  if (task.axes != Task::world_axes || static_cast<int>(task.rows.size()) != n)
    throw ArgumentError(fmt::format(
        "textbook_task_space: {} rows in {} axes for {} velocities of model '{}'; J must be square, in world "
        "axes",
        task.rows.size(), task.axes == Task::world_axes ? "world" : "a frame's", n, model.name()));
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>> rows(task.rows[0].data(),
                                                                                         n, 6);
  Kinematics<> kinematics(model);
  kinematics.update(q, v);
  std::vector<double> numbers(6 * static_cast<std::size_t>(n));
  kinematics.jacobian(task.frame, numbers);
  const Spatial<double> bias = kinematics.acceleration(task.frame);
  const Matrix J = rows * Eigen::Map<const Matrix>(numbers.data(), 6, n);
  const Eigen::VectorXd J_dot_v = rows * Eigen::Map<const Eigen::Matrix<double, 6, 1>>(&bias.w.x);
  const Eigen::FullPivLU<Matrix> lu(J);
  if (!lu.isInvertible())
    throw SingularError(fmt::format("textbook_task_space: J of frame '{}' has rank {} of {}",
                                    model.frames()[task.frame].name, lu.rank(), n));
  const Matrix J_inverse = lu.inverse();
  const auto mass = mass_matrix(model, q);
  const auto b = articula::bias_forces(model, q, v);
  TextbookTaskSpace out;
  const Matrix Lambda =
      J_inverse.transpose() * Eigen::Map<const Matrix>(mass.data(), n, n) * J_inverse;  // (9.98)
  const Eigen::VectorXd eta =
      J_inverse.transpose() * Eigen::Map<const Eigen::VectorXd>(b.data(), n) - Lambda * J_dot_v;  // (9.99)
  out.Lambda.assign(Lambda.data(), Lambda.data() + Lambda.size());
  out.eta.assign(eta.data(), eta.data() + eta.size());
  return out;
}

}  // namespace articula
