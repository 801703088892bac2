#include "articula/files/json_input.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "articula/error.hpp"

namespace articula {

namespace {

using nlohmann::json;

/// Reads JSON up to the first key that its object has already, or to where it is nested too deep.
struct Check : nlohmann::json_sax<json> {
  std::vector<std::set<std::string>> open_objects;
  int depth = 0;
  std::string problem;

  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool enter() {
    if (++depth <= deepest_json) return true;
    return refuse(fmt::format("lists and objects are nested more than {} deep", deepest_json));
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_objects.emplace_back();
    return enter();
  }
  bool key(string_t& name) override {
    if (open_objects.back().insert(name).second) return true;
    return refuse(fmt::format("key {} appears twice in one object; remove one", json(name).dump()));
  }
  bool end_object() override {
    open_objects.pop_back();
    --depth;
    return true;
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override {
    --depth;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }
};

/// "parse error at line 1, column 3: ...", without the library's own tag.
std::string_view reason(const json::exception& error) {
  std::string_view what = error.what();
  if (const auto tag = what.find("] "); what.starts_with("[json") && tag != what.npos)
    what.remove_prefix(tag + 2);
  return what;
}

}  // namespace

/// nlohmann-json keeps the last of two equal keys and nests without end; we refuse both. (Its parser with a
/// callback does that in one pass, but takes time quadratic in the length of a list.)
json parse_json(std::string_view text, const std::string& name, const std::string& expected) {
  Check check;
  json::sax_parse(text, &check);  // stops at the first fault; if that is its syntax, parse() says what it is
  if (!check.problem.empty()) throw ModelError(fmt::format("{}: {}", name, check.problem));
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    if (text.find_first_not_of(" \t\r\n") == text.npos)
      throw ModelError(fmt::format("{}: is empty; {}", name, expected));
    throw ModelError(fmt::format("{}: not JSON: {}", name, reason(error)));
  }
}

}  // namespace articula
