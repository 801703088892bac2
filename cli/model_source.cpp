#include "cli/model_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "articula/model/chain.hpp"
#include "cli/input.hpp"
#include "cli/scene_source.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;
constexpr int longest_chain = 1'000'000;

const char* const model_folders[] = {ARTICULA_SOURCE_MODELS, ARTICULA_MODELS};

std::vector<std::string> shipped(const char* ending) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const char* folder : model_folders)
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ending) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::string> shipped_model(const std::string& name) {
  const auto names = shipped(".urdf");
  if (!std::binary_search(names.begin(), names.end(), name)) return {};
  std::error_code ignored;
  for (const char* folder : model_folders)
    if (const fs::path path = fs::path(folder) / (name + ".urdf"); fs::exists(path, ignored))
      return path.string();
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

void ModelOptions::add_to(CLI::App& app, Takes takes) {
  app.add_option("MODEL", source,
                 std::string("URDF file (- for stdin), chain:N[:SEED], or the name of a shipped model") +
                     (takes == Takes::scenes_too ? "; or a scene" : ""))
      ->required();
  app.add_option("--base", base, "How the root link meets the world")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  app.add_option("--gravity", gravity, "Gravity in m/s^2, world axes (default: 0 0 -9.81)")
      ->expected(3)
      ->allow_extra_args(false)  // what follows may be MODEL
      ->type_name("NUMBER");
}

BuildOptions ModelOptions::build_options() const {
  return {base == "free" ? Base::free : Base::fixed, {gravity[0], gravity[1], gravity[2]}};
}

UrdfResult read_source(const std::string& source) {
  std::error_code ignored;
  const auto status = fs::status(source, ignored);
  const bool is_file = fs::exists(status) && !fs::is_directory(status);
  if (is_scene(source) && (is_file || !source.ends_with(".json")))
    throw InputError(
        fmt::format("'{}' is a scene; expected a model here (eval, check and simulate take scenes)", source));
  if (source == "-") return parse_urdf_spec(read_all("-", "<stdin>"), "<stdin>");
  if (is_file) return read_urdf_spec(source);
  if (source.starts_with("chain:")) return {chain_of(source), {}};
  if (const auto path = shipped_model(source)) return read_urdf_spec(*path);
  if (fs::is_directory(status))
    throw InputError(fmt::format("'{}' is a directory; expected a URDF file", source));
  throw InputError(fmt::format(
      "'{}': there is no such file and no shipped model of that name; shipped: {}; scenes: {}; or "
      "chain:N",
      source, fmt::join(shipped(".urdf"), ", "), fmt::join(shipped(".json"), ", ")));
}

UrdfVisuals load_visuals(const std::string& source) {
  std::error_code ignored;
  const auto status = fs::status(source, ignored);
  if (source != "-" && fs::exists(status) && !fs::is_directory(status)) return read_urdf_visuals(source);
  if (source.starts_with("chain:")) return {};
  const auto path = shipped_model(source);
  return path ? read_urdf_visuals(*path) : UrdfVisuals{};
}

Model load_model(const ModelOptions& options, std::size_t* suspicions) {
  const UrdfResult read = read_source(options.source);
  const auto is_error = [](const Finding& f) { return f.severity == Finding::Severity::error; };
  const auto first = std::find_if(read.findings.begin(), read.findings.end(), is_error);
  if (first != read.findings.end()) {
    const auto more = std::count_if(first + 1, read.findings.end(), is_error);
    throw ModelError(describe(*first) +
                     (more ? fmt::format(" (and {} more: see articula check)", more) : ""));
  }
  Model model(read.spec, options.build_options());
  const auto is_warning = [](const Finding& f) { return f.severity == Finding::Severity::warning; };
  if (suspicions) {
    *suspicions = std::count_if(read.findings.begin(), read.findings.end(), is_warning) +
                  std::count_if(model.warnings().begin(), model.warnings().end(), is_warning);
  }
  return model;
}

}  // namespace articula::cli
