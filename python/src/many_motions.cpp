// Many motions at once: rollouts and Monte Carlo.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "acting.hpp"
#include "articula/batch/batch.hpp"
#include "articula/batch/closed_rollout.hpp"
#include "articula/batch/design.hpp"
#include "articula/batch/monte_carlo.hpp"
#include "scene_object.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double piece_seconds = 0.03;
constexpr std::size_t most_together = 4096;  // trajectories of a piece
constexpr std::size_t most_at_once = 1024;   // steps of a piece

/// `count` trajectories from q and v on; a whole rollout is made of pieces, between which Ctrl-C is heard.
struct Trajectories {
  std::function<void(In<double> q, In<double> v, In<double> tau, const RolloutOptions&, Out<double> q_path,
                     Out<double> v_path)>
      roll;
  RolloutOptions options;  // of the whole
  std::size_t nq, nv, times;
  bool each_step;

  std::span<const double> tau;       // of these trajectories
  std::span<double> q_path, v_path;  // likewise
  std::vector<double> q, v;          // where they are
  std::vector<double> forces, q_some, v_some;

  /// Steps of the next piece, `most` at most, from step k on: kept states are at its end, or between.
  std::size_t length(std::size_t k, std::size_t most) const {
    const std::size_t to_next = options.every - k % options.every;
    if (to_next < options.every || options.every > most) return std::min(most, to_next);
    return std::min(options.steps - k, most / options.every * options.every);
  }
  void advance(std::size_t count, std::size_t k, std::size_t steps) {
    RolloutOptions some = options;
    some.steps = steps;
    some.every = k % options.every == 0 && steps % options.every == 0 ? options.every : steps;
    std::span<const double> now = tau;
    if (each_step) {
      forces.resize(count * steps * nv);
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(tau.begin() + (i * options.steps + k) * nv, steps * nv, forces.begin() + i * steps * nv);
      now = forces;
    }
    const std::size_t kept = steps / some.every;
    q_some.resize(count * kept * nq), v_some.resize(count * kept * nv);
    try {
      roll(q, v, now, some, q_some, v_some);
    } catch (const SingularError&) {  // seen by its numbers
    } catch (const NotFiniteError&) {
    }
    const bool at_a_time = (k + steps) % options.every == 0;
    const std::size_t first = (k + steps) / options.every - kept;
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(q_some.begin() + ((i + 1) * kept - 1) * nq, nq, q.begin() + i * nq);
      std::copy_n(v_some.begin() + ((i + 1) * kept - 1) * nv, nv, v.begin() + i * nv);
      if (!at_a_time) continue;
      std::copy_n(q_some.begin() + i * kept * nq, kept * nq, q_path.begin() + (i * times + first) * nq);
      std::copy_n(v_some.begin() + i * kept * nv, kept * nv, v_path.begin() + (i * times + first) * nv);
    }
  }
};

/// Throws SingularError with the trajectories that came to an end, or Error where the first was given numbers that are
/// not finite.
void check_finite(std::span<const double> v_path, std::size_t count,
                  std::initializer_list<std::span<const double>> given) {
  nb::list states;
  bool finite = true;
  const std::size_t n = count ? v_path.size() / count : 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (n == 0 || std::isfinite(v_path[(i + 1) * n - 1])) continue;
    for (const std::span<const double> x : given)
      for (const double number : x.subspan(i * (x.size() / count), x.size() / count))
        finite = finite && (states.size() > 0 || std::isfinite(number));
    states.append(i);
  }
  if (states.size() == 0) return;
  const auto told = [&](const char* why) {
    return fmt::format("rollout: {} of {} trajectories come to an end, {}", states.size(), count, why);
  };
  if (finite)
    set_error_of_states("SingularError",
                        told("some joint has nothing to move or their numbers are not finite"), states);
  else
    set_error_of_states("Error", told("they were given numbers that are not finite"), states);
  throw nb::python_error();
}

nb::tuple rollout(nb::handle model, nb::object scene, std::size_t count, nb::handle q, nb::handle v,
                  nb::object tau, bool each_step, double step, std::size_t steps, std::size_t every,
                  const std::string& integrator, bool damping, int threads, nb::object progress) {
  ModelObject& m = checked_model(model);
  if (!(step > 0) || !std::isfinite(step))
    fail(fmt::format("rollout: step is {}; expected seconds above zero", step));
  if (steps < 1 || every < 1 || steps % every != 0)
    fail(fmt::format(
        "rollout: steps is {} and every {}; expected whole numbers from 1 on, steps a multiple of every",
        steps, every));
  const auto nq = static_cast<std::size_t>(m.nq), nv = static_cast<std::size_t>(m.nv);
  const std::vector<Constraint> constraints = constraints_of(m, scene);
  std::optional<Batch<double>> batch;
  std::optional<ClosedRollout> closed;
  if (constraints.empty())
    batch.emplace(m.model, BatchOptions{.threads = threads_for(threads)});
  else
    closed.emplace(m.model, constraints, threads_for(threads));
  const auto roll = [&](In<double> at, In<double> rate, In<double> forces, const RolloutOptions& some,
                        Out<double> q_path, Out<double> v_path) {
    batch ? batch->rollout(at, rate, forces, some, q_path, v_path)
          : closed->rollout(at, rate, forces, some, q_path, v_path);
  };
  RolloutOptions options;
  options.integrator = integrator_named(integrator);
  options.damping = damping;
  options.step = step;
  options.steps = steps;
  options.every = every;
  const auto start = numbers_in(q, "q", count * nq), rates = numbers_in(v, "v", count * nv);
  const std::size_t force_count = tau.is_none() ? 0 : nv * (each_step ? steps : 1);
  const std::span<const double> forces =
      tau.is_none() ? std::span<double>{} : numbers_in(tau, "tau", count * force_count);
  const std::size_t times = steps / every;
  const NewNumbers q_path({count, times, nq}), v_path({count, times, nv});
  Heartbeat heartbeat(progress,
                      static_cast<double>(std::max<std::size_t>(count, 1)) * static_cast<double>(steps));
  {
    const nb::gil_scoped_release free_the_lock;
    double pace = piece_seconds / 4;  // seconds per step; found out
    for (std::size_t begin = 0; begin < count; begin += most_together) {
      const std::size_t n = std::min(most_together, count - begin);
      const auto part = [&](auto x, std::size_t size) { return x.subspan(begin * size, n * size); };
      const auto at = part(start, nq), rate = part(rates, nv);
      Trajectories some{roll,
                        options,
                        nq,
                        nv,
                        times,
                        each_step && !tau.is_none(),
                        part(forces, force_count),
                        part(q_path.numbers, times * nq),
                        part(v_path.numbers, times * nv),
                        {at.begin(), at.end()},
                        {rate.begin(), rate.end()},
                        {},
                        {},
                        {}};
      for (std::size_t k = 0; k < steps;) {
        const double fit = std::clamp(piece_seconds / pace, 1.0, static_cast<double>(most_at_once));
        const std::size_t length = some.length(k, static_cast<std::size_t>(fit));
        const auto before = Clock::now();
        some.advance(n, k, length);
        const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
        pace = std::max(1e-9, seconds / static_cast<double>(length));
        k += length;
        heartbeat.at(static_cast<double>(begin) * static_cast<double>(steps) +
                     static_cast<double>(n) * static_cast<double>(k));
      }
    }
  }
  check_finite(v_path.numbers, count, {start, rates, forces});
  return nb::make_tuple(q_path.array, v_path.array);
}

class RunMotion : public MonteCarloMotion {
 public:
  RunMotion(const MonteCarloStart& start, const std::vector<Constraint>& constraints, Integrator integrator,
            const Acting& acting)
      : closed_(constraints.empty() ? nullptr
                                    : std::make_unique<ConstrainedDynamics>(start.model, constraints)),
        simulator_(start.model, closed_.get(), integrator) {
    simulator_.q = start.q, simulator_.v = start.v, simulator_.tau = start.tau;
    elements_.add(simulator_, acting, start.q);
    recorder_.emplace(simulator_);
  }
  Simulator& simulator() override { return simulator_; }
  Recorder& recorder() override { return *recorder_; }

 private:
  std::unique_ptr<ConstrainedDynamics> closed_;
  Simulator simulator_;
  Elements elements_;
  std::optional<Recorder> recorder_;
};

/// Names of columns, numbers (runs x columns; draws, the state at the end, the largest speed), and what failed.
nb::tuple results_of(std::int64_t first, const std::vector<MonteCarloRun>& runs,
                     const std::vector<Drawn>& drawn, const std::vector<Column>& columns) {
  nb::list names, errors;
  for (const Drawn& d : drawn) names.append("draw:" + d.name);
  for (const Column& c : columns) names.append(c.name);
  names.append("largest_speed");
  const std::size_t width = drawn.size() + columns.size() + 1;
  const NewNumbers table({runs.size(), width});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto row = table.numbers.subspan(i * width, width);
    std::ranges::fill(row, std::numeric_limits<double>::quiet_NaN());
    std::ranges::copy(runs[i].draws, row.begin());
    if (runs[i].error.empty())
      std::ranges::copy(runs[i].end, row.begin() + static_cast<std::ptrdiff_t>(drawn.size()));
    row.back() = runs[i].fastest;
    if (!runs[i].error.empty())
      errors.append(nb::make_tuple(first + static_cast<std::int64_t>(i), runs[i].error));
  }
  return nb::make_tuple(names, table.array, errors);
}

/// Kind, axes (section, name, least, largest, values) and points of a sweep.
using Chosen =
    std::tuple<std::string,
               std::vector<std::tuple<std::string, std::string, double, double, std::vector<double>>>,
               std::uint64_t>;
Design design_of(const Chosen& chosen, std::uint64_t seed) {
  std::vector<Design::Axis> axes;
  for (const auto& [section, name, least, largest, values] : std::get<1>(chosen))
    axes.push_back({least, largest, values});
  return {Design::kind_named(std::get<0>(chosen)), std::move(axes), std::get<2>(chosen), seed};
}

using Distribution = std::tuple<std::string, std::string, bool, double, double>;
nb::tuple run_many(nb::handle model, nb::object scene, std::int64_t first, int runs, std::uint64_t seed,
                   int threads, const std::vector<Distribution>& distributions,
                   const std::optional<Chosen>& sweep, const std::string& integrator, double duration,
                   double step, nb::handle q, nb::handle v, nb::handle tau, bool damping, bool friction,
                   const std::string& limits, double restitution, nb::list controllers, nb::object progress) {
  ModelObject& m = checked_model(model);
  check_times("monte_carlo", duration, step);
  const Acting acting(m.model, damping, friction, limits, restitution, controllers);
  const auto nq = static_cast<std::size_t>(m.nq), nv = static_cast<std::size_t>(m.nv);
  const auto start = numbers_in(q, "q", nq), rates = numbers_in(v, "v", nv),
             forces = numbers_in(tau, "tau", nv);
  MonteCarlo what;
  what.first = first, what.runs = runs, what.seed = seed, what.threads = threads;
  for (const auto& [section, name, normal, a, b] : distributions)
    add_drawn(m.model, section, name, normal, a, b, what.drawn);
  std::optional<Design> design;
  std::vector<std::size_t> axis_of;
  if (sweep) {
    design.emplace(design_of(*sweep, seed));
    for (const auto& axis : std::get<1>(*sweep)) {
      add_drawn(m.model, std::get<0>(axis), std::get<1>(axis), false, 0, 0, what.drawn);
      axis_of.resize(what.drawn.size(), axis_of.empty() ? 0 : axis_of.back() + 1);
    }
    what.chosen = [&](std::int64_t run, std::span<double> out) {
      std::vector<double> point(design->axes());
      design->point(static_cast<std::uint64_t>(run), point);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = point[axis_of[i]];
    };
  }
  what.q.assign(start.begin(), start.end());
  what.v.assign(rates.begin(), rates.end());
  what.tau.assign(forces.begin(), forces.end());
  what.grid = {step, duration};
  what.integrator = integrator_named(integrator);
  what.make = [&](const MonteCarloStart& run) {
    return std::make_unique<RunMotion>(run, what.constraints, what.integrator, acting);
  };
  what.constraints = constraints_of(m, scene);
  what.damping = damping;
  what.together = what.constraints.empty() && acting.only_damping() &&
                  stepping_of(what.integrator) == Stepping::explicit_step;
  const std::vector<Column> columns =
      what.make({m.model, what.q, what.v, what.tau, {}})->recorder().columns();

  // Ctrl-C is heard by this thread, which waits for the others.
  std::atomic<bool> stop{false};
  what.stop = &stop;
  Heartbeat heartbeat(progress, std::max(1, runs));
  std::exception_ptr interrupted;
  what.told = [&](std::size_t finished) {
    try {
      if (!stop) heartbeat.at(static_cast<double>(finished));
    } catch (...) {
      interrupted = std::current_exception();
      stop = true;
    }
  };
  std::vector<MonteCarloRun> results;
  {
    const nb::gil_scoped_release free_the_lock;
    results = monte_carlo(m.model, what);
  }
  if (interrupted) std::rethrow_exception(interrupted);
  return results_of(first, results, what.drawn, columns);
}

}  // namespace

void add_many_motions(nb::module_& m) {
  m.def("_rollout", rollout, nb::arg("model"), nb::arg("scene").none(), nb::arg("count"), nb::arg("q"),
        nb::arg("v"), nb::arg("tau").none(), nb::arg("each_step"), nb::arg("step"), nb::arg("steps"),
        nb::arg("every"), nb::arg("integrator"), nb::arg("damping"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def(
      "_sweep_size",
      [](const std::string& kind, const std::tuple_element_t<1, Chosen>& axes, std::uint64_t points) {
        return design_of({kind, axes, points}, 1).size();
      },
      nb::arg("design"), nb::arg("axes"), nb::arg("points"));
  m.def("_monte_carlo", run_many, nb::arg("model"), nb::arg("scene").none(), nb::arg("first"),
        nb::arg("runs"), nb::arg("seed"), nb::arg("threads"), nb::arg("distributions"),
        nb::arg("sweep").none(), nb::arg("integrator"), nb::arg("duration"), nb::arg("step"), nb::arg("q"),
        nb::arg("v"), nb::arg("tau"), nb::arg("damping"), nb::arg("friction"), nb::arg("limits"),
        nb::arg("restitution"), nb::arg("controllers"), nb::arg("progress").none());
}

}  // namespace articula::python
