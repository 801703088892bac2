#include "articula/task_space/textbook_task_space.hpp"

#include <fmt/format.h>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/finite.hpp"

namespace articula {

TextbookTaskSpace textbook_task_space(const Model& model, const Task& task, In<double> q, In<double> v) {
  check_task(model, task, 0);
  const int n = model.nv();
  if (task.axes != Task::world_axes || static_cast<int>(task.rows.size()) != n)
    throw ArgumentError(fmt::format(
        "textbook_task_space: {} rows in {} axes for {} velocities of model '{}'; J must be square, in world "
        "axes",
        task.rows.size(), task.axes == Task::world_axes ? "world" : "a frame's", n, model.name()));
  using dense::Matrix, dense::view;
  const dense::View rows = view({task.rows[0].data(), static_cast<std::size_t>(6 * n)}, n, 6);
  Kinematics<> kinematics(model);
  kinematics.update(q, v);
  std::vector<double> numbers(6 * static_cast<std::size_t>(n));
  kinematics.jacobian(task.frame, numbers);
  const Spatial<double> bias = kinematics.acceleration(task.frame);
  const Matrix J = rows * view(numbers, 6, n), J_dot_v = rows * dense::column(bias);
  if (const int rank = dense::PivotedQR(J).rank(); rank < n) {
    if (!are_finite(q, v)) throw ArgumentError("textbook_task_space: q or v has numbers that are not finite");
    throw SingularError(fmt::format("textbook_task_space: J of frame '{}' has rank {} of {}",
                                    model.frames()[task.frame].name, rank, n));
  }
  const Matrix J_inverse = dense::LU(J).inverse();
  const auto mass = mass_matrix(model, q);
  const auto b = articula::bias_forces(model, q, v);
  TextbookTaskSpace out;
  const Matrix Lambda = star(J_inverse) * view(mass, n, n) * J_inverse;  // (9.98)
  const Matrix eta = star(J_inverse) * view(b) - Lambda * J_dot_v;       // (9.99)
  out.Lambda.assign(Lambda.numbers().begin(), Lambda.numbers().end());
  out.eta.assign(eta.numbers().begin(), eta.numbers().end());
  return out;
}

}  // namespace articula
