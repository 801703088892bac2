// articula view: a model in the browser, with sliders.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "articula/files/json_input.hpp"
#include "articula/loops/scene_of_model.hpp"
#include "articula/report/model_view.hpp"
#include "articula/report/report.hpp"
#include "cli/messages.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/scene_source.hpp"
#include "cli/view_server.hpp"

namespace articula::cli {

namespace {

struct ViewCommand {
  ModelOptions model;
  std::string out;
  int port = 0;
  bool no_browser = false;
};

/// Hands the address to the desktop's browser; that there is none is no error.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {  // nobody waits for the browser
      setsid();
      const int nothing = open("/dev/null", O_RDWR);
      for (int fd = 0; fd <= 2; ++fd) dup2(nothing, fd);
      sigset_t none;
      sigemptyset(&none);
      pthread_sigmask(SIG_SETMASK, &none, nullptr);
      execlp("xdg-open", "xdg-open", address.c_str(), static_cast<char*>(nullptr));
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// A number, or a list of so many (-1: any), of a request.
double number_of(const nlohmann::json& x, const char* what) {
  if (!x.is_number()) throw InputError(fmt::format("\"{}\": expected a number", what));
  return x.get<double>();
}
std::vector<double> numbers_in(const nlohmann::json& object, const char* key, int count = -1) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || (count >= 0 && found->size() != std::size_t(count)))
    throw InputError(count < 0 ? fmt::format("\"{}\": expected a list of numbers", key)
                               : fmt::format("\"{}\": expected a list of {} numbers", key, count));
  std::vector<double> out;
  for (const auto& x : *found) out.push_back(number_of(x, key));
  return out;
}
int index_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    throw InputError(fmt::format("\"{}\": expected a whole number", key));
  const auto index = found->get<std::int64_t>();
  if (index < 0 || index > 1'000'000'000)
    throw InputError(fmt::format("\"{}\": there is no such {}", key, key));
  return static_cast<int>(index);
}

ViewRequest::Drag drag_of(const nlohmann::json& given) {
  const std::vector<double> p = numbers_in(given, "position", 3);
  ViewRequest::Drag out{.position = {p[0], p[1], p[2]}};
  if (!given.contains("quaternion")) return out;
  const std::vector<double> x = numbers_in(given, "quaternion", 4);
  const double length = std::hypot(std::hypot(x[0], x[1]), std::hypot(x[2], x[3]));
  if (!(std::abs(length - 1) < 1e-3)) throw InputError("\"quaternion\": expected unit length");
  out.turn = {x[0] / length, x[1] / length, x[2] / length, x[3] / length};
  return out;
}

/// {"values": [one per slider], "frame": index}; with "move": {"slider": index, "to": number} to a place that loops
/// allow, or with "drag": {"position": [x, y, z], "quaternion": [x, y, z, w] or not} of the frame.
std::string answer(ModelView& view, const std::string& body) {
  const nlohmann::json given = parse_json(body, "the request", "expected JSON");
  if (!given.is_object()) throw InputError("expected {\"values\": [..], \"frame\": index}");
  ViewRequest request{.values = numbers_in(given, "values"), .frame = index_in(given, "frame")};
  for (const char* key : {"move", "drag"})
    if (given.contains(key) && !given[key].is_object())
      throw InputError(fmt::format("\"{}\": expected an object", key));
  if (given.contains("move"))
    request.move = {index_in(given["move"], "slider"),
                    number_of(given["move"].value("to", nlohmann::json()), "to")};
  if (given.contains("drag")) request.drag = drag_of(given["drag"]);
  if (request.move && request.drag) throw InputError("\"move\" and \"drag\": expected one of them");
  return view.state_json(request);
}

/// What is shown of a scene. That it cannot be closed is an error.
ModelView view_of_scene(const ModelOptions& options) {
  const Scene scene(load_scene(options), {.project = true});
  return {scene.model(),
          scene_shapes(options.source, scene.spec()),
          {.title = std::filesystem::path(scene.spec().where).stem().string(),
           .constraints = scene.constraints(),
           .q = scene.q}};
}

ModelView view_of_model(const ModelOptions& options) {
  const LoadedModel read = read_source(options.source, options.read_options());
  const Model model = build_and_warn(read, options);
  const ModelVisuals visuals = load_visuals(options.source, options.read_options());
  ViewOptions shown;
  for (const auto& finding : visuals.findings) shown.notes.push_back(finding.message);
  try {
    shown.constraints = constraints_of(model);
    if (!shown.constraints.empty()) ConstrainedDynamics(model, shown.constraints);  // throws if it cannot be
  } catch (const Error& error) {  // articula check tells it too
    shown.constraints.clear();
    shown.notes.push_back(fmt::format("Loops are shown open: {}", error.what()));
  }
  const bool has = has_loops(read.spec);
  ModelView view(model, visuals.links, std::move(shown));
  if (has && !view.closed()) say("note: {}", view.notes().back());
  return view;
}

ExitCode run(const ViewCommand& options) {
  if (options.port < 0 || options.port > 65535)
    throw InputError(fmt::format("--port {}: expected 1 to 65535, or 0 for any that is free", options.port));
  ModelView view =
      is_scene(options.model.source) ? view_of_scene(options.model) : view_of_model(options.model);
  if (!options.out.empty()) {
    Output out(options.out);
    out.write(view.page(false));
    out.finish();
    return done;
  }
  const std::string page = view.page(true);  // before the port: a build without the page says so here
  const ViewHandlers handlers{[&] { return page; },
                              [&](const std::string& body) { return answer(view, body); }};
  serve_view(options.port, handlers, [&](const std::string& address) {
    fmt::print("{}\n", address);
    std::fflush(stdout);
    say("showing {}; Ctrl-C ends", view.title());
    if (!options.no_browser) open_browser(address);
  });
  return done;
}

}  // namespace

Subcommand add_view(CLI::App& program) {
  auto options = std::make_shared<ViewCommand>();
  CLI::App& app = *program.add_subcommand(
      "view", "A model or a scene in the browser: sliders, a frame to drag, mass matrix, D, ellipsoid");
  options->model.add_to(app, ModelOptions::Takes::scenes_too);
  app.add_option("--port", options->port, "Port on 127.0.0.1 (default: any that is free)")
      ->type_name("NUMBER");
  app.add_flag("--no-browser", options->no_browser, "Print the address, open nothing");
  app.add_option("--out", options->out, "Write a page without sliders to this file instead")
      ->type_name("FILE");
  app.footer(
      "Serves a page to this machine alone and prints its address, which holds a random token that every "
      "request\n"
      "needs. Sliders move the joints, the mouse drags a frame (inverse kinematics); the mass matrix, the "
      "factor D\n"
      "of every joint and the operational-space ellipsoid of the frame follow, computed by the library. "
      "Loops of a\n"
      "scene or of a model's file stay closed.\n\n"
      "Examples:\n"
      "  articula view arm7 --out arm7.html\n"
      "  articula view stewart --out stewart.html\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
