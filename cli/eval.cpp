// articula eval: numbers at given states.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/task_space/task_space.hpp"
#include "cli/eval_many.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/scene_source.hpp"
#include "cli/shapes.hpp"
#include "cli/states.hpp"

namespace articula::cli {

namespace {

/// A model at one state after another, with workspaces made when first asked for.
class Evaluation {
 public:
  Evaluation(const Model& model, std::vector<int> frames, Method method)
      : model(model),
        frames(std::move(frames)),
        frame(this->frames.empty() ? -1 : this->frames[0]),
        method(method) {}

  void start(const State& next) {
    state_ = &next;
    kinematics_current_ = false;
  }
  const std::vector<double>& operator[](Input input) const { return (*state_)[input]; }

  /// At the state's q, and v if it has one.
  Kinematics<>& kinematics() {
    auto& work = made(kinematics_);
    if (!kinematics_current_) {
      const auto &q = (*this)[Input::q], &v = (*this)[Input::v];
      v.size() == static_cast<std::size_t>(model.nv()) ? work.update(q, v) : work.update(q);
      kinematics_current_ = true;
    }
    return work;
  }
  /// External forces as the algorithms take them; none: empty.
  Wrenches<double> wrenches() {
    if (state_->wrenches.empty()) return {};
    body_wrenches(*state_, kinematics(), wrenches_);
    return wrenches_;
  }
  InverseDynamics<>& inverse() { return made(inverse_); }
  ForwardDynamics<>& forward() { return made(forward_); }
  MassMatrix<>& mass_matrix() { return made(mass_matrix_); }
  MassFactor<>& mass_factor() { return made(mass_factor_); }
  NamedForwardDynamics& named_forward() { return made(named_forward_); }
  Coriolis& coriolis() { return made(coriolis_); }
  LinearizedInverse<>& linearized_inverse() { return made(linearized_inverse_); }
  LinearizedForward<>& linearized_forward() { return made(linearized_forward_); }
  DiagonalizedDynamics& diagonalized() { return made(diagonalized_); }
  /// External forces keep their world components, at their frame's origin, when the bodies move.
  LinearizationOptions<double> linearization() {
    LinearizationOptions<double> options{.wrenches = wrenches(), .method = method};
    if (!options.wrenches.empty()) {
      body_levers(*state_, kinematics(), levers_);
      options.levers = levers_;
    }
    return options;
  }

  /// All frames asked for, stacked.
  TaskSpace& task_space() {
    if (!task_space_) {
      std::vector<Task> tasks;
      for (const int f : frames) tasks.push_back(pose_task(model, model.frames()[f].name));
      task_space_ = std::make_unique<TaskSpace>(model, tasks);
    }
    return *task_space_;
  }

  const Model& model;
  const std::vector<int> frames;
  const int frame;  // the first of them
  const Method method;
  std::string note;  // for stderr, beside a result

 private:
  template <class W>
  W& made(std::unique_ptr<W>& work) {
    if (!work) work = std::make_unique<W>(model);
    return *work;
  }
  const State* state_ = nullptr;
  bool kinematics_current_ = false;
  std::vector<Spatial<double>> wrenches_;
  std::vector<Mat3<double>> levers_;
  std::unique_ptr<Kinematics<>> kinematics_;
  std::unique_ptr<InverseDynamics<>> inverse_;
  std::unique_ptr<ForwardDynamics<>> forward_;
  std::unique_ptr<MassMatrix<>> mass_matrix_;
  std::unique_ptr<MassFactor<>> mass_factor_;
  std::unique_ptr<NamedForwardDynamics> named_forward_;
  std::unique_ptr<Coriolis> coriolis_;
  std::unique_ptr<DiagonalizedDynamics> diagonalized_;
  std::unique_ptr<LinearizedInverse<>> linearized_inverse_;
  std::unique_ptr<LinearizedForward<>> linearized_forward_;
  std::unique_ptr<TaskSpace> task_space_;
};

// --- numbers as JSON ---------------------------------------------------------------------------------
Json to_json(const Vec3<double>& a) { return Json{a.x, a.y, a.z}; }
Json to_json(const Spatial<double>& a) { return Json{a.w.x, a.w.y, a.w.z, a.v.x, a.v.y, a.v.z}; }
Json to_json(const Mat3<double>& m) {
  return Json{{m.xx, m.xy, m.xz}, {m.yx, m.yy, m.yz}, {m.zx, m.zy, m.zz}};
}
/// A vector of nv numbers, or a matrix of rows x nv, that `f` fills.
template <class F>
Json vector_of(Evaluation& at, F&& f) {
  std::vector<double> x(at.model.nv());
  f(x);
  return x;
}
template <class F>
Json matrix_of(Evaluation& at, int count, F&& f) {
  std::vector<double> x(static_cast<std::size_t>(count) * at.model.nv());
  f(x);
  return count == 0 ? Json::array() : rows(x, count);
}

/// Three nv x nv matrices that `f` fills, by name.
template <class F>
Json matrices_of(Evaluation& at, const char* last, F&& f) {
  const int nv = at.model.nv();
  std::vector<double> m[3];
  for (auto& x : m) x.resize(static_cast<std::size_t>(nv) * nv);
  f(m[0], m[1], m[2]);
  const auto shaped = [&](const auto& x) { return nv == 0 ? Json::array() : rows(x, nv); };
  return Json{{"dq", shaped(m[0])}, {"dv", shaped(m[1])}, {last, shaped(m[2])}};
}

// --- the quantities: one entry each ------------------------------------------------------------------
enum Frames { of_model, of_frame, of_frames };  // frames that it needs: none, one, one or more
struct Quantity {
  const char* name;
  std::vector<Input> uses;
  Frames frame;
  const char* value;
  Json (*compute)(Evaluation&);
};
constexpr Input q = Input::q, v = Input::v, a = Input::a, tau = Input::tau, dq = Input::dq, dv = Input::dv,
                da = Input::da, dtau = Input::dtau;

template <NamedForwardDynamics::Algorithm algorithm>
Json named_forward_dynamics(Evaluation& at) {
  return vector_of(
      at, [&](auto& x) { at.named_forward().compute(algorithm, at[q], at[v], at[tau], x, at.wrenches()); });
}

const std::vector<Quantity>& quantities() {
  using At = Evaluation;
  static const std::vector<Quantity> all{
      {"inverse_dynamics",
       {q, v, a},
       of_model,
       "tau = M a + C v + g, less external forces",
       [](At& at) -> Json {
         return vector_of(
             at, [&](auto& x) { inverse_dynamics(at.inverse(), at[q], at[v], at[a], x, at.wrenches()); });
       }},
      {"forward_dynamics",
       {q, v, tau},
       of_model,
       "a that tau and external forces cause",
       [](At& at) -> Json {
         return vector_of(
             at, [&](auto& x) { forward_dynamics(at.forward(), at[q], at[v], at[tau], x, at.wrenches()); });
       }},
      {"forward_dynamics_fd1",
       {q, v, tau},
       of_model,
       "the same by JPL88's FD1",
       named_forward_dynamics<NamedForwardDynamics::Algorithm::fd1>},
      {"forward_dynamics_fd2",
       {q, v, tau},
       of_model,
       "the same by JPL88's FD2",
       named_forward_dynamics<NamedForwardDynamics::Algorithm::fd2>},
      {"forward_dynamics_fd3",
       {q, v, tau},
       of_model,
       "the same by JPL88's FD3",
       named_forward_dynamics<NamedForwardDynamics::Algorithm::fd3>},
      {"forward_dynamics_fd4",
       {q, v, tau},
       of_model,
       "the same by JPL88's FD4",
       named_forward_dynamics<NamedForwardDynamics::Algorithm::fd4>},
      {"coriolis_matrix",
       {q, v},
       of_model,
       "C, nv x nv: C v + g = bias_forces, dM/dt - 2C skew",
       [](At& at) -> Json {
         return matrix_of(at, at.model.nv(),
                          [&](auto& x) { coriolis_matrix(at.coriolis(), at[q], at[v], x); });
       }},
      {"mass_matrix_rate",
       {q, v},
       of_model,
       "dM/dt along v, nv x nv",
       [](At& at) -> Json {
         return matrix_of(at, at.model.nv(),
                          [&](auto& x) { mass_matrix_rate(at.coriolis(), at[q], at[v], x); });
       }},
      {"christoffel_symbols",
       {q},
       of_model,
       "Gamma_ijk as one matrix (rows i, columns j) for each k",
       [](At& at) -> Json {
         const int nv = at.model.nv();
         const std::size_t size = static_cast<std::size_t>(nv) * nv;
         std::vector<double> gamma(size * nv);
         christoffel_symbols(at.coriolis(), at[q], gamma);
         Json out = Json::array();
         for (int k = 0; k < nv; ++k) out.push_back(rows(std::span(gamma).subspan(k * size, size), nv));
         return out;
       }},
      {"mass_matrix",
       {q},
       of_model,
       "M, nv x nv",
       [](At& at) -> Json {
         return matrix_of(at, at.model.nv(), [&](auto& x) { mass_matrix(at.mass_matrix(), at[q], x); });
       }},
      {"inverse_mass_matrix",
       {q},
       of_model,
       "M^-1, nv x nv",
       [](At& at) -> Json {
         return matrix_of(at, at.model.nv(),
                          [&](auto& x) { inverse_mass_matrix(at.mass_factor(), at[q], x); });
       }},
      {"bias_forces",
       {q, v},
       of_model,
       "C v + g",
       [](At& at) -> Json {
         return vector_of(at, [&](auto& x) { bias_forces(at.inverse(), at[q], at[v], x); });
       }},
      {"gravity_forces",
       {q},
       of_model,
       "g, the forces that hold the model still",
       [](At& at) -> Json {
         return vector_of(at, [&](auto& x) { gravity_forces(at.inverse(), at[q], x); });
       }},
      {"kinetic_energy",
       {q, v},
       of_model,
       "joules, rotors (armature) included",
       [](At& at) -> Json { return at.kinematics().totals().kinetic; }},
      {"potential_energy",
       {q},
       of_model,
       "joules, zero at the world origin",
       [](At& at) -> Json { return at.kinematics().totals().potential; }},
      {"center_of_mass",
       {q},
       of_model,
       "of the moving bodies, world axes",
       [](At& at) { return to_json(at.kinematics().totals().center_of_mass); }},
      {"momentum",
       {q, v},
       of_model,
       "(angular, linear) about the centre of mass, world axes",
       [](At& at) { return to_json(at.kinematics().totals().momentum); }},
      {"centroidal_map",
       {q},
       of_model,
       "6 x nv: momentum = map v",
       [](At& at) -> Json {
         return matrix_of(at, 6, [&](auto& x) { centroidal_map(at.mass_matrix(), at[q], x); });
       }},
      {"pose",
       {q},
       of_frame,
       "{\"rotation\": 3x3, \"position\": 3} in the world",
       [](At& at) {
         const auto pose = at.kinematics().pose(at.frame);
         return Json{{"rotation", to_json(pose.rotation)}, {"position", to_json(pose.position)}};
       }},
      {"frame_velocity",
       {q, v},
       of_frame,
       "(w, v) of the frame's origin, world axes",
       [](At& at) { return to_json(at.kinematics().velocity(at.frame)); }},
      {"jacobian",
       {q},
       of_frame,
       "6 x nv: frame_velocity = jacobian v",
       [](At& at) -> Json {
         return matrix_of(at, 6, [&](auto& x) { at.kinematics().jacobian(at.frame, x); });
       }},
      {"jacobian_dot_v",
       {q, v},
       of_frame,
       "d/dt (jacobian v) at a = 0",
       [](At& at) { return to_json(at.kinematics().acceleration(at.frame)); }},
      {"operational_space",
       {q, v},
       of_frames,
       "{\"omega\", \"lambda\", \"coriolis\", \"gravity\", \"jacobian_bar\", \"rank\"}; several --frame: "
       "stacked",
       [](At& at) -> Json {
         TaskSpace& space = at.task_space();
         space.update(at[q], at[v]);
         const std::size_t n = space.rows();
         std::vector<double> omega(n * n), lambda(n * n), c(n), g(n), bar(n * at.model.nv());
         space.omega(omega);
         space.lambda(lambda);
         space.coriolis(c);
         space.gravity(g);
         space.jacobian_bar(bar);
         if (space.rank() < space.rows()) at.note = "operational_space: " + space.rank_report().words;
         return Json{{"omega", rows(omega, n)},
                     {"lambda", rows(lambda, n)},
                     {"coriolis", c},
                     {"gravity", g},
                     {"jacobian_bar", at.model.nv() == 0 ? Json::array() : rows(bar, at.model.nv())},
                     {"rank", space.rank()}};
       }},
      {"linearized_inverse",
       {q, v, a},
       of_model,
       "{\"dq\": dtau/dq, \"dv\": dtau/dv, \"da\": dtau/da}, nv x nv each",
       [](At& at) -> Json {
         return matrices_of(at, "da", [&](auto& by_q, auto& by_v, auto& by_a) {
           linearized_inverse(at.linearized_inverse(), at[q], at[v], at[a], by_q, by_v, by_a,
                              at.linearization());
         });
       }},
      {"linearized_forward",
       {q, v, tau},
       of_model,
       "{\"dq\": da/dq, \"dv\": da/dv, \"dtau\": da/dtau}, nv x nv each",
       [](At& at) -> Json {
         return matrices_of(at, "dtau", [&](auto& by_q, auto& by_v, auto& by_tau) {
           linearized_forward(at.linearized_forward(), at[q], at[v], at[tau], by_q, by_v, by_tau,
                              at.linearization());
         });
       }},
      {"perturbed_inverse",
       {q, v, a, dq, dv, da},
       of_model,
       "delta tau, in O(n)",
       [](At& at) -> Json {
         return vector_of(at, [&](auto& x) {
           perturbed_inverse(at.linearized_inverse(), at[q], at[v], at[a], at[dq], at[dv], at[da], x,
                             at.linearization());
         });
       }},
      {"perturbed_forward",
       {q, v, tau, dq, dv, dtau},
       of_model,
       "delta a, in O(n); --method conventional: through the mass matrix",
       [](At& at) -> Json {
         return vector_of(at, [&](auto& x) {
           perturbed_forward(at.linearized_forward(), at[q], at[v], at[tau], at[dq], at[dv], at[dtau], x,
                             at.linearization());
         });
       }},
      {"diagonalized",
       {q, v, tau},
       of_model,
       "{\"nu\", \"epsilon\", \"coriolis_nu\", \"xi\", \"kappa\", \"coriolis_xi\", \"D\"}; D is nv x nv",
       [](At& at) -> Json {
         auto& work = at.diagonalized();
         work.update(at[q]);
         const auto terms = work.terms(at[v], at.wrenches());
         return Json{
             {"nu", terms.nu},
             {"epsilon", vector_of(at, [&](auto& x) { work.forces_to_epsilon(at[tau], x); })},
             {"coriolis_nu", terms.coriolis_nu},
             {"xi", terms.xi},
             {"kappa", vector_of(at, [&](auto& x) { work.forces_to_kappa(at[tau], x); })},
             {"coriolis_xi", terms.coriolis_xi},
             {"D", at.model.nv() == 0 ? Json::array() : rows(terms.D, at.model.nv())},
         };
       }},
  };
  return all;
}

std::vector<const Quantity*> chosen(const std::vector<std::string>& names) {
  std::vector<const Quantity*> out;
  for (const auto& name : names) {
    const auto it =
        std::find_if(quantities().begin(), quantities().end(), [&](auto& k) { return name == k.name; });
    if (it == quantities().end()) {
      std::string known;
      for (const auto& k : quantities()) known += std::string(known.empty() ? "" : ", ") + k.name;
      throw InputError(fmt::format("unknown quantity '{}'; known: {}", name, known));
    }
    if (std::find(out.begin(), out.end(), &*it) == out.end()) out.push_back(&*it);
  }
  return out;
}

std::string help_on_quantities() {
  std::string text = "Quantities, what they use of a state, and their value:\n";
  for (const auto& k : quantities()) {
    std::string uses;
    for (const Input input : k.uses)
      uses += std::string(uses.empty() ? "" : " ") + std::string(name_of(input));
    if (k.frame != of_model) uses += " --frame";
    text += fmt::format("  {:<20} {:<19} {}\n", k.name, uses, k.value);
  }
  return text +
         "\nStates are JSON: {\"states\": [{\"q\": [..], \"v\": [..], \"a\": [..], \"tau\": [..]}, ..]}, or "
         "one such state.\n"
         "Vectors that no quantity uses may be left out. \"wrenches\": {\"LINK\": [moment(3), force(3)]} in "
         "a state adds\n"
         "external forces, world axes at the link's origin, to inverse and forward dynamics (diagonalized "
         "too) and\n"
         "their linearizations, where they keep these components. Derivatives by q have one column a "
         "velocity.\n\n"
         "MODEL may be a scene, a JSON file of arms that hold an object; its quantities are grasp and\n"
         "grasp_linearized, at the state in the scene.\n\n"
         "Example:\n"
         "  articula eval two_arms grasp\n"
         "  echo '{\"q\": [0.3, -0.5], \"v\": [0, 0], \"tau\": [0, 0]}' | articula eval double_pendulum "
         "forward_dynamics\n";
}

bool all_finite(const Json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return !value.is_structured() || std::all_of(value.begin(), value.end(), all_finite);
}

struct EvalOptions {
  ModelOptions model;
  std::vector<std::string> quantities;
  std::vector<std::string> frames;
  std::string states = "-", out = "-";
  std::string method;
  bool project = false;
};

/// Remarks beside results, on stderr: of many states only the first ones.
class Notes {
 public:
  void add(std::size_t state, const std::string& text) {
    if (text.empty() || ++count_ > shown) return;
    fmt::print(stderr, "articula eval: state {}: {}\n", state, text);
  }
  void finish() const {
    if (count_ > shown) fmt::print(stderr, "articula eval: and {} more such notes\n", count_ - shown);
  }

 private:
  static constexpr std::size_t shown = 10;
  std::size_t count_ = 0;
};

Json result_of(const std::vector<const Quantity*>& wanted, Evaluation& at, ManyStates& many,
               std::size_t index, Notes& notes) {
  Json result = Json::object();
  for (const Quantity* k : wanted) {
    try {
      auto together = many.value(k->name, index);
      result[k->name] = together ? std::move(*together) : k->compute(at);
    } catch (const SingularError& error) {
      throw ComputationError(fmt::format("state {}: {}", index, error.what()));
    }
    if (!all_finite(result[k->name]))
      throw ComputationError(
          fmt::format("state {}: {} is not finite; are the state's numbers too large?", index, k->name));
    notes.add(index, at.note);
    at.note.clear();
  }
  return result;
}

ExitCode run(const EvalOptions& options) {
  const auto of_scenes = [](const std::string& name) { return name.starts_with("grasp"); };
  const auto found = std::find_if(options.quantities.begin(), options.quantities.end(), of_scenes);
  if (options.model.source == "-" && options.states == "-" && found == options.quantities.end())
    throw InputError("MODEL and the states cannot both come from stdin; give --states FILE");
  if (is_scene(options.model.source)) {
    if (options.states != "-" || !options.frames.empty() || !options.method.empty())
      throw InputError("a scene goes with --gravity, --project and --out; its state is in the file");
    return evaluate_scene(options.model, options.quantities, options.project, options.out);
  }
  if (options.project) throw InputError("--project is for scenes");
  if (found != options.quantities.end())
    throw InputError(
        fmt::format("{} needs a scene, a JSON file; '{}' is a model", *found, options.model.source));
  const auto wanted = chosen(options.quantities);
  Needs needs;
  for (const Quantity* k : wanted) {
    if (k->frame != of_model && options.frames.empty())
      throw InputError(fmt::format("{} needs --frame LINK", k->name));
    if (k->frame == of_frame && options.frames.size() > 1)
      throw InputError(fmt::format("{} takes one --frame LINK, {} given", k->name, options.frames.size()));
    for (const Input input : k->uses)
      if (auto& needed_by = needs[static_cast<int>(input)]; needed_by.empty()) needed_by = k->name;
  }
  const Model model = load_model(options.model);
  std::vector<int> frames;
  for (const auto& name : options.frames) frames.push_back(model.frame(name));
  Output out(options.out);
  const auto states = read_states(options.states, model, needs);

  std::string text = "{\n \"model\": ";
  append(describe_model(model), 1, text);
  text += ",\n \"results\": [";
  const Method method = options.method.empty()       ? Method::automatic
                        : options.method == "direct" ? Method::direct
                                                     : Method::conventional;
  std::vector<ManyStates::Wanted> together;
  for (const Quantity* k : wanted) together.push_back({k->name, k->uses});
  ManyStates many(model, frames, method, std::move(together), states);
  Evaluation at(model, std::move(frames), method);
  Notes notes;
  Progress progress("eval", states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    at.start(states[i]);
    text += i ? ",\n  " : "\n  ";
    append(result_of(wanted, at, many, i, notes), 2, text);
    progress.at(i + 1);
  }
  notes.finish();
  text += states.empty() ? "]\n}\n" : "\n ]\n}\n";
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_eval(CLI::App& program) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App& app = *program.add_subcommand("eval", "Numbers at given states, as JSON");
  options->model.add_to(app, ModelOptions::Takes::scenes_too);
  app.add_option("QUANTITY", options->quantities, "One or more of the quantities below")
      ->required()
      ->type_name("");
  app.add_option("--frame", options->frames,
                 "The link or frame of pose, jacobian, ..; operational_space takes several")
      ->allow_extra_args(false)
      ->type_name("LINK");
  app.add_option("--method", options->method,
                 "How linearized_forward and perturbed_forward are made (default: what is faster)")
      ->check(CLI::IsMember({"direct", "conventional"}));
  app.add_option("--states", options->states, "File of states (default: - for stdin)")->type_name("FILE");
  app.add_flag("--project", options->project, "Scenes: make velocities fit, and close loops, that do not");
  add_out_option(app, options->out);
  app.footer(help_on_quantities());
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
