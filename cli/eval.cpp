// articula eval: the list of algorithms (articula/algorithms) at given states.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "articula/loops/scene_of_model.hpp"
#include "cli/eval_sharded.hpp"
#include "cli/model_source.hpp"
#include "cli/progress.hpp"
#include "cli/scene_source.hpp"
#include "cli/states.hpp"
#include "cli/textbook.hpp"

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
         "MODEL may be a scene, a JSON file of arms that hold an object; its quantities are grasp,\n"
         "grasp_linearized and operational_space, at the state in the scene. A model whose file closes loops "
         "or couples joints has "
         "these too;\n"
         "its forward_dynamics, inverse_mass_matrix, linearized_forward, perturbed_forward, "
         "forward_gradient and operational_space are\n"
         "of the closed mechanism, at states that fit the loops (--project makes them fit). All else is of "
         "its tree.\n\n"
         "inverse_dynamics_screws is MR9's: tau of q v a by screws; a state may have V_0 and V_0_dot, the "
         "twist of\n"
         "the base and its rate, and F_tip, the force that the tip (--frame) exerts, in its axes: six "
         "numbers each.\n\n"
         "Example:\n"
         "  articula eval two_arms grasp\n"
         "  echo '{\"q\": [0.3, -0.5], \"v\": [0, 0], \"tau\": [0, 0]}' | articula eval double_pendulum "
         "forward_dynamics\n"
         "  articula eval arm7 mass_matrix --states many.npz --shard 0/2 --out parts/\n";
}

struct EvalOptions {
  ModelOptions model;
  std::vector<std::string> quantities, frames;
  std::string states = "-", out = "-", method, format, device = "cpu";
  bool project = false, damping = false, friction = false;
  ShardingOptions sharding;
  bool is_sharded() const { return !sharding.shard.empty() || is_folder(out); }
};

/// JPL88 Part II's, of scenes.
bool of_grasps(const std::string& method) { return method.starts_with("rccfd") || method == "coupled"; }

/// grasp and grasp_linearized of a model with loops: a scene with one arm, at each of the states.
ExitCode evaluate_closed_model(const LoadedModel& read, const EvalOptions& options) {
  if (!options.frames.empty() || !options.method.empty() ||
      results_format(options.out, options.format) != "json" || options.device != "cpu" || options.damping ||
      options.friction)
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
  if (options.is_sharded() &&
      (found != options.quantities.end() || options.states == "-" || !options.format.empty()))
    throw InputError(
        "--shard, and a directory for --out, go with --states FILE; not with grasp, nor with --format: give "
        "it "
        "to articula merge, by the name of its --out");
  if (options.model.source == "-" && options.states == "-" && found == options.quantities.end())
    throw InputError("MODEL and the states cannot both come from stdin; give --states FILE");
  if (is_scene(options.model.source)) {
    if (options.states != "-" || results_format(options.out, options.format) != "json" ||
        options.device != "cpu" || options.damping || options.friction)
      throw InputError(
          "a scene goes with --frame, --gravity, --method, --project and --out; its state is in the file");
    if (!options.method.empty() && !of_grasps(options.method))
      throw InputError(fmt::format("--method {} is for models; grasp has rccfd1, rccfd2, rccfd3 and coupled",
                                   options.method));
    return evaluate_scenes({load_scene(options.model)}, nullptr, options.quantities, options.project,
                           options.out, options.method, options.frames);
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
  if (std::find(options.quantities.begin(), options.quantities.end(), textbook_quantity) !=
      options.quantities.end()) {
    if (options.quantities.size() > 1 || options.frames.size() > 1 || !options.method.empty() ||
        options.is_sharded() || results_format(options.out, options.format) != "json" ||
        options.device != "cpu" || options.damping || options.friction)
      throw InputError(
          fmt::format("{} stands alone, and goes with one --frame, --base, --gravity, --states and "
                      "--out",
                      textbook_quantity));
    return evaluate_textbook(build_and_warn(read, options.model), options.states,
                             options.frames.empty() ? "" : options.frames[0], options.out);
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
    losses.emplace(model, options.damping, options.friction, wanted);
    if (auto& needed_by = needs[static_cast<int>(Input::v)]; needed_by.empty())
      needed_by = "--damping, --friction";
  }
  std::vector<int> frames;
  for (const auto& name : options.frames) frames.push_back(model.frame(name));
  const Method method = method_of(options.method);
  if (std::none_of(wanted.begin(), wanted.end(), [&](const Algorithm* k) { return k->has(method); }))
    throw InputError(fmt::format("--method {}: {} has no such method", options.method,
                                 fmt::join(options.quantities, ", ")));
  std::optional<OwnPart> part;
  if (options.is_sharded()) part = own_part(options.sharding, options.out);
  std::optional<int> device;
  if (options.device == "cuda") device = part ? part->device() : 0;
  Evaluation evaluation(model, wanted, std::move(frames), method, device, closed ? &*closed : nullptr,
                        losses ? &*losses : nullptr);
  if (part) {
    const auto list = [](const auto& words) { return fmt::format("{}", fmt::join(words, " ")); };
    const auto flag = [](bool set) { return std::string(set ? "given" : "not given"); };
    const About about{{"list of quantities", list(options.quantities)},
                      {"--frame", list(options.frames)},
                      {"--method", options.method},
                      {"--project", flag(options.project)},
                      {"--damping", flag(options.damping)},
                      {"--friction", flag(options.friction)},
                      {"--device", options.device}};
    return evaluate_part(model, evaluation, {options.states, needs, read.states}, about, *part,
                         options.sharding, options.out);
  }
  const auto results = results_for(options.out, results_format(options.out, options.format),
                                   describe_model(model), evaluation.quantities());
  Progress progress("eval", 0);
  const auto add = [&](std::span<const State> some) {
    evaluation.add(some, *results);
    progress.at(evaluation.index());
  };
  stream_states(options.states, model, needs, evaluation.at_once(), add, {.known = read.states});
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
    std::vector<std::string> out{"grasp", "grasp_linearized", textbook_quantity};
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
         "How linearized_forward, perturbed_forward and diagonalized (printed: as the paper does) are made "
         "(default: what is faster), or, from rccfd1 on, grasp")
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
  options->sharding.add_to(app, "states");
  add_out_option(app, options->out);
  app.footer(help_on_quantities());
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
