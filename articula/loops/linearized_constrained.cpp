#include "articula/loops/linearized_constrained.hpp"

#include <algorithm>

#include "articula/kernels/tables.hpp"

namespace articula {

LinearizedConstrained::LinearizedConstrained(ConstrainedDynamics& work)
    : LinearizationWorkspace<double>(work.model(), {}, {.direct = true}), work_(work) {
  std::size_t longest = 0;
  for (const RowGroup& g : work.groups_) longest = std::max<std::size_t>(longest, g.step_end - g.step_begin);
  for (const PathStep& step : work.steps_)
    for (int i = 0; i < step.freedoms; ++i) velocity_.push_back(step.v + i);
  arrays_ =
      make_arrays(d_, tree(), work.groups_.size(), velocity_.size(), longest, std::size_t(work.loop_.stride));
  d_.velocity = velocity_.data();
  rest_ = AlignedArray<double>(3 * static_cast<std::size_t>(tree().nv));
  x_.resize(work.loop_.stride);
  lin_.k = work.m_;
}

void LinearizedConstrained::compute(In<double> q, In<double> v, In<double> tau, ConstrainedDerivatives& out,
                                    Wrenches<double> wrenches) {
  ConstrainedDynamics& w = work_;
  if (w.options_.baumgarte_frequency > 0 || w.driven_)
    throw ArgumentError("linearized constrained dynamics: not with Baumgarte's stabilisation or driven rows");
  out.a.resize(w.model_.nv());
  w.accelerate(q, v, tau, out.a, wrenches, &lin_);
  differentiate(full_q(q), full_v(v), full_a(out.a), nullptr, wrenches.empty() ? nullptr : &wrenches[0].w.x,
                {});
  hand_out(0, out.da_dq, out.df_dq);
  hand_out(1, out.da_dv, out.df_dv);
  hand_out(2, out.da_dtau, out.df_dtau);
}

void LinearizedConstrained::impulse(In<double> q, In<double> v, ImpulseDerivatives& out, double restitution) {
  out.v.resize(work_.model_.nv());
  work_.push(q, v, out.v, restitution, &lin_);
  const std::size_t nv = tree().nv;
  const double *const before = full_v(v), *const after = full_a(out.v);
  double *const change = rest_.data() + nv, *const sum = change + nv;  // before them zeros
  for (std::size_t i = 0; i < nv; ++i)
    change[i] = after[i] - before[i], sum[i] = after[i] + restitution * before[i];
  differentiate(full_q(q), rest_.data(), change, sum, nullptr, {true, 1 + restitution});
  hand_out(0, out.dv_dq, out.df_dq);
  hand_out(1, out.dv_dv, out.df_dv);
}

/// row_a: accelerations of the rows, where they are not those of the forces.
void LinearizedConstrained::differentiate(const double* q, const double* v, const double* a,
                                          const double* row_a, const double* wrenches,
                                          const LoopAtRest& rest) {
  ConstrainedDynamics& w = work_;
  const LoopKernels& k = *kernel_set().loops;
  const int lanes = kernel_set().in<double>().batch->lanes;
  d_.length = (tree().nv + lanes - 1) / lanes * lanes;
  k.gather_carried(tree(), w.loop_, w.lambda_, d_);
  Tree<double> weightless;
  if (rest.yes) (weightless = tree()).gravity = {0, 0, 0};
  kernel_set().in<double>().linearization->direct_forward(rest.yes ? weightless : tree(), v, a,
                                                          {wrenches, HeldIn::world_axes, nullptr, d_.carried},
                                                          lin_, d_.open[0], d_.open[1], d_.open[2]);
  k.differentiate(tree(), lin_, w.loop_, q, v, rest.yes ? row_a : a, w.lambda_, rest, d_);
  if (!w.deficient_) {
    k.solve_derivatives(w.loop_, d_);
  } else {
    const long row = result_blocks * d_.length;
    for (long c = 0; c < row; ++c) {
      for (int r = 0; r < w.loop_.rows; ++r) x_[r] = d_.df[r * row + c];
      w.revealing_.solve(x_.data());
      for (int r = 0; r < w.loop_.rows; ++r) d_.df[r * row + c] = x_[r];
    }
  }
  k.finish_derivatives(tree(), w.loop_, d_);
}

/// One block of columns, from full coordinates to the model's own: a mimic joint moves with its source, and tau acts on
/// the source alone.
void LinearizedConstrained::hand_out(int part, std::vector<double>& of_velocities,
                                     std::vector<double>& of_rows) const {
  const ConstrainedDynamics& w = work_;
  const std::size_t own = w.model_.nv();
  const auto map = w.model_.full_velocities();
  const bool mimics = w.model_.has_mimics();
  const auto put = [&](const double* matrix, long row, double* to) {
    const double* const from = matrix + row * result_blocks * d_.length + part * d_.length;
    if (!mimics) {
      std::copy_n(from, own, to);
    } else if (part == 2) {
      for (std::size_t c = 0; c < own; ++c) to[c] = from[w.own_[c]];
    } else {
      std::fill_n(to, own, 0.0);
      for (std::size_t c = 0; c < map.size(); ++c) to[map[c].source] += map[c].multiplier * from[c];
    }
  };
  of_velocities.resize(own * own);
  of_rows.resize(w.rows() * own);
  if (w.active_rows() < w.rows()) std::fill(of_rows.begin(), of_rows.end(), 0.0);
  for (std::size_t i = 0; i < own; ++i) put(d_.da, w.own_[i], of_velocities.data() + i * own);
  for (std::size_t c = 0; c < w.constraints_.size(); ++c)
    for (int r = 0; r < w.groups_[c].rows; ++r)
      put(d_.df, w.groups_[c].first + r, of_rows.data() + (w.row_of_[c] + r) * own);
}

}  // namespace articula
