// articula eval: the list of algorithms (articula/algorithms) at given states.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "articula/loops/scene_of_model.hpp"
#include "articula/spatial/numbers.hpp"
#include "cli/closed_model.hpp"
#include "cli/device.hpp"
#include "cli/eval_arrays.hpp"
#include "cli/joint_losses.hpp"
#include "cli/model_source.hpp"
#include "cli/progress.hpp"
#include "cli/scene_source.hpp"
#include "cli/states.hpp"

namespace articula::cli {

namespace {

std::vector<const Algorithm*> chosen(const std::vector<std::string>& names) {
  std::vector<const Algorithm*> out;
  for (const auto& name : names) {
    const Algorithm* const found = find_algorithm(name);
    if (!found) {
      std::string known;
      for (const Algorithm& k : algorithms()) known += std::string(known.empty() ? "" : ", ") + k.name;
      throw InputError(fmt::format("unknown quantity '{}'; known: {}", name, known));
    }
    if (std::find(out.begin(), out.end(), found) == out.end()) out.push_back(found);
  }
  return out;
}

std::string help_on_quantities() {
  std::string text = "Quantities, what they use of a state, and their value:\n";
  for (const Algorithm& k : algorithms()) {
    std::string uses;
    for (const Argument argument : k.uses)
      uses += std::string(uses.empty() ? "" : " ") + std::string(name_of(argument));
    if (k.frames != FramesNeeded::none) uses += " --frame";
    text += fmt::format("  {:<20} {:<19} {}\n", k.name, uses, k.meaning);
  }
  return text +
         "\nStates are JSON: {\"states\": [{\"q\": [..], \"v\": [..], \"a\": [..], \"tau\": [..]}, ..]}, or "
         "one such state,\n"
         "or one per line; or a .npz or HDF5 file with arrays q, v, .. of (states, numbers), or a .npy file "
         "of q.\n"
         "Vectors that no quantity uses may be left out. \"wrenches\": {\"LINK\": [moment(3), force(3)]} in "
         "a state adds\n"
         "external forces, world axes at the link's origin, to inverse and forward dynamics (diagonalized "
         "too) and\n"
         "their linearizations, where they keep these components. Derivatives by q have one column per "
         "velocity.\n\n"
         "MODEL may be a scene, a JSON file of arms that hold an object; its quantities are grasp and\n"
         "grasp_linearized, at the state in the scene. A model whose file closes loops or couples joints has "
         "these too;\n"
         "its forward_dynamics, inverse_mass_matrix, linearized_forward, perturbed_forward, "
         "forward_gradient and operational_space are\n"
         "of the closed mechanism, at states that fit the loops (--project makes them fit). All else is of "
         "its tree.\n\n"
         "Example:\n"
         "  articula eval two_arms grasp\n"
         "  echo '{\"q\": [0.3, -0.5], \"v\": [0, 0], \"tau\": [0, 0]}' | articula eval double_pendulum "
         "forward_dynamics\n";
}

struct EvalOptions {
  ModelOptions model;
  std::vector<std::string> quantities, frames;
  std::string states = "-", out = "-", method, format, device = "cpu";
  bool project = false, damping = false, friction = false;
};

/// Remarks beside results, on stderr: of many states only the first ones.
class Notes {
 public:
  void add(std::size_t state, const std::string& text) {
    if (text.empty() || ++count_ > shown) return;
    say("note: state {}: {}", state, text);
  }
  void finish() const {
    if (count_ > shown) say("note: and {} more such notes", count_ - shown);
  }

 private:
  static constexpr std::size_t shown = 10;
  std::size_t count_ = 0;
};

/// Computes stretches of states: together where they are many, then alone those that have more to say.
class Evaluation {
 public:
  Evaluation(const Model& model, const std::vector<const Algorithm*>& wanted, std::vector<int> frames,
             Method method, bool on_device, ClosedModel* closed, JointLosses* losses)
      : model_(model),
        closed_(closed),
        losses_(losses),
        frames_(std::move(frames)),
        method_(method),
        evaluator_(model),
        kinematics_(model) {
    for (auto* const all : {&values_, &singles_})
      for (const Algorithm* k : wanted) all->emplace_back(*k, model, frames_.size());
    const std::size_t numbers = static_cast<std::size_t>(model.nv()) * model.nv() + 1;
    at_once_ = std::clamp<std::size_t>(2'000'000 / numbers, 1, 512);
    if (!on_device) return;
    device_.emplace(device_batch(model));
    at_once_ = std::clamp<std::size_t>(20'000'000 / numbers, 1, 16384);
  }

  std::size_t at_once() const { return at_once_; }
  std::span<const Values> values() const { return values_; }

  /// The results of the next states.
  void add(std::span<const State> states, Results& results) {
    if (closed_) states = settled(states);
    const auto plain = [](const State& s) { return s.wrenches.empty(); };
    const bool together =
        states.size() >= few && std::all_of(states.begin(), states.end(), plain) && compute(states);
    for (std::size_t i = 0; i < states.size(); ++i, ++index_) {
      collect(states[i], together ? i : alone);
      results.add(found_);
    }
    progress_.at(index_);
  }
  void finish() const { notes_.finish(); }

 private:
  bool is_closed(const Algorithm& algorithm) const { return closed_ && ClosedModel::changes(algorithm); }
  /// On the constraints.
  std::span<const State> settled(std::span<const State> states) {
    settled_.assign(states.begin(), states.end());
    for (std::size_t i = 0; i < settled_.size(); ++i)
      with_number(index_ + i, [&] { closed_->settle(settled_[i]); });
    return settled_;
  }
  /// What cannot be computed, or is given wrong, says of which state that is.
  template <class F>
  void with_number(std::size_t state, F&& f) {
    try {
      f();
    } catch (const SingularError& error) {
      throw ComputationError(fmt::format("state {}: {}", state, error.what()));
    } catch (const ModelError& error) {
      throw InputError(fmt::format("state {}: {}", state, error.what()));
    }
  }
  static constexpr std::size_t few = 8;  // states: Batch gains nothing on less
  static constexpr std::size_t alone = static_cast<std::size_t>(-1);

  Call<double> call() const {
    Call<double> c;
    c.frames = frames_;
    c.method = method_;
    return c;
  }
  /// False: one at a time after all.
  bool compute(std::span<const State> states) {
    if (model_.nq() == 0) return false;
    Call<double> c = call();
    for (int k = 0; k < argument_count; ++k) {
      auto& all = together_[k];
      all.clear();
      for (const State& state : states)
        all.insert(all.end(), state.vectors[k].begin(), state.vectors[k].end());
      c.in[k] = all;
    }
    for (Values& values : values_) {
      if (is_closed(values.algorithm) || has_losses(values.algorithm)) continue;
      c.frames = std::span(frames_).first(values.algorithm.frames == FramesNeeded::none ? 0 : frames_.size());
      c.out = values.room(states.size());
      try {
        if (device_ && on_devices(model_, values.algorithm))
          device_->compute(values.algorithm, c);
        else
          evaluator_.many(values.algorithm, states.size(), c);
      } catch (const SingularError&) {  // those states have NaN, and say more when they are done alone
      }
    }
    return true;
  }
  void collect(const State& state, std::size_t place) {
    found_.clear();
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (place != alone && !is_closed(values_[k].algorithm) && !has_losses(values_[k].algorithm) &&
          values_[k].finite(place) && !values_[k].deficient(place)) {
        found_.push_back({&values_[k], place});
        continue;
      }
      Values& single = singles_[k];
      compute_alone(single, state);
      notes_.add(index_, evaluator_.remark());
      if (!single.finite(0))
        throw ComputationError(fmt::format("state {}: {} is not finite; are the state's numbers too large?",
                                           index_, single.algorithm.name));
      found_.push_back({&single, 0});
    }
  }
  void compute_alone(Values& values, const State& state) {
    Call<double> c = call();
    for (int k = 0; k < argument_count; ++k) c.in[k] = state.vectors[k];
    if (!state.wrenches.empty() && values.algorithm.external_forces) {
      kinematics_.update(state[Argument::q]);
      body_wrenches(state, kinematics_, wrenches_);
      c.wrenches = {numbers_of(wrenches_[0]), 6 * wrenches_.size()};
      // External forces keep their world components, at their frame's origin, when the bodies move.
      if (values.algorithm.options_one_by_one) body_levers(state, kinematics_, levers_), c.levers = levers_;
    }
    c.out = values.room(1);
    with_number(index_, [&] {
      if (is_closed(values.algorithm))
        closed_->compute(values.algorithm, state, state.wrenches.empty() ? Wrenches<double>{} : wrenches_,
                         frames_, c.out);
      else
        evaluate_one(values.algorithm, c);
    });
  }

  bool has_losses(const Algorithm& algorithm) const { return losses_ && losses_->act_on(algorithm); }
  void evaluate_one(const Algorithm& algorithm, Call<double>& c) {
    if (!has_losses(algorithm)) return evaluator_.one(algorithm, c);
    losses_->before(algorithm, c);
    evaluator_.one(algorithm, c);
    losses_->after(algorithm, c);
  }

  const Model& model_;
  ClosedModel* const closed_;  // null: the model is its tree, or states need not fit
  JointLosses* const losses_;  // null: none
  std::vector<State> settled_;
  std::vector<int> frames_;
  Method method_;
  Evaluator<> evaluator_;
  std::optional<cuda::Batch<double>> device_;  // where states go that are many
  Kinematics<> kinematics_;
  std::vector<Spatial<double>> wrenches_;
  std::vector<Mat3<double>> levers_;
  std::vector<Values> values_, singles_;  // of a stretch; of a state that is computed alone
  std::vector<Result> found_;
  Notes notes_;
  Progress progress_{"eval", 0};
  std::size_t index_ = 0;
  std::array<std::vector<double>, argument_count> together_;
  std::size_t at_once_;
};

/// JPL88 Part II's, of scenes.
bool of_grasps(const std::string& method) { return method.starts_with("rccfd") || method == "coupled"; }

/// --format, or what the ending of --out says.
std::string format_of(const EvalOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string& out = options.out;
  if (out.ends_with(".ndjson") || out.ends_with(".jsonl")) return "ndjson";
  if (out.ends_with(".npz")) return "npz";
  return out.ends_with(".h5") || out.ends_with(".hdf5") ? "h5" : "json";
}
std::unique_ptr<Results> results_of(const EvalOptions& options, const Model& model,
                                    std::span<const Values> values) {
  const std::string format = format_of(options);
  if (format == "npz") return std::make_unique<ArrayResults>(options.out, ArrayResults::Form::npz, values);
  if (format == "h5") return std::make_unique<ArrayResults>(options.out, ArrayResults::Form::hdf5, values);
  return std::make_unique<TextResults>(options.out, model, format == "ndjson");
}

/// grasp and grasp_linearized of a model with loops: a scene with one arm, at each of the states.
ExitCode evaluate_closed_model(const LoadedModel& read, const EvalOptions& options) {
  if (!options.frames.empty() || !options.method.empty() || format_of(options) != "json" ||
      options.device != "cpu" || options.damping || options.friction)
    throw InputError("grasp goes with --base, --gravity, --states, --project and --out");
  const Model model = build_and_warn(read, options.model);
  std::vector<SceneSpec> scenes;
  const auto add = [&](std::span<const State> some) {
    for (const State& state : some) {
      SceneSpec& scene = scenes.emplace_back(scene_of(read.spec, options.model.build_options(read.gravity)));
      scene.where = fmt::format("{}: state {}", options.model.source, scenes.size() - 1);
      scene.arms[0].q = state[Input::q], scene.arms[0].v = state[Input::v];
      scene.arms[0].tau = state[Input::tau];
    }
  };
  stream_states(options.states, model, {}, 64, add, {.neutral_if_absent = true, .known = read.states});
  return evaluate_scenes(scenes, &model, options.quantities, options.project, options.out);
}

ExitCode run(const EvalOptions& options) {
  const auto of_scenes = [](const std::string& name) { return name.starts_with("grasp"); };
  const auto found = std::find_if(options.quantities.begin(), options.quantities.end(), of_scenes);
  if (options.model.source == "-" && options.states == "-" && found == options.quantities.end())
    throw InputError("MODEL and the states cannot both come from stdin; give --states FILE");
  if (is_scene(options.model.source)) {
    if (options.states != "-" || !options.frames.empty() || format_of(options) != "json" ||
        options.device != "cpu" || options.damping || options.friction)
      throw InputError(
          "a scene goes with --gravity, --method, --project and --out; its state is in the file");
    if (!options.method.empty() && !of_grasps(options.method))
      throw InputError(fmt::format("--method {} is for models; grasp has rccfd1, rccfd2, rccfd3 and coupled",
                                   options.method));
    return evaluate_scenes({load_scene(options.model)}, nullptr, options.quantities, options.project,
                           options.out, options.method);
  }
  if (of_grasps(options.method))
    throw InputError(
        fmt::format("--method {} is for grasp of a scene of arms that hold an object", options.method));
  const LoadedModel read = read_source(options.model.source, options.model.read_options());
  const bool has_constraints = has_loops(read.spec);
  if (options.project && !has_constraints) throw InputError("--project is for scenes, and models with loops");
  if (found != options.quantities.end()) {
    if (!has_constraints)
      throw InputError(fmt::format("{} needs a scene, a JSON file, or a model with loops; '{}' has none",
                                   *found, options.model.source));
    return evaluate_closed_model(read, options);
  }
  const auto wanted = chosen(options.quantities);
  Needs needs;
  for (const Algorithm* k : wanted) {
    if (k->frames != FramesNeeded::none && options.frames.empty())
      throw InputError(fmt::format("{} needs --frame LINK", k->name));
    if (k->frames == FramesNeeded::one && options.frames.size() > 1)
      throw InputError(fmt::format("{} takes one --frame LINK, {} given", k->name, options.frames.size()));
    for (const Argument input : k->uses)
      if (auto& needed_by = needs[static_cast<int>(input)]; needed_by.empty()) needed_by = k->name;
  }
  const Model model = build_and_warn(read, options.model);
  const auto changes = [](const Algorithm* k) { return ClosedModel::changes(*k); };
  std::optional<ClosedModel> closed;
  if (has_constraints && (options.project || std::any_of(wanted.begin(), wanted.end(), changes)))
    closed.emplace(model, options.model.source, SceneOptions{.project = options.project});
  if (const std::string open = ClosedModel::of_the_tree(wanted); has_constraints && !open.empty())
    say("note: {} is of the tree alone, without the forces of its {} and {}", open,
        count_of(read.spec.loops.size(), "loop"), count_of(read.spec.couplings.size(), "coupling"));
  std::optional<JointLosses> losses;
  if (options.damping || options.friction) {
    if (has_constraints) throw InputError("--damping and --friction are not for models with loops");
    losses.emplace(model, options.damping, options.friction, wanted);
    if (auto& needed_by = needs[static_cast<int>(Input::v)]; needed_by.empty())
      needed_by = "--damping, --friction";
  }
  std::vector<int> frames;
  for (const auto& name : options.frames) frames.push_back(model.frame(name));
  int method = 0;
  while (!options.method.empty() && options.method != method_names[method]) ++method;
  Evaluation evaluation(model, wanted, std::move(frames), static_cast<Method>(method),
                        options.device == "cuda", closed ? &*closed : nullptr, losses ? &*losses : nullptr);
  const auto results = results_of(options, model, evaluation.values());
  stream_states(options.states, model, needs, evaluation.at_once(),
                [&](std::span<const State> some) { evaluation.add(some, *results); }, {.known = read.states});
  evaluation.finish();
  results->finish();
  return done;
}

}  // namespace

Subcommand add_eval(CLI::App& program) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App& app = *program.add_subcommand("eval", "Numbers at given states, as JSON");
  options->model.add_to(app, ModelOptions::Takes::scenes_too);
  const auto names = [] {
    std::vector<std::string> out{"grasp", "grasp_linearized"};
    for (const Algorithm& k : algorithms()) out.emplace_back(k.name);
    return out;
  };
  app.add_option("QUANTITY", options->quantities, "One or more of the quantities below")
      ->required()
      ->type_name("")
      ->suggest(names);
  app.add_option("--frame", options->frames,
                 "The link or frame of pose, jacobian, ..; operational_space takes several")
      ->allow_extra_args(false)
      ->type_name("LINK");
  app.add_option(
         "--method", options->method,
         "How linearized_forward and perturbed_forward are made (default: what is faster), or, from rccfd1 "
         "on, grasp")
      ->check(CLI::IsMember({"automatic", "direct", "conventional", "numerical", "printed", "rccfd1",
                             "rccfd2", "rccfd3", "coupled"}));
  app.add_option("--states", options->states,
                 "File of states, or the name of one of the model's own (default: - for stdin)")
      ->type_name("FILE|NAME");
  app.add_flag("--project", options->project,
               "Scenes and models with loops: make velocities fit, and close loops, that do not");
  app.add_flag("--damping", options->damping,
               "The joints' damping in inverse_dynamics, forward_dynamics and their linearizations");
  app.add_flag("--friction", options->friction,
               "Their dry friction, -f tanh(v / 0.01), in inverse_dynamics and forward_dynamics");
  app.add_option("--format", options->format,
                 "Of the results (default: as --out ends, .ndjson, .npz, .h5; else json)")
      ->check(CLI::IsMember({"json", "ndjson", "npz", "h5"}));
  add_device_option(app, options->device, "Where states that are many are computed");
  add_out_option(app, options->out);
  app.footer(help_on_quantities());
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
