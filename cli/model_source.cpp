#include "cli/model_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "articula/loops/scene_of_model.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/findings.hpp"
#include "cli/input.hpp"
#include "cli/messages.hpp"
#include "cli/output.hpp"
#include "cli/scene_source.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;
constexpr int longest_chain = 1'000'000;

bool is_scene_file(const fs::path& path) { return path.extension() == ".json"; }

std::optional<std::string> shipped_model(const std::string& name) {
  std::error_code ignored;
  for (const fs::path& folder : model_folders())
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().stem() == name && entry.is_regular_file(ignored) && !is_scene_file(entry.path()))
        return entry.path().string();
  return {};
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

ModelSpec chain_of(const std::string& source) {
  const std::string_view rest = std::string_view(source).substr(6);
  const std::size_t colon = rest.find(':');
  const auto joints = whole_number<int>(rest.substr(0, colon));
  const auto seed =
      colon == rest.npos ? std::uint64_t{1} : whole_number<std::uint64_t>(rest.substr(colon + 1));
  if (!joints || !seed || *joints < 1 || *joints > longest_chain)
    throw InputError(
        fmt::format("'{}': expected chain:N or chain:N:SEED with N from 1 to {} and a whole SEED, as in "
                    "chain:10 or chain:10:7",
                    source, longest_chain));
  return make_chain(*joints, *seed);
}

}  // namespace

std::vector<fs::path> model_folders() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> folders;
  for (std::string_view rest = ARTICULA_MODELS; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    folders.push_back(program / rest.substr(0, colon));  // one from the root stays as it is
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return folders;
}
std::vector<std::string> shipped_names(bool scenes) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& folder : model_folders())
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.is_regular_file(ignored) && is_scene_file(entry.path()) == scenes)
        names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void ModelOptions::add_to(CLI::App& app, Takes takes) {
  const auto known = [takes] {
    std::vector<std::string> names = shipped_names(false);
    if (takes == Takes::scenes_too)
      for (auto& name : shipped_names(true)) names.push_back(std::move(name));
    return names;
  };
  app.add_option("MODEL", source,
                 std::string("A model's file (URDF, SDF, MJCF; - for stdin), chain:N[:SEED], or the name of "
                             "a shipped model") +
                     (takes == Takes::scenes_too ? "; or a scene" : ""))
      ->required()
      ->suggest(known);
  app.add_option("--base", base, "How the root link meets the world")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  app.add_option("--gravity", gravity, "Gravity in m/s^2, world axes (default: the file's, or 0 0 -9.81)")
      ->expected(3)
      ->allow_extra_args(false)  // what follows may be MODEL
      ->type_name("NUMBER");
  app.add_flag("--strict", strict, "Refuse a model of which articula check would tell anything");
  app.add_option("--package", packages, "Folder of a package that the model's meshes are in (repeatable)")
      ->type_name("NAME=FOLDER")
      ->allow_extra_args(false);
}

BuildOptions ModelOptions::build_options(const std::optional<Vec3<double>>& stated) const {
  BuildOptions out{.base = base == "free" ? Base::free : Base::fixed};
  if (stated) out.gravity = *stated;
  if (!gravity.empty()) out.gravity = {gravity[0], gravity[1], gravity[2]};
  return out;
}

ReadOptions ModelOptions::read_options() const {
  ReadOptions out;
  for (const std::string& package : packages) {
    const std::size_t equals = package.find('=');
    if (equals == package.npos || equals == 0 || equals + 1 == package.size())
      throw InputError(fmt::format("--package {}: expected NAME=FOLDER", package));
    out.packages[package.substr(0, equals)] = package.substr(equals + 1);
  }
  return out;
}

LoadedModel read_source(const std::string& source, const ReadOptions& options) {
  std::error_code ignored;
  const auto status = fs::status(source, ignored);
  const bool is_file = fs::exists(status) && !fs::is_directory(status);
  if (is_scene(source) && (is_file || !source.ends_with(".json")))
    throw InputError(fmt::format(
        "'{}' is a scene; expected a model here (eval, check, simulate, report and view take scenes)",
        source));
  if (source == "-") return read_model(ModelText{read_all("-", "<stdin>"), "<stdin>", "", options});
  if (is_file) return read_model(source, options);
  if (source.starts_with("chain:")) return {.spec = chain_of(source)};
  if (const auto path = shipped_model(source)) return read_model(*path, options);
  if (fs::is_directory(status))
    throw InputError(fmt::format("'{}' is a directory; expected a model's file", source));
  throw InputError(fmt::format(
      "'{}': there is no such file and no shipped model of that name; shipped: {}; scenes: {}; or "
      "chain:N",
      source, fmt::join(shipped_names(false), ", "), fmt::join(shipped_names(true), ", ")));
}

ModelVisuals load_visuals(const std::string& source, const ReadOptions& options) {
  if (source == "-" || source.starts_with("chain:")) return {};
  return read_visuals(read_source(source, options));
}

Model build_and_warn(const LoadedModel& read, const ModelOptions& options, std::size_t* suspicions) {
  const Model model = read.build(options.build_options(read.gravity));
  std::vector<Finding> warnings = read.findings;
  warnings.insert(warnings.end(), model.warnings().begin(), model.warnings().end());
  std::erase_if(warnings, [](const Finding& f) { return f.severity != Finding::Severity::warning; });
  if (suspicions) *suspicions = warnings.size();
  if (warnings.empty()) return model;
  const std::string told = first_and_more(warnings, Finding::Severity::warning);
  if (options.strict) throw ModelError(told + " (--strict)");
  fmt::print(stderr, "articula: {}\n", told);
  return model;
}

Model load_model(const ModelOptions& options, std::size_t* suspicions) {
  const LoadedModel read = read_source(options.source, options.read_options());
  if (has_loops(read.spec))
    fmt::print(stderr,
               "articula: note: '{}' has {} and {}; this is of its tree alone; eval, simulate and view keep "
               "them closed\n",
               printable(read.spec.name), count_of(read.spec.loops.size(), "loop"),
               count_of(read.spec.couplings.size(), "coupling"));
  return build_and_warn(read, options, suspicions);
}

}  // namespace articula::cli
