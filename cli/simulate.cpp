// articula simulate: motion over time.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "articula/loops/scene_of_model.hpp"
#include "cli/device.hpp"
#include "cli/input.hpp"
#include "cli/journal.hpp"
#include "cli/mechanism_motion.hpp"
#include "cli/model_source.hpp"
#include "cli/monte_carlo.hpp"
#include "cli/motion_report.hpp"
#include "cli/output.hpp"
#include "cli/plot.hpp"
#include "cli/progress.hpp"
#include "cli/resume.hpp"
#include "cli/scene_source.hpp"
#include "cli/states.hpp"
#include "cli/stop.hpp"

namespace articula::cli {

namespace {

struct SimulateOptions {
  ModelOptions model;
  double duration = 0, step = 1e-3;
  std::optional<double> every, time_limit, memory_limit;
  std::string integrator = "rk4", velocities = "v", initial, torque = "0", forces, controllers,
              limits = "check", out = "-", plot, report;
  std::vector<double> tolerance{1e-8};
  bool damping = false, friction = false, resume = false, units = false, project = false;
  MonteCarloOptions monte_carlo;
};

nlohmann::json json_file(const std::string& option, const std::string& path) {
  if (path.empty()) return nullptr;
  return parse_json(read_all(path, option + " " + path), path, "see articula simulate --help");
}

double positive(const char* option, double x) {
  if (std::isfinite(x) && x > 0) return x;
  throw InputError(fmt::format("{} is {}, expected more than 0", option, x));
}

/// All but the start.
MotionSetup read_setup(const SimulateOptions& o, const Model& model) {
  MotionSetup s;
  s.integrator = integrator_named(o.integrator);
  s.tolerances = {positive("--tolerance", o.tolerance[0]), positive("--tolerance", o.tolerance.back())};
  s.form = o.velocities == "nu" ? MotionForm::nu : o.velocities == "xi" ? MotionForm::xi : MotionForm::rates;
  s.limits = o.limits;
  s.model_damping = o.damping, s.model_friction = o.friction;
  s.forces = json_file("--forces", o.forces), s.forces_file = o.forces;
  s.controllers = json_file("--controllers", o.controllers), s.controllers_file = o.controllers;
  if (s.limits == "check" && s.forces.is_object() && s.forces.contains("limits")) s.limits = "held";
  if (o.torque != "0") s.torque = read_torques(o.torque, model);
  return s;
}

Schedule schedule(const SimulateOptions& o, bool adaptive) {
  const double duration = positive("--duration", o.duration), step = positive("--step", o.step);
  const double every = o.every ? positive("--every", *o.every) : step;
  if (duration / step > 1e12)
    throw InputError(fmt::format("{} s at steps of {} s: too many steps", duration, step));
  // An integrator that chooses its own steps goes from row to row.
  if (adaptive) return {{every, duration}, 1};
  const double ratio = every / step;
  if (ratio < 0.5 || std::abs(ratio - std::round(ratio)) > 1e-6 * ratio)
    throw InputError(fmt::format("--every {} is no whole number of steps of {} s", every, step));
  return {{step, duration}, std::lround(ratio)};
}

/// How a recording of what moves becomes a page.
using MakeReport = std::function<Report(const Recording&)>;

/// What made a recording, so that another run can tell whether it would have made the same.
About about_run(const Motion& motion, const SimulateOptions& o, const Schedule& when, bool adaptive) {
  About out = motion.about();
  const auto add = [&](const char* key, auto&& value) { out.emplace_back(key, fmt::format("{}", value)); };
  add(adaptive ? "every" : "step", when.grid.step);
  if (adaptive) add("tolerance", fmt::format("{} {}", o.tolerance[0], o.tolerance.back()));
  add("limits", o.limits), add("damping", o.damping), add("friction", o.friction);
  return out;
}

/// Says once why a run takes long.
void tell_why_slow(Watch& watch, std::string_view integrator) {
  watch.told = [integrator, said = false](double t, double evaluations, double more) mutable {
    if (said || evaluations < 1e6 || more < 1e8) return;
    said = true;
    say("warning: {}: {:.0e} evaluations at t = {:.2g} s, {:.0e} to go{}", integrator, evaluations, t, more,
        integrator == "rk45" ? ": stiff? try cvode" : "");
  };
}

/// The pictures and pages that were asked for.
void write_pages(const SimulateOptions& o, const Recording& recording, const MakeReport& make_report) {
  const auto write = [](const std::string& path, const char* option, const std::string& text) {
    Output file(path, option);
    file.write(text);
    file.finish();
  };
  if (!o.plot.empty()) write(o.plot, "--plot", picture(recording, picture_format(o.plot)));
  if (!o.report.empty()) write(o.report, "--report", report_html(make_report(recording)));
}

/// Everything that moves goes through here: rows to the journal, progress, Ctrl-C, resuming.
ExitCode run_motion(Motion& motion, const SimulateOptions& o, const Schedule& when, Integrator integrator,
                    const MakeReport& make_report) {
  Recording kept{motion.columns(), {}, about_run(motion, o, when, is_adaptive(integrator))};
  std::vector<double> row(kept.columns.size());
  Journal journal(o.out);
  std::optional<Recording> earlier;
  long k = 0;
  if (o.resume) {
    earlier = journal.earlier();
    const std::optional<long> at = resume(motion, *earlier, kept.about, o.out, when);
    if (!at && !journal.has_part()) return done;
    k = at.value_or(when.grid.steps());  // all rows are there: FILE.part only has to take its name
  } else {
    motion.row(row);  // the first row: forces and energies exist at the start
  }
  journal.begin(kept, o.units, earlier ? &*earlier : nullptr);
  const bool keep = !o.plot.empty() || !o.report.empty();
  const auto put = [&] {
    journal.write(row);
    if (keep && !journal.is_file()) kept.numbers.insert(kept.numbers.end(), row.begin(), row.end());
  };
  if (!earlier) put();
  watch_signals(journal.is_file()
                    ? fmt::format("articula: stopped within a step; {} holds the rows before, --resume "
                                  "goes on from it\n",
                                  journal.part())
                    : "articula: stopped within a step\n");
  motion.watch().stop = &stop_flag();
  motion.watch().horizon = when.grid.duration;
  tell_why_slow(motion.watch(), name_of(integrator));
  const long steps = when.grid.steps();
  try {
    Progress progress("steps", std::size_t(steps));
    for (; k < steps && !asked_to_stop(); ++k) {
      motion.advance(when.grid.time(k + 1));
      if ((k + 1) % when.every == 0 || k + 1 == steps) {
        motion.row(row);
        put();
      }
      progress.at(std::size_t(k));
    }
  } catch (const StoppedError&) {  // as asked; the rows are those before the step
  } catch (...) {
    journal.flush();  // what was reached stays, in FILE.part
    throw;
  }
  const bool stopped = k < steps;
  if (keep && journal.is_file()) kept = journal.recording();
  journal.finish();  // before the pages: if one cannot be written, the rows are there
  write_pages(o, kept, make_report);
  if (!stopped) return done;
  say("{} at t = {} s; {} is complete until then{}",
      asked_by() == AskedBy::time_limit ? fmt::format("--time-limit {} s is over", *o.time_limit) : "stopped",
      row[0], o.out == "-" ? "the output" : o.out, journal.is_file() ? ", --resume goes on" : "");
  return impossible;
}

ExitCode run_many(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                  const SimulateOptions& o, const Schedule& when) {
  if (o.resume || !o.plot.empty() || !o.report.empty())
    throw InputError("--monte-carlo goes with none of --resume, --plot and --report");
  MechanismMotion motion(model, setup, constraints);
  return run_many(model, setup, constraints, when, o.monte_carlo, o.out,
                  about_run(motion, o, when, is_adaptive(setup.integrator)));
}

/// Before the run, for it may be long.
void check_pages(const SimulateOptions& o) {
  if (o.resume && o.out == "-") throw InputError("--resume goes with --out FILE");
  if (!o.plot.empty()) {
    picture_format(o.plot);
    if (o.plot == o.out) throw InputError("--plot and --out name the same file");
    check_writable(o.plot, "--plot");
  }
  if (o.report.empty()) return;
  if (!has_page()) report_html({});  // says why
  if (o.report == "-" && o.out == "-")
    throw InputError("--report -: stdout has the rows; give --out FILE too");
  if (o.report == o.out) throw InputError("--report and --out name the same file");
  if (o.report == o.plot) throw InputError("--report and --plot name the same file");
  check_writable(o.report, "--report");
}

/// A mechanism from where the setup begins; `constraints` close its chains.
ExitCode run_mechanism(const SimulateOptions& o, const Model& model, const MotionSetup& setup,
                       const std::vector<Constraint>& constraints, const MakeReport& make_report) {
  const Schedule when = schedule(o, is_adaptive(setup.integrator));
  if (setup.form != MotionForm::rates && !constraints.empty())
    throw InputError("--velocities is for trees, not for scenes or models with loops");
  if (!o.monte_carlo.sweep.empty() && (o.monte_carlo.runs > 0 || !o.monte_carlo.distributions.empty()))
    throw InputError(
        "--sweep goes with neither --monte-carlo nor --distributions: it says itself how many runs");
  if (o.monte_carlo.runs > 0 || !o.monte_carlo.sweep.empty() || !o.monte_carlo.states.empty()) {
    if (setup.form != MotionForm::rates)
      throw InputError("--velocities is for one run, not for --monte-carlo");
    return run_many(model, setup, constraints, o, when);
  }
  if (!o.monte_carlo.distributions.empty()) throw InputError("--distributions goes with --monte-carlo N");
  if (o.monte_carlo.device != "cpu") throw InputError("--device goes with --monte-carlo N");
  if (!o.monte_carlo.sharding.shard.empty()) throw InputError("--shard goes with --monte-carlo N");
  MechanismMotion motion(model, setup, constraints);
  return run_motion(motion, o, when, setup.integrator, make_report);
}

/// Arms, objects and the constraints between them; its state and joint forces are in the scene.
ExitCode run_scene(const SimulateOptions& o) {
  if (!o.initial.empty()) throw InputError("--initial is not for a scene: its state is in the file");
  Scene scene(load_scene(o.model), {.project = o.project});
  MotionSetup setup = read_setup(o, scene.model());
  setup.q = scene.q, setup.v = scene.v, setup.tau = scene.tau;
  if (setup.torque) std::fill(setup.tau.begin(), setup.tau.end(), 0.0);  // instead of the scene's
  check_start("", scene.model(), setup);
  return run_mechanism(o, scene.model(), setup, scene.constraints(), [&](const Recording& recording) {
    return scene_report({recording, ""}, nullptr, scene, o.model);
  });
}

/// Bounds what the run may take. Memory that is refused is std::bad_alloc wherever it is asked for.
void set_limits(const SimulateOptions& o) {
  if (o.memory_limit) {
    rlimit most{};
    getrlimit(RLIMIT_DATA, &most);
    most.rlim_cur = std::min(most.rlim_max, rlim_t(positive("--memory-limit", *o.memory_limit) * 1e6));
    setrlimit(RLIMIT_DATA, &most);
  }
  if (o.time_limit)
    limit_time(positive("--time-limit", *o.time_limit),
               fmt::format("articula: --time-limit {} s is over before the run began\n", *o.time_limit));
}

ExitCode run(const SimulateOptions& o) {
  check_pages(o);
  if (is_scene(o.model.source)) return run_scene(o);
  const LoadedModel read = read_source(o.model.source, o.model.read_options());
  const Model model = build_and_warn(read, o.model);
  const std::vector<Constraint> constraints = constraints_of(model);
  MotionSetup setup = read_setup(o, model);
  read_initial(o.initial, model, read.states, setup);
  if (!constraints.empty()) {
    ConstrainedDynamics work(model, constraints);
    fit_positions(work, setup.q, setup.v, o.model.source, {.project = o.project});
    fit_velocities(work, setup.q, setup.v, o.model.source, {.project = o.project});
  } else if (o.project) {
    throw InputError("--project is for scenes, and models with loops");
  }
  check_start(o.initial, model, setup);
  return run_mechanism(o, model, setup, constraints, [&](const Recording& recording) {
    return model_report({recording, ""}, nullptr, model, o.model);
  });
}

ExitCode run_within_limits(const SimulateOptions& o) {
  try {
    set_limits(o);
    return run(o);
  } catch (const std::bad_alloc&) {
    if (!o.memory_limit) throw;
    throw ComputationError(fmt::format("--memory-limit {} MB is not enough for this run{}", *o.memory_limit,
                                       o.out == "-" ? "" : "; rows before are in " + o.out + ".part"));
  }
}

void add_motion_options(CLI::App& app, SimulateOptions* o) {
  const auto number = [&](const char* name, double& x, const char* what) {
    return app.add_option(name, x, what)->type_name("SECONDS");
  };
  number("--duration", o->duration, "How long")->required();
  number("--step", o->step, "Step of the integrator; of rk45 and cvode, which choose their own: between rows")
      ->capture_default_str();
  app.add_option("--every", o->every, "Write a row this often (default: every step)")->type_name("SECONDS");
  app.add_option("--integrator", o->integrator, integrator_names())->capture_default_str()->type_name("NAME");
  app.add_option(
         "--velocities", o->velocities,
         "What is integrated beside q: v, or nu or xi of the diagonalized equations (docs/diagonalized.md)")
      ->check(CLI::IsMember({"v", "nu", "xi"}))
      ->capture_default_str();
  app.add_option("--tolerance", o->tolerance,
                 "Of rk45 and cvode: relative, and absolute (default 1e-8 for both)")
      ->expected(1, 2)
      ->allow_extra_args(false)
      ->type_name("NUMBER");
  app.add_option("--initial", o->initial,
                 "JSON with q, v, tau (constant joint forces), or a state that the model's file names; "
                 "default: neutral, at rest")
      ->type_name("FILE|NAME");
  app.add_option("--torque", o->torque, "Joint forces over time, CSV: time, tau:JOINT, ..; 0: none")
      ->capture_default_str()
      ->type_name("FILE.csv|0");
  app.add_option("--forces", o->forces, "JSON with springs, damping, friction, limits, wrenches")
      ->type_name("FILE");
  app.add_option("--controllers", o->controllers,
                 "JSON with controllers: pd, computed_torque, gravity_compensation, operational_space, "
                 "tasks, decoupled_rates")
      ->type_name("FILE");
}

void add_run_options(CLI::App& app, SimulateOptions* o) {
  app.add_flag("--project", o->project,
               "Scenes and models with loops: make velocities fit, and close loops, that do not");
  app.add_flag("--damping", o->damping, "Apply the damping that the model's joints state");
  app.add_flag("--friction", o->friction,
               "Apply the dry friction that the model's joints state, regularised");
  app.add_option("--limits", o->limits,
                 "Joint limits: check (the start only), ignore, stiff (springs), events (located; rk45)")
      ->check(CLI::IsMember({"check", "ignore", "stiff", "events"}))
      ->capture_default_str();
  app.add_option("--out", o->out,
                 "CSV, or by its ending .npz or .h5; FILE.part until the run ends (- for stdout)")
      ->type_name("FILE");
  app.add_flag("--units", o->units, "Begin CSV with a comment line of units (.npz and .h5 always have them)");
  app.add_flag("--resume", o->resume, "Go on from the last row of --out (or of its .part) to the same bits");
  app.add_option("--plot", o->plot, "Also draw joints and energy to this file")->type_name("FILE.svg|png");
  app.add_option("--report", o->report, "Also make a page for the browser: plots and the moving mechanism")
      ->type_name("FILE.html");
  app.add_option("--time-limit", o->time_limit, "End after this long, as by Ctrl-C; --resume goes on")
      ->type_name("SECONDS");
  app.add_option("--memory-limit", o->memory_limit, "End when more memory is needed; --resume goes on")
      ->type_name("MEGABYTES");
  o->monte_carlo.add_to(app);
}

}  // namespace

Subcommand add_simulate(CLI::App& program) {
  auto o = std::make_shared<SimulateOptions>();
  CLI::App& app = *program.add_subcommand("simulate", "Motion over time, with energy and constraint drift");
  o->model.add_to(app, ModelOptions::Takes::scenes_too);
  add_motion_options(app, o.get());
  add_run_options(app, o.get());
  app.footer(
      "Columns: time, q:JOINT, v:JOINT (JOINT.0, .. for several coordinates), kinetic_energy, "
      "potential_energy,\n"
      "total_energy, energy_change, stored_energy, power, constraint_drift, momentum about the mass centre, "
      "the\n"
      "mass centre, tau:JOINT; of closed chains also velocity_drift, drift_corrected, force:CONSTRAINT.ROW.\n"
      "Damping, friction and limits act only if asked for. Ctrl-C ends a run and finishes its file.\n\n"
      "  --controllers {\"type\": \"pd\", \"kp\": 100, \"kd\": 20, \"reference\": [..], \"sample_time\": "
      "0.001}\n"
      "  --forces {\"springs\": {\"JOINT\": {\"stiffness\": 50, \"rest\": 0}}, \"damping\": \"model\",\n"
      "            \"wrenches\": [{\"frame\": \"LINK\", \"wrench\": [0,0,0, 0,0,10]}]}\n"
      "  --distributions {\"q\": {\"*\": {\"normal\": [0, 0.1]}}, \"mass\": {\"LINK\": {\"uniform\": [0.9, "
      "1.1]}}}\n\n"
      "Examples:\n"
      "  articula simulate double_pendulum --duration 2 --step 0.01\n"
      "  articula simulate four_bar --duration 2 --every 0.1\n"
      "  articula simulate quadruped --base free --duration 1 --integrator variational --every 0.1\n"
      "  articula simulate puma560 --duration 5 --every 0.01 --out run.csv --report run.html\n"
      "  articula simulate arm7 --duration 1 --monte-carlo 1000 --shard 0/2 --out runs/   (then 1/2, and "
      "articula merge)\n");
  return {&app, [o] { return run_within_limits(*o); }};
}

Subcommand add_rollout(CLI::App& program) {
  auto o = std::make_shared<SimulateOptions>();
  CLI::App& app =
      *program.add_subcommand("rollout", "Data sets: many trajectories from drawn or given starts");
  o->model.add_to(app);
  o->monte_carlo.trajectories = true;
  add_motion_options(app, o.get());
  app.add_flag("--damping", o->damping, "Apply the damping that the model's joints state");
  app.add_flag("--friction", o->friction,
               "Apply the dry friction that the model's joints state, regularised");
  o->limits = "ignore";
  app.add_option("--out", o->out, "CSV (- for stdout), or FOLDER/ for parts of many processes")
      ->type_name("FILE");
  o->monte_carlo.add_to(app);
  app.footer(
      "Rows: run, time, q:JOINT, v:JOINT, tau:JOINT (the joint forces that were given and drawn), at the "
      "start and\n"
      "every --every seconds; a run that fails ends early. Parts are merged by articula merge, to the same "
      "bytes.\n\n"
      "Example:\n"
      "  echo '{\"q\": {\"*\": {\"uniform\": [-1, 1]}}, \"torque\": {\"*\": {\"normal\": [0, 2]}}}' > "
      "d.json\n"
      "  articula rollout arm7 --count 100 --duration 1 --every 0.1 --distributions d.json --hold 0.1 --out "
      "data.csv\n");
  return {&app, [o] {
            if (o->monte_carlo.runs == 0 && o->monte_carlo.states.empty() && o->monte_carlo.sweep.empty())
              throw InputError("rollout: how many? --count N, --states FILE or --sweep FILE says so");
            return run_within_limits(*o);
          }};
}

}  // namespace articula::cli
