#include "cli/sweep.hpp"

#include <fmt/format.h>

#include "articula/files/json_check.hpp"
#include "articula/files/json_input.hpp"
#include "cli/input.hpp"
#include "cli/states.hpp"

namespace articula::cli {

namespace {

using Json = nlohmann::ordered_json;

class SweepFile {
 public:
  SweepFile(const std::string& path, const Model& model, const MotionSetup& setup)
      : path_(path), model_(model), setup_(setup) {}

  Sweep read(std::uint64_t seed) {
    const std::string source = "--sweep " + path_;
    const Json file = parse_ordered_json(read_all(path_, source), source, "expected a design and its axes");
    if (!file.is_object() || !file.contains("axes") || !file["axes"].is_object())
      fail("expected {\"design\": \"grid\", \"axes\": {\"q:JOINT\": [..], ..}}");
    for (const auto& [key, value] : file.items())
      if (key != "design" && key != "axes" && key != "points") fail(fmt::format("\"{}\" is not known", key));
    try {
      const auto kind = Design::kind_named(file.value("design", "grid"));
      std::vector<Design::Axis> axes;
      for (const auto& [name, entry] : file["axes"].items()) {
        add(name, axes.size());
        axes.push_back(axis(name, entry));
      }
      const Json points = file.value("points", Json(0u));
      if (!points.is_number_unsigned()) fail("\"points\" is no whole number");
      return {std::move(drawn_), std::move(axis_of_), std::move(pointers_),
              Design(kind, std::move(axes), points, seed)};
    } catch (const ArgumentError& error) {
      fail(error.what());
    } catch (const Json::exception& error) {
      fail(std::string(reason(error)));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("--sweep {}: {}", path_, why));
  }

  Design::Axis axis(const std::string& name, const Json& entry) const {
    if (entry.is_array()) return {0, 1, entry.get<std::vector<double>>()};
    if (!entry.is_object() || !entry.contains("least") || !entry.contains("largest"))
      fail(fmt::format(
          "\"{}\": expected a list of numbers, or {{\"least\": .., \"largest\": .., \"steps\": ..}}", name));
    Design::Axis out{entry["least"].get<double>(), entry["largest"].get<double>()};
    constexpr std::uint64_t most = 10'000'000;
    const Json count = entry.value("steps", Json(0u));
    const std::uint64_t steps = count.is_number_unsigned() ? count.get<std::uint64_t>() : 1;
    if (steps == 1 || steps > most)
      fail(fmt::format("\"{}\": \"steps\" is {}, expected 2 to {}", name, count.dump(), most));
    out.values.reserve(steps);
    for (std::uint64_t i = 0; i < steps; ++i)
      out.values.push_back(i + 1 == steps
                               ? out.largest
                               : out.least + (out.largest - out.least) * double(i) / double(steps - 1));
    return out;
  }

  void add(const std::string& name, std::size_t axis) {
    const std::size_t colon = name.find(':');
    if (colon == name.npos) fail(fmt::format("\"{}\": expected SECTION:NAME, q:joint1 say", name));
    const std::string section = name.substr(0, colon), rest = name.substr(colon + 1);
    if (section == "controllers" || section == "forces") {
      const nlohmann::json& in = section == "forces" ? setup_.forces : setup_.controllers;
      const nlohmann::json::json_pointer at(rest);
      if (!in.contains(at) || !in.at(at).is_number())
        fail(fmt::format("\"{}\": there is no number at {} of --{}", name, rest, section));
      drawn_.push_back({Drawn::What::other, 0, false, 0, 0, name});
    } else {
      add_drawn(model_, section, rest, false, 0, 0, drawn_);
    }
    axis_of_.resize(drawn_.size(), axis);
    pointers_.resize(drawn_.size(), drawn_.back().what == Drawn::What::other ? name : "");
  }

  const std::string& path_;
  const Model& model_;
  const MotionSetup& setup_;
  std::vector<Drawn> drawn_;
  std::vector<std::size_t> axis_of_;
  std::vector<std::string> pointers_;
};

}  // namespace

void Sweep::numbers(std::uint64_t run, std::span<double> out) const {
  std::vector<double> point(design.axes());
  design.point(run, point);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = point[axis_of[i]];
}

void Sweep::put(std::span<const double> numbers, MotionSetup& setup) const {
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i].empty()) continue;
    const std::size_t colon = pointers[i].find(':');
    nlohmann::json& in = pointers[i].starts_with("forces") ? setup.forces : setup.controllers;
    in.at(nlohmann::json::json_pointer(pointers[i].substr(colon + 1))) = numbers[i];
  }
}

Sweep read_sweep(const std::string& path, const Model& model, const MotionSetup& setup, std::uint64_t seed) {
  return SweepFile(path, model, setup).read(seed);
}

}  // namespace articula::cli
