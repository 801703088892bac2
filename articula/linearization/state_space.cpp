#include "articula/linearization/state_space.hpp"

#include <Eigen/Core>

#include "articula/model/configuration.hpp"

namespace articula {

namespace {
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Read = Eigen::Map<const Matrix>;
using Write = Eigen::Map<Matrix>;

/// -(v x) on the velocities of one joint, added to a block of A: by which a perturbation of q turns against
/// v.
void subtract_cross(const Joint& joint, const double* v, Eigen::Ref<Matrix> A) {
  const int at = joint.v_index;
  const auto cross = [&](int row, int column, const double* w) {
    const double block[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) A(at + row + i, at + column + j) -= block[i][j];
  };
  switch (joint.kind) {
    case JointKind::spherical:
      cross(0, 0, v);
      break;
    case JointKind::free:
      cross(0, 0, v);
      cross(3, 3, v);
      cross(3, 0, v + 3);
      break;
    case JointKind::planar:  // (w, x, y)
      A(at + 1, at + 2) += v[0];
      A(at + 2, at + 1) -= v[0];
      A(at + 1, at) -= v[2];
      A(at + 2, at) += v[1];
      break;
    default:
      break;  // one axis: motions commute
  }
}
}  // namespace

StateSpace::StateSpace(const Model& model) : forward_(model) {
  const std::size_t nv = model.nv();
  for (auto* m : {&dq_, &dv_, &dtau_, &Jq_, &Jv_}) m->resize(nv * nv);
  motion_.resize(nv);
  a_.resize(nv);
}

void StateSpace::linearize(const char* function, In<double> q, In<double> v, In<double> tau, std::size_t A,
                           std::size_t B, const LinearizationOptions<double>& options) {
  const std::size_t nv = model().nv();
  if (A != 4 * nv * nv || B != 2 * nv * nv)
    throw ArgumentError(std::string(function) + ": A has " + std::to_string(A) + " and B " +
                        std::to_string(B) + " numbers, model '" + model().name() + "' needs " +
                        std::to_string(4 * nv * nv) + " and " + std::to_string(2 * nv * nv));
  linearized_forward(forward_, q, v, tau, dq_, dv_, dtau_, options);
  forward_.acceleration(a_);
}

void StateSpace::continuous(In<double> q, In<double> v, In<double> tau, Out<double> A, Out<double> B,
                            const LinearizationOptions<double>& options) {
  linearize("continuous_state_space", q, v, tau, A.size(), B.size(), options);
  const int nv = model().nv();
  Write a(A.data(), 2 * nv, 2 * nv), b(B.data(), 2 * nv, nv);
  a.topLeftCorner(nv, nv).setZero();
  a.topRightCorner(nv, nv).setIdentity();
  a.bottomLeftCorner(nv, nv) = Read(dq_.data(), nv, nv);
  a.bottomRightCorner(nv, nv) = Read(dv_.data(), nv, nv);
  b.topRows(nv).setZero();
  b.bottomRows(nv) = Read(dtau_.data(), nv, nv);
  for (const Joint& joint : model().joints())
    if (joint.mimics < 0) subtract_cross(joint, v.data() + joint.v_index, a);
}

void StateSpace::discrete(In<double> q, In<double> v, In<double> tau, double h, Integrator integrator,
                          Out<double> A, Out<double> B, Out<double> q_next, Out<double> v_next,
                          const LinearizationOptions<double>& options) {
  if (integrator != Integrator::euler && integrator != Integrator::symplectic_euler)
    throw ArgumentError("discrete_state_space: the integrator is " + std::string(name_of(integrator)) +
                        ", expected euler or symplectic_euler");
  linearize("discrete_state_space", q, v, tau, A.size(), B.size(), options);
  const int nv = model().nv();
  if (v_next.size() != static_cast<std::size_t>(nv))
    throw ArgumentError("discrete_state_space: v_next has " + std::to_string(v_next.size()) +
                        " numbers, model '" + model().name() + "' needs " + std::to_string(nv));
  for (int i = 0; i < nv; ++i) {
    const double next = v[i] + h * a_[i];
    motion_[i] = h * (integrator == Integrator::euler ? v[i] : next);
    v_next[i] = next;
  }
  integrate_dq(model(), motion_, Jq_);
  integrate_dv(model(), motion_, Jv_);
  integrate(model(), q, motion_, q_next);
  const Read a_q(dq_.data(), nv, nv), a_v(dv_.data(), nv, nv), a_tau(dtau_.data(), nv, nv),
      Jq(Jq_.data(), nv, nv), Jv(Jv_.data(), nv, nv);
  Write a(A.data(), 2 * nv, 2 * nv), b(B.data(), 2 * nv, nv);
  a.bottomLeftCorner(nv, nv) = h * a_q;
  a.bottomRightCorner(nv, nv) = h * a_v;
  a.bottomRightCorner(nv, nv).diagonal().array() += 1;
  b.bottomRows(nv) = h * a_tau;
  a.topLeftCorner(nv, nv) = Jq;
  a.topRightCorner(nv, nv) = h * Jv;
  b.topRows(nv).setZero();
  if (integrator != Integrator::symplectic_euler) return;
  for (const Joint& joint : model().joints()) {  // q moves along v_next; J is block diagonal
    if (joint.mimics >= 0) continue;
    const int at = joint.v_index, m = joint.nv;
    const auto J = Jv.block(at, at, m, m);
    a.block(at, 0, m, nv).noalias() += h * J.lazyProduct(a.block(nv + at, 0, m, nv));
    a.block(at, nv, m, nv).noalias() = h * J.lazyProduct(a.block(nv + at, nv, m, nv));
    b.middleRows(at, m).noalias() = h * J.lazyProduct(b.middleRows(nv + at, m));
  }
}

}  // namespace articula
