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
  const Model& model = w.model_;
  const Tree<double>& tree = w.tree();
  const LoopMemory& loop = w.loop_;
  const std::size_t own = model.nv(), nv = tree.nv, columns = 3 * own, rows = loop.rows, all = w.rows();
  out.a.resize(own);
  for (auto* m : {&out.da_dq, &out.da_dv, &out.da_dtau}) m->resize(own * own);
  for (auto* m : {&out.df_dq, &out.df_dv, &out.df_dtau}) m->assign(all * own, 0.0);
  w.acceleration(q, v, tau, out.a, wrenches);
  const double* const external = wrenches.empty() ? nullptr : &wrenches[0].w.x;
  const LoopKernels& k = *kernel_set().loops;
  k.jacobian(tree, w.m_, loop, w.full_J_);

  // R1, R2: derivatives of M a + C v + g - J* f and of J a + d/dt(J) v, by q, v; then of -tau.
  const auto coordinates = model.full_coordinates();
  const auto velocities = model.full_velocities();
  const bool mimics = model.has_mimics();
  for (std::size_t i = 0; i < nv; ++i) {
    const auto [source, multiplier, offset] = mimics ? velocities[i] : Model::FullVelocity{int(i), 1, 0};
    set(v_[i], v[source] * multiplier);
    set(a_[i], out.a[source] * multiplier);
  }
  std::fill(R1_.begin(), R1_.end(), 0.0);
  for (std::size_t first = 0; first < 2 * own; first += row_lanes) {
    const std::size_t count = std::min<std::size_t>(row_lanes, 2 * own - first);
    std::fill(rates_.begin(), rates_.end(), 0.0);
    for (std::size_t i = 0; i < nv; ++i) set(v_[i], lanes(v_[i]).value[0]);
    for (std::size_t l = 0; l < count; ++l) {
      const std::size_t c = first + l;
      if (c < own) {
        std::fill(unit_.begin(), unit_.end(), 0.0);
        unit_[c] = 1;
        coordinate_rates(model, q, unit_, std::span(rates_).subspan(l * model.nq(), model.nq()));
      } else {
        for (std::size_t i = 0; i < nv; ++i) {
          const auto [source, multiplier, offset] =
              mimics ? velocities[i] : Model::FullVelocity{int(i), 1, 0};
          if (source == static_cast<int>(c - own)) lanes(v_[i]).derivative[l] = multiplier;
        }
      }
    }
    for (int i = 0; i < tree.nq; ++i) {
      const auto [source, multiplier, offset] = mimics ? coordinates[i] : Model::FullVelocity{i, 1, 0};
      set(q_[i], q[source] * multiplier + offset);
      for (int l = 0; l < row_lanes; ++l)
        lanes(q_[i]).derivative[l] = rates_[l * model.nq() + source] * multiplier;
    }
    kernel_set().loop_derivatives->residual(tree, q_, v_, a_, external, w.lambda_, m_, loop, forces_, rows_);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < nv; ++i) R1_[i * columns + first + l] = lanes(forces_[i]).derivative[l];
      for (std::size_t r = 0; r < rows; ++r) R2_[r * columns + first + l] = lanes(rows_[r]).derivative[l];
    }
  }
  for (std::size_t j = 0; j < own; ++j) {
    R1_[(mimics ? w.own_[j] : int(j)) * columns + 2 * own + j] = -1;
    for (std::size_t r = 0; r < rows; ++r) R2_[r * columns + 2 * own + j] = 0;
  }
  // M da + R1 = J* df, J da + R2 = 0:  Omega df = J X - R2, da = Y df - X,  X = M^-1 R1, Y = M^-1 J*.
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < nv; ++i) J_star_[i * rows + r] = w.full_J_[r * nv + i];
  const SweepKernels<double>& sweeps = *kernel_set().in<double>().sweeps;
  sweeps.solve_columns(tree, w.m_, R1_.data(), static_cast<int>(columns), X_.data());
  sweeps.solve_columns(tree, w.m_, J_star_.data(), static_cast<int>(rows), Y_.data());
  const int n_rows = static_cast<int>(rows), n_columns = static_cast<int>(columns),
            n_v = static_cast<int>(nv);
  dense::Part X(X_, n_v, n_columns), R2(R2_, n_rows, n_columns);
  const dense::View Y = dense::view(Y_, n_v, n_rows), J = dense::view({w.full_J_, rows * nv}, n_rows, n_v);
  (R2 *= -1).add_product(J, X);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) x_[r] = R2_[r * columns + c];
    if (w.deficient_)
      w.revealing_.solve(x_.data());
    else
      k.solve(loop, x_.data());
    for (std::size_t r = 0; r < rows; ++r) R2_[r * columns + c] = x_[r];
  }
  (X *= -1).add_product(Y, R2);
  std::vector<double>* const by[] = {&out.da_dq, &out.da_dv, &out.da_dtau};
  std::vector<double>* const forces[] = {&out.df_dq, &out.df_dv, &out.df_dtau};
  for (int part = 0; part < 3; ++part) {
    for (std::size_t i = 0; i < own; ++i)
      std::copy_n(X_.data() + (mimics ? w.own_[i] : i) * columns + part * own, own,
                  by[part]->data() + i * own);
    for (std::size_t c = 0; c < w.constraints_.size(); ++c)
      for (int r = 0; r < w.groups_[c].rows; ++r)
        std::copy_n(R2_.data() + (w.groups_[c].first + r) * columns + part * own, own,
                    forces[part]->data() + (w.row_of_[c] + r) * own);
  }
}

}  // namespace articula
