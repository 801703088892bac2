// A part of a JSON file, read with messages that say where.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "articula/model/model.hpp"
#include "articula/simulation/table.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// Messages say where: "forces.json: springs: .."
class Section {
 public:
  Section(const nlohmann::json& value, std::string where) : value_(value), where_(std::move(where)) {}

  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> text, A&&... a) const {
    throw InputError(fmt::format("{}: {}", where_, fmt::format(text, std::forward<A>(a)...)));
  }
  const nlohmann::json& value() const { return value_; }
  bool has(const char* key) const { return value_.contains(key); }
  Section at(const std::string& key) const {
    if (!value_.contains(key)) fail("\"{}\" is missing", key);
    return {value_.at(key), where_ + ": " + key};
  }
  Section at(std::size_t i) const { return {value_.at(i), fmt::format("{}[{}]", where_, i)}; }
  /// Every key must be among these: a misspelt one must not pass in silence.
  void only(std::initializer_list<const char*> known) const {
    if (!value_.is_object()) fail("is a JSON {}, expected an object", value_.type_name());
    for (const auto& [key, ignored] : value_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail("\"{}\" is not known; known: {}", key, fmt::join(known.begin(), known.end(), ", "));
  }
  double number() const {
    if (!value_.is_number() || !std::isfinite(value_.get<double>()))
      fail("is {}, expected a finite number", value_.is_number() ? value_.dump() : value_.type_name());
    return value_.get<double>();
  }
  double number(const char* key, double otherwise) const { return has(key) ? at(key).number() : otherwise; }
  std::vector<double> numbers(int size) const {
    if (!value_.is_array() || int(value_.size()) != size)
      fail("expected a list of {} numbers{}", size,
           value_.is_array() ? fmt::format(", found {}", value_.size()) : "");
    std::vector<double> out;
    for (std::size_t i = 0; i < value_.size(); ++i) out.push_back(at(i).number());
    return out;
  }
  std::string text() const {
    if (!value_.is_string()) fail("is a JSON {}, expected a word", value_.type_name());
    return value_.get<std::string>();
  }
  /// One number for each velocity: a number for all, a list, or an object by joint (others zero).
  std::vector<double> each_velocity(const Model& model) const {
    if (value_.is_number()) return std::vector<double>(model.nv(), number());
    if (value_.is_array()) return numbers(model.nv());
    if (!value_.is_object())
      fail("expected a number, a list of nv = {}, or {{\"JOINT\": number, ..}}", model.nv());
    std::vector<double> out(model.nv());
    for (const auto& [name, ignored] : value_.items()) {
      const Joint& joint = joint_named(model, name);
      const double x = at(name).number();
      std::fill_n(out.begin() + joint.v_index, joint.nv, x);
    }
    return out;
  }
  const Joint& joint_named(const Model& model, const std::string& name) const {
    try {
      const Joint& joint = model.joints()[model.joint(name)];
      if (joint.mimics >= 0) fail("joint '{}' follows another one; name that", name);
      return joint;
    } catch (const ArgumentError& error) {
      fail("{}", error.what());
    }
  }
  /// {"times": [..], KEY: [[..], ..]}
  Table table(const char* key, int columns) const {
    const Section times = at("times"), rows = at(key);
    if (!rows.value().is_array() || rows.value().size() != times.value().size())
      fail("\"times\" and \"{}\" must be lists of one length", key);
    std::vector<double> numbers_all;
    for (std::size_t i = 0; i < rows.value().size(); ++i) {
      const auto row = rows.at(i).numbers(columns);
      numbers_all.insert(numbers_all.end(), row.begin(), row.end());
    }
    try {
      return {times.numbers(int(times.value().size())), std::move(numbers_all), columns};
    } catch (const ArgumentError& error) {
      fail("{}", error.what());
    }
  }

 private:
  const nlohmann::json& value_;
  std::string where_;
};

}  // namespace articula::cli
