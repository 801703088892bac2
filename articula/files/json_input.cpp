#include "articula/files/json_input.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/files/json_check.hpp"

namespace articula {

using nlohmann::json;

bool JsonCheck::refuse(std::string why) {
  problem = std::move(why);
  return false;
}
bool JsonCheck::enter() {
  if (++depth <= deepest_json) return true;
  return refuse(fmt::format("lists and objects are nested more than {} deep", deepest_json));
}
bool JsonCheck::start_object(std::size_t) {
  open_objects.emplace_back();
  return enter();
}
bool JsonCheck::key(string_t& name) {
  if (open_objects.back().insert(name).second) return true;
  return refuse(fmt::format("key {} appears twice in one object; remove one", json(name).dump()));
}
bool JsonCheck::end_object() {
  open_objects.pop_back();
  --depth;
  return true;
}
bool JsonCheck::start_array(std::size_t) { return enter(); }
bool JsonCheck::end_array() {
  --depth;
  return true;
}

std::string_view reason(const json::exception& error) {
  std::string_view what = error.what();
  if (const auto tag = what.find("] "); what.starts_with("[json") && tag != what.npos)
    what.remove_prefix(tag + 2);
  return what;
}

namespace {

/// nlohmann-json keeps the last of two equal keys and nests without end; we refuse both. (Its parser with a
/// callback does that in one pass, but takes time quadratic in the length of a list.)
template <class Json>
Json parsed(std::string_view text, const std::string& name, const std::string& expected) {
  JsonCheck check;
  json::sax_parse(text, &check);  // stops at the first fault; if that is its syntax, parse() says what it is
  if (!check.problem.empty()) throw ModelError(fmt::format("{}: {}", name, check.problem));
  try {
    return Json::parse(text);
  } catch (const json::exception& error) {
    if (text.find_first_not_of(" \t\r\n") == text.npos)
      throw ModelError(fmt::format("{}: is empty; {}", name, expected));
    throw ModelError(fmt::format("{}: not JSON: {}", name, reason(error)));
  }
}

const json& value_of(const json& object, const std::string& key, const std::string& name) {
  if (object.is_object())
    if (const auto found = object.find(key); found != object.end()) return *found;
  throw ModelError(fmt::format("{}: has no \"{}\"", name, key));
}

}  // namespace

json parse_json(std::string_view text, const std::string& name, const std::string& expected) {
  return parsed<json>(text, name, expected);
}
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name,
                                          const std::string& expected) {
  return parsed<nlohmann::ordered_json>(text, name, expected);
}

std::uint64_t whole_number(const json& object, const std::string& key, const std::string& name,
                           std::uint64_t most) {
  const json& value = value_of(object, key, name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    throw ModelError(fmt::format("{}: \"{}\" is no whole number up to {}", name, key, most));
  return value;
}
std::string text_of(const json& object, const std::string& key, const std::string& name) {
  const json& value = value_of(object, key, name);
  if (!value.is_string()) throw ModelError(fmt::format("{}: \"{}\" is no text", name, key));
  return value;
}

}  // namespace articula
