#include "articula/files/json_input.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "articula/error.hpp"

namespace articula {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    parse_json(text, "f.json", "expected a list");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}
std::string nested(int depth, const std::string& open, const std::string& close) {
  std::string text = "1";
  for (int i = 0; i < depth; ++i) text = open + text + close;
  return text;
}

TEST(JsonInput, NestsToItsDepthAndNoFurther) {
  for (const auto& [open, close] :
       {std::pair<std::string, std::string>{"[", "]"}, {"{\"a\":", "}"}, {"[0,", ",0]"}}) {
    EXPECT_EQ(refusal_of(nested(deepest_json, open, close)), "");
    EXPECT_EQ(refusal_of(nested(deepest_json + 1, open, close)),
              "f.json: lists and objects are nested more than 100 deep");
  }
  // Side by side is not deep.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[{}],";
  EXPECT_EQ(refusal_of(wide + "0]"), "");
}

TEST(JsonInput, SaysWhatIsWrong) {
  EXPECT_EQ(parse_json(R"({"a": {"b": 1}, "c": {"b": 2}})", "f", "")["c"]["b"], 2);
  EXPECT_EQ(refusal_of(R"({"a": {"b": 1, "b": 2}})"),
            "f.json: key \"b\" appears twice in one object; remove one");
  EXPECT_EQ(refusal_of(" \n"), "f.json: is empty; expected a list");
  EXPECT_NE(refusal_of("{\"a\": }").find("f.json: not JSON: parse error at line 1, column 7"),
            std::string::npos);
  EXPECT_NE(refusal_of("[1e999]").find("f.json: not JSON: "), std::string::npos);
  EXPECT_NE(refusal_of("\"\xff\"").find("f.json: not JSON: "), std::string::npos)
      << "bytes that are no UTF-8";
}

}  // namespace
}  // namespace articula
