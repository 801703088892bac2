#include "articula/loops/closed_chain_inverse.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/finite.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace {
using dense::least_norm_solution, dense::Matrix, dense::View;

std::vector<double> stored(const Matrix& x) { return {x.numbers().begin(), x.numbers().end()}; }

Matrix jacobian_of(ConstrainedDynamics& work, In<double> q) {
  Matrix J(work.rows(), work.model().nv());
  work.jacobian(q, J.numbers());
  return J;
}
/// What of x a force along A's rows could do: A+ A x.
Matrix projected(const View& A, const View& x) { return least_norm_solution(A, A * x); }
std::vector<Constraint> with_tasks(std::vector<Constraint> constraints, const std::vector<int>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    constraints.push_back(weld(fmt::format("wanted motion {}", i), {-1, {}}, {frames[i], {}}));
  return constraints;
}
void require_finite(bool finite) {
  if (!finite) throw ArgumentError("closed chain inverse: the arguments are not finite numbers");
}
}  // namespace

std::vector<bool> motors(const Model& model) {
  std::vector<bool> out(model.nv(), true);
  for (const Joint& joint : model.joints())
    if (joint.kind == JointKind::free)
      for (int i = 0; i < joint.nv; ++i) out[joint.v_index + i] = false;
  return out;
}

struct ClosedChainInverse::Memory {
  Memory(const Model& model, const std::vector<Constraint>& constraints, const std::vector<int>& frames)
      : chain(model, constraints),
        driven(model, with_tasks(constraints, frames)),
        inverse(model),
        tasks(frames.size()) {}
  ConstrainedDynamics chain, driven;
  InverseDynamics<> inverse;
  std::size_t tasks;
  std::vector<bool> with_motor;
  std::vector<double> a, bias, forces, multipliers, targets;
  Matrix loose;  // J* of the velocities without a motor

  /// By how much accelerations `a` miss the targets, of the wanted rows too.
  double row_error(In<double> q, In<double> v) {
    Matrix error(driven.rows(), 1);
    driven.bias(q, v, error.numbers());
    error += jacobian_of(driven, q) * dense::view(a);
    return largest(error - dense::view(targets));
  }
  Matrix shared_forces(const Matrix& J_star, const InverseOptions& options);
};

ClosedChainInverse::ClosedChainInverse(const Model& model, std::vector<Constraint> constraints,
                                       std::vector<int> frames, std::vector<bool> with_motor)
    : m_(std::make_unique<Memory>(model, constraints, frames)) {
  if (with_motor.size() != static_cast<std::size_t>(model.nv()))
    throw ArgumentError(
        fmt::format("closed chain inverse: with_motor has {} entries, model '{}' has {} velocities",
                    with_motor.size(), model.name(), model.nv()));
  m_->with_motor = std::move(with_motor);
  m_->a.resize(model.nv());
  m_->bias.resize(model.nv());
  m_->forces.resize(model.nv());
  m_->targets.resize(m_->driven.rows());
}
ClosedChainInverse::~ClosedChainInverse() = default;
ConstrainedDynamics& ClosedChainInverse::chain() { return m_->chain; }
std::span<const double> ClosedChainInverse::acceleration() const { return m_->a; }
std::span<const double> ClosedChainInverse::multipliers() const { return m_->multipliers; }

void ClosedChainInverse::compute(In<double> q, In<double> v, std::span<const Spatial<double>> wanted,
                                 Out<double> tau, const InverseOptions& options) {
  Memory& m = *m_;
  const Model& model = m.chain.model();
  const int nv = model.nv(), rows = m.chain.rows();
  if (wanted.size() != m.tasks)
    throw ArgumentError(
        fmt::format("closed chain inverse: {} accelerations for {} frames", wanted.size(), m.tasks));
  if (tau.size() != static_cast<std::size_t>(nv))
    throw ArgumentError(fmt::format("closed chain inverse: tau has {} numbers, expected {}", tau.size(), nv));
  if (!options.internal.empty() && options.internal.size() != static_cast<std::size_t>(rows))
    throw ArgumentError(
        fmt::format("closed chain inverse: {} internal forces for {} rows", options.internal.size(), rows));
  // The motion: all rows and the wanted ones, from a mechanism whose own forces are cancelled.
  bias_forces(m.inverse, q, v, m.bias);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (int r = 0; r < 6; ++r) m.targets[rows + 6 * i + r] = numbers_of(wanted[i])[r];
  m.driven.set_targets(m.targets);
  m.driven.acceleration(q, v, m.bias, m.a);
  if (const double off = m.row_error(q, v); !(off < 1e-6 * (1 + largest(dense::view(m.targets))))) {
    require_finite(are_finite(q, v, m.targets));
    throw SingularError(
        fmt::format("closed chain inverse: the mechanism cannot move as wanted here (off by {:.3g}); it is "
                    "singular or has too few joints",
                    off));
  }
  inverse_dynamics(m.inverse, q, v, m.a, m.forces, options.wrenches);
  // Forces: J* lambda carries what has no motor, the motors the rest.
  const Matrix J_star = star(jacobian_of(m.chain, q));
  const Matrix lambda = m.shared_forces(J_star, options);
  const Matrix T = dense::view(m.forces) - J_star * lambda;
  for (int i = 0; i < nv; ++i) tau[i] = m.with_motor[i] ? T[i] : 0;
  m.multipliers = stored(lambda);
}

/// lambda, with J* lambda = forces where there is no motor.
Matrix ClosedChainInverse::Memory::shared_forces(const Matrix& J_star, const InverseOptions& options) {
  const int rows = J_star.columns();
  std::vector<int> without, with;
  for (int i = 0; i < J_star.rows(); ++i) (with_motor[i] ? with : without).push_back(i);
  const View F = dense::view(forces);
  const Matrix carried = rows_of(F, without);
  loose = rows_of(J_star, without);
  Matrix lambda(rows, 1);
  if (!without.empty() && rows > 0) lambda = least_norm_solution(loose, carried);
  const double missing = largest(loose * lambda - carried);
  if (!(missing <= 1e-8 * (1 + largest(F)))) {
    require_finite(are_finite(forces));
    throw SingularError(
        fmt::format("closed chain inverse: freedoms without a motor would need a force of {:.3g} that the "
                    "constraints cannot give",
                    missing));
  }
  if (rows > 0 && !options.internal.empty()) {
    const View squeeze = dense::view(options.internal);
    lambda += squeeze;
    if (!without.empty()) lambda -= projected(loose, squeeze);
  }
  if (options.share == InverseOptions::Share::least_torques && rows > 0) {
    // lambda + N z, N spanning what moves nothing without a motor.
    const Matrix N = without.empty() ? Matrix::identity(rows) : dense::kernel(loose, 1e-10);
    const Matrix J_with = rows_of(J_star, with);
    if (N.columns() > 0 && !with.empty())
      lambda += N * least_norm_solution(J_with * N, rows_of(F, with) - J_with * lambda);
  }
  return lambda;
}

std::vector<double> ClosedChainInverse::internal_part(In<double> multipliers) const {
  const View f = dense::view(multipliers);
  if (m_->loose.rows() == 0) return stored(f);
  if (f.rows != m_->loose.columns())
    throw ArgumentError(
        fmt::format("internal_part: {} multipliers, expected {}", f.rows, m_->loose.columns()));
  return stored(f - projected(m_->loose, f));
}

ForceSplit split_forces(ConstrainedDynamics& work, In<double> q, In<double> multipliers, int first_velocity,
                        int velocities) {
  if (first_velocity < 0 || velocities < 0 || first_velocity + velocities > work.model().nv())
    throw ArgumentError(fmt::format("split_forces: velocities {} to {} of {}", first_velocity,
                                    first_velocity + velocities, work.model().nv()));
  if (multipliers.size() != static_cast<std::size_t>(work.rows()))
    throw ArgumentError(
        fmt::format("split_forces: {} multipliers, expected {}", multipliers.size(), work.rows()));
  const Matrix J = jacobian_of(work, q);
  const View f = dense::view(multipliers);
  const Matrix motion = projected(star(J.block(0, first_velocity, J.rows(), velocities)), f);
  return {stored(motion), stored(f - motion)};
}

Spatial<double> pose_feedback(const PoseReference& wanted, const Pose& pose, const Spatial<double>& velocity,
                              double stiffness, double damping) {
  const Vec3<double> turn = log_quaternion(quaternion(wanted.pose.R * star(pose.R)));
  const Spatial<double> error{turn, wanted.pose.p - pose.p}, rate = wanted.velocity - velocity;
  return wanted.acceleration + rate * damping + error * stiffness;
}

}  // namespace articula
