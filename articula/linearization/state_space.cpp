#include "articula/linearization/state_space.hpp"

#include "articula/model/configuration.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

namespace {
using dense::view, dense::View;

/// -(v x) on the velocities of one joint, added to a block of A: by which a perturbation of q turns against
/// v.
void subtract_cross(const Joint& joint, const double* v, dense::Part A) {
  const int at = joint.v_index;
  const auto cross = [&](int row, int column, const double* w) {
    const double block[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) A(at + row + i, at + column + j) -= block[i][j];
  };
  switch (chart_of(joint.kind)) {
    case Chart::rotation:
      cross(0, 0, v);
      break;
    case Chart::motion:
      cross(0, 0, v);
      cross(3, 3, v);
      cross(3, 0, v + 3);
      break;
    case Chart::plane:  // (w, x, y)
      A(at + 1, at + 2) += v[0];
      A(at + 2, at + 1) -= v[0];
      A(at + 1, at) -= v[2];
      A(at + 2, at) += v[1];
      break;
    case Chart::adds:
      break;  // motions commute
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
  dense::Part a(A, 2 * nv, 2 * nv), b(B, 2 * nv, nv);
  std::fill_n(A.begin(), 2 * nv * nv, 0.0);
  std::fill_n(B.begin(), nv * nv, 0.0);
  for (int i = 0; i < nv; ++i) a(i, nv + i) = 1;
  a.block(nv, 0, nv, nv) = view(dq_, nv, nv);
  a.block(nv, nv, nv, nv) = view(dv_, nv, nv);
  b.block(nv, 0, nv, nv) = view(dtau_, nv, nv);
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
  const View Jv = view(Jv_, nv, nv);
  dense::Part a(A, 2 * nv, 2 * nv), b(B, 2 * nv, nv);
  a.block(nv, 0, nv, nv) = view(dq_, nv, nv);
  a.block(nv, nv, nv, nv) = view(dv_, nv, nv);
  a.block(nv, 0, nv, 2 * nv) *= h;
  for (int i = 0; i < nv; ++i) a(nv + i, nv + i) += 1;
  b.block(nv, 0, nv, nv) = view(dtau_, nv, nv);
  b.block(nv, 0, nv, nv) *= h;
  a.block(0, 0, nv, nv) = view(Jq_, nv, nv);
  a.block(0, nv, nv, nv) = Jv;
  a.block(0, nv, nv, nv) *= integrator == Integrator::euler ? h : 0;
  std::fill_n(B.begin(), nv * nv, 0.0);
  if (integrator != Integrator::symplectic_euler) return;
  for (const Joint& joint : model().joints()) {  // q moves along v_next; J is block diagonal
    if (joint.mimics >= 0) continue;
    const int at = joint.v_index, m = joint.nv;
    for (int i = at; i < at + m; ++i)
      for (int j = at; j < at + m; ++j) {
        const double hJ = h * Jv(i, j);
        for (int c = 0; c < 2 * nv; ++c) a(i, c) += hJ * a(nv + j, c);
        for (int c = 0; c < nv; ++c) b(i, c) += hJ * b(nv + j, c);
      }
  }
}

}  // namespace articula
