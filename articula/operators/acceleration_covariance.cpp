// With w the forces' deviations, z = psi (K tau - w) inward and lambda = psi* H* D^-1 (tau - H z) outward give the
// deviations of all accelerations: th'' = D^-1 (tau - H z) - K* lambda, alpha = lambda (JPL88 4.16, FD2).
//
// What reaches body k from outboard, z(k), and what comes back from inboard are not independent; but
//
//   lambda(k) = -Omega(k) z(k) + r(k)                                                                        (1)
//
// with Omega of OSC (57), and r(k) made of forces that z(k) does not have. With s(k) what reaches the inboard body
// k+1 beside what comes through joint k, psi = psi(k+1,k), and LIN's U = D^-1 H - K* Omega(k+1) psi and
// L = D^-1 + K* Omega(k+1) K (LIN 4.20):
//
//   z(k+1) = psi z(k) + K tau(k) + s(k)                                                                      (2)
//   r(k)   = U* tau(k) + psi* (r(k+1) - Omega(k+1) s(k))                                                     (3)
//   th''(k) = L tau(k) - U z(k) - K* (r(k+1) - Omega(k+1) s(k))                                              (4)
//
// All terms on the right are independent of each other, so covariances add: (2) tip to base, (3), (4) and (1) back.
#define ARTICULA_ISA operators_baseline
#include "articula/operators/acceleration_covariance.hpp"

#include <algorithm>
#include <cmath>

#include "articula/kernels/sweeps_text.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/operators/joints_at_state.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula::operators {

namespace {
using Mat6 = Covariance6;

Mat6 times(const Mat6& a, const Mat6& b) {
  Mat6 c{};
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 6; ++k)
      for (int j = 0; j < 6; ++j) c[6 * i + j] += a[6 * i + k] * b[6 * k + j];
  return c;
}
Mat6 transposed(const Mat6& a) {
  Mat6 t;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) t[6 * j + i] = a[6 * i + j];
  return t;
}
/// a X a*
Mat6 around(const Mat6& a, const Mat6& X) { return times(a, times(X, transposed(a))); }
void add(Mat6& to, const Mat6& x, double factor = 1) {
  for (int i = 0; i < 36; ++i) to[i] += factor * x[i];
}
double dot6(const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += a[i] * b[i];
  return sum;
}
/// y = X x
void apply(const Mat6& X, const double* x, double* y) {
  for (int i = 0; i < 6; ++i) y[i] = dot6(&X[6 * i], x);
}
Mat6 full_of(const double* symmetric) {
  const auto P = gather<1, ArticulatedInertia<double>>(symmetric);
  Mat6 out;
  const Mat3<double> J = full(P.J), C = full(P.C), B = P.B, Bt = star(P.B);
  const auto put = [&](int row, int column, const Mat3<double>& m) {
    for (int i = 0; i < 3; ++i) std::copy_n(numbers_of(m) + 3 * i, 3, &out[6 * (row + i) + column]);
  };
  put(0, 0, J), put(0, 3, B), put(3, 0, Bt), put(3, 3, C);
  return out;
}
}  // namespace

/// What one joint is: freedoms first, six numbers each.
struct AccelerationCovariance::Joint {
  int n = 0;
  double H[36] = {}, K[36] = {}, inv_D[36] = {};
  Mat6 psi{};
};

AccelerationCovariance::AccelerationCovariance(const Model& model)
    : state_(model),
      forward_(model),
      alpha_(6 * state_.tree().slots()),
      acceleration_(model.nv()),
      variance_(model.nv()) {
  if (model.has_mimics())
    throw ArgumentError("acceleration covariance: the forces of mimic joints are not independent; model '" +
                        model.name() + "' has some");
  for (auto* const all : {&inward_, &own_, &outward_, &body_}) all->resize(state_.tree().slots());
}

void AccelerationCovariance::read(int k, Joint& joint) const {
  const Tree<double>& tree = state_.tree();
  const BodyIndex& b = tree.index[k];
  const Phi<double> phi = shift_to(state_.m_, k);
  with_hinge(tree, state_.m_, k, [&](const auto& H, auto j) {
    constexpr int n = decltype(j)::nv;
    joint.n = n;
    for_each_index<n>([&](auto i) { scatter<1>(spatial(H.template row<i.value>()), joint.H + 6 * i.value); });
    std::copy_n(state_.m_.K + 6 * b.v, 6 * n, joint.K);
    for (int i = 0; i < n; ++i) {
      double column[n] = {};
      column[i] = 1;
      isa::solve_D<decltype(j)>(state_.m_.inv_D + 6 * b.v, column);
      std::copy_n(column, n, joint.inv_D + 6 * i);
    }
  });
  for (int c = 0; c < 6; ++c) {  // psi(k+1,k) = phi - K H, column by column
    double unit[6] = {}, column[6];
    unit[c] = 1;
    scatter<1>(phi * gather<1, Spatial<double>>(unit), column);
    for (int i = 0; i < joint.n; ++i)
      for (int r = 0; r < 6; ++r) column[r] -= joint.K[6 * i + r] * joint.H[6 * i + c];
    for (int r = 0; r < 6; ++r) joint.psi[6 * r + c] = column[r];
  }
}

void AccelerationCovariance::compute(In<double> q, In<double> v, In<double> tau,
                                     const Deviations& deviations) {
  const Tree<double>& tree = state_.tree();
  const In<double>&of_tau = deviations.tau, &of_wrenches = deviations.wrenches,
        &of_masses = deviations.masses;
  const auto check = [&](const char* what, std::size_t size, int expected) {
    if (size != 0) state_.check("acceleration covariance", what, size, expected);
  };
  check("tau's deviation", of_tau.size(), tree.nv);
  check("the wrenches' deviation", of_wrenches.size(), 6 * tree.bodies);
  check("the masses' deviation", of_masses.size(), tree.bodies);
  for (const auto& given : {of_tau, of_wrenches, of_masses})
    if (!std::all_of(given.begin(), given.end(), [](double x) { return x >= 0 && std::isfinite(x); }))
      throw ArgumentError("acceleration covariance: deviations are finite numbers, 0 or more");
  if (of_masses.empty())
    state_.update(q);
  else
    state_.update(q, v);
  state_.require(OperatorState::factor | OperatorState::omegas |
                 (of_masses.empty() ? 0u : OperatorState::bias));

  for (int k = 0; k < tree.slots(); ++k) {
    inward_[k] = {};
    for (int i = 0; k > 0 && i < 6 && !of_wrenches.empty(); ++i)
      inward_[k][7 * i] = of_wrenches[6 * (k - 1) + i] * of_wrenches[6 * (k - 1) + i];
  }
  if (!of_masses.empty()) add_mass_forces(q, v, tau, of_masses);
  const auto tau_variance = [&](int v) { return of_tau.empty() ? 0.0 : of_tau[v] * of_tau[v]; };

  for (int k = tree.slots() - 1; k > 0; --k) {  // (2)
    const BodyIndex& b = tree.index[k];
    Joint joint;
    read(k, joint);
    own_[k] = around(joint.psi, inward_[k]);
    for (int i = 0; i < joint.n; ++i)
      for (int r = 0; r < 36; ++r)
        own_[k][r] += tau_variance(b.v + i) * joint.K[6 * i + r / 6] * joint.K[6 * i + r % 6];
    if (b.inboard) add(inward_[b.inboard], own_[k]);
  }
  outward_[0] = {};
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    Joint joint;
    read(k, joint);
    Mat6 omega{}, beside{};  // Omega(k+1), and the covariance of r(k+1) - Omega(k+1) s(k)
    if (b.inboard) {
      omega = full_of(state_.Omega_ + 21 * b.inboard);
      beside = inward_[b.inboard];
      add(beside, own_[k], -1);
      beside = around(omega, beside);
      add(beside, outward_[b.inboard]);
    }
    outward_[k] = around(transposed(joint.psi), beside);
    double L[36] = {}, U[36] = {};  // rows: freedoms
    for (int i = 0; i < joint.n; ++i) {
      double carried[6], through[6];
      apply(omega, joint.K + 6 * i, carried);
      apply(transposed(joint.psi), carried, through);
      for (int j = 0; j < joint.n; ++j)
        L[6 * i + j] = joint.inv_D[6 * i + j] + dot6(joint.K + 6 * j, carried);
      for (int r = 0; r < 6; ++r) {
        U[6 * i + r] = -through[r];
        for (int j = 0; j < joint.n; ++j) U[6 * i + r] += joint.inv_D[6 * i + j] * joint.H[6 * j + r];
      }
    }
    for (int i = 0; i < joint.n; ++i) {
      double z[6], r[6];
      apply(inward_[k], U + 6 * i, z);
      apply(beside, joint.K + 6 * i, r);
      double variance = dot6(U + 6 * i, z) + dot6(joint.K + 6 * i, r);  // (4)
      for (int j = 0; j < joint.n; ++j) variance += L[6 * i + j] * L[6 * i + j] * tau_variance(b.v + j);
      variance_[b.v + i] = variance;
      for (int c = 0; c < 36; ++c)  // (3)
        outward_[k][c] += tau_variance(b.v + i) * U[6 * i + c / 6] * U[6 * i + c % 6];
    }
    body_[k] = around(full_of(state_.Omega_ + 21 * k), inward_[k]);  // (1)
    add(body_[k], outward_[k]);
  }
}

/// A body that is heavier by a share of itself needs that share of M alpha + b more: to first order a force on it.
void AccelerationCovariance::add_mass_forces(In<double> q, In<double> v, In<double> tau, In<double> masses) {
  const Tree<double>& tree = state_.tree();
  forward_.compute(q, v, tau, acceleration_, {});
  std::copy_n(state_.a_g_, 6, alpha_.begin());
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const Phi<double> phi = shift_to(state_.m_, k);
    Spatial<double> alpha = articula::star(phi) * gather<1, Spatial<double>>(alpha_.data() + 6 * b.inboard) +
                            gather<1, Spatial<double>>(state_.a_ + 6 * (k - 1));
    with_hinge(tree, state_.m_, k,
               [&](const auto& H, auto) { alpha += star_times(H, acceleration_.data() + b.v); });
    scatter<1>(alpha, alpha_.data() + 6 * k);
    const Spatial<double> force =
        isa::body_inertia(tree, static_cast<const double*>(state_.m_.x), k) * alpha +
        gather<1, Spatial<double>>(state_.b_ + 6 * (k - 1));
    double f[6];
    scatter<1>(force * masses[k - 1], f);
    for (int c = 0; c < 36; ++c) inward_[k][c] += f[c / 6] * f[c % 6];
  }
}

void AccelerationCovariance::joints(Out<double> deviation) const {
  state_.check("acceleration covariance", "deviation", deviation.size(), variance_.size());
  for (std::size_t i = 0; i < variance_.size(); ++i) deviation[i] = std::sqrt(std::max(0.0, variance_[i]));
}

Covariance6 AccelerationCovariance::frame(int frame) const {
  const Frame& f = state_.model().frames()[frame];
  if (f.body < 0) return {};
  const int k = f.body + 1;
  const Mat3<double> axes = isa::read<Mat3>(slot_of(state_.m_, k) + stride<double> * body::R);
  const Phi<double> phi{axes * (state_.model().bodies()[f.body].link_axes * f.placement.p)};
  Mat6 move{};
  for (int c = 0; c < 6; ++c) {
    double unit[6] = {}, column[6];
    unit[c] = 1;
    scatter<1>(articula::star(phi) * gather<1, Spatial<double>>(unit), column);
    for (int r = 0; r < 6; ++r) move[6 * r + c] = column[r];
  }
  return around(move, body_[k]);
}

}  // namespace articula::operators
