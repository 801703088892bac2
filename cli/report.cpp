// articula report: recordings that exist already as a page.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "articula/report/report.hpp"
#include "articula/simulation/recording.hpp"
#include "cli/motion_report.hpp"
#include "cli/output.hpp"
#include "cli/scene_source.hpp"

namespace articula::cli {

namespace {

struct ReportOptions {
  ModelOptions model;
  std::string recording, compare, out;
};

Recording read(const std::string& path) {
  const Recording recording = read_recording(path, format_of(path));
  if (recording.size() == 0) throw InputError(fmt::format("{}: the recording has no rows", path));
  return recording;
}

ExitCode run(const ReportOptions& o) {
  if (!has_page()) report_html({});  // says why
  for (const std::string* path : {&o.recording, &o.compare})
    if (*path == o.out) throw InputError(fmt::format("--out {} is one of the recordings", o.out));
  const Recording first = read(o.recording);
  std::optional<Recording> second;
  if (!o.compare.empty()) second = read(o.compare);
  // Two folders may each have a run.csv.
  const auto file = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const bool same = file(o.recording) == file(o.compare);
  const NamedRecording one{first, same ? o.recording : file(o.recording)};
  std::optional<NamedRecording> other;
  if (second) other.emplace(NamedRecording{*second, same ? o.compare : file(o.compare)});
  const NamedRecording* const beside = other ? &*other : nullptr;
  const auto make = [&] {
    if (is_scene(o.model.source)) {
      Scene scene(load_scene(o.model), {.project = true});
      return scene_report(one, beside, scene, o.model);
    }
    const Model model = build_and_warn(read_source(o.model.source, o.model.read_options()), o.model);
    return model_report(one, beside, model, o.model);
  };
  const std::string page = report_html(make());
  Output out(o.out, "--out");
  out.write(page);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_report(CLI::App& program) {
  auto o = std::make_shared<ReportOptions>();
  CLI::App& app = *program.add_subcommand("report", "A recording as a page for the browser, or two compared");
  o->model.add_to(app, ModelOptions::Takes::scenes_too);
  app.add_option("RECORDING", o->recording, "What simulate wrote: CSV, .npz or .h5")->required();
  app.add_option("--compare", o->compare,
                 "Another recording of the same model: beside it, and the difference")
      ->type_name("FILE");
  app.add_option("--out", o->out, "The page (- for stdout)")->required()->type_name("FILE.html");
  app.footer(
      "Both mechanisms stand on one stage, the second see-through; its curves are dashed, and plots of the "
      "difference\n"
      "follow (second less first). Times are the first's; the second is interpolated there.\n\n"
      "Example:\n"
      "  articula simulate puma560 --duration 2 --step 0.01 --out rk4.csv\n"
      "  articula simulate puma560 --duration 2 --step 0.01 --integrator euler --out euler.csv\n"
      "  articula report puma560 rk4.csv --compare euler.csv --out compare.html\n");
  return {&app, [o] { return run(*o); }};
}

}  // namespace articula::cli
