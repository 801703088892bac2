// Task-space dynamics as the textbook has them, MR9 (9.90)-(9.99): as many joints as task rows, J invertible.
// For study and for checks; it allocates and costs O(n^3).
#pragma once

#include "articula/dynamics/workspace.hpp"
#include "articula/task_space/task.hpp"

namespace articula {

/// F = Lambda V' + eta (9.97), tau = J* F; eta has Coriolis and gravity in one.
struct TextbookTaskSpace {
  std::vector<double> Lambda;  // (9.98): J^-* M J^-1, row by row
  std::vector<double> eta;     // (9.99): J^-* b - Lambda J' J^-1 V
};
/// Rows in world axes only. ArgumentError: J is not square; SingularError: it has no inverse.
TextbookTaskSpace textbook_task_space(const Model& model, const Task& task, In<double> q, In<double> v);

}  // namespace articula
