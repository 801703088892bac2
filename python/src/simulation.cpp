// Motion over time: simulations with Python's controllers, recordings, rollouts; pages of them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>

#include "articula/files/read_model.hpp"
#include "articula/report/model_view.hpp"
#include "articula/report/recording_report.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/recording.hpp"
#include "numbers.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// tau = f(time, q, v), called with the interpreter's lock held. f has copies: it may keep them.
class PythonForces : public ForceElement {
 public:
  PythonForces(nb::object f, std::size_t nv) : f_(std::move(f)), nv_(nv) {}
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override {
    const nb::object result = f_(t, copied(q, {q.size()}), copied(v, {v.size()}));
    const std::span<double> forces = numbers_in(result, "controller's tau", nv_);
    for (std::size_t i = 0; i < nv_; ++i) tau[i] += forces[i];
  }

 private:
  nb::object f_;
  std::size_t nv_;
};

Recording make_recording(const std::vector<std::pair<std::string, std::string>>& columns,
                         const std::vector<std::pair<std::string, std::string>>& about, nb::handle numbers,
                         std::size_t rows) {
  Recording recording;
  for (const auto& [name, unit] : columns) recording.columns.push_back({name, unit});
  recording.about = about;
  const auto given = numbers_in(numbers, "numbers", rows * columns.size());
  recording.numbers.assign(given.begin(), given.end());
  return recording;
}
nb::tuple as_tuple(const Recording& recording) {
  nb::list columns, about;
  for (const Column& column : recording.columns) columns.append(nb::make_tuple(column.name, column.unit));
  for (const auto& [key, value] : recording.about) about.append(nb::make_tuple(key, value));
  return nb::make_tuple(columns, about,
                        copied(recording.numbers, {recording.size(), recording.columns.size()}));
}

using Clock = std::chrono::steady_clock;

/// Ctrl-C is heard, and progress told, some times a second.
class Heartbeat {
 public:
  explicit Heartbeat(nb::object progress) : progress_(std::move(progress)) {}
  void at(double part) {
    if (Clock::now() - last_ < std::chrono::milliseconds(40)) return;
    last_ = Clock::now();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(part);
  }

 private:
  nb::object progress_;
  Clock::time_point last_ = Clock::now();
};

struct Elements {
  std::vector<std::unique_ptr<ForceElement>> all;
  void add(Simulator& simulator, std::unique_ptr<ForceElement> element) {
    simulator.add(*element);
    all.push_back(std::move(element));
  }
};

nb::tuple simulate(nb::handle model, const std::string& integrator, double duration, double step,
                   double every, nb::handle q, nb::handle v, nb::handle tau, bool damping, bool friction,
                   const std::string& limits, nb::list controllers, nb::object progress) {
  ModelObject& m = checked_model(model);
  for (const auto& [name, x] : {std::pair{"duration", duration}, {"step", step}, {"every", every}})
    if (!(x > 0) || !std::isfinite(x))
      fail(fmt::format("simulate: {} is {}; expected seconds above zero", name, x));
  const auto nq = static_cast<std::size_t>(m.nq), nv = static_cast<std::size_t>(m.nv);
  Simulator simulator(m.model, integrator_named(integrator));
  std::ranges::copy(numbers_in(q, "q", nq), simulator.q.begin());
  std::ranges::copy(numbers_in(v, "v", nv), simulator.v.begin());
  const auto forces = numbers_in(tau, "tau", nv);
  simulator.tau.assign(forces.begin(), forces.end());
  Elements elements;
  if (damping) elements.add(simulator, std::make_unique<JointDampers>(m.model));
  if (friction) elements.add(simulator, std::make_unique<DryFriction>(m.model));
  if (limits == "stiff")
    elements.add(simulator, std::make_unique<StiffStops>(m.model));
  else if (limits == "events")
    simulator.stop_at_limits();
  else if (limits != "none")
    fail(fmt::format("simulate: limits is '{}'; expected \"none\", \"stiff\" or \"events\"", limits));
  for (nb::handle entry : controllers) {
    auto element = std::make_unique<PythonForces>(nb::object(entry[0]), nv);
    if (const nb::object period = entry[1]; period.is_none()) {
      elements.add(simulator, std::move(element));
    } else {
      simulator.add_sampled(*element, nb::cast<double>(period));
      elements.all.push_back(std::move(element));
    }
  }

  Recorder recorder(simulator);
  Recording recording;
  recording.columns = recorder.columns();
  recording.about = {{"model", m.model.name()}, {"integrator", integrator}};
  const auto record = [&] {
    recording.numbers.resize(recording.numbers.size() + recording.columns.size());
    recorder.row(std::span(recording.numbers).last(recording.columns.size()));
  };
  record();
  Heartbeat heartbeat(std::move(progress));
  const double rows = std::ceil(duration / every - 1e-9);
  for (double row = 1; row <= rows; ++row) {
    const double end = std::min(row * every, duration), start = simulator.time;
    if (is_adaptive(simulator.integrator())) {
      simulator.advance(end);
    } else {
      const double steps = std::max(1.0, std::ceil((end - start) / step - 1e-9));
      for (double i = 1; i <= steps; ++i) {
        simulator.advance(i < steps ? start + (end - start) * i / steps : end);
        heartbeat.at(simulator.time / duration);
      }
    }
    heartbeat.at(simulator.time / duration);
    record();
  }
  return as_tuple(recording);
}

nb::tuple rollout(nb::handle model, std::size_t count, nb::handle q, nb::handle v, nb::object tau,
                  bool each_step, double step, std::size_t steps, std::size_t every,
                  const std::string& integrator, bool damping, int threads) {
  ModelObject& m = checked_model(model);
  if (!(step > 0) || !std::isfinite(step))
    fail(fmt::format("rollout: step is {}; expected seconds above zero", step));
  if (steps < 1 || every < 1 || steps % every != 0)
    fail(fmt::format(
        "rollout: steps is {} and every {}; expected whole numbers from 1 on, steps a multiple of every",
        steps, every));
  const auto nq = static_cast<std::size_t>(m.nq), nv = static_cast<std::size_t>(m.nv);
  RolloutOptions options;
  options.integrator = integrator_named(integrator);
  options.damping = damping;
  options.step = step;
  options.steps = steps;
  options.every = every;
  const auto start = numbers_in(q, "q", count * nq), rates = numbers_in(v, "v", count * nv);
  const std::span<const double> forces =
      tau.is_none() ? std::span<double>{} : numbers_in(tau, "tau", count * nv * (each_step ? steps : 1));
  const NewNumbers q_path({count, steps / every, nq}), v_path({count, steps / every, nv});
  Batch<double> batch(m.model, {.threads = threads_for(threads)});
  {
    nb::gil_scoped_release free_the_lock;
    if (count > 0) batch.rollout(start, rates, forces, options, q_path.numbers, v_path.numbers);
  }
  return nb::make_tuple(q_path.array, v_path.array);
}

std::vector<LinkShapes> shapes_of(const std::string& urdf) {
  return urdf.empty() ? std::vector<LinkShapes>{} : read_visuals(read_model(urdf)).links;
}

}  // namespace

void add_simulation(nb::module_& m) {
  m.def("_simulate", simulate, nb::arg("model"), nb::arg("integrator"), nb::arg("duration"), nb::arg("step"),
        nb::arg("every"), nb::arg("q"), nb::arg("v"), nb::arg("tau"), nb::arg("damping"), nb::arg("friction"),
        nb::arg("limits"), nb::arg("controllers"), nb::arg("progress").none());
  m.def("_rollout", rollout, nb::arg("model"), nb::arg("count"), nb::arg("q"), nb::arg("v"),
        nb::arg("tau").none(), nb::arg("each_step"), nb::arg("step"), nb::arg("steps"), nb::arg("every"),
        nb::arg("integrator"), nb::arg("damping"), nb::arg("threads"));
  m.def("_write_recording",
        [](const std::string& path, const std::vector<std::pair<std::string, std::string>>& columns,
           const std::vector<std::pair<std::string, std::string>>& about, nb::handle numbers,
           std::size_t rows) {
          write_recording(path, format_of(path), make_recording(columns, about, numbers, rows));
        });
  m.def("_read_recording", [](const std::string& path) {
    use_numpy();
    return as_tuple(read_recording(path, format_of(path)));
  });
  m.def("_report", [](nb::handle model, const std::vector<std::pair<std::string, std::string>>& columns,
                      nb::handle numbers, std::size_t rows, const std::string& title,
                      const std::string& urdf) {
    Report report =
        report_of(make_recording(columns, {}, numbers, rows), checked_model(model).model, shapes_of(urdf));
    if (!title.empty()) report.title = title;
    return report_html(report);
  });
  m.def("_view", [](nb::handle model, const std::string& urdf) {
    return ModelView(checked_model(model).model, shapes_of(urdf)).page(false);
  });
}

}  // namespace articula::python
