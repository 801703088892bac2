#include "articula/loops/closed_chain_inverse.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace {
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Vector to_vector(std::span<const double> x) {
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}
std::vector<double> to_std(const Vector& x) { return {x.data(), x.data() + x.size()}; }

Matrix jacobian_of(ConstrainedDynamics& work, In<double> q) {
  RowMajor J(work.rows(), work.model().nv());
  work.jacobian(q, {J.data(), static_cast<std::size_t>(J.size())});
  return J;
}
std::vector<Constraint> with_tasks(std::vector<Constraint> constraints, const std::vector<int>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    constraints.push_back(weld(fmt::format("wanted motion {}", i), {-1, {}}, {frames[i], {}}));
  return constraints;
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
  const Eigen::Index nv = model.nv(), rows = m.chain.rows();
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
  if (const double off =
          [&] {  // of the wanted rows too
            std::vector<double> J(static_cast<std::size_t>(m.driven.rows()) * nv), bias(m.driven.rows());
            m.driven.jacobian(q, J);
            m.driven.bias(q, v, bias);
            double most = 0;
            for (int r = 0; r < m.driven.rows(); ++r) {
              double sum = bias[r] - m.targets[r];
              for (Eigen::Index c = 0; c < nv; ++c) sum += J[r * nv + c] * m.a[c];
              most = std::max(most, std::abs(sum));
            }
            return most;
          }();
      !(off < 1e-6 * (1 + to_vector(m.targets).cwiseAbs().maxCoeff())))
    throw SingularError(
        fmt::format("closed chain inverse: the mechanism cannot move as wanted here (off by {:.3g}); it is "
                    "singular or has too few joints",
                    off));
  inverse_dynamics(m.inverse, q, v, m.a, m.forces, options.wrenches);
  // Forces: J* lambda carries what has no motor, the motors the rest.
  const Matrix J_star = jacobian_of(m.chain, q).transpose();
  std::vector<Eigen::Index> without, with;
  for (Eigen::Index i = 0; i < nv; ++i) (m.with_motor[i] ? with : without).push_back(i);
  const Vector F = to_vector(m.forces);
  m.loose = J_star(without, Eigen::all);
  Vector lambda = Vector::Zero(rows);
  const Eigen::CompleteOrthogonalDecomposition<Matrix> loose(m.loose);
  if (!without.empty() && rows > 0) lambda = loose.solve(F(without));
  const double missing = without.empty() ? 0 : (m.loose * lambda - F(without)).cwiseAbs().maxCoeff();
  if (!(missing <= 1e-8 * (1 + F.cwiseAbs().maxCoeff())))
    throw SingularError(
        fmt::format("closed chain inverse: freedoms without a motor would need a force of {:.3g} that the "
                    "constraints cannot give",
                    missing));
  if (rows > 0 && !options.internal.empty()) {
    const Vector squeeze = to_vector(options.internal);
    lambda += without.empty() ? squeeze : Vector(squeeze - loose.solve(m.loose * squeeze));
  }
  if (options.share == InverseOptions::Share::least_torques && rows > 0) {
    // lambda + N z, N spanning what moves nothing without a motor.
    Matrix N = Matrix::Identity(rows, rows);
    if (!without.empty()) {
      Eigen::FullPivLU<Matrix> kernel(m.loose);
      kernel.setThreshold(1e-10);
      N = kernel.dimensionOfKernel() > 0 ? Matrix(kernel.kernel()) : Matrix(rows, 0);
    }
    if (N.cols() > 0) {
      const Matrix J_with = J_star(with, Eigen::all);
      lambda += N * (J_with * N).completeOrthogonalDecomposition().solve(F(with) - J_with * lambda);
    }
  }
  const Vector T = F - J_star * lambda;
  for (Eigen::Index i = 0; i < nv; ++i) tau[i] = m.with_motor[i] ? T[i] : 0;
  m.multipliers = to_std(lambda);
}

std::vector<double> ClosedChainInverse::internal_part(In<double> multipliers) const {
  const Vector f = to_vector(multipliers);
  if (m_->loose.rows() == 0) return to_std(f);
  if (f.size() != m_->loose.cols())
    throw ArgumentError(
        fmt::format("internal_part: {} multipliers, expected {}", f.size(), m_->loose.cols()));
  return to_std(f - m_->loose.completeOrthogonalDecomposition().solve(m_->loose * f));
}

ForceSplit split_forces(ConstrainedDynamics& work, In<double> q, In<double> multipliers, int first_velocity,
                        int velocities) {
  if (first_velocity < 0 || velocities < 0 || first_velocity + velocities > work.model().nv())
    throw ArgumentError(fmt::format("split_forces: velocities {} to {} of {}", first_velocity,
                                    first_velocity + velocities, work.model().nv()));
  if (multipliers.size() != static_cast<std::size_t>(work.rows()))
    throw ArgumentError(
        fmt::format("split_forces: {} multipliers, expected {}", multipliers.size(), work.rows()));
  const Matrix G = jacobian_of(work, q).middleCols(first_velocity, velocities).transpose();
  const Vector f = to_vector(multipliers), motion = G.completeOrthogonalDecomposition().solve(G * f);
  return {to_std(motion), to_std(f - motion)};
}

Spatial<double> pose_feedback(const PoseReference& wanted, const Pose& pose, const Spatial<double>& velocity,
                              double stiffness, double damping) {
  const Vec3<double> turn = log_quaternion(quaternion(wanted.pose.R * star(pose.R)));
  const Spatial<double> error{turn, wanted.pose.p - pose.p}, rate = wanted.velocity - velocity;
  return wanted.acceleration + rate * damping + error * stiffness;
}

}  // namespace articula
