// Motion over time: simulations with Python's controllers and events, recordings; pages of them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <filesystem>

#include "acting.hpp"
#include "articula/files/read_model.hpp"
#include "articula/report/link_shapes.hpp"
#include "articula/report/model_view.hpp"
#include "articula/report/recording_report.hpp"
#include "articula/simulation/recording.hpp"
#include "scene_object.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

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

/// All of a simulator that the next step depends on.
struct Moment {
  double time;
  std::vector<double> q, v;
  double next_step;
  std::vector<Simulator::Sampled> sampled;

  explicit Moment(Simulator& from)
      : time(from.time), q(from.q), v(from.v), next_step(from.next_step()), sampled(from.sampled()) {}
  void restore(Simulator& to) const {
    to.time = time, to.q = q, to.v = v;
    to.set_next_step(next_step);
    to.sampled() = sampled;
  }
};

/// Functions of Python whose change of sign ends a motion.
class Events {
 public:
  explicit Events(nb::list functions) : functions_(std::move(functions)), before_(functions_.size()) {}
  bool any() const { return !before_.empty(); }
  /// The first one that has changed its sign since mark(); -1: none.
  int changed(const Simulator& at) const {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (before_[i] * value(i, at) <= 0 && before_[i] != 0) return static_cast<int>(i);
    return -1;
  }
  void mark(const Simulator& at) {
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = value(i, at);
  }
  /// Goes back, and on to just behind the change: to within rounding of the time.
  int locate(Simulator& simulator, const Moment& start) const {
    double low = start.time, high = simulator.time;
    while (high - low > 4e-16 * std::max(1e-3, std::abs(high))) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      start.restore(simulator);
      simulator.advance(middle);
      (changed(simulator) >= 0 ? high : low) = middle;
    }
    start.restore(simulator);
    simulator.advance(high);
    return changed(simulator);
  }

 private:
  double value(std::size_t i, const Simulator& at) const {
    const nb::gil_scoped_acquire lock;
    const double x =
        nb::cast<double>(functions_[i](at.time, copied(at.q, {at.q.size()}), copied(at.v, {at.v.size()})));
    if (std::isnan(x)) fail("simulate: an event's function gives NaN");
    return x;
  }
  nb::list functions_;
  std::vector<double> before_;
};

struct Times {
  double duration, step, every;
  Times(double duration, double step, double every) : duration(duration), step(step), every(every) {
    check_times("simulate", duration, step);
    check_times("simulate", duration, every, "every", 1e8);
  }
};

void begin(Simulator& simulator, nb::handle q, nb::handle v, nb::handle tau) {
  std::ranges::copy(numbers_in(q, "q", simulator.q.size()), simulator.q.begin());
  std::ranges::copy(numbers_in(v, "v", simulator.v.size()), simulator.v.begin());
  const auto forces = numbers_in(tau, "tau", simulator.v.size());
  simulator.tau.assign(forces.begin(), forces.end());
}

/// The whole motion, without the interpreter's lock: the event that ended it, or -1.
int record(Simulator& simulator, Recorder& recorder, const Times& times, Events& events, Heartbeat& heartbeat,
           Recording& recording) {
  const nb::gil_scoped_release free_the_lock;
  recording.columns = recorder.columns();
  const auto add_row = [&] {
    recording.numbers.resize(recording.numbers.size() + recording.columns.size());
    recorder.row(std::span(recording.numbers).last(recording.columns.size()));
  };
  const auto advance = [&](double end) {
    if (!events.any()) {
      simulator.advance(end);
      return -1;
    }
    const Moment start(simulator);
    events.mark(simulator);
    simulator.advance(end);
    return events.changed(simulator) < 0 ? -1 : events.locate(simulator, start);
  };
  add_row();
  const double rows = std::ceil(times.duration / times.every - 1e-9);
  int event = -1;
  for (double row = 1; row <= rows && event < 0; ++row) {
    const double end = std::min(row * times.every, times.duration), start = simulator.time;
    const double steps = is_adaptive(simulator.integrator())
                             ? 1.0
                             : std::max(1.0, std::ceil((end - start) / times.step - 1e-9));
    for (double i = 1; i <= steps && event < 0; ++i) {
      event = advance(i < steps ? start + (end - start) * i / steps : end);
      heartbeat.at(simulator.time);
    }
    add_row();
  }
  return event;
}

nb::tuple simulate(nb::handle model, nb::object scene, const std::string& integrator,
                   const std::string& velocities, double duration, double step, double every, nb::handle q,
                   nb::handle v, nb::handle tau, bool damping, bool friction, const std::string& limits,
                   double restitution, nb::list controllers, nb::list events, nb::object progress) {
  ModelObject& m = checked_model(model);
  const Times times(duration, step, every);
  const Acting acting(m.model, damping, friction, limits, restitution, controllers);
  const std::vector<Constraint> constraints = constraints_of(m, scene);
  std::unique_ptr<ConstrainedDynamics> closed;
  if (!constraints.empty()) closed = std::make_unique<ConstrainedDynamics>(m.model, constraints);
  if (velocities != "v" && velocities != "nu" && velocities != "xi")
    fail(fmt::format("simulate: velocities is '{}'; expected \"v\", \"nu\" or \"xi\"", velocities));
  const MotionForm form = velocities == "nu"   ? MotionForm::nu
                          : velocities == "xi" ? MotionForm::xi
                                               : MotionForm::rates;
  Simulator simulator(m.model, closed.get(), integrator_named(integrator), {}, form);
  begin(simulator, q, v, tau);
  if (closed) {
    fit_positions(*closed, simulator.q, simulator.v, "simulate", {});
    fit_velocities(*closed, simulator.q, simulator.v, "simulate", {});
  }
  Elements elements;
  elements.add(simulator, acting, simulator.q);
  Heartbeat heartbeat(progress, duration);
  simulator.add(heartbeat);
  simulator.watch.horizon = duration;
  Recorder recorder(simulator);
  Recording recording;
  recording.about = {{"model", m.model.name()}, {"integrator", integrator}};
  if (!scene.is_none()) recording.about.emplace_back("scene", nb::cast<SceneAt&>(scene).scene.spec().where);
  Events ends(std::move(events));
  const int event = record(simulator, recorder, times, ends, heartbeat, recording);
  return nb::make_tuple(as_tuple(recording), event);
}

/// Of the model's file; nothing where there is none.
std::vector<LinkShapes> shapes_of(const std::string& file) {
  return file.empty() ? std::vector<LinkShapes>{} : read_visuals(read_model(file)).links;
}
std::vector<LinkShapes> shapes_of_scene(const SceneAt& scene) {
  const SceneSpec& spec = scene.scene.spec();
  const std::string folder = std::filesystem::path(spec.where).parent_path().string();
  std::vector<LinkShapes> all;
  for (const SceneArm& arm : spec.arms)
    for (LinkShapes& link : with_prefix(
             shapes_of(arm.source.empty() ? "" : arm_file(arm.source, folder, scene.models)), arm.name + "/"))
      all.push_back(std::move(link));
  return all;
}
std::string report_page(nb::handle model, const std::vector<std::pair<std::string, std::string>>& columns,
                        nb::handle numbers, std::size_t rows, const std::string& title,
                        const std::string& file, nb::object scene) {
  Report report = report_of(make_recording(columns, {}, numbers, rows), checked_model(model).model,
                            scene.is_none() ? shapes_of(file) : shapes_of_scene(nb::cast<SceneAt&>(scene)));
  if (!title.empty()) report.title = title;
  return report_html(report);
}

}  // namespace

void add_simulation(nb::module_& m) {
  m.def("_simulate", simulate, nb::arg("model"), nb::arg("scene").none(), nb::arg("integrator"),
        nb::arg("velocities"), nb::arg("duration"), nb::arg("step"), nb::arg("every"), nb::arg("q"),
        nb::arg("v"), nb::arg("tau"), nb::arg("damping"), nb::arg("friction"), nb::arg("limits"),
        nb::arg("restitution"), nb::arg("controllers"), nb::arg("events"), nb::arg("progress").none());
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
  m.def("_report", report_page, nb::arg("model"), nb::arg("columns"), nb::arg("numbers"), nb::arg("rows"),
        nb::arg("title"), nb::arg("file"), nb::arg("scene").none());
  m.def("_view", [](nb::handle model, const std::string& urdf) {
    return ModelView(checked_model(model).model, shapes_of(urdf)).page(false);
  });
}

}  // namespace articula::python
