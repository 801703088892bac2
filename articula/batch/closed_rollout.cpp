#include "articula/batch/closed_rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "articula/batch/threads.hpp"
#include "articula/simulation/simulator.hpp"

namespace articula {

struct ClosedRollout::Worker {
  Worker(const Model& model, const std::vector<Constraint>& constraints)
      : closed(model, constraints), dampers(model) {}
  void prepare(const RolloutOptions& options) {
    simulator.emplace(closed, options.integrator);
    if (options.damping) simulator->add(dampers);
  }
  /// `forces`: nv numbers, or of each step; empty: none.
  void move(In<double> q, In<double> v, In<double> forces, const RolloutOptions& options, Out<double> q_path,
            Out<double> v_path) {
    Simulator& sim = *simulator;
    const std::size_t nq = q.size(), nv = v.size();
    sim.q.assign(q.begin(), q.end()), sim.v.assign(v.begin(), v.end());
    sim.tau.assign(nv, 0);
    try {
      for (std::size_t k = 0; k < options.steps; ++k) {
        if (!forces.empty()) {
          const auto now = forces.size() > nv ? forces.subspan(k * nv, nv) : forces;
          std::copy(now.begin(), now.end(), sim.tau.begin());
        }
        sim.time = 0;  // every step has the same length to the last bit
        sim.advance(options.step);
        if ((k + 1) % options.every) continue;
        const std::size_t row = (k + 1) / options.every - 1;
        if (!q_path.empty()) std::copy(sim.q.begin(), sim.q.end(), q_path.begin() + std::ptrdiff_t(row * nq));
        if (!v_path.empty()) std::copy(sim.v.begin(), sim.v.end(), v_path.begin() + std::ptrdiff_t(row * nv));
      }
    } catch (const Error&) {  // seen by its numbers
    }
  }

  ConstrainedDynamics closed;
  JointDampers dampers;
  std::optional<Simulator> simulator;
};

ClosedRollout::ClosedRollout(const Model& model, std::vector<Constraint> constraints, Threads* threads)
    : model_(model), constraints_(std::move(constraints)), threads_(threads) {
  for (int i = 0; i < (threads ? threads->count() : 1); ++i)
    workers_.push_back(std::make_unique<Worker>(model_, constraints_));
}
ClosedRollout::~ClosedRollout() = default;
ClosedRollout::ClosedRollout(ClosedRollout&&) noexcept = default;
ClosedRollout& ClosedRollout::operator=(ClosedRollout&&) noexcept = default;

void ClosedRollout::rollout(In<double> q, In<double> v, In<double> tau, const RolloutOptions& options,
                            Out<double> q_path, Out<double> v_path) {
  const std::size_t nq = model_.nq(), nv = model_.nv(), count = nv ? v.size() / nv : 0;
  if (!(options.step > 0) || options.steps == 0 || options.every == 0 || options.steps % options.every)
    throw ArgumentError(fmt::format("rollout: {} steps of {} s, states after every {}", options.steps,
                                    options.step, options.every));
  const std::size_t times = options.steps / options.every;
  const std::size_t of_forces = tau.empty() ? 0 : count ? tau.size() / count : 1;
  const bool fits = q.size() == count * nq && v.size() == count * nv && tau.size() == count * of_forces &&
                    (of_forces == 0 || of_forces == nv || of_forces == options.steps * nv) &&
                    (q_path.empty() || q_path.size() == count * times * nq) &&
                    (v_path.empty() || v_path.size() == count * times * nv);
  if (!fits)
    throw ArgumentError(fmt::format(
        "rollout: q has {} numbers, v {}, tau {}, q_path {}, v_path {}; {} trajectories of model "
        "'{}' need {} and {} for a state, {} states",
        q.size(), v.size(), tau.size(), q_path.size(), v_path.size(), count, model_.name(), nq, nv, times));
  const auto part = [](auto x, std::size_t i, std::size_t n) {
    return x.subspan(x.empty() ? 0 : i * n, x.empty() ? 0 : n);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const ConstraintDrift off = workers_[0]->closed.drift(part(q, i, nq), part(v, i, nv));
    if (!(off.position > 1e-6) && !(off.velocity > 1e-6)) continue;  // NaN: of a trajectory that has ended
    const bool where = off.position > 1e-6;
    throw ArgumentError(fmt::format(
        "rollout: trajectory {} does not begin on constraint '{}': its {} is off by {:.3g}; project it first",
        i, constraints_[std::size_t(std::max(0, where ? off.worst_position : off.worst_velocity))].name,
        where ? "position" : "velocity", where ? off.position : off.velocity));
  }
  std::fill(q_path.begin(), q_path.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(v_path.begin(), v_path.end(), std::numeric_limits<double>::quiet_NaN());
  std::atomic<std::size_t> next{0};
  const auto work = [&](int worker) {
    workers_[std::size_t(worker)]->prepare(options);
    for (std::size_t i; (i = next++) < count;)
      workers_[std::size_t(worker)]->move(part(q, i, nq), part(v, i, nv), part(tau, i, of_forces), options,
                                          part(q_path, i, times * nq), part(v_path, i, times * nv));
  };
  if (threads_)
    threads_->run(work);
  else
    work(0);
}

}  // namespace articula
