#include "articula/loops/constrained_operational_space.hpp"

#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

ConstrainedTaskTerms constrained_operational_space(ConstrainedDynamics& work, In<double> q, In<double> v,
                                                   std::span<const int> frames,
                                                   const SingularityOptions& options) {
  using dense::Matrix;
  const Model& model = work.model();
  const int nv = model.nv(), rows = 6 * static_cast<int>(frames.size());
  std::vector<double> zero(nv), moving(nv), still(nv), a(nv), tau(nv);
  Kinematics<> kinematics(model);
  kinematics.update(q, v, zero);
  Matrix J(rows, nv), A_J(nv, rows), bias(rows, 1);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int at = 6 * static_cast<int>(i);
    kinematics.jacobian(frames[i],
                        J.numbers().subspan(static_cast<std::size_t>(at) * nv, 6 * std::size_t(nv)));
    bias.part(at, 6) = dense::column(kinematics.acceleration(frames[i]));  // J' v
  }
  // Accelerations are affine in tau: what a row's force adds to those without any.
  work.acceleration(q, v, zero, moving);
  work.acceleration(q, zero, zero, still);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < nv; ++i) tau[i] = J(r, i);
    work.acceleration(q, zero, tau, a);
    for (int i = 0; i < nv; ++i) A_J(i, r) = a[i] - still[i];
  }
  const Matrix omega = dense::symmetric_part(J * A_J);
  RankSolve solve(rows);
  solve.solve(omega.numbers().data(), options);
  const Matrix lambda = dense::view(solve.inverse(), rows, rows);
  const Matrix at_rest = J * dense::view(still), in_motion = J * dense::view(moving) + bias;
  const auto numbers = [](const Matrix& x) {
    return std::vector<double>(x.numbers().begin(), x.numbers().end());
  };
  return {rows,
          solve.rank(),
          numbers(omega),
          numbers(lambda),
          numbers(lambda * (at_rest - in_motion)),
          numbers(-(lambda * at_rest)),
          numbers(A_J * lambda)};
}

}  // namespace articula
