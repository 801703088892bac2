#include "acting.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

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

ControllerSpec read_controller(nb::handle from) {
  using Kind = ControllerSpec::Kind;
  const auto kind = nb::cast<std::string>(from[0]);
  ControllerSpec spec;
  spec.kind = kind == "pd"                ? Kind::pd
              : kind == "computed_torque" ? Kind::computed_torque
              : kind == "decoupled_rates" ? Kind::decoupled_rates
              : kind == "function"        ? Kind::function
                                          : Kind::gravity_compensation;
  const nb::object function = from[1], period = from[2];
  spec.function = function;  // the tuple keeps it
  if (!period.is_none()) {
    spec.period = nb::cast<double>(period);
    if (!(spec.period > 0) || !std::isfinite(spec.period))
      fail(fmt::format("a controller's period is {}; expected seconds above zero", spec.period));
  }
  if (spec.kind != Kind::function && spec.kind != Kind::gravity_compensation) {
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
    const std::vector<double> q(static_cast<std::size_t>(model.nq()));
    make_controller(controllers.back(), model, q);  // is it sound?
  }
}

std::unique_ptr<ForceElement> make_controller(const ControllerSpec& spec, const Model& model,
                                              std::span<const double> q) {
  using Kind = ControllerSpec::Kind;
  if (spec.kind == Kind::function)
    return std::make_unique<PythonForces>(spec.function, static_cast<std::size_t>(model.nv()));
  if (spec.kind == Kind::gravity_compensation) return std::make_unique<GravityCompensation>(model);
  if (spec.kind == Kind::decoupled_rates)
    return std::make_unique<DecoupledRateControl>(
        model, spec.kp, spec.reference, spec.gravity ? RateCompensation::gravity : RateCompensation::all);
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
