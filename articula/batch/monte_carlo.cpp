#include "articula/batch/monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "articula/batch/batch.hpp"
#include "articula/batch/monte_carlo_draws.hpp"
#include "articula/model/inertial_parameters.hpp"

namespace articula {

namespace {

void append_state(double time, std::span<const double> q, std::span<const double> v,
                  std::span<const double> tau, std::vector<double>& path) {
  path.push_back(time);
  for (const auto x : {q, v, tau}) path.insert(path.end(), x.begin(), x.end());
}

/// The runs of one call, on as many threads as there are.
class Runs {
 public:
  using Piece = MonteCarloPiece;
  Runs(const Model& model, const MonteCarlo& what, const std::function<void(Piece&)>& finish)
      : model_(model),
        what_(what),
        finish_(finish),
        group_(monte_carlo_group(model, what)),
        threads_(what.engine && what.keep > 0 ? 1  // thousands of long tables are made at once
                 : what.threads > 0           ? what.threads
                                              : int(std::max(1u, std::thread::hardware_concurrency()))),
        piece_(what.piece > 0 ? what.piece : group_ * groups_at_once()) {
    for (const Drawn& d : what.drawn) other_masses_ |= d.what == Drawn::What::mass;
    if (what.first % group_ != 0 || piece_ % group_ != 0)
      throw ArgumentError(fmt::format("monte_carlo: first is {} and piece {}, expected multiples of {}",
                                      what.first, what.piece, group_));
  }
  void make(const std::function<void(Piece&)>& give);

 private:
  /// To hand a piece over wakes a thread, which costs as much as a short run: pieces are larger where there are many,
  /// but some for each thread, and not where each run is a long table.
  int groups_at_once() const {
    if (what_.engine || what_.keep > 0) return 1;
    return int(std::clamp<std::int64_t>(what_.runs / (8L * group_ * threads_), 1, 8));
  }
  bool stopped() const { return given_up_ || (what_.stop && what_.stop->load(std::memory_order_relaxed)); }
  void alone(std::int64_t i, MonteCarloRun& result);
  /// `engine`: none for the processor's batch.
  void together(const std::vector<MonteCarloStart>& starts, const std::vector<std::int64_t>& numbers,
                const std::vector<MonteCarloRun*>& results, const MonteCarlo::Engine* engine);
  void group(std::int64_t first, std::span<MonteCarloRun> runs, const MonteCarlo::Engine* engine);
  void work();

  const Model& model_;
  const MonteCarlo& what_;
  const std::function<void(Piece&)>& finish_;
  const int group_, threads_, piece_;
  bool other_masses_ = false;
  std::atomic<bool> given_up_{false};
  // Pieces that are at work or wait to be given: next_ is at most so many before given_.
  struct Place {
    Piece piece;
    bool ready = false;
  };
  std::vector<Place> places_;
  std::int64_t pieces_ = 0, next_ = 0, given_ = 0;  // under guard_, as places' ready
  std::mutex guard_;
  std::condition_variable room_, ready_;
  std::exception_ptr thrown_;
};

void Runs::alone(std::int64_t i, MonteCarloRun& result) {
  try {
    const MonteCarloStart start = draw_start(model_, what_, i, result.draws);
    const std::unique_ptr<MonteCarloMotion> motion = what_.make(start);
    Simulator& simulator = motion->simulator();
    if (!simulator.watch.stop) simulator.watch.stop = what_.stop;
    simulator.watch.horizon = what_.grid.duration;
    result.end.resize(motion->recorder().columns().size());
    motion->recorder().row(result.end);
    result.path.clear();
    if (what_.keep > 0) append_state(0, simulator.q, simulator.v, simulator.tau, result.path);
    for (long k = 1; k <= what_.grid.steps(); ++k) {
      if (what_.hold > 0 && k > 1 && (k - 1) % what_.hold == 0)
        draw_torques(what_, i, (k - 1) / what_.hold, start, simulator.tau);
      simulator.advance(what_.grid.time(k));
      if (what_.keep > 0 && (k % what_.keep == 0 || k == what_.grid.steps()))
        append_state(what_.grid.time(k), simulator.q, simulator.v, simulator.tau, result.path);
      for (const double v : simulator.v) result.fastest = std::max(result.fastest, std::abs(v));
    }
    motion->recorder().row(result.end);
  } catch (const StoppedError&) {
    return;
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.done = true;
}

/// Those that fail keep `done` false: they are for one at a time, which says why.
void Runs::together(const std::vector<MonteCarloStart>& starts, const std::vector<std::int64_t>& numbers,
                    const std::vector<MonteCarloRun*>& results, const MonteCarlo::Engine* engine) {
  const Grid& grid = what_.grid;
  const std::size_t count = starts.size(), nq = model_.nq(), nv = model_.nv();
  // Steps between looks at whether to stop: some ten milliseconds' worth.
  const long most = std::clamp(3000L / long(nv), 1L, 32L);
  std::vector<double> q, v, tau, inertias, q_path, v_path;
  const auto add = [](std::vector<double>& to, const std::vector<double>& x) {
    to.insert(to.end(), x.begin(), x.end());
  };
  for (const MonteCarloStart& start : starts) {
    add(q, start.q), add(v, start.v), add(tau, start.tau);
    if (other_masses_) add(inertias, inertial_parameters(start.model));
  }
  std::optional<Batch<>> batch;
  if (!engine) batch.emplace(model_);
  if (other_masses_) engine ? engine->vary(inertias) : batch->vary(inertias);
  std::vector<double> fastest(count), fastest_now(count);
  const auto at = [](std::vector<double>& x, std::size_t i, std::size_t n) {
    return std::span(x).subspan(i * n, n);
  };
  for (std::size_t i = 0; what_.keep > 0 && i < count; ++i)
    append_state(0, at(q, i, nq), at(v, i, nv), at(tau, i, nv), results[i]->path);
  for (long k = 0; k < grid.steps();) {
    if (stopped()) return;
    for (std::size_t i = 0; what_.hold > 0 && k > 0 && k % what_.hold == 0 && i < count; ++i)
      draw_torques(what_, numbers[i], k / what_.hold, starts[i], at(tau, i, nv));
    // Steps of one length: the last one may be shorter.
    const long alike = std::max(1L, grid.steps() - 1 - k);
    RolloutOptions options;
    options.integrator = what_.integrator;
    options.damping = what_.damping;
    const long same_torque = what_.hold > 0 ? what_.hold - k % what_.hold : most;
    options.steps = std::size_t(std::min({alike, most, same_torque}));
    options.step = grid.time(k + 1) - grid.time(k);
    options.every = what_.keep > 0 ? 1 : options.steps;
    const std::size_t times = options.steps / options.every;
    q_path.resize(count * times * nq), v_path.resize(count * times * nv);
    try {
      engine ? engine->rollout(q, v, tau, options, q_path, v_path, fastest_now)
             : batch->rollout(q, v, tau, options, q_path, v_path, fastest_now);
    } catch (const SingularError&) {   // seen by its numbers
    } catch (const NotFiniteError&) {  // it ended before
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = (i + 1) * times;
      fastest[i] = std::max(fastest[i], fastest_now[i]);
      for (std::size_t s = 0; what_.keep > 0 && s < times; ++s)
        if (const long step = k + long(s) + 1; step % what_.keep == 0 || step == grid.steps())
          append_state(grid.time(step), at(q_path, end - times + s, nq), at(v_path, end - times + s, nv),
                       at(tau, i, nv), results[i]->path);
      std::copy_n(q_path.begin() + (end - 1) * nq, nq, q.begin() + i * nq);
      std::copy_n(v_path.begin() + (end - 1) * nv, nv, v.begin() + i * nv);
    }
    k += long(options.steps);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::all_of(v.begin() + i * nv, v.begin() + (i + 1) * nv, [](double x) { return std::isfinite(x); }))
      continue;
    const std::unique_ptr<MonteCarloMotion> motion = what_.make(starts[i]);
    results[i]->end.resize(motion->recorder().columns().size());
    motion->recorder().row(results[i]->end);  // energies are told from the first row on
    Simulator& simulator = motion->simulator();
    simulator.time = grid.time(grid.steps());
    simulator.q.assign(q.begin() + i * nq, q.begin() + (i + 1) * nq);
    simulator.v.assign(v.begin() + i * nv, v.begin() + (i + 1) * nv);
    motion->recorder().row(results[i]->end);
    results[i]->fastest = fastest[i];
    results[i]->done = true;
  }
}

void Runs::group(std::int64_t first, std::span<MonteCarloRun> runs, const MonteCarlo::Engine* engine) {
  if (runs.size() > 1) {
    std::vector<MonteCarloStart> starts;
    std::vector<MonteCarloRun*> of;
    std::vector<std::int64_t> numbers;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      try {
        starts.push_back(draw_start(model_, what_, first + std::int64_t(k), runs[k].draws));
        of.push_back(&runs[k]);
        numbers.push_back(first + std::int64_t(k));
      } catch (const Error&) {  // said below, by the run alone
      }
    }
    try {
      if (!starts.empty()) together(starts, numbers, of, engine);
    } catch (const Error&) {
      if (engine) throw;  // else said below
    }
  }
  for (std::size_t k = 0; k < runs.size() && !stopped(); ++k)
    if (!runs[k].done) alone(first + std::int64_t(k), runs[k]);
}

/// A signal only sets a flag: who waits looks at it now and then.
constexpr std::chrono::milliseconds a_while{20};

void Runs::work() {
  try {
    const MonteCarlo::Engine engine = what_.engine ? what_.engine() : MonteCarlo::Engine{};
    for (;;) {
      std::unique_lock lock(guard_);
      while (!stopped() && next_ < pieces_ && next_ - given_ >= std::int64_t(places_.size()))
        room_.wait_for(lock, a_while);
      if (stopped() || next_ >= pieces_) return;
      const std::int64_t mine = next_++;
      lock.unlock();
      Place& place = places_[std::size_t(mine) % places_.size()];
      place.piece.first = what_.first + mine * piece_;
      place.piece.runs.assign(std::size_t(std::min<std::int64_t>(piece_, what_.runs - mine * piece_)), {});
      place.piece.made.reset();
      const std::span<MonteCarloRun> runs = place.piece.runs;
      for (std::size_t k = 0; k < runs.size() && !stopped(); k += std::size_t(group_))
        group(place.piece.first + std::int64_t(k),
              runs.subspan(k, std::min(std::size_t(group_), runs.size() - k)),
              what_.engine ? &engine : nullptr);
      if (finish_) finish_(place.piece);
      lock.lock();
      place.ready = true;
      if (mine == given_) ready_.notify_one();
    }
  } catch (...) {
    const std::lock_guard lock(guard_);
    if (!thrown_) thrown_ = std::current_exception();
    given_up_ = true;
  }
}

void Runs::make(const std::function<void(Piece&)>& give) {
  // Each thread takes the next piece; what a run gives depends on its number alone.
  pieces_ = (what_.runs + piece_ - 1) / piece_;
  const int count = int(std::clamp<std::int64_t>(pieces_, 1, threads_));
  places_.resize(
      std::size_t(std::clamp<std::int64_t>(pieces_, 1, what_.engine ? count + 1 : 16 * count + 64)));
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
  try {
    while (given_ < pieces_ && !stopped()) {
      std::unique_lock lock(guard_);
      Place& place = places_[std::size_t(given_) % places_.size()];
      if (!place.ready) ready_.wait_for(lock, a_while);
      const bool is_ready = place.ready;
      lock.unlock();
      if (what_.told) what_.told(std::size_t(std::min(given_ * piece_, what_.runs)));
      if (!is_ready) continue;
      give(place.piece);
      lock.lock();
      place.ready = false;
      ++given_;
      room_.notify_one();
    }
  } catch (...) {
    given_up_ = true;
    throw;
  }
  threads.clear();
  if (thrown_) std::rethrow_exception(thrown_);
  for (; given_ < next_; ++given_) give(places_[std::size_t(given_) % places_.size()].piece);  // after a stop
}

}  // namespace

int monte_carlo_group(const Model& model, const MonteCarlo& what) {
  // Lanes share all of the model but masses.
  const bool others =
      std::ranges::any_of(what.drawn, [](const Drawn& d) { return d.what > Drawn::What::mass; });
  return !what.together || others || model.nv() == 0 ? 1 : what.engine ? what.at_once : 16;
}
void monte_carlo(const Model& model, const MonteCarlo& what,
                 const std::function<void(MonteCarloPiece&)>& finish,
                 const std::function<void(MonteCarloPiece&)>& give) {
  Runs(model, what, finish).make(give);
}
std::vector<MonteCarloRun> monte_carlo(const Model& model, const MonteCarlo& what) {
  std::vector<MonteCarloRun> out(std::size_t(what.runs));
  monte_carlo(model, what, nullptr, [&](MonteCarloPiece& piece) {
    std::move(piece.runs.begin(), piece.runs.end(), out.begin() + (piece.first - what.first));
  });
  return out;
}

}  // namespace articula
