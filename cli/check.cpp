// articula check: everything suspicious in a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "articula/loops/scene_of_model.hpp"
#include "articula/model/configuration.hpp"
#include "cli/messages.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/scene_source.hpp"

namespace articula::cli {

namespace {

struct CheckOptions {
  ModelOptions model;
  std::string out = "-";
};

/// Constraints are looked at where they are closed, nearest to the model's own state (MJCF's qpos0) or to zero.
void add_loops(const LoadedModel& read, const ModelOptions& options, std::vector<Finding>& findings) {
  const auto add = [&](Finding::Severity severity, std::string text) {
    findings.push_back({severity, options.source, std::move(text)});
  };
  try {
    const Model model(read.spec, options.build_options(read.gravity));
    ConstrainedDynamics work(model, constraints_of(model));
    std::vector<double> q = neutral(model), v(std::size_t(model.nv())), tau(v.size());
    if (!read.states.empty() && read.states[0].q.size() == q.size()) q = read.states[0].q;
    const Projection closed = work.project(q, v);
    if (!closed.converged)
      return add(Finding::Severity::warning,
                 fmt::format("loop '{}' cannot be closed from where the model stands: it stays off by {:.3g}",
                             work.constraints()[std::size_t(std::max(0, closed.after.worst_position))].name,
                             closed.after.position));
    if (closed.before.position > SceneOptions{}.tolerance)
      add(Finding::Severity::note,
          fmt::format("loop '{}' is open where the model stands, by {:.3g}; --project closes it",
                      work.constraints()[std::size_t(std::max(0, closed.before.worst_position))].name,
                      closed.before.position));
    for (Finding& f : find_problems(work, q, v, tau, options.source)) findings.push_back(std::move(f));
  } catch (const SingularError& error) {
    add(Finding::Severity::warning, error.what());
  } catch (const Error& error) {
    add(Finding::Severity::error, error.what());
  }
}

ExitCode run(const CheckOptions& options) {
  if (is_scene(options.model.source)) return check_scene(options.model, options.out);
  const LoadedModel read = read_source(options.model.source, options.model.read_options());
  const BuildOptions build = options.model.build_options();
  auto findings = find_problems(read, build.base);
  const auto is_error = [](const Finding& f) { return f.severity == Finding::Severity::error; };
  if (has_loops(read.spec) && std::none_of(findings.begin(), findings.end(), is_error))
    add_loops(read, options.model, findings);
  Output out(options.out);
  std::string text;
  for (const auto& finding : findings) text += printable(describe(finding)) + "\n";
  const auto count = [&](Finding::Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const auto& f) { return f.severity == severity; });
  };
  const long errors = count(Finding::Severity::error), warnings = count(Finding::Severity::warning);
  const bool sound = errors + warnings == 0;
  if (sound) {
    const Model model(read.spec, build);
    text += fmt::format(
        "{}: sound: {}, {}, {}, {:.6g} kg\n", options.model.source, count_of(read.spec.links.size(), "link"),
        count_of(model.joints().size(), "moving joint"), count_of(model.nv(), "freedom"), model.mass());
  } else {
    text += fmt::format("{}: {}, {}{}\n", options.model.source, count_of(errors, "error"),
                        count_of(warnings, "warning"), errors ? ": the model cannot be used" : "");
  }
  out.write(text);
  out.finish();
  return sound ? done : impossible;
}

}  // namespace

Subcommand add_check(CLI::App& program) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App& app =
      *program.add_subcommand("check", "Everything wrong or suspicious in a model, with file:line");
  options->model.add_to(app, ModelOptions::Takes::scenes_too);
  add_out_option(app, options->out);
  app.footer(
      "Prints a line for each finding, file:line: severity: message, and a summary. Exit codes: 0 sound, 1 "
      "errors or\n"
      "warnings were found, 2 the model cannot be read at all.\n\n"
      "Example:\n  articula check puma560\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
