#include "articula/files/read_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "articula/files/mjcf.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/urdf.hpp"
#include "articula/files/urdf_visuals.hpp"
#include "articula/files/xacro.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace {

/// The formats. What is none of them is given to the first, whose reader says what it misses.
constexpr ModelFormat formats[] = {
    {"URDF", "robot", [](const ModelText& model) { return parse_urdf_spec(model.text, model.name); },
     parse_urdf_visuals},
    {"SDF", "sdf", parse_sdf, parse_sdf_visuals},
    {"SDF", "gazebo", parse_sdf, parse_sdf_visuals},  // as it was called until 1.2
    {"MJCF", "mujoco", parse_mjcf, parse_mjcf_visuals},
};

const ModelFormat& format_of(std::string_view text) {
  const std::string_view root = root_element_of(text);
  const auto known = std::find_if(std::begin(formats), std::end(formats),
                                  [&](const ModelFormat& f) { return f.root == root; });
  return known == std::end(formats) ? formats[0] : *known;
}

}  // namespace

LoadedModel read_model(ModelText text) {
  LoadedModel loaded = format_of(text.text).read(text);
  loaded.source = std::make_shared<const ModelText>(std::move(text));
  return loaded;
}

LoadedModel read_model(const std::string& path, const ReadOptions& options) {
  std::string text = path.ends_with(".xacro") ? expand_xacro(path) : content_of(path);
  return read_model(
      ModelText{std::move(text), path, std::filesystem::path(path).parent_path().string(), options});
}

ModelVisuals read_visuals(const LoadedModel& loaded) {
  return loaded.source ? format_of(loaded.source->text).visuals(*loaded.source) : ModelVisuals{};
}

std::vector<Finding> find_problems(const LoadedModel& loaded, Base base) {
  std::vector<Finding> findings = loaded.findings;
  const auto is_error = [](const Finding& f) { return f.severity == Finding::Severity::error; };
  if (std::none_of(findings.begin(), findings.end(), is_error)) {
    auto more = find_problems(loaded.spec, base);
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  std::stable_partition(findings.begin(), findings.end(), is_error);
  return findings;
}

Model LoadedModel::build(Base base) const {
  BuildOptions options{.base = base};
  if (gravity) options.gravity = *gravity;
  return build(options);
}

Model LoadedModel::build(const BuildOptions& options) const {
  throw_first_error(findings);
  return Model(spec, options);
}

}  // namespace articula
