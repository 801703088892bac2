#include "cli/scene_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/constrained_operational_space.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/report/link_shapes.hpp"
#include "articula/spatial/numbers.hpp"
#include "cli/input.hpp"
#include "cli/messages.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;

/// The file of a scene, or nothing.
std::string scene_path(const std::string& source) {
  std::error_code ignored;
  if (source == "-") return looks_like_scene(look_ahead()) ? source : "";
  if (source.ends_with(".json")) return source;
  if (fs::is_regular_file(source, ignored)) {  // a scene by any other name begins with a brace
    char text[256] = {};
    if (std::FILE* const file = std::fopen(source.c_str(), "rb")) {
      const std::size_t read = std::fread(text, 1, sizeof(text), file);
      std::fclose(file);
      if (looks_like_scene({text, read})) return source;
    }
    return "";
  }
  if (fs::exists(source, ignored)) return "";
  for (const fs::path& folder : model_folders())
    if (const fs::path path = folder / (source + ".json"); fs::exists(path, ignored)) return path.string();
  return "";
}

/// An arm's model: a file beside the scene, or whatever the command line takes.
std::string arm_source(const std::string& source, const std::string& folder) {
  const fs::path beside = fs::path(folder) / source;
  std::error_code ignored;
  return fs::exists(beside, ignored) && !fs::is_directory(beside, ignored) ? beside.string() : source;
}
ModelSpec arm_model(const std::string& source, const std::string& folder, const ModelOptions& options) {
  LoadedModel read = read_source(arm_source(source, folder), options.read_options());
  throw_first_error(read.findings);
  if (options.strict)
    for (const Finding& f : find_problems(read))
      if (f.severity == Finding::Severity::warning) throw ModelError(describe(f) + " (--strict)");
  return std::move(read.spec);
}

Json numbers(std::span<const double> x) { return std::vector<double>(x.begin(), x.end()); }
Json numbers(const Spatial<double>& x) { return Json{x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z}; }
Json matrix(const std::vector<double>& x, std::size_t columns) {
  Json out = Json::array();
  for (std::size_t i = 0; columns && i < x.size() / columns; ++i)
    out.push_back(std::vector<double>(x.begin() + static_cast<long>(i * columns),
                                      x.begin() + static_cast<long>((i + 1) * columns)));
  return out;
}

Json grasp_of(Scene& scene) {
  ConstrainedDynamics& work = scene.dynamics();
  const SceneSpec& spec = scene.spec();
  std::vector<double> a(scene.model().nv());
  const int rank = scene.omega_rank(scene.q, scene.v);
  work.acceleration(scene.q, scene.v, scene.tau, a);
  Json arms = Json::array();
  for (std::size_t i = 0; i < spec.arms.size(); ++i) {
    const Assembly::Range r = scene.arm(static_cast<int>(i));
    Json arm{{"name", spec.arms[i].name}, {"a", numbers(std::span(a).subspan(r.v, r.nv))}};
    for (std::size_t g = 0; g < spec.grasps.size(); ++g) {
      if (spec.grasps[g].arm != spec.arms[i].name) continue;
      arm["force"] = numbers(work.force(static_cast<int>(g)));
      arm["contact_rates"] = scene.contact_rates(static_cast<int>(g), scene.q, scene.v, a);
      if (spec.grasps[g].limits) {
        const ContactState s = work.contact_state(static_cast<int>(g));
        arm["contact"] = Json{{"normal_force", s.normal_force},
                              {"tangential_force", s.tangential_force},
                              {"pulls", s.pulls},
                              {"slips", s.slips}};
      }
    }
    arms.push_back(arm);
  }
  Json result{{"arms", arms}};
  Kinematics<> k(scene.model());
  k.update(scene.q, scene.v, a);
  if (spec.objects.size() == 1) {
    result["object"] = Json{{"acceleration", numbers(k.acceleration(scene.object_frame(0)))}};
  } else {
    for (std::size_t i = 0; i < spec.objects.size(); ++i)
      result["objects"].push_back(
          Json{{"name", spec.objects[i].name},
               {"acceleration", numbers(k.acceleration(scene.object_frame(static_cast<int>(i))))}});
  }
  for (std::size_t i = spec.grasps.size(); i < work.constraints().size(); ++i) {
    const Constraint& c = work.constraints()[i];
    Json loop{
        {"name", c.name},
        {"multipliers", numbers(work.multipliers().subspan(work.row_of(static_cast<int>(i)), c.rows()))}};
    if (c.kind != Constraint::Kind::coupler) loop["force"] = numbers(work.force(static_cast<int>(i)));
    result["loops"].push_back(loop);
  }
  for (const std::string& line : work.dependences()) result["dependences"].push_back(line);
  result["rank"] = rank;
  result["residual"] = work.residual(scene.q, scene.v, a);
  return result;
}

/// The same by one of the paper's algorithms.
Json grasp_by(Scene& scene, const std::string& method) {
  using Algorithm = ClosedChain::Algorithm;
  SceneClosedChain at = closed_chain_of(scene);
  at.chain.compute(method == "rccfd1"   ? Algorithm::rccfd1
                   : method == "rccfd2" ? Algorithm::rccfd2
                   : method == "rccfd3" ? Algorithm::rccfd3
                                        : Algorithm::coupled,
                   at.arms, at.object);
  Json arms = Json::array();
  std::vector<double> a(scene.model().nv());
  for (int i = 0; i < at.chain.arms(); ++i) {
    arms.push_back({{"name", at.chain.arm(i).name},
                    {"a", numbers(at.chain.acceleration(i))},
                    {"force", numbers(at.chain.force(i))},
                    {"contact_rates", numbers(at.chain.contact_rates(i))}});
    std::copy(at.chain.acceleration(i).begin(), at.chain.acceleration(i).end(), a.begin() + scene.arm(i).v);
  }
  // The residual is that of the constraints at all accelerations: the object's are given in its own axes.
  const Spatial<double> alpha = at.chain.object_acceleration(), &V = at.object.velocity;
  const Mat3<double>& R = at.object.pose.R;
  const Spatial<double> own{star_times(R, alpha.w), star_times(R, alpha.v - cross(V.w, V.v))};
  std::copy_n(numbers_of(own), 6, a.begin() + scene.object(0).v);
  return {{"arms", arms},
          {"object", {{"acceleration", numbers(alpha)}}},
          {"rank", at.chain.rank()},
          {"Pi", matrix(at.chain.Pi(), 6 * static_cast<std::size_t>(at.chain.arms()))},
          {"residual", scene.dynamics().residual(scene.q, scene.v, a)},
          {"method", method}};
}

Json linearized_of(Scene& scene) {
  LinearizedConstrained linear(scene.dynamics());
  ConstrainedDerivatives d;
  linear.compute(scene.q, scene.v, scene.tau, d);
  const std::size_t nv = scene.model().nv();
  return Json{{"a", d.a},
              {"dq", matrix(d.da_dq, nv)},
              {"dv", matrix(d.da_dv, nv)},
              {"dtau", matrix(d.da_dtau, nv)},
              {"force_dq", matrix(d.df_dq, nv)},
              {"force_dv", matrix(d.df_dv, nv)},
              {"force_dtau", matrix(d.df_dtau, nv)}};
}

/// Of the closed mechanism: Lambda and its kin.
Json operational_space_of(Scene& scene, const std::vector<std::string>& names) {
  std::vector<int> frames;
  for (const std::string& name : names) frames.push_back(scene.model().frame(name));
  const ConstrainedTaskTerms t = constrained_operational_space(scene.dynamics(), scene.q, scene.v, frames);
  const auto rows = static_cast<std::size_t>(t.rows);
  return Json{{"omega", matrix(t.omega, rows)},
              {"lambda", matrix(t.lambda, rows)},
              {"coriolis", t.coriolis},
              {"gravity", t.gravity},
              {"jacobian_bar", matrix(t.jacobian_bar, rows)},
              {"rank", t.rank}};
}

bool numbers_finite(const Json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return !value.is_structured() || std::all_of(value.begin(), value.end(), numbers_finite);
}

}  // namespace

bool is_scene(const std::string& source) { return !scene_path(source).empty(); }

std::vector<LinkShapes> scene_shapes(const std::string& source, const SceneSpec& scene) {
  const std::string folder = fs::path(scene_path(source)).parent_path().string();
  std::vector<LinkShapes> all;
  for (const SceneArm& arm : scene.arms)
    for (LinkShapes& link : with_prefix(load_visuals(arm_source(arm.source, folder)).links, arm.name + "/"))
      all.push_back(std::move(link));
  return all;
}

SceneSpec load_scene(const ModelOptions& options) {
  const std::string path = scene_path(options.source);
  if (path.empty())
    throw InputError(fmt::format("'{}' is not a scene; expected a JSON file or the name of a shipped scene",
                                 options.source));
  if (options.base != ModelOptions{}.base)
    throw InputError("--base is not for scenes: \"base\": {\"free\": true} in the file says it for each arm");
  const std::string name = path == "-" ? "<stdin>" : path;
  const std::string text = read_all(path, name);
  SceneSpec spec = parse_scene(text, name, fs::path(path).parent_path().string(),
                               [&](const std::string& source, const std::string& folder) {
                                 return arm_model(source, folder, options);
                               });
  if (!options.gravity.empty()) spec.gravity = options.build_options().gravity;
  return spec;
}

ExitCode evaluate_scenes(const std::vector<SceneSpec>& scenes, const Model* model,
                         const std::vector<std::string>& quantities, bool project, const std::string& to,
                         const std::string& method, const std::vector<std::string>& frames) {
  const bool of_frames =
      std::find(quantities.begin(), quantities.end(), "operational_space") != quantities.end();
  for (const std::string& name : quantities)
    if (name != "grasp" && name != "grasp_linearized" && name != "operational_space")
      throw InputError(fmt::format(
          "the quantities of a scene are grasp, grasp_linearized and operational_space, not '{}'", name));
  if (of_frames && frames.empty()) throw InputError("operational_space needs --frame LINK");
  if (!of_frames && !frames.empty()) throw InputError("--frame is for operational_space; none is asked for");
  Output out(to);
  std::string text = "{\n \"model\": ", results;
  if (model) append(describe_model(*model), 1, text);
  for (const SceneSpec& spec : scenes) {
    Scene scene(spec, {.project = project});
    if (results.empty() && !model) append(describe_model(scene.model()), 1, text);
    Json result = Json::object();
    for (const std::string& name : quantities) {
      result[name] = name == "operational_space"  ? operational_space_of(scene, frames)
                     : name == "grasp_linearized" ? linearized_of(scene)
                     : method.empty()             ? grasp_of(scene)
                                                  : grasp_by(scene, method);
      if (!numbers_finite(result[name]))
        throw ComputationError(fmt::format("{} is not finite; are the scene's numbers too large?", name));
    }
    results += results.empty() ? "\n  " : ",\n  ";
    append(result, 2, results);
  }
  out.write(text + ",\n \"results\": [" + results + (results.empty() ? "" : "\n ") + "]\n}\n");
  out.finish();
  return done;
}

std::vector<Finding> find_problems(ConstrainedDynamics& work, In<double> q, In<double> v, In<double> tau,
                                   const std::string& where) {
  std::vector<Finding> out;
  const auto add = [&](Finding::Severity severity, std::string text) {
    out.push_back({severity, where, std::move(text)});
  };
  try {
    std::vector<double> a(v.size());
    work.acceleration(q, v, tau, a);
    for (const std::string& line : work.dependences())
      // A planar loop closed by a hinge in space: over-determined, but nothing is lost by it.
      add(line.find("holds by itself") != line.npos ? Finding::Severity::note : Finding::Severity::warning,
          line);
    for (std::size_t i = 0; i < work.constraints().size(); ++i) {
      if (!work.constraints()[i].limits) continue;
      const std::string& name = work.constraints()[i].name;
      const ContactState s = work.contact_state(static_cast<int>(i));
      if (s.pulls)
        add(Finding::Severity::warning,
            fmt::format("contact '{}' would have to pull with {:.4g} N", name, -s.normal_force));
      else if (s.slips)
        add(Finding::Severity::warning,
            fmt::format("contact '{}' would slip: {:.4g} N along the surface, {:.4g} N on it", name,
                        s.tangential_force, s.normal_force));
    }
  } catch (const Error& error) {
    add(Finding::Severity::error, error.what());
  }
  return out;
}

ExitCode check_scene(const ModelOptions& model, const std::string& to) {
  const SceneSpec spec = load_scene(model);
  Output out(to);
  std::string text;
  int problems = 0;
  const auto say = [&](const std::string& line) {
    text += printable(line) + "\n";
    ++problems;
  };
  for (const SceneArm& arm : spec.arms)
    for (const Finding& f : find_problems(arm.spec, arm.kind)) {
      if (f.severity == Finding::Severity::note) continue;
      say(fmt::format("arm '{}': {}", arm.name, describe(f)));
    }
  std::unique_ptr<Scene> scene;
  try {
    scene = std::make_unique<Scene>(spec);
  } catch (const Error& error) {
    say(error.what());
  }
  if (scene) {
    for (const Finding& f : find_problems(scene->dynamics(), scene->q, scene->v, scene->tau, spec.where))
      if (f.severity == Finding::Severity::note)
        text += printable(describe(f)) + "\n";
      else
        say(describe(f));
    if (problems == 0)
      text += fmt::format("{}: sound: {}, {}, {}, {}\n", model.source, count_of(spec.arms.size(), "arm"),
                          count_of(spec.objects.size(), "object"), count_of(scene->model().nv(), "freedom"),
                          count_of(scene->dynamics().rows(), "constraint row"));
  }
  if (problems) text += fmt::format("{}: {}\n", model.source, count_of(problems, "finding"));
  out.write(text);
  out.finish();
  return problems ? impossible : done;
}

}  // namespace articula::cli
