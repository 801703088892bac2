// JSON from outside: every reader of the library and the program begins here.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace articula {

/// Lists and objects may be nested so deep; our own files need six. Whoever walks or prints the result may
/// then recur.
inline constexpr int deepest_json = 100;

/// A document without equal keys in one object. `name` is the file's in messages, `expected` completes the
/// one about an empty text. Throws ModelError.
nlohmann::json parse_json(std::string_view text, const std::string& name, const std::string& expected);
/// The same, where the order of keys says something.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name,
                                          const std::string& expected);

/// The whole number under a key, at most `most`. Throws ModelError.
std::uint64_t whole_number(const nlohmann::json& object, const std::string& key, const std::string& name,
                           std::uint64_t most = INT64_MAX);
/// The text there.
std::string text_of(const nlohmann::json& object, const std::string& key, const std::string& name);

}  // namespace articula
