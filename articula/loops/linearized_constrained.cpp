#include "articula/loops/linearized_constrained.hpp"

#include <algorithm>
#include <utility>

#include "articula/kernels/tables.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

namespace {
/// A value and its derivatives along eight directions, as plain numbers: packs are for the kernels.
struct Lanes {
  double value[row_lanes], derivative[row_lanes];
};
static_assert(sizeof(Lanes) == sizeof(Directions));
Lanes& lanes(Directions& x) { return reinterpret_cast<Lanes&>(x); }
void set(Directions& x, double value) {
  Lanes& l = lanes(x);
  for (int i = 0; i < row_lanes; ++i) l.value[i] = value, l.derivative[i] = 0;
}
}  // namespace

LinearizedConstrained::LinearizedConstrained(ConstrainedDynamics& work) : work_(work) {
  const Tree<double>& tree = work.tree();
  const std::size_t slots = tree.slots(), nq = tree.nq, nv = tree.nv, own = work.model_.nv();
  const std::size_t rows = work.loop_.stride;
  memory_ = AlignedArray<Directions>(slots * (body::count + 6 + 3 + 6) + nq + 3 * nv + rows);
  Directions* next = memory_.data();
  const auto give = [&](std::size_t count) { return std::exchange(next, next + count); };
  m_.x = give(slots * body::count);
  m_.side = give(slots * 6);
  m_.p = give(slots * 3);
  m_.V = give(slots * 6);
  q_ = give(nq);
  v_ = give(nv);
  a_ = give(nv);
  forces_ = give(nv);
  rows_ = give(rows);
  unit_.resize(own);
  rates_.resize(work.model_.nq() * row_lanes);
  const std::size_t columns = 3 * own;
  R1_.resize(nv * columns);
  X_.resize(nv * columns);
  R2_.resize(rows * columns);
  J_star_.resize(nv * rows);
  Y_.resize(nv * rows);
  x_.resize(rows);
}

void LinearizedConstrained::compute(In<double> q, In<double> v, In<double> tau, ConstrainedDerivatives& out,
                                    Wrenches<double> wrenches) {
  ConstrainedDynamics& w = work_;
  if (w.options_.baumgarte_frequency > 0 || w.driven_)
    throw ArgumentError("linearized constrained dynamics: not with Baumgarte's stabilisation or driven rows");
  const std::size_t own = w.model_.nv(), all = w.rows();
  out.a.resize(own);
  for (auto* m : {&out.da_dq, &out.da_dv, &out.da_dtau}) m->resize(own * own);
  for (auto* m : {&out.df_dq, &out.df_dv, &out.df_dtau}) m->assign(all * own, 0.0);
  w.acceleration(q, v, tau, out.a, wrenches);
  kernel_set().loops->jacobian(w.tree(), w.m_, w.loop_, w.full_J_);
  differentiate(q, v, out.a, wrenches.empty() ? nullptr : &wrenches[0].w.x);
  solve();
  hand_out(out);
}

/// One direction per lane, from column `first` on: of q, then of v.
void LinearizedConstrained::set_directions(In<double> q, std::size_t first, std::size_t count) {
  const Model& model = work_.model_;
  const std::size_t own = model.nv(), nv = work_.tree().nv, nq = work_.tree().nq;
  std::fill(rates_.begin(), rates_.end(), 0.0);
  for (std::size_t i = 0; i < nv; ++i) set(v_[i], lanes(v_[i]).value[0]);
  for (std::size_t l = 0; l < count; ++l) {
    const std::size_t c = first + l;
    if (c < own) {
      std::fill(unit_.begin(), unit_.end(), 0.0);
      unit_[c] = 1;
      coordinate_rates(model, q, unit_, std::span(rates_).subspan(l * model.nq(), model.nq()));
      continue;
    }
    for (std::size_t i = 0; i < nv; ++i)
      if (const auto from = source_of_velocity(i); from.source == static_cast<int>(c - own))
        lanes(v_[i]).derivative[l] = from.multiplier;
  }
  const auto coordinates = model.full_coordinates();
  for (std::size_t i = 0; i < nq; ++i) {
    const auto [source, multiplier, offset] =
        model.has_mimics() ? coordinates[i] : Model::FullVelocity{int(i), 1, 0};
    set(q_[i], q[source] * multiplier + offset);
    for (int l = 0; l < row_lanes; ++l)
      lanes(q_[i]).derivative[l] = rates_[l * model.nq() + source] * multiplier;
  }
}

Model::FullVelocity LinearizedConstrained::source_of_velocity(std::size_t i) const {
  return work_.model_.has_mimics() ? work_.model_.full_velocities()[i] : Model::FullVelocity{int(i), 1, 0};
}

/// R1, R2: derivatives of M a + C v + g - J* f and of J a + d/dt(J) v, by q, v; then of -tau.
void LinearizedConstrained::differentiate(In<double> q, In<double> v, In<double> a, const double* external) {
  const ConstrainedDynamics& w = work_;
  const std::size_t own = w.model_.nv(), nv = w.tree().nv, columns = 3 * own, rows = w.loop_.rows;
  for (std::size_t i = 0; i < nv; ++i) {
    const auto from = source_of_velocity(i);
    set(v_[i], v[from.source] * from.multiplier);
    set(a_[i], a[from.source] * from.multiplier);
  }
  std::fill(R1_.begin(), R1_.end(), 0.0);
  for (std::size_t first = 0; first < 2 * own; first += row_lanes) {
    const std::size_t count = std::min<std::size_t>(row_lanes, 2 * own - first);
    set_directions(q, first, count);
    kernel_set().loop_derivatives->residual(w.tree(), q_, v_, a_, external, w.lambda_, m_, w.loop_, forces_,
                                            rows_);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < nv; ++i) R1_[i * columns + first + l] = lanes(forces_[i]).derivative[l];
      for (std::size_t r = 0; r < rows; ++r) R2_[r * columns + first + l] = lanes(rows_[r]).derivative[l];
    }
  }
  for (std::size_t j = 0; j < own; ++j) {
    R1_[(w.model_.has_mimics() ? w.own_[j] : int(j)) * columns + 2 * own + j] = -1;
    for (std::size_t r = 0; r < rows; ++r) R2_[r * columns + 2 * own + j] = 0;
  }
}

/// M da + R1 = J* df, J da + R2 = 0:  Omega df = J X - R2, da = Y df - X,  X = M^-1 R1, Y = M^-1 J*. Leaves da in X and
/// df in R2.
void LinearizedConstrained::solve() {
  ConstrainedDynamics& w = work_;
  const Tree<double>& tree = w.tree();
  const int nv = tree.nv, columns = 3 * w.model_.nv(), rows = w.loop_.rows;
  const std::size_t numbers = static_cast<std::size_t>(rows) * nv;
  dense::Part J_star({J_star_.data(), numbers}, nv, rows), X(X_, nv, columns), R2(R2_, rows, columns);
  const dense::View J = dense::view({w.full_J_, numbers}, rows, nv), Y = dense::view(Y_, nv, rows);
  J_star = star(J);
  const SweepKernels<double>& sweeps = *kernel_set().in<double>().sweeps;
  sweeps.solve_columns(tree, w.m_, R1_.data(), columns, X_.data());
  sweeps.solve_columns(tree, w.m_, J_star_.data(), rows, Y_.data());
  (R2 *= -1).add_product(J, X);
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) x_[r] = R2(r, c);
    if (w.deficient_)
      w.revealing_.solve(x_.data());
    else
      kernel_set().loops->solve(w.loop_, x_.data());
    for (int r = 0; r < rows; ++r) R2(r, c) = x_[r];
  }
  (X *= -1).add_product(Y, R2);
}

void LinearizedConstrained::hand_out(ConstrainedDerivatives& out) const {
  const ConstrainedDynamics& w = work_;
  const std::size_t own = w.model_.nv(), columns = 3 * own;
  std::vector<double>* const by[] = {&out.da_dq, &out.da_dv, &out.da_dtau};
  std::vector<double>* const forces[] = {&out.df_dq, &out.df_dv, &out.df_dtau};
  for (int part = 0; part < 3; ++part) {
    for (std::size_t i = 0; i < own; ++i)
      std::copy_n(X_.data() + (w.model_.has_mimics() ? w.own_[i] : i) * columns + part * own, own,
                  by[part]->data() + i * own);
    for (std::size_t c = 0; c < w.constraints_.size(); ++c)
      for (int r = 0; r < w.groups_[c].rows; ++r)
        std::copy_n(R2_.data() + (w.groups_[c].first + r) * columns + part * own, own,
                    forces[part]->data() + (w.row_of_[c] + r) * own);
  }
}

}  // namespace articula
