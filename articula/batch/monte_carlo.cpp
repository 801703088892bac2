#include "articula/batch/monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numbers>
#include <optional>
#include <thread>

#include "articula/batch/batch.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/inertial_parameters.hpp"

namespace articula {

namespace {

/// splitmix64: a stream for each run, whatever thread it is on.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t run) : state_(seed * 0x9e3779b97f4a7c15u + run) {
    state_ = next() ^ (run * 0xd1342543de82ef95u);
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal() {
    const double r = std::sqrt(-2 * std::log(1 - uniform()));
    return r * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Draws run i's numbers; throws where they make no mechanism. `draws` has them in any case.
MonteCarloStart draw_start(const Model& model, const MonteCarlo& what, std::int64_t i,
                           std::vector<double>& draws) {
  Stream stream(what.seed, std::uint64_t(i));
  MonteCarloStart start{model, what.q, what.v, what.tau, {}};
  std::optional<ModelSpec> other;
  const auto spec = [&]() -> ModelSpec& { return other ? *other : other.emplace(model.spec()); };
  Vec3<double> gravity = model.gravity();
  std::vector<double> dq(model.nv());
  draws.resize(what.drawn.size());
  if (what.chosen) what.chosen(i, draws);
  for (std::size_t k = 0; k < draws.size(); ++k) {
    const Drawn& d = what.drawn[k];
    if (!what.chosen)
      draws[k] = d.normal ? d.a + d.b * stream.normal() : d.a + (d.b - d.a) * stream.uniform();
    const double x = draws[k];
    switch (d.what) {
      case Drawn::What::q:
        dq[d.index] += x;
        break;
      case Drawn::What::v:
        start.v[d.index] += x;
        break;
      case Drawn::What::torque:
        start.tau[d.index] += x;
        break;
      case Drawn::What::mass: {
        MassProperties& mass = spec().links[d.index].mass;
        mass.mass *= x;
        for (double* j : {&mass.inertia.xx, &mass.inertia.yy, &mass.inertia.zz, &mass.inertia.xy,
                          &mass.inertia.xz, &mass.inertia.yz})
          *j *= x;
        break;
      }
      case Drawn::What::armature:
        spec().joints[d.index].armature = x;
        break;
      case Drawn::What::damping:
        spec().joints[d.index].damping = x;
        break;
      case Drawn::What::friction:
        spec().joints[d.index].friction = x;
        break;
      case Drawn::What::gravity:
        (d.index == 0 ? gravity.x : d.index == 1 ? gravity.y : gravity.z) = x;
        spec();
        break;
      case Drawn::What::other:
        break;
    }
  }
  integrate(model, what.q, dq, start.q);
  if (other) start.model = Model(*other, {model.base(), gravity});
  start.draws = draws;
  return start;
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
        piece_(what.piece > 0 ? what.piece : group_) {
    for (const Drawn& d : what.drawn) other_masses_ |= d.what == Drawn::What::mass;
    if (what.first % group_ != 0 || piece_ % group_ != 0)
      throw ArgumentError(fmt::format("monte_carlo: first is {} and piece {}, expected multiples of {}",
                                      what.first, what.piece, group_));
  }
  void make(const std::function<void(Piece&)>& give);

 private:
  bool stopped() const { return given_up_ || (what_.stop && what_.stop->load(std::memory_order_relaxed)); }
  void alone(std::int64_t i, MonteCarloRun& result);
  void together(const std::vector<MonteCarloStart>& starts, const std::vector<MonteCarloRun*>& results);
  void group(std::int64_t first, std::span<MonteCarloRun> runs);
  void work();

  const Model& model_;
  const MonteCarlo& what_;
  const std::function<void(Piece&)>& finish_;
  const int group_, piece_;
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
    for (long k = 1; k <= what_.grid.steps(); ++k) {
      simulator.advance(what_.grid.time(k));
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
void Runs::together(const std::vector<MonteCarloStart>& starts, const std::vector<MonteCarloRun*>& results) {
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
  if (!what_.engine) batch.emplace(model_);
  if (other_masses_) what_.engine ? what_.engine->vary(inertias) : batch->vary(inertias);
  std::vector<double> fastest(count);
  for (long k = 0; k < grid.steps();) {
    if (stopped()) return;
    // Steps of one length: the last one may be shorter.
    const long alike = std::max(1L, grid.steps() - 1 - k);
    RolloutOptions options;
    options.integrator = what_.integrator;
    options.damping = what_.damping;
    options.steps = std::size_t(std::min(alike, most));
    options.step = grid.time(k + 1) - grid.time(k);
    q_path.resize(count * options.steps * nq), v_path.resize(count * options.steps * nv);
    try {
      what_.engine ? what_.engine->rollout(q, v, tau, options, q_path, v_path)
                   : batch->rollout(q, v, tau, options, q_path, v_path);
    } catch (const SingularError&) {  // seen by its numbers
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = (i + 1) * options.steps;
      for (std::size_t j = i * options.steps * nv; j < end * nv; ++j)
        fastest[i] = std::max(fastest[i], std::abs(v_path[j]));
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

void Runs::group(std::int64_t first, std::span<MonteCarloRun> runs) {
  if (runs.size() > 1) {
    std::vector<MonteCarloStart> starts;
    std::vector<MonteCarloRun*> of;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      try {
        starts.push_back(draw_start(model_, what_, first + std::int64_t(k), runs[k].draws));
        of.push_back(&runs[k]);
      } catch (const Error&) {  // said below, by the run alone
      }
    }
    try {
      if (!starts.empty()) together(starts, of);
    } catch (const Error&) {
      if (what_.engine) throw;  // else said below
    }
  }
  for (std::size_t k = 0; k < runs.size() && !stopped(); ++k)
    if (!runs[k].done) alone(first + std::int64_t(k), runs[k]);
}

/// A signal only sets a flag: who waits looks at it now and then.
constexpr std::chrono::milliseconds a_while{20};

void Runs::work() {
  try {
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
              runs.subspan(k, std::min(std::size_t(group_), runs.size() - k)));
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
  const int hardware = int(std::max(1u, std::thread::hardware_concurrency()));
  const int most = what_.engine ? 1 : what_.threads > 0 ? what_.threads : hardware;
  const int count = int(std::clamp<std::int64_t>(pieces_, 1, most));
  places_.resize(std::size_t(std::clamp<std::int64_t>(pieces_, 1, what_.engine ? 2 : 16 * count + 64)));
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

Drawn::What drawn_named(const std::string& section) {
  if (section == "q") return Drawn::What::q;
  if (section == "v") return Drawn::What::v;
  if (section == "torque") return Drawn::What::torque;
  if (section == "mass") return Drawn::What::mass;
  if (section == "armature") return Drawn::What::armature;
  if (section == "damping") return Drawn::What::damping;
  if (section == "friction") return Drawn::What::friction;
  if (section == "gravity") return Drawn::What::gravity;
  throw ArgumentError(fmt::format(
      "\"{}\" is not known; known: q, v, mass, torque, armature, damping, friction, gravity", section));
}

void add_drawn(const Model& model, const std::string& section, const std::string& name, bool normal, double a,
               double b, std::vector<Drawn>& to) {
  const Drawn::What what = drawn_named(section);
  const auto at = fmt::format("\"{}\": \"{}\": ", section, name);
  if (!std::isfinite(a) || !std::isfinite(b)) throw ArgumentError(at + "expected two finite numbers");
  if (normal ? b < 0 : b < a)
    throw ArgumentError(at + (normal ? "the deviation is negative" : "the largest is less than the least"));
  const std::size_t before = to.size();
  const auto put = [&](int index, const std::string& full) {
    to.push_back({what, index, normal, a, b, section + ":" + full});
  };
  if (what == Drawn::What::mass) {
    const auto& links = model.spec().links;
    for (std::size_t i = 0; i < links.size(); ++i)
      if (name == "*" ? links[i].mass.mass > 0 : links[i].name == name) put(int(i), links[i].name);
  } else if (what == Drawn::What::gravity) {
    for (int i = 0; i < 3; ++i)
      if (const std::string axis(1, "xyz"[i]); name == axis) put(i, axis);
  } else if (what == Drawn::What::armature || what == Drawn::What::damping || what == Drawn::What::friction) {
    const auto& joints = model.spec().joints;
    for (std::size_t i = 0; i < joints.size(); ++i)
      if (name == "*" ? nv_of(joints[i].kind) > 0 && !joints[i].mimic : joints[i].name == name)
        put(int(i), joints[i].name);
  } else {
    // A joint's name stands for all its freedoms, JOINT.i for one, * for all joints.
    const auto velocities = velocity_columns(model, "");
    for (std::size_t i = 0; i < velocities.size(); ++i) {
      const std::string full = velocities[i].name.substr(1), joint = full.substr(0, full.rfind('.'));
      if (name == "*" || name == full || name == joint) put(int(i), full);
    }
  }
  if (to.size() == before)
    throw ArgumentError(fmt::format("{}model '{}' has no such {}", at, model.name(),
                                    what == Drawn::What::mass      ? "link"
                                    : what == Drawn::What::gravity ? "axis of gravity: x, y, z"
                                                                   : "joint"));
}

int monte_carlo_group(const Model& model, const MonteCarlo& what) {
  // Lanes share all of the model but masses.
  const bool others =
      std::ranges::any_of(what.drawn, [](const Drawn& d) { return d.what > Drawn::What::mass; });
  return !what.together || others || model.nv() == 0 ? 1 : what.engine ? what.engine->at_once : 16;
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
