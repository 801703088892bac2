// articula check: everything suspicious in a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

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

ExitCode run(const CheckOptions& options) {
  if (is_scene(options.model.source)) return check_scene(options.model, options.out);
  const LoadedModel read = read_source(options.model.source, options.model.read_options());
  const BuildOptions build = options.model.build_options();
  const auto findings = find_problems(read, build.base);
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
