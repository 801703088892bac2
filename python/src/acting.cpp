#include "acting.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/controllers.hpp"
#include "articula/simulation/rate_control.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// tau = f(time, q, v). f has copies: it may keep them.
class PythonForces : public ForceElement {
 public:
  PythonForces(nb::handle f, std::size_t nv) : f_(f), nv_(nv) {}
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override {
    const nb::gil_scoped_acquire lock;
    const nb::object result = f_(t, copied(q, {q.size()}), copied(v, {v.size()}));
    const std::span<double> forces = numbers_in(result, "controller's tau", nv_);
    for (std::size_t i = 0; i < nv_; ++i) tau[i] += forces[i];
  }

 private:
  nb::handle f_;
  std::size_t nv_;
};

ControllerSpec::Task read_task(nb::handle from) {
  using Numbers = std::vector<double>;
  ControllerSpec::Task task;
  task.frame = nb::cast<std::string>(from[0]);
  task.axes = nb::cast<std::string>(from[1]);
  const auto rows = nb::cast<std::vector<bool>>(from[2]);
  std::copy(rows.begin(), rows.end(), task.rows.begin());
  task.position = nb::cast<Numbers>(from[3]);
  task.rotation = nb::cast<Numbers>(from[4]);
  task.euler = nb::cast<std::string>(from[5]);
  task.angles = nb::cast<Numbers>(from[6]);
  const auto gains = nb::cast<Numbers>(from[7]);
  task.gains = {gains[0], gains[1], gains[2], gains[3]};
  for (nb::handle push : nb::borrow<nb::list>(from[8]))
    task.pushes.push_back({nb::cast<int>(push[0]), nb::cast<double>(push[1]), nb::cast<double>(push[2])});
  return task;
}

ControllerSpec read_controller(nb::handle from) {
  using Kind = ControllerSpec::Kind;
  const auto kind = nb::cast<std::string>(from[0]);
  ControllerSpec spec;
  spec.kind = kind == "pd"                  ? Kind::pd
              : kind == "computed_torque"   ? Kind::computed_torque
              : kind == "decoupled_rates"   ? Kind::decoupled_rates
              : kind == "function"          ? Kind::function
              : kind == "operational_space" ? Kind::operational_space
              : kind == "tasks"             ? Kind::tasks
                                            : Kind::gravity_compensation;
  const nb::object function = from[1], period = from[2];
  spec.function = function;  // the tuple keeps it
  if (!period.is_none()) {
    spec.period = nb::cast<double>(period);
    if (!(spec.period > 0) || !std::isfinite(spec.period))
      fail(fmt::format("a controller's period is {}; expected seconds above zero", spec.period));
  }
  if (spec.kind == Kind::operational_space || spec.kind == Kind::tasks) {
    for (nb::handle level : nb::borrow<nb::list>(from[3])) {
      spec.levels.emplace_back();
      for (nb::handle task : nb::borrow<nb::list>(level)) spec.levels.back().push_back(read_task(task));
    }
    spec.posture = nb::cast<std::vector<double>>(from[4]);
    spec.posture_stiffness = nb::cast<double>(from[5]);
    spec.posture_damping = nb::cast<double>(from[6]);
    spec.sweeps = nb::cast<int>(from[7]);
  } else if (spec.kind != Kind::function && spec.kind != Kind::gravity_compensation) {
    spec.kp = nb::cast<std::vector<double>>(from[3]);
    spec.kd = nb::cast<std::vector<double>>(from[4]);
    spec.times = nb::cast<std::vector<double>>(from[5]);
    spec.reference = nb::cast<std::vector<double>>(from[6]);
    spec.gravity = nb::cast<bool>(from[7]);
  }
  return spec;
}

}  // namespace

void check_times(const char* function, double duration, double step, const char* name, double most) {
  for (const auto& [what, x] : {std::pair{"duration", duration}, {name, step}})
    if (!(x > 0) || !std::isfinite(x))
      fail(fmt::format("{}: {} is {}; expected seconds above zero", function, what, x));
  if (duration / step > most)
    fail(fmt::format("{}: duration is {} and {} is {}; expected {} of them at most", function, duration, name,
                     step, most));
}

Acting::Acting(const Model& model, bool damping, bool friction, const std::string& limits, double restitution,
               nb::list listed)
    : damping(damping), friction(friction), restitution(restitution) {
  if (limits == "stiff")
    this->limits = Limits::stiff;
  else if (limits == "events")
    this->limits = Limits::events;
  else if (limits != "none")
    fail(fmt::format("limits is '{}'; expected \"none\", \"stiff\" or \"events\"", limits));
  for (nb::handle entry : listed) {
    controllers.push_back(read_controller(entry));
    const std::vector<double> q = neutral(model);
    make_controller(controllers.back(), model, q);  // is it sound?
  }
}

namespace {

ControlledTask make_task(const ControllerSpec::Task& spec, const Model& model, std::span<const double> q) {
  ControlledTask c{.task = selected_task(model, spec.frame, spec.rows, spec.axes)};
  const FramePose<double> now = pose(model, q, spec.frame);
  const auto &p = spec.position, &r = spec.rotation;
  c.target = {.rotation = now.rotation, .position = now.position};
  if (!p.empty()) c.target.position = {p[0], p[1], p[2]};
  if (!r.empty()) c.target.rotation = {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]};
  c.gains = spec.gains;
  c.pushes = spec.pushes;
  if (spec.euler.empty()) return c;
  const auto angles = std::make_shared<EulerAngles>(spec.euler);
  c.coordinates = angles;
  c.wanted.y = angles->of({c.target.rotation, c.target.position});
  std::copy(spec.angles.begin(), spec.angles.end(), c.wanted.y.begin());
  return c;
}
std::unique_ptr<ForceElement> make_task_control(const ControllerSpec& spec, const Model& model,
                                                std::span<const double> q) {
  const std::vector<double> posture = spec.posture.empty() ? std::vector(q.begin(), q.end()) : spec.posture;
  if (spec.kind == ControllerSpec::Kind::operational_space) {
    const ControlledTask task = make_task(spec.levels[0][0], model, q);
    return std::make_unique<OperationalSpaceControl>(
        model, spec.levels[0][0].frame, task.target, posture,
        OperationalSpaceOptions{task.gains, spec.posture_stiffness, spec.posture_damping, spec.sweeps});
  }
  std::vector<std::vector<ControlledTask>> levels;
  for (const auto& level : spec.levels) {
    levels.emplace_back();
    for (const auto& task : level) levels.back().push_back(make_task(task, model, q));
  }
  return std::make_unique<TaskListControl>(model, std::move(levels), posture, spec.posture_stiffness,
                                           spec.posture_damping);
}

}  // namespace

std::unique_ptr<ForceElement> make_controller(const ControllerSpec& spec, const Model& model,
                                              std::span<const double> q) {
  using Kind = ControllerSpec::Kind;
  if (spec.kind == Kind::function)
    return std::make_unique<PythonForces>(spec.function, static_cast<std::size_t>(model.nv()));
  if (spec.kind == Kind::gravity_compensation) return std::make_unique<GravityCompensation>(model);
  if (spec.kind == Kind::decoupled_rates)
    return std::make_unique<DecoupledRateControl>(
        model, spec.kp, spec.reference, spec.gravity ? RateCompensation::gravity : RateCompensation::all);
  if (spec.kind == Kind::operational_space || spec.kind == Kind::tasks)
    return make_task_control(spec, model, q);
  const std::size_t rows = spec.times.size(), nv = static_cast<std::size_t>(model.nv());
  const auto table = [&](std::size_t part) {  // of q, v and a, one after the other
    const auto from = spec.reference.begin() + static_cast<long>(part * rows * nv);
    return Table(spec.times, {from, from + static_cast<long>(rows * nv)}, model.nv());
  };
  const Reference reference = spec.reference.empty() ? Reference(model, {q.begin(), q.end()})
                              : spec.times.empty()   ? Reference(model, spec.reference)
                              : spec.reference.size() != rows * static_cast<std::size_t>(model.nq())
                                  ? Reference(model, table(0), table(1), table(2))
                                  : Reference(model, Table(spec.times, spec.reference, model.nq()));
  const Gains gains{spec.kp, spec.kd};
  if (spec.kind == Kind::pd) return std::make_unique<PdControl>(model, gains, reference, spec.gravity);
  return std::make_unique<ComputedTorque>(model, gains, reference);
}

void Elements::add(Simulator& simulator, const Acting& acting, std::span<const double> q) {
  const Model& model = simulator.model();
  if (acting.damping) add(simulator, std::make_unique<JointDampers>(model));
  if (acting.friction) add(simulator, std::make_unique<DryFriction>(model));
  if (acting.limits == Acting::Limits::stiff) add(simulator, std::make_unique<StiffStops>(model));
  if (acting.limits == Acting::Limits::events) simulator.stop_at_limits(acting.restitution);
  for (const ControllerSpec& spec : acting.controllers) {
    auto element = make_controller(spec, model, q);
    if (spec.period > 0) {
      simulator.add_sampled(*element, spec.period);
      all_.push_back(std::move(element));
    } else {
      add(simulator, std::move(element));
    }
  }
}

void Heartbeat::at(double t) {
  if (Clock::now() - last_ < std::chrono::milliseconds(40)) return;
  const nb::gil_scoped_acquire lock;
  last_ = Clock::now();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!progress_.is_none()) progress_(t / duration_);
}

}  // namespace articula::python
