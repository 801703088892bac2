// What every JSON from outside is held to, as a SAX handler that others forward to. Internal.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "articula/files/json_input.hpp"

namespace articula {

/// Reads JSON up to the first key that its object has already, or to where it is nested too deep.
struct JsonCheck : nlohmann::json_sax<nlohmann::json> {
  std::vector<std::set<std::string>> open_objects;
  int depth = 0;
  std::string problem;  // empty: none so far

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool refuse(std::string why);
  bool enter();
};

/// "parse error at line 1, column 3: ...", without the library's own tag.
std::string_view reason(const nlohmann::detail::exception& error);

}  // namespace articula
