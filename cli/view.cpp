// articula view: a model in the browser, with sliders.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "articula/files/json_input.hpp"
#include "articula/loops/scene_of_model.hpp"
#include "articula/report/model_view.hpp"
#include "articula/report/report.hpp"
#include "cli/messages.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/view_server.hpp"

namespace articula::cli {

namespace {

struct ViewOptions {
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

/// {"values": [one per slider], "frame": index}
std::string answer(ModelView& view, const std::string& body) {
  const nlohmann::json request = parse_json(body, "the request", "expected JSON");
  if (!request.is_object() || !request.contains("values") || !request["values"].is_array() ||
      !request.contains("frame") || !request["frame"].is_number_integer())
    throw InputError("expected {\"values\": [..], \"frame\": index}");
  std::vector<double> values;
  for (const auto& x : request["values"]) {
    if (!x.is_number()) throw InputError("\"values\": expected numbers");
    values.push_back(x.get<double>());
  }
  const auto frame = request["frame"].get<std::int64_t>();
  if (frame < 0 || frame > 1'000'000'000) throw InputError("\"frame\": there is no such frame");
  return view.state_json(values, static_cast<int>(frame));
}

ExitCode run(const ViewOptions& options) {
  if (options.port < 0 || options.port > 65535)
    throw InputError(fmt::format("--port {}: expected 1 to 65535, or 0 for any that is free", options.port));
  const LoadedModel read = read_source(options.model.source, options.model.read_options());
  const Model model = build_and_warn(read, options.model);
  const ModelVisuals visuals = load_visuals(options.model.source, options.model.read_options());
  std::vector<std::string> notes;
  for (const auto& finding : visuals.findings) notes.push_back(finding.message);
  std::optional<ConstrainedDynamics> loops;
  try {
    if (has_loops(read.spec)) loops.emplace(model, constraints_of(model));
  } catch (const Error& error) {  // articula check tells it too
    say("note: loops are shown open: {}", error.what());
  }
  std::vector<double> at_rest(std::size_t(model.nv()));
  const auto close = [&](std::span<double> q) {
    try {
      loops->project(q, at_rest);
    } catch (const SingularError&) {  // shown as the sliders say
    }
  };
  ModelView view(model, visuals.links, std::move(notes),
                 loops ? std::function<void(std::span<double>)>(close) : nullptr);
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
    say("showing {}; Ctrl-C ends", model.name());
    if (!options.no_browser) open_browser(address);
  });
  return done;
}

}  // namespace

Subcommand add_view(CLI::App& program) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App& app =
      *program.add_subcommand("view", "A model in the browser: sliders, mass matrix, D, ellipsoid");
  options->model.add_to(app);
  app.add_option("--port", options->port, "Port on 127.0.0.1 (default: any that is free)")
      ->type_name("NUMBER");
  app.add_flag("--no-browser", options->no_browser, "Print the address, open nothing");
  app.add_option("--out", options->out, "Write a page without sliders to this file instead")
      ->type_name("FILE");
  app.footer(
      "Serves a page to this machine alone and prints its address, which holds a random token that every "
      "request\n"
      "needs. Sliders move the joints; the mass matrix, the factor D of every joint and the "
      "operational-space\n"
      "ellipsoid of a frame follow, computed by the library.\n\n"
      "Example:\n  articula view arm7 --out arm7.html\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
