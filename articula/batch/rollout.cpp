// Steps and rollouts: a tile of states makes all its steps in cache, in lanes from beginning to end.
#include <tuple>

#include "articula/batch/data.hpp"
#include "articula/batch/one_step.hpp"
#include "articula/batch/tied.hpp"
#include "articula/kernels/fixed_step_text.hpp"
#include "articula/simulation/forces.hpp"

namespace articula {

using batching::numbers;

namespace {

/// Joint forces of a rollout: none, constant, or of each step.
enum class Forces { none, constant, each_step };

template <class S>
Forces forces_of(const char* function, const Model& model, std::size_t size, std::size_t count,
                 std::size_t steps) {
  const std::size_t nv = model.nv();
  if (size == 0) return Forces::none;
  if (steps > 1 && size == count * steps * nv) return Forces::each_step;
  if (size == count * nv) return Forces::constant;
  throw ArgumentError(fmt::format(
      "{}: tau has {} numbers, {} trajectories of model '{}' need none, {} (constant) or {} (of {} steps)",
      function, size, count, model.name(), count * nv, count * steps * nv, steps));
}

template <class S>
batching::Rollouts<S> rollouts_of(const Model& model) {
  const std::vector<double> unit(model.nv(), 1);
  std::vector<double> force(model.nv());
  JointDampers(model).add_forces(0, {}, unit, force);
  batching::Rollouts<S> out{Manifold(model), {}};
  for (const double x : force) out.damping.push_back(static_cast<S>(-x));
  return out;
}

template <class S, class D>
void run(D& d, const char* function, In<S> q, In<S> v, In<S> tau, const RolloutOptions& options,
         Out<S> q_path, Out<S> v_path, Out<S> fastest) {
  const std::size_t nq = d.model.nq(), nv = d.model.nv();
  const std::size_t count = d.check(function, {d.q(q), d.v("v", v)}, {});
  if (!fastest.empty()) d.check(function, {d.q(q)}, {{"fastest", fastest, batching::Numbers::other, 1}});
  const double h = options.step;
  if (!(h > 0) || !std::isfinite(h))
    throw ArgumentError(fmt::format("{}: the step is {} s, expected more than 0", function, h));
  if (options.steps == 0 || options.every == 0 || options.steps % options.every)
    throw ArgumentError(
        fmt::format("{}: {} steps, states after every {}: expected a multiple, both at least 1", function,
                    options.steps, options.every));
  if (stepping_of(options.integrator) != Stepping::explicit_step)
    throw ArgumentError(fmt::format("{}: {} does not step explicitly; {} do", function,
                                    name_of(options.integrator), integrator_names(Stepping::explicit_step)));
  const std::size_t steps = options.steps, times = steps / options.every;
  const Forces forces = forces_of<S>(function, d.model, tau.size(), count, steps);
  for (const auto& [name, size, n] : {std::tuple{"q_path", q_path.size(), nq}, {"v_path", v_path.size(), nv}})
    if (size != 0 && size != count * times * n)
      throw ArgumentError(
          fmt::format("{}: {} has {} numbers, {} trajectories of {} states of model '{}' need {}", function,
                      name, size, count, times, d.model.name(), count * times * n));

  if (!d.rollouts) d.rollouts = rollouts_of<S>(d.model);
  const batching::Rollouts<S>& r = *d.rollouts;
  if (d.model.has_mimics()) batching::make_tied_room(d);
  using Lanes = AlignedArray<Pack<S, most_lanes<S>>>;
  for (auto& w : d.workers)
    if (w.step.size() == 0)
      w.q = Lanes(nq), w.v = Lanes(nv), w.tau = Lanes(nv), w.step = Lanes(fixed_step_text::memory_of(nq, nv));

  const RolloutTable<S>& kernels = *d.set->rollout;
  const int lanes = d.table->lanes;
  const Layout layout = d.options.layout;
  /// The numbers of one time: n of a trajectory's `all`, beginning at `from`.
  const auto take = [&](std::span<const S> x, std::size_t all, std::size_t from, std::size_t n,
                        std::size_t first, int used, S* to) {
    if (layout == Layout::rows)
      d.table->gather(x.data() + first * all + from, static_cast<long>(n), static_cast<long>(all), used, to);
    else if (layout == Layout::tiles)
      std::copy_n(x.data() + first * all + from * lanes, n * lanes, to);
    else
      d.table->gather_columns(x.data() + from * count + first, static_cast<long>(n), static_cast<long>(count),
                              used, to);
  };
  const auto give = [&](std::span<S> x, std::size_t all, std::size_t from, std::size_t n, std::size_t first,
                        int used, const bool* stopped, const S* lanes_of) {
    if (x.empty()) return;
    if (layout == Layout::rows)
      d.table->scatter(lanes_of, static_cast<long>(n), static_cast<long>(all), used,
                       x.data() + first * all + from);
    else if (layout == Layout::tiles)
      std::copy_n(lanes_of, n * lanes, x.data() + first * all + from * lanes);
    else
      d.table->scatter_columns(lanes_of, static_cast<long>(n), static_cast<long>(count), used,
                               x.data() + from * count + first);
    for (int s = 0; s < used; ++s)
      for (std::size_t i = 0; stopped[s] && i < n; ++i)
        x[d.place(count, all, first + s, from + i)] = std::numeric_limits<S>::quiet_NaN();
  };

  /// What a trajectory was given up to step k, the first that it cannot make.
  const auto given_finite = [&](std::size_t state, std::size_t k) {
    const std::size_t all = forces == Forces::each_step ? steps * nv : nv;
    return (k > 0 || (d.is_finite(q, count, nq, state, 0, nq) && d.is_finite(v, count, nv, state, 0, nv))) &&
           (forces == Forces::none || d.is_finite(tau, count, all, state, all == nv ? 0 : k * nv, nv));
  };

  struct Motion {
    const D& d;
    const RolloutTable<S>& kernels;
    batching::Worker<S>& w;
    const S* tau;      // in lanes; null: none
    const S* damping;  // null: none
    void acceleration(const S* at, const S* rate, S* a) const {
      const S* force = tau;
      if (damping) {
        kernels.damped(d.model.nv(), tau, damping, rate, numbers(w.scratch[0]));
        force = numbers(w.scratch[0]);
      }
      S smallest[most_lanes<S>];
      batching::accelerate(d, w, at, rate, force, a, smallest);
      for (int s = 0; s < d.table->lanes; ++s)
        if (!(smallest[s] > 0)) w.smallest[s] = smallest[s];
    }
  };

  d.on_threads((count + lanes - 1) / lanes, [&](int index, std::size_t tile) {
    auto& w = d.workers[index];
    const std::size_t first = tile * lanes;
    const int used = static_cast<int>(std::min<std::size_t>(lanes, count - first));
    d.load_inertias(w, tile);
    S *const at = numbers(w.q), *const rate = numbers(w.v), *const force = numbers(w.tau);
    take(q, nq, 0, nq, first, used, at);
    take(v, nv, 0, nv, first, used, rate);
    if (forces == Forces::constant) take(tau, nv, 0, nv, first, used, force);
    Motion motion{d, kernels, w, forces == Forces::none ? nullptr : force,
                  options.damping ? r.damping.data() : nullptr};
    const LaneAcceleration<S> acceleration{&motion, [](void* self, const S* at, const S* rate, S* a) {
                                             static_cast<Motion*>(self)->acceleration(at, rate, a);
                                           }};
    bool stopped[most_lanes<S>] = {};
    S largest[most_lanes<S>] = {};
    int running = lanes;
    for (std::size_t k = 0; k < steps; ++k) {
      if (running > 0) {
        if (forces == Forces::each_step) take(tau, steps * nv, k * nv, nv, first, used, force);
        std::fill_n(w.smallest, lanes, S(1));
        S finite[most_lanes<S>];
        kernels.step(options.integrator, r.manifold.pieces(), h, static_cast<long>(nq), static_cast<long>(nv),
                     acceleration, at, rate, numbers(w.step), finite);
        for (int s = 0; s < lanes; ++s) {
          if (stopped[s] || (w.smallest[s] > 0 && finite[s] == 0)) continue;
          stopped[s] = true;
          --running;
          if (s < used && first + s < w.failed)
            w.failed = first + s, w.failed_step = k + 1, w.finite = given_finite(first + s, k);
        }
        for (std::size_t i = 0; !fastest.empty() && i < nv; ++i)
          for (int s = 0; s < lanes; ++s) largest[s] = std::max(largest[s], std::abs(rate[i * lanes + s]));
        // A stopped lane goes on as a copy of another: numbers that are not finite would slow down all.
        int other = 0;
        while (other < lanes && stopped[other]) ++other;
        for (int s = 0; running > 0 && running < lanes && s < lanes; ++s) {
          if (!stopped[s]) continue;
          for (std::size_t i = 0; i < nq; ++i) at[i * lanes + s] = at[i * lanes + other];
          for (std::size_t i = 0; i < nv; ++i) rate[i * lanes + s] = rate[i * lanes + other];
        }
      }
      if ((k + 1) % options.every) continue;
      const std::size_t time = k / options.every;
      give(q_path, times * nq, time * nq, nq, first, used, stopped, at);
      give(v_path, times * nv, time * nv, nv, first, used, stopped, rate);
    }
    give(fastest, 1, 0, 1, first, used, stopped, largest);
  });

  std::size_t state;
  if (const auto* const w = d.first_failed(state))
    throw_failed_step(function, state, w->failed_step, w->finite);
}

}  // namespace

template <class S>
void Batch<S>::step(In<S> q, In<S> v, In<S> tau, double h, Out<S> q_next, Out<S> v_next,
                    const StepOptions& options) {
  run<S>(*data_, "step", q, v, tau, one_step<S>(q, v, h, q_next, v_next, options), q_next, v_next, {});
}
template <class S>
void Batch<S>::rollout(In<S> q, In<S> v, In<S> tau, const RolloutOptions& options, Out<S> q_path,
                       Out<S> v_path, Out<S> fastest) {
  run<S>(*data_, "rollout", q, v, tau, options, q_path, v_path, fastest);
}

template void Batch<double>::step(In<double> q, In<double> v, In<double> tau, double h, Out<double> q_next,
                                  Out<double> v_next, const StepOptions& options);
template void Batch<float>::step(In<float> q, In<float> v, In<float> tau, double h, Out<float> q_next,
                                 Out<float> v_next, const StepOptions& options);
template void Batch<double>::rollout(In<double> q, In<double> v, In<double> tau,
                                     const RolloutOptions& options, Out<double> q_path, Out<double> v_path,
                                     Out<double> fastest);
template void Batch<float>::rollout(In<float> q, In<float> v, In<float> tau, const RolloutOptions& options,
                                    Out<float> q_path, Out<float> v_path, Out<float> fastest);

}  // namespace articula
