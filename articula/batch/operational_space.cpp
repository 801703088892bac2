#include "articula/batch/operational_space.hpp"

#include "articula/batch/data.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

/// What one thread works in: arrays of lanes.
template <class S>
struct OperationalSpaceBatch<S>::Work {
  AlignedArray<Pack<S, most_lanes<S>>> arrays, rows;
  TaskMemory<S> m;
  S *omega, *lambda, *scratch;                      // rows x rows
  S *gravity, *coriolis, *bias, *velocity, *x, *y;  // rows; the first two: Omega g, Omega c
  S pivots[most_lanes<S>];
  // One state at a time: lanes that have lost a direction, and models with mimic joints.
  RankSolve solve;
  std::vector<double> matrix, q, v, result;
  std::optional<TaskSpace> space;
};

template <class S>
OperationalSpaceBatch<S>::OperationalSpaceBatch(Batch<S>& batch, std::span<const int> frames,
                                                const SingularityOptions& options)
    : batch_(&batch), rows_(6 * static_cast<int>(frames.size())) {
  auto& d = *batch.data_;
  if (frames.empty()) throw ArgumentError("operational space: no frames given");
  for (const int frame : frames) {
    frames_.push_back(frame_on_body(d.model, frame));
    tasks_.push_back({frame, {}, Task::world_axes});
    for (std::size_t i = 0; i < 6; ++i) {
      tasks_.back().rows.push_back({});
      tasks_.back().rows[i][i] = 1;
    }
  }
  options_ = TaskSpace(d.model, tasks_, options).options();  // checked, and with the default filled in
  if constexpr (sizeof(S) == sizeof(float)) options_.rank_tolerance = std::max(options_.rank_tolerance, 1e-6);
  layout_ = std::make_unique<TaskLayout>(lay_tasks(d.model.template tree<double>(), frames_));
  const std::size_t n = rows_;
  work_.resize(d.workers.size());
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Work& t = work_[i];
    t.solve = RankSolve(rows_);
    t.matrix.resize(n * n);
    if (d.model.has_mimics()) {
      t.space.emplace(d.model, tasks_, options_);
      t.q.resize(d.model.nq());
      t.v.resize(d.model.nv());
      t.result.resize(std::max<std::size_t>(n, d.model.nv()) * n);
      continue;
    }
    TaskMemory<Pack<S, most_lanes<S>>> m;
    t.arrays = task_arrays(d.base(), *layout_, frames_, m);
    t.rows = AlignedArray<Pack<S, most_lanes<S>>>(3 * n * n + 6 * n);
    const auto f = [](auto* p) { return reinterpret_cast<S*>(const_cast<Pack<S, most_lanes<S>>*>(p)); };
    t.m = retyped<S>(m);
    t.m.k = d.workers[i].m;
    // Constants are read with as many lanes as the instruction set has.
    const std::size_t lanes = d.table->lanes;
    S* const offset = f(m.offset);
    for (std::size_t c = 0; c < 3 * frames_.size(); ++c) {
      const double* const p = numbers_of(frames_[c / 3].p);
      std::fill_n(offset + c * lanes, lanes, static_cast<S>(p[c % 3]));
    }
    auto* at = t.rows.data();
    const auto give = [&](std::size_t count, S*& pointer) {
      pointer = f(at);
      at += count;
    };
    for (S** const p : {&t.omega, &t.lambda, &t.scratch}) give(n * n, *p);
    for (S** const p : {&t.gravity, &t.coriolis, &t.bias, &t.velocity, &t.x, &t.y}) give(n, *p);
  }
}
template <class S>
OperationalSpaceBatch<S>::~OperationalSpaceBatch() = default;
template <class S>
OperationalSpaceBatch<S>::OperationalSpaceBatch(OperationalSpaceBatch&&) noexcept = default;

template <class S>
void OperationalSpaceBatch<S>::update(Work& t, S* smallest, const S* q, const S* v) {
  auto& d = *batch_->data_;
  const auto& k = *batch_->data_->set->tasks;
  const std::size_t n = rows_, lanes = d.table->lanes;
  k.update(d.base(), q, v, t.m, smallest);
  k.terms(d.base(), v, t.m, t.omega, t.gravity, t.velocity, t.bias, t.coriolis);
  if (!v)
    for (S* const x : {t.velocity, t.bias, t.coriolis}) std::fill_n(x, n * lanes, S(0));
  // A speed or configuration that is not finite shows in one of these.
  for (std::size_t s = 0; s < lanes; ++s) {
    S sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += t.coriolis[i * lanes + s] + t.gravity[i * lanes + s] + t.omega[(n + 1) * i * lanes + s];
    if (!std::isfinite(sum)) smallest[s] = 0;
  }
}

/// Lambda, and how many directions it has. Where the inverse itself proves that nothing is near to be lost it
/// is taken as it is (see RankSolve::solve); other states go through RankSolve one by one.
template <class S>
void OperationalSpaceBatch<S>::invert(Work& t, S* rank) {
  const std::size_t n = rows_, lanes = batch_->data_->table->lanes;
  batch_->data_->set->tasks->invert(rows_, t.omega, t.scratch, t.lambda, t.pivots);
  for (std::size_t s = 0; s < lanes; ++s) {
    rank[s] = static_cast<S>(n);
    S trace = 0, inverse_trace = 0;
    for (std::size_t i = 0; i < n; ++i) {
      trace += t.omega[(n + 1) * i * lanes + s];
      inverse_trace += t.lambda[(n + 1) * i * lanes + s];
    }
    const double needed = std::max(options_.damp ? options_.activation : 0, options_.rank_tolerance * trace);
    if (!std::isfinite(trace) || (t.pivots[s] > 0 && inverse_trace * needed < 1)) continue;
    for (std::size_t i = 0; i < n * n; ++i) t.matrix[i] = t.omega[i * lanes + s];
    t.solve.solve(t.matrix.data(), options_);
    for (std::size_t i = 0; i < n * n; ++i) t.lambda[i * lanes + s] = static_cast<S>(t.solve.inverse()[i]);
    rank[s] = static_cast<S>(t.solve.rank());
  }
}

template <class S>
void OperationalSpaceBatch<S>::terms(In<S> q, In<S> v, const Terms& r) {
  auto& d = *batch_->data_;
  if (d.model.has_mimics()) return one_by_one(q, v, r);
  const auto& k = *batch_->data_->set->tasks;
  const std::size_t n = rows_, nv = d.model.nv(), lanes = d.table->lanes;
  auto rates = d.v("v", v);
  if (v.empty()) rates.n = 0;
  d.call_with_model_inertias(
      "operational_space", {d.q(q), rates},
      {d.if_wanted("omega", r.omega, n * n), d.if_wanted("lambda", r.lambda, n * n),
       d.if_wanted("coriolis", r.coriolis, n), d.if_wanted("gravity", r.gravity, n),
       d.if_wanted("velocity", r.velocity, n), d.if_wanted("bias_acceleration", r.bias_acceleration, n),
       d.if_wanted("free_acceleration", r.free_acceleration, n),
       d.if_wanted("jacobian_bar", r.jacobian_bar, nv * n), d.if_wanted("rank", r.rank, 1)},
      [&](auto& w, const S* const* in, S* const* out) {
        Work& t = work_[&w - d.workers.data()];
        update(t, w.smallest, in[0], v.empty() ? nullptr : in[1]);
        const auto copy = [&](const Out<S>& wanted, const S* from, std::size_t count, S* to) {
          if (!wanted.empty()) std::copy_n(from, count * lanes, to);
        };
        copy(r.omega, t.omega, n * n, out[0]);
        copy(r.velocity, t.velocity, n, out[4]);
        copy(r.bias_acceleration, t.bias, n, out[5]);
        for (std::size_t i = 0; !r.free_acceleration.empty() && i < n * lanes; ++i)
          out[6][i] = -t.coriolis[i] - t.gravity[i];
        if (r.lambda.empty() && r.coriolis.empty() && r.gravity.empty() && r.jacobian_bar.empty() &&
            r.rank.empty())
          return;
        alignas(64) S rank[most_lanes<S>];
        invert(t, rank);
        copy(r.rank, rank, 1, out[8]);
        copy(r.lambda, t.lambda, n * n, out[1]);
        if (!r.coriolis.empty()) k.times(rows_, t.lambda, t.coriolis, out[2]);
        if (!r.gravity.empty()) k.times(rows_, t.lambda, t.gravity, out[3]);
        for (std::size_t i = 0; !r.jacobian_bar.empty() && i < n; ++i) {
          S* const column = batching::numbers(w.scratch[0]);
          k.rates(d.base(), t.m, t.lambda + i * n * lanes, column);
          for (std::size_t j = 0; j < nv; ++j)
            std::copy_n(column + j * lanes, lanes, out[7] + (j * n + i) * lanes);
        }
      });
}

template <class S>
void OperationalSpaceBatch<S>::motion_force(In<S> q, In<S> v, In<S> u, Out<S> F, Out<S> tau) {
  auto& d = *batch_->data_;
  const auto& k = *batch_->data_->set->tasks;
  const std::size_t n = rows_, nv = d.model.nv(), lanes = d.table->lanes;
  auto rates = d.v("v", v);
  if (v.empty()) rates.n = 0;
  const std::initializer_list<typename Batch<S>::Data::Input> from{
      d.q(q), rates, {"u", u, batching::Numbers::other, n}};
  const std::initializer_list<typename Batch<S>::Data::Output> to{d.if_wanted("F", F, n),
                                                                  d.if_wanted("tau", tau, nv)};
  if (d.model.has_mimics()) {
    d.call_one_by_one("motion_force", from, to, [&](int w, const auto* in, const auto* out) {
      Work& t = work_[w];
      t.q.assign(in[0].begin(), in[0].end());
      t.v.assign(in[1].begin(), in[1].end());
      v.empty() ? t.space->update(t.q) : t.space->update(t.q, t.v);
      const std::span<double> a(t.matrix.data(), n), f(t.result.data(), n), forces(t.result.data() + n, nv);
      std::copy(in[2].begin(), in[2].end(), a.begin());
      t.space->motion_force(a, f);
      t.space->times_jacobian_star(f, forces);
      if (!F.empty()) std::copy(f.begin(), f.end(), out[0].begin());
      if (!tau.empty()) std::copy(forces.begin(), forces.end(), out[1].begin());
    });
    return;
  }
  d.call_with_model_inertias("motion_force", from, to, [&](auto& w, const S* const* in, S* const* out) {
    Work& t = work_[&w - d.workers.data()];
    alignas(64) S rank[most_lanes<S>];
    update(t, w.smallest, in[0], v.empty() ? nullptr : in[1]);
    invert(t, rank);
    for (std::size_t i = 0; i < n * lanes; ++i) t.x[i] = in[2][i] + t.coriolis[i] + t.gravity[i];
    k.times(rows_, t.lambda, t.x, t.y);
    if (!F.empty()) std::copy_n(t.y, n * lanes, out[0]);
    if (!tau.empty()) k.forces(d.base(), t.m, t.y, out[1]);
  });
}

template <class S>
void OperationalSpaceBatch<S>::one_by_one(In<S> q, In<S> v, const Terms& r) {
  auto& d = *batch_->data_;
  const std::size_t n = rows_, nv = d.model.nv();
  auto rates = d.v("v", v);
  if (v.empty()) rates.n = 0;
  d.call_one_by_one(
      "operational_space", {d.q(q), rates},
      {d.if_wanted("omega", r.omega, n * n), d.if_wanted("lambda", r.lambda, n * n),
       d.if_wanted("coriolis", r.coriolis, n), d.if_wanted("gravity", r.gravity, n),
       d.if_wanted("velocity", r.velocity, n), d.if_wanted("bias_acceleration", r.bias_acceleration, n),
       d.if_wanted("free_acceleration", r.free_acceleration, n),
       d.if_wanted("jacobian_bar", r.jacobian_bar, nv * n), d.if_wanted("rank", r.rank, 1)},
      [&](int w, const auto* in, const auto* out) {
        Work& t = work_[w];
        TaskSpace& space = *t.space;
        t.q.assign(in[0].begin(), in[0].end());
        t.v.assign(in[1].begin(), in[1].end());
        v.empty() ? space.update(t.q) : space.update(t.q, t.v);
        const auto give = [&](const std::span<S>& to, auto f) {
          if (to.empty()) return;
          const std::span<double> x(t.result.data(), to.size());
          f(x);
          std::copy(x.begin(), x.end(), to.begin());
        };
        give(out[0], [&](auto x) { space.omega(x); });
        give(out[1], [&](auto x) { space.lambda(x); });
        give(out[2], [&](auto x) { space.coriolis(x); });
        give(out[3], [&](auto x) { space.gravity(x); });
        give(out[4], [&](auto x) { space.velocity(x); });
        give(out[5], [&](auto x) { space.bias_acceleration(x); });
        give(out[6], [&](auto x) { space.free_acceleration(x); });
        give(out[7], [&](auto x) { space.jacobian_bar(x); });
        give(out[8], [&](auto x) { x[0] = space.rank(); });
      });
}

template class OperationalSpaceBatch<double>;
template class OperationalSpaceBatch<float>;

}  // namespace articula
