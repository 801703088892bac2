#include "cli/mechanism_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "articula/model/configuration.hpp"
#include "articula/simulation/rate_control.hpp"
#include "cli/input.hpp"
#include "cli/json_section.hpp"
#include "cli/states.hpp"
#include "cli/task_list.hpp"

namespace articula::cli {

namespace {

using nlohmann::json;

/// Floating bases and loose objects have no motor.
bool has_no_motor(const Joint& joint) { return joint.kind == JointKind::free; }

// --- controllers by name -----------------------------------------------------------------------------
struct ControllerMaking {
  const Model& model;
  const MotionSetup& setup;
  const Section& section;

  Gains gains() const {
    return {section.at("kp").each_velocity(model), section.at("kd").each_velocity(model)};
  }
  /// "q": [..] or {"times": .., "q": ..}; without it: where the run begins.
  Reference reference() const {
    if (!section.has("reference")) return Reference(model, setup.q);
    const Section r = section.at("reference");
    if (r.value().is_array()) return Reference(model, r.numbers(model.nq()));
    r.only({"times", "q", "v", "a"});
    if (!r.has("v") && !r.has("a")) return Reference(model, r.table("q", model.nq()));
    return Reference(model, r.table("q", model.nq()), r.table("v", model.nv()), r.table("a", model.nv()));
  }
};
/// A new controller is an entry here.
struct ControllerKind {
  const char* name;
  std::unique_ptr<ForceElement> (*make)(const ControllerMaking&);
};
constexpr ControllerKind controller_kinds[] = {
    {"pd",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       m.section.only({"type", "kp", "kd", "reference", "gravity", "sample_time"});
       bool gravity = false;
       if (m.section.has("gravity")) {
         if (!m.section.at("gravity").value().is_boolean())
           m.section.at("gravity").fail("expected true or false");
         gravity = m.section.at("gravity").value().get<bool>();
       }
       return std::make_unique<PdControl>(m.model, m.gains(), m.reference(), gravity);
     }},
    {"computed_torque",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       m.section.only({"type", "kp", "kd", "reference", "sample_time"});
       return std::make_unique<ComputedTorque>(m.model, m.gains(), m.reference());
     }},
    {"gravity_compensation",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       m.section.only({"type", "sample_time"});
       return std::make_unique<GravityCompensation>(m.model);
     }},
    {"decoupled_rates",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       const Section& s = m.section;
       s.only({"type", "gains", "nu", "compensate", "sample_time"});
       const std::string what = s.has("compensate") ? s.at("compensate").text() : "all";
       if (what != "all" && what != "gravity")
         s.fail("\"compensate\" is \"{}\", expected all or gravity", what);
       return std::make_unique<DecoupledRateControl>(
           m.model, s.at("gains").each_velocity(m.model),
           s.has("nu") ? s.at("nu").numbers(m.model.nv()) : std::vector<double>(m.model.nv()),
           what == "all" ? RateCompensation::all : RateCompensation::gravity);
     }},
    {"operational_space",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       const Section& s = m.section;
       s.only({"type", "frame", "position", "quaternion", "stiffness", "damping", "turning_stiffness",
               "turning_damping", "posture", "posture_stiffness", "posture_damping", "sweeps",
               "sample_time"});
       const std::string frame = s.at("frame").text();
       OperationalSpaceOptions o;
       o.gains = motion_gains(s);
       o.posture_stiffness = s.number("posture_stiffness", o.posture_stiffness);
       o.posture_damping = s.number("posture_damping", o.posture_damping);
       const double sweeps = s.number("sweeps", o.sweeps);
       if (sweeps != 2 && sweeps != 3 && sweeps != 4) s.fail("\"sweeps\" is {}, expected 2, 3 or 4", sweeps);
       if (sweeps < 4 && !s.has("sample_time"))
         s.fail("\"sweeps\": {} takes terms of the tick before, and ticks need a \"sample_time\"", sweeps);
       o.sweeps = static_cast<int>(sweeps);
       return std::make_unique<OperationalSpaceControl>(
           m.model, frame, motion_target(s, m.model, m.setup.q, frame),
           s.has("posture") ? s.at("posture").numbers(m.model.nq()) : m.setup.q, o);
     }},
    {"tasks",
     [](const ControllerMaking& m) -> std::unique_ptr<ForceElement> {
       return make_task_list(m.model, m.section, m.setup.q);
     }},
};

}  // namespace

Table read_torques(const std::string& path, const Model& model) {
  Recording file;
  try {
    file = read_recording(path == "-" ? "/dev/stdin" : path, FileFormat::csv);
  } catch (const ArgumentError& error) {
    throw InputError(fmt::format("--torque {}", error.what()));
  }
  const auto columns = velocity_columns(model, "tau", true);
  if (file.size() == 0) throw InputError(fmt::format("--torque {}: has no rows", path));
  std::vector<int> from(columns.size(), -1);
  std::vector<char> used(file.columns.size());
  used[0] = 1;
  for (const Joint& joint : model.joints()) {
    for (int i = 0; joint.mimics < 0 && i < joint.nv; ++i) {
      const int v = joint.v_index + i;
      for (const std::string& name : {columns[v].name, columns[v].name.substr(4)})
        if (const int c = file.find(name); c > 0 && from[v] < 0) from[v] = c, used[c] = 1;
      if (from[v] < 0 && !has_no_motor(joint))
        throw InputError(fmt::format(
            "--torque {}: column '{}' is missing (a joint without torque needs a column of zeros)", path,
            columns[v].name));
    }
  }
  for (std::size_t c = 0; c < used.size(); ++c)
    if (!used[c])
      throw InputError(fmt::format("--torque {}: column '{}' is no joint of model '{}'", path,
                                   file.columns[c].name, model.name()));
  std::vector<double> rows;
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (std::size_t c = 0; c < file.columns.size(); ++c)
      if (!std::isfinite(file.row(i)[c]))
        throw InputError(fmt::format("--torque {}: '{}' of row {} is {}, expected a finite number", path,
                                     file.columns[c].name, i + 1, file.row(i)[c]));
    for (const int c : from) rows.push_back(c < 0 ? 0 : file.row(i)[c]);
  }
  try {
    return {file.values(0), std::move(rows), model.nv()};
  } catch (const ArgumentError& error) {
    throw InputError(fmt::format("--torque {}: {}", path, error.what()));
  }
}

void read_initial(const std::string& path, const Model& model, std::span<const NamedState> known,
                  MotionSetup& setup) {
  setup.q = neutral(model);
  setup.v.assign(model.nv(), 0);
  setup.tau.assign(model.nv(), 0);
  if (!path.empty()) {
    const auto states = read_states(path, model, {}, {.option = "--initial", .known = known});
    if (states.size() != 1)
      throw InputError(fmt::format("--initial {}: has {} states, expected one", path, states.size()));
    if (!states[0][Input::q].empty()) setup.q = states[0][Input::q];
    if (!states[0][Input::v].empty()) setup.v = states[0][Input::v];
    if (!states[0][Input::tau].empty()) setup.tau = states[0][Input::tau];
    if (!states[0].wrenches.empty())
      throw InputError(fmt::format("--initial {}: wrenches are given in the file of --forces", path));
  }
}

void check_start(const std::string& from, const Model& model, const MotionSetup& setup) {
  if (setup.limits == "ignore") return;
  for (const JointStop& stop : joint_stops(model)) {
    if (stop.side * (setup.q[stop.q] - stop.bound) <= 0) continue;
    const std::string what =
        fmt::format("joint '{}' begins at {}, outside its limits {} to {}", model.joints()[stop.joint].name,
                    setup.q[stop.q], model.joints()[stop.joint].limits.lower[0],
                    model.joints()[stop.joint].limits.upper[0]);
    if (!from.empty() || setup.limits != "check")
      throw InputError(fmt::format("{}{} (--limits ignore lets it)",
                                   from.empty() ? "" : "--initial " + from + ": ", what));
    say("warning: {}; another start can be given", what);
  }
}

MechanismMotion::MechanismMotion(const Model& model, const MotionSetup& setup,
                                 const std::vector<Constraint>& constraints)
    : closed_(constraints.empty() ? nullptr : std::make_unique<ConstrainedDynamics>(model, constraints)),
      simulator_(model, closed_.get(), setup.integrator, setup.tolerances, setup.form) {
  simulator_.q = setup.q, simulator_.v = setup.v, simulator_.tau = setup.tau;
  if (setup.torque) simulator_.add(own<TabulatedForces>(model, *setup.torque));
  try {
    add_forces(setup);
    add_controllers(setup);
  } catch (const ArgumentError& error) {
    throw InputError(error.what());
  }
  recorder_.emplace(simulator_);
}

void MechanismMotion::add_forces(const MotionSetup& setup) {
  const Model& model = simulator_.model();
  const json nothing = json::object();
  const Section file(setup.forces.is_null() ? nothing : setup.forces, setup.forces_file);
  file.only({"springs", "damping", "friction", "slip", "limits", "wrenches"});
  if (file.has("springs")) {
    const Section springs = file.at("springs");
    if (!springs.value().is_object())
      springs.fail("expected {{\"JOINT\": {{\"stiffness\": k, \"rest\": q}}, ..}}");
    std::vector<double> k(model.nv()), rest = neutral(model);
    for (const auto& [name, ignored] : springs.value().items()) {
      const Joint& joint = springs.joint_named(model, name);
      const Section s = springs.at(name);
      s.only({"stiffness", "rest"});
      std::fill_n(k.begin() + joint.v_index, joint.nv, s.at("stiffness").number());
      if (!s.has("rest")) continue;
      const auto r = joint.nq == 1 ? std::vector{s.at("rest").number()} : s.at("rest").numbers(joint.nq);
      std::copy(r.begin(), r.end(), rest.begin() + joint.q_index);
    }
    simulator_.add(own<JointSprings>(model, k, rest));
  }
  const auto of_model = [&](const char* key, bool asked) {
    return asked || (file.has(key) && file.at(key).value() == "model");
  };
  if (of_model("damping", setup.model_damping))
    simulator_.add(own<JointDampers>(model));
  else if (file.has("damping"))
    simulator_.add(own<JointDampers>(model, file.at("damping").each_velocity(model)));
  const double slip = file.number("slip", 1e-2);
  if (of_model("friction", setup.model_friction))
    simulator_.add(own<DryFriction>(model, slip));
  else if (file.has("friction"))
    simulator_.add(own<DryFriction>(model, file.at("friction").each_velocity(model), slip));

  std::string limits = setup.limits;
  double stiffness = 1e4, loss = 1, restitution = 0;
  if (file.has("limits")) {
    const Section l = file.at("limits");
    l.only({"kind", "stiffness", "loss", "restitution"});
    limits = l.at("kind").text();
    if (limits != "stiff" && limits != "events")
      l.fail("\"kind\" is \"{}\", expected stiff or events", limits);
    stiffness = l.number("stiffness", stiffness), loss = l.number("loss", loss);
    restitution = l.number("restitution", restitution);
  }
  if (limits == "stiff") simulator_.add(own<StiffStops>(model, stiffness, loss));
  if (limits == "events" && setup.integrator != Integrator::rk45)
    throw InputError("limits as events need --integrator rk45, which locates them; or take stiff ones");
  if (limits == "events") simulator_.stop_at_limits(restitution);

  if (!file.has("wrenches")) return;
  const Section list = file.at("wrenches");
  if (!list.value().is_array())
    list.fail("expected a list of {{\"frame\": \"LINK\", \"wrench\": [moment, force]}}");
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    const Section w = list.at(i);
    w.only({"frame", "wrench", "times", "wrenches"});
    Table table = w.has("wrench") ? Table({0}, w.at("wrench").numbers(6), 6) : w.table("wrenches", 6);
    try {
      wrenches_.push_back(std::make_unique<TabulatedWrench>(model, w.at("frame").text(), std::move(table)));
    } catch (const ArgumentError& error) {
      w.fail("{}", error.what());
    }
    simulator_.add(*wrenches_.back());
  }
}

void MechanismMotion::add_controllers(const MotionSetup& setup) {
  if (setup.controllers.is_null()) return;
  const Section file(setup.controllers, setup.controllers_file);
  if (!file.value().is_object())
    file.fail("expected {{\"controllers\": [{{\"type\": \"pd\", ..}}, ..]}} or one such");
  const auto add = [&](const Section& section) {
    const std::string type = section.at("type").text();
    const auto* kind = std::find_if(std::begin(controller_kinds), std::end(controller_kinds),
                                    [&](const ControllerKind& k) { return k.name == type; });
    if (kind == std::end(controller_kinds)) {
      std::string known;
      for (const auto& k : controller_kinds) known += (known.empty() ? "" : ", ") + std::string(k.name);
      section.fail("there is no controller \"{}\"; known: {}", type, known);
    }
    try {
      elements_.push_back(kind->make({simulator_.model(), setup, section}));
      if (section.has("sample_time"))
        simulator_.add_sampled(*elements_.back(), section.at("sample_time").number());
      else
        simulator_.add(*elements_.back());
    } catch (const ArgumentError& error) {
      section.fail("{}", error.what());
    }
  };
  if (!file.has("controllers")) return add(file);
  file.only({"controllers"});
  const Section list = file.at("controllers");
  if (!list.value().is_array()) list.fail("expected a list");
  for (std::size_t i = 0; i < list.value().size(); ++i) add(list.at(i));
}

void MechanismMotion::row(std::span<double> out) {
  recorder_->row(out);
  for (std::size_t i = 0; closed_ && i < closed_->constraints().size() && !warned_; ++i) {
    if (!closed_->constraints()[i].limits) continue;
    const ContactState state = closed_->contact_state(static_cast<int>(i));
    if (state.holds()) continue;
    warned_ = true;  // once: the column has the rest
    say("warning: at t = {} s contact '{}' would have to {}; the motion goes on as if it held", out[0],
        closed_->constraints()[i].name, state.pulls ? "pull" : "slip");
  }
}

std::vector<std::pair<std::string, std::string>> MechanismMotion::about() const {
  const Model& model = simulator_.model();
  std::string joints;
  for (const Joint& joint : model.joints())
    if (joint.mimics < 0) joints += (joints.empty() ? "" : " ") + joint.name;
  const auto g = model.gravity();
  return {{"model", model.name()},
          {"joints", joints},
          {"integrator", std::string(name_of(simulator_.integrator()))},
          {"gravity", fmt::format("{} {} {}", g.x, g.y, g.z)}};
}

}  // namespace articula::cli
